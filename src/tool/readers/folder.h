/* readers/folder.h - the logs of a folder, such as those of one run of a tree of processes. */
#ifndef SHADOWTRACE_READERS_FOLDER_H
#define SHADOWTRACE_READERS_FOLDER_H

#include <stddef.h>
#include <stdint.h>

struct report_folder_log {
    char *path;
    uint64_t clock; /* when its recording began, ns of the machine's clock */
};

struct report_folder {
    struct report_folder_log *logs; /* in the order in which their recordings began */
    size_t count, capacity;
};

/*
 * report_folder_read - adds the files of a folder, not of folders in it, that begin with a log's
 * header, plain or packed, whatever their names are. Parts of one recording are each a file.
 * Returns: 0; -errno of opening it (-ENOTDIR: it is no folder); -ENOMEM.
 * Owns:    out starts zeroed and is the caller's until report_folder_fini, also after a failure.
 */
int report_folder_read(const char *path, struct report_folder *out);
void report_folder_fini(struct report_folder *folder);

#endif
