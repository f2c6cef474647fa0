#include "readers/parts.h"

#include "base/order.h"
#include "readers/header.h"
#include "readers/index.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct found {
    uint64_t part;
    char *path;
};

struct log_recording log_part_of(const char *path)
{
    struct log_recording part = {0, 0, 0, 0};
    json_t *header = log_header_of(path);

    if (header)
        (void)log_recording_next(&part, header);
    json_decref(header);
    return part;
}

/* Not by "started": 0.1 wrote into each part when that one began. */
static bool same_recording(const struct log_recording *a, const struct log_recording *recording)
{
    return a->number && recording->number && a->pid == recording->pid &&
           a->clock == recording->clock;
}

bool log_part_follows(const struct log_recording *earlier, const struct log_recording *part)
{
    return same_recording(earlier, part) && part->part > earlier->part;
}

bool log_part_again(const struct log_recording *one, const struct log_recording *part)
{
    return same_recording(one, part) && part->part == one->part;
}

/* The length of NAME in NAME.N, or 0. */
static size_t stem(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && dot != name && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1)
               ? (size_t)(dot - name)
               : 0;
}

static int add(struct log_parts *parts, char *path)
{
    if (!path || !array_reserve(&parts->paths, &parts->capacity, parts->count + 1)) {
        memory_free(path);
        return -ENOMEM;
    }
    parts->paths[parts->count++] = path;
    return 0;
}

ORDERED_BY(by_number, struct found, ORDER(x->part, y->part))

/* One file of the folder: an earlier part? */
static int look_at(const char *folder, const char *entry, const char *name,
                   const struct log_recording *wanted, struct found **found, size_t *count,
                   size_t *capacity)
{
    char path[4096];
    struct log_recording part;
    size_t length = stem(entry);

    if (!length || length != strlen(name) || memcmp(entry, name, length) != 0 ||
        snprintf(path, sizeof(path), "%s/%s", folder, entry) >= (int)sizeof(path))
        return 0;
    part = log_part_of(path);
    if (!same_recording(&part, wanted) || part.part >= wanted->part)
        return 0;
    if (!array_reserve(found, capacity, *count + 1))
        return -ENOMEM;
    (*found)[*count] = (struct found){part.part, memory_strdup(path)};
    return (*found)[(*count)++].path ? 0 : -ENOMEM;
}

int log_parts_before(const char *path, const struct log_recording *wanted, struct log_parts *out)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t count = 0, capacity = 0;
    struct found *found = NULL;
    const struct dirent *entry;
    char folder[4096] = ".";
    int err = 0;
    DIR *dir;

    if (slash)
        snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    dir = opendir(folder);
    while (dir && !err && (entry = readdir(dir)))
        err = look_at(folder, entry->d_name, name, wanted, &found, &count, &capacity);
    if (dir)
        closedir(dir);
    SORT(found, count, by_number);
    for (size_t i = 0; i < count; i++)
        if (err || (i && found[i].part == found[i - 1].part))
            memory_free(found[i].path); /* a copy of it */
        else
            err = add(out, found[i].path);
    memory_free(found);
    return err;
}

/* The part that came last, if path is NAME.N and NAME is of the same recording. */
static uint64_t last_beside(const char *path, const struct log_recording *part)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = stem(name);
    char base[4096];
    struct log_recording last;

    if (!length || snprintf(base, sizeof(base), "%.*s%.*s", (int)(name - path), path, (int)length,
                            name) >= (int)sizeof(base))
        return part->part;
    last = log_part_of(base);
    return same_recording(part, &last) && last.part > part->part ? last.part : part->part;
}

int log_parts_find(const char *path, struct log_parts *out)
{
    struct log_recording part = log_part_of(path);
    int err = part.part > 1 ? log_parts_before(path, &part, out) : 0;

    out->last = part.number ? last_beside(path, &part) : 0;
    return err ? err : add(out, memory_strdup(path));
}

struct file_id {
    dev_t device;
    ino_t inode;
    bool known; /* a file, and not a pipe or a name that stands for one */
};

static struct file_id id_of(const char *path)
{
    struct stat st;

    if (strcmp(path, "-") == 0 || stat(path, &st) || !S_ISREG(st.st_mode))
        return (struct file_id){.known = false};
    return (struct file_id){st.st_dev, st.st_ino, true};
}

static bool same_file(const struct file_id *a, const struct file_id *b)
{
    return a->known && b->known && a->device == b->device && a->inode == b->inode;
}

/* Leaves `path` out of `ids` wherever it is named, from `from` on. */
static void forget(struct file_id *ids, char **paths, size_t from, size_t count,
                   const struct file_id *id)
{
    for (size_t i = from; i < count; i++)
        if (paths[i] && same_file(&ids[i], id))
            paths[i] = NULL;
}

/* What is named again, or comes with another. A part is earlier: it brings none that brings it. */
static int leave_out(struct file_id *ids, char **paths, size_t count)
{
    int err = 0;

    for (size_t i = 0; i < count; i++)
        if (paths[i])
            forget(ids, paths, i + 1, count, &ids[i]);
    for (size_t i = 0; !err && i < count; i++) {
        struct log_parts parts = {NULL, 0, 0, 0};

        if (!paths[i])
            continue;
        err = log_parts_find(paths[i], &parts);
        for (size_t k = 0; !err && k + 1 < parts.count; k++) {
            struct file_id part = id_of(parts.paths[k]);

            forget(ids, paths, 0, count, &part);
        }
        log_parts_fini(&parts);
    }
    return err;
}

int log_parts_once(char **paths, size_t *count)
{
    struct file_id *ids;
    size_t kept = 0;
    int err;

    if (*count < 2)
        return 0;
    ids = memory_alloc(*count * sizeof(*ids));
    if (!ids)
        return -ENOMEM;
    for (size_t i = 0; i < *count; i++)
        ids[i] = id_of(paths[i]);
    err = leave_out(ids, paths, *count);
    for (size_t i = 0; i < *count; i++)
        if (paths[i])
            paths[kept++] = paths[i];
    if (kept < *count)
        paths[kept] = NULL;
    *count = kept;
    memory_free(ids);
    return err;
}

void log_parts_fini(struct log_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        memory_free(parts->paths[i]);
    memory_free(parts->paths);
    memset(parts, 0, sizeof(*parts));
}
