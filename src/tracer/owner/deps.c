#include "owner/deps.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/path.h"
#include "options/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int deps_add(struct deps *d, const char *file, enum sst_owner owner)
{
    char *name = memory_strdup(path_base_name(file));

    if (!name || !array_reserve(&d->entries, &d->capacity, d->count + 1)) {
        memory_free(name);
        return -ENOMEM;
    }
    name[path_stem(name)] = '\0';
    d->entries[d->count++] = (struct deps_entry){name, (uint8_t)owner};
    return 0;
}

void deps_free(struct deps *d)
{
    for (size_t i = 0; i < d->count; i++)
        memory_free(d->entries[i].name);
    memory_free(d->entries);
    *d = (struct deps){NULL, 0, 0};
}

static int compare_names(const void *a, const void *b)
{
    return strcasecmp(((const struct deps_entry *)a)->name, ((const struct deps_entry *)b)->name);
}

/* Of two with one name the project goes first: projects are also listed as what refers to them. */
static int compare(const void *a, const void *b)
{
    const struct deps_entry *first = a, *second = b;
    int order = compare_names(a, b);

    return order ? order : second->owner - first->owner;
}

void deps_sort(struct deps *d)
{
    if (d->count)
        qsort(d->entries, d->count, sizeof(*d->entries), compare);
}

enum sst_owner deps_find(const struct deps *d, const char *name)
{
    size_t low = 0, high = d->count;

    while (low < high) { /* the first of its name */
        size_t middle = low + (high - low) / 2;

        if (strcasecmp(d->entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->count && strcasecmp(d->entries[low].name, name) == 0
               ? (enum sst_owner)d->entries[low].owner
               : SST_OWNER_UNKNOWN;
}

static enum sst_owner owner_of_type(const char *type)
{
    if (type && strcmp(type, "project") == 0)
        return SST_OWNER_OWN;
    return type && strcmp(type, "runtimepack") == 0 ? SST_OWNER_FRAMEWORK : SST_OWNER_PACKAGE;
}

/* The assemblies of one library: members "runtime" and "runtimeTargets", by their paths. */
static int add_library(struct deps *d, json_t *library, enum sst_owner owner)
{
    static const char *const members[] = {"runtime", "runtimeTargets"};
    const char *path;
    json_t *value;
    int err = 0;

    for (size_t i = 0; i < COUNT_OF(members); i++)
        json_object_foreach(json_object_get(library, members[i]), path, value)
        {
            if (!err && path_is_assembly(path))
                err = deps_add(d, path, owner);
        }
    return err;
}

static int add_target(struct deps *d, json_t *target, const json_t *libraries)
{
    const char *name;
    json_t *library;
    int err = 0;

    json_object_foreach(target, name, library)
    {
        const json_t *described = json_object_get(libraries, name);

        if (!err)
            err = add_library(d, library,
                              owner_of_type(json_string_value(json_object_get(described, "type"))));
    }
    return err;
}

static int add_all(struct deps *d, const json_t *root)
{
    const json_t *libraries = json_object_get(root, "libraries");
    json_t *targets = json_object_get(root, "targets"), *target;
    const json_t *made_for = json_object_get(json_object_get(root, "runtimeTarget"), "name");
    const char *name = json_string_value(made_for);
    int err = 0;

    if (!json_is_object(libraries) || !json_is_object(targets))
        return -EINVAL;
    target = name ? json_object_get(targets, name) : NULL;
    if (target)
        return add_target(d, target, libraries);
    json_object_foreach(targets, name, target)
    {
        if (!err)
            err = add_target(d, target, libraries);
    }
    return err;
}

int deps_parse(const char *text, size_t size, struct deps *out)
{
    static const char order_mark[] = "\xef\xbb\xbf";
    json_error_t error = {.position = 0};
    json_t *root;
    int err;

    *out = (struct deps){NULL, 0, 0};
    if (size >= 3 && memcmp(text, order_mark, 3) == 0) {
        text += 3;
        size -= 3;
    }
    root = json_read(text, size, 0, &error);
    if (!root)
        return *error.text ? -EINVAL : -ENOMEM;
    err = add_all(out, root);
    json_decref(root);
    if (err)
        deps_free(out);
    else
        deps_sort(out);
    return err;
}
