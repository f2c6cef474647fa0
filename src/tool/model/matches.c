#include "model/matches.h"

#include "base/buffer.h"
#include "base/glob.h"
#include "base/name.h"
#include "base/near.h"

#include "report/demangle.h"

#include "model/names.h"

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

static const struct report_table *table_of(const struct model *m, enum matches_table table)
{
    return table == MATCHES_METHODS ? &model_defs(m)->methods : &model_defs(m)->classes;
}

static const char *name_of(struct names *names, enum matches_table table, uint32_t number)
{
    return !names                     ? NULL
           : table == MATCHES_METHODS ? names_method(names, number)
                                      : names_class(names, number);
}

static bool any_means(const struct model *m, enum matches_table table, uint32_t number,
                      const struct model_globs *globs, struct buffer b[2])
{
    const char *logged = table_of(m, table)->defs[number].name;
    const char *const names[] = {logged, report_demangle(&b[0], logged),
                                 name_of(model_names(m, false), table, number),
                                 name_of(model_names(m, true), table, number)};

    for (size_t i = 0; i < globs->count; i++)
        for (size_t j = 0; j < COUNT_OF(names); j++)
            if (names[j] && (j == 0 || names[j] != logged) &&
                glob_means(globs->globs[i], names[j], &b[1]))
                return true;
    return false;
}

int64_t matches_of(const struct model *m, enum matches_table table, const struct model_globs *globs,
                   bool **out)
{
    struct buffer b[2] = {BUFFER_INIT, BUFFER_INIT};
    size_t names = table_of(m, table)->count;
    int64_t count = 0;

    *out = NULL;
    if (!globs->count)
        return 0;
    *out = memory_zalloc(names, sizeof(**out));
    for (uint32_t i = 1; *out && i < names; i++)
        count += (*out)[i] = any_means(m, table, i, globs, b);
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

static void add_candidates(struct candidates *c, const struct model *m, enum matches_table table,
                           unsigned parts)
{
    struct buffer written = BUFFER_INIT;

    for (uint32_t i = 1; i < table_of(m, table)->count; i++) {
        const char *shown = name_of(model_names(m, false), table, i);

        put_short(&c->text,
                  shown ? shown : report_demangle(&written, table_of(m, table)->defs[i].name),
                  parts);
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

void matches_why(const struct model *m, bool methods, bool types, const struct model_globs *globs,
                 char *why, size_t why_size)
{
    const char *what = methods && types ? "method or type" : methods ? "method" : "type";
    struct buffer meant = BUFFER_INIT, line = BUFFER_INIT;
    struct candidates c = {BUFFER_INIT, 0};
    const char *found = NULL;
    unsigned parts;

    for (const char *at = globs->globs[0]; *at && *at != '('; at++)
        if (*at != '*' && *at != '?')
            buffer_char(&meant, *at);
    parts = meant.data && strchr(meant.data, '.') ? 2 : 1;
    if (methods)
        add_candidates(&c, m, MATCHES_METHODS, parts);
    if (types)
        add_candidates(&c, m, MATCHES_TYPES, parts);
    if (meant.data)
        found = nearest(&c, meant.data);
    buffer_format(&line, "no %s matches \"", what);
    buffer_clean(&line, globs->globs[0]);
    buffer_char(&line, '"');
    if (found) {
        buffer_text(&line, "; did you mean \"");
        buffer_clean(&line, found);
        buffer_text(&line, "\"?");
    }
    snprintf(why, why_size, "%s", line.data && !line.failed ? line.data : "");
    buffer_free(&c.text);
    buffer_free(&meant);
    buffer_free(&line);
}

/* ---- places ---- */

int matches_places(const struct model *m, const struct model_globs *globs,
                   const struct model_place *places, uint32_t place_count, uint32_t **out,
                   size_t *count, char *why, size_t why_size)
{
    bool *methods = NULL, *types = NULL;
    int64_t known = matches_of(m, MATCHES_METHODS, globs, &methods);
    enum model_place_kind kind = known > 0 ? MODEL_PLACE_METHOD : MODEL_PLACE_TYPE;
    const bool *matched;

    *out = NULL;
    *count = 0;
    if (known == 0)
        known = matches_of(m, MATCHES_TYPES, globs, &types);
    matched = types ? types : methods;
    if (known == 0)
        matches_why(m, true, true, globs, why, why_size);
    else if (known > 0)
        *out = memory_alloc((place_count + 1) * sizeof(**out));
    for (uint32_t i = 0; *out && i < place_count; i++)
        if (places[i].kind == kind && matched[places[i].method])
            (*out)[(*count)++] = i;
    memory_free_all(methods, types);
    return *out ? 0 : known == 0 ? -ENOENT : -ENOMEM;
}
