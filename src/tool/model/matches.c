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

static const struct log_table *table_of(const struct model *m, enum matches_table table)
{
    return table == MATCHES_METHODS ? &model_defs(m)->methods : &model_defs(m)->classes;
}

static const char *name_of(struct names *names, enum matches_table table, uint32_t number)
{
    if (!names)
        return NULL;
    return table == MATCHES_METHODS ? names_method(names, number) : names_type(names, number);
}

/* What an object of a type is called; NULL: it is no type, or nobody has named it. */
static const char *words_of(struct names *names, enum matches_table table, uint32_t number)
{
    return names && table == MATCHES_TYPES ? names_class(names, number) : NULL;
}

static bool any_means(const struct model *m, enum matches_table table, uint32_t number,
                      const struct model_globs *globs, struct buffer b[2])
{
    const char *logged = table_of(m, table)->defs[number].name;
    const char *const names[] = {logged, report_demangle(&b[0], logged),
                                 name_of(model_names(m, false), table, number),
                                 name_of(model_names(m, true), table, number),
                                 words_of(model_names(m, false), table, number)};

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

/* A name that was perhaps meant: shown, in the other style, as written. */
struct candidate {
    enum matches_table table;
    uint32_t number;
    unsigned style;
    size_t at; /* its short form, in the text */
};

#define STYLES 3

struct candidates {
    struct buffer text; /* short forms, each with its NUL */
    struct candidate *all;
    size_t count, capacity;
};

/* The name of a candidate; NULL: that style has none. b: where it may lie. */
static const char *styled(const struct model *m, const struct candidate *c, struct buffer *b)
{
    return c->style < 2 ? name_of(model_names(m, c->style), c->table, c->number)
                        : report_demangle(b, table_of(m, c->table)->defs[c->number].name);
}

static void add_candidates(struct candidates *c, const struct model *m, enum matches_table table,
                           unsigned style, unsigned parts)
{
    struct buffer written = BUFFER_INIT;

    for (uint32_t i = 1; i < table_of(m, table)->count; i++) {
        const struct candidate one = {table, i, style, c->text.size};
        const char *name = styled(m, &one, &written);

        if (!name || !array_reserve(&c->all, &c->capacity, c->count + 1))
            break;
        put_short(&c->text, name, parts);
        buffer_append(&c->text, "", 1);
        c->all[c->count++] = one;
    }
    buffer_free(&written);
}

/* Of the candidates the one nearest to what was meant; NULL: none is near, or no memory. */
static const struct candidate *nearest(const struct candidates *c, const char *meant)
{
    const char **names = memory_alloc((c->count + 1) * sizeof(*names)), *found = NULL;
    size_t at = 0;

    if (names && !c->text.failed && c->count) {
        for (size_t i = 0; i < c->count; i++)
            names[i] = c->text.data + c->all[i].at;
        names[c->count] = NULL;
        found = near_find(meant, names);
        while (found && names[at] != found)
            at++;
    }
    memory_free(names);
    return found ? &c->all[at] : NULL;
}

/*
 * What to type: the short form, where that can stand for what was typed; else the whole name
 * without parameters, which a pattern without wildcards means.
 */
static void put_candidate(struct buffer *line, const struct model *m, const struct candidates *c,
                          const struct candidate *found, const struct model_globs *globs)
{
    const char *brief = c->text.data + found->at;
    const struct model_globs one = {&brief, 1};
    struct buffer b[3] = {BUFFER_INIT, BUFFER_INIT, BUFFER_INIT};
    const char *whole;

    if (globs->count == 1 && !strpbrk(globs->globs[0], "*?") &&
        !any_means(m, found->table, found->number, &one, b)) {
        whole = styled(m, found, &b[0]);
        brief = without_parameters(whole, &b[2]) ? b[2].data : whole;
    }
    buffer_text(line, "; did you mean \"");
    buffer_clean(line, brief);
    buffer_text(line, "\"?");
    for (size_t i = 0; i < COUNT_OF(b); i++)
        buffer_free(&b[i]);
}

void matches_why(const struct model *m, bool methods, bool types, const struct model_globs *globs,
                 char *why, size_t why_size)
{
    const char *what = methods && types ? "method or type" : methods ? "method" : "type";
    struct buffer meant = BUFFER_INIT, line = BUFFER_INIT;
    struct candidates c = {.text = BUFFER_INIT};
    const struct candidate *found;
    unsigned parts;

    for (const char *at = globs->globs[0]; *at && *at != '('; at++)
        if (*at != '*' && *at != '?')
            buffer_char(&meant, *at);
    parts = meant.data && strchr(meant.data, '.') ? 2 : 1;
    for (unsigned style = 0; style < STYLES; style++) {
        if (methods)
            add_candidates(&c, m, MATCHES_METHODS, style, parts);
        if (types)
            add_candidates(&c, m, MATCHES_TYPES, style, parts);
    }
    found = meant.data && !meant.failed ? nearest(&c, meant.data) : NULL;
    buffer_format(&line, "no %s matches \"", what);
    buffer_clean(&line, globs->globs[0]);
    buffer_char(&line, '"');
    if (found)
        put_candidate(&line, m, &c, found, globs);
    snprintf(why, why_size, "%s", line.data && !line.failed ? line.data : "");
    buffer_free(&c.text);
    memory_free(c.all);
    buffer_free(&meant);
    buffer_free(&line);
}
