/*
 * log/records.c - the records that are few: header, comparison, losses, repairs, end; and the status file.
 */
#include "log/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "options/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int buffer_sink(const char *data, size_t size, void *context)
{
    struct buffer *b = context;

    buffer_append(b, data, size);
    return b->failed ? -1 : 0;
}

int log_emit(struct log *log, enum sst_kind kind, json_t *line)
{
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;
    bool full = log_file_full(log) && kind != SST_KIND_HEADER && kind != SST_KIND_END;
    int failed = !line || full ||
                 json_dump_callback(line, buffer_sink, b, JSON_COMPACT | JSON_REAL_PRECISION(15));

    json_decref(line);
    if (full)
        return -ENOSPC;
    if (!failed)
        buffer_char(b, '\n');
    if (json_memory_refused() || failed || b->failed) { /* no half lines */
        b->size = mark;
        b->failed = 0;
        return -ENOMEM;
    }
    if (kind != SST_KIND_END) /* which tells of those before it */
        log->put.lines[kind]++;
    return 0;
}

json_t *log_text(const char *text)
{
    char room[BUFFER_TEXT_ROOM];
    struct buffer b = BUFFER_ON(room);
    json_t *string = NULL;

    buffer_utf8(&b, text ? text : "");
    if (!b.failed)
        string = json_stringn(b.data, b.size);
    buffer_free(&b);
    return string;
}

static json_t *text_array(char *const *texts)
{
    json_t *array = json_array();

    for (; texts && *texts; texts++)
        if (json_array_append_new(array, log_text(*texts))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *options_json(const struct options *options)
{
    char *text = options_write(options);
    json_t *json = text ? json_read(text, strlen(text), 0, NULL) : NULL;

    memory_free(text);
    return json;
}

static const char *capture_name(enum options_capture capture)
{
    return capture == OPTIONS_CAPTURE_SHADOW ? "shadow"
           : capture == OPTIONS_CAPTURE_BOTH ? "both"
                                             : "snapshot";
}

int log_write_header(struct log *log)
{
    const struct log_config *c = &log->config;
    const char *uncontrolled = load_acquire(&log->uncontrolled);
    char started[32] = "";
    time_t now = log->started_at;
    struct tm utc;
    json_t *line;

    if (gmtime_r(&now, &utc))
        strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &utc);
    line = json_pack(
        "{s:s, s:s, s:i, s:i, s:o, s:o, s:s, s:s, s:s, s:o, s:I, s:s, s:s}", "kind", "header",
        "format", "shadowtrace", "version", 1, "pid", (int)getpid(), "executable",
        log_text(c->executable), "command", text_array(c->command), "runtime", c->runtime, "hooks",
        c->hooks, "capture", capture_name(c->options->capture), "options", options_json(c->options),
        "clock", (json_int_t)log->zero_ns, "started", started, "tracer", SHADOWTRACE_VERSION);
    if (line &&
        ((c->no_native && json_object_set_new(line, "no_native", json_string(c->no_native))) ||
         (options_beginnings(c->options) && json_object_set_new(line, "beginnings", json_true())) ||
         (c->unverified && json_object_set_new(line, "unverified", json_true())) ||
         (log->file.part > 1 && json_object_set_new(line, "part", json_integer(log->file.part))) ||
         (log->gone_parts && json_object_set_new(line, "rotated_out", log_gone_json(log))) ||
         (uncontrolled && json_object_set_new(line, "uncontrolled", log_text(uncontrolled))))) {
        json_decref(line);
        line = NULL;
    }
    return log_emit(log, SST_KIND_HEADER, line);
}

static json_t *hex_json(int32_t result)
{
    char hex[16];

    snprintf(hex, sizeof(hex), "0x%08x", (unsigned)result);
    return json_string(hex);
}

/* Log ids of methods, leaf first; each is defined first. */
static int method_array(struct log *log, const uintptr_t *methods, size_t count, json_t **out)
{
    json_t *array = json_array();
    int err = array ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < count; i++) {
        const struct metadata_method *method = (const struct metadata_method *)methods[i];

        if (method)
            err = log_define_method(log, method);
        if (!err && json_array_append_new(array, json_integer(method ? method->id : 0)))
            err = -ENOMEM;
    }
    if (err) {
        json_decref(array);
        array = NULL;
    }
    *out = array;
    return err;
}

static json_t *repair_names(uint32_t mask)
{
    json_t *array = json_array();

    for (unsigned i = 0; array && i < STACK_REPAIRS; i++)
        if (mask >> i & 1)
            json_array_append_new(array, json_string(stack_repair_name((enum stack_repair)i)));
    return array;
}

/* Takes both; native frames may be none. */
static int emit_with(struct log *log, enum sst_kind kind, json_t *line, json_t *native)
{
    if (!line)
        json_decref(native);
    else if (native && json_object_set_new(line, "native", native)) {
        json_decref(line);
        line = NULL;
    }
    return log_emit(log, kind, line);
}

int log_write_mismatch(struct log *log, struct log_thread *thread, const struct event_mismatch *m,
                       uint64_t t)
{
    const struct metadata_class *class = (const struct metadata_class *)m->class;
    json_t *shadow = NULL, *snapshot = NULL, *native = NULL, *line;
    const uintptr_t *methods_end = m->methods + m->shadow + m->snapshot;
    int err = log_file_full(log) ? -ENOSPC : 0;

    if (!err && class)
        err = log_define_class(log, class);
    if (!err)
        err = method_array(log, m->methods, m->shadow, &shadow);
    if (!err)
        err = method_array(log, m->methods + m->shadow, m->snapshot, &snapshot);
    if (!err)
        err = log_natives(log, (const struct event_native *)methods_end, m->natives, &native);
    if (err) {
        json_decref(shadow);
        json_decref(snapshot);
        return err;
    }
    line = json_pack("{s:s, s:I, s:I, s:s, s:I, s:o, s:o, s:o}", "kind", "mismatch", "t",
                     (json_int_t)t, "thread", (json_int_t)thread->ring->thread, "cause",
                     agreement_cause_name((enum agreement_cause)m->cause), "first",
                     (json_int_t)m->first, "shadow", shadow, "snapshot", snapshot, "repairs",
                     repair_names(m->repairs));
    if (line && class)
        json_object_set_new(line, "class", json_integer(class->id));
    if (line && m->stopped)
        json_object_set_new(line, "stopped", json_integer(m->stopped));
    if (line && m->in_call)
        json_object_set_new(line, "in_call", json_true());
    if (line && m->refused)
        json_object_set_new(line, "refused", hex_json(m->refused));
    return emit_with(log, SST_KIND_MISMATCH, line, native);
}

int log_write_snapshot(struct log *log, struct log_thread *thread, const struct event_stack *stack,
                       uint64_t t)
{
    const uintptr_t *methods_end = stack->methods + stack->count;
    json_t *methods = NULL, *native = NULL, *line;
    int err = log_file_full(log) ? -ENOSPC : 0;

    if (!err)
        err = method_array(log, stack->methods, stack->count, &methods);

    if (!err)
        err = log_natives(log, (const struct event_native *)methods_end, stack->natives, &native);
    if (err) {
        json_decref(methods);
        return err;
    }
    line = json_pack("{s:s, s:I, s:I, s:o}", "kind", "snapshot", "t", (json_int_t)t, "thread",
                     (json_int_t)thread->ring->thread, "stack", methods);
    if (line && stack->refused)
        json_object_set_new(line, "refused", hex_json(stack->refused));
    return emit_with(log, SST_KIND_SNAPSHOT, line, native);
}

json_t *log_histogram(const struct agreement_histogram *h)
{
    json_t *array = json_array();

    for (unsigned i = 0; array && i < AGREEMENT_BUCKETS; i++) {
        uint32_t count = load_relaxed(&h->bucket[i]);

        if (count)
            json_array_append_new(
                array, json_pack("[I, I]", (json_int_t)agreement_bucket_ns(i), (json_int_t)count));
    }
    return array;
}

static json_t *depths_json(const struct agreement *a)
{
    json_t *array = json_array();

    for (unsigned i = 0; array && i < AGREEMENT_DEPTHS; i++) {
        uint64_t count = load_relaxed(&a->depth[i].count);

        if (count)
            json_array_append_new(
                array,
                json_pack("{s:I, s:I, s:I, s:I, s:I}", "from", (json_int_t)agreement_depth_from(i),
                          "to", (json_int_t)agreement_depth_from(i + 1) - 1, "count",
                          (json_int_t)count, "shadow_ns",
                          (json_int_t)load_relaxed(&a->depth[i].shadow_ns), "snapshot_ns",
                          (json_int_t)load_relaxed(&a->depth[i].snapshot_ns)));
    }
    return array;
}

static json_t *refusals_json(const struct agreement_refusals *a)
{
    json_t *object = json_object();

    for (unsigned i = 0; object && i < AGREEMENT_REFUSALS; i++) {
        uint32_t result = load_relaxed(&a->of[i].result);
        char hex[16] = "other";

        if (!load_relaxed(&a->of[i].count))
            continue;
        if (result)
            snprintf(hex, sizeof(hex), "0x%08x", result);
        json_object_set_new(object, hex, json_integer((json_int_t)load_relaxed(&a->of[i].count)));
    }
    return object;
}

static void set_count(json_t *object, const char *name, uint64_t count)
{
    if (count)
        json_object_set_new(object, name, json_integer((json_int_t)count));
}

/* Counters by the names of what they count; those that are 0 are left out. */
static json_t *named_json(const _Atomic(uint64_t) *counts, const char *const *names, size_t size)
{
    json_t *object = json_object();

    for (size_t i = 0; object && i < size; i++)
        set_count(object, names[i], load_relaxed(&counts[i]));
    return object;
}

static json_t *repairs_json(const struct stack_totals *totals)
{
    json_t *object = json_object();

    for (unsigned i = 0; object && i < STACK_REPAIRS; i++)
        json_object_set_new(object, stack_repair_name((enum stack_repair)i),
                            json_integer((json_int_t)totals->repairs[i]));
    return object;
}

/*
 * Members of a record, from one of the lists of log_counters.h: of `from` into `to`; an object of counts is in a variable
 * of its own. COPY brings a list's counters from `a` to `from` first, where some have to be made or to agree.
 */
#define PUT(form, member, label) PUT_##form(member)
#define PUT_COUNT(member)        put_count(to, #member, load_relaxed(&from->member));
#define PUT_ANY(member)          set_count(to, #member, load_relaxed(&from->member));
#define PUT_BY(member)           json_object_set_new(to, #member, member);
#define PUT_WORD(member)         put_word(to, #member, member);
#define COPY(form, member, label) \
    SST_NUMBER_##form(store_relaxed(&from->member, load_relaxed(&a->member));)

static void put_count(json_t *object, const char *name, uint64_t count)
{
    json_object_set_new(object, name, json_integer((json_int_t)count));
}

static void put_word(json_t *object, const char *name, const char *word)
{
    if (word)
        json_object_set_new(object, name, json_string(word));
}

/* The counts that check and end records share. */
static json_t *put_snapshots(json_t *to, const struct agreement *a)
{
#define CAUSE(name, text) text,
    static const char *const causes[] = {SST_CAUSES(CAUSE)};
    struct agreement_snapshots {
        SST_COUNTERS_SNAPSHOTS(AGREEMENT_COUNTER)
    } copy, *from = &copy;
    json_t *refused_by = refusals_json(&a->refusals);
    json_t *mismatched_by = named_json(a->by_cause, causes, COUNT_OF(causes));

    SST_COUNTERS_SNAPSHOTS(COPY)
    store_relaxed(&copy.compared, load_relaxed(&copy.equal) + load_relaxed(&copy.mismatched));
    store_relaxed(&copy.taken,
                  load_relaxed(&a->taken)); /* counted first: last, it is no less than its parts */
    SST_COUNTERS_SNAPSHOTS(PUT)
    return to;
}

/* Call instructions against the snapshot's. */
static json_t *instructions_json(const struct agreement *a)
{
    struct agreement_instructions {
        SST_COUNTERS_INSTRUCTIONS(AGREEMENT_COUNTER)
    } copy, *from = &copy;
    json_t *to = json_object();

    SST_COUNTERS_INSTRUCTIONS(COPY)
    for (unsigned i = 0; i < AGREEMENT_CALLS; i++)
        add_relaxed(&copy.calls, load_relaxed(&a->call[i]));
    store_relaxed(&copy.calls_equal, load_relaxed(&a->call[AGREEMENT_CALL_EQUAL]));
    store_relaxed(&copy.calls_native, load_relaxed(&a->call[AGREEMENT_CALL_RUNTIME]));
    SST_COUNTERS_INSTRUCTIONS(PUT)
    return to;
}

/* Registers of every frame against the snapshot's. */
static json_t *registers_json(const struct agreement *a)
{
#define CLASS(name, text, label) text,
    static const char *const ip[] = {SST_CLASSES_IP(CLASS)}, *const sp[] = {SST_CLASSES_SP(CLASS)},
                             *const fp[] = {SST_CLASSES_FP(CLASS)};

    return json_pack("{s:o, s:o, s:o}", "ip", named_json(a->call, ip, COUNT_OF(ip)), "sp",
                     named_json(a->sp, sp, COUNT_OF(sp)), "fp",
                     named_json(a->fp, fp, COUNT_OF(fp)));
}

static json_t *threads_json(const struct agreement_threads *from)
{
    json_t *to = json_object(), *refused_by = refusals_json(&from->refusals);

    SST_COUNTERS_THREADS(PUT)
    return to;
}

static json_t *seeds_json(const struct agreement_seeds *from)
{
    json_t *to = json_object(), *refused_by = refusals_json(&from->refusals);
    const char *missing = load_relaxed(&from->missing) ? "libunwind" : NULL;

    SST_COUNTERS_SEEDS(PUT)
    return to;
}

static json_t *calls_json(const struct agreement_calls *from)
{
    json_t *to = json_object(), *refused_by = refusals_json(&from->refusals);

    SST_COUNTERS_CALLS(PUT)
    return to;
}

static void write_check(struct log *log, const struct stack_totals *totals, uint64_t t)
{
    const struct agreement *a = log->config.agreement;
    uint64_t taken;
    json_t *line;

    if (!a)
        return;
    taken = load_relaxed(&a->taken) + load_relaxed(&a->threads.stops) +
            load_relaxed(&a->at_calls.taken);
    if (taken == log->reported_taken)
        return;
    line = json_pack("{s:s, s:I}", "kind", "check", "t", (json_int_t)t);
    if (line) {
        put_snapshots(line, a);
        json_object_set_new(line, "shadow", log_histogram(&a->shadow));
        json_object_set_new(line, "snapshot", log_histogram(&a->snapshot));
        put_count(line, "shadow_ns", load_relaxed(&a->shadow.sum));
        put_count(line, "snapshot_ns", load_relaxed(&a->snapshot.sum));
        json_object_set_new(line, "by_depth", depths_json(a));
        json_object_set_new(line, "instructions", instructions_json(a));
        json_object_set_new(line, "registers", registers_json(a));
        if (load_relaxed(&a->threads.stops))
            json_object_set_new(line, "threads", threads_json(&a->threads));
        if (load_relaxed(&a->seeds.tried) || load_relaxed(&a->seeds.missing))
            json_object_set_new(line, "seeds", seeds_json(&a->seeds));
        if (load_relaxed(&a->at_calls.taken))
            json_object_set_new(line, "calls", calls_json(&a->at_calls));
        json_object_set_new(line, "repairs", repairs_json(totals));
    }
    if (!log_emit(log, SST_KIND_CHECK, line))
        log->reported_taken = taken;
}

int log_write_check_thread(struct log *log, struct log_thread *thread, uint64_t t)
{
    const struct agreement_thread *a = &thread->ring->checked;
    struct agreement_thread copy, *from = &copy;
    uint64_t sum;
    json_t *to;
    int err;

    SST_COUNTERS_CHECK_THREAD(COPY)
    store_relaxed(&copy.compared, load_relaxed(&a->compared)); /* last: no less than `equal` */
    sum = load_relaxed(&copy.compared) + load_relaxed(&copy.refused);
    if (sum == thread->reported_checks)
        return 0;
    if (!thread->defined)
        return -EAGAIN;
    to = json_pack("{s:s, s:I, s:I}", "kind", "check_thread", "t", (json_int_t)t, "thread",
                   (json_int_t)thread->ring->thread);
    if (to) {
        SST_COUNTERS_CHECK_THREAD(PUT)
    }
    err = log_emit(log, SST_KIND_CHECK_THREAD, to);
    if (!err)
        thread->reported_checks = sum;
    return err;
}

void log_lost(const struct log *log, uint64_t by[EVENT_LOST_REASONS], uint64_t *seen)
{
    *seen = log->seen_by_ended;
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++) {
        by[i] = log->lost_here[i] + log->lost_ended[i];
        if (i !=
            EVENT_LOST_STOPPED) /* those come after the last drain and are in nobody's `seen` */
            by[i] += load_relaxed(&log->config.hub->lost[i]);
        if (i == EVENT_LOST_NO_RING || i == EVENT_LOST_NO_STACK)
            *seen += load_relaxed(&log->config.hub->lost[i]);
    }
    for (const struct log_thread *thread = log->threads; thread; thread = thread->next) {
        for (unsigned i = 0; i < EVENT_LOST_REASONS; i++)
            by[i] += load_relaxed(&thread->ring->lost[i]);
        *seen += load_relaxed(&thread->ring->seen);
    }
}

static void write_count(struct log *log, enum sst_kind kind, uint64_t t, const char *reason,
                        uint64_t count, uint64_t *reported)
{
    if (count == *reported)
        return;
    if (log_emit(log, kind,
                 json_pack("{s:s, s:I, s:s, s:I}", "kind",
                           kind == SST_KIND_LOST ? "lost" : "repair", "t", (json_int_t)t, "reason",
                           reason, "count", (json_int_t)count)) == 0)
        *reported = count;
}

/* What nothing else counts; once there is room for the line. */
static void write_not_written(struct log *log, uint64_t t)
{
    uint64_t sum = 0;

    for (unsigned i = 1; i < SST_KIND_COUNT; i++)
        sum += log->not_written[i];
    if (sum != log->reported_not_written &&
        !log_emit(log, SST_KIND_NOT_WRITTEN,
                  json_pack("{s:s, s:I, s:o}", "kind", "not_written", "t", (json_int_t)t, "records",
                            log_kinds_json(log->not_written))))
        log->reported_not_written = sum;
}

void log_write_reports(struct log *log, uint64_t t)
{
    uint64_t by[EVENT_LOST_REASONS], seen;
    struct stack_totals totals;

    stack_totals_read(&totals);
    log_lost(log, by, &seen);
    log_write_profile(log, t);
    write_check(log, &totals, t);
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        log_write_check_thread(log, thread, t);
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++)
        write_count(log, SST_KIND_LOST, t, event_lost_name((enum event_lost)i), by[i],
                    &log->reported_lost[i]);
    for (unsigned i = 0; i < STACK_REPAIRS; i++)
        write_count(log, SST_KIND_REPAIR, t, stack_repair_name((enum stack_repair)i),
                    totals.repairs[i], &log->reported_repairs[i]);
    log_write_family_reports(log, t);
    write_not_written(log, t);
}

/* What the end record says of lines and of the file. */
static void add_records(const struct log *log, json_t *line)
{
    json_t *fate;

    json_object_set_new(line, "records", log_kinds_json(log->put.lines));
    if (log->gone_parts)
        json_object_set_new(line, "rotated_out", log_gone_json(log));
    if (log_kinds_any(log->not_written))
        json_object_set_new(line, "not_written", log_kinds_json(log->not_written));
    if ((fate = log_fate_json(log)))
        json_object_set_new(line, "file", fate);
}

static void add_beginnings_lost(const struct log *log, json_t *to)
{
    uint64_t lost = load_relaxed(&log->config.hub->beginnings_lost);

    if (lost)
        json_object_set_new(to, "beginnings_lost", json_integer((json_int_t)lost));
}

/* What was unloaded, and is not kept any more. */
static void add_given(const struct log *log, json_t *line)
{
    const struct metadata_given *given = metadata_given_back(log->config.metadata);
    uint64_t nodes = load_relaxed(&log->config.tree->numbers.given);

    if (load_relaxed(&given->modules))
        json_object_set_new(
            line, "given_back",
            json_pack("{s:I, s:I, s:I, s:I}", "modules", (json_int_t)load_relaxed(&given->modules),
                      "classes", (json_int_t)load_relaxed(&given->classes), "methods",
                      (json_int_t)load_relaxed(&given->methods), "nodes", (json_int_t)nodes));
}

int log_write_end(struct log *log, uint64_t t)
{
    uint64_t by[EVENT_LOST_REASONS], seen, lost = 0, written = log_written(log);
    struct stack_totals totals;
    hresult last;
    json_t *line, *lost_by = json_object(), *families;

    stack_totals_read(&totals);
    log_lost(log, by, &seen);
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++)
        lost += by[i];
    if (seen > written + lost) { /* on its way through a callback when the hub stopped */
        by[EVENT_LOST_STOPPED] += seen - written - lost;
        lost = seen - written;
    }
    for (unsigned i = 0; lost_by && i < EVENT_LOST_REASONS; i++)
        if (by[i])
            json_object_set_new(lost_by, event_lost_name((enum event_lost)i),
                                json_integer((json_int_t)by[i]));
    line = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:o, s:{s:I, s:f, s:I}, s:I, s:I}",
        "kind", "end", "t", (json_int_t)t, "seen", (json_int_t)seen, "written", (json_int_t)written,
        "lost", (json_int_t)lost, "lost_by", lost_by, "bytes", (json_int_t)log->put.bytes,
        "threads", (json_int_t)load_relaxed(&log->config.hub->threads), "nodes",
        (json_int_t)tree_made(log->config.tree), "nodes_refused",
        (json_int_t)tree_refused(log->config.tree), "repairs", repairs_json(&totals), "hooks",
        "calls", (json_int_t)totals.calls, "ns_per_pair", log->ns_per_pair, "missed",
        (json_int_t)load_relaxed(log->config.missed), "names_failed",
        (json_int_t)metadata_failures(log->config.metadata, &last), "log_bytes",
        (json_int_t)(log->file.bytes + log->file.buffer.size - log->file.sent));
    if (line && log->put.cut)
        json_object_set_new(line, "cut_allocs", json_integer((json_int_t)log->put.cut));
    if (line)
        add_beginnings_lost(log, line);
    if (line && load_relaxed(log->config.spared))
        json_object_set_new(json_object_get(line, "hooks"), "spared",
                            json_integer((json_int_t)load_relaxed(log->config.spared)));
    if (line)
        add_given(log, line);
    if (line && log->file.part > 1) /* the sums are of the whole recording */
        json_object_set_new(line, "part", json_integer(log->file.part));
    if (line && log->config.options->args.count + log->config.options->returns.count)
        json_object_set_new(line, "values", log_values_totals(log));
    if (line && options_choose(log->config.options))
        json_object_set_new(line, "unmatched", log_unmatched(log));
    if (line && log->config.agreement)
        json_object_set_new(line, "snapshots", put_snapshots(json_object(), log->config.agreement));
    families = line ? log_families_json(log) : NULL;
    if (families)
        json_object_set_new(line, "events", families);
    if (line && options_records(log->config.options, OPTIONS_CALLS))
        json_object_set_new(line, "calls", log_calls_json(log));
    if (line)
        add_records(log, line);
    return log_emit(log, SST_KIND_END, line);
}

int log_status_write(const struct log *log, const char *state)
{
    const struct log_config *c = &log->config;
    const char *uncontrolled = load_acquire(&log->uncontrolled);
    uint64_t by[EVENT_LOST_REASONS], seen, lost = 0;
    struct log_tally pending = {.allocs = 0};
    json_t *status, *fate;

    if (!c->options->status)
        return 0;
    (void)json_memory_refused(); /* of something else */
    log_lost(log, by, &seen);
    if (log->file.error && log->file.fd >= 0) { /* nobody knows whether it will be written */
        log_file_pending(log, &pending);
        lost += pending.allocs;
    }
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++)
        lost += by[i];
    status = json_pack("{s:i, s:o, s:o, s:s, s:o, s:I, s:I, s:I, s:I, s:s}", "pid", (int)getpid(),
                       "executable", log_text(c->executable), "command", text_array(c->command),
                       "state", log->file.error ? "failed" : state, "log", log_text(log->file.path),
                       "seen", (json_int_t)seen, "written",
                       (json_int_t)(log_written(log) - pending.allocs), "lost", (json_int_t)lost,
                       "bytes", (json_int_t)(log->put.bytes + log->row_bytes - pending.bytes),
                       "runtime", c->runtime);
    if (status && tree_refused(c->tree)) {
        json_object_set_new(status, "nodes_refused",
                            json_integer((json_int_t)tree_refused(c->tree)));
        json_object_set_new(status, "cut_allocs", json_integer((json_int_t)log->put.cut));
    }
    if (status)
        add_beginnings_lost(log, status);
    if (status && load_relaxed(c->spared))
        json_object_set_new(status, "spared", json_integer((json_int_t)load_relaxed(c->spared)));
    if (status && log->sampled) {
        json_object_set_new(status, "estimated_allocs",
                            json_integer((json_int_t)log->estimated_allocs));
        json_object_set_new(status, "estimated_bytes",
                            json_integer((json_int_t)log->estimated_bytes));
    }
    if (status && c->control && !uncontrolled)
        json_object_set_new(status, "control", log_text(c->control));
    if (status && c->unverified)
        json_object_set_new(status, "unverified", json_true());
    if (status && c->no_native)
        json_object_set_new(status, "no_native", json_string(c->no_native));
    if (status && uncontrolled)
        json_object_set_new(status, "uncontrolled", log_text(uncontrolled));
    if (status && log->file.error) {
        char reason[4200];

        snprintf(reason, sizeof(reason),
                 "writing the log %s failed: %s; what was written before can be read",
                 log->file.path, strerror(log->file.error));
        json_object_set_new(status, "reason", log_text(reason));
    }
    if (status && !strcmp(state, "ended")) {
        json_object_set_new(status, "unmatched", log_unmatched(log));
        json_object_set_new(status, "values", log_values_totals(log));
        json_object_set_new(status, "events", log_families_json(log));
        json_object_set_new(status, "not_written", log_kinds_json(log->not_written));
        json_object_set_new(status, "records", log_kinds_json(log->put.lines));
    }
    if (status && log->gone_parts)
        json_object_set_new(status, "rotated_out", log_gone_json(log));
    if (status && (fate = log_fate_json(log)))
        json_object_set_new(status, "file", fate);
    return log_status_emit(c->options->status, status);
}

void log_status_declined(const char *folder, const char *executable, char *const *command,
                         const char *reason)
{
    log_status_emit(folder,
                    json_pack("{s:i, s:o, s:o, s:s, s:o}", "pid", (int)getpid(), "executable",
                              log_text(executable), "command", text_array(command), "state",
                              "declined", "reason", log_text(reason)));
}
