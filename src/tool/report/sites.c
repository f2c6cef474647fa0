#include "report/sites.h"

#include "base/glob.h"

#include "base/order.h"
#include "report/demangle.h"
#include "report/logical.h"

#include <stdlib.h>

#define BATCH 32 /* events whose cache misses overlap */

/*
 * What is added up. Members that the rows do not need are 0 (il: REPORT_NO_IL) for every site. 32
 * bytes.
 */
struct site {
    uint32_t path, class_number, thread;
    int32_t il;
    uint64_t allocs, bytes; /* as logged, unweighted */
    uint64_t unoptimised;   /* of the bytes: objects that only unoptimised code makes */
};

struct pending {
    struct site site;
    struct report_estimate estimate;
    uint64_t hash;
};

struct report_sites {
    enum report_by by;
    struct report_filter filter;
    bool want_path, want_il, want_class, want_thread;
    struct report_logical_basis basis;
    struct site *sites;
    struct report_estimate *estimates; /* beside the sites; NULL until the first weight */
    size_t count, capacity, estimate_capacity;
    struct index index;
    struct pending batch[BATCH];
    size_t batched;
    struct site all, total;
    struct report_estimate all_estimate, total_estimate;
    struct site heaps[SST_HEAP_COUNT];
    struct report_call_times calls; /* by method only */
    struct report_defs defs;
    struct report_log log;
    struct report_consumer consumer;
    const struct report_window *window; /* NULL: all */
    struct report_recording recording;  /* of the log being read */
    report_line_of *line_of;
    void *line_context;
    uint32_t *order; /* rows: numbers of sites */
};

/* Adding up. */

static inline uint64_t site_hash(const void *record)
{
    const struct site *site = record;

    return hash_mix((uint64_t)site->path << 32 | (uint32_t)site->il,
                    (uint64_t)site->class_number << 32 | site->thread);
}

static inline bool site_equal(const void *record, const void *key)
{
    const struct site *have = record, *want = key;

    return have->path == want->path && have->il == want->il &&
           have->class_number == want->class_number && have->thread == want->thread;
}

static void add_amount(struct site *to, const struct site *more)
{
    to->allocs += more->allocs;
    to->bytes += more->bytes;
    to->unoptimised += more->unoptimised;
}

static void add_estimate(struct report_estimate *to, const struct report_estimate *more)
{
    to->bytes += more->bytes;
    to->allocs += more->allocs;
    to->bytes_variance += more->bytes_variance;
    to->allocs_variance += more->allocs_variance;
}

static int new_site(struct report_sites *s, const struct site *site, uint32_t *out)
{
    if (!array_reserve(&s->sites, &s->capacity, s->count + 1) ||
        (s->estimates && !array_reserve(&s->estimates, &s->estimate_capacity, s->count + 1)))
        return -ENOMEM;
    *out = (uint32_t)s->count++;
    s->sites[*out] = *site;
    s->sites[*out].allocs = s->sites[*out].bytes = s->sites[*out].unoptimised = 0;
    if (s->estimates)
        s->estimates[*out] = (struct report_estimate){0, 0, 0, 0};
    return 0;
}

/* The first weight of a log: until here every event stood for itself. */
static int begin_estimates(struct report_sites *s)
{
    size_t capacity = s->capacity ? s->capacity : 1;

    s->estimates = memory_zalloc(capacity, sizeof(*s->estimates));
    if (!s->estimates)
        return -ENOMEM;
    s->estimate_capacity = capacity;
    for (size_t i = 0; i < s->count; i++)
        s->estimates[i] = (struct report_estimate){.bytes = (double)s->sites[i].bytes,
                                                   .allocs = (double)s->sites[i].allocs};
    return 0;
}

static int add_one(struct report_sites *s, const struct pending *p)
{
    static const struct index_kind kind = {sizeof(struct site), site_hash, site_equal};
    size_t slot = 0;
    uint32_t number;

    if (index_reserve(&s->index, &kind, s->sites))
        return -ENOMEM;
    number = index_find(&s->index, &kind, s->sites, p->hash, &p->site, &slot);
    if (UNLIKELY(number == INDEX_NONE)) {
        if (new_site(s, &p->site, &number))
            return -ENOMEM;
        index_put(&s->index, slot, number);
    }
    add_amount(&s->sites[number], &p->site);
    if (s->estimates)
        add_estimate(&s->estimates[number], &p->estimate);
    return 0;
}

/*
 * Two passes, so that the misses of a whole batch are on their way at once: the slots (asked for
 * when the event came), then the sites they name, then the sums.
 */
static int flush(struct report_sites *s)
{
    int err = 0;

    for (size_t i = 0; s->index.slots && i < s->batched; i++) {
        uint32_t guess = s->index.slots[s->batch[i].hash & s->index.mask];

        if (guess)
            __builtin_prefetch(&s->sites[guess - 1], 1);
    }
    for (size_t i = 0; !err && i < s->batched; i++)
        err = add_one(s, &s->batch[i]);
    s->batched = 0;
    return err;
}

static inline struct site site_of(const struct report_alloc *a)
{
    return (struct site){.il = REPORT_NO_IL,
                         .allocs = a->allocs,
                         .bytes = a->bytes,
                         .unoptimised = a->unoptimised ? a->bytes : 0};
}

static int on_alloc(struct report_sites *s, const struct report_record *r)
{
    const struct report_alloc *a = &r->alloc;
    struct pending *p = &s->batch[s->batched];
    int err = 0;

    p->site = site_of(a);
    if (UNLIKELY(a->weight > 0) && !s->estimates) {
        err = flush(s); /* these stood for themselves */
        if (!err)
            err = begin_estimates(s);
        p = &s->batch[0];
        p->site = site_of(a);
        s->all_estimate = (struct report_estimate){.bytes = (double)s->all.bytes,
                                                   .allocs = (double)s->all.allocs};
    }
    if (s->want_path && !err)
        err = report_defs_alloc_path(&s->defs, a, r->at, &p->site.path);
    if (s->want_class && !err)
        err = UNLIKELY(a->class_id == 0)
                  ? report_defs_inline_class(&s->defs, a, &p->site.class_number)
                  : report_defs_class(&s->defs, a->class_id, r->at, &p->site.class_number);
    if (s->want_thread && !err && a->thread) {
        err = report_defs_thread(&s->defs, a->thread, r->at, &p->site.thread);
        p->site.thread++; /* 0: not said */
    }
    if (UNLIKELY(err))
        return err;
    if (s->want_il)
        p->site.il = report_alloc_il(a);
    add_amount(&s->all, &p->site);
    add_amount(&s->heaps[a->heap], &p->site);
    if (UNLIKELY(s->estimates != NULL)) {
        report_estimate_of(a, &p->estimate);
        add_estimate(&s->all_estimate, &p->estimate);
    }
    if ((s->filter.thread && a->thread != s->filter.thread) ||
        (s->filter.steady && UNLIKELY(a->unoptimised)))
        return 0;
    p->hash = site_hash(&p->site);
    if (LIKELY(s->index.slots != NULL))
        __builtin_prefetch(&s->index.slots[p->hash & s->index.mask]);
    return ++s->batched == BATCH ? flush(s) : 0;
}

static bool within(const struct report_sites *s, const struct report_record *r)
{
    const struct report_moment at = {s->recording.number, r->alloc.t, r->at.line};

    return report_window_has(s->window, &at);
}

static int on_calls(struct report_sites *s, const struct report_record *r)
{
    if (s->by != REPORT_BY_METHOD || s->window ||
        (s->filter.thread && r->calls.thread != s->filter.thread))
        return 0;
    return report_call_times_take(&s->calls, &r->calls);
}

static int on_record(void *context, const struct report_record *record)
{
    struct report_sites *s = context;

    if (LIKELY(record->kind == SST_KIND_ALLOC || record->kind == SST_KIND_SITE))
        return UNLIKELY(s->window != NULL) && !within(s, record) ? 0 : on_alloc(s, record);
    if (record->kind == SST_KIND_CALLS)
        return on_calls(s, record);
    report_logical_note(&s->basis, record);
    if (record->kind == SST_KIND_HEADER)
        report_recording_next(&s->recording, record->json);
    return 0;
}

int report_sites_new(enum report_by by, const struct report_filter *filter,
                     struct report_problems *problems, struct report_sites **out)
{
    struct report_sites *s = memory_zalloc(1, sizeof(*s));

    *out = NULL;
    if (!s)
        return -ENOMEM;
    s->by = by;
    s->filter = *filter;
    s->want_il = by == REPORT_BY_SITE || by == REPORT_BY_LINE;
    s->want_path = s->want_il || by == REPORT_BY_METHOD || by == REPORT_BY_MODULE || filter->method;
    s->want_class = s->want_il || by == REPORT_BY_TYPE || filter->type || filter->method;
    s->want_thread = by == REPORT_BY_THREAD;
    s->consumer.record = on_record;
    s->consumer.context = s;
    report_log_init(&s->log);
    report_call_times_init(&s->calls, &s->defs);
    if (report_defs_init(&s->defs, problems)) {
        report_sites_free(s);
        return -ENOMEM;
    }
    *out = s;
    return 0;
}

void report_sites_free(struct report_sites *s)
{
    if (!s)
        return;
    memory_free_all(s->sites, s->estimates, s->order);
    index_free(&s->index);
    report_call_times_fini(&s->calls);
    report_defs_fini(&s->defs);
    report_log_fini(&s->log);
    memory_free(s);
}

void report_sites_progress(struct report_sites *s,
                           void (*progress)(void *context, uint64_t taken, uint64_t size),
                           void *context)
{
    s->consumer.progress = progress;
    s->consumer.progress_context = context;
}

int report_sites_add(struct report_sites *s, const struct report_record *record)
{
    int err = record->kind == SST_KIND_ALLOC ? 0 : report_defs_add(&s->defs, record);

    return err ? err : on_record(s, record);
}

void report_sites_window(struct report_sites *s, const struct report_window *window)
{
    s->window = window;
    s->recording = (struct report_recording){0, 0, 0, 0};
}

void report_sites_jobs(struct report_sites *s, unsigned jobs)
{
    s->log.jobs = jobs;
}

void report_sites_lines(struct report_sites *s, report_line_of *line_of, void *context)
{
    s->line_of = line_of;
    s->line_context = context;
}

int report_sites_read(struct report_sites *s, const char *path)
{
    int err = report_log_read(path, &s->defs, &s->consumer, &s->log);

    report_call_times_finish(&s->calls);
    return err;
}

int report_sites_read_lines(struct report_sites *s, struct report_lines *lines, const char *file)
{
    int err = report_log_read_lines(lines, file, &s->defs, &s->consumer, &s->log);

    report_call_times_finish(&s->calls);
    return err;
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

/* The key of a site becomes that of its row. */
static void rekey(const struct report_sites *s, struct site *site)
{
    const struct site old = *site;
    uint32_t method = report_path(&s->defs, old.path)->method;

    site->path = site->class_number = site->thread = 0;
    site->il = REPORT_NO_IL;
    switch (s->by) {
    case REPORT_BY_SITE:
        site->path = old.path;
        site->class_number = old.class_number;
        site->il = old.il;
        break;
    case REPORT_BY_TYPE:
        site->class_number = old.class_number;
        break;
    case REPORT_BY_METHOD: /* in the place of the path: 0 stays "no managed frame" */
        site->path = old.path == REPORT_PATH_EMPTY ? 0 : method + 1;
        break;
    case REPORT_BY_MODULE:
        site->path =
            old.path == REPORT_PATH_EMPTY ? 0 : report_method(&s->defs, method)->module + 1;
        break;
    case REPORT_BY_THREAD:
        site->thread = old.thread;
        break;
    case REPORT_BY_LINE: /* in the place of the path */
        site->path = s->line_of ? s->line_of(s->line_context, old.path, old.il) : 0;
        site->class_number = old.class_number;
        break;
    }
}

/*
 * In place: the rows are never more than the sites, and a row is written where it or something
 * before it was read.
 */
static int merge(struct report_sites *s, const bool *class_match, const bool *path_match)
{
    size_t count = s->count;

    index_clear(&s->index);
    s->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct pending p = {.site = s->sites[i]};

        if ((class_match && !class_match[p.site.class_number]) ||
            (path_match && !path_match[p.site.path]))
            continue;
        if (s->estimates)
            p.estimate = s->estimates[i];
        rekey(s, &p.site);
        add_amount(&s->total, &p.site);
        add_estimate(&s->total_estimate, &p.estimate);
        p.hash = site_hash(&p.site);
        if (add_one(s, &p))
            return -ENOMEM;
    }
    return 0;
}

static double weight_of(const struct report_sites *s, uint32_t number)
{
    return s->estimates ? s->estimates[number].bytes : (double)s->sites[number].bytes;
}

/* Most bytes first, then most objects, then as first met. */
static int by_bytes(const void *left, const void *right, void *context)
{
    const struct report_sites *s = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    double bytes_a = weight_of(s, a), bytes_b = weight_of(s, b);

    if (bytes_a != bytes_b)
        return ORDER(bytes_b, bytes_a);
    if (s->sites[a].allocs != s->sites[b].allocs)
        return ORDER(s->sites[b].allocs, s->sites[a].allocs);
    return ORDER(a, b);
}

/* As struct report_logical_allocs has it: sites, one after the other. */
struct each_site {
    const struct report_sites *sites;
    size_t at;
};

static bool next_site(void *context, uint32_t *path, uint32_t *class_number)
{
    struct each_site *e = context;

    if (e->at == e->sites->count)
        return false;
    *path = e->sites->sites[e->at].path;
    *class_number = e->sites->sites[e->at++].class_number;
    return true;
}

int report_sites_logical(struct report_sites *s)
{
    struct each_site each = {s, 0};
    struct report_logical_allocs allocs = {.next = next_site, .context = &each};
    uint32_t *map = NULL;
    int err = s->want_path ? flush(s) : 0;

    report_logical_known(&s->basis, &s->log, !s->window && !s->filter.thread, &allocs);
    if (!err && s->want_path)
        err = report_logical(&s->defs, &allocs, &map);
    for (size_t i = 0; map && i < s->count; i++)
        s->sites[i].path = map[s->sites[i].path];
    memory_free(map);
    return err;
}

int report_sites_finish(struct report_sites *s)
{
    bool *class_match = NULL, *path_match = NULL;
    int err = flush(s);

    for (size_t i = 0; !err && i < s->count; i++)
        err = report_defs_plain(&s->defs, &s->sites[i].path);
    if (!err && s->filter.type && !(class_match = matches(&s->defs.classes, s->filter.type)))
        err = -ENOMEM;
    if (!err && s->filter.method && !(path_match = path_matches(&s->defs, s->filter.method)))
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
    qsort_r(s->order, s->count, sizeof(*s->order), by_bytes, s);
    return 0;
}

/* Rows. */

size_t report_sites_count(const struct report_sites *s)
{
    return s->count;
}

static uint64_t rounded(double value)
{
    return value < SST_INTEGER_MAX ? (uint64_t)(value + 0.5) : SST_INTEGER_MAX;
}

static void describe(const struct report_sites *s, const struct site *site,
                     const struct report_estimate *estimate, struct report_row *row)
{
    double whole = s->estimates ? s->total_estimate.bytes : (double)s->total.bytes;

    *row = (struct report_row){.allocs = site->allocs, .bytes = site->bytes, .il = REPORT_NO_IL};
    if (estimate) {
        row->sampled = site->allocs;
        row->allocs_range = report_estimate_interval(estimate->allocs, estimate->allocs_variance,
                                                     (double)site->allocs);
        row->bytes_range = report_estimate_interval(estimate->bytes, estimate->bytes_variance,
                                                    (double)site->bytes);
        row->allocs = rounded(row->allocs_range.value);
        row->bytes = rounded(row->bytes_range.value);
    } else {
        row->allocs_range.low = row->allocs_range.value = row->allocs_range.high =
            (double)row->allocs;
        row->bytes_range.low = row->bytes_range.value = row->bytes_range.high = (double)row->bytes;
    }
    row->unoptimised = site->bytes ? (double)site->unoptimised / (double)site->bytes : 0;
    row->share = whole > 0 ? row->bytes_range.value / whole : 0;
}

void report_sites_row(const struct report_sites *s, size_t index, struct report_row *out)
{
    uint32_t number = s->order[index];
    const struct site *site = &s->sites[number];

    describe(s, site, s->estimates ? &s->estimates[number] : NULL, out);
    switch (s->by) {
    case REPORT_BY_SITE:
        out->path = site->path;
        out->class_number = site->class_number;
        out->il = site->il;
        out->method = report_path(&s->defs, site->path)->method;
        out->module = report_method(&s->defs, out->method)->module;
        break;
    case REPORT_BY_TYPE:
        out->class_number = site->class_number;
        out->module = report_class(&s->defs, site->class_number)->module;
        break;
    case REPORT_BY_METHOD:
        out->path = site->path ? REPORT_PATH_LOST : REPORT_PATH_EMPTY;
        out->method = site->path ? site->path - 1 : 0;
        out->module = report_method(&s->defs, out->method)->module;
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
    describe(s, &s->total, s->estimates ? &s->total_estimate : NULL, out);
}

void report_sites_all(const struct report_sites *s, struct report_row *out)
{
    describe(s, &s->all, s->estimates ? &s->all_estimate : NULL, out);
}

bool report_sites_estimated(const struct report_sites *s)
{
    return s->estimates != NULL;
}

uint64_t report_sites_heap(const struct report_sites *s, enum sst_heap heap, uint64_t *bytes)
{
    *bytes = s->heaps[heap].bytes;
    return s->heaps[heap].allocs;
}

const struct report_defs *report_sites_defs(const struct report_sites *s)
{
    return &s->defs;
}

const struct report_log *report_sites_log(const struct report_sites *s)
{
    return &s->log;
}
