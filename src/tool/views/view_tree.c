/*
 * Trees of frames, level by level: from the first callers on (tree), or from one method to what
 * called it (callers) or what it calls (callees).
 */
#include "views/view.h"

#include "base/array.h"
#include "base/order.h"
#include "model/merged.h"
#include "terminal/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHILDREN     5    /* of one frame that are shown, unless --top says */
#define LEVELS       100  /* that are opened by themselves in text */
#define CALLERS_UP   12   /* the same of callers: it is the nearest that matter */
#define TEXT_SHARE   0.01 /* of the whole; what is below is counted */
#define MERGED_SHARE 0.001
#define NO_ROW       UINT32_MAX

/* A row as it is shown. */
struct path_row {
    uint32_t at;     /* the tree's node, or the merged one's row; NO_ROW: others, not shown */
    uint32_t parent; /* index of a row */
    uint32_t depth, indent, hidden;
    double hidden_bytes, hidden_allocs, hidden_before;
    bool open, hot, leaf;
};

struct paths {
    const struct view *v;
    struct model_merged *merged; /* NULL: of the tree */
    struct path_row *rows;
    size_t count, capacity;
    struct path_row *todo; /* a stack */
    size_t todo_count, todo_capacity;
    uint32_t *children;
    size_t child_count, child_capacity;
    double whole, least; /* bytes */
    uint64_t top, depth; /* 0: all */
    bool hot_only;
    bool grown; /* amounts may be below 0 */
};

/* ---- frames ---- */

static double total_of(const struct paths *p, uint32_t at, enum model_weight w)
{
    const struct model_tree *t = p->v->tree;

    if (p->merged)
        return model_merged_row(p->merged, at)->total[w];
    return t->total[w] ? t->total[w][at] : 0;
}

static double self_of(const struct paths *p, uint32_t at, enum model_weight w)
{
    const struct model_tree *t = p->v->tree;

    if (p->merged)
        return model_merged_row(p->merged, at)->self[w];
    return t->self[w] ? t->self[w][at] : 0;
}

static const struct model_place *place_of(const struct paths *p, uint32_t at)
{
    const struct model_tree *t = p->v->tree;

    return &t->places[p->merged ? model_merged_row(p->merged, at)->place : t->nodes[at].place];
}

/* Into p->children, heaviest first. */
static int list_children(struct paths *p, uint32_t at)
{
    const struct model_tree *t = p->v->tree;
    uint32_t first, count;

    p->child_count = 0;
    if (p->merged) {
        if (model_merged_open(p->merged, at, &first, &count) ||
            !array_reserve(&p->children, &p->child_capacity, (size_t)count + 1))
            return -ENOMEM;
        while (p->child_count < count)
            p->children[p->child_count++] = first++;
        return 0;
    }
    for (uint32_t child = at + 1; child < t->nodes[at].end; child = t->nodes[child].end) {
        if (!array_reserve(&p->children, &p->child_capacity, p->child_count + 1))
            return -ENOMEM;
        p->children[p->child_count++] = child;
    }
    return 0;
}

/* Whether it is large enough; of what has grown, what has shrunk is large, too. */
static bool is_shown(const struct paths *p, uint32_t at)
{
    double bytes = total_of(p, at, MODEL_BYTES);

    return (p->grown ? fabs(bytes) : bytes) >= p->least;
}

/* Those that are shown, in front; most objects, or bytes, first. */
static int by_amount(const void *left, const void *right, void *context)
{
    const struct paths *p = context;
    enum model_weight by = p->v->sort == MODEL_SORT_ALLOCS ? MODEL_ALLOCS : MODEL_BYTES;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = ORDER(is_shown(p, b), is_shown(p, a));

    if (!order)
        order = ORDER(total_of(p, b, by), total_of(p, a, by));
    return order ? order : ORDER(a, b);
}

/* Into p->children, in order. */
static int find_children(struct paths *p, uint32_t at)
{
    int err = list_children(p, at);

    if (!err && (p->v->sort == MODEL_SORT_ALLOCS || p->grown) && p->child_count)
        qsort_r(p->children, p->child_count, sizeof(*p->children), by_amount, p);
    return err;
}

/* ---- which are shown ---- */

static int push(struct paths *p, const struct path_row *row)
{
    if (!array_reserve(&p->todo, &p->todo_capacity, p->todo_count + 1))
        return -ENOMEM;
    p->todo[p->todo_count++] = *row;
    return 0;
}

/* How many of p->children are shown: those in front. */
static size_t shown_children(const struct paths *p)
{
    size_t shown = 0;

    while (shown < p->child_count && (!p->top || shown < p->top) && is_shown(p, p->children[shown]))
        shown++;
    return shown;
}

static int push_children(struct paths *p, uint32_t number, const struct path_row *row)
{
    size_t shown = shown_children(p);
    uint32_t indent = row->indent + (p->child_count > 1);
    struct path_row rest = {
        .at = NO_ROW, .parent = number, .depth = row->depth + 1, .indent = indent, .leaf = true};
    size_t hot = shown && place_of(p, p->children[0])->kind == MODEL_PLACE_NONE;
    int err = 0;

    for (size_t i = shown; i < p->child_count; i++) {
        rest.hidden++;
        rest.hidden_bytes += total_of(p, p->children[i], MODEL_BYTES);
        rest.hidden_allocs += total_of(p, p->children[i], MODEL_ALLOCS);
        rest.hidden_before += total_of(p, p->children[i], MODEL_BESIDE_BYTES);
    }
    if (rest.hidden)
        err = push(p, &rest);
    for (size_t i = shown; !err && i-- > 0;)
        err = push(p, &(struct path_row){.at = p->children[i],
                                         .parent = number,
                                         .depth = row->depth + 1,
                                         .indent = indent,
                                         .hot = row->hot && i == hot});
    return err;
}

static int collect(struct paths *p)
{
    int err = push(p, &(struct path_row){.at = 0, .parent = NO_ROW, .hot = true});

    while (!err && p->todo_count) {
        struct path_row row = p->todo[--p->todo_count];
        uint32_t number = (uint32_t)p->count;

        if (row.at != NO_ROW) {
            row.open = (!p->depth || row.depth < p->depth) && (!p->hot_only || row.hot);
            err = find_children(p, row.at);
            row.leaf = !p->child_count;
        }
        if (err || !array_reserve(&p->rows, &p->capacity, p->count + 1))
            return -ENOMEM;
        p->rows[p->count++] = row;
        if (row.open)
            err = push_children(p, number, &row);
    }
    return err;
}

/* ---- text ---- */

enum column { TOTAL, SHARE, SELF, ALLOCS, RANGE, NAME, PLACE, TYPES, COLUMNS };

/* Of what has grown SHARE is what there was before. */
static const struct table_column columns[COLUMNS] = {
    [TOTAL] = {"bytes", TABLE_COUNT, 0, 0},
    [SHARE] = {"share", TABLE_SHARE, 2, 0},
    [SELF] = {"itself", TABLE_COUNT, 3, 0},
    [ALLOCS] = {"objects", TABLE_COUNT, 5, 0},
    [RANGE] = {"95% range", TABLE_NUMBER_TEXT, TABLE_IF_FILLED + 2, 0},
    [NAME] = {"", TABLE_NAME, 0, 40},
    [PLACE] = {"line", TABLE_PLACE, 4, 16},
    [TYPES] = {"makes", TABLE_NAME, 1, 12},
};

/* The last columns are there only if some row has them. */
static size_t count_columns(const struct paths *p)
{
    if (!p->merged)
        return COLUMNS;
    for (size_t i = 0; i < p->count; i++)
        if (p->rows[i].at != NO_ROW && place_of(p, p->rows[i].at)->file)
            return TYPES;
    return PLACE;
}

/* The type that a node itself makes most of; NULL: it makes none. Of the tree only. */
static const char *type_of(const struct paths *p, uint32_t at)
{
    const struct model_tree *t = p->v->tree;
    const struct model *m = p->v->read.model;
    uint32_t best = 0;
    double most = -1;

    for (uint32_t i = t->first_cell[at]; i < t->first_cell[at + 1]; i++) {
        uint32_t class_number = model_cell(m, t->cells[i])->class_number;
        double bytes = 0;

        if (class_number == best && most >= 0)
            continue;
        for (uint32_t k = i; k < t->first_cell[at + 1]; k++)
            if (model_cell(m, t->cells[k])->class_number == class_number)
                bytes += model_cell_weight(m, t->cells[k], MODEL_BYTES);
        if (bytes > most) {
            most = bytes;
            best = class_number;
        }
        if (i - t->first_cell[at] > 64) /* enough to see which */
            break;
    }
    return most > 0 ? view_class(p->v, best) : NULL;
}

struct amounts {
    double bytes, self, allocs, before;
};

static void put_amounts(const struct paths *p, const struct amounts *a, bool hidden,
                        struct table *t)
{
    struct view_signed text;

    if (p->grown) {
        table_text(t, TOTAL, view_live_amount(p->v, a->bytes, &text));
        table_count(t, SHARE, report_whole(a->before));
        if (!hidden)
            table_text(t, SELF, view_live_amount(p->v, a->self, &text));
        table_text(t, ALLOCS, view_live_amount(p->v, a->allocs, &text));
        return;
    }
    table_count(t, TOTAL, report_whole(a->bytes));
    table_share(t, SHARE, p->whole > 0 ? a->bytes / p->whole : 0);
    if (!hidden)
        table_count(t, SELF, report_whole(a->self));
    table_count(t, ALLOCS, report_whole(a->allocs));
}

/* Whether there is one: of all that a frame makes, or has alive. */
static bool range_of(const struct paths *p, uint32_t at, struct report_amount *out)
{
    double weights[MODEL_WEIGHTS];
    struct model_amount total;

    for (int i = 0; i < MODEL_WEIGHTS; i++)
        weights[i] = total_of(p, at, (enum model_weight)i);
    if (p->v->question)
        return view_live_range(p->v, weights, out);
    view_amount(p->v, weights, &total);
    *out = total.bytes_range;
    return model_estimated(p->v->read.model) && !total.approximate;
}

static void put_range(const struct paths *p, uint32_t at, struct table *t)
{
    struct report_amount range;
    struct view_signed text;

    if (range_of(p, at, &range))
        table_text(t, RANGE, view_live_range_text(p->v, &range, &text));
}

static void put_row(const struct paths *p, const struct path_row *row, struct table *t)
{
    struct buffer before = BUFFER_INIT, b = BUFFER_INIT, link = BUFFER_INIT;
    struct amounts a = {row->hidden_bytes, 0, row->hidden_allocs, row->hidden_before};
    const struct model_place *place;
    struct text_number n;

    for (uint32_t i = 0; i < row->indent && i < 200; i++)
        buffer_text(&before, " ");
    table_row(t);
    if (row->at == NO_ROW) {
        buffer_format(&b, "%s more", text_count(&n, row->hidden));
        buffer_text(&before, "  ");
        put_amounts(p, &a, true, t);
        table_name(t, NAME, before.data ? before.data : "", b.failed ? "?" : b.data);
    } else {
        place = place_of(p, row->at);
        buffer_text(&before, row->leaf ? "  " : row->open ? "\u25be " : "\u25b8 ");
        a = (struct amounts){total_of(p, row->at, MODEL_BYTES), self_of(p, row->at, MODEL_BYTES),
                             total_of(p, row->at, MODEL_ALLOCS),
                             total_of(p, row->at, MODEL_BESIDE_BYTES)};
        put_amounts(p, &a, false, t);
        put_range(p, row->at, t);
        table_name(t, NAME, before.data ? before.data : "", view_place(p->v, place, &b));
        if (place->file)
            table_place(t, PLACE, view_where(p->v, place, &b), view_link(p->v, place, &link));
        if (!p->merged)
            table_text(t, TYPES, type_of(p, row->at));
        if (place->own)
            table_strong(t);
    }
    buffer_free(&before);
    buffer_free(&b);
    buffer_free(&link);
}

static void print_hint(const struct paths *p, FILE *out)
{
    if (p->hot_only)
        fputs("\nOpened: the hottest path. `--depth N` and `--min-share PERCENT` open others.\n",
              out);
    else
        putc('\n', out);
}

static void print_rows(const struct paths *p, const struct table *t, FILE *out)
{
    struct buffer b = BUFFER_INIT;

    fprintf(out, "%s\n", table_head(t, &b));
    for (size_t i = 0; i < p->count; i++) {
        fprintf(out, "%s\n", table_line(t, i, &b));
        if (p->rows[i].at != NO_ROW)
            view_url(p->v, place_of(p, p->rows[i].at), table_column_at(t, NAME), out);
    }
    buffer_free(&b);
}

/* As `columns`; the amounts are those of the question. */
static void choose_columns(const struct paths *p, struct table_column *out)
{
    memcpy(out, columns, sizeof(columns));
    if (p->v->question)
        out[TOTAL].heading = view_live_heading(p->v);
    if (!p->grown)
        return;
    out[TOTAL].kind = out[SELF].kind = out[ALLOCS].kind = TABLE_NUMBER_TEXT;
    out[SHARE].heading = "before";
    out[SHARE].kind = TABLE_COUNT;
}

static int print_text(const struct paths *p, FILE *out)
{
    const struct table_look look = view_look(p->v, out);
    struct table_column chosen[COLUMNS];
    struct table *t = NULL;
    int err;

    choose_columns(p, chosen);
    err = table_new(chosen, count_columns(p), &t);
    for (size_t i = 0; !err && i < p->count; i++)
        put_row(p, &p->rows[i], t);
    if (!err)
        err = table_fit(t, &look);
    if (!err) {
        view_head(p->v, out);
        putc('\n', out);
        print_rows(p, t, out);
        print_hint(p, out);
        view_foot(p->v, out);
    }
    table_free(t);
    return err;
}

/* ---- JSON ---- */

static void total_json(double allocs, double bytes, struct json_writer *w)
{
    jw_number(w, "total_allocs", "%.0f", round(allocs) + 0.0);
    jw_number(w, "total_bytes", "%.0f", round(bytes) + 0.0);
}

static void amounts_json(const struct paths *p, uint32_t at, struct json_writer *w)
{
    double weights[MODEL_WEIGHTS];
    struct report_amount total;
    struct model_amount self;

    for (int i = 0; i < MODEL_WEIGHTS; i++)
        weights[i] = self_of(p, at, (enum model_weight)i);
    view_amount(p->v, weights, &self);
    if (p->v->question)
        view_live_amounts_json(p->v, weights, w);
    else
        view_amounts_json(&self, w);
    total_json(total_of(p, at, MODEL_ALLOCS), total_of(p, at, MODEL_BYTES), w);
    if (range_of(p, at, &total))
        view_range_json("total_bytes_range", &total, w);
    if (!p->grown)
        jw_number(w, "share", "%.6g", self.share);
}

static void json_row(const struct paths *p, const struct path_row *row, struct json_writer *w)
{
    jw_line_object(w, 2, NULL);
    if (row->at == NO_ROW) {
        jw_unsigned(w, "hidden", row->hidden);
        total_json(row->hidden_allocs, row->hidden_bytes, w);
    } else {
        amounts_json(p, row->at, w);
        view_place_json(p->v, place_of(p, row->at), w);
    }
    jw_unsigned(w, "depth", row->depth);
    if (row->parent == NO_ROW)
        jw_null(w, "parent");
    else
        jw_unsigned(w, "parent", row->parent);
    jw_end(w);
}

static int print_json(const struct paths *p, FILE *out)
{
    struct json_writer w;

    jw_init(&w, out);
    view_begin_json(p->v, p->count, &w);
    jw_text_if(&w, "of", p->v->of);
    jw_line_array(&w, 1, "rows");
    for (size_t i = 0; i < p->count; i++)
        json_row(p, &p->rows[i], &w);
    jw_end(&w);
    jw_end(&w);
    return jw_finish(&w);
}

/* ---- the views ---- */

/* Of callers and callees: all places that METHOD means. */
static int merge(struct paths *p)
{
    const struct view *v = p->v;
    const struct model_tree *t = v->tree;
    uint32_t *places = memory_alloc((t->place_count + 1) * sizeof(*places));
    size_t count = 0;

    for (uint32_t i = 0; places && i < t->place_count; i++) {
        const struct model_place *place = &t->places[i];

        if ((place->kind == MODEL_PLACE_METHOD && v->of_methods && v->of_methods[place->method]) ||
            (place->kind == MODEL_PLACE_TYPE && v->of_types && v->of_types[place->method]))
            places[count++] = i;
    }
    if (places)
        p->merged = model_merged_new(t, places, count,
                                     v->kind == VIEW_CALLERS ? MODEL_CALLERS : MODEL_CALLEES);
    memory_free(places);
    return p->merged ? 0 : -ENOMEM;
}

static void choose(struct paths *p, const struct view *v)
{
    bool json = v->format == READING_JSON, merged = v->kind != VIEW_TREE;
    uint64_t levels = v->kind == VIEW_CALLERS ? CALLERS_UP : LEVELS;
    double share = v->min_share;

    if (json)
        levels = 0;
    p->hot_only = !json && !v->depth_given && share < 0;
    p->top = json || v->top_given ? v->top : CHILDREN;
    p->depth = v->depth_given ? v->depth : levels;
    if (share < 0)
        share = !json ? TEXT_SHARE : merged ? MERGED_SHARE : 0;
    p->whole = total_of(p, 0, MODEL_BYTES);
    p->grown = v->question == REPORT_LIVE_GROWN;
    p->least = share * fabs(p->whole);
    if (p->least < (double)v->min_bytes)
        p->least = (double)v->min_bytes;
}

int view_paths(struct view *v, FILE *out)
{
    struct paths p = {.v = v};
    int err = v->kind == VIEW_TREE ? 0 : merge(&p);

    if (!err) {
        choose(&p, v);
        err = collect(&p);
    }
    if (!err)
        err = v->format == READING_JSON ? print_json(&p, out) : print_text(&p, out);
    model_merged_free(p.merged);
    memory_free_all(p.rows, p.todo, p.children);
    return err;
}
