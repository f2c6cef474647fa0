#include "owner/owner.h"

#include "base/array.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/framework.h"
#include "base/memory.h"
#include "base/path.h"
#include "owner/deps.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCOPES_MAX 1024 /* deps.json that are kept: a program may load plugins for ever */

/* One deps.json, or an assembly that its PDB speaks for. */
struct scope {
    char *path;    /* its own; "" of a bundle */
    size_t folder; /* bytes of it that name its folder, with the slash */
    struct deps deps;
};

struct owners {
    pthread_mutex_t lock; /* guards all below */
    bool sdk;
    bool given;  /* the host was told which deps.json is the program's */
    bool told;   /* some deps.json was read */
    bool failed; /* something was not read: out of memory */
    const struct options_patterns *own_code;
    struct scope *scopes;
    size_t count, capacity;
    char *corelib; /* its path; NULL: not loaded yet */
    char *first;   /* path of the first assembly that is not of the framework; NULL: none yet */
};

#define WORD(name, text) text,

const char *owner_word(enum sst_owner owner)
{
    static const char *const words[] = {"", SST_OWNERS(WORD)};

    return words[owner];
}

/* ---- folders ---- */

/* Bytes of a path that name its folder; 0: it is a name alone, of a file in a bundle. */
static size_t folder_of(const char *path)
{
    return (size_t)(path_base_name(path) - path);
}

static bool same_folder(const char *a, const char *b)
{
    return folder_of(a) == folder_of(b) && memcmp(a, b, folder_of(a)) == 0;
}

/* Bytes of DOTNET/ in DOTNET/shared/Microsoft.NETCore.App/10.0.0/; false: no such path. */
static bool shared_root(const char *corelib, size_t *size)
{
    static const char shared[] = "/shared/Microsoft.NETCore.App/";
    size_t end = corelib ? folder_of(corelib) : 0, before = strlen(shared);

    if (!end)
        return false;
    for (end--; end && corelib[end - 1] != '/'; end--)
        ;
    if (end < before || memcmp(corelib + end - before, shared, before) != 0)
        return false;
    *size = end - before + 1;
    return true;
}

static bool below(const char *path, const char *root, size_t size, const char *folder)
{
    return strncmp(path, root, size) == 0 && strncmp(path + size, folder, strlen(folder)) == 0;
}

static bool in_framework(const struct owners *o, const char *path)
{
    size_t root;

    if (o->corelib && strcmp(path, o->corelib) == 0)
        return true;
    return shared_root(o->corelib, &root) && (below(path, o->corelib, root, "shared/") ||
                                              (o->sdk && below(path, o->corelib, root, "sdk/")));
}

/* ---- what was read ---- */

static bool listed(const struct owners *o, const char *path, const char *name,
                   enum sst_owner *owner)
{
    enum sst_owner any = SST_OWNER_UNKNOWN;

    for (size_t i = 0; i < o->count; i++) {
        const struct scope *s = &o->scopes[i];

        *owner = deps_find(&s->deps, name);
        if (*owner && folder_of(path) == s->folder && memcmp(path, s->path, s->folder) == 0)
            return true;
        any = any ? any : *owner;
    }
    *owner = any;
    return any;
}

/* Takes deps, also on failure. */
static int add_scope(struct owners *o, const char *path, struct deps *deps)
{
    char *copy = memory_strdup(path);

    if (copy && o->count < SCOPES_MAX && array_reserve(&o->scopes, &o->capacity, o->count + 1)) {
        o->scopes[o->count++] = (struct scope){copy, folder_of(path), *deps};
        return 0;
    }
    memory_free(copy);
    deps_free(deps);
    return -ENOMEM;
}

/* Takes text. */
static void take_deps(struct owners *o, const char *path, char *text, size_t size)
{
    struct deps deps;
    int err = deps_parse(text, size, &deps);

    memory_free(text);
    if (!err)
        err = add_scope(o, path, &deps);
    o->told |= !err;
    o->failed |= err == -ENOMEM;
}

/* As the runtime reports modules: absolute, in the folder that links lead to. */
static const char *resolve(const char *path, char out[PATH_MAX])
{
    const char *name = path_base_name(path);
    char folder[PATH_MAX];
    int size = snprintf(folder, sizeof(folder), "%.*s.", (int)folder_of(path), path);

    if (size >= PATH_MAX || !realpath(folder, out) || strlen(out) + strlen(name) + 2 > PATH_MAX)
        return path;
    if (out[1])
        strcat(out, "/");
    return strcat(out, name);
}

static void read_deps(struct owners *o, const char *path)
{
    char absolute[PATH_MAX], *text;
    size_t size;
    int err = file_load(path, DEPS_MAX, &text, &size);

    if (!err)
        take_deps(o, resolve(path, absolute), text, size);
    o->failed |= err == -ENOMEM;
}

/* The path of an assembly with another extension; NULL: no memory. To be freed. */
static char *beside(struct owners *o, const char *assembly, const char *extension)
{
    struct buffer b = BUFFER_INIT;
    char *path;

    buffer_append(&b, assembly, path_stem(assembly));
    buffer_text(&b, extension);
    path = buffer_take(&b);
    o->failed |= !path;
    return path;
}

static bool has_scope(const struct owners *o, const char *path)
{
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->scopes[i].path, path) == 0)
            return true;
    return false;
}

static void read_beside(struct owners *o, const char *assembly)
{
    char *path = beside(o, assembly, ".deps.json");

    if (path && !has_scope(o, path))
        read_deps(o, path);
    memory_free(path);
}

/* ---- what no deps.json says ---- */

static bool in_a_scopes_folder(const struct owners *o, const char *path)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->scopes[i].folder == folder_of(path) &&
            memcmp(path, o->scopes[i].path, o->scopes[i].folder) == 0)
            return true;
    return false;
}

/* An assembly that no deps.json knows, in another folder: own if its PDB came with it. */
static void ask_pdb(struct owners *o, const char *assembly)
{
    struct deps deps = {NULL, 0, 0};
    char *path = beside(o, assembly, ".pdb");

    if (path && access(path, F_OK) == 0) {
        if (deps_add(&deps, assembly, SST_OWNER_OWN) || add_scope(o, assembly, &deps))
            o->failed = true;
    }
    memory_free(path);
}

static enum sst_owner guess(const struct owners *o, const char *path, const char *name)
{
    if (!folder_of(path) && framework_made(name))
        return SST_OWNER_FRAMEWORK;
    if (o->corelib && same_folder(path, o->corelib) &&
        (framework_named(name) || (o->first && !same_folder(o->first, o->corelib))))
        return SST_OWNER_FRAMEWORK;
    if (o->failed)
        return SST_OWNER_UNKNOWN;
    if (!folder_of(path))
        return SST_OWNER_OWN;
    if (!o->told && o->first && strncmp(path, o->first, folder_of(o->first)) == 0)
        return SST_OWNER_OWN;
    return SST_OWNER_PACKAGE;
}

/* ---- the whole ---- */

static void read_program(struct owners *o, const struct owners_config *config)
{
    char *text;
    size_t size;
    int err =
        config->bundle ? deps_bundled(config->executable, config->bundle, &text, &size) : -ENOENT;

    o->failed |= err == -ENOMEM;
    if (!err)
        take_deps(o, "", text, size);
    else if (config->deps)
        read_deps(o, config->deps);
    else if (*config->main)
        read_beside(o, config->main);
    o->given = config->deps && o->told;
}

int owners_new(const struct owners_config *config, struct owners **out)
{
    struct owners *o = memory_zalloc(1, sizeof(*o));

    *out = o;
    if (!o)
        return -ENOMEM;
    pthread_mutex_init(&o->lock, NULL);
    o->sdk = config->sdk;
    o->own_code = config->own_code;
    read_program(o, config);
    return 0;
}

void owners_free(struct owners *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->count; i++) {
        memory_free(o->scopes[i].path);
        deps_free(&o->scopes[i].deps);
    }
    pthread_mutex_destroy(&o->lock);
    memory_free_all(o->scopes, o->corelib, o->first, o);
}

static void learn(struct owners *o, const char *path, const char *name)
{
    bool first = !o->first;
    enum sst_owner owner;

    if (first) {
        o->first = memory_strdup(path);
        o->failed |= !o->first;
    }
    if (!folder_of(path) || listed(o, path, name, &owner))
        return;
    if (!first || !o->given)
        read_beside(o, path);
    if (o->told && !listed(o, path, name, &owner) && !in_a_scopes_folder(o, path))
        ask_pdb(o, path);
}

void owners_loaded(struct owners *o, const char *path)
{
    struct buffer name = BUFFER_INIT;

    if (!o || !*path)
        return;
    buffer_append(&name, path_base_name(path), path_stem(path_base_name(path)));
    pthread_mutex_lock(&o->lock);
    if (name.failed || !name.data)
        o->failed = true;
    else if (!o->corelib && strcmp(name.data, FRAMEWORK_CORELIB) == 0)
        o->failed |= !(o->corelib = memory_strdup(path));
    else if (!in_framework(o, path))
        learn(o, path, name.data);
    pthread_mutex_unlock(&o->lock);
    buffer_free(&name);
}

static enum sst_owner decide(const struct owners *o, const char *path, const char *name)
{
    enum sst_owner owner;

    if (strcmp(name, FRAMEWORK_CORELIB) == 0 || in_framework(o, path))
        return SST_OWNER_FRAMEWORK;
    if (o->first && !o->given && strcmp(path, o->first) == 0)
        return SST_OWNER_OWN; /* the main assembly */
    return listed(o, path, name, &owner) ? owner : guess(o, path, name);
}

enum sst_owner owners_ask(struct owners *o, const char *path, const char *name)
{
    enum sst_owner owner;

    if (!o)
        return SST_OWNER_UNKNOWN;
    pthread_mutex_lock(&o->lock);
    owner = decide(o, path, name);
    pthread_mutex_unlock(&o->lock);
    if (!o->own_code || !o->own_code->count)
        return owner;
    if (options_match(o->own_code, name))
        return SST_OWNER_OWN;
    return owner == SST_OWNER_FRAMEWORK ? owner : SST_OWNER_PACKAGE;
}
