/*
 * log/message.c - what other threads want of the writer: lines of their own (marks, changes of
 * configuration), and answers (a new part, call sites). A list that anyone pushes onto without a
 * lock; the writer takes it whole.
 */
#include "log/internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

#define ANSWER_NS 2000000000ull
#define STEP_NS   20000000ull

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
        if (log->sites)
            log_sites_flush(log); /* a mark parts what was before it from what comes after */
        if (log_emit(log, message->kind, json_incref(message->line)))
            log->not_written[message->kind]++;
    } else {
        message->answer(log, message);
        store_release(&message->answered, true); /* after err and text */
        parker_unpark(&message->done);
    }
    drop(message);
}

void log_messages_take(struct log *log)
{
    struct log_message *next, *message = in_order(exchange_acq_rel(&log->messages, NULL));

    for (; message; message = next) {
        next = message->next;
        handle(log, message);
    }
}

/* Takes the reference to line, which may be NULL (-ENOMEM). */
static int post_line(struct log *log, enum sst_kind kind, json_t *line)
{
    struct log_message *message = line ? memory_zalloc(1, sizeof(*message)) : NULL;

    if (!message) {
        json_decref(line);
        return -ENOMEM;
    }
    message->line = line;
    message->kind = kind;
    store_relaxed(&message->holders, 1);
    push(log, message);
    return 0;
}

int log_mark(struct log *log, const char *text)
{
    return post_line(log, SST_KIND_MARK,
                     json_pack("{s:s, s:I, s:o}", "kind", "mark", "t",
                               (json_int_t)log_t(log, clock_ns()), "text", log_text(text)));
}

int log_configured(struct log *log, const struct config_settings *now,
                   const struct options_patterns *only)
{
    json_t *patterns = json_array();

    for (size_t i = 0; patterns && i < only->count; i++)
        json_array_append_new(patterns, log_text(only->pattern[i]));
    return post_line(log, SST_KIND_CONFIG,
                     json_pack("{s:s, s:I, s:I, s:b, s:I, s:o}", "kind", "config", "t",
                               (json_int_t)log_t(log, clock_ns()), "number",
                               (json_int_t)now->generation, "paused", (int)now->paused, "sample",
                               (json_int_t)now->sample, "only", patterns));
}

int log_ask(struct log *log, void (*answer)(struct log *log, struct log_message *message),
            uint32_t limit, char **out)
{
    struct log_message *message = memory_zalloc(1, sizeof(*message));
    uint64_t until = clock_ns() + ANSWER_NS;
    int err = -ETIMEDOUT;

    *out = NULL;
    if (!message)
        return -ENOMEM;
    message->answer = answer;
    message->limit = limit;
    store_relaxed(&message->holders, 2);
    push(log, message);
    while (!load_acquire(&message->answered) && clock_ns() < until && !load_relaxed(&log->ended))
        parker_park(&message->done, STEP_NS);
    if (load_acquire(&message->answered)) {
        err = message->err;
        *out = message->text;
        message->text = NULL;
    }
    drop(message);
    return err;
}

static void rotate(struct log *log, struct log_message *message)
{
    bool keep = !log->config.options->max_log;

    log_fate_look(log);
    message->err = log_part_next(log, keep);
    if (!message->err && log->file.older && !(message->text = memory_strdup(log->file.older)))
        message->err = -ENOMEM;
}

int log_rotate(struct log *log, char **out)
{
    return log_ask(log, rotate, 0, out);
}
