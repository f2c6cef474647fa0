#include "profiler/serve.h"

#include "base/clock.h"
#include "options/options_fields.h"
#include "thread/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAP_NS      60000000000ull /* a dump at the end */
#define HEAP_STEP_NS 500000

static bool thread_name(void *context, uint32_t os, char *text, size_t size)
{
    struct profiler *p = context;

    return thread_names_find(&p->thread_names, os, text, size);
}

static uint32_t names_given(void *context)
{
    struct profiler *p = context;

    return load_relaxed(&p->thread_names.given);
}

static int mark(void *context, const char *text)
{
    struct profiler *p = context;

    return log_mark(p->log, text);
}

static int rotate(void *context, char **older)
{
    struct profiler *p = context;

    return log_rotate(p->log, older);
}

/* What the collection found stands before it, whatever is collected from now on. */
static int mark_behind(void *context, const char *text)
{
    struct profiler *p = context;

    return log_mark_written(p->log, text);
}

static int scope_end(void *context, const char *text)
{
    struct profiler *p = context;

    return log_mark_behind(p->log, text);
}

static const char *log_of(void *context)
{
    struct profiler *p = context;

    return log_path(p->log);
}

static long thread_here(void *context)
{
    const struct event_ring *ring = thread_ring();

    (void)context;
    return ring ? (long)ring->thread : -ENOMEM;
}

static uint64_t zero_ns(void *context)
{
    struct profiler *p = context;

    return log_zero_ns(p->log);
}

static void put_site(void *context, uintptr_t object, uint32_t key)
{
    graph_site(context, object, key);
}

/* In GarbageCollectionFinished, behind that of the table. */
static void dump_sites(void *context, struct graph *graph)
{
    struct profiler *p = context;

    if (p->heap)
        live_each(p->live, put_site, graph);
}

/* ---- names of fields, for a dump ---- */

static void names_open(void *context)
{
    fields_open(context);
}

static void names_statics(void *context, struct graph *graph)
{
    fields_statics(context, graph);
}

static void names_of(void *context, struct graph *graph, const struct metadata_class *class,
                     uint32_t number)
{
    fields_of(context, graph, class, number);
}

static void names_close(void *context)
{
    fields_close(context);
}

static void collected(void *context)
{
    struct profiler *p = context;

    control_wake(p->control);
}

static int sites(void *context, uint32_t limit, char **members)
{
    struct profiler *p = context;

    return log_sites(p->log, limit, members);
}

static int alive(void *context, uint32_t limit, char **members)
{
    struct profiler *p = context;

    return log_alive(p->log, limit, members);
}

static int detach(void *context)
{
    struct profiler *p = context;

    return p->leave(p);
}

static void put_lost(struct buffer *out, const uint64_t by[EVENT_LOST_REASONS])
{
    uint64_t sum = 0;

    buffer_text(out, ",\"lost_by\":{");
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++) {
        if (by[i])
            buffer_format(out, "%s\"%s\":%llu", sum ? "," : "", event_lost_name((enum event_lost)i),
                          (unsigned long long)by[i]);
        sum += by[i];
    }
    buffer_format(out, "},\"lost\":%llu", (unsigned long long)sum);
}

static void status(void *context, struct buffer *out)
{
    struct profiler *p = context;
    struct log_counts counts;
    uint64_t given;

    log_counts(p->log, &counts);
    buffer_text(out, ",\"log\":");
    buffer_json_string(out, log_path(p->log));
    buffer_format(out, ",\"part\":%llu,\"log_bytes\":%llu,\"written\":%llu,\"bytes\":%llu",
                  (unsigned long long)counts.parts, (unsigned long long)counts.file_bytes,
                  (unsigned long long)counts.written, (unsigned long long)counts.bytes);
    put_lost(out, counts.lost);
    if (tree_refused(p->tree))
        buffer_format(out, ",\"nodes_refused\":%llu,\"cut_allocs\":%llu",
                      (unsigned long long)tree_refused(p->tree),
                      (unsigned long long)counts.cut_allocs);
    given = load_relaxed(&metadata_given_back(p->metadata)->modules);
    if (given)
        buffer_format(out, ",\"given_back\":%llu", (unsigned long long)given);
}

int serve_open(struct profiler *p)
{
    static const struct graph_names calls = {NULL, names_open, names_statics, names_of,
                                             names_close};
    const struct graph_config graph = {.info = p->runtime.info,
                                       .info_version = p->runtime.info_version,
                                       .metadata = p->metadata,
                                       .session = &p->session,
                                       .context = p,
                                       .zero_ns = zero_ns,
                                       .sites = dump_sites,
                                       .names = &p->field_names};
    struct collect_config collect = {
        .info = p->runtime.info, .context = p, .mark = mark_behind, .over = collected};

    p->fields = (struct fields){
        .info = p->runtime.info, .info_version = p->runtime.info_version, .metadata = p->metadata};
    p->field_names = calls;
    p->field_names.context = &p->fields;
    if (control_new(&p->control) || graph_new(&graph, &p->graph))
        return -ENOMEM;
    collect.graph = p->graph;
    if (collect_new(&collect, &p->collect))
        return -ENOMEM;
    if (p->options.no_control ||
        !control_listen(p->control, p->uncontrolled, sizeof(p->uncontrolled)))
        *p->uncontrolled = '\0';
    return 0;
}

const char *serve_hooks(const struct profiler *p)
{
    if (!options_hooked(&p->options))
        return "none";
    return options_elt2(&p->options) ? "elt2" : "elt3";
}

/* FILE, or FILE with our number before its extension. */
static const char *heap_path(const char *file, bool numbered, char *path, size_t size)
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');

    if (!dot || dot <= slash + 1)
        dot = file + strlen(file);
    if (!numbered)
        snprintf(path, size, "%s", file);
    else
        snprintf(path, size, "%.*s.%d%s", (int)(dot - file), file, (int)getpid(), dot);
    return path;
}

/* Returns: whether it is over. */
static bool heap_dump(struct profiler *p, const char *path, struct collect_result *result)
{
    const struct timespec step = {0, HEAP_STEP_NS};
    uint64_t until = clock_ns() + HEAP_NS;
    struct collect_job *job;
    bool over;
    int err;

    do /* one that somebody else has asked for may be under way */
        err = collect_ask(p->collect, &(struct collect_request){.heap = path}, &job);
    while (err == -EBUSY && clock_ns() < until && !nanosleep(&step, NULL));
    if (err)
        return false;
    while (!(over = collect_over(job, result)) && clock_ns() < until)
        nanosleep(&step, NULL);
    collect_drop(job);
    return over;
}

void serve_heap_at_exit(struct profiler *p)
{
    static char path[PATH_MAX], why[300];
    const char *file = p->options.heap_at_exit;
    struct collect_result result = {0};
    bool over = heap_dump(p, heap_path(file, false, path, sizeof(path)), &result);

    if (over && result.heap.failure == GRAPH_NO_FILE && result.heap.why == -EEXIST)
        over = heap_dump(p, heap_path(file, true, path, sizeof(path)), &result);
    if (!over)
        snprintf(why, sizeof(why), "the heap was not dumped: no collection was made within 60 s");
    else if (result.failure)
        collect_explain(&result, why, sizeof(why));
    log_heap(p->log, *why ? NULL : path, *why ? why : NULL);
}

void serve_start(struct profiler *p)
{
    const struct control_config config = {.metadata = p->metadata,
                                          .collect = p->collect,
                                          .executable = p->process.executable,
                                          .name = p->process.name,
                                          .runtime = p->runtime.text,
                                          .hooks = serve_hooks(p),
                                          .command = p->process.command,
                                          .zero_ns = log_zero_ns(p->log),
                                          .shadow = options_hooked(&p->options),
                                          .some_hooked = options_chooses_methods(&p->options),
                                          .live = p->heap != NULL,
                                          .least_sample = p->samples ? OPTIONS_SAMPLE_RUNTIME : 0,
                                          .context = p,
                                          .thread_name = thread_name,
                                          .metadata_given = names_given,
                                          .mark = mark,
                                          .mark_behind = scope_end,
                                          .log = log_of,
                                          .thread = thread_here,
                                          .rotate = rotate,
                                          .sites = sites,
                                          .alive = alive,
                                          .detach = p->attached ? detach : NULL,
                                          .status = status};

    control_start(p->control, &config);
}
