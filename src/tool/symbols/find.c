/* symbols/find.c - symbols_open: which PDB belongs to an assembly, and where it is. */
#include "symbols/pdb.h"

#include "base/memory.h"
#include "base/path.h"
#include "symbols/bundle.h"
#include "symbols/error.h"
#include "symbols/file.h"
#include "symbols/inflate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define KEY_SIZE 41 /* 32 digits of the GUID, 8 of what a portable PDB has for an age, NUL */

struct search {
    const char *assembly;
    const char *const *dirs;
    size_t ndirs;
    const struct symbols_image *image;
    char names[2][NAME_MAX + 1]; /* file names under which the PDB may lie; "" is none */
    char keys[3][KEY_SIZE];      /* as dotnet-symbol and others write them; "" is none */
    struct symbols *found;
    struct symbols_error error; /* of the first candidate that was there */
    int err;                    /* and its code; 0 while there was none */
};

/*
 * A candidate at path: read, or why not (err, error). The first error counts, unless memory runs
 * out, which ends the search.
 */
static void search_take(struct search *search, struct symbols *symbols, const char *path, int err,
                        struct symbols_error *error)
{
    if (symbols)
        symbols->path = memory_strdup(path);
    if (symbols && symbols->path) {
        search->found = symbols;
        return;
    }
    if (symbols)
        err = symbols_fail(error, SYMBOLS_MEMORY, "out of memory");
    symbols_free(symbols);
    if (search->err && err != -ENOMEM)
        return;
    symbols_fail_at(error, path);
    search->error = *error;
    search->err = err;
}

/* image: what the assembly says of its PDB, or NULL. */
static int unpack(struct symbols_span packed, size_t size, const struct symbols_image *image,
                  struct symbols **out, struct symbols_error *error)
{
    uint8_t *data;
    int err;

    *out = NULL;
    if (size > SYMBOLS_MAX_FILE)
        return symbols_fail(error, SYMBOLS_TOO_LARGE, "its embedded PDB is larger than 1 GiB");
    err = symbols_inflate(packed, size, &data);
    if (err == -ENOMEM)
        return symbols_fail(error, SYMBOLS_MEMORY, "out of memory for its embedded PDB");
    if (err == -ENODATA)
        return symbols_fail(error, SYMBOLS_TRUNCATED, "its embedded PDB ends too soon");
    if (err)
        return symbols_fail(error, SYMBOLS_DAMAGED, "its embedded PDB cannot be unpacked");
    return symbols_new(data, size, image, out, error);
}

int symbols_of_pdb(const uint8_t *data, size_t size, bool packed, size_t unpacked_size,
                   struct symbols **out, struct symbols_error *error)
{
    uint8_t *copy;

    if (packed)
        return unpack((struct symbols_span){data, size}, unpacked_size, NULL, out, error);
    *out = NULL;
    copy = memory_alloc(size + 1);
    if (!copy)
        return symbols_fail(error, SYMBOLS_MEMORY, "out of memory");
    memcpy(copy, data, size);
    return symbols_new(copy, size, NULL, out, error);
}

static void search_embedded(struct search *search)
{
    struct symbols *symbols = NULL;
    struct symbols_error error;
    int err;

    if (!search->image->embedded.data)
        return;
    err = unpack(search->image->embedded, search->image->embedded_size, search->image, &symbols,
                 &error);
    if (symbols)
        symbols->embedded = true;
    search_take(search, symbols, search->assembly, err, &error);
}

static void search_file(struct search *search, const char *path)
{
    struct symbols *symbols = NULL;
    struct symbols_error error;
    uint8_t *data;
    size_t size;
    int err = symbols_file_read(path, "BSJB", &data, &size, &error);

    if (err == -ENOENT)
        return;
    if (!err)
        err = symbols_new(data, size, search->image, &symbols, &error);
    search_take(search, symbols, path, err, &error);
}

/* FOLDER/name, or FOLDER/name/KEY/name. A path that does not fit could not be opened either. */
static void search_name(struct search *search, const char *folder, const char *name,
                        const char *key)
{
    size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] != '/' ? "/" : "";
    char path[PATH_MAX];
    int needed;

    if (search->found || search->err == -ENOMEM || !*name)
        return;
    if (key)
        needed = snprintf(path, sizeof(path), "%s%s%s/%s/%s", folder, slash, name, key, name);
    else
        needed = snprintf(path, sizeof(path), "%s%s%s", folder, slash, name);
    if (needed > 0 && (size_t)needed < sizeof(path))
        search_file(search, path);
}

/* The Simple Symbol Query Protocol makes names lower case; local stores often do not. */
static void search_store(struct search *search, const char *folder, const char *name)
{
    char lower[NAME_MAX + 1];
    size_t i = 0;

    do
        lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    while (name[i++]);
    for (size_t key = 0; key < COUNT_OF(search->keys) && *search->keys[key]; key++) {
        search_name(search, folder, name, search->keys[key]);
        if (strcmp(lower, name) != 0)
            search_name(search, folder, lower, search->keys[key]);
    }
}

static void search_keys(struct search *search)
{
    static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint8_t *id = search->image->id;

    for (size_t i = 0; i < sizeof(order); i++) {
        (void)snprintf(search->keys[0] + 2 * i, KEY_SIZE - 2 * i, "%02xFFFFFFFF", id[order[i]]);
        (void)snprintf(search->keys[1] + 2 * i, KEY_SIZE - 2 * i, "%02xffffffff", id[order[i]]);
        (void)snprintf(search->keys[2] + 2 * i, KEY_SIZE - 2 * i, "%02XFFFFFFFF", id[order[i]]);
    }
}

/* The base name of a path of either system, if it can be ours. Returns: was it set? */
static bool search_base(char out[NAME_MAX + 1], const char *path, size_t length)
{
    size_t start = length;

    while (start && path[start - 1] != '/' && path[start - 1] != '\\')
        start--;
    length -= start;
    if (!length || length > NAME_MAX || path[start] == '.')
        return false;
    memcpy(out, path + start, length);
    out[length] = '\0';
    return true;
}

static void search_names(struct search *search)
{
    const char *base = path_base_name(search->assembly);
    size_t length = path_stem(base);
    struct symbols_span given = search->image->pdb_path;

    if (length <= NAME_MAX - 4)
        (void)snprintf(search->names[0], sizeof(search->names[0]), "%.*s.pdb", (int)length, base);
    if (given.size && search_base(search->names[1], (const char *)given.data, given.size) &&
        !strcmp(search->names[0], search->names[1]))
        search->names[1][0] = '\0';
}

static void search_folders(struct search *search)
{
    size_t folder = (size_t)(path_base_name(search->assembly) - search->assembly);
    char beside[PATH_MAX] = ""; /* "" is the working folder */

    if (folder < sizeof(beside))
        memcpy(beside, search->assembly, folder);
    for (size_t name = 0; name < 2; name++)
        search_name(search, beside, search->names[name], NULL);
    for (size_t i = 0; i < search->ndirs; i++)
        for (size_t name = 0; name < 2; name++) {
            search_name(search, search->dirs[i], search->names[name], NULL);
            search_store(search, search->dirs[i], search->names[name]);
        }
}

/* Nothing was there at all. */
static int search_missing(struct search *search)
{
    const char *name = *search->names[1] ? search->names[1] : search->names[0];
    int err;

    if (!search->image->portable)
        err = symbols_fail(
            &search->error, SYMBOLS_WINDOWS,
            "built with a Windows PDB (%s), which is not supported: build with DebugType portable",
            name);
    else if (search->ndirs)
        err = symbols_fail(&search->error, SYMBOLS_MISSING,
                           "its PDB %s is neither next to it nor in the given directories", name);
    else
        err = symbols_fail(&search->error, SYMBOLS_MISSING, "its PDB %s is not next to it", name);
    symbols_fail_at(&search->error, search->assembly);
    return err;
}

static int search_run(struct search *search)
{
    search_names(search);
    if (search->image->has_codeview)
        search_keys(search);
    search_embedded(search);
    if (search->image->has_codeview) /* without its id, a file cannot be told to be the right one */
        search_folders(search);
    if (search->found || search->err)
        return search->found ? 0 : search->err;
    return search_missing(search);
}

/* The assembly itself: is it the one that was traced, and does it have symbols? */
static int open_image(struct symbols_span file, const uint8_t *mvid, struct symbols_image *image,
                      struct symbols_error *error)
{
    int err = symbols_image_parse(file, image, error);

    if (err)
        return err;
    if (mvid && memcmp(mvid, image->mvid, SYMBOLS_MVID_SIZE) != 0)
        return symbols_fail(error, SYMBOLS_OTHER_BUILD,
                            "another build than the one that was traced");
    if (!image->has_codeview && !image->embedded.data)
        return symbols_fail(error, SYMBOLS_NONE, "built without symbols");
    return 0;
}

/* With the assembly's bytes, or why there are none (err). */
static int open_data(struct search *search, uint8_t *data, size_t size, int err,
                     const uint8_t *mvid, struct symbols **out, struct symbols_error *error)
{
    struct symbols_image image;

    search->image = &image;
    if (err == -ENOENT)
        symbols_fail(&search->error, SYMBOLS_NO_ASSEMBLY, "there is no such file");
    if (!err)
        err = open_image((struct symbols_span){data, size}, mvid, &image, &search->error);
    if (err)
        symbols_fail_at(&search->error, search->assembly);
    else
        err = search_run(search);
    *out = search->found;
    memory_free(data); /* the PDB has a copy */
    if (error)
        *error = err ? search->error : (struct symbols_error){.reason = SYMBOLS_OK};
    return err;
}

int symbols_open(const char *assembly, const char *const *dirs, size_t ndirs, const uint8_t *mvid,
                 struct symbols **out, struct symbols_error *error)
{
    struct search search = {.assembly = assembly, .dirs = dirs, .ndirs = ndirs};
    uint8_t *data = NULL;
    size_t size = 0;
    int err = symbols_file_read(assembly, "MZ", &data, &size, &search.error);

    return open_data(&search, data, size, err, mvid, out, error);
}

int symbols_open_bundled(const char *bundle, const char *name, const char *const *dirs,
                         size_t ndirs, const uint8_t *mvid, struct symbols **out,
                         struct symbols_error *error)
{
    char assembly[PATH_MAX]; /* where a separate file would be */
    struct search search = {.assembly = assembly, .dirs = dirs, .ndirs = ndirs};
    uint8_t *data = NULL;
    size_t size = 0;
    int err = -ENOENT;

    if (snprintf(assembly, sizeof(assembly), "%.*s%s", (int)(path_base_name(bundle) - bundle),
                 bundle, name) < (int)sizeof(assembly))
        err = symbols_bundle_read(bundle, name, &data, &size, &search.error);
    return open_data(&search, data, size, err, mvid, out, error);
}

const char *symbols_path(const struct symbols *symbols)
{
    return symbols->path;
}

bool symbols_embedded(const struct symbols *symbols)
{
    return symbols->embedded;
}
