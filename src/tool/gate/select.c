#include "gate/select.h"

#include "model/matches.h"
#include "report/frames.h"

/* Lists of limits by a number: of a method, a line, a type. */
struct chains {
    uint32_t *heads; /* index of an entry + 1; 0: none */
    struct chain {
        uint32_t limit, next;
    } * entries;
    size_t count, capacity;
};

struct selecting {
    const struct gate_lines *g;
    const struct model *model;
    const struct budget *b;
    struct gate_selection *out;
    struct chains methods, lines, types;
    struct chains whole; /* all in list 0 */
    bool **type_of;      /* by limit: types it counts, beside what it is of; NULL: all */
    uint32_t *stamps;    /* by limit: the cell that it has been counted for + 1 */
    bool *claimed;       /* by line: a limit names it */
};

static int chain_new(struct chains *c, size_t count)
{
    c->heads = memory_zalloc(count + 1, sizeof(*c->heads));
    return c->heads ? 0 : -ENOMEM;
}

static int chain_add(struct chains *c, uint32_t number, uint32_t limit)
{
    if (!array_reserve(&c->entries, &c->capacity, c->count + 1))
        return -ENOMEM;
    c->entries[c->count] = (struct chain){limit, c->heads[number]};
    c->heads[number] = (uint32_t)++c->count;
    return 0;
}

static void chain_free(struct chains *c)
{
    memory_free_all(c->heads, c->entries);
}

void gate_selection_free(struct gate_selection *s)
{
    memory_free_all(s->first, s->slots, s->absent);
    *s = (struct gate_selection){.other = GATE_NO_LIMIT};
}

/* ---- names: exactly those, else what a pattern means ---- */

static const char *name_of(const struct selecting *s, enum matches_table table, uint32_t number)
{
    return table == MATCHES_METHODS ? names_method(s->g->l->names, number)
                                    : names_class(s->g->l->names, number);
}

/* Which numbers a name means, in *out. Returns: how many; -ENOMEM. */
static int64_t find(const struct selecting *s, enum matches_table table, const char *name,
                    bool **out)
{
    const struct log_defs *d = s->g->l->defs;
    size_t count = table == MATCHES_METHODS ? d->methods.count : d->classes.count;
    const struct model_globs globs = {&name, 1};
    int64_t found = 0;

    *out = memory_zalloc(count + 1, sizeof(**out));
    for (uint32_t i = 1; *out && i < count; i++)
        found += (*out)[i] = strcmp(name_of(s, table, i), name) == 0;
    if (!*out || found)
        return *out ? found : -ENOMEM;
    memory_free(*out);
    return matches_of(s->model, table, &globs, out);
}

static int add_names(struct selecting *s, enum matches_table table, const char *name,
                     struct chains *to, uint32_t limit)
{
    const struct log_defs *d = s->g->l->defs;
    size_t count = table == MATCHES_METHODS ? d->methods.count : d->classes.count;
    bool *which;
    int64_t found = find(s, table, name, &which);
    int err = found < 0 ? (int)found : 0;

    s->out->absent[limit] = found == 0;
    for (uint32_t i = 1; !err && found && i < count; i++)
        if (which[i])
            err = chain_add(to, i, limit);
    memory_free(which);
    return err;
}

/* ---- limits ---- */

/* Of a limit that is of a method, a line or the whole: only these types. */
static int add_type(struct selecting *s, uint32_t limit)
{
    const struct budget_limit *l = &s->b->limits[limit];
    int64_t found;

    if (!l->type || l->of == BUDGET_TYPE)
        return 0;
    found = find(s, MATCHES_TYPES, l->type, &s->type_of[limit]);
    s->out->absent[limit] = s->out->absent[limit] || (found == 0 && l->of != BUDGET_LINE);
    return found < 0 ? (int)found : 0;
}

static int add_limit(struct selecting *s, uint32_t limit, uint32_t line)
{
    const struct budget_limit *l = &s->b->limits[limit];
    int err = 0;

    switch (l->of) {
    case BUDGET_WHOLE:
        err = chain_add(&s->whole, 0, limit);
        break;
    case BUDGET_LINE:
        if (line == GATE_NO_LINE)
            return 0;
        s->claimed[line] = true;
        err = chain_add(&s->lines, line, limit);
        break;
    case BUDGET_OTHER_LINES:
        s->out->other = limit;
        break;
    case BUDGET_METHOD:
        err = add_names(s, MATCHES_METHODS, l->method, &s->methods, limit);
        break;
    case BUDGET_TYPE:
        err = add_names(s, MATCHES_TYPES, l->type, &s->types, limit);
        break;
    }
    return err ? err : add_type(s, limit);
}

/* ---- cells ---- */

static int put(struct selecting *s, uint32_t slot)
{
    struct gate_selection *out = s->out;

    if (!array_reserve(&out->slots, &out->capacity, out->count + 1))
        return -ENOMEM;
    out->slots[out->count++] = slot;
    return 0;
}

/* The limits of a list that have not counted the cell yet. */
static int put_chain(struct selecting *s, const struct chains *c, uint32_t number, uint32_t cell)
{
    uint32_t type = model_cell(s->model, cell)->class_number;
    int err = 0;

    for (uint32_t at = c->heads[number]; !err && at; at = c->entries[at - 1].next) {
        uint32_t limit = c->entries[at - 1].limit;

        if (s->stamps[limit] == cell + 1 || (s->type_of[limit] && !s->type_of[limit][type]))
            continue;
        s->stamps[limit] = cell + 1;
        err = put(s, limit);
    }
    return err;
}

static int put_methods(struct selecting *s, uint32_t cell)
{
    const struct report_cell *c = model_cell(s->model, cell);
    struct report_frame f;
    int err = 0;

    if (!s->methods.count || !report_frame_first(s->g->l->defs, c->path, c->il, &f))
        return 0;
    do
        err = put_chain(s, &s->methods, f.method, cell);
    while (!err && report_frame_outer(s->g->l->defs, &f));
    return err;
}

static int put_cell(struct selecting *s, uint32_t cell)
{
    const struct report_cell *c = model_cell(s->model, cell);
    uint32_t line = s->g->of_cell[cell];
    int err;

    if (s->b->steady && c->unoptimised)
        return 0;
    err = put_chain(s, &s->whole, 0, cell);
    if (!err)
        err = put_chain(s, &s->types, c->class_number, cell);
    if (!err)
        err = put_methods(s, cell);
    if (err || line == GATE_NO_LINE)
        return err;
    if (!s->claimed[line] && s->out->other != GATE_NO_LIMIT)
        return put(s, (uint32_t)s->b->count + line);
    return put_chain(s, &s->lines, line, cell);
}

static int begin(struct selecting *s)
{
    const struct log_defs *d = s->g->l->defs;
    struct gate_selection *out = s->out;
    size_t cells = model_cell_count(s->model);

    *out = (struct gate_selection){.slot_count = s->b->count + s->g->count, .other = GATE_NO_LIMIT};
    out->first = memory_alloc((cells + 1) * sizeof(*out->first));
    out->absent = memory_zalloc(s->b->count + 1, sizeof(*out->absent));
    s->type_of = memory_zalloc(s->b->count + 1, sizeof(*s->type_of));
    s->stamps = memory_zalloc(s->b->count + 1, sizeof(*s->stamps));
    s->claimed = memory_zalloc(s->g->count + 1, sizeof(*s->claimed));
    return out->first && out->absent && s->type_of && s->stamps && s->claimed &&
                   !chain_new(&s->methods, d->methods.count) &&
                   !chain_new(&s->types, d->classes.count) && !chain_new(&s->lines, s->g->count) &&
                   !chain_new(&s->whole, 0)
               ? 0
               : -ENOMEM;
}

int gate_select(const struct gate_lines *g, const struct budget *b, const bool *wanted,
                const uint32_t *matched, struct gate_selection *out)
{
    struct selecting s = {.g = g, .model = g->l->model, .b = b, .out = out};
    size_t cells = model_cell_count(s.model);
    int err = begin(&s);

    for (uint32_t i = 0; !err && i < b->count; i++)
        if (wanted[i])
            err = add_limit(&s, i, matched[i]);
    for (uint32_t i = 0; !err && i < cells; i++) {
        out->first[i] = (uint32_t)out->count;
        err = put_cell(&s, i);
    }
    if (!err)
        out->first[cells] = (uint32_t)out->count;
    for (size_t i = 0; s.type_of && i < b->count; i++)
        memory_free(s.type_of[i]);
    memory_free_all(s.type_of, s.stamps, s.claimed);
    chain_free(&s.methods);
    chain_free(&s.types);
    chain_free(&s.lines);
    chain_free(&s.whole);
    return err;
}
