/*
 * log/records.h - what happened, and what it is about, as lines of the log. The files are listed in
 * the order in which they call each other, the callers last.
 *
 * Threads: the writer.
 */
#ifndef SHADOWTRACE_LOG_RECORDS_H
#define SHADOWTRACE_LOG_RECORDS_H

#include "base/decimal.h"
#include "code/resolve.h"
#include "log/json.h"
#include "log/state.h"

/* line.c: lines, whole or not at all */
#define LOG_LINE 256 /* bytes that the numbers of an event's line take at most */

/* Appends a literal; at must have room. */
#define LOG_PUT(at, text) (memcpy((at), (text), sizeof(text) - 1), (at) + sizeof(text) - 1)

/* The same, followed by a number. */
#define LOG_PUT_NUMBER(at, text, value) decimal_put(LOG_PUT(at, text), (value))

/* A line that began at mark is taken back: memory ran out for it. Returns -ENOMEM. */
static inline int log_line_drop(struct log *log, size_t mark)
{
    log->file.buffer.size = mark;
    log->file.buffer.failed = 0;
    return -ENOMEM;
}
/* `,"member":N` */
static inline void log_put_number(struct buffer *b, const char *member, uint64_t value)
{
    buffer_text(b, member);
    buffer_unsigned(b, value);
}
/* `t` of a moment of CLOCK_MONOTONIC. */
static inline uint64_t log_t(const struct log *log, uint64_t ns)
{
    return ns > log->zero_ns ? ns - log->zero_ns : 0;
}
/* `t` of an event. */
static inline uint64_t log_event_t(const struct log *log, struct log_thread *thread,
                                   const struct event *event)
{
    uint64_t ns = log_t(log, clock_ticks_to_ns(event->ticks));

    if (ns < thread->last_ns)
        ns = thread->last_ns;
    thread->last_ns = ns;
    return ns;
}
/* Begins a line of that kind: `{"kind":K,"t":N,"thread":N`. */
void log_line_begin(struct buffer *b, const char *kind, uint64_t t,
                    const struct log_thread *thread);
/* Ends a line of that kind, which began at mark, and counts it, or takes it back. 0 or -ENOMEM. */
int log_line_end(struct log *log, enum sst_kind kind, size_t mark);
/*
 * One line; takes the reference. line may be NULL or lack something (-ENOMEM). -ENOSPC:
 * log_file_full(), but for header and end.
 */
int log_emit(struct log *log, enum sst_kind kind, json_t *line);

/* Who takes the samples, as the log says it. */
static inline const char *log_sampler(const struct log *log)
{
    return log->config.samples ? samples_name(log->config.samples) : "exact";
}

/* define.c: which ids this part of the log has */
#define NODE_ID_OPEN UINT32_MAX
void log_ids_clear(struct log_ids *ids); /* nothing was written: a new part begins */
void log_ids_free(struct log_ids *ids);
static inline bool log_ids_has(const struct log_ids *ids, uint32_t id)
{
    return id < ids->capacity && ids->seen[id];
}
/* forget.c: at its definition; it has one from now on */
uint32_t log_node_number(struct log *log, uint32_t node);
/* Log id of a node that is defined, whether cut or not. */
static inline uint32_t log_node_id(const struct log *log, uint32_t node)
{
    uint32_t id;

    node = tree_uncut(node);
    if (LIKELY(!log->node_ids))
        return node;
    id = load_relaxed(&log->node_id[node]);
    return id ? id : node;
}

/*
 * format.c
 * log_put_node - `,"node":N`, and that the path goes on above it.
 * log_put_heap - `,"heap":H` of another heap than the usual one, and the same.
 * log_put_il   - what is known of an instruction at `at`: members il, il0, il_last, and call if it
 *                lies in code outside the frame. Returns: where that ends.
 */
void log_put_node(struct log *log, uint32_t node);
void log_put_heap(struct buffer *b, enum event_heap heap, uint32_t node);
char *log_put_il(char *at, int32_t il);
char *log_put_inlined(char *at, uint32_t inlined); /* `,"inlined":N`, if there is one */
int log_format_node(struct log *log, const struct tree_node *node); /* 0 or -ENOMEM */

/* Of an allocating instruction: see code/resolve.h. */
static inline int32_t log_site_il(const struct log *log, uint32_t site)
{
    return site ? tree_site_il(tree_site_at(log->config.sites, site)) : CODE_IL_NONE;
}

/* define.c: definitions; 0, -EAGAIN while somebody has yet to name it, -ENOMEM, -ENOSPC: full */
int log_define_class(struct log *log, const struct metadata_class *class);
int log_define_method(struct log *log, const struct metadata_method *method);
int log_define_node(struct log *log, uint32_t id);        /* of a cut path: what there is of it */
int log_define_inlined(struct log *log, uint32_t number); /* 0: nothing to do */
static inline uint32_t log_site_inlined(const struct log *log, uint32_t site)
{
    return site ? tree_site_at(log->config.sites, site)->inlined : 0;
}
int log_define_thread(struct log *log, struct log_thread *thread, const uint64_t *end);
int log_know_thread(struct log *log, struct log_thread *thread); /* unless the part has it */
static inline bool log_has(const struct log *log, uint32_t written) /* of a record */
{
    return written == log->part;
}
static inline bool log_node_defined(const struct log *log, uint32_t id)
{
    const struct tree_node *node = tree_node_by_id(log->config.tree, id);

    return node && tree_mark(node) == log->generation;
}

/* natives.c: native frames as the member `native`, images first; *out NULL: none. 0 or -ENOMEM */
int log_natives(struct log *log, const struct event_native *native, size_t count, json_t **out);
void log_images_clear(struct log_images *images); /* as log_ids_clear */

/* An event that is one line; as define.c. */
typedef int log_write_event(struct log *log, struct log_thread *thread, const struct event *event,
                            uint64_t t);
log_write_event log_write_mismatch, log_write_snapshot; /* stacks.c */
log_write_event log_write_values;                       /* values.c: --args, --returns */
log_write_event log_write_family, log_write_transition; /* events.c: but for alloc and calls */
log_write_event log_write_sample;                       /* profile.c */

/* values.c: log_values_put - "args" of an alloc line with its stack */
void log_values_put(struct buffer *b, struct log_thread *thread, const struct tree_node *node);
void log_values_free(struct log_thread *thread);
json_t *log_values_totals(const struct log *log);

/* events.c */
uint32_t log_family_of(const struct event *event);          /* enum options_family */
void log_write_family_reports(struct log *log, uint64_t t); /* losses that grew */
json_t *log_families_json(const struct log *log); /* for the end record; NULL: only alloc */

/* profile.c */
void log_write_profile(struct log *log, uint64_t t); /* where sampling has gone on */

/*
 * sampling.c: samples of the runtime. log_write_sampling - once they count, once.
 * log_sampling_begun_json - the same for the header of a later part and the status file; NULL:
 * there is nothing to say. log_sampling_json - for the end record.
 */
void log_write_sampling(struct log *log, uint64_t t);
json_t *log_sampling_begun_json(const struct log *log);
json_t *log_sampling_json(const struct log *log);

/*
 * calls.c: the call trace. A batch is written when something asks for it.
 * log_write_calls - events of calls, up to the first of another kind. Returns: how many were taken;
 *                   *err is 0, or why the next one was not, as define.c.
 * log_calls_any_retired - is a call open of code that was unloaded? log_calls_part - a new part:
 *                         what is open is written again.
 */
size_t log_write_calls(struct log *log, struct log_thread *thread, const struct event *events,
                       size_t count, int *err);
void log_calls_flush(struct log *log, struct log_thread *thread); /* before another line of it */
void log_calls_flush_old(struct log *log, uint64_t now);
void log_calls_flush_all(struct log *log);
bool log_calls_any_retired(const struct log_thread *thread);
void log_calls_part(struct log *log);
void log_calls_free(struct log *log, struct log_thread *thread);
json_t *log_calls_json(const struct log *log); /* for the end record */

/* alloc.c: an allocation, written, or counted for --log sites; as define.c */
int log_write_alloc(struct log *log, struct log_thread *thread, const struct event *event);
int log_count_alloc(struct log *log, struct log_thread *thread, const struct event *event);

/* comparison.c: shadow stacks beside snapshots; _check_thread: as log_emit */
void log_write_check(struct log *log, const struct stack_totals *totals, uint64_t t);
int log_write_check_thread(struct log *log, struct log_thread *thread, uint64_t t);
json_t *log_put_snapshots(json_t *to, const struct agreement *a); /* returns `to` */
json_t *log_repairs(const struct stack_totals *totals);

/* unmatched.c: patterns of --only, --types, --args and the like that nothing matched; made once */
json_t *log_unmatched(struct log *log);

/*
 * parents.c: the processes that this one comes from, its parent first, for the header, and when it
 * began itself, in ticks of the system; 0: not known. Returns: NULL: not known either.
 */
json_t *log_parents(uint64_t *born);

/* header.c */
int log_write_header(struct log *log);
/*
 * end.c: the end record, and members of it that the status file has, too. NULL: nothing to say.
 */
int log_write_end(struct log *log, uint64_t t);
json_t *log_gone_json(const struct log_file *file); /* `rotated_out` */
json_t *log_off_json(const struct log *log);        /* `off` */
json_t *log_rich_json(const struct log *log);       /* `rich` */

#endif
