#include "model/model.h"

#include "report/estimate.h"
#include "report/logical.h"

#include "model/own.h"

#define BATCH      32 /* events whose cache misses overlap */
#define SLICES_MAX 65536

/* What is added up: 40 bytes. */
struct cell {
    struct model_cell key;
    double bytes, allocs;
};

/* Beside each cell once a log proves sampled. */
struct sampled {
    double bytes_variance, allocs_variance, bytes, allocs;
};

struct pending {
    struct cell cell;
    struct sampled sampled;
    uint64_t hash;
    struct model_event event; /* if somebody asks for events */
};

struct model {
    struct model_options options;
    struct report_defs defs;
    struct report_log log;
    struct report_consumer consumer;
    struct report_logical_basis basis;
    struct report_recording recording; /* of the log being read, if it has a window */
    const struct report_window *window;
    bool windowed; /* some log had one */
    struct cell *cells;
    struct sampled *sampled; /* NULL until the first weight */
    size_t count, capacity, sampled_capacity;
    struct index index;
    uint32_t *joined; /* by cell as events have it: its number; NULL: nobody asks */
    struct pending batch[BATCH];
    size_t batched;
    uint64_t slice_ns, duration;
    double heaps[SST_HEAP_COUNT][MODEL_WEIGHTS];
    const struct model_own *own;
    struct source_lines *lines;
    struct names *names[2]; /* shown, full */
    double *module_bytes;   /* by module; NULL without own */
    bool little_own;        /* own code makes next to nothing */
};

/* ---- adding up ---- */

static inline uint64_t cell_hash(const void *record)
{
    const struct model_cell *c = &((const struct cell *)record)->key;
    uint64_t rest = hash_mix((uint64_t)c->class_number << 32 | c->thread,
                             (uint64_t)c->slice << 32 | (uint32_t)c->heap << 16 |
                                 (uint32_t)c->size << 8 | c->unoptimised);

    return hash_mix((uint64_t)c->path << 32 | (uint32_t)c->il, rest);
}

static inline bool cell_equal(const void *record, const void *key)
{
    const struct model_cell *have = record, *want = key;

    return have->path == want->path && have->il == want->il &&
           have->class_number == want->class_number && have->thread == want->thread &&
           have->slice == want->slice && have->heap == want->heap && have->size == want->size &&
           have->unoptimised == want->unoptimised;
}

static int new_cell(struct model *m, const struct cell *cell, uint32_t *out)
{
    if (!array_reserve(&m->cells, &m->capacity, m->count + 1) ||
        (m->sampled && !array_reserve(&m->sampled, &m->sampled_capacity, m->count + 1)))
        return -ENOMEM;
    *out = (uint32_t)m->count++;
    m->cells[*out] = (struct cell){.key = cell->key};
    if (m->sampled)
        m->sampled[*out] = (struct sampled){0, 0, 0, 0};
    return 0;
}

static int add_one(struct model *m, const struct pending *p, uint32_t *out)
{
    static const struct index_kind kind = {sizeof(struct cell), cell_hash, cell_equal};
    size_t slot = 0;
    uint32_t number;

    if (index_reserve(&m->index, &kind, m->cells))
        return -ENOMEM;
    number = index_find(&m->index, &kind, m->cells, p->hash, &p->cell, &slot);
    if (UNLIKELY(number == INDEX_NONE)) {
        if (new_cell(m, &p->cell, &number))
            return -ENOMEM;
        index_put(&m->index, slot, number);
    }
    m->cells[number].bytes += p->cell.bytes;
    m->cells[number].allocs += p->cell.allocs;
    if (m->sampled) {
        m->sampled[number].bytes_variance += p->sampled.bytes_variance;
        m->sampled[number].allocs_variance += p->sampled.allocs_variance;
        m->sampled[number].bytes += p->sampled.bytes;
        m->sampled[number].allocs += p->sampled.allocs;
    }
    *out = number;
    return 0;
}

/* The same for whoever asked for events. */
static int add_event(struct model *m, struct pending *p)
{
    int err = add_one(m, p, &p->event.cell);

    return err || !m->options.event ? err : m->options.event(m->options.event_context, &p->event);
}

/*
 * Two passes, so that the misses of a whole batch are on their way at once: the slots (asked for
 * when the event came), then the cells they name, then the sums.
 */
static int flush(struct model *m)
{
    int err = 0;

    for (size_t i = 0; m->index.slots && i < m->batched; i++) {
        uint32_t guess = m->index.slots[m->batch[i].hash & m->index.mask];

        if (guess)
            __builtin_prefetch(&m->cells[guess - 1], 1);
    }
    for (size_t i = 0; !err && i < m->batched; i++)
        err = add_event(m, &m->batch[i]);
    m->batched = 0;
    return err;
}

/* Cells whose keys have become equal are brought together: in place, they only get fewer. */
static int join_cells(struct model *m)
{
    size_t count = m->count;
    uint32_t number = 0;
    int err = 0;

    index_clear(&m->index);
    m->count = 0;
    for (size_t i = 0; !err && i < count; i++) {
        struct pending p = {.cell = m->cells[i], .hash = cell_hash(&m->cells[i])};

        if (m->sampled)
            p.sampled = m->sampled[i];
        err = add_one(m, &p, &number);
        if (m->joined)
            m->joined[i] = number;
    }
    return err;
}

/* The first weight of a log: until here every event stood for itself. */
static int begin_estimates(struct model *m)
{
    int err = flush(m);
    size_t capacity = m->capacity ? m->capacity : 1;

    if (err)
        return err;
    m->sampled = memory_zalloc(capacity, sizeof(*m->sampled));
    if (!m->sampled)
        return -ENOMEM;
    m->sampled_capacity = capacity;
    for (size_t i = 0; i < m->count; i++) {
        m->sampled[i].bytes = m->cells[i].bytes;
        m->sampled[i].allocs = m->cells[i].allocs;
    }
    for (size_t heap = 0; heap < SST_HEAP_COUNT; heap++) {
        m->heaps[heap][MODEL_SEEN_BYTES] = m->heaps[heap][MODEL_BYTES];
        m->heaps[heap][MODEL_SAMPLED] = m->heaps[heap][MODEL_ALLOCS];
    }
    return 0;
}

/* ---- time ---- */

static unsigned slices_max(const struct model *m)
{
    unsigned most = m->options.dimensions.slices_max;

    return most ? most : SLICES_MAX;
}

/* Something happened at `t`. Slices grow until it lies in one. */
static int note_time(struct model *m, uint64_t t)
{
    unsigned halves = 0;
    int err = 0;

    if (t <= m->duration)
        return 0;
    m->duration = t;
    while (m->slice_ns && (t / m->slice_ns >> halves) >= slices_max(m))
        halves++;
    if (!halves)
        return 0;
    err = flush(m);
    m->slice_ns <<= halves;
    for (size_t i = 0; i < m->count; i++)
        m->cells[i].key.slice >>= halves;
    return err ? err : join_cells(m);
}

/* ---- reading ---- */

static uint8_t size_class(const struct report_alloc *a)
{
    uint64_t size = a->allocs ? a->bytes / a->allocs : 0;

    return size ? (uint8_t)(63 - __builtin_clzll(size)) : 0;
}

/* What the options ask for. Returns: as report_defs_alloc_path. */
static int key_of(struct model *m, const struct report_record *r, struct model_cell *key)
{
    const struct report_alloc *a = &r->alloc;
    int err = report_defs_alloc_path(&m->defs, a, r->at, &key->path);

    if (!err)
        err = UNLIKELY(a->class_id == 0)
                  ? report_defs_inline_class(&m->defs, a, &key->class_number)
                  : report_defs_class(&m->defs, a->class_id, r->at, &key->class_number);
    if (!err && m->options.dimensions.threads && a->thread) {
        err = report_defs_thread(&m->defs, a->thread, r->at, &key->thread);
        key->thread++; /* 0: not said */
    }
    key->il = report_alloc_il(a);
    key->unoptimised = a->unoptimised;
    if (m->slice_ns)
        key->slice = (uint32_t)(a->t / m->slice_ns);
    if (m->options.dimensions.sizes) {
        key->heap = (uint8_t)a->heap;
        key->size = size_class(a);
    }
    return err;
}

static void add_heap(struct model *m, enum sst_heap heap, const struct pending *p)
{
    double *sums = m->heaps[heap];

    sums[MODEL_BYTES] += p->cell.bytes;
    sums[MODEL_ALLOCS] += p->cell.allocs;
    if (p->cell.key.unoptimised)
        sums[MODEL_UNOPTIMISED] += p->cell.bytes;
    sums[MODEL_BYTES_VARIANCE] += p->sampled.bytes_variance;
    sums[MODEL_ALLOCS_VARIANCE] += p->sampled.allocs_variance;
    sums[MODEL_SEEN_BYTES] += p->sampled.bytes;
    sums[MODEL_SAMPLED] += p->sampled.allocs;
}

/* The allocation by itself, for whoever asked. */
static void note_event(const struct model *m, const struct report_record *r, struct pending *p)
{
    const struct report_alloc *a = &r->alloc;
    uint32_t thread = a->thread ? report_ids_get(&m->defs.thread_ids, a->thread) : 0;

    p->event = (struct model_event){.t = a->t,
                                    .bytes = p->cell.bytes,
                                    .allocs = p->cell.allocs,
                                    .thread = thread ? m->defs.threads[thread - 1].os : 0,
                                    .large = a->heap == SST_HEAP_LARGE,
                                    .site = r->kind == SST_KIND_SITE};
}

static int on_alloc(struct model *m, const struct report_record *r)
{
    const struct report_alloc *a = &r->alloc;
    struct pending *p;
    int err = UNLIKELY(a->weight > 0 && !m->sampled) ? begin_estimates(m) : 0;

    if (!err)
        err = note_time(m, a->t);
    p = &m->batch[m->batched];
    *p = (struct pending){.cell.bytes = (double)a->bytes, .cell.allocs = (double)a->allocs};
    if (!err)
        err = key_of(m, r, &p->cell.key);
    if (UNLIKELY(err))
        return err;
    if (UNLIKELY(m->sampled != NULL)) {
        struct report_estimate e;

        report_estimate_of(a, &e);
        p->sampled =
            (struct sampled){e.bytes_variance, e.allocs_variance, p->cell.bytes, p->cell.allocs};
        p->cell.bytes = e.bytes;
        p->cell.allocs = e.allocs;
    }
    if (UNLIKELY(m->options.event != NULL))
        note_event(m, r, p);
    add_heap(m, a->heap, p);
    p->hash = cell_hash(&p->cell);
    if (LIKELY(m->index.slots != NULL))
        __builtin_prefetch(&m->index.slots[p->hash & m->index.mask]);
    return ++m->batched == BATCH ? flush(m) : 0;
}

static bool within(const struct model *m, const struct report_record *r)
{
    const struct report_moment at = {m->recording.number, r->alloc.t, r->at.line};

    return report_window_has(m->window, &at);
}

static int on_record(void *context, const struct report_record *record)
{
    struct model *m = context;
    uint64_t t;

    if (LIKELY(record->kind == SST_KIND_ALLOC || record->kind == SST_KIND_SITE))
        return UNLIKELY(m->window != NULL) && !within(m, record) ? 0 : on_alloc(m, record);
    report_logical_note(&m->basis, record);
    if (record->kind == SST_KIND_HEADER)
        report_recording_next(&m->recording, record->json);
    if (record->kind == SST_KIND_END && !report_member_count(record->json, "t", &t))
        return note_time(m, t);
    return 0;
}

int model_new(const struct model_options *options, struct report_problems *problems,
              struct model **out)
{
    struct model *m = memory_zalloc(1, sizeof(*m));

    *out = NULL;
    if (!m)
        return -ENOMEM;
    m->options = *options;
    m->slice_ns = options->dimensions.slice_ns;
    m->consumer = (struct report_consumer){.record = on_record,
                                           .context = m,
                                           .progress = options->progress,
                                           .progress_context = options->progress_context};
    report_log_init(&m->log);
    m->log.jobs = options->jobs;
    if (report_defs_init(&m->defs, problems)) {
        model_free(m);
        return -ENOMEM;
    }
    *out = m;
    return 0;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    memory_free_all(m->cells, m->sampled, m->module_bytes, m->joined);
    index_free(&m->index);
    report_defs_fini(&m->defs);
    report_log_fini(&m->log);
    memory_free(m);
}

static void begin_reading(struct model *m, const struct report_window *window)
{
    m->window = window;
    m->windowed = m->windowed || window;
    m->recording = (struct report_recording){0, 0, 0, 0};
}

int model_read(struct model *m, const char *path, const struct report_window *window)
{
    begin_reading(m, window);
    return report_log_read(path, &m->defs, &m->consumer, &m->log);
}

int model_read_lines(struct model *m, struct report_lines *lines, const char *file,
                     const struct report_window *window)
{
    begin_reading(m, window);
    return report_log_read_lines(lines, file, &m->defs, &m->consumer, &m->log);
}

/* ---- finishing ---- */

/* As struct report_logical_allocs has it: cells, one after the other. */
struct each_cell {
    const struct model *model;
    size_t at;
};

static bool next_cell(void *context, uint32_t *path, uint32_t *class_number)
{
    struct each_cell *e = context;

    if (e->at == e->model->count)
        return false;
    *path = e->model->cells[e->at].key.path;
    *class_number = e->model->cells[e->at++].key.class_number;
    return true;
}

static int make_logical(struct model *m)
{
    struct each_cell each = {m, 0};
    struct report_logical_allocs allocs = {.next = next_cell, .context = &each};
    uint32_t *map = NULL;
    int err;

    report_logical_known(&m->basis, &m->log, !m->windowed, &allocs);
    err = report_logical(&m->defs, &allocs, &map);
    for (size_t i = 0; map && i < m->count; i++)
        m->cells[i].key.path = map[m->cells[i].key.path];
    memory_free(map);
    return err;
}

uint32_t model_event_cell(const struct model *m, uint32_t cell)
{
    return m->joined[cell];
}

int model_finish(struct model *m)
{
    int err = flush(m);

    if (!err && !m->options.physical)
        err = make_logical(m);
    for (size_t i = 0; !err && i < m->count; i++)
        err = report_defs_plain(&m->defs, &m->cells[i].key.path);
    if (!err && m->options.event &&
        !(m->joined = memory_alloc((m->count + 1) * sizeof(*m->joined))))
        err = -ENOMEM;
    if (!err)
        err = join_cells(m);
    index_free(&m->index);
    return err;
}

/* Bytes by the module of the innermost frame that is no framework. */
static int add_modules(struct model *m)
{
    uint32_t *modules = memory_zalloc(m->defs.path_count, sizeof(*modules)); /* by path */

    m->module_bytes = memory_zalloc(m->defs.modules.count, sizeof(*m->module_bytes));
    if (!modules || !m->module_bytes) {
        memory_free(modules);
        return -ENOMEM;
    }
    for (uint32_t path = REPORT_PATH_LOST + 1; path < m->defs.path_count; path++) {
        const struct report_path *p = report_path(&m->defs, path);

        modules[path] = model_own_of_method(m->own, p->method) == MODEL_FRAMEWORK
                            ? modules[p->parent]
                            : report_method(&m->defs, p->method)->module;
    }
    for (size_t i = 0; i < m->count; i++)
        m->module_bytes[modules[m->cells[i].key.path]] += m->cells[i].bytes;
    memory_free(modules);
    return 0;
}

int model_know(struct model *m, const struct model_own *own, struct source_lines *lines)
{
    uint32_t nearest[MODEL_OWN_NEAREST];
    int err;

    m->own = own;
    m->lines = lines;
    memory_free(m->module_bytes);
    m->module_bytes = NULL;
    if (!own)
        return 0;
    err = add_modules(m);
    m->little_own = !err && model_own_nearest(own, m->module_bytes, nearest) > 0;
    return err;
}

void model_call(struct model *m, struct names *shown, struct names *full)
{
    m->names[false] = shown;
    m->names[true] = full;
}

/* ---- what there is ---- */

struct names *model_names(const struct model *m, bool full)
{
    return m->names[full];
}

const struct report_defs *model_defs(const struct model *m)
{
    return &m->defs;
}

const struct report_log *model_log(const struct model *m)
{
    return &m->log;
}

const struct model_own *model_own_code(const struct model *m)
{
    return m->own;
}

struct source_lines *model_source_lines(const struct model *m)
{
    return m->lines;
}

const double *model_module_bytes(const struct model *m)
{
    return m->module_bytes;
}

bool model_is_near(const struct model *m, uint32_t method)
{
    enum model_owner owner = m->own ? model_own_of_method(m->own, method) : MODEL_FRAMEWORK;

    return owner == MODEL_OWN || (m->little_own && owner == MODEL_PACKAGE);
}

bool model_estimated(const struct model *m)
{
    return m->sampled != NULL;
}

size_t model_cell_count(const struct model *m)
{
    return m->count;
}

const struct model_cell *model_cell(const struct model *m, size_t i)
{
    return &m->cells[i].key;
}

double model_cell_weight(const struct model *m, size_t i, enum model_weight weight)
{
    switch (weight) {
    case MODEL_BYTES:
        return m->cells[i].bytes;
    case MODEL_ALLOCS:
        return m->cells[i].allocs;
    case MODEL_UNOPTIMISED:
        return m->cells[i].key.unoptimised ? m->cells[i].bytes : 0;
    case MODEL_BYTES_VARIANCE:
        return m->sampled ? m->sampled[i].bytes_variance : 0;
    case MODEL_ALLOCS_VARIANCE:
        return m->sampled ? m->sampled[i].allocs_variance : 0;
    case MODEL_SEEN_BYTES:
        return m->sampled ? m->sampled[i].bytes : 0;
    case MODEL_SAMPLED:
        return m->sampled ? m->sampled[i].allocs : 0;
    default:
        return 0;
    }
}

double model_heap_weight(const struct model *m, enum sst_heap heap, enum model_weight weight)
{
    return m->heaps[heap][weight];
}

double model_weight_total(const struct model *m, enum model_weight weight)
{
    double total = 0;

    for (size_t heap = 0; heap < SST_HEAP_COUNT; heap++)
        total += m->heaps[heap][weight];
    return total;
}

bool model_has_weight(const struct model *m, enum model_weight weight)
{
    return model_weight_total(m, weight) > 0;
}

unsigned model_slice_count(const struct model *m)
{
    return m->slice_ns ? (unsigned)(m->duration / m->slice_ns) + 1 : 1;
}

uint64_t model_slice_ns(const struct model *m)
{
    return m->slice_ns;
}

uint64_t model_duration_ns(const struct model *m)
{
    return m->duration;
}
