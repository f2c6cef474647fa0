/*
 * log/message.c - what other threads want of the writer: lines of their own (marks, changes of
 * configuration), and answers (a new part, call sites). A list that anyone pushes onto without a
 * lock; the writer takes it whole.
 */
#include "log/records.h"
#include "log/rounds.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_NS 2000000000ull
#define STEP_NS   20000000ull
#define HELD_NS   1000000000ull

static void push(struct log *log, struct log_message *message)
{
    message->next = load_relaxed(&log->messages);
    while (!cas_acq_rel(&log->messages, &message->next,
                        message)) /* pairs with the writer's exchange */
        ;
    parker_unpark(&log->config.hub->writer);
}

static void drop(struct log_message *message)
{
    if (atomic_fetch_sub_explicit(&message->holders, 1, memory_order_acq_rel) != 1)
        return;
    json_decref(message->line);
    memory_free_all(message->text, message);
}

static struct log_message *in_order(struct log_message *newest)
{
    struct log_message *oldest = NULL;

    while (newest) {
        struct log_message *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

static void handle(struct log *log, struct log_message *message)
{
    if (message->line) {
        json_object_set_new(
            message->line, "t",
            json_integer((json_int_t)log_t(log, clock_ticks_to_ns(message->ticks))));
        if (log->sites)
            log_sites_flush(log); /* a mark parts what was before it from what comes after */
        if (log_emit(log, message->kind, json_incref(message->line)))
            log->not_written[message->kind]++;
        if (message->kind == SST_KIND_UNHANDLED)
            log_status_unhandled(log, message->line);
        if (message->behind)
            log_file_flush(&log->file);
    } else {
        message->answer(log, message);
    }
    store_release(&message->answered, true); /* after err and text */
    parker_unpark(&message->done);
    drop(message);
}

/*
 * A line stands behind what became of objects in collections before it: those lines may wait for a
 * name, and not for long.
 */
static bool may_write(struct log *log)
{
    uint64_t now = clock_ns();

    if (log_live_finish(log)) {
        log->held_ns = 0;
        return true;
    }
    if (!log->held_ns)
        log->held_ns = now;
    return now - log->held_ns >= HELD_NS || load_acquire(&log->stopping);
}

static bool is_handled(const struct log_thread *thread)
{
    uint64_t handled = load_relaxed(&thread->ring->tail) - thread->deferred.count;

    return (int64_t)(handled - thread->behind) >= 0;
}

/* Whether the events before it in the rings are handled. Brief: other messages wait after it. */
static bool is_behind(struct log *log, struct log_message *message)
{
    uint64_t now = clock_ns();

    if (log->behind != message) {
        if (load_relaxed(&log->config.hub->fresh) && !load_acquire(&log->stopping))
            return false; /* a ring that is not adopted yet: the next round */
        log->behind = message;
        log->behind_ns = now;
        for (struct log_thread *thread = log->threads; thread; thread = thread->next)
            thread->behind = load_acquire(&thread->ring->head);
    }
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        if (!is_handled(thread)) {
            if (now - log->behind_ns < HELD_NS && !load_acquire(&log->stopping))
                return false;
            message->err = -ETIMEDOUT;
        }
    log->behind = NULL;
    return true;
}

static bool may_handle(struct log *log, struct log_message *message)
{
    return (!message->line || may_write(log)) && (!message->behind || is_behind(log, message));
}

void log_messages_take(struct log *log)
{
    struct log_message *message, **last = &log->held;

    while (*last)
        last = &(*last)->next;
    *last = in_order(exchange_acq_rel(&log->messages, NULL));
    while ((message = log->held) && may_handle(log, message)) {
        log->held = message->next;
        handle(log, message);
    }
}

/* Returns: whether the writer has come to it in time. */
static bool await(struct log *log, struct log_message *message)
{
    uint64_t until = clock_ns() + ANSWER_NS;

    while (!load_acquire(&message->answered) && clock_ns() < until && !load_relaxed(&log->ended))
        parker_park(&message->done, STEP_NS);
    return load_acquire(&message->answered);
}

enum waits { WAITS_NOT, WAITS_WRITTEN, WAITS_BEHIND };

/*
 * Takes the reference to line, which may be NULL (-ENOMEM). Its "t" is now, converted as that of an
 * allocation is: two clocks differ by microseconds, and a mark would part the wrong ones.
 */
static int post_line(struct log *log, enum sst_kind kind, json_t *line, enum waits waits)
{
    int err = 0;
    struct log_message *message = line ? memory_zalloc(1, sizeof(*message)) : NULL;

    if (!message) {
        json_decref(line);
        return -ENOMEM;
    }
    message->ticks = clock_ticks();
    message->line = line;
    message->kind = kind;
    message->behind = waits == WAITS_BEHIND;
    store_relaxed(&message->holders, waits == WAITS_NOT ? 1 : 2);
    push(log, message);
    if (waits != WAITS_NOT) {
        err = await(log, message) ? message->err : -ETIMEDOUT;
        drop(message);
    }
    return waits == WAITS_BEHIND ? err : 0;
}

static int mark(struct log *log, const char *text, enum waits waits)
{
    return post_line(log, SST_KIND_MARK,
                     json_pack("{s:s, s:i, s:o}", "kind", "mark", "t", 0, "text", log_text(text)),
                     waits);
}

int log_mark(struct log *log, const char *text)
{
    return mark(log, text, WAITS_NOT);
}

int log_mark_written(struct log *log, const char *text)
{
    return mark(log, text, WAITS_WRITTEN);
}

int log_mark_behind(struct log *log, const char *text)
{
    return mark(log, text, WAITS_BEHIND);
}

int log_unhandled(struct log *log, const char *type, const char *message)
{
    json_t *line = json_pack("{s:s, s:i, s:i, s:o}", "kind", "unhandled", "t", 0, "os",
                             (int)gettid(), "type", log_text(type));

    if (*message)
        json_object_set_new(line, "message", log_text(message));
    return post_line(log, SST_KIND_UNHANDLED, line, WAITS_BEHIND);
}

int log_configured(struct log *log, const struct config_settings *now,
                   const struct options_patterns *only)
{
    json_t *patterns = json_array();

    for (size_t i = 0; patterns && i < only->count; i++)
        json_array_append_new(patterns, log_text(only->pattern[i]));
    return post_line(log, SST_KIND_CONFIG,
                     json_pack("{s:s, s:i, s:I, s:b, s:I, s:o}", "kind", "config", "t", 0, "number",
                               (json_int_t)now->generation, "paused", (int)now->paused, "sample",
                               (json_int_t)now->sample, "only", patterns),
                     WAITS_NOT);
}

void log_answer_rows(struct log *log, struct log_message *message, struct buffer *b,
                     struct log_row **order, size_t count,
                     bool (*wanted)(const struct log *log, const struct log_row *row))
{
    for (size_t i = 0, rows = 0; i < count && rows < message->limit; i++) {
        if (wanted && !wanted(log, order[i]))
            continue;
        if (rows++)
            buffer_char(b, ',');
        log_put_row(log, b, order[i]);
    }
    buffer_char(b, ']');
    memory_free(order);
    message->text = buffer_take(b);
    message->err = message->text ? 0 : -ENOMEM;
}

int log_ask(struct log *log, void (*answer)(struct log *log, struct log_message *message),
            uint32_t limit, char **out)
{
    struct log_message *message = memory_zalloc(1, sizeof(*message));
    int err = -ETIMEDOUT;

    *out = NULL;
    if (!message)
        return -ENOMEM;
    message->answer = answer;
    message->limit = limit;
    store_relaxed(&message->holders, 2);
    push(log, message);
    if (await(log, message)) {
        err = message->err;
        *out = message->text;
        message->text = NULL;
    }
    drop(message);
    return err;
}

static void rotate(struct log *log, struct log_message *message)
{
    bool keep = !log_file_overwrites(&log->file);

    log_fate_look(log);
    message->err = log_part_next(log, keep);
    if (!message->err && log->file.older && !(message->text = memory_strdup(log->file.older)))
        message->err = -ENOMEM;
}

int log_rotate(struct log *log, char **out)
{
    return log_ask(log, rotate, 0, out);
}
