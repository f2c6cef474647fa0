#include "report/cells.h"

#include "report/estimate.h"

#define BATCH      32 /* events whose cache misses overlap */
#define SLICES_MAX 65536

struct report_cell_pending {
    struct report_cell cell;
    struct report_cell_sampled sampled;
    uint64_t hash;
    struct report_cell_event event; /* if somebody asks for events */
};

/* ---- adding up ---- */

static inline uint64_t cell_hash(const void *record)
{
    const struct report_cell *c = record;
    uint64_t rest = hash_mix((uint64_t)c->class_number << 32 | c->thread,
                             (uint64_t)c->slice << 32 | (uint32_t)c->heap << 16 |
                                 (uint32_t)c->size << 8 | c->unoptimised);

    return hash_mix((uint64_t)c->path << 32 | (uint32_t)c->il, rest);
}

static inline bool cell_equal(const void *record, const void *key)
{
    const struct report_cell *have = record, *want = key;

    return have->path == want->path && have->il == want->il &&
           have->class_number == want->class_number && have->thread == want->thread &&
           have->slice == want->slice && have->heap == want->heap && have->size == want->size &&
           have->unoptimised == want->unoptimised;
}

static void add_sampled(struct report_cell_sampled *to, const struct report_cell_sampled *more)
{
    to->bytes_variance += more->bytes_variance;
    to->allocs_variance += more->allocs_variance;
    to->bytes += more->bytes;
    to->allocs += more->allocs;
}

static int new_cell(struct report_cells *c, const struct report_cell *cell, uint32_t *out)
{
    if (!array_reserve(&c->cells, &c->capacity, c->count + 1) ||
        (c->sampled && !array_reserve(&c->sampled, &c->sampled_capacity, c->count + 1)))
        return -ENOMEM;
    *out = (uint32_t)c->count++;
    c->cells[*out] = *cell;
    c->cells[*out].bytes = c->cells[*out].allocs = 0;
    if (c->sampled)
        c->sampled[*out] = (struct report_cell_sampled){0, 0, 0, 0};
    return 0;
}

static int add_one(struct report_cells *c, const struct report_cell_pending *p, uint32_t *out)
{
    static const struct index_kind kind = {sizeof(struct report_cell), cell_hash, cell_equal};
    size_t slot = 0;
    uint32_t number;

    if (index_reserve(&c->index, &kind, c->cells))
        return -ENOMEM;
    number = index_find(&c->index, &kind, c->cells, p->hash, &p->cell, &slot);
    if (UNLIKELY(number == INDEX_NONE)) {
        if (new_cell(c, &p->cell, &number))
            return -ENOMEM;
        index_put(&c->index, slot, number);
    }
    c->cells[number].bytes += p->cell.bytes;
    c->cells[number].allocs += p->cell.allocs;
    if (c->sampled)
        add_sampled(&c->sampled[number], &p->sampled);
    *out = number;
    return 0;
}

/* The same for whoever asked for events. */
static int add_event(struct report_cells *c, struct report_cell_pending *p)
{
    int err = add_one(c, p, &p->event.cell);

    return err || !c->options.event ? err : c->options.event(c->options.event_context, &p->event);
}

/*
 * Two passes, so that the misses of a whole batch are on their way at once: the slots (asked for
 * when the event came), then the cells they name, then the sums.
 */
static int flush(struct report_cells *c)
{
    int err = 0;

    for (size_t i = 0; c->index.slots && i < c->batched; i++) {
        uint32_t guess = c->index.slots[c->batch[i].hash & c->index.mask];

        if (guess)
            __builtin_prefetch(&c->cells[guess - 1], 1);
    }
    for (size_t i = 0; !err && i < c->batched; i++)
        err = add_event(c, &c->batch[i]);
    c->batched = 0;
    return err;
}

/* Cells whose keys have become equal are brought together: in place, they only get fewer. */
static int join_cells(struct report_cells *c)
{
    size_t count = c->count;
    uint32_t number = 0;
    int err = 0;

    index_clear(&c->index);
    c->count = 0;
    for (size_t i = 0; !err && i < count; i++) {
        struct report_cell_pending p = {.cell = c->cells[i], .hash = cell_hash(&c->cells[i])};

        if (c->sampled)
            p.sampled = c->sampled[i];
        err = add_one(c, &p, &number);
        if (c->joined)
            c->joined[i] = number;
    }
    return err;
}

/* The first weight of a log: until here every event stood for itself. */
static int begin_estimates(struct report_cells *c)
{
    int err = flush(c);
    size_t capacity = c->capacity ? c->capacity : 1;

    if (err)
        return err;
    c->sampled = memory_zalloc(capacity, sizeof(*c->sampled));
    if (!c->sampled)
        return -ENOMEM;
    c->sampled_capacity = capacity;
    for (size_t i = 0; i < c->count; i++) {
        c->sampled[i].bytes = c->cells[i].bytes;
        c->sampled[i].allocs = c->cells[i].allocs;
    }
    for (size_t heap = 0; heap < SST_HEAP_COUNT; heap++) {
        struct report_cell_sum *sum = &c->heaps[heap];

        sum->sampled.bytes = sum->bytes;
        sum->sampled.allocs = sum->allocs;
        sum->sampled_unoptimised = sum->unoptimised;
    }
    return 0;
}

/* ---- time ---- */

static unsigned slices_max(const struct report_cells *c)
{
    unsigned most = c->options.slices_max;

    return most ? most : SLICES_MAX;
}

/* Something happened at `t`. Slices grow until it lies in one. */
static int note_time(struct report_cells *c, uint64_t t)
{
    unsigned halves = 0;
    int err = 0;

    if (t <= c->duration)
        return 0;
    c->duration = t;
    while (c->slice_ns && (t / c->slice_ns >> halves) >= slices_max(c))
        halves++;
    if (!halves)
        return 0;
    err = flush(c);
    c->slice_ns <<= halves;
    for (size_t i = 0; i < c->count; i++)
        c->cells[i].slice >>= halves;
    return err ? err : join_cells(c);
}

/* ---- reading ---- */

static uint8_t size_class(const struct report_alloc *a)
{
    uint64_t size = a->allocs ? a->bytes / a->allocs : 0;

    return size ? (uint8_t)(63 - __builtin_clzll(size)) : 0;
}

/* What the options ask for. Returns: as report_defs_alloc_path. */
static int key_of(struct report_cells *c, const struct report_record *r, struct report_cell *key)
{
    const struct report_cells_options *o = &c->options;
    const struct report_alloc *a = &r->alloc;
    int err = o->paths ? report_defs_alloc_path(&c->defs, a, r->at, &key->path) : 0;

    if (!err && o->types)
        err = UNLIKELY(a->class_id == 0)
                  ? report_defs_inline_class(&c->defs, a, &key->class_number)
                  : report_defs_class(&c->defs, a->class_id, r->at, &key->class_number);
    if (!err && o->threads && a->thread) {
        err = report_defs_thread(&c->defs, a->thread, r->at, &key->thread);
        key->thread++; /* 0: not said */
    }
    key->il = o->ils ? report_alloc_il(a) : REPORT_NO_IL;
    key->unoptimised = a->unoptimised;
    if (c->slice_ns)
        key->slice = (uint32_t)(a->t / c->slice_ns);
    if (o->sizes) {
        key->heap = (uint8_t)a->heap;
        key->size = size_class(a);
    }
    return err;
}

static void weigh(const struct report_alloc *a, struct report_cell_pending *p)
{
    struct report_estimate e;

    report_estimate_of(a, &e);
    p->sampled = (struct report_cell_sampled){e.bytes_variance, e.allocs_variance, p->cell.bytes,
                                              p->cell.allocs};
    p->cell.bytes = e.bytes;
    p->cell.allocs = e.allocs;
}

static void add_sum(struct report_cell_sum *sum, const struct report_cell_pending *p)
{
    sum->bytes += p->cell.bytes;
    sum->allocs += p->cell.allocs;
    add_sampled(&sum->sampled, &p->sampled);
    if (p->cell.unoptimised) {
        sum->unoptimised += p->cell.bytes;
        sum->sampled_unoptimised += p->sampled.bytes;
    }
}

/* The allocation by itself, for whoever asked. */
static void note_event(const struct report_cells *c, const struct report_record *r,
                       struct report_cell_pending *p)
{
    const struct report_alloc *a = &r->alloc;
    uint32_t thread = a->thread ? report_ids_get(&c->defs.thread_ids, a->thread) : 0;

    p->event = (struct report_cell_event){.t = a->t,
                                          .bytes = p->cell.bytes,
                                          .allocs = p->cell.allocs,
                                          .thread = thread ? c->defs.threads[thread - 1].os : 0,
                                          .large = a->heap == SST_HEAP_LARGE,
                                          .site = r->kind == SST_KIND_SITE};
}

static int on_alloc(struct report_cells *c, const struct report_record *r)
{
    const struct report_alloc *a = &r->alloc;
    struct report_cell_pending *p;
    int err = UNLIKELY(a->weight > 0 && !c->sampled) ? begin_estimates(c) : 0;

    if (!err)
        err = note_time(c, a->t);
    p = &c->batch[c->batched];
    *p = (struct report_cell_pending){.cell.bytes = (double)a->bytes,
                                      .cell.allocs = (double)a->allocs};
    if (!err)
        err = key_of(c, r, &p->cell);
    if (UNLIKELY(err))
        return err;
    if (UNLIKELY(c->sampled != NULL))
        weigh(a, p);
    if (UNLIKELY(c->options.event != NULL))
        note_event(c, r, p);
    add_sum(&c->heaps[a->heap], p);
    if ((c->options.thread && a->thread != c->options.thread) ||
        (c->options.steady && UNLIKELY(a->unoptimised)))
        return 0;
    p->hash = cell_hash(&p->cell);
    if (LIKELY(c->index.slots != NULL))
        __builtin_prefetch(&c->index.slots[p->hash & c->index.mask]);
    return ++c->batched == BATCH ? flush(c) : 0;
}

static bool within(const struct report_cells *c, const struct report_record *r)
{
    const struct report_moment at = {c->recording.number, r->alloc.t, r->at.line};

    return report_window_has(c->window, &at);
}

int report_cells_take(struct report_cells *c, const struct report_record *record)
{
    uint64_t t;

    if (LIKELY(record->kind == SST_KIND_ALLOC || record->kind == SST_KIND_SITE))
        return UNLIKELY(c->window != NULL) && !within(c, record) ? 0 : on_alloc(c, record);
    report_logical_note(&c->basis, record);
    if (record->kind == SST_KIND_HEADER)
        report_recording_next(&c->recording, record->json);
    if (record->kind == SST_KIND_END && !report_member_count(record->json, "t", &t))
        return note_time(c, t);
    return 0;
}

static int on_record(void *context, const struct report_record *record)
{
    return report_cells_take(context, record);
}

int report_cells_init(struct report_cells *c, const struct report_cells_options *options,
                      struct report_problems *problems)
{
    *c = (struct report_cells){.options = *options, .slice_ns = options->slice_ns};
    c->consumer = (struct report_consumer){.record = on_record, .context = c};
    c->batch = memory_alloc(BATCH * sizeof(*c->batch));
    report_log_init(&c->log);
    return report_defs_init(&c->defs, problems) || !c->batch ? -ENOMEM : 0;
}

void report_cells_fini(struct report_cells *c)
{
    memory_free_all(c->cells, c->sampled, c->joined, c->batch);
    index_free(&c->index);
    report_defs_fini(&c->defs);
    report_log_fini(&c->log);
}

void report_cells_window(struct report_cells *c, const struct report_window *window)
{
    c->window = window;
    c->windowed = c->windowed || window;
    c->recording = (struct report_recording){0, 0, 0, 0};
}

int report_cells_read(struct report_cells *c, const char *path)
{
    return report_log_read(path, &c->defs, &c->consumer, &c->log);
}

int report_cells_read_lines(struct report_cells *c, struct report_lines *lines, const char *file)
{
    return report_log_read_lines(lines, file, &c->defs, &c->consumer, &c->log);
}

/* ---- finishing ---- */

/* As struct report_logical_allocs has it: cells, one after the other. */
struct each_cell {
    const struct report_cells *cells;
    size_t at;
};

static bool next_cell(void *context, uint32_t *path, uint32_t *class_number)
{
    struct each_cell *e = context;

    if (e->at == e->cells->count)
        return false;
    *path = e->cells->cells[e->at].path;
    *class_number = e->cells->cells[e->at++].class_number;
    return true;
}

int report_cells_logical(struct report_cells *c)
{
    struct each_cell each = {c, 0};
    struct report_logical_allocs allocs = {.next = next_cell, .context = &each};
    uint32_t *map = NULL;
    int err = flush(c);

    if (!c->options.paths)
        return err;
    report_logical_known(&c->basis, &c->log, !c->windowed && !c->options.thread, &allocs);
    if (!err)
        err = report_logical(&c->defs, &allocs, &map);
    for (size_t i = 0; map && i < c->count; i++)
        c->cells[i].path = map[c->cells[i].path];
    memory_free(map);
    return err;
}

int report_cells_finish(struct report_cells *c)
{
    int err = flush(c);

    for (size_t i = 0; !err && i < c->count; i++)
        err = report_defs_plain(&c->defs, &c->cells[i].path);
    if (!err && c->options.event &&
        !(c->joined = memory_alloc((c->count + 1) * sizeof(*c->joined))))
        err = -ENOMEM;
    if (!err)
        err = join_cells(c);
    index_free(&c->index);
    return err;
}
