/*
 * log/internal.h - what the files of src/tracer/log/ share. All of it is the writer thread's alone,
 * but for what is said to be others'. The files are listed in the order in which they call each
 * other, the callers last.
 */
#ifndef SHADOWTRACE_LOG_INTERNAL_H
#define SHADOWTRACE_LOG_INTERNAL_H

#include "log/log.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "code/resolve.h"
#include "options/options_fields.h"

#include <jansson.h>
#include <pthread.h>
#include <time.h>

#include <shadowtrace/log_reader.h>

#define LOG_KEEP_LIMIT  (8u << 20)  /* bytes kept while the file cannot be written */
#define LOG_FLUSH_BYTES (32u << 10) /* write when that much waits: it is in the cache still */
#define LOG_CALLS_OF    8192        /* methods; a power of two */

/* Which ids have been written; grows as needed. */
struct log_ids {
    uint8_t *seen;
    size_t capacity;
};

/* deferred.c: a queue of events. */
struct log_deferred {
    struct log_deferred_block *oldest, *youngest; /* NULL when it is empty */
    size_t first;                                 /* index of the oldest event in its block */
    size_t count;
};

/* What the writer knows of one traced thread; hangs on its ring. */
struct log_thread {
    struct event_ring *ring;
    struct log_thread *next;
    bool defined;             /* its line is written */
    uint64_t last_ns;         /* `t` of a thread never falls */
    struct log_calls *calls;  /* calls.c; NULL: none yet */
    char *name;               /* UTF-8, NULL: none given */
    uint64_t reported_checks; /* compared and refused, as last written */
    uint32_t values;          /* of the event with these ticks: the youngest frame's values */
    uint64_t values_ticks;
    struct log_value *live; /* values.c: --stacks inline */
    size_t live_count, live_capacity;
    uint64_t sample; /* bytes per sampled event, as of its latest EVENT_SAMPLE_RATE; 0: all */
    uint64_t weight; /* of the event at hand, by its EVENT_WEIGHT; 0: by size and `sample` */
    struct log_deferred deferred; /* events taken from the ring that wait for a definition */
    uint64_t grace;               /* events that log_grace_over() waits for */
    uint64_t before_live;         /* events of before the collection that is being written */
    uint64_t behind;              /* events that the line of log->behind stands behind */
};

/* tally.c: what lines stand for. All of it are 64-bit counters. */
struct log_tally {
    uint64_t lines[SST_KIND_COUNT];
    uint64_t allocs, bytes;  /* of alloc and site lines */
    uint64_t cut;            /* of these allocs: without all of their path */
    uint64_t entered, ended; /* of calls lines */
};

/* What others did to the file: see `file` of the end record. */
struct log_file_fate {
    bool removed, replaced;
    uint64_t truncated; /* bytes */
    char *moved;        /* where it is now, "": not known; NULL: where it was made */
};

/* An earlier part of this log, PATH.number: a later part may overwrite it. */
struct log_older {
    uint64_t inode;
    uint32_t number;
    struct log_tally tally; /* what is in it */
};

/* Of the file: file.c. */
struct log_file {
    int fd;
    struct buffer buffer; /* lines not yet written; of the first, `sent` bytes are */
    size_t sent;
    struct buffer packed;           /* --compress: what the system has not taken yet */
    const struct log_zstd *zstd;    /* NULL until lines are packed, as is the next */
    struct ZSTD_CCtx_s *compressor; /* --compress */
    bool in_frame;                  /* --compress: the frame is not ended */
    uint64_t bytes;                 /* written so far, to all parts */
    uint64_t part_bytes;            /* to this part */
    uint64_t share;                 /* of --max-log, for each part; UINT64_MAX without */
    uint32_t part;                  /* 1, 2, ...: --max-log */
    uint64_t oldest_ns;             /* when the first byte of the buffer came; 0: empty */
    /* --compress: `put` as of what is in the file for sure; as of `packed` */
    struct log_tally settled, packed_put;
    int error; /* errno of the last failure, 0 while writing works */
    char *path;
    char *older; /* what the part before is called now; NULL: there was none */
    struct log_older kept[OPTIONS_KEEP_MOST]; /* the oldest first */
    unsigned kept_count;
    uint64_t part_began_ns;
    struct log_file_fate fate;
    bool cut;      /* shorter than what was written: not written until the log starts again */
    bool unlinked; /* the file has no name any more, and no other could be created */
    uint64_t left; /* bytes of a file that was cut */
};

/* Of the call trace: entered = left + tail_calls + unwound + ends_missing + those open. */
struct log_call_sums {
    uint64_t entered, left, tail_calls, unwound, ends_missing;
    uint64_t missing;                  /* calls that had no room in a ring */
    uint64_t open_ended;               /* open when their thread went */
    uint64_t entered_lost, ended_lost; /* of these in lines that never came into the file */
};

/* What another thread wants of the writer: message.c. */
struct log_message {
    struct log_message *next;
    json_t *line;   /* to be written; NULL: a question */
    uint64_t ticks; /* when it was posted */
    enum sst_kind kind;
    void (*answer)(struct log *log,
                   struct log_message *message); /* on the writer; sets err, text */
    bool behind; /* the line stands behind all that is in the rings, and is flushed */
    uint32_t limit;
    int err;
    char *text; /* the answer */
    struct parker done;
    _Atomic(unsigned) holders; /* who asked, and the writer: the last one frees it */
    _Atomic(bool) answered;
};

/* Images that native frames lie in; the id is the place + 1. */
struct log_images {
    struct log_image *image;
    size_t count, capacity;
};

struct log {
    struct log_config config;
    _Atomic(struct log_message *) messages; /* newest first; pushed by any thread */
    struct log_message *held; /* taken, and to be written behind what comes before; oldest first */
    uint64_t held_ns;         /* since when; 0: none is */
    const struct log_message *behind; /* whose turn it is to be behind the rings; NULL: none's */
    uint64_t behind_ns;               /* since when */
    struct log_watch *watch;          /* while somebody looks at call sites: watch.c */
    /* log_counts() */
    _Atomic(uint64_t) shown_written, shown_bytes, shown_file, shown_part, shown_cut;
    struct log_file file;
    pthread_t thread;
    bool started;
    json_t *unhandled;                        /* the line of an exception; NULL: none so far */
    _Atomic(const char *) uncontrolled;       /* why there is no socket; NULL */
    _Atomic(const char *) uncompressed;       /* why --compress packs nothing; NULL */
    _Atomic(const char *) heap_file, no_heap; /* --heap-at-exit: written, why not; NULL */
    _Atomic(bool) waits; /* the writer sleeps for something to get its name, but not long */
    _Atomic(bool) stopping, ended, abandoned; /* set by others, by the writer, by a forked child */
    struct parker over;                       /* log_stop sleeps here until ended */
    uint64_t deadline_ns;                     /* once stopping: when to give up */
    uint64_t zero_ns;                         /* CLOCK_MONOTONIC at t = 0 */
    time_t started_at; /* the same as a date: of the recording, not of its part */
    json_t *parents;   /* log_parents() at that time; NULL: not known */
    uint64_t born;
    struct log_thread *threads;
    struct log_ids defined_threads;
    uint32_t part; /* 1, 2, ...: each defines everything again; see `written` of records */
    struct log_images images;
    bool headless;      /* this part has no header yet: the writer begins it, or memory ran out */
    bool unadopted;     /* a ring waits for the same reason */
    uint8_t generation; /* mark of a node that this part of the log has; 1 to 255 */
    struct tree_node **path; /* scratch: nodes to be defined, leaf first */
    size_t path_capacity;
    struct log_tally put;  /* lines in the file, all its parts, or on their way there in buffers */
    struct log_tally gone; /* of these in parts that are gone: --max-log, a file that was cut */
    uint64_t gone_parts;
    struct log_tally part_began;          /* `put` when this part did */
    uint64_t not_written[SST_KIND_COUNT]; /* dropped, of kinds that nothing else counts */
    uint64_t reported_not_written;
    double estimated_allocs, estimated_bytes; /* what the sampled ones stand for, if `sampled` */
    bool sampled;
    uint64_t row_allocs, row_bytes; /* --log sites: counted, and in no line yet */
    uint64_t lost_here[EVENT_LOST_REASONS];
    uint64_t deferred; /* events in all queues */
    /* Of rings that are freed. */
    uint64_t seen_by_ended, lost_ended[EVENT_LOST_REASONS];
    uint64_t reported_taken, reported_lost[EVENT_LOST_REASONS], reported_repairs[STACK_REPAIRS];
    uint64_t family_lost[EVENT_FAMILIES][EVENT_LOST_REASONS]; /* the writer's own */
    uint64_t reported_family_lost[EVENT_FAMILIES];
    uint64_t calls_seen_ended, calls_lost_ended; /* of rings that are freed */
    struct log_call_sums calls;
    uint64_t next_report_ns;
    /* --log sites: when sums are written next, how long after that again, when they last were */
    uint64_t next_sites_ns, sites_ns, swapped_ns;
    uint64_t reported_ticks[PROFILE_SOURCES];
    bool sampling_written;
    double ns_per_pair;
    json_t *unmatched;       /* log_unmatched()'s, once it is made */
    struct log_sites *sites; /* --log sites */
    struct log_live *live;   /* --live */
    /* Log ids of nodes: their own until some are given out again, see forget.c. */
    _Atomic(uint32_t) *node_id; /* by node: 0 its own, NODE_ID_OPEN none yet; pages; NULL */
    uint32_t node_ids;          /* given out, the newest; 0: all are their own */
    uint32_t node_max;          /* the largest of those that are their own */
    _Atomic(uint32_t) grace_asked, grace_over;
    uint32_t grace_begun;
    uint64_t grace_swaps; /* of log->sites */
    struct log_deferred_block *spare;
    unsigned spares;
    uint32_t calls_of[LOG_CALLS_OF]; /* ids of methods that are written: calls.c, a cache */
};

/* tally.c */
void log_tally_add(struct log_tally *to, const struct log_tally *more);
void log_tally_take(struct log_tally *from, const struct log_tally *less);
/* Adds whole lines. Returns: how many bytes they are. */
size_t log_tally_lines(struct log_tally *t, const char *data, size_t size);
void log_lose(struct log *log,
              const struct log_tally *lost); /* put, but not in the file after all */
enum sst_kind log_family_kind(uint32_t family);
json_t *log_kinds_json(const uint64_t lines[SST_KIND_COUNT]);
uint64_t log_kinds_sum(const uint64_t lines[SST_KIND_COUNT]);
json_t *log_gone_json(const struct log *log);             /* `rotated_out`; NULL: nothing */
json_t *log_off_json(const struct log *log);              /* `off`; NULL: nothing */
json_t *log_rich_json(const struct log *log);             /* `rich`; NULL: nothing */
static inline uint64_t log_written(const struct log *log) /* allocations */
{
    return log->put.allocs + log->row_allocs;
}

/*
 * parents.c: the processes that this one comes from, its parent first, for the header, and when it
 * began itself, in ticks of the system; 0: not known. Returns: NULL: not known either.
 */
json_t *log_parents(uint64_t *born);

/* deferred.c: log->deferred counts what is in all queues */
int log_deferred_push(struct log *log, struct log_deferred *queue, const struct event *event);
const struct event *log_deferred_oldest(const struct log_deferred *queue); /* NULL: none waits */
void log_deferred_pop(struct log *log, struct log_deferred *queue);
void log_deferred_free(struct log_deferred_block *blocks); /* log->spare */

/*
 * file.c
 * log_file_begin   - the first lines, which are to be there at once.
 * log_file_flush   - as much as the system takes; the rest is kept.
 * log_file_is_cut  - somebody has made the file shorter. log_file_in_place: PATH is it still.
 * log_file_pending - what of `put` is not in the file. log_file_due - --max-log, --part-time: this
 * part is full, or old enough. log_file_overwrites - the oldest part goes when there are too many.
 * log_file_next    - on to the next part: 0 or -errno, then the present one goes on.
 * log_file_reopen  - a new file at its path; aside: the present one is renamed first. 0 or -errno.
 * log_file_restart - nothing waits to be written: a part begins.
 * log_file_free    - closes and releases; a file in which nothing was written is removed.
 */
struct stat;
int log_file_open(struct log *log, char *why, size_t why_size);
void log_file_begin(struct log *log);
void log_file_flush(struct log *log);
bool log_file_same(const struct stat *a, const struct stat *b);
bool log_file_is_cut(struct log_file *file);
bool log_file_in_place(const struct log_file *file);
void log_file_pending(const struct log *log, struct log_tally *out);
bool log_file_due(const struct log *log);
bool log_file_overwrites(const struct log *log);
int log_file_next(struct log *log, bool keep);
int log_file_reopen(struct log *log, bool aside);
void log_file_restart(struct log *log);
void log_file_close(struct log *log);
void log_file_free(struct log *log);

/* Of --max-log. Without it there is no end to that. */
static inline bool log_file_has_its_share(const struct log *log)
{
    return log->file.part_bytes >= log->file.share;
}

/* Between lines: before they take much memory. */
static inline void log_file_flush_large(struct log *log)
{
    if (UNLIKELY(log->file.buffer.size >= LOG_FLUSH_BYTES) && !log->file.error)
        log_file_flush(log);
}
/*
 * Writing fails, and as much waits as may: no line is put there any more but the end record. What
 * needs a line is dropped and counted; its definitions are tried again by the next that needs them.
 */
static inline bool log_file_full(const struct log *log)
{
    return UNLIKELY(log->file.error) && log->file.buffer.size >= LOG_KEEP_LIMIT;
}
static inline void log_file_hurry(struct log *log) /* what waits is written this round */
{
    log->file.oldest_ns = 1;
}

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

/*
 * JSON of a line to be emitted. Members are set without a look at the result, in a NULL line too:
 * log_emit() knows whether memory was refused meanwhile. A member that is NULL is left out.
 */
json_t *log_text(const char *text);    /* string of whatever bytes; NULL when memory runs out */
json_t *log_texts(char *const *texts); /* NULL-terminated, or NULL */
void log_hex(char hex[20], uint64_t value, int digits);
void log_set(json_t *to, const char *member, uint64_t value);
void log_set_any(json_t *to, const char *member, uint64_t value);           /* unless it is 0 */
void log_set_text(json_t *to, const char *member, const char *text);        /* unless NULL */
static inline void log_set_flag(json_t *to, const char *member, bool value) /* unless false */
{
    json_object_set_new(to, member, value ? json_true() : NULL);
}

/* Who takes the samples, as the log says it. */
static inline const char *log_sampler(const struct log *log)
{
    return log->config.samples ? samples_name(log->config.samples) : "exact";
}

json_t *log_reasons(const uint64_t by[EVENT_LOST_REASONS]);
json_t *log_histogram(const struct agreement_histogram *h);

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

/*
 * sites.c: --log sites
 * log_sites_swap  - starts to write the counts so far, unless the previous ones are being written.
 * log_sites_write - writes up to `limit` rows. Returns: whether all are written.
 * log_sites_swaps - the number of completed lots, except those with rows that were put back.
 * log_sites_flush - writes all. Returns: false: some wait for a name, or for the file.
 * log_sites_drop  - at the end: the rest is lost, and counted.
 */
int log_sites_new(struct log_sites **out);
void log_sites_free(struct log_sites *sites);
int log_sites_add(struct log *log, const struct log_thread *thread, const struct event *event,
                  double weight);
void log_sites_swap(struct log *log);
bool log_sites_write(struct log *log, size_t limit);
uint64_t log_sites_swaps(const struct log *log);
bool log_sites_flush(struct log *log);
void log_sites_drop(struct log *log);
/*
 * --live: log_sites_freeze - what became of objects up to the collection of these ticks is about to
 * be written; log_sites_write_past - what was allocated before it, first: whether all is;
 * log_sites_thaw - it is written.
 */
void log_sites_freeze(struct log *log, uint64_t ticks);
bool log_sites_write_past(struct log *log);
void log_sites_thaw(struct log *log);

/*
 * live.c: --live
 * log_live_write  - what the table has, at most once a second. Returns: false: some waits for a
 *                   name, for a ring that is new, or for the file. log_live_finish: all of it.
 * log_live_part   - a part begins: what is alive is written again. log_live_forget: as log_forget.
 */
int log_live_new(uint32_t grows_after, uint32_t max_nodes, struct log_live **out);
void log_live_free(struct log_live *live); /* NULL is fine */
bool log_live_write(struct log *log, uint64_t now);
bool log_live_finish(struct log *log);
void log_live_part(struct log *log);
void log_live_forget(struct log *log, const struct tree_list *nodes);
json_t *log_live_json(const struct log *log);

/* header.c */
int log_write_header(struct log *log);
/* log.c: the first lines, to the file. Returns: 0; -ENOMEM, headless; or what the system says. */
int log_begin(struct log *log);

/* part.c: the next part begins; 0 or -errno, then the present one goes on */
int log_part_next(struct log *log, bool keep);
void log_part_begin(struct log *log); /* its header; everything must be defined again */

/*
 * fate.c: what others do to the file. log_fate_look - between rounds: checks the file, and starts
 * the log again if necessary. log_fate_end - at the end, for a file that was removed.
 */
void log_fate_look(struct log *log);
void log_fate_begin_anew(struct log *log);
void log_fate_end(struct log *log);
json_t *log_fate_json(const struct log *log); /* `file`; NULL: nothing happened */

/* message.c: log_messages_take - all that wait, oldest first */
void log_messages_take(struct log *log);
int log_ask(struct log *log, void (*answer)(struct log *log, struct log_message *message),
            uint32_t limit, char **out);

/* watch.c: log_watch_forget - what was unloaded */
void log_watch_add(struct log *log, const struct event *event, double weight);
void log_watch_expire(struct log *log, uint64_t now_ns);
void log_watch_forget(struct log *log);
void log_watch_free(struct log_watch *watch);

/* A call site in an answer, all of which has been named; log_put_row - as JSON. */
struct log_row {
    const struct metadata_class *class;
    uint32_t node, site;
    uint64_t allocs;
    double bytes; /* weighted */
};
void log_put_row(struct log *log, struct buffer *b, const struct log_row *row);
/*
 * log_answer_rows - a message with what b holds, which ends with the first of these rows; wanted
 * NULL: of all. Owns: b's text and order.
 */
void log_answer_rows(struct log *log, struct log_message *message, struct buffer *b,
                     struct log_row **order, size_t count,
                     bool (*wanted)(const struct log *log, const struct log_row *row));
int log_row_by_bytes(const void *a, const void *b); /* of two struct log_row *: most bytes first */

/* alloc.c: an allocation, written, or counted for --log sites; as define.c */
int log_write_alloc(struct log *log, struct log_thread *thread, const struct event *event);
int log_count_alloc(struct log *log, struct log_thread *thread, const struct event *event);

/* forget.c */
void log_grace_take(struct log *log);  /* begins what was asked for: after the rings were adopted */
void log_grace_check(struct log *log); /* at the end of a round */
static inline bool log_grace_waits(const struct log *log)
{
    return log->grace_begun != load_relaxed(&log->grace_over);
}

/* comparison.c: shadow stacks beside snapshots; _check_thread: as log_emit */
void log_write_check(struct log *log, const struct stack_totals *totals, uint64_t t);
int log_write_check_thread(struct log *log, struct log_thread *thread, uint64_t t);
json_t *log_put_snapshots(json_t *to, const struct agreement *a); /* returns `to` */
json_t *log_repairs(const struct stack_totals *totals);

/* reports.c: check, lost, repair and the like, those that changed; log_lost returns their sum */
void log_write_reports(struct log *log, uint64_t t);
uint64_t log_lost(const struct log *log, uint64_t by[EVENT_LOST_REASONS], uint64_t *seen);

/* unmatched.c: patterns of --only, --types, --args and the like that nothing matched; made once */
json_t *log_unmatched(struct log *log);

/* end.c */
int log_write_end(struct log *log, uint64_t t);

/* status.c: this process's file in the status folder. 0 or -ENOMEM */
int log_status_write(struct log *log, const char *state);
void log_status_unhandled(struct log *log, const json_t *line); /* what ends the process */

/* handle.c: one event. 0: it is done with, or lost and counted; -EAGAIN: it has to wait */
int log_handle(struct log *log, struct log_thread *thread, const struct event *event);

/* writer.c: the thread; log.c starts it */
void *log_writer(void *log);

#endif
