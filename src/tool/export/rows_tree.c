#include "export/rows.h"

#include "export/profile.h"
#include "export/rows_out.h"

#include "base/il.h"
#include "base/order.h"
#include "base/path.h"
#include "model/near.h"

/* Numbers of one id: methods of one name, in modules of one name, are one to the engine. */
struct twins {
    uint64_t id[2];
    uint32_t first, last;
};
INDEX_OF_BYTES(twins_kind, struct twins, id);

/* An amount of a site, before those of one minute are added up. */
struct part {
    uint32_t slice, cell;
};

/* While the rows of one log are written. Arrays by node or by place of the tree. */
struct writing {
    struct export_rows *r;
    const struct model_tree *t;
    const struct log_defs *defs;
    struct names *names;
    char recording[ROWS_ID_SIZE];
    uint64_t minute;                    /* of slice 0, s since 1970 */
    uint64_t slice_s;                   /* seconds of a slice */
    uint64_t (*stacks)[2];              /* by node */
    uint64_t (*frames)[2], (*bases)[2]; /* by place; see model_place_ids */
    uint32_t *method;                   /* by place: the first one of the same base */
    uint32_t *first, *next;             /* by node: of its twins the first, and the next; 0 none */
    bool *site;                         /* by node: something was allocated there */
    uint32_t *near;                     /* by node: that of the own frame it counts for; 0 none */
    /* The path from the root to the node at hand. */
    uint32_t *open;    /* by depth: nodes */
    uint32_t depth;    /* of the node at hand */
    uint32_t *on_path; /* by method, as `method` has it: its frames on the path */
    uint32_t *methods; /* those that have some, the outermost first */
    uint32_t method_count;
    struct part *parts;
    size_t part_count, part_capacity;
    double told_bytes, told_allocs, told_live_bytes, told_live_allocs; /* of the rows so far */
};

/* ---- definitions ---- */

static const char *owner_word(const struct writing *w, uint32_t method)
{
    switch (model_own_of_method(model_own_code(w->t->model), method)) {
    case MODEL_OWN:
        return "own";
    case MODEL_FRAMEWORK:
        return "framework";
    default:
        return "package";
    }
}

static const char *text_of(const char *text)
{
    return text && *text ? text : "(no name)";
}

/* Begins a row if no row has defined this yet. Returns: whether it did. */
static bool begin_new(struct writing *w, struct json_writer *row, enum rows_table table,
                      const char *kind, const uint64_t id[2])
{
    if (!rows_define(w->r, table, id))
        return false;
    rows_begin(w->r, row, kind);
    rows_id(row, "id", id);
    return true;
}

static void put_method(struct writing *w, uint32_t place)
{
    const struct model_place *p = &w->t->places[place];
    struct json_writer row;

    if (!begin_new(w, &row, ROWS_METHODS, "method", w->bases[place]))
        return;
    if (p->kind == MODEL_PLACE_METHOD) {
        uint32_t module = log_method(w->defs, p->method)->module;

        jw_text(&row, "name", text_of(names_method(w->names, p->method)));
        if (module)
            jw_text(&row, "module", log_module(w->defs, module)->name);
        jw_text(&row, "owner", owner_word(w, p->method));
    } else {
        jw_text(&row, "name", text_of(p->name));
    }
    rows_end(w->r, &row);
}

static void put_frame(struct writing *w, uint32_t place)
{
    const struct model_place *p = &w->t->places[place];
    struct json_writer row;

    put_method(w, place);
    if (!begin_new(w, &row, ROWS_FRAMES, "frame", w->frames[place]))
        return;
    rows_id(&row, "method", w->bases[place]);
    if (p->il >= 0 && !(p->il & IL_SEVERAL))
        jw_unsigned(&row, "il", (uint64_t)p->il);
    if (p->file && p->line && !p->line_last) { /* as of the offset: one or none */
        jw_text(&row, "file", w->r->options.redact ? path_base_name_foreign(p->file) : p->file);
        jw_unsigned(&row, "line", p->line);
    }
    if (p->filter)
        jw_bool(&row, "filter", true);
    rows_end(w->r, &row);
}

static void put_type(struct writing *w, uint32_t place)
{
    uint32_t number = w->t->places[place].method, module = log_class(w->defs, number)->module;
    struct json_writer row;

    if (!begin_new(w, &row, ROWS_TYPES, "type", w->bases[place]))
        return;
    jw_text(&row, "name", text_of(names_class(w->names, number)));
    if (module)
        jw_text(&row, "module", log_module(w->defs, module)->name);
    rows_end(w->r, &row);
}

static void put_stack(struct writing *w, uint32_t node)
{
    const struct model_node *n = &w->t->nodes[node];
    struct json_writer row;

    if (!begin_new(w, &row, ROWS_STACKS, "stack", w->stacks[node]))
        return;
    if (n->parent)
        rows_id(&row, "parent", w->stacks[n->parent]);
    rows_id(&row, "frame", w->frames[n->place]);
    jw_unsigned(&row, "depth", n->depth);
    rows_end(w->r, &row);
}

/* What sums with all that a method calls need: the methods of a stack, each once. */
static void put_ancestors(struct writing *w, uint32_t node)
{
    uint32_t left_out =
        w->method_count > EXPORT_ROWS_METHODS ? w->method_count - EXPORT_ROWS_METHODS : 0;
    uint32_t near = w->near[node];
    struct json_writer row;

    if (!rows_define(w->r, ROWS_ANCESTORS, w->stacks[node]))
        return;
    rows_begin(w->r, &row, "ancestors");
    rows_id(&row, "stack", w->stacks[node]);
    if (near)
        rows_id(&row, "own", w->frames[w->t->nodes[near].place]);
    jw_array(&row, "methods");
    for (uint32_t i = 0; i < w->method_count; i++)
        if (i < EXPORT_ROWS_METHODS / 2 || i >= EXPORT_ROWS_METHODS / 2 + left_out)
            rows_id(&row, NULL, w->bases[w->methods[i]]);
    jw_end(&row);
    if (left_out)
        jw_unsigned(&row, "left_out", left_out);
    rows_end(w->r, &row);
}

/* ---- amounts ---- */

ORDERED_BY(by_slice, struct part, ORDER(x->slice, y->slice), ORDER(x->cell, y->cell))

/* The cells of a type below a stack, and below those of the same id. */
static int collect(struct writing *w, uint32_t node)
{
    const struct model_tree *t = w->t;

    w->part_count = 0;
    do {
        for (uint32_t c = t->first_cell[node]; c < t->first_cell[node + 1]; c++) {
            if (!array_reserve(&w->parts, &w->part_capacity, w->part_count + 1))
                return -ENOMEM;
            w->parts[w->part_count++] =
                (struct part){model_cell(t->model, t->cells[c])->slice, t->cells[c]};
        }
        node = w->next[node];
    } while (node);
    SORT(w->parts, w->part_count, by_slice);
    return 0;
}

static void begin_amount(struct writing *w, struct json_writer *row, const char *kind,
                         uint32_t node)
{
    const struct model_node *n = &w->t->nodes[node];

    rows_begin(w->r, row, kind);
    jw_text(row, "recording", w->recording);
    rows_id(row, "stack", w->stacks[n->parent]);
    rows_id(row, "type", w->bases[n->place]);
}

/* sums: by weight. */
static void put_allocated(struct writing *w, uint32_t node, uint32_t slice, const double *sums)
{
    struct json_writer row;
    uint64_t bytes, allocs;

    if (!(sums[MODEL_ALLOCS] > 0) && !(sums[MODEL_BYTES] > 0))
        return;
    bytes = export_step(&w->told_bytes, sums[MODEL_BYTES]);
    allocs = export_step(&w->told_allocs, sums[MODEL_ALLOCS]);
    begin_amount(w, &row, "allocated", node);
    jw_unsigned(&row, "minute", w->minute + slice * w->slice_s);
    jw_unsigned(&row, "bytes", bytes);
    jw_unsigned(&row, "allocs", allocs);
    if (model_estimated(w->t->model)) {
        jw_real(&row, "bytes_variance", sums[MODEL_BYTES_VARIANCE]);
        jw_real(&row, "allocs_variance", sums[MODEL_ALLOCS_VARIANCE]);
        jw_unsigned(&row, "seen_bytes", (uint64_t)sums[MODEL_SEEN_BYTES]);
        jw_unsigned(&row, "seen_allocs", (uint64_t)sums[MODEL_SAMPLED]);
    }
    rows_end(w->r, &row);
    w->r->sums.rows++;
    w->r->sums.bytes += bytes;
    w->r->sums.allocs += allocs;
}

/* What is not known to be dead at the end. */
static void put_alive(struct writing *w, uint32_t node, const double *sums)
{
    struct json_writer row;
    double bytes = sums[MODEL_LIVE_BYTES] + sums[MODEL_BESIDE_BYTES],
           allocs = sums[MODEL_LIVE_ALLOCS] + sums[MODEL_BESIDE_ALLOCS];

    if (!(allocs > 0))
        return;
    begin_amount(w, &row, "alive", node);
    jw_unsigned(&row, "bytes", export_step(&w->told_live_bytes, bytes));
    jw_unsigned(&row, "allocs", export_step(&w->told_live_allocs, allocs));
    if (sums[MODEL_OF_VARIANCE] > 0)
        jw_real(&row, "bytes_variance", sums[MODEL_OF_VARIANCE]);
    rows_end(w->r, &row);
}

static int put_amounts(struct writing *w, uint32_t node)
{
    double sums[MODEL_WEIGHTS], live[MODEL_WEIGHTS] = {0};
    int err = collect(w, node);

    for (size_t i = 0, end; !err && i < w->part_count; i = end) {
        memset(sums, 0, sizeof(sums));
        for (end = i; end < w->part_count && w->parts[end].slice == w->parts[i].slice; end++)
            for (unsigned weight = 0; weight < MODEL_WEIGHTS; weight++)
                sums[weight] +=
                    model_cell_weight(w->t->model, w->parts[end].cell, (enum model_weight)weight);
        for (unsigned weight = MODEL_LIVE_BYTES; weight < MODEL_WEIGHTS; weight++)
            live[weight] += sums[weight];
        put_allocated(w, node, w->parts[i].slice, sums);
    }
    if (!err)
        put_alive(w, node, live);
    return err;
}

/* ---- the tree, from the root down ---- */

/* The path ends above that depth. */
static void leave(struct writing *w, uint32_t depth)
{
    for (; w->depth >= depth && w->depth; w->depth--) {
        uint32_t method = w->method[w->t->nodes[w->open[w->depth]].place];

        if (!--w->on_path[method])
            w->method_count--; /* the last one: those after it have been removed before */
    }
}

static void enter(struct writing *w, uint32_t node)
{
    const struct model_node *n = &w->t->nodes[node];
    uint32_t method = w->method[n->place];

    w->depth = n->depth;
    w->open[n->depth] = node;
    if (!w->on_path[method]++)
        w->methods[w->method_count++] = method;
}

static int put_nodes(struct writing *w)
{
    const struct model_tree *t = w->t;
    int err = 0;

    for (uint32_t i = 1; !err && i < t->node_count; i++) {
        const struct model_node *n = &t->nodes[i];

        leave(w, n->depth);
        if (t->places[n->place].kind == MODEL_PLACE_TYPE) {
            put_type(w, n->place);
            err = w->first[i] == i ? put_amounts(w, i) : 0;
            continue;
        }
        enter(w, i);
        put_frame(w, n->place);
        put_stack(w, i);
        if (w->site[i])
            put_ancestors(w, i);
    }
    leave(w, 1);
    return err;
}

/* ---- the whole ---- */

/* By number the first of the same id, and, if asked for, the next; 0 none. */
static int find_twins(uint64_t (*ids)[2], uint32_t count, uint32_t *first, uint32_t *next)
{
    struct index index = {NULL, 0, 0};
    struct twins *twins = NULL;
    size_t known = 0, capacity = 0;
    int added = 0;

    for (uint32_t i = 0; added >= 0 && i < count; i++) {
        const struct twins key = {{ids[i][0], ids[i][1]}, i, i};
        uint32_t number;

        added = index_add(&index, &twins_kind, &twins, &known, &capacity, &key, &number);
        if (added < 0)
            break;
        first[i] = twins[number].first;
        if (next && !added)
            next[twins[number].last] = i;
        twins[number].last = i;
    }
    index_free(&index);
    memory_free(twins);
    return added < 0 ? added : 0;
}

static int find_near(struct writing *w)
{
    const struct model *m = w->t->model;
    struct model_near rule;
    int err = model_near_init(&rule, w->defs, model_own_code(m), model_source_lines(m));

    if (!err)
        err = model_near_nodes(&rule, w->t, &w->near, NULL);
    model_near_fini(&rule);
    return err;
}

static int make_tables(struct writing *w)
{
    size_t nodes = w->t->node_count, places = (size_t)w->t->place_count + 1, depth = 0;
    int err = model_tree_ids(w->t, &w->stacks);

    for (uint32_t i = 0; i < nodes; i++)
        if (w->t->nodes[i].depth > depth)
            depth = w->t->nodes[i].depth;
    if (!err)
        err = model_place_ids(w->t, &w->frames, &w->bases);
    w->method = memory_zalloc(places, sizeof(*w->method));
    w->next = memory_zalloc(nodes, sizeof(*w->next));
    w->first = memory_zalloc(nodes, sizeof(*w->first));
    w->site = memory_zalloc(nodes, sizeof(*w->site));
    w->open = memory_zalloc(depth + 1, sizeof(*w->open));
    w->on_path = memory_zalloc(places, sizeof(*w->on_path));
    w->methods = memory_zalloc(places, sizeof(*w->methods));
    if (!err &&
        !(w->method && w->next && w->first && w->site && w->open && w->on_path && w->methods))
        err = -ENOMEM;
    if (!err)
        err = find_near(w);
    for (uint32_t i = 0; !err && i < nodes; i++)
        if (w->t->places[w->t->nodes[i].place].kind == MODEL_PLACE_TYPE)
            w->site[w->t->nodes[i].parent] = true;
    if (!err)
        err = find_twins(w->bases, w->t->place_count, w->method, NULL);
    return err ? err : find_twins(w->stacks, w->t->node_count, w->first, w->next);
}

int export_rows_put(struct export_rows *r, const struct model_tree *tree, struct names *names)
{
    struct writing w = {.r = r,
                        .t = tree,
                        .defs = model_defs(tree->model),
                        .names = names,
                        .slice_s = model_slice_ns(tree->model) / 1000000000};
    int err;

    w.minute = rows_recording(r, tree, w.recording);
    err = make_tables(&w);
    if (!err)
        err = put_nodes(&w);
    r->sums.recordings++;
    memory_free_all(w.stacks, w.frames, w.bases, w.method, w.next, w.first, w.site, w.open, w.near,
                    w.on_path, w.methods, w.parts);
    return err ? err : r->err;
}
