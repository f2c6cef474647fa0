#include "model/own.h"

#include "base/buffer.h"
#include "base/framework.h"
#include "base/glob.h"
#include "base/near.h"
#include "base/path.h"
#include "readers/header.h"
#include "terminal/text.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

#define LITTLE 0.01  /* of all bytes */
#define LEAST  0.001 /* what is shown beside others */

struct model_own {
    const struct log_defs *defs;
    uint8_t *modules; /* by number: enum model_owner */
    uint8_t *methods; /* by number: whether a pattern matches its name; NULL: none were given */
    size_t method_count;
    bool any;
    bool by_name; /* some method is own by its name: bytes by module do not tell what is own */
};

struct globs {
    const char *const *globs;
    size_t count;
};

/* ---- what the log does not say ---- */

static size_t folder_size(const char *path)
{
    return (size_t)(path_base_name(path) - path);
}

static bool same_folder(const char *a, const char *b)
{
    return folder_size(a) == folder_size(b) && memcmp(a, b, folder_size(a)) == 0;
}

static const struct log_def *corelib_of(const struct log_defs *defs)
{
    for (uint32_t i = 1; i < defs->modules.count; i++)
        if (strcmp(log_module(defs, i)->name, FRAMEWORK_CORELIB) == 0)
            return log_module(defs, i);
    return NULL;
}

static bool is_framework(const struct log_def *module, const struct log_def *corelib)
{
    if (module == corelib || strstr(module->path, "/shared/Microsoft."))
        return true;
    return corelib && same_folder(module->path, corelib->path) && framework_named(module->name);
}

/* The main assembly: what `dotnet` ran, or of the name of the image. */
static bool is_main(const struct log_def *module, const json_t *header)
{
    const char *program = log_program(header), *name = path_base_name(module->path);

    return program && *name &&
           (strcmp(name, program) == 0 ||
            (path_stem(name) == strlen(program) && strncmp(name, program, path_stem(name)) == 0));
}

uint32_t model_own_main(const struct log_defs *defs, const json_t *header)
{
    for (uint32_t i = 1; i < defs->modules.count; i++)
        if (is_main(log_module(defs, i), header))
            return i;
    return 0;
}

static enum model_owner guess(const struct log_defs *defs, const struct log_input *log,
                              struct source_lines *lines, uint32_t number)
{
    const struct log_def *module = log_module(defs, number);

    if (!number || !module->defined)
        return MODEL_PACKAGE;
    if (!*module->path)
        return framework_made(module->name) ? MODEL_FRAMEWORK : MODEL_OWN;
    if (is_framework(module, corelib_of(defs)))
        return MODEL_FRAMEWORK;
    return is_main(module, log->header) || source_lines_at_home(lines, number) ? MODEL_OWN
                                                                               : MODEL_PACKAGE;
}

static enum model_owner owner_of(const struct log_defs *defs, const struct log_input *log,
                                 struct source_lines *lines, uint32_t number)
{
    switch ((enum sst_owner)log_module(defs, number)->owner) {
    case SST_OWNER_OWN:
        return MODEL_OWN;
    case SST_OWNER_PACKAGE:
        return MODEL_PACKAGE;
    case SST_OWNER_FRAMEWORK:
        return MODEL_FRAMEWORK;
    default:
        return guess(defs, log, lines, number);
    }
}

/* ---- patterns ---- */

static bool matches(const struct globs *globs, const char *name)
{
    for (size_t i = 0; i < globs->count; i++)
        if (glob_match(globs->globs[i], name))
            return true;
    return false;
}

/* Letters without the pattern's wildcards, in either case. */
static bool resembles(const char *name, const char *pattern)
{
    char bare[128];
    size_t size = 0;

    for (; *pattern && size < sizeof(bare) - 1; pattern++)
        if (*pattern != '*' && *pattern != '?')
            bare[size++] = *pattern;
    while (size && bare[size - 1] == '.')
        size--;
    bare[size] = '\0';
    if (size < 3)
        return false;
    for (; *name; name++)
        if (strncasecmp(name, bare, size) == 0)
            return true;
    return false;
}

/* Up to MODEL_OWN_NEAREST names that were perhaps meant: of modules, else of methods. */
static void append_near(struct buffer *b, const struct log_defs *defs, const char *pattern)
{
    const struct log_table *const tables[] = {&defs->modules, &defs->methods};
    size_t found = 0;

    for (int pass = 0; pass < 3 && !found; pass++) {
        const struct log_table *t = tables[pass == 1];

        for (size_t i = 1; i < t->count && found < MODEL_OWN_NEAREST; i++) {
            const char *name = t->defs[i].name, *const list[] = {name, NULL};

            if (!t->defs[i].defined ||
                !(pass == 2 ? near_find(pattern, list) != NULL : resembles(name, pattern)))
                continue;
            buffer_text(b, found++ ? ", " : "; near: ");
            buffer_clean(b, name);
        }
    }
}

static bool meets(const struct log_table *t, const char *pattern)
{
    for (size_t i = 1; i < t->count; i++)
        if (t->defs[i].defined && glob_match(pattern, t->defs[i].name))
            return true;
    return false;
}

static int check_patterns(const struct log_defs *defs, const struct globs *globs, char *why,
                          size_t size)
{
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < globs->count; i++) {
        if (meets(&defs->modules, globs->globs[i]) || meets(&defs->methods, globs->globs[i]))
            continue;
        buffer_text(&b, "--own-code ");
        buffer_clean(&b, globs->globs[i]);
        buffer_text(&b, ": no module or method has such a name");
        append_near(&b, defs, globs->globs[i]);
        snprintf(why, size, "%s", b.failed || !b.data ? "" : b.data);
        buffer_free(&b);
        return -ENOENT;
    }
    return 0;
}

/* What the recording was told; to be freed. count 0: nothing, or no memory. */
static const char **recorded_patterns(const struct log_input *log, size_t *count)
{
    const json_t *options = json_object_get(log->header, "options");
    const json_t *array = json_object_get(options, "own_code"), *value;
    const char **globs =
        json_array_size(array) ? memory_zalloc(json_array_size(array), sizeof(*globs)) : NULL;
    size_t i;

    *count = 0;
    if (globs)
        json_array_foreach(array, i, value)
        {
            if (json_is_string(value))
                globs[(*count)++] = json_string_value(value);
        }
    return globs;
}

static void apply_patterns(struct model_own *own, const struct globs *globs)
{
    const struct log_defs *defs = own->defs;

    for (uint32_t i = 1; i < defs->modules.count; i++) {
        if (matches(globs, log_module(defs, i)->name))
            own->modules[i] = MODEL_OWN;
        else if (own->modules[i] == MODEL_OWN)
            own->modules[i] = MODEL_PACKAGE;
    }
    for (uint32_t i = 1; i < defs->methods.count; i++) {
        const char *name = log_method(defs, i)->name;

        own->methods[i] = name[0] != '(' && matches(globs, name); /* (dynamic method) is none */
        own->by_name |= own->methods[i];
    }
    own->any |= own->by_name;
}

/* ---- the whole ---- */

static int make(struct model_own *own, const struct log_input *log, struct source_lines *lines,
                const struct globs *globs)
{
    const struct log_defs *defs = own->defs;

    own->modules = memory_zalloc(defs->modules.count, 1);
    own->methods = globs->count ? memory_zalloc(defs->methods.count, 1) : NULL;
    own->method_count = defs->methods.count;
    if (!own->modules || (globs->count && !own->methods))
        return -ENOMEM;
    for (uint32_t i = 0; i < defs->modules.count; i++)
        own->modules[i] = (uint8_t)owner_of(defs, log, lines, i);
    if (globs->count)
        apply_patterns(own, globs);
    for (uint32_t i = 1; i < defs->modules.count; i++)
        own->any |= own->modules[i] == MODEL_OWN;
    return 0;
}

int model_own_new(const struct log_defs *defs, const struct log_input *log,
                  struct source_lines *lines, const char *const *patterns, size_t count,
                  struct model_own **out, char *why, size_t why_size)
{
    struct globs globs = {patterns, count};
    const char **recorded = NULL;
    struct model_own *own;
    int err = check_patterns(defs, &globs, why, why_size);

    *out = NULL;
    if (err)
        return err;
    if (!count)
        globs.globs = recorded = recorded_patterns(log, &globs.count);
    own = memory_zalloc(1, sizeof(*own));
    err = -ENOMEM;
    if (own) {
        own->defs = defs;
        err = make(own, log, lines, &globs);
    }
    memory_free(recorded);
    if (err) {
        model_own_free(own);
        return err;
    }
    *out = own;
    return 0;
}

void model_own_free(struct model_own *own)
{
    if (own)
        memory_free_all(own->modules, own->methods, own);
}

enum model_owner model_own_of_module(const struct model_own *own, uint32_t module)
{
    return own && module < own->defs->modules.count ? (enum model_owner)own->modules[module]
                                                    : MODEL_PACKAGE;
}

enum model_owner model_own_of_method(const struct model_own *own, uint32_t method)
{
    if (!own || method >= own->method_count)
        return MODEL_PACKAGE;
    if (own->methods && own->methods[method])
        return MODEL_OWN;
    return model_own_of_module(own, log_method(own->defs, method)->module);
}

bool model_own_any(const struct model_own *own)
{
    return own && own->any;
}

/* ---- where own code makes next to nothing ---- */

static double sum(const struct model_own *own, const double *bytes, bool only_own)
{
    double total = 0;

    for (uint32_t i = 0; i < own->defs->modules.count; i++)
        if (!only_own || own->modules[i] == MODEL_OWN)
            total += bytes[i];
    return total;
}

size_t model_own_nearest(const struct model_own *own, const double *bytes,
                         uint32_t out[MODEL_OWN_NEAREST])
{
    size_t count = 0;

    if (!own || own->by_name || sum(own, bytes, true) >= LITTLE * sum(own, bytes, false))
        return 0;
    for (uint32_t i = 1; i < own->defs->modules.count; i++) {
        size_t at = count;

        if (own->modules[i] != MODEL_PACKAGE || bytes[i] <= 0)
            continue;
        for (; at && bytes[out[at - 1]] < bytes[i]; at--)
            if (at < MODEL_OWN_NEAREST)
                out[at] = out[at - 1];
        if (at < MODEL_OWN_NEAREST)
            out[at] = i;
        count += count < MODEL_OWN_NEAREST;
    }
    return count;
}

bool model_own_tell(const struct model_own *own, const double *bytes, struct buffer *out)
{
    uint32_t nearest[MODEL_OWN_NEAREST];
    size_t count = model_own_nearest(own, bytes, nearest);
    double total = count ? sum(own, bytes, false) : 0;
    struct text_number share;

    if (!count)
        return false;
    if (own->any)
        buffer_format(out, "own code makes %s of the bytes",
                      text_share(&share, sum(own, bytes, true) / total));
    else
        buffer_text(out, "no own code is known");
    for (size_t i = 0; i < count && (!i || bytes[nearest[i]] >= LEAST * total); i++) {
        buffer_text(out, i ? ", " : "; nearest modules that are not framework: ");
        buffer_clean(out, log_module(own->defs, nearest[i])->name);
        buffer_format(out, " (%s)", text_share(&share, bytes[nearest[i]] / total));
    }
    buffer_text(out, "; --own-code ");
    buffer_clean(out, log_module(own->defs, nearest[0])->name);
    buffer_text(out, " takes it for own");
    return true;
}
