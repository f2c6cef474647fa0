#include "gate/lines.h"

#include "base/order.h"
#include "base/path.h"
#include "base/utf8.h"

#include "command/sources.h"
#include "model/near.h"
#include "report/align.h"

#include <math.h>

#define TEXT_MOST 200 /* bytes of a line's text that a budget keeps */

/* All bytes are the key: no padding. */
INDEX_OF_BYTES(line_kind, struct gate_line, line_last);

void gate_lines_free(struct gate_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        memory_free(lines->lines[i].text);
    memory_free_all(lines->lines, lines->methods, lines->of_cell);
    index_free(&lines->index);
    *lines = (struct gate_lines){.count = 0};
}

static int add(struct gate_lines *g, const struct model_near_place *at, uint32_t *line)
{
    const struct gate_line key = {.module = at->line.module,
                                  .document = at->line.document,
                                  .of = at->line.line ? 0 : at->method,
                                  .line = at->line.line,
                                  .line_last = at->line.line_last,
                                  .path = at->line.file,
                                  .file = path_base_name_foreign(at->line.file)};
    const struct gate_line_method of = {names_method(g->l->names, at->method), 0};
    int added = index_add(&g->index, &line_kind, &g->lines, &g->count, &g->capacity, &key, line);

    if (added < 0 || !array_reserve(&g->methods, &g->method_capacity, g->method_count + 1))
        return -ENOMEM;
    g->methods[g->method_count] = of;
    g->methods[g->method_count++].line = *line;
    return 0;
}

/* Of a place without a line at least the method's file. Returns: whether that is known. */
static bool find_file(const struct gate_lines *g, struct model_near_place *at)
{
    if (at->line.file)
        return true;
    if (!source_line_of(g->l->lines, at->method, SOURCE_LINE_LAST, &at->line))
        return false;
    at->line.line = at->line.line_last = 0;
    return true;
}

static int take_cell(struct gate_lines *g, struct model_near *near, size_t i, bool steady)
{
    const struct report_cell *cell = model_cell(g->l->model, i);
    struct model_near_place at;
    int err;

    g->of_cell[i] = GATE_NO_LINE;
    if ((steady && cell->unoptimised) || !model_near_find(near, cell->path, cell->il, &at))
        return 0;
    if (!find_file(g, &at)) {
        if (at.lack == MODEL_NEAR_LACKS_SYMBOLS)
            g->unlined = at.method;
        return 0;
    }
    err = add(g, &at, &g->of_cell[i]);
    if (err)
        return err;
    g->lines[g->of_cell[i]].objects += cell->allocs;
    g->lines[g->of_cell[i]].bytes += cell->bytes;
    return 0;
}

/* ---- names ---- */

static int by_method(const void *left, const void *right, void *context)
{
    const struct gate_lines *g = context;
    const struct gate_line_method *a = left, *b = right;
    const struct gate_line *x = &g->lines[a->line], *y = &g->lines[b->line];
    int order = strcmp(a->method, b->method);

    order = order ? order : strcmp(x->file, y->file);
    return ORDERS(order, ORDER(x->line, y->line), ORDER(x->line_last, y->line_last),
                  ORDER(a->line, b->line));
}

/* Each pair of method and line once, in order; a line is called by its first method. */
static void name_lines(struct gate_lines *g)
{
    size_t kept = 0;

    if (g->method_count)
        qsort_r(g->methods, g->method_count, sizeof(*g->methods), by_method, g);
    for (size_t i = 0; i < g->method_count; i++) {
        const struct gate_line_method *m = &g->methods[i];
        struct gate_line *line = &g->lines[m->line];

        if (kept && by_method(&g->methods[kept - 1], m, g) == 0)
            continue;
        line->method = line->method ? line->method : m->method;
        g->methods[kept++] = *m;
    }
    g->method_count = kept;
}

/* ---- texts ---- */

/* The line at `from`, which may be the last, without blanks at both ends. NULL: no memory. */
static char *trimmed(const char *from)
{
    size_t size = strcspn(from, "\r\n"), kept = 0;
    char *text;

    while (size && (*from == ' ' || *from == '\t')) {
        from++;
        size--;
    }
    while (size && (from[size - 1] == ' ' || from[size - 1] == '\t'))
        size--;
    for (int step; kept < size && (step = utf8_step(from + kept, size - kept));
         kept += (size_t)step) {
        step = step < 0 ? -step : step;
        if (kept + (size_t)step > TEXT_MOST)
            break;
    }
    text = memory_alloc(kept + 1);
    if (!text)
        return NULL;
    memcpy(text, from, kept);
    text[kept] = '\0';
    return text;
}

/* Lines of one document, by number. */
static int take_texts(struct gate_lines *g, const uint32_t *order, size_t count)
{
    const struct sources sources = {.lines = g->l->lines};
    uint32_t number = 1;
    char *text, *at;
    size_t size;
    int err = sources_text(&sources, g->lines[order[0]].path, &text, &size);

    if (err)
        return err == -ENOMEM ? err : 0; /* not available: no texts */
    at = text;
    for (size_t i = 0; !err && i < count; i++) {
        struct gate_line *line = &g->lines[order[i]];

        if (!line->line)
            continue;
        for (; at && number < line->line; number++)
            at = (at = strchr(at, '\n')) ? at + 1 : NULL;
        if (!at)
            break;
        line->text = trimmed(at);
        if (line->text && !utf8_valid(line->text)) {
            memory_free(line->text);
            line->text = NULL;
        } else {
            err = line->text ? 0 : -ENOMEM;
        }
    }
    memory_free(text);
    return err;
}

static int by_document(const void *left, const void *right, void *context)
{
    const struct gate_lines *g = context;
    const struct gate_line *a = &g->lines[*(const uint32_t *)left];
    const struct gate_line *b = &g->lines[*(const uint32_t *)right];

    return ORDERS(ORDER(a->module, b->module), ORDER(a->document, b->document),
                  ORDER(a->line, b->line));
}

static int read_texts(struct gate_lines *g)
{
    uint32_t *order = memory_alloc((g->count + 1) * sizeof(*order));
    int err = order ? 0 : -ENOMEM;

    for (uint32_t i = 0; !err && i < g->count; i++)
        order[i] = i;
    if (!err && g->count)
        qsort_r(order, g->count, sizeof(*order), by_document, g);
    for (size_t at = 0, next; !err && at < g->count; at = next) {
        const struct gate_line *first = &g->lines[order[at]];

        for (next = at + 1; next < g->count && g->lines[order[next]].module == first->module &&
                            g->lines[order[next]].document == first->document;)
            next++;
        err = take_texts(g, order + at, next - at);
    }
    memory_free(order);
    return err;
}

int gate_lines_new(const struct loading *l, bool steady, bool texts, struct gate_lines *lines)
{
    size_t cells = model_cell_count(l->model);
    struct model_near near;
    int err = model_near_init(&near, l->defs, l->own, l->lines);

    *lines = (struct gate_lines){.l = l};
    lines->of_cell = memory_alloc((cells + 1) * sizeof(*lines->of_cell));
    if (!err && !lines->of_cell)
        err = -ENOMEM;
    for (size_t i = 0; !err && i < cells; i++)
        err = take_cell(lines, &near, i, steady);
    model_near_fini(&near);
    if (err)
        return err;
    name_lines(lines);
    return texts ? read_texts(lines) : 0;
}

uint32_t gate_lines_same(const struct gate_lines *g, const struct gate_line *line)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->lines[i].line == line->line && g->lines[i].line_last == line->line_last &&
            strcmp(g->lines[i].path, line->path) == 0 &&
            strcmp(g->lines[i].method, line->method) == 0)
            return i;
    return GATE_NO_LINE;
}

/* ---- which lines a budget means ---- */

/* Limits of one method and file, and that method's lines there. */
struct pairs {
    const struct gate_lines *g;
    const struct budget *b;
    const uint32_t *limits; /* one of each line of the budget, by number */
    const struct gate_line_method *lines;
    size_t limit_count, line_count;
};

static const struct budget_limit *limit_at(const struct pairs *p, size_t i)
{
    return &p->b->limits[p->limits[i]];
}

static const struct gate_line *line_at(const struct pairs *p, size_t i)
{
    return &p->g->lines[p->lines[i].line];
}

/* Objects that it had, as far as the budget tells. */
static double had(const struct budget_limit *l)
{
    const struct budget_bound *bound = &l->bounds[BUDGET_OBJECTS];

    if (!bound->given || bound->over_baseline || l->per != BUDGET_RECORDING || l->type)
        return 1;
    return bound->learned ? bound->most : bound->max;
}

static bool same_number(const struct budget_limit *l, const struct gate_line *line)
{
    return l->line == line->line && l->line_last == line->line_last;
}

static double cost_of_match(const void *context, size_t old, size_t new)
{
    const struct budget_limit *l = limit_at(context, old);
    const struct gate_line *line = line_at(context, new);
    double change = fabs(had(l) - line->objects);

    /* below one object altogether, however many lines have that text */
    if (l->text && line->text && strcmp(l->text, line->text) == 0)
        return 1e-6 * (change / (1 + change) + !same_number(l, line));
    return change + 1;
}

static double cost_of_gone(const void *context, size_t old)
{
    return had(limit_at(context, old));
}

static double cost_of_added(const void *context, size_t new)
{
    return line_at(context, new)->objects;
}

static void match_numbers(const struct pairs *p, size_t *match)
{
    for (size_t i = 0; i < p->limit_count; i++)
        for (size_t k = 0; k < p->line_count; k++)
            if (same_number(limit_at(p, i), line_at(p, k)))
                match[i] = k;
}

/* Whether all lines are of the build that the budget was learned from. */
static bool one_build(const struct pairs *p)
{
    const struct log_def *module = log_module(p->g->l->defs, line_at(p, 0)->module);

    return budget_same_text(module->mvid, budget_build_of(p->b, module->name)) && module->mvid;
}

static int match_lines(const struct pairs *p, size_t *match)
{
    const struct align how = {p->limit_count, p->line_count, cost_of_match,
                              cost_of_gone,   cost_of_added, p};
    int err = -E2BIG;

    for (size_t i = 0; i < p->limit_count; i++)
        match[i] = ALIGN_NONE;
    if (p->line_count && !one_build(p))
        err = align(&how, match);
    if (err == -E2BIG) {
        match_numbers(p, match);
        err = 0;
    }
    return err;
}

static int by_line(const void *left, const void *right, void *context)
{
    const struct budget *budget = context;
    const struct budget_limit *a = &budget->limits[*(const uint32_t *)left];
    const struct budget_limit *b = &budget->limits[*(const uint32_t *)right];
    int order = strcmp(a->method, b->method);

    order = order ? order : strcmp(a->file, b->file);
    /* the one that says most about the line is the first */
    return ORDERS(order, ORDER(a->line, b->line), ORDER(a->line_last, b->line_last),
                  (a->type != NULL) - (b->type != NULL) + ORDER(a->per, b->per));
}

static bool same_line(const struct budget_limit *a, const struct budget_limit *limit)
{
    return a->line == limit->line && a->line_last == limit->line_last &&
           strcmp(a->method, limit->method) == 0 && strcmp(a->file, limit->file) == 0;
}

/* The lines of the limit's method in its file. */
static void find_lines(struct pairs *p, const struct budget_limit *limit)
{
    const struct gate_lines *g = p->g;
    size_t low = 0, high = g->method_count, end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct gate_line_method *m = &g->methods[middle];
        int order = strcmp(m->method, limit->method);

        order = order ? order : strcmp(g->lines[m->line].file, limit->file);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < g->method_count && strcmp(g->methods[end].method, limit->method) == 0 &&
                    strcmp(g->lines[g->methods[end].line].file, limit->file) == 0;)
        end++;
    p->lines = g->methods + low;
    p->line_count = end - low;
}

/* Limits [at, next) of `order` are of one method and file; several may be of one line. */
static int match_method(const struct gate_lines *g, const struct budget *b, const uint32_t *order,
                        size_t count, uint32_t *out)
{
    uint32_t *first = memory_alloc(count * sizeof(*first));
    size_t *match = memory_alloc(count * sizeof(*match)), at = 0;
    struct pairs p = {.g = g, .b = b, .limits = first};
    int err = first && match ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < count; i++)
        if (!p.limit_count || !same_line(limit_at(&p, p.limit_count - 1), &b->limits[order[i]]))
            first[p.limit_count++] = order[i];
    if (!err) {
        find_lines(&p, &b->limits[order[0]]);
        err = match_lines(&p, match);
    }
    for (size_t i = 0; !err && i < count; i++) {
        at += !same_line(limit_at(&p, at), &b->limits[order[i]]);
        if (match[at] != ALIGN_NONE)
            out[order[i]] = p.lines[match[at]].line;
    }
    memory_free_all(first, match);
    return err;
}

int gate_lines_match(const struct gate_lines *g, const struct budget *b, uint32_t **out)
{
    uint32_t *order = memory_alloc((b->count + 1) * sizeof(*order));
    size_t count = 0;
    int err = order && (*out = memory_alloc((b->count + 1) * sizeof(**out))) ? 0 : -ENOMEM;

    for (uint32_t i = 0; !err && i < b->count; i++) {
        (*out)[i] = GATE_NO_LINE;
        if (b->limits[i].of == BUDGET_LINE)
            order[count++] = i;
    }
    if (!err && count)
        qsort_r(order, count, sizeof(*order), by_line, (void *)(uintptr_t)b);
    for (size_t at = 0, next; !err && at < count; at = next) {
        const struct budget_limit *first = &b->limits[order[at]];

        for (next = at + 1; next < count; next++)
            if (strcmp(b->limits[order[next]].method, first->method) != 0 ||
                strcmp(b->limits[order[next]].file, first->file) != 0)
                break;
        err = match_method(g, b, order + at, next - at, *out);
    }
    memory_free(order);
    return err;
}
