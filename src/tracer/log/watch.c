/*
 * log/watch.c - call sites while somebody looks: what each allocated since the first look. Counted
 * by the writer as it writes, so that the traced threads do nothing for it.
 */
#include "log/records.h"
#include "log/rounds.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROWS  1024   /* a power of two */
#define MOST_ROWS   262144 /* the same; what comes beyond is counted as one */
#define IDLE_NS     10000000000ull
#define MOST_FRAMES 64 /* shown of a stack, innermost first */

struct log_watch {
    struct log_row *row; /* class NULL: free; open addressing, capacity a power of two */
    size_t capacity, used;
    struct log_row other;
    uint64_t since_ns, asked_ns;
};

void log_watch_free(struct log_watch *watch)
{
    if (watch)
        memory_free(watch->row);
    memory_free(watch);
}

void log_watch_expire(struct log *log, uint64_t now_ns)
{
    if (!log->watch || now_ns - log->watch->asked_ns < IDLE_NS)
        return;
    log_watch_free(log->watch);
    log->watch = NULL;
}

static struct log_watch *watch_new(void)
{
    struct log_watch *watch = memory_zalloc(1, sizeof(*watch));

    if (!watch)
        return NULL;
    watch->row = memory_zalloc(FIRST_ROWS, sizeof(*watch->row));
    if (!watch->row) {
        log_watch_free(watch);
        return NULL;
    }
    watch->capacity = FIRST_ROWS;
    watch->since_ns = clock_ns();
    return watch;
}

static struct log_row *find(struct log_row *row, size_t capacity, const struct log_row *key)
{
    uint64_t h =
        hash_word((uintptr_t)key->class ^ (uint64_t)key->node << 24 ^ (uint64_t)key->site << 44);
    size_t at = (size_t)(h >> 32) & (capacity - 1);

    while (row[at].class &&
           (row[at].class != key->class || row[at].node != key->node || row[at].site != key->site))
        at = (at + 1) & (capacity - 1);
    return &row[at];
}

/* Room for one more, if that may be. */
static bool grow(struct log_watch *watch)
{
    struct log_row *row;

    if (watch->used * 4 < watch->capacity * 3)
        return true;
    if (watch->capacity >= MOST_ROWS)
        return false;
    row = memory_zalloc(watch->capacity * 2, sizeof(*row));
    if (!row)
        return false;
    for (size_t i = 0; i < watch->capacity; i++)
        if (watch->row[i].class)
            *find(row, watch->capacity * 2, &watch->row[i]) = watch->row[i];
    memory_free(watch->row);
    watch->row = row;
    watch->capacity *= 2;
    return true;
}

void log_watch_add(struct log *log, const struct event *event, double weight)
{
    struct log_watch *watch = log->watch;
    struct log_row key = {.class = (const struct metadata_class *)event->subject,
                          .node = event->node,
                          .site = event->site};
    struct log_row *row = find(watch->row, watch->capacity, &key);

    if (!row->class) {
        if (grow(watch)) {
            row = find(watch->row, watch->capacity, &key);
            *row = key;
            watch->used++;
        } else {
            row = &watch->other;
        }
    }
    row->allocs++;
    row->bytes += weight;
}

static bool forgets(const struct log *log, const struct log_row *row)
{
    const struct tree_node *node = tree_node_by_id(log->config.tree, tree_uncut(row->node));

    for (; node && load_relaxed(&node->up); node = tree_caller(log->config.tree, node))
        if (metadata_method_retired(
                (const struct metadata_method *)tree_method(log->config.tree, node)))
            return true;
    return metadata_class_retired(row->class);
}

void log_watch_forget(struct log *log)
{
    struct log_watch *watch = log->watch;
    struct log_row *old = watch ? watch->row : NULL;

    if (!old)
        return;
    watch->row = memory_zalloc(watch->capacity, sizeof(*watch->row));
    if (!watch->row) { /* start again with the next request */
        watch->row = old;
        log_watch_free(watch);
        log->watch = NULL;
        return;
    }
    watch->used = 0;
    for (size_t i = 0; i < watch->capacity; i++) {
        if (!old[i].class)
            continue;
        if (forgets(log, &old[i])) {
            watch->other.allocs += old[i].allocs;
            watch->other.bytes += old[i].bytes;
        } else {
            *find(watch->row, watch->capacity, &old[i]) = old[i];
            watch->used++;
        }
    }
    memory_free(old);
}

int log_row_by_bytes(const void *a, const void *b)
{
    const struct log_row *const *x = a, *const *y = b;

    return ((*x)->bytes < (*y)->bytes) - ((*x)->bytes > (*y)->bytes);
}

void log_put_row(struct log *log, struct buffer *b, const struct log_row *row)
{
    const struct tree_node *node = tree_node_by_id(log->config.tree, tree_uncut(row->node));
    bool cut = tree_is_cut(row->node);
    int32_t il = cut ? CODE_IL_NONE : log_site_il(log, row->site);
    char members[80];
    unsigned frames = 0;

    buffer_format(b, "{\"allocs\":%llu,\"bytes\":%.0f,\"node\":%u,\"type\":",
                  (unsigned long long)row->allocs, row->bytes, log_node_id(log, row->node));
    buffer_json_string(b, metadata_class_text(row->class));
    *log_put_il(members, il < 0 ? il : il & ~CODE_IL_UNOPTIMISED) = '\0';
    buffer_text(b, members);
    if (cut)
        buffer_text(b, ",\"cut\":true");
    buffer_text(b, ",\"stack\":[");
    for (; node && node->up && frames < MOST_FRAMES; node = tree_caller(log->config.tree, node)) {
        if (frames++)
            buffer_char(b, ',');
        buffer_json_string(b, metadata_method_text((const struct metadata_method *)tree_method(
                                  log->config.tree, node)));
    }
    buffer_text(b, "]}");
}

/* With --log sites a row may be met before its names and its node's number; soon they are there. */
static bool is_named(const struct log *log, const struct log_row *row)
{
    const struct tree_node *node = tree_node_by_id(log->config.tree, tree_uncut(row->node));
    unsigned frames = 0;

    if (log_node_id(log, row->node) == NODE_ID_OPEN)
        return false;
    for (; node && node->up && frames < MOST_FRAMES; node = tree_caller(log->config.tree, node)) {
        frames++;
        if (!metadata_method_text(
                (const struct metadata_method *)tree_method(log->config.tree, node)))
            return false;
    }
    return metadata_class_text(row->class);
}

/* Rows of the table, most bytes first; to be freed. */
static struct log_row **sorted(struct log_watch *watch)
{
    struct log_row **order = memory_alloc((watch->used + 1) * sizeof(struct log_row *));
    size_t count = 0;

    for (size_t i = 0; order && i < watch->capacity; i++)
        if (watch->row[i].class)
            order[count++] = &watch->row[i];
    if (order)
        qsort(order, count, sizeof(*order), log_row_by_bytes);
    return order;
}

static void answer(struct log *log, struct log_message *message)
{
    struct buffer b = BUFFER_INIT;
    struct log_row **order;

    message->err = -ENOMEM;
    if (!log->watch && !(log->watch = watch_new()))
        return;
    log->watch->asked_ns = clock_ns();
    order = sorted(log->watch);
    if (!order)
        return;
    buffer_format(
        &b, "\"since\":%llu,\"sites\":%zu,\"other\":{\"allocs\":%llu,\"bytes\":%.0f},\"rows\":[",
        (unsigned long long)(log->watch->since_ns - log->zero_ns), log->watch->used,
        (unsigned long long)log->watch->other.allocs, log->watch->other.bytes);
    log_answer_rows(log, message, &b, order, log->watch->used, is_named);
}

int log_sites(struct log *log, uint32_t limit, char **out)
{
    return log_ask(log, answer, limit, out);
}
