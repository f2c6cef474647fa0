#include "report/cells.h"

#include "readers/header.h"
#include "report/estimate.h"

#define BATCH      32 /* events whose cache misses overlap */
#define SLICES_MAX 65536

struct report_cell_pending {
    struct report_cell cell;
    struct report_cell_sampled sampled;
    struct report_live_sums live;
    struct report_live_spread spread;
    uint64_t hash;
    struct report_cell_event event; /* if events are wanted */
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

static int new_cell(struct report_cells *c, const struct report_cell *cell, uint32_t *out)
{
    if (!array_reserve(&c->cells, &c->capacity, c->count + 1) ||
        (c->sampled && !array_reserve(&c->sampled, &c->sampled_capacity, c->count + 1)) ||
        (c->lives && !array_reserve(&c->lives, &c->lives_capacity, c->count + 1)) ||
        (c->spreads && !array_reserve(&c->spreads, &c->spreads_capacity, c->count + 1)))
        return -ENOMEM;
    *out = (uint32_t)c->count++;
    c->cells[*out] = *cell;
    c->cells[*out].bytes = c->cells[*out].allocs = 0;
    if (c->sampled)
        c->sampled[*out] = (struct report_cell_sampled){0, 0, 0, 0};
    if (c->lives)
        c->lives[*out] = (struct report_live_sums){0, 0, 0, 0};
    if (c->spreads)
        c->spreads[*out] = (struct report_live_spread){.variance = 0};
    return 0;
}

static void add_live(struct report_live_sums *to, const struct report_live_sums *more)
{
    to->bytes += more->bytes;
    to->allocs += more->allocs;
    to->beside_bytes += more->beside_bytes;
    to->beside_allocs += more->beside_allocs;
}

static void add_spread(struct report_live_spread *to, const struct report_live_spread *more)
{
    to->variance += more->variance;
    to->beside_variance += more->beside_variance;
    to->less_bytes += more->less_bytes;
    to->of_variance += more->of_variance;
    to->less_variance += more->less_variance;
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
        report_cell_sampled_add(&c->sampled[number], &p->sampled);
    if (c->lives)
        add_live(&c->lives[number], &p->live);
    if (c->spreads)
        add_spread(&c->spreads[number], &p->spread);
    *out = number;
    return 0;
}

/* The same if events are wanted. */
static int add_event(struct report_cells *c, struct report_cell_pending *p)
{
    int err = add_one(c, p, &p->event.cell);

    return err || !c->options.event ? err : c->options.event(c->options.event_context, &p->event);
}

/*
 * Two passes, so that the misses of a whole batch are on their way at once: the slots (asked for
 * when the event came), then the cells they name, then the sums.
 */
int report_cells_flush(struct report_cells *c)
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
        if (c->lives)
            p.live = c->lives[i];
        if (c->spreads)
            p.spread = c->spreads[i];
        err = add_one(c, &p, &number);
        if (c->joined)
            c->joined[i] = number;
    }
    return err;
}

/*
 * Room for something of each cell, zeroed: as much as there is of cells now, so that those of the
 * batch have to be among them before.
 */
static void *beside_cells(const struct report_cells *c, size_t size, size_t *capacity)
{
    *capacity = c->capacity ? c->capacity : 1;
    return memory_zalloc(*capacity, size);
}

/* The first weight of a log: until here every event stood for itself. */
static int begin_estimates(struct report_cells *c)
{
    int err = report_cells_flush(c);

    if (err)
        return err;
    c->sampled = beside_cells(c, sizeof(*c->sampled), &c->sampled_capacity);
    if (!c->sampled)
        return -ENOMEM;
    for (size_t i = 0; i < c->count; i++) {
        c->sampled[i].bytes = c->cells[i].bytes;
        c->sampled[i].allocs = c->cells[i].allocs;
    }
    for (size_t heap = 0; heap < SST_HEAP_COUNT; heap++) {
        struct report_cell_sum *sum = &c->heaps[heap];

        sum->sampled.bytes = sum->bytes;
        sum->sampled.allocs = sum->allocs;
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
    while (c->slice_ns && ((c->ahead + t) / c->slice_ns >> halves) >= slices_max(c))
        halves++;
    if (!halves)
        return 0;
    err = report_cells_flush(c);
    c->slice_ns <<= halves;
    for (size_t i = 0; i < c->count; i++)
        c->cells[i].slice =
            (uint32_t)((uint64_t)c->cells[i].slice >> halves); /* over 31 at times */
    return err ? err : join_cells(c);
}

/* ---- reading ---- */

static uint8_t size_class(const struct log_alloc *a)
{
    uint64_t size = a->allocs ? a->bytes / a->allocs : 0;

    return size ? (uint8_t)(63 - __builtin_clzll(size)) : 0;
}

/* What the options ask for. Returns: as log_defs_alloc_path. */
static int key_of(struct report_cells *c, const struct log_record *r, struct report_cell *key)
{
    const struct report_cells_options *o = &c->options;
    const struct log_alloc *a = &r->alloc;
    int err = o->paths ? log_defs_alloc_path(&c->defs, a, r->at, &key->path) : 0;

    if (!err && o->types)
        err = UNLIKELY(a->class_id == 0)
                  ? log_defs_inline_class(&c->defs, a, &key->class_number)
                  : log_defs_class(&c->defs, a->class_id, r->at, &key->class_number);
    if (!err && o->threads && a->thread) {
        err = log_defs_thread(&c->defs, a->thread, r->at, &key->thread);
        key->thread++; /* 0: not said */
    }
    if (o->processes)
        key->process = (uint32_t)c->processes.count;
    key->il = o->ils ? log_defs_alloc_il(&c->defs, a) : LOG_NO_IL;
    key->unoptimised = a->unoptimised;
    if (c->slice_ns)
        key->slice = (uint32_t)((c->ahead + a->t) / c->slice_ns);
    if (o->sizes) {
        key->heap = (uint8_t)a->heap;
        key->size = size_class(a);
    }
    return err;
}

static void weigh(const struct log_alloc *a, struct report_cell_pending *p)
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
    report_cell_sampled_add(&sum->sampled, &p->sampled);
    if (p->cell.unoptimised)
        sum->unoptimised += p->cell.bytes;
}

/* The single allocation, for the callback. */
static void note_event(const struct report_cells *c, const struct log_record *r,
                       struct report_cell_pending *p)
{
    const struct log_alloc *a = &r->alloc;
    uint32_t thread = a->thread ? log_id_map_get(&c->defs.thread_ids, a->thread) : 0;

    p->event = (struct report_cell_event){.t = a->t,
                                          .bytes = p->cell.bytes,
                                          .allocs = p->cell.allocs,
                                          .thread = thread ? c->defs.threads[thread - 1].os : 0,
                                          .large = a->heap == SST_HEAP_LARGE,
                                          .site = r->kind == SST_KIND_SITE};
}

/* What a question asks of an allocation beside its own sums. */
static void weigh_live(const struct report_cells *c, const struct log_record *r,
                       struct report_cell_pending *p)
{
    enum report_live_question question = c->options.live;
    enum report_live_when when = report_live_when(&c->live, r);

    if ((when == REPORT_LIVE_BEHIND && question == REPORT_LIVE_END) ||
        (when == REPORT_LIVE_WITHIN &&
         (question == REPORT_LIVE_TEMPORARY || question == REPORT_LIVE_LIFETIMES))) {
        p->live = (struct report_live_sums){0, 0, p->cell.bytes, p->cell.allocs};
        p->spread = (struct report_live_spread){.beside_variance = p->sampled.bytes_variance,
                                                .of_variance = p->sampled.bytes_variance};
    }
    if (c->options.instead && when != REPORT_LIVE_WITHIN) {
        p->cell.bytes = p->cell.allocs = 0; /* LIFETIMES: what is left is what it asks for */
        p->sampled = (struct report_cell_sampled){0, 0, 0, 0};
    }
}

static int on_alloc(struct report_cells *c, const struct log_record *r)
{
    const struct log_alloc *a = &r->alloc;
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
    if (c->lives)
        weigh_live(c, r, p);
    add_sum(&c->heaps[a->heap], p);
    p->hash = cell_hash(&p->cell);
    if (LIKELY(c->index.slots != NULL))
        __builtin_prefetch(&c->index.slots[p->hash & c->index.mask]);
    return ++c->batched == BATCH ? report_cells_flush(c) : 0;
}

static bool within(const struct report_cells *c, const struct log_record *r)
{
    const struct log_moment at = {c->recording.number, r->alloc.t, r->at.line};

    return log_window_has(c->window, &at);
}

/* The first log that says what is alive: until here there was nothing to keep. */
static int begin_lives(struct report_cells *c)
{
    int err = report_cells_flush(c);

    if (err || !c->options.live)
        return err;
    if (!c->lives)
        c->lives = beside_cells(c, sizeof(*c->lives), &c->lives_capacity);
    if (c->live.more && !c->spreads)
        c->spreads = beside_cells(c, sizeof(*c->spreads), &c->spreads_capacity);
    return c->lives && (c->spreads || !c->live.more) ? 0 : -ENOMEM;
}

/* How long a slice of the clock on the wall had lasted when the recording began. */
static uint64_t ahead_of(const struct report_cells *c, const json_t *header)
{
    const uint64_t second = 1000000000;
    time_t started = log_started(header);

    if (!c->options.by_clock || c->slice_ns < second || started < 0)
        return 0;
    return (uint64_t)started % (c->options.slice_ns / second) * second;
}

static int on_header(struct report_cells *c, const json_t *header)
{
    const json_t *options = json_object_get(header, "options");

    if (log_recording_next(&c->recording, header) && report_processes_begin(&c->processes, header))
        return -ENOMEM;
    if (report_live_recording(&c->live, c->recording.number, header))
        return -ENOMEM;
    c->ahead = ahead_of(c, header);
    return c->options.instead || json_is_true(json_object_get(options, "live")) ? begin_lives(c)
                                                                                : 0;
}

static int on_live(struct report_cells *c, const struct log_record *r)
{
    int err = c->lives ? 0 : begin_lives(c);

    if (!err)
        err = report_live_take(&c->live, &c->defs, r);
    if (err || r->kind != SST_KIND_LIVE_TOTAL || !c->lives || c->live.spans)
        return err;
    err = report_cells_flush(c); /* what was allocated so far was before it */
    for (size_t i = 0; i < c->count; i++)
        c->lives[i] = (struct report_live_sums){0, 0, 0, 0};
    for (size_t i = 0; c->spreads && i < c->count; i++)
        c->spreads[i] = (struct report_live_spread){.variance = 0};
    return err;
}

int report_cells_take(struct report_cells *c, const struct log_record *record)
{
    uint64_t t;

    if (LIKELY(record->kind == SST_KIND_ALLOC || record->kind == SST_KIND_SITE))
        return UNLIKELY(c->window != NULL) && !within(c, record) ? 0 : on_alloc(c, record);
    report_logical_note(&c->basis, record);
    if (record->kind == SST_KIND_LIVE || record->kind == SST_KIND_LIVE_SITE ||
        record->kind == SST_KIND_LIVE_TOTAL)
        return on_live(c, record);
    if (record->kind == SST_KIND_HEADER)
        return on_header(c, record->json);
    if (record->kind == SST_KIND_CONFIG || record->kind == SST_KIND_END)
        report_live_mean(&c->live, record);
    if (record->kind == SST_KIND_END && !log_member_count(record->json, "t", &t)) {
        report_processes_end(&c->processes, t);
        return note_time(c, t);
    }
    return 0;
}

static int on_record(void *context, const struct log_record *record)
{
    return report_cells_take(context, record);
}

int report_cells_init(struct report_cells *c, const struct report_cells_options *options,
                      struct log_problems *problems)
{
    *c = (struct report_cells){.options = *options, .slice_ns = options->slice_ns};
    c->consumer = (struct log_consumer){.record = on_record, .context = c};
    c->batch = memory_alloc(BATCH * sizeof(*c->batch));
    log_input_init(&c->log);
    report_live_init(&c->live, options->live);
    if (log_defs_init(&c->defs, problems) || !c->batch)
        return -ENOMEM;
    c->defs.physical = options->physical;
    return 0;
}

void report_cells_fini(struct report_cells *c)
{
    memory_free_all(c->cells, c->sampled, c->lives, c->spreads, c->joined, c->batch);
    report_live_fini(&c->live);
    index_free(&c->index);
    log_defs_fini(&c->defs);
    report_processes_fini(&c->processes);
    log_input_fini(&c->log);
}

void report_cells_window(struct report_cells *c, const struct log_window *window)
{
    c->window = window;
    c->windowed = c->windowed || window;
    c->recording = (struct log_recording){0, 0, 0, 0};
}

void report_cells_ask(struct report_cells *c, enum report_live_question question)
{
    c->options.live = c->live.question = question;
    c->options.instead = question != REPORT_LIVE_NONE;
}

void report_cells_spans(struct report_cells *c, const struct report_live_spans *spans)
{
    report_live_begin(&c->live, spans);
}

int report_cells_read(struct report_cells *c, const char *path)
{
    return log_input_read(path, &c->defs, &c->consumer, &c->log);
}

int report_cells_read_lines(struct report_cells *c, struct log_lines *lines, const char *file)
{
    return log_input_read_lines(lines, file, &c->defs, &c->consumer, &c->log);
}

int report_cells_put(struct report_cells *c, const struct log_record *record)
{
    return log_input_take(&c->log, &c->defs, &c->consumer, record);
}

int report_cells_forget(struct report_cells *c, uint32_t slice)
{
    int err = report_cells_flush(c);
    size_t kept = 0;

    for (size_t i = 0; !err && i < c->count; i++) {
        if (c->cells[i].slice < slice)
            continue;
        c->cells[kept] = c->cells[i];
        if (c->sampled)
            c->sampled[kept] = c->sampled[i];
        kept++;
    }
    if (err || kept == c->count)
        return err;
    c->count = kept;
    return join_cells(c);
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

/* What is known of sites, or of cells, is of those that they have become. */
static void renumber(struct report_live *live, const uint32_t *now)
{
    for (size_t i = 0; i < live->death_count; i++)
        live->deaths[i].number = now[live->deaths[i].number];
    for (size_t i = 0; i < live->growing_count; i++)
        live->growing[i].site = now[live->growing[i].site];
    for (size_t i = 0; i < live->change_count; i++)
        if (live->changes[i].site != UINT32_MAX)
            live->changes[i].site = now[live->changes[i].site];
}

/* What is known by site goes into cells. */
static int settle_live(struct report_cells *c)
{
    uint32_t *cells = NULL; /* by site */
    int err = 0;

    report_live_end(&c->live);
    if (c->live_settled || !c->live.count || !c->lives)
        return 0;
    c->live_settled = true;
    cells = memory_alloc(c->live.count * sizeof(*cells));
    if (!cells)
        return -ENOMEM;
    for (size_t i = 0; !err && i < c->live.count; i++) {
        const struct report_live_site *site = &c->live.sites[i];
        const struct report_cells_options *o = &c->options;
        struct report_cell_pending p = {.cell = {.path = o->paths ? site->path : LOG_PATH_EMPTY,
                                                 .il = o->ils ? site->il : LOG_NO_IL,
                                                 .class_number = o->types ? site->class_number : 0,
                                                 .unoptimised = site->unoptimised},
                                        .live = report_live_sums_of(&c->live, site),
                                        .spread = report_live_spread_of(&c->live, i)};

        p.hash = cell_hash(&p.cell);
        err = add_one(c, &p, &cells[i]);
    }
    if (!err)
        renumber(&c->live, cells);
    memory_free(cells);
    report_live_forget(&c->live);
    return err;
}

int report_cells_logical(struct report_cells *c)
{
    struct each_cell each = {c, 0};
    struct report_logical_allocs allocs = {.next = next_cell, .context = &each};
    uint32_t *map = NULL;
    int err = report_cells_flush(c);

    if (!err)
        err = settle_live(c);
    if (err || !c->options.paths)
        return err;
    report_logical_known(&c->basis, &c->log, !c->windowed, &allocs);
    if (!err)
        err = report_logical(&c->defs, &allocs, &map);
    for (size_t i = 0; map && i < c->count; i++)
        c->cells[i].path = map[c->cells[i].path];
    memory_free(map);
    return err;
}

static void note_kept(struct report_live *live, size_t cell, size_t kept)
{
    for (size_t i = 0; i < live->growing_count; i++)
        if (live->growing[i].site == cell)
            live->growing[i].cell = (uint32_t)kept;
}

/*
 * How good what stands in place of an estimate is: LIFETIMES' is what was allocated. Objects are
 * known as well as bytes if they are of one size; how many samples it rests on is not known.
 */
static void sample_instead(const struct report_cells *c, size_t i)
{
    const struct report_cell *cell = &c->cells[i];
    double variance = c->spreads ? c->spreads[i].of_variance + c->spreads[i].less_variance : 0;
    double size = cell->allocs > 0 ? cell->bytes / cell->allocs : 0;

    if (c->options.live == REPORT_LIVE_LIFETIMES)
        return;
    c->sampled[i] = (struct report_cell_sampled){
        .bytes_variance = variance,
        .allocs_variance = size > 0 ? variance / (size * size) : 0,
        .allocs = variance > 0 && cell->allocs >= 1 ? 1 : 0,
    };
}

/* Replaces the allocated amounts of cells; cells without an amount are removed. */
static int put_instead(struct report_cells *c)
{
    struct report_cell_sum *sum = &c->heaps[SST_HEAP_NORMAL];
    size_t kept = 0;
    int err = !c->sampled && c->live_spread.of_variance > 0 ? begin_estimates(c) : 0;

    if (err)
        return err;
    memset(c->heaps, 0, sizeof(c->heaps));
    for (size_t i = 0; i < c->count; i++) {
        const struct report_live_sums *live = &c->lives[i];
        struct report_cell *cell = &c->cells[i];

        switch (c->options.live) {
        case REPORT_LIVE_END:
            cell->bytes = live->bytes + live->beside_bytes;
            cell->allocs = live->allocs + live->beside_allocs;
            break;
        case REPORT_LIVE_GROWN:
            cell->bytes = live->bytes - live->beside_bytes;
            cell->allocs = live->allocs - live->beside_allocs;
            break;
        case REPORT_LIVE_TEMPORARY:
            cell->bytes = live->beside_bytes;
            cell->allocs = live->beside_allocs;
            break;
        case REPORT_LIVE_LIFETIMES:
            break;
        default:
            cell->bytes = live->bytes;
            cell->allocs = live->allocs;
            break;
        }
        sum->bytes += cell->bytes;
        sum->allocs += cell->allocs;
        sum->unoptimised += cell->unoptimised ? cell->bytes : 0;
        if (c->sampled) {
            sample_instead(c, i);
            report_cell_sampled_add(&sum->sampled, &c->sampled[i]);
        }
        if (cell->allocs != 0 || live->allocs != 0 || live->beside_allocs != 0 ||
            c->live.death_count) {
            c->lives[kept] = *live;
            if (c->spreads)
                c->spreads[kept] = c->spreads[i];
            if (c->sampled)
                c->sampled[kept] = c->sampled[i];
            note_kept(&c->live, i, kept);
            c->cells[kept++] = *cell;
        }
    }
    c->count = kept;
    return 0;
}

int report_cells_finish(struct report_cells *c)
{
    int err = report_cells_flush(c);

    if (!err)
        err = settle_live(c);

    for (size_t i = 0; !err && i < c->count; i++)
        err = log_defs_plain(&c->defs, &c->cells[i].path);
    if (!err &&
        (c->options.event || c->live.death_count || c->live.growing_count ||
         c->live.change_count) &&
        !(c->joined = memory_alloc((c->count + 1) * sizeof(*c->joined))))
        err = -ENOMEM;
    if (!err)
        err = join_cells(c);
    if (!err)
        renumber(&c->live, c->joined);
    for (size_t i = 0; !err && c->lives && i < c->count; i++)
        add_live(&c->live_sum, &c->lives[i]);
    for (size_t i = 0; !err && c->spreads && i < c->count; i++)
        add_spread(&c->live_spread, &c->spreads[i]);
    if (!err && c->lives && c->options.instead)
        err = put_instead(c);
    index_free(&c->index);
    return err;
}
