/*
 * log/calls.c - the call trace: many events of one thread in one line, as an array of numbers.
 *
 * A batch ends where another record of its thread comes in between, so that the lines of a thread
 * stay in order; when it is large; and when it is old. Now and then one begins with all calls that
 * are open, so that a reader can start there. What a thread could not post is put right here: after
 * the batch's lines are read, every call that was entered has ended or is open.
 */
#include "log/records.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

#define BATCH_BYTES (48u << 10)
#define BATCH_NS    250000000ull
#define OPEN_BYTES  (256u << 10) /* of events between two lists of what is open, at the least */
#define EVENT_BYTES 64           /* that the numbers of one event take at the most */

/* One thread's own; hangs on its log_thread. */
struct log_calls {
    struct buffer events;   /* ",1,250,0,31": pairs of code and nanoseconds since the one before */
    struct buffer at_start; /* calls open when it began, "method,t,..."; often empty: not said */
    bool says_open;
    /* Names a method that the log has not defined, or not what is open: it is dropped. */
    bool doomed;
    uint64_t t, last;        /* of the batch's first event, and of its last, ns */
    uint64_t began;          /* clock_ns(): how old it is */
    uint32_t depth;          /* calls open when it began */
    uint64_t entered, ended; /* in it */
    size_t since_open;       /* bytes of events since a list of what is open */
    struct log_call {
        const struct metadata_method *method;
        uint64_t t;
    } * open;
    uint32_t count;
    size_t capacity;
};

/* Three digits, and above them how many zeros they begin with that a number does not. */
#define DIGITS_1(a, b, c) \
    ('0' + (a)) | ('0' + (b)) << 8 | ('0' + (c)) << 16 | ((a) ? 0 : (b) ? 1 : 2) << 24
#define DIGITS_10(a, b) \
    DIGITS_1(a, b, 0), DIGITS_1(a, b, 1), DIGITS_1(a, b, 2), DIGITS_1(a, b, 3), DIGITS_1(a, b, 4), \
        DIGITS_1(a, b, 5), DIGITS_1(a, b, 6), DIGITS_1(a, b, 7), DIGITS_1(a, b, 8), \
        DIGITS_1(a, b, 9)
#define DIGITS_100(a) \
    DIGITS_10(a, 0), DIGITS_10(a, 1), DIGITS_10(a, 2), DIGITS_10(a, 3), DIGITS_10(a, 4), \
        DIGITS_10(a, 5), DIGITS_10(a, 6), DIGITS_10(a, 7), DIGITS_10(a, 8), DIGITS_10(a, 9)

static const uint32_t digits[1000] = {
    DIGITS_100(0), DIGITS_100(1), DIGITS_100(2), DIGITS_100(3), DIGITS_100(4),
    DIGITS_100(5), DIGITS_100(6), DIGITS_100(7), DIGITS_100(8), DIGITS_100(9),
};

/* A number below 1000, without a branch on its length. Writes some bytes more than it takes. */
static inline char *put_small(char *at, uint64_t value)
{
    unsigned skip = digits[value] >> 24;
    uint32_t text = digits[value] >> 8 * skip;

    memcpy(at, &text, sizeof(text));
    return at + 3 - skip;
}

static inline char *put_unsigned(char *at, uint64_t value)
{
    if (LIKELY(value < 1000))
        return put_small(at, value);
    at = put_unsigned(at, value / 1000);
    memcpy(at, &digits[value % 1000], sizeof(*digits));
    return at + 3;
}

static inline char *put_number(char *at, int64_t value)
{
    if (LIKELY(value >= 0))
        return put_unsigned(at, (uint64_t)value);
    *at++ = '-';
    return put_unsigned(at, -(uint64_t)value);
}

static inline void put(struct log_calls *c, int64_t code, int64_t number)
{
    struct buffer *b = &c->events;
    char *at = LIKELY(b->capacity - b->size > EVENT_BYTES) ? b->data + b->size
                                                           : buffer_reserve(b, EVENT_BYTES);

    if (!at)
        return;
    *at++ = ',';
    at = put_number(at, code);
    *at++ = ',';
    at = put_number(at, number);
    b->size = (size_t)(at - b->data);
}

/* A batch has begun and waits for its line, be it that there was no memory for its first event. */
static inline bool waits(const struct log_calls *c)
{
    return LIKELY(c->events.size) || c->events.failed;
}

/* What it names is defined once more if this part of the log has not done so. */
static void list_open(struct log *log, struct log_calls *c)
{
    int err = 0;

    buffer_clear(&c->at_start);
    for (uint32_t i = 0; !err && i < c->count; i++) {
        err = log_define_method(log, c->open[i].method);
        buffer_format(&c->at_start, "%s%u,%llu", i ? "," : "", c->open[i].method->id,
                      (unsigned long long)c->open[i].t);
    }
    c->says_open = !err && !c->at_start.failed;
    c->doomed = !c->says_open;
    c->since_open = 0;
}

bool log_calls_any_retired(const struct log_thread *thread)
{
    const struct log_calls *c = thread->calls;

    for (uint32_t i = 0; c && i < c->count; i++)
        if (metadata_method_retired(c->open[i].method))
            return true;
    return false;
}

static void begin(struct log *log, struct log_thread *thread, uint64_t ns)
{
    struct log_calls *c = thread->calls;

    c->t = c->last = ns < thread->last_ns ? thread->last_ns : ns;
    c->began = clock_ns();
    c->depth = c->count;
    c->entered = c->ended = 0;
    c->says_open = c->doomed = false;
    if (c->since_open >= OPEN_BYTES + 32 * (size_t)c->count)
        list_open(log, c);
}

static inline int open_push(struct log_calls *c, const struct metadata_method *method, uint64_t t)
{
    if (!array_reserve(&c->open, &c->capacity, (size_t)c->count + 1))
        return -ENOMEM;
    c->open[c->count++] = (struct log_call){method, t};
    return 0;
}

/* The youngest call ends, or the one below `younger` others. */
static inline void take_end(struct log *log, struct log_calls *c, enum event_call what,
                            uint64_t subject, int64_t step)
{
    uint32_t younger = subject < c->count ? (uint32_t)subject : 0;

    put(c,
        what == EVENT_CALL_LEAVE  ? SST_CALL_LEFT
        : what == EVENT_CALL_TAIL ? SST_CALL_TAIL
        : younger                 ? SST_CALL_UNWOUND_BELOW + 1 - (int64_t)younger
                                  : SST_CALL_UNWOUND,
        step);
    if (UNLIKELY(younger))
        memmove(&c->open[c->count - 1 - younger], &c->open[c->count - younger],
                younger * sizeof(*c->open));
    c->count--;
    c->ended++;
    log->calls.left += what == EVENT_CALL_LEAVE;
    log->calls.tail_calls += what == EVENT_CALL_TAIL;
    log->calls.unwound += what == EVENT_CALL_UNWOUND;
}

/* One event into the batch. */
static inline int take(struct log *log, struct log_calls *c, const struct event *event, uint64_t ns)
{
    enum event_call what = event_call_what(event);
    int64_t step = (int64_t)(ns - c->last);

    for (; UNLIKELY(c->count > event->node); c->count--, c->ended++, log->calls.ends_missing++)
        put(c, SST_CALL_END_MISSING, 0);
    if (UNLIKELY(what == EVENT_CALL_MISSING)) {
        put(c, SST_CALL_MISSING, (int64_t)event->subject);
        log->calls.missing += event->subject;
        return 0;
    }
    if (what == EVENT_CALL_ENTER) {
        uint32_t method = event_call_method(event);

        if (UNLIKELY(open_push(c, (const struct metadata_method *)event->subject, ns)))
            return -ENOMEM;
        put(c, method, step);
        c->entered++;
        log->calls.entered++;
    } else if (c->count) {
        take_end(log, c, what, event->subject, step);
    }
    if (UNLIKELY(event->site))
        put(c, SST_CALL_VALUES, event->site);
    c->last = ns;
    return 0;
}

/*
 * *doomed: the file takes no definition. Those that were met before are mostly told by their ids: a
 * look at the record is a cache miss.
 */
static int define(struct log *log, const struct event *event, bool *doomed)
{
    uint32_t id = event_call_method(event), *known = &log->calls_of[id % LOG_CALLS_OF];
    int err;

    if (event_call_what(event) != EVENT_CALL_ENTER || *known == id)
        return 0;
    err = log_define_method(log, (const struct metadata_method *)event->subject);
    if (!err)
        *known = id;
    *doomed |= err == -ENOSPC;
    return err == -ENOSPC ? 0 : err;
}

size_t log_write_calls(struct log *log, struct log_thread *thread, const struct event *events,
                       size_t count, int *err)
{
    struct log_calls *c = thread->calls;
    size_t done;

    if (!c && !(c = thread->calls = memory_zalloc(1, sizeof(*c))))
        return *err = -ENOMEM, 0;
    for (done = 0; done < count && event_kind(&events[done]) == EVENT_CALL; done++) {
        uint64_t ns = log_t(log, clock_ticks_to_ns(events[done].ticks));
        bool doomed = false;

        *err = define(log, &events[done], &doomed);
        if (*err)
            break;
        if (!waits(c))
            begin(log, thread, ns);
        c->doomed |= doomed;
        *err = take(log, c, &events[done], ns);
        if (*err)
            break;
        if (UNLIKELY(c->events.size >= BATCH_BYTES))
            log_calls_flush(log, thread);
    }
    return done;
}

static void put_head(struct buffer *b, const struct log_thread *thread,
                     const struct log_calls *calls)
{
    log_line_begin(b, "calls", calls->t, thread);
    log_put_number(b, ",\"depth\":", calls->depth);
    if (calls->says_open) {
        buffer_text(b, ",\"open\":[");
        buffer_append(b, calls->at_start.data, calls->at_start.size);
        buffer_char(b, ']');
    }
}

void log_calls_flush(struct log *log, struct log_thread *thread)
{
    struct log_calls *c = thread->calls;
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;
    bool full, failed;

    if (!c || !waits(c))
        return;
    full = c->doomed || log_file_full(&log->file);
    failed = full || c->events.failed;
    if (!failed) {
        put_head(b, thread, c);
        buffer_text(b, ",\"e\":[");
        buffer_append(b, c->events.data + 1, c->events.size - 1);
        buffer_char(b, ']');
        failed = log_line_end(log, SST_KIND_CALLS, mark);
    }
    if (failed) {
        log->family_lost[OPTIONS_CALLS][full ? EVENT_LOST_WRITE_FAILED : EVENT_LOST_NO_MEMORY] +=
            c->entered;
        log->calls.entered_lost += c->entered;
        log->calls.ended_lost += c->ended;
        c->since_open = SIZE_MAX / 2; /* the next one says what is open */
    } else {
        log->file.put.entered += c->entered;
        log->file.put.ended += c->ended;
        c->since_open += c->events.size;
    }
    if (c->last > thread->last_ns)
        thread->last_ns = c->last;
    buffer_clear(&c->events);
}

void log_calls_flush_old(struct log *log, uint64_t now)
{
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        if (thread->calls && waits(thread->calls) && now - thread->calls->began >= BATCH_NS)
            log_calls_flush(log, thread);
}

void log_calls_flush_all(struct log *log)
{
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        log_calls_flush(log, thread);
}

void log_calls_part(struct log *log)
{
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        if (thread->calls)
            thread->calls->since_open = SIZE_MAX / 2;
}

/* The thread is gone: what it had open stays so. */
void log_calls_free(struct log *log, struct log_thread *thread)
{
    struct log_calls *c = thread->calls;

    if (!c)
        return;
    log_calls_flush(log, thread);
    log->calls.open_ended += c->count;
    buffer_free(&c->events);
    buffer_free(&c->at_start);
    memory_free_all(c->open, c);
    thread->calls = NULL;
}

#define PUT_END(form, member, label) log_set(sums, #member, s->member);

json_t *log_calls_json(const struct log *log)
{
    const struct log_call_sums *s = &log->calls;
    uint64_t open = s->open_ended;
    json_t *sums = json_object();

    for (const struct log_thread *thread = log->threads; thread; thread = thread->next)
        open += thread->calls ? thread->calls->count : 0;
    log_set(sums, "entered", s->entered);
    SST_COUNTERS_CALL_ENDS(PUT_END)
    log_set(sums, "open", open);
    log_set(sums, "missing", s->missing);
    if (s->entered_lost + s->ended_lost)
        json_object_set_new(sums, "not_written",
                            json_pack("{s:I, s:I}", "entered", (json_int_t)s->entered_lost, "ended",
                                      (json_int_t)s->ended_lost));
    return sums;
}
