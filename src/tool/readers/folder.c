#include "readers/folder.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/order.h"
#include "readers/header.h"
#include "readers/record.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/*
 * A file of the folder, if it is a log. In a folder of another user its owner chooses what the
 * names lead to: it is read with our rights, as by cat(1), and only regular files are opened.
 */
static int look_at(const char *folder, const char *name, struct log_parts_folder *out)
{
    struct log_parts_folder_log log = {NULL, 0};
    const char *slash = *folder && folder[strlen(folder) - 1] == '/' ? "" : "/";
    char path[PATH_MAX];
    const char *format;
    json_t *header;

    if (snprintf(path, sizeof(path), "%s%s%s", folder, slash, name) >= (int)sizeof(path))
        return 0;
    header = log_header_of(path);
    format = json_string_value(json_object_get(header, "format"));
    if (!format || strcmp(format, "shadowtrace") != 0) {
        json_decref(header);
        return 0;
    }
    (void)log_member_count(header, "clock", &log.clock);
    json_decref(header);
    log.path = memory_strdup(path);
    if (!log.path || !array_reserve(&out->logs, &out->capacity, out->count + 1)) {
        memory_free(log.path);
        return -ENOMEM;
    }
    out->logs[out->count++] = log;
    return 0;
}

ORDERED_BY(by_clock, struct log_parts_folder_log, ORDER(x->clock, y->clock),
           strcmp(x->path, y->path))

int log_parts_folder_read(const char *path, struct log_parts_folder *out)
{
    size_t first = out->count;
    const struct dirent *entry;
    DIR *folder = opendir(path);
    int err = folder ? 0 : -errno;

    while (folder && !err && (entry = readdir(folder)))
        err = look_at(path, entry->d_name, out);
    if (folder)
        closedir(folder);
    SORT(out->logs + first, out->count - first, by_clock);
    return err;
}

void log_parts_folder_fini(struct log_parts_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        memory_free(folder->logs[i].path);
    memory_free(folder->logs);
    *folder = (struct log_parts_folder){NULL, 0, 0};
}
