/* readers/folder.h - the logs of a folder, such as those of one run of a tree of processes. */
#ifndef SHADOWTRACE_READERS_FOLDER_H
#define SHADOWTRACE_READERS_FOLDER_H

#include <stddef.h>
#include <stdint.h>

struct log_parts_folder_log {
    char *path;
    uint64_t clock; /* when its recording began, ns of the machine's clock */
};

struct log_parts_folder {
    struct log_parts_folder_log *logs; /* in the order in which their recordings began */
    size_t count, capacity;
};

/*
 * log_parts_folder_read - adds the files of a folder, not of folders in it, that begin with a log's
 * header, plain or packed, whatever their names are. Parts of one recording are each a file.
 * Returns: 0; -errno of opening it (-ENOTDIR: it is no folder); -ENOMEM.
 * Owns:    out starts zeroed and is the caller's until log_parts_folder_fini, also after a failure.
 */
int log_parts_folder_read(const char *path, struct log_parts_folder *out);
void log_parts_folder_fini(struct log_parts_folder *folder);

#endif
