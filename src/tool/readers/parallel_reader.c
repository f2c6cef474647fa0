#include "readers/parallel_reader.h"

#include "base/array.h"
#include "base/atomics.h"
#include "base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define THREADS_MAX 64

/* A block on its way: read, parsed, used. Its content belongs to the thread that handles it. */
struct work {
    struct log_block block;
    struct log_parsed *lines;
    struct log_parser **parsers; /* of the lines that jansson read: each keeps its record */
    size_t count, capacity, parser_count, parser_capacity;
    uint64_t taken; /* bytes of the file when it was read */
    int status;     /* 1; 0: the end; -errno */
    bool ready;     /* parsed; under the lock */
};

/*
 * Guarded by lock: works[i].ready and all that follows it here. Work number n lies in
 * works[n % work_count]: [next_use, next_read) are read, being read, or being parsed.
 */
struct parallel_reader {
    struct log_lines *lines; /* of the thread whose turn it is to read */
    struct work *works;
    size_t work_count;
    pthread_t threads[THREADS_MAX];
    unsigned thread_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t next_read, next_use;
    bool reading, ended, stop;
    /* the user's */
    struct work *current;
    size_t at;
    uint64_t line, taken;
};

static void work_clear(struct work *w)
{
    for (size_t i = 0; i < w->parser_count; i++)
        log_parser_fini(w->parsers[i]);
    w->parser_count = w->count = 0;
}

static struct log_parsed *next_line(struct work *w)
{
    return array_reserve(&w->lines, &w->capacity, w->count + 1) ? &w->lines[w->count++] : NULL;
}

/* Parsers stay where they are: records point into them. */
static struct log_parser *next_parser(struct work *w)
{
    struct log_parser *parser;

    if (!array_reserve_zeroed(&w->parsers, &w->parser_capacity, w->parser_count + 1))
        return NULL;
    parser = w->parsers[w->parser_count];
    if (!parser && !(parser = memory_alloc(sizeof(*parser))))
        return NULL;
    w->parsers[w->parser_count++] = parser;
    log_parser_init(parser);
    return parser;
}

static int parse_line(struct work *w, struct log_parser *hand, struct log_parsed *parsed)
{
    struct log_parser *parser;

    parsed->err = 0;
    parsed->why = NULL;
    parsed->unknown_members = 0;
    if (UNLIKELY(parsed->line.too_long))
        return 0;
    if (LIKELY(log_parse_by_hand(hand, &parsed->line, &parsed->record))) {
        parsed->unknown_members = hand->unknown_members;
        hand->unknown_members = 0;
        return 0;
    }
    parser = next_parser(w);
    if (!parser)
        return -ENOMEM;
    parsed->err = log_parse_any(parser, &parsed->line, &parsed->record);
    parsed->why = parser->why;
    parsed->unknown_members = parser->unknown_members;
    return parsed->err == -ENOMEM ? -ENOMEM : 0;
}

static int parse(struct work *w)
{
    const char *at = w->block.text, *end = at + w->block.size;
    uint64_t offset = w->block.offset;
    struct log_parser hand; /* holds nothing between lines that are read by hand */
    int err = 0;

    log_parser_init(&hand);
    do {
        const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        const size_t size = (size_t)((newline ? newline : end) - at);
        const bool too_long = w->block.too_long || size > LOG_LINE_MAX;
        struct log_parsed *parsed = next_line(w);

        if (!parsed)
            return -ENOMEM;
        parsed->line = (struct log_line){
            .text = too_long ? "" : at,
            .size = too_long ? 0 : size,
            .at = {.offset = offset},
            .cut = w->block.cut && !newline,
            .too_long = too_long,
        };
        err = parse_line(w, &hand, parsed);
        offset += size + 1;
        at = newline ? newline + 1 : end;
    } while (!err && at < end);
    w->count -= err != 0;
    return err;
}

/* A read of a pipe may last for ever: only there a thread can be ended from outside. */
static int read_block(struct parallel_reader *a, struct work *w)
{
    int before, status;

    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    status = log_lines_block(a->lines, &w->block);
    pthread_setcancelstate(before, NULL);
    w->taken = log_lines_taken(a->lines);
    return status;
}

/* The next work to be read, waiting for room and for its turn. NULL: there is no more. Locked. */
static struct work *claim(struct parallel_reader *a)
{
    while (!a->stop && !a->ended && (a->reading || a->next_read - a->next_use == a->work_count))
        pthread_cond_wait(&a->changed, &a->lock);
    if (a->stop || a->ended)
        return NULL;
    a->reading = true;
    return &a->works[a->next_read++ % a->work_count];
}

static void *reader_main(void *context)
{
    struct parallel_reader *a = context;
    struct work *w;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_mutex_lock(&a->lock);
    while ((w = claim(a))) {
        int status;

        pthread_mutex_unlock(&a->lock);
        work_clear(w);
        status = read_block(a, w);
        pthread_mutex_lock(&a->lock);
        a->reading = false;
        a->ended = status <= 0;
        pthread_cond_broadcast(&a->changed);
        pthread_mutex_unlock(&a->lock);
        if (status > 0) {
            int err = parse(w);

            status = err ? err : status;
        }
        pthread_mutex_lock(&a->lock);
        w->status = status;
        w->ready = true;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

int parallel_reader_new(struct log_lines *lines, unsigned threads, struct parallel_reader **out)
{
    struct parallel_reader *a = memory_zalloc(1, sizeof(*a));

    *out = NULL;
    if (threads < 1)
        threads = 1;
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (a)
        a->works = memory_zalloc(2 * (size_t)threads + 1, sizeof(*a->works));
    if (!a || !a->works) {
        memory_free(a);
        return -ENOMEM;
    }
    a->lines = lines;
    a->work_count = 2 * (size_t)threads + 1;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    while (a->thread_count < threads &&
           pthread_create(&a->threads[a->thread_count], NULL, reader_main, a) == 0)
        a->thread_count++;
    if (!a->thread_count) {
        parallel_reader_free(a);
        return -EAGAIN;
    }
    *out = a;
    return 0;
}

void parallel_reader_free(struct parallel_reader *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < a->thread_count; i++)
        pthread_cancel(a->threads[i]);
    for (unsigned i = 0; i < a->thread_count; i++)
        pthread_join(a->threads[i], NULL);
    for (size_t i = 0; i < a->work_count; i++) {
        work_clear(&a->works[i]);
        log_block_fini(&a->works[i].block);
        memory_free(a->works[i].lines);
        for (size_t k = 0; k < a->works[i].parser_capacity; k++)
            memory_free(a->works[i].parsers[k]);
        memory_free(a->works[i].parsers);
    }
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    memory_free_all(a->works, a);
}

/* Give the used block back, take the next one. Returns its status. */
static int next_work(struct parallel_reader *a)
{
    struct work *w;
    int status;

    pthread_mutex_lock(&a->lock);
    if (a->current) {
        a->current->ready = false;
        a->next_use++;
        pthread_cond_broadcast(&a->changed);
    }
    w = &a->works[a->next_use % a->work_count];
    while (!w->ready)
        pthread_cond_wait(&a->changed, &a->lock);
    status = w->status;
    pthread_mutex_unlock(&a->lock);
    a->current = w;
    a->at = 0;
    a->taken = w->taken;
    return status;
}

int parallel_reader_next(struct parallel_reader *a, const struct log_parsed **out)
{
    struct log_parsed *parsed;

    if (UNLIKELY(!a->current || a->at == a->current->count)) {
        int status = a->current && a->current->status <= 0 ? a->current->status : next_work(a);

        if (a->at == a->current->count)
            return status; /* the end, or a failure: what came before it was given */
    }
    parsed = &a->current->lines[a->at++];
    parsed->line.at.line = ++a->line;
    parsed->record.at = parsed->line.at;
    *out = parsed;
    return 1;
}

uint64_t parallel_reader_taken(const struct parallel_reader *a)
{
    return a->taken;
}
