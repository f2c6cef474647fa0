#include "model/matches.h"

#include "base/buffer.h"
#include "base/glob.h"
#include "base/name.h"
#include "base/near.h"

#include "report/demangle.h"

#include <stdio.h>

/* The name up to its parameters. Returns: false if it has none. */
static bool without_parameters(const char *name, struct buffer *out)
{
    const char *at = name_parameters(name);

    if (!*at || at == name)
        return false;
    buffer_clear(out);
    buffer_append(out, name, (size_t)(at - name));
    return !out->failed;
}

static bool glob_means(const char *glob, const char *name, struct buffer *b)
{
    return glob_match(glob, name) || (without_parameters(name, b) && glob_match(glob, b->data));
}

static bool any_means(const struct model_globs *globs, const char *name, struct buffer b[2])
{
    const char *written = report_demangle(&b[0], name);

    for (size_t i = 0; i < globs->count; i++)
        if (glob_means(globs->globs[i], name, &b[1]) ||
            (written != name && glob_means(globs->globs[i], written, &b[1])))
            return true;
    return false;
}

int64_t matches_of(const struct report_table *table, const struct model_globs *globs, bool **out)
{
    struct buffer b[2] = {BUFFER_INIT, BUFFER_INIT};
    int64_t count = 0;

    *out = NULL;
    if (!globs->count)
        return 0;
    *out = memory_zalloc(table->count, sizeof(**out));
    for (size_t i = 1; *out && i < table->count; i++)
        count += (*out)[i] = any_means(globs, table->defs[i].name, b);
    buffer_free(&b[0]);
    buffer_free(&b[1]);
    return *out ? count : -ENOMEM;
}

/* ---- the nearest name ---- */

/*
 * A name in its shortest form: what stands behind the last point outside of brackets, without
 * parameters; with `parts` 2 also what stands before it: "List<T>.Add".
 */
static void put_short(struct buffer *b, const char *name, unsigned parts)
{
    size_t end = (size_t)(name_parameters(name) - name), begin = end;
    int depth = 0;

    for (; begin > 0; begin--) {
        char c = name[begin - 1];

        depth += (c == '>' || c == ']') - (c == '<' || c == '[');
        if (c == '.' && depth == 0 && --parts == 0)
            break;
    }
    buffer_append(b, name + begin, end - begin);
}

struct candidates {
    struct buffer text; /* one after the other, each with its NUL */
    size_t count;
};

static void add_candidates(struct candidates *c, const struct report_table *table, unsigned parts)
{
    struct buffer written = BUFFER_INIT;

    for (size_t i = 1; table && i < table->count; i++) {
        put_short(&c->text, report_demangle(&written, table->defs[i].name), parts);
        buffer_append(&c->text, "", 1);
        c->count++;
    }
    buffer_free(&written);
}

static const char *nearest(struct candidates *c, const char *meant)
{
    const char **names = memory_alloc((c->count + 1) * sizeof(*names)), *at = c->text.data, *found;

    if (!names || c->text.failed || !c->count) {
        memory_free(names);
        return NULL;
    }
    for (size_t i = 0; i < c->count; i++, at += strlen(at) + 1)
        names[i] = at;
    names[c->count] = NULL;
    found = near_find(meant, names);
    memory_free(names);
    return found;
}

void matches_why(const struct report_table *methods, const struct report_table *types,
                 const struct model_globs *globs, char *why, size_t why_size)
{
    const char *what = methods && types ? "method or type" : methods ? "method" : "type";
    const char *found = NULL;
    struct candidates c = {BUFFER_INIT, 0};
    struct buffer meant = BUFFER_INIT;
    bool dotted;

    for (const char *at = globs->globs[0]; *at && *at != '('; at++)
        if (*at != '*' && *at != '?')
            buffer_char(&meant, *at);
    dotted = meant.data && strchr(meant.data, '.');
    add_candidates(&c, methods, dotted ? 2 : 1);
    add_candidates(&c, types, dotted ? 2 : 1);
    if (meant.data)
        found = nearest(&c, meant.data);
    snprintf(why, why_size, "no %s matches \"%s\"%s%s%s", what, globs->globs[0],
             found ? "; did you mean \"" : "", found ? found : "", found ? "\"?" : "");
    buffer_free(&c.text);
    buffer_free(&meant);
}

/* ---- places ---- */

int matches_places(const struct report_defs *d, const struct model_globs *globs,
                   const struct model_place *places, uint32_t place_count, uint32_t **out,
                   size_t *count, char *why, size_t why_size)
{
    bool *methods = NULL, *types = NULL;
    int64_t known = matches_of(&d->methods, globs, &methods);
    enum model_place_kind kind = known > 0 ? MODEL_PLACE_METHOD : MODEL_PLACE_TYPE;
    const bool *matched;

    *out = NULL;
    *count = 0;
    if (known == 0)
        known = matches_of(&d->classes, globs, &types);
    matched = types ? types : methods;
    if (known == 0)
        matches_why(&d->methods, &d->classes, globs, why, why_size);
    else if (known > 0)
        *out = memory_alloc((place_count + 1) * sizeof(**out));
    for (uint32_t i = 0; *out && i < place_count; i++)
        if (places[i].kind == kind && matched[places[i].method])
            (*out)[(*count)++] = i;
    memory_free_all(methods, types);
    return *out ? 0 : known == 0 ? -ENOENT : -ENOMEM;
}
