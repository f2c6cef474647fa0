#include "model/annotate.h"

#include "base/array.h"
#include "base/order.h"

#include <string.h>

#define NONE UINT32_MAX

static void add(struct annotate_amount *to, const struct annotate_amount *more)
{
    to->allocs += more->allocs;
    to->bytes += more->bytes;
    report_spread_add(&to->spread, &more->spread);
}

/* Of a node: what it made itself, or with `below` what was made by its calls. */
static double weight_of(const struct model_tree *t, uint32_t node, bool below, enum model_weight w)
{
    if (!t->self[w])
        return 0;
    return below ? t->total[w][node] - t->self[w][node] : t->self[w][node];
}

static void add_node(struct annotate_amount *to, const struct model_tree *t, uint32_t node,
                     bool below)
{
    const struct annotate_amount more = {weight_of(t, node, below, MODEL_ALLOCS),
                                         weight_of(t, node, below, MODEL_BYTES),
                                         {weight_of(t, node, below, MODEL_BYTES_VARIANCE),
                                          weight_of(t, node, below, MODEL_ALLOCS_VARIANCE),
                                          weight_of(t, node, below, MODEL_SEEN_BYTES)}};

    add(to, &more);
}

static int add_types(struct annotation *a, const struct model_tree *t, uint32_t node, uint32_t line)
{
    const struct model *m = t->model;

    for (uint32_t i = t->first_cell[node]; i < t->first_cell[node + 1]; i++) {
        const uint32_t cell = t->cells[i];

        if (!array_reserve(&a->types, &a->type_capacity, a->type_count + 1))
            return -ENOMEM;
        a->types[a->type_count++] =
            (struct annotate_type){line,
                                   model_cell(m, cell)->class_number,
                                   {model_cell_weight(m, cell, MODEL_ALLOCS),
                                    model_cell_weight(m, cell, MODEL_BYTES),
                                    {model_cell_weight(m, cell, MODEL_BYTES_VARIANCE),
                                     model_cell_weight(m, cell, MODEL_ALLOCS_VARIANCE),
                                     model_cell_weight(m, cell, MODEL_SEEN_BYTES)}}};
    }
    return 0;
}

static bool is_before(const void *element, const void *key)
{
    return ((const struct annotate_line *)element)->line < *(const uint32_t *)key;
}

size_t annotation_from(const struct annotation *a, uint32_t line)
{
    return order_first(a->lines, a->line_count, sizeof(*a->lines), is_before, &line);
}

ORDERED_BY(by_number, struct annotate_line, ORDER(x->line, y->line),
           ORDER(x->line_last, y->line_last))

/* The lines of the file, and by place its line's index; NONE: of another file. */
static int find_lines(struct annotation *a, const struct model_tree *t, const char *file,
                      uint32_t *lines)
{
    size_t kept = 0;

    a->lines = memory_zalloc(t->place_count + 1, sizeof(*a->lines));
    if (!a->lines)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->place_count; i++) {
        const struct model_place *place = &t->places[i];

        lines[i] = NONE;
        if (!place->file || place->line > ANNOTATE_LINES_MAX || strcmp(place->file, file) != 0)
            continue;
        lines[i] = 0;
        a->lines[a->line_count++] =
            (struct annotate_line){.line = place->line, .line_last = place->line_last};
    }
    SORT(a->lines, a->line_count, by_number);
    for (size_t i = 0; i < a->line_count; i++)
        if (!kept || by_number(&a->lines[kept - 1], &a->lines[i]) != 0)
            a->lines[kept++] = a->lines[i];
    a->line_count = kept;
    for (uint32_t i = 0; i < t->place_count; i++) {
        size_t at = lines[i] == NONE ? 0 : annotation_from(a, t->places[i].line);

        for (; lines[i] != NONE && a->lines[at].line_last != t->places[i].line_last; at++)
            ;
        lines[i] = lines[i] == NONE ? NONE : (uint32_t)at;
    }
    return 0;
}

/* ends: by line, behind the outermost call on it: recursion counts once. */
static int add_lines(struct annotation *a, const struct model_tree *t, const uint32_t *lines,
                     uint32_t *ends)
{
    int err = 0;

    for (uint32_t i = 1; !err && i < t->node_count; i++) {
        const uint32_t line = lines[t->nodes[i].place];

        if (line == NONE)
            continue;
        add_node(&a->lines[line].own, t, i, false);
        err = add_types(a, t, i, line);
        if (i < ends[line])
            continue;
        ends[line] = t->nodes[i].end;
        add_node(&a->lines[line].below, t, i, true);
    }
    return err;
}

ORDERED_BY(by_line, struct annotate_type, ORDER(x->line, y->line),
           ORDER(x->class_number, y->class_number))

/* Those of one type on one line become one. */
static void join_types(struct annotation *a)
{
    size_t kept = 0;

    SORT(a->types, a->type_count, by_line);
    for (size_t i = 0; i < a->type_count; i++)
        if (kept && by_line(&a->types[kept - 1], &a->types[i]) == 0)
            add(&a->types[kept - 1].own, &a->types[i].own);
        else
            a->types[kept++] = a->types[i];
    a->type_count = kept;
}

int annotate_file(const struct model_tree *t, const char *file, struct annotation *a)
{
    uint32_t *lines = memory_alloc((t->place_count + 1) * sizeof(*lines)), *ends = NULL;
    int err = lines ? 0 : -ENOMEM;

    *a = (struct annotation){.line_count = 0};
    if (!err)
        err = find_lines(a, t, file, lines);
    ends = memory_zalloc(a->line_count + 1, sizeof(*ends));
    if (!err)
        err = ends ? add_lines(a, t, lines, ends) : -ENOMEM;
    if (!err) {
        add_node(&a->total, t, 0, false);
        add_node(&a->total, t, 0, true);
        join_types(a);
    }
    memory_free_all(lines, ends);
    return err;
}

void annotation_fini(struct annotation *a)
{
    memory_free_all(a->lines, a->types);
}
