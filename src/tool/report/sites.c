#include "report/sites.h"

#include "base/glob.h"

#include "base/order.h"
#include "report/cells.h"
#include "report/demangle.h"
#include "readers/header.h"

#include <stdlib.h>

/* A row, or what all are together. Members of the key that `by` does not need are 0. */
struct site {
    uint32_t path, class_number, thread;
    int32_t il;
    double bytes, allocs; /* of sampled logs: estimates */
    double unoptimised;   /* of the bytes: objects that only unoptimised code makes */
};

struct report_sites {
    enum report_by by;
    struct report_filter filter;
    struct report_cells cells;
    struct site *sites;
    struct report_cell_sampled *seen; /* beside them, of sampled logs; else NULL */
    size_t count, capacity, seen_capacity;
    struct index index;
    struct site total;
    struct report_cell_sampled total_seen;
    bool estimated;
    struct report_call_times calls; /* by method only */
    report_line_of *line_of;
    void *line_context;
    bool joined; /* cells are */
    struct report_order by_order;
    uint32_t *order; /* rows: numbers of sites */
};

/* Reading. */

static int on_calls(struct report_sites *s, const struct report_record *r)
{
    if (s->by != REPORT_BY_METHOD || s->cells.window ||
        (s->filter.thread && r->calls.thread != s->filter.thread))
        return 0;
    return report_call_times_take(&s->calls, &r->calls);
}

static int on_record(void *context, const struct report_record *record)
{
    struct report_sites *s = context;

    return UNLIKELY(record->kind == SST_KIND_CALLS) ? on_calls(s, record)
                                                    : report_cells_take(&s->cells, record);
}

int report_sites_new(enum report_by by, const struct report_filter *filter,
                     struct report_problems *problems, struct report_sites **out)
{
    bool ils = by == REPORT_BY_SITE || by == REPORT_BY_LINE;
    const struct report_cells_options cells = {
        .ils = ils,
        .paths = ils || by == REPORT_BY_METHOD || by == REPORT_BY_MODULE || filter->method ||
                 filter->chosen,
        .types = ils || by == REPORT_BY_TYPE || filter->type || filter->method || filter->chosen,
        .threads = by == REPORT_BY_THREAD,
        .thread = filter->thread,
        .steady = filter->steady,
        .physical = filter->physical};
    struct report_sites *s = memory_zalloc(1, sizeof(*s));

    *out = NULL;
    if (!s)
        return -ENOMEM;
    s->by = by;
    s->filter = *filter;
    if (report_cells_init(&s->cells, &cells, problems)) {
        report_cells_fini(&s->cells);
        memory_free(s);
        return -ENOMEM;
    }
    s->cells.consumer.record = on_record;
    s->cells.consumer.context = s;
    report_call_times_init(&s->calls, &s->cells.defs);
    *out = s;
    return 0;
}

void report_sites_free(struct report_sites *s)
{
    if (!s)
        return;
    memory_free_all(s->sites, s->seen, s->order);
    index_free(&s->index);
    report_call_times_fini(&s->calls);
    report_cells_fini(&s->cells);
    memory_free(s);
}

void report_sites_progress(struct report_sites *s,
                           void (*progress)(void *context, uint64_t taken, uint64_t size),
                           void *context)
{
    s->cells.consumer.progress = progress;
    s->cells.consumer.progress_context = context;
}

void report_sites_ask(struct report_sites *s, enum report_live_question question,
                      const struct report_live_spans *spans)
{
    if (question != s->cells.options.live)
        report_cells_ask(&s->cells, question);
    report_cells_spans(&s->cells, spans);
}

const struct report_live *report_sites_live(const struct report_sites *s)
{
    return &s->cells.live;
}

int report_sites_add(struct report_sites *s, const struct report_record *record)
{
    int err = record->kind == SST_KIND_ALLOC ? 0 : report_defs_add(&s->cells.defs, record);

    return err ? err : on_record(s, record);
}

void report_sites_window(struct report_sites *s, const struct report_window *window)
{
    report_cells_window(&s->cells, window);
}

void report_sites_jobs(struct report_sites *s, unsigned jobs)
{
    s->cells.log.jobs = jobs;
}

void report_sites_lines(struct report_sites *s, report_line_of *line_of, void *context)
{
    s->line_of = line_of;
    s->line_context = context;
}

int report_sites_read(struct report_sites *s, const char *path)
{
    int err = report_cells_read(&s->cells, path);

    report_call_times_finish(&s->calls);
    return err;
}

int report_sites_read_lines(struct report_sites *s, struct report_lines *lines, const char *file)
{
    int err = report_cells_read_lines(&s->cells, lines, file);

    report_call_times_finish(&s->calls);
    return err;
}

int report_sites_logical(struct report_sites *s)
{
    return report_cells_logical(&s->cells);
}

/* Bringing together. */

/* For each number of a table, whether its name matches, as logged or written. NULL: no memory. */
static bool *matches(const struct report_table *t, const char *glob)
{
    bool *match = memory_zalloc(t->count, sizeof(*match));
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; match && i < t->count; i++)
        match[i] = glob_match(glob, t->defs[i].name) ||
                   glob_match(glob, report_demangle(&b, t->defs[i].name));
    buffer_free(&b);
    return match;
}

/* For each path, whether any of its frames matches. Parents come before their children. */
static bool *path_matches(const struct report_defs *d, const char *glob)
{
    bool *methods = matches(&d->methods, glob);
    bool *match = methods ? memory_zalloc(d->path_count, sizeof(*match)) : NULL;

    for (size_t i = REPORT_PATH_LOST + 1; match && i < d->path_count; i++)
        match[i] = methods[d->paths[i].method] || match[d->paths[i].parent];
    memory_free(methods);
    return match;
}

/* The key of a cell's row. */
static void key_of(const struct report_sites *s, const struct report_cell *cell, struct site *site)
{
    const struct report_defs *d = &s->cells.defs;
    uint32_t method = report_path(d, cell->path)->method;

    *site = (struct site){.il = REPORT_NO_IL};
    switch (s->by) {
    case REPORT_BY_SITE:
        site->path = cell->path;
        site->class_number = cell->class_number;
        site->il = cell->il;
        break;
    case REPORT_BY_TYPE:
        site->class_number = cell->class_number;
        break;
    case REPORT_BY_METHOD: /* in the place of the path: 0 stays "no managed frame" */
        site->path = cell->path == REPORT_PATH_EMPTY ? 0 : method + 1;
        break;
    case REPORT_BY_MODULE:
        site->path = cell->path == REPORT_PATH_EMPTY ? 0 : report_method(d, method)->module + 1;
        break;
    case REPORT_BY_THREAD:
        site->thread = cell->thread;
        break;
    case REPORT_BY_LINE: /* in the place of the path */
        site->path = s->line_of ? s->line_of(s->line_context, cell->path, cell->il) : 0;
        site->class_number = cell->class_number;
        break;
    }
}

static uint64_t site_hash(const void *record)
{
    const struct site *site = record;

    return hash_mix((uint64_t)site->path << 32 | (uint32_t)site->il,
                    (uint64_t)site->class_number << 32 | site->thread);
}

static bool site_equal(const void *record, const void *key)
{
    const struct site *have = record, *want = key;

    return have->path == want->path && have->il == want->il &&
           have->class_number == want->class_number && have->thread == want->thread;
}

/* A cell goes into its row. Returns: 0 or -ENOMEM. */
static int add_cell(struct report_sites *s, size_t i, uint32_t number)
{
    const struct report_cell *cell = &s->cells.cells[i];
    const struct report_cell_sampled *seen = s->estimated ? &s->cells.sampled[i] : NULL;
    struct site *to[] = {&s->sites[number], &s->total};

    for (size_t j = 0; j < COUNT_OF(to); j++) {
        to[j]->bytes += cell->bytes;
        to[j]->allocs += cell->allocs;
        to[j]->unoptimised += cell->unoptimised ? cell->bytes : 0;
    }
    if (!seen)
        return 0;
    if (!array_reserve_zeroed(&s->seen, &s->seen_capacity, s->count))
        return -ENOMEM;
    report_cell_sampled_add(&s->seen[number], seen);
    report_cell_sampled_add(&s->total_seen, seen);
    return 0;
}

static int merge(struct report_sites *s, const bool *class_match, const bool *path_match)
{
    static const struct index_kind kind = {sizeof(struct site), site_hash, site_equal};

    for (size_t i = 0; i < s->cells.count; i++) {
        const struct report_cell *cell = &s->cells.cells[i];
        struct site key;
        uint32_t number;

        if ((class_match && !class_match[cell->class_number]) ||
            (path_match && !path_match[cell->path]))
            continue;
        key_of(s, cell, &key);
        if (index_add(&s->index, &kind, &s->sites, &s->count, &s->capacity, &key, &number) < 0 ||
            add_cell(s, i, number))
            return -ENOMEM;
    }
    return 0;
}

static bool passes(const struct report_sites *s, const struct site *site)
{
    return site->bytes >= (double)s->by_order.least_bytes &&
           site->bytes >= s->by_order.least_share * s->total.bytes;
}

/* Most bytes first, or objects; then most objects in the log, then as first met. */
static int in_order(const void *left, const void *right, void *context)
{
    const struct report_sites *s = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct site *p = &s->sites[a], *q = &s->sites[b];
    double allocs_p = s->seen ? s->seen[a].allocs : p->allocs,
           allocs_q = s->seen ? s->seen[b].allocs : q->allocs;
    int order = ORDER(passes(s, q), passes(s, p));

    if (!order && s->by_order.allocs)
        order = ORDER(q->allocs, p->allocs);
    return order                  ? order
           : p->bytes != q->bytes ? ORDER(q->bytes, p->bytes)
           : allocs_p != allocs_q ? ORDER(allocs_q, allocs_p)
                                  : ORDER(a, b);
}

struct report_cells *report_sites_cells(struct report_sites *s)
{
    if (!s->joined && report_cells_finish(&s->cells))
        return NULL;
    s->joined = true;
    return &s->cells;
}

void report_sites_order(struct report_sites *s, const struct report_order *order)
{
    s->by_order = order ? *order : (struct report_order){.allocs = false};
}

int report_sites_finish(struct report_sites *s)
{
    const struct report_defs *d = &s->cells.defs;
    bool *class_match = NULL, *path_match = NULL;
    int err = report_sites_cells(s) ? 0 : -ENOMEM;

    s->estimated = s->cells.sampled;
    if (!err && s->filter.type && !(class_match = matches(&d->classes, s->filter.type)))
        err = -ENOMEM;
    if (!err && s->filter.method && !(path_match = path_matches(d, s->filter.method)))
        err = -ENOMEM;
    if (!err)
        err = merge(s, class_match, path_match);
    memory_free_all(class_match, path_match);
    index_free(&s->index);
    if (err)
        return err;
    s->order = memory_alloc((s->count + 1) * sizeof(*s->order));
    if (!s->order)
        return -ENOMEM;
    for (size_t i = 0; i < s->count; i++)
        s->order[i] = (uint32_t)i;
    qsort_r(s->order, s->count, sizeof(*s->order), in_order, s);
    return 0;
}

/* Rows. */

size_t report_sites_count(const struct report_sites *s)
{
    return s->count;
}

size_t report_sites_passing(const struct report_sites *s)
{
    size_t count = 0;

    while (count < s->count && passes(s, &s->sites[s->order[count]]))
        count++;
    return count;
}

static bool is_approximate(const struct report_sites *s)
{
    return report_sampler(s->cells.log.header) == REPORT_SAMPLER_TICKS;
}

/* seen: NULL of what is exact. */
static void describe(const struct report_sites *s, const struct site *site,
                     const struct report_cell_sampled *seen, struct report_row *row)
{
    static const struct report_cell_sampled exact = {0, 0, 0, 0};

    *row = (struct report_row){.il = REPORT_NO_IL,
                               .allocs = report_whole(site->allocs),
                               .bytes = report_whole(site->bytes),
                               .sampled = seen ? report_whole(seen->allocs) : 0};
    seen = seen ? seen : &exact;
    row->spread = (struct report_spread){seen->bytes_variance, seen->allocs_variance, seen->bytes};
    row->allocs_range = report_estimate_interval(site->allocs, seen->allocs_variance, seen->allocs);
    row->bytes_range = report_estimate_interval(site->bytes, seen->bytes_variance, seen->bytes);
    row->approximate = row->sampled && is_approximate(s);
    row->mixed = report_estimate_mixes(site->bytes, seen->bytes_variance, site->allocs,
                                       seen->allocs_variance);
    row->unoptimised = site->bytes > 0 ? site->unoptimised / site->bytes : 0;
    row->share = s->total.bytes > 0 ? site->bytes / s->total.bytes : 0;
}

void report_sites_row(const struct report_sites *s, size_t index, struct report_row *out)
{
    const struct report_defs *d = &s->cells.defs;
    uint32_t number = s->order[index];
    const struct site *site = &s->sites[number];

    describe(s, site, s->seen ? &s->seen[number] : NULL, out);
    switch (s->by) {
    case REPORT_BY_SITE:
        out->path = site->path;
        out->class_number = site->class_number;
        out->il = site->il;
        out->method = report_path(d, site->path)->method;
        out->module = report_method(d, out->method)->module;
        break;
    case REPORT_BY_TYPE:
        out->class_number = site->class_number;
        out->module = report_class(d, site->class_number)->module;
        break;
    case REPORT_BY_METHOD:
        out->path = site->path ? REPORT_PATH_LOST : REPORT_PATH_EMPTY;
        out->method = site->path ? site->path - 1 : 0;
        out->module = report_method(d, out->method)->module;
        break;
    case REPORT_BY_MODULE:
        out->path = site->path ? REPORT_PATH_LOST : REPORT_PATH_EMPTY;
        out->module = site->path ? site->path - 1 : 0;
        break;
    case REPORT_BY_THREAD:
        out->thread = site->thread;
        break;
    case REPORT_BY_LINE:
        out->path = REPORT_PATH_LOST;
        out->line = site->path;
        out->class_number = site->class_number;
        break;
    }
}

const struct report_call_time *report_sites_row_calls(const struct report_sites *s,
                                                      const struct report_row *row)
{
    return s->by == REPORT_BY_METHOD && row->path ? report_call_time_of(&s->calls, row->method)
                                                  : NULL;
}

size_t report_sites_calls(const struct report_sites *s)
{
    size_t methods = 0;

    for (uint32_t method = 0; method < s->calls.count; method++)
        methods += report_call_time_of(&s->calls, method) != NULL;
    return methods;
}

void report_sites_total(const struct report_sites *s, struct report_row *out)
{
    describe(s, &s->total, s->estimated ? &s->total_seen : NULL, out);
}

void report_sites_all(const struct report_sites *s, struct report_row *out)
{
    struct report_cell_sampled seen = {0, 0, 0, 0};
    struct site all = {.il = REPORT_NO_IL};

    for (size_t heap = 0; heap < SST_HEAP_COUNT; heap++) {
        const struct report_cell_sum *sum = &s->cells.heaps[heap];

        all.bytes += sum->bytes;
        all.allocs += sum->allocs;
        all.unoptimised += sum->unoptimised;
        report_cell_sampled_add(&seen, &sum->sampled);
    }
    describe(s, &all, s->estimated ? &seen : NULL, out);
}

bool report_sites_estimated(const struct report_sites *s)
{
    return s->estimated;
}

uint64_t report_sites_heap(const struct report_sites *s, enum sst_heap heap, uint64_t *bytes)
{
    const struct report_cell_sum *sum = &s->cells.heaps[heap];

    *bytes = (uint64_t)(s->estimated ? sum->sampled.bytes : sum->bytes);
    return (uint64_t)(s->estimated ? sum->sampled.allocs : sum->allocs);
}

const struct report_defs *report_sites_defs(const struct report_sites *s)
{
    return &s->cells.defs;
}

const struct report_log *report_sites_log(const struct report_sites *s)
{
    return &s->cells.log;
}
