/*
 * fuzz_log - any bytes as a log: report, compare and validate read them to their end without a
 * crash; what the reader of usual lines takes, jansson takes too, with the same meaning; what
 * validate finds right, the schema finds right; every byte of a model is of one node of its trees.
 */
#include "must.h"

#include "readers/parallel_reader.h"
#include "report/checks.h"
#include "report/replay.h"
#include "model/diff.h"
#include "readers/marks.h"
#include "model/merged.h"
#include "model/own.h"
#include "validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_size(const uint8_t *data, size_t size);
extern bool fuzz_mutated; /* driver.c */

struct memory {
    const uint8_t *data;
    size_t size, at;
};

static ssize_t memory_read(void *context, void *to, size_t size)
{
    struct memory *m = context;
    size_t some = m->size - m->at < size ? m->size - m->at : size;

    memcpy(to, m->data + m->at, some);
    m->at += some;
    return (ssize_t)some;
}

static struct log_lines *lines_of(struct memory *m)
{
    const struct log_source source = {memory_read, NULL, m};
    struct log_lines *lines = NULL;

    m->at = 0;
    if (log_lines_from(&source, &lines))
        exit(0); /* no memory: nothing to learn */
    return lines;
}

static void same_alloc(const struct log_alloc *a, const struct log_alloc *b)
{
    MUST(a->t == b->t && a->bytes == b->bytes && a->allocs == b->allocs && a->weight == b->weight);
    MUST(a->thread == b->thread && a->class_id == b->class_id && a->node == b->node);
    MUST(a->il == b->il && a->heap == b->heap);
    MUST(a->stack_size == b->stack_size && a->type_size == b->type_size);
    MUST(!a->stack || memcmp(a->stack, b->stack, a->stack_size) == 0);
    MUST(!a->type || memcmp(a->type, b->type, a->type_size) == 0);
}

static void same_pairs(const char *a, const char *b)
{
    int64_t code[2], number[2];
    bool more;

    MUST(!a == !b);
    if (!a)
        return;
    do {
        more = log_call_next(&a, &code[0], &number[0]);
        MUST(more == log_call_next(&b, &code[1], &number[1]));
        MUST(!more || (code[0] == code[1] && number[0] == number[1]));
    } while (more);
}

static void same_calls(const struct log_batch *a, const struct log_batch *b)
{
    MUST(a->t == b->t && a->thread == b->thread && a->depth == b->depth);
    same_pairs(a->open, b->open);
    same_pairs(a->events, b->events);
}

static void same_live(const struct log_live_line *a, const struct log_live_line *b)
{
    const char *one = a->died, *other = b->died;
    struct log_died x = {0, 0, 0, 0}, y = x;
    bool more = true;

    MUST(a->gc == b->gc && a->site == b->site && a->opening == b->opening);
    MUST(a->survived == b->survived && a->survived_bytes == b->survived_bytes);
    MUST(!one == !other);
    while (one && more) {
        more = log_died_next(&one, &x);
        MUST(more == log_died_next(&other, &y));
        MUST(x.generation == y.generation && x.age == y.age && x.objects == y.objects &&
             x.bytes == y.bytes);
    }
}

static void same_record(const struct log_record *a, const struct log_record *b)
{
    MUST(a->kind == b->kind);
    if (a->kind == SST_KIND_NODE)
        MUST(a->node.id == b->node.id && a->node.parent == b->node.parent &&
             a->node.method == b->node.method && a->node.il == b->node.il &&
             a->node.call == b->node.call && a->node.filter == b->node.filter);
    else if (a->kind == SST_KIND_CALLS)
        same_calls(&a->calls, &b->calls);
    else if (a->kind == SST_KIND_LIVE)
        same_live(&a->live, &b->live);
    else if (a->kind == SST_KIND_LIVE_SITE) {
        MUST(a->alloc.id == b->alloc.id && a->alloc.node == b->alloc.node &&
             a->alloc.class_id == b->alloc.class_id && a->alloc.il == b->alloc.il &&
             a->alloc.call == b->alloc.call && a->alloc.cut == b->alloc.cut &&
             a->alloc.unoptimised == b->alloc.unoptimised &&
             a->alloc.unloaded == b->alloc.unloaded);
        same_live(&a->live, &b->live);
    } else
        same_alloc(&a->alloc, &b->alloc);
}

static void both_readers_agree(struct memory *m)
{
    struct log_lines *lines = lines_of(m);
    struct log_parser parser;
    struct log_line line;
    uint64_t offset = 0, number = 0;

    log_parser_init(&parser);
    while (log_lines_next(lines, &line) > 0) {
        struct log_record hand, any;

        MUST(line.at.offset == offset && line.at.line == ++number);
        offset += line.size + !line.cut;
        if (!line.too_long && log_parse_by_hand(&parser, &line, &hand)) {
            MUST(log_parse_any(&parser, &line, &any) == 0);
            same_record(&hand, &any);
        }
    }
    log_parser_fini(&parser);
    log_lines_free(lines);
}

/* What threads that read ahead hand over, line by line, is what one reader has. */
static void parallel_agrees(struct memory *m)
{
    struct memory other = *m;
    struct log_lines *lines = lines_of(m), *its_lines = lines_of(&other);
    struct log_parser parser;
    struct parallel_reader *reader = NULL;
    const struct log_parsed *parsed;
    struct log_line line;

    log_parser_init(&parser);
    if (parallel_reader_new(its_lines, 2, &reader))
        exit(0);
    while (log_lines_next(lines, &line) > 0) {
        struct log_record record;

        MUST(parallel_reader_next(reader, &parsed) == 1);
        MUST(parsed->line.at.line == line.at.line && parsed->line.at.offset == line.at.offset);
        MUST(parsed->line.size == line.size && parsed->line.cut == line.cut);
        MUST(parsed->line.too_long == line.too_long);
        if (line.too_long)
            continue;
        MUST(memcmp(parsed->line.text, line.text, line.size) == 0);
        MUST(log_parse(&parser, &line, &record) == parsed->err);
        MUST(parsed->err || parsed->record.kind == record.kind);
    }
    MUST(parallel_reader_next(reader, &parsed) == 0);
    log_parser_fini(&parser);
    parallel_reader_free(reader);
    log_lines_free(its_lines);
    log_lines_free(lines);
}

/* Marks are found or not; with each the log is cut; what lies before and behind one is the whole. */
static uint64_t bytes_within(struct memory *m, const struct log_window *window)
{
    static const struct report_cells_options all = {.paths = false};
    struct log_problems problems;
    struct report_cells cells;
    struct log_lines *lines = lines_of(m);
    double bytes = 0;

    log_problems_init(&problems);
    MUST(report_cells_init(&cells, &all, &problems) == 0);
    report_cells_window(&cells, window);
    (void)report_cells_read_lines(&cells, lines, "fuzz");
    MUST(report_cells_logical(&cells) == 0);
    MUST(report_cells_finish(&cells) == 0);
    for (size_t heap = 0; heap < SST_HEAP_COUNT && !cells.sampled; heap++)
        bytes += cells.heaps[heap].bytes;
    report_cells_fini(&cells);
    log_lines_free(lines);
    log_problems_fini(&problems);
    return report_whole(bytes);
}

static void marks(struct memory *m)
{
    struct log_lines *lines = lines_of(m);
    struct log_marks marks = {.marks = NULL};
    struct log_window before, behind;
    char why[100];

    (void)log_marks_read_lines(lines, &marks);
    log_lines_free(lines);
    if (log_marks_window(&marks, "warm", NULL, &behind, why, sizeof(why)) == 0 &&
        log_marks_window(&marks, NULL, "warm", &before, why, sizeof(why)) == 0) {
        uint64_t whole = bytes_within(m, NULL);
        uint64_t sum = bytes_within(m, &before) + bytes_within(m, &behind);

        MUST(whole == 0 || sum == 0 || whole == sum);
    }
    log_marks_fini(&marks);
}

/* A model's rows of one key. */
struct rows {
    struct log_problems problems;
    struct model *model;
    struct model_own *own;
    struct model_tree *tree;
    struct model_rows rows;
};

static bool make_rows(struct memory *m, enum model_key key, const struct model_filter *filter,
                      struct rows *r)
{
    const bool frames = key == MODEL_BY_METHOD || key == MODEL_BY_MODULE || key == MODEL_BY_OWN;
    const struct model_options options = {
        .dimensions = {.threads = key == MODEL_BY_THREAD || filter->thread}};
    const struct model_shape shape = {.grain = key == MODEL_BY_OWN ? MODEL_GRAIN_LINE
                                               : frames            ? MODEL_GRAIN_METHOD
                                                                   : MODEL_GRAIN_NONE};
    const struct model_rows_options how = {.key = key};
    struct log_lines *lines = lines_of(m);
    char why[100];
    int err;

    *r = (struct rows){.model = NULL};
    log_problems_init(&r->problems);
    MUST(model_new(&options, &r->problems, &r->model) == 0);
    (void)model_read_lines(r->model, lines, "fuzz", NULL);
    log_lines_free(lines);
    MUST(model_finish(r->model) == 0);
    MUST(model_own_new(model_defs(r->model), model_log(r->model), NULL, NULL, 0, &r->own, why,
                       sizeof(why)) == 0);
    MUST(model_know(r->model, r->own, NULL) == 0);
    err = model_tree_new(r->model, filter, &shape, &r->tree, why, sizeof(why));
    MUST(err == 0 || err == -ENOENT);
    MUST(err || model_rows_init(&r->rows, r->tree, &how) == 0);
    return err == 0;
}

static void free_rows(struct rows *r)
{
    model_rows_fini(&r->rows);
    model_tree_free(r->tree);
    model_free(r->model);
    model_own_free(r->own);
    log_problems_fini(&r->problems);
}

/* No log differs from itself. */
static void diff(struct memory *m, enum model_key key)
{
    static const struct model_filter all = {.thread = 0};
    struct diff *diff = NULL;
    struct rows r;

    if (make_rows(m, key, &all, &r)) {
        const struct model_rows *const one = &r.rows;
        const struct diff_logs sides[DIFF_SIDES] = {{&one, 1}, {&one, 1}};
        struct diff_sum sum;

        MUST(diff_new(sides, key == MODEL_BY_THREAD, &diff) == 0);
        diff_sum(diff, &sum);
        MUST(sum.changed + sum.only[DIFF_OLD] + sum.only[DIFF_NEW] == 0);
        MUST(sum.same == diff_count(diff) && sum.same <= r.rows.count);
    }
    diff_free(diff);
    free_rows(&r);
}

/* Whatever the log: rows within the limits, times that can be added. */
static void replay(struct memory *m)
{
    static const struct replay_filter filters[] = {
        {.to = UINT64_MAX},
        {.from = 100, .to = 200, .depth = 3, .limit = 5, .interleaved = true},
        {.to = UINT64_MAX, .method = "*a*", .thread = 1}};

    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        struct log_problems problems;
        struct log_lines *lines = lines_of(m);
        struct replay *r = NULL;
        size_t count = 0;

        log_problems_init(&problems);
        if (replay_new(&filters[i], &problems, &r) == 0 &&
            replay_read_lines(r, lines, "fuzz") == 0) {
            const struct replay_row *rows = replay_rows(r, &count);

            MUST(!filters[i].limit || count <= filters[i].limit);
            for (size_t n = 0; n < count; n++)
                MUST(rows[n].kind != REPLAY_CALL || rows[n].ns <= UINT64_MAX - rows[n].t);
        }
        replay_free(r);
        log_lines_free(lines);
        log_problems_fini(&problems);
    }
}

static void report(struct memory *m, enum model_key key)
{
    static const char *const any[] = {"*"}, *const some[] = {"*a*"};
    const struct model_filter filter = {.types = {any, key == MODEL_BY_METHOD},
                                        .methods = {some, key == MODEL_BY_METHOD}};
    double bytes = 0;
    struct rows r;

    if (make_rows(m, key, &filter, &r)) {
        for (size_t i = 0; i < r.rows.count; i++) {
            double weights[MODEL_WEIGHTS];
            struct model_amount amount;

            model_row_weights(&r.rows, &r.rows.rows[i], false, weights);
            model_amount_of(r.model, weights, &amount);
            bytes += weights[MODEL_BYTES];
            MUST(amount.bytes_range.low <= amount.bytes_range.high);
        }
        MUST(model_estimated(r.model) || bytes == r.tree->total[MODEL_BYTES][0]);
    }
    free_rows(&r);
}

/* Every cell is of one node, and so is every byte, whatever is folded. */
static void tree(const struct model *model, const struct model_shape *shape, uint64_t *seed)
{
    static const struct model_filter all = {.thread = 0};
    struct model_merged *merged = NULL;
    struct model_tree *t = NULL;
    uint64_t(*ids)[2] = NULL;
    uint32_t first, count, place;
    char why[100];

    MUST(model_tree_new(model, &all, shape, &t, why, sizeof(why)) == 0);
    MUST(t->cell_count == model_cell_count(model));
    MUST(model_estimated(model) ||
         t->total[MODEL_BYTES][0] == model_weight_total(model, MODEL_BYTES));
    for (uint32_t i = 1; i < t->node_count; i++) {
        const struct model_node *n = &t->nodes[i], *parent = &t->nodes[n->parent];

        MUST(n->parent < i && n->end > i && n->end <= parent->end && n->depth == parent->depth + 1);
    }
    MUST(model_tree_ids(t, &ids) == 0);
    place = (uint32_t)(*seed % t->place_count);
    merged = model_merged_new(t, &place, 1, *seed & 1 ? MODEL_CALLERS : MODEL_CALLEES);
    MUST(merged);
    for (uint32_t row = 0; row < model_merged_count(merged) && row < 100; row++)
        MUST(model_merged_open(merged, row, &first, &count) == 0);
    model_merged_free(merged);
    memory_free(ids);
    model_tree_free(t);
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
}

static void model(struct memory *m)
{
    const struct model_options options = {
        .dimensions = {.threads = true, .sizes = true, .slice_ns = 1000, .slices_max = 100}};
    struct log_lines *lines = lines_of(m);
    struct log_problems problems;
    struct model_own *own = NULL;
    struct model *model = NULL;
    uint64_t seed = m->size;
    char why[100];

    log_problems_init(&problems);
    MUST(model_new(&options, &problems, &model) == 0);
    (void)model_read_lines(model, lines, "fuzz", NULL);
    MUST(model_finish(model) == 0);
    MUST(model_own_new(model_defs(model), model_log(model), NULL, NULL, 0, &own, why,
                       sizeof(why)) == 0);
    MUST(model_know(model, own, NULL) == 0);
    MUST(model_slice_count(model) <= 100);
    for (unsigned i = 0; i < 8; i++)
        tree(model,
             &(struct model_shape){.grain = (enum model_grain)(i % 3),
                                   .types = i & 1,
                                   .fold_framework = i & 2,
                                   .fold_recursion = i & 4,
                                   .min_share = i == 7 ? 0.05 : 0},
             &seed);
    model_free(model);
    model_own_free(own);
    log_lines_free(lines);
    log_problems_fini(&problems);
}

static void compare(struct memory *m)
{
    struct log_problems problems;
    struct report_checks checks;
    struct log_lines *lines = lines_of(m);

    log_problems_init(&problems);
    if (report_checks_init(&checks, &problems) == 0) {
        (void)report_checks_read_lines(&checks, lines, "fuzz");
        MUST(report_checks_finish(&checks) == 0);
    }
    report_checks_fini(&checks);
    log_lines_free(lines);
    log_problems_fini(&problems);
}

static uint64_t validate(struct memory *m, const struct report_schema *schema)
{
    struct log_problems problems;
    struct report_validation result;
    struct log_lines *lines = lines_of(m);
    uint64_t count;

    log_problems_init(&problems);
    (void)report_validate_lines(lines, "fuzz", schema, NULL, &problems, &result);
    count = problems.count;
    log_lines_free(lines);
    log_problems_fini(&problems);
    return count;
}

#define READERS 12

static void one_reader(struct memory *m, unsigned which, const struct report_schema *schema)
{
    static const enum model_key keys[] = {MODEL_BY_SITE, MODEL_BY_METHOD, MODEL_BY_THREAD};

    switch (which) {
    case 0:
        parallel_agrees(m);
        break;
    case 1:
    case 2:
    case 3:
        report(m, keys[which - 1]);
        break;
    case 4:
        compare(m);
        break;
    case 5:
        marks(m);
        break;
    case 6:
        replay(m);
        break;
    case 7:
        diff(m, MODEL_BY_SITE);
        break;
    case 8:
        diff(m, MODEL_BY_THREAD);
        break;
    case 9:
        diff(m, MODEL_BY_OWN);
        break;
    case 10:
        model(m);
        break;
    default:
        MUST(validate(m, NULL) == validate(m, schema)); /* the fast way and the schema's */
        break;
    }
}

/* Of a log that is packed, what it holds. */
size_t fuzz_size(const uint8_t *data, size_t size)
{
    struct memory m = {data, size, 0};
    struct log_lines *lines = lines_of(&m);
    struct log_line line;
    size_t sum = 0;

    while (log_lines_next(lines, &line) > 0)
        sum += line.size + 1;
    log_lines_free(lines);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct report_schema *schema;
    struct memory m = {data, size, 0};
    uint64_t hash = 1469598103934665603u;
    char why[200];

    if (!schema) {
        /* From a copy: with the text that ships, lines would be checked the fast way. */
        char *text = strndup(report_schema_text, report_schema_size());

        MUST(text && report_schema_new(text, strlen(text), &schema, why, sizeof(why)) == 0);
        free(text);
    }
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    both_readers_agree(&m);
    for (unsigned i = 0; i < READERS; i++) /* a mutated input: one of them, the corpus: all */
        if (!fuzz_mutated || i == (hash >> 20) % READERS)
            one_reader(&m, i, schema);
    return 0;
}
