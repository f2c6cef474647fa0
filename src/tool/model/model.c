#include "model/model.h"

#include "report/cells.h"

#include "model/own.h"
#include "readers/header.h"

struct model {
    struct report_cells *cells; /* `read`, or the caller's */
    struct report_cells read;
    bool physical;
    const struct model_own *own;
    struct source_lines *lines;
    struct names *names[2]; /* shown, full */
    double *module_bytes;   /* by module; NULL without own */
    uint8_t *once;          /* by path; NULL: not known */
    uint32_t once_count;
    double once_bytes;
    bool little_own; /* own code makes next to nothing */
    bool has_calls;
    uint32_t calls_thread;
    struct report_call_times calls;
};

/* ---- reading ---- */

static int on_record(void *context, const struct log_record *r)
{
    struct model *m = context;

    if (LIKELY(r->kind != SST_KIND_CALLS))
        return report_cells_take(m->cells, r);
    if (m->cells->window || (m->calls_thread && r->calls.thread != m->calls_thread))
        return 0;
    return report_call_times_take(&m->calls, &r->calls);
}

static void ask_calls(struct model *m, uint32_t thread)
{
    m->has_calls = true;
    m->calls_thread = thread;
    report_call_times_init(&m->calls, &m->cells->defs);
    m->cells->consumer.record = on_record;
    m->cells->consumer.context = m;
}

const struct report_call_times *model_calls(const struct model *m)
{
    return m->has_calls ? &m->calls : NULL;
}

int model_new(const struct model_options *options, struct log_problems *problems,
              struct model **out)
{
    const struct model_dimensions *d = &options->dimensions;
    const struct report_cells_options cells = {.paths = !d->no_paths,
                                               .ils = !d->no_paths,
                                               .types = true,
                                               .threads = d->threads,
                                               .processes = d->processes,
                                               .sizes = d->sizes,
                                               .slice_ns = d->slice_ns,
                                               .slices_max = d->slices_max,
                                               .by_clock = d->by_clock,
                                               .physical = options->physical,
                                               .live = options->live,
                                               .instead = options->instead,
                                               .event = options->event,
                                               .event_context = options->event_context};
    struct model *m = memory_zalloc(1, sizeof(*m));

    *out = NULL;
    if (!m)
        return -ENOMEM;
    m->physical = options->physical;
    m->cells = &m->read;
    if (report_cells_init(m->cells, &cells, problems)) {
        model_free(m);
        return -ENOMEM;
    }
    m->cells->live.keeps_changes = options->changes;
    m->cells->log.jobs = options->jobs;
    m->cells->consumer.progress = options->progress;
    m->cells->consumer.progress_context = options->progress_context;
    if (options->calls)
        ask_calls(m, options->calls_thread);
    *out = m;
    return 0;
}

int model_of_cells(struct report_cells *cells, struct model **out)
{
    struct model *m = memory_zalloc(1, sizeof(*m));

    *out = m;
    if (m)
        m->cells = cells;
    return m ? 0 : -ENOMEM;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    if (m->cells == &m->read)
        report_cells_fini(m->cells);
    if (m->has_calls)
        report_call_times_fini(&m->calls);
    memory_free_all(m->module_bytes, m->once, m);
}

void model_spans(struct model *m, const struct report_live_spans *spans)
{
    report_cells_spans(m->cells, spans);
}

void model_ask_nothing(struct model *m)
{
    report_cells_ask(m->cells, REPORT_LIVE_NONE);
}

int model_read(struct model *m, const char *path, const struct log_window *window)
{
    int err;

    report_cells_window(m->cells, window);
    err = report_cells_read(m->cells, path);
    if (m->has_calls)
        report_call_times_finish(&m->calls);
    return err;
}

int model_read_lines(struct model *m, struct log_lines *lines, const char *file,
                     const struct log_window *window)
{
    report_cells_window(m->cells, window);
    return report_cells_read_lines(m->cells, lines, file);
}

struct report_cells *model_cells(struct model *m)
{
    return m->cells;
}

int model_finish(struct model *m)
{
    int err = m->physical ? 0 : report_cells_logical(m->cells);

    return err ? err : report_cells_finish(m->cells);
}

/* Bytes by the module of the innermost frame that is no framework. */
static int add_modules(struct model *m)
{
    uint32_t *modules = memory_zalloc(m->cells->defs.path_count, sizeof(*modules)); /* by path */

    m->module_bytes = memory_zalloc(m->cells->defs.modules.count, sizeof(*m->module_bytes));
    if (!modules || !m->module_bytes) {
        memory_free(modules);
        return -ENOMEM;
    }
    for (uint32_t path = LOG_PATH_LOST + 1; path < m->cells->defs.path_count; path++) {
        const struct log_call_path *p = log_call_path(&m->cells->defs, path);

        modules[path] = model_own_of_method(m->own, p->method) == MODEL_FRAMEWORK
                            ? modules[p->parent]
                            : log_method(&m->cells->defs, p->method)->module;
    }
    for (size_t i = 0; i < m->cells->count; i++)
        m->module_bytes[modules[m->cells->cells[i].path]] += m->cells->cells[i].bytes;
    memory_free(modules);
    return 0;
}

/* What the runtime calls as a program starts, before Main. */
static bool runs_once(const char *method)
{
    static const char *const startup[] = {"System.AppContext.Setup(",
                                          "System.StartupHookProvider.ManagedStartup("};

    for (size_t i = 0; i < COUNT_OF(startup); i++)
        if (strncmp(method, startup[i], strlen(startup[i])) == 0)
            return true;
    return strstr(method, "..cctor(") != NULL;
}

static int find_once(struct model *m)
{
    const struct log_defs *d = &m->cells->defs;
    bool *methods = memory_zalloc(d->methods.count, sizeof(*methods));

    memory_free(m->once);
    m->once = memory_zalloc(d->path_count, sizeof(*m->once));
    m->once_count = (uint32_t)d->path_count;
    m->once_bytes = 0;
    if (!methods || !m->once) {
        memory_free(methods);
        return -ENOMEM;
    }
    for (uint32_t i = 1; i < d->methods.count; i++)
        methods[i] = runs_once(log_method(d, i)->name);
    for (uint32_t path = LOG_PATH_LOST + 1; path < d->path_count; path++) {
        const struct log_call_path *p = log_call_path(d, path);

        m->once[path] = m->once[p->parent] || methods[p->method];
    }
    for (size_t i = 0; i < m->cells->count; i++)
        m->once_bytes += m->once[m->cells->cells[i].path] ? m->cells->cells[i].bytes : 0;
    memory_free(methods);
    return 0;
}

bool model_path_once(const struct model *m, uint32_t path)
{
    return m->once && path < m->once_count && m->once[path];
}

int model_know(struct model *m, const struct model_own *own, struct source_lines *lines)
{
    uint32_t nearest[MODEL_OWN_NEAREST];
    int err;

    m->own = own;
    m->lines = lines;
    memory_free(m->module_bytes);
    m->module_bytes = NULL;
    err = find_once(m);
    if (err || !own)
        return err;
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

const struct log_defs *model_defs(const struct model *m)
{
    return &m->cells->defs;
}

const struct log_input *model_log(const struct model *m)
{
    return &m->cells->log;
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
    return m->cells->sampled != NULL;
}

size_t model_cell_count(const struct model *m)
{
    return m->cells->count;
}

const struct report_cell *model_cell(const struct model *m, size_t i)
{
    return &m->cells->cells[i];
}

uint32_t model_event_cell(const struct model *m, uint32_t cell)
{
    return m->cells->joined[cell];
}

const struct report_live *model_live(const struct model *m)
{
    return &m->cells->live;
}

/* spread: NULL: of what is counted. */
static double live_weight(const struct report_live_sums *sums,
                          const struct report_live_spread *spread, enum model_weight weight)
{
    switch (weight) {
    case MODEL_LIVE_BYTES:
        return sums->bytes;
    case MODEL_LIVE_ALLOCS:
        return sums->allocs;
    case MODEL_BESIDE_BYTES:
        return sums->beside_bytes;
    case MODEL_BESIDE_ALLOCS:
        return sums->beside_allocs;
    case MODEL_LIVE_VARIANCE:
        return spread ? spread->variance : 0;
    case MODEL_BESIDE_VARIANCE:
        return spread ? spread->beside_variance : 0;
    case MODEL_LESS_BYTES:
        return spread ? spread->less_bytes : 0;
    case MODEL_OF_VARIANCE:
        return spread ? spread->of_variance : 0;
    case MODEL_LESS_VARIANCE:
        return spread ? spread->less_variance : 0;
    default:
        return 0;
    }
}

double model_cell_weight(const struct model *m, size_t i, enum model_weight weight)
{
    switch (weight) {
    case MODEL_BYTES:
        return m->cells->cells[i].bytes;
    case MODEL_ALLOCS:
        return m->cells->cells[i].allocs;
    case MODEL_UNOPTIMISED:
        return m->cells->cells[i].unoptimised ? m->cells->cells[i].bytes : 0;
    case MODEL_ONCE:
        return model_path_once(m, m->cells->cells[i].path) ? m->cells->cells[i].bytes : 0;
    case MODEL_BYTES_VARIANCE:
        return m->cells->sampled ? m->cells->sampled[i].bytes_variance : 0;
    case MODEL_ALLOCS_VARIANCE:
        return m->cells->sampled ? m->cells->sampled[i].allocs_variance : 0;
    case MODEL_SEEN_BYTES:
        return m->cells->sampled ? m->cells->sampled[i].bytes : 0;
    case MODEL_SAMPLED:
        return m->cells->sampled ? m->cells->sampled[i].allocs : 0;
    default:
        return m->cells->lives
                   ? live_weight(&m->cells->lives[i],
                                 m->cells->spreads ? &m->cells->spreads[i] : NULL, weight)
                   : 0;
    }
}

double model_heap_weight(const struct model *m, enum sst_heap heap, enum model_weight weight)
{
    const struct report_cell_sum *sum = &m->cells->heaps[heap];
    const double sums[MODEL_WEIGHTS] = {
        [MODEL_BYTES] = sum->bytes,
        [MODEL_ALLOCS] = sum->allocs,
        [MODEL_UNOPTIMISED] = sum->unoptimised,
        [MODEL_ONCE] = heap == SST_HEAP_NORMAL ? m->once_bytes : 0, /* not kept apart by heap */
        [MODEL_BYTES_VARIANCE] = sum->sampled.bytes_variance,
        [MODEL_ALLOCS_VARIANCE] = sum->sampled.allocs_variance,
        [MODEL_SEEN_BYTES] = sum->sampled.bytes,
        [MODEL_SAMPLED] = sum->sampled.allocs,
    };

    return sums[weight];
}

double model_weight_total(const struct model *m, enum model_weight weight)
{
    double total = 0;

    for (size_t heap = 0; heap < SST_HEAP_COUNT; heap++)
        total += model_heap_weight(m, (enum sst_heap)heap, weight);
    return total + live_weight(&m->cells->live_sum, &m->cells->live_spread, weight);
}

bool model_has_weight(const struct model *m, enum model_weight weight)
{
    return model_weight_total(m, weight) > 0;
}

void model_amount_of(const struct model *m, const double weights[MODEL_WEIGHTS],
                     struct model_amount *out)
{
    *out = (struct model_amount){.bytes = report_whole(weights[MODEL_BYTES]),
                                 .allocs = report_whole(weights[MODEL_ALLOCS])};
    if (weights[MODEL_BYTES] > 0) {
        out->unoptimised = weights[MODEL_UNOPTIMISED] / weights[MODEL_BYTES];
        out->once = weights[MODEL_ONCE] / weights[MODEL_BYTES];
    }
    if (!model_estimated(m))
        return;
    out->sampled = report_whole(weights[MODEL_SAMPLED]);
    out->bytes_range = report_estimate_interval(weights[MODEL_BYTES], weights[MODEL_BYTES_VARIANCE],
                                                weights[MODEL_SEEN_BYTES]);
    out->allocs_range = report_estimate_interval(
        weights[MODEL_ALLOCS], weights[MODEL_ALLOCS_VARIANCE], weights[MODEL_SAMPLED]);
    out->approximate = log_sampler_kind(model_log(m)->header) == LOG_SAMPLER_TICKS;
    out->mixed = report_estimate_mixes(weights[MODEL_BYTES], weights[MODEL_BYTES_VARIANCE],
                                       weights[MODEL_ALLOCS], weights[MODEL_ALLOCS_VARIANCE]);
}

unsigned model_slice_count(const struct model *m)
{
    return m->cells->slice_ns
               ? (unsigned)((m->cells->ahead + m->cells->duration) / m->cells->slice_ns) + 1
               : 1;
}

uint64_t model_slice_ns(const struct model *m)
{
    return m->cells->slice_ns;
}

bool model_untimed(const struct model *m)
{
    const uint64_t *records = model_log(m)->tally.records;

    return records[SST_KIND_SITE] && !records[SST_KIND_ALLOC];
}

const struct report_processes *model_processes(const struct model *m)
{
    return &m->cells->processes;
}

uint64_t model_duration_ns(const struct model *m)
{
    return m->cells->duration;
}
