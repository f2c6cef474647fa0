/*
 * log/sites.c - --log sites: counts per context, class, heap and thread since the last time they were written.
 */
#include "log/log_internal.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

#define FIRST_ROWS 4096 /* a power of two */

struct site_row {
    uint64_t subject; /* class; 0: free */
    uint32_t node, site, thread;
    uint64_t allocs, bytes;
    double weight;
    uint32_t heap;
};

struct log_sites {
    struct site_row *row; /* open addressing */
    size_t capacity, used;
};

int log_sites_new(struct log_sites **out)
{
    struct log_sites *sites = memory_zalloc(1, sizeof(*sites));

    *out = sites;
    if (!sites)
        return -ENOMEM;
    sites->capacity = FIRST_ROWS;
    sites->row = memory_zalloc(sites->capacity, sizeof(*sites->row));
    return sites->row ? 0 : -ENOMEM;
}

void log_sites_free(struct log_sites *sites)
{
    if (sites)
        memory_free(sites->row);
    memory_free(sites);
}

static struct site_row *find(struct site_row *row, size_t capacity, const struct site_row *key)
{
    uint64_t h = (key->subject ^ (uint64_t)key->node << 20 ^ (uint64_t)key->site << 40 ^
                  key->thread ^ (uint64_t)key->heap << 60) *
                 UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(h >> 32) & (capacity - 1);

    while (row[at].subject && (row[at].subject != key->subject || row[at].node != key->node ||
                               row[at].site != key->site || row[at].thread != key->thread ||
                               row[at].heap != key->heap))
        at = (at + 1) & (capacity - 1);
    return &row[at];
}

static int grow(struct log_sites *sites)
{
    size_t capacity = sites->capacity * 2;
    struct site_row *row = memory_zalloc(capacity, sizeof(*row));

    if (!row)
        return -ENOMEM;
    for (size_t i = 0; i < sites->capacity; i++)
        if (sites->row[i].subject)
            *find(row, capacity, &sites->row[i]) = sites->row[i];
    memory_free(sites->row);
    sites->row = row;
    sites->capacity = capacity;
    return 0;
}

int log_sites_add(struct log *log, struct log_thread *thread, const struct event *event)
{
    struct log_sites *sites = log->sites;
    struct site_row key = {.subject = event->subject,
                           .node = event->node,
                           .site = event->site,
                           .thread = thread->ring->thread,
                           .heap = event_heap(event)};
    struct site_row *row;

    if (sites->used * 4 >= sites->capacity * 3 && grow(sites))
        return -ENOMEM;
    row = find(sites->row, sites->capacity, &key);
    if (!row->subject) {
        *row = key;
        sites->used++;
    }
    row->allocs++;
    row->bytes += event_bytes(event);
    if (log->config.options->sample)
        row->weight += log_weight(log, event);
    return 0;
}

/* Returns 0, or -ENOMEM when what the row speaks of could not be defined in this part of the log. */
static int write_row(struct log *log, const struct site_row *row)
{
    static const char *const heap_names[] = {"", ",\"heap\":\"large\"", ",\"heap\":\"pinned\"",
                                             ",\"heap\":\"frozen\""};
    struct buffer *b = &log->file.buffer;
    int32_t il = log_site_il(log, row->site);
    size_t mark;
    int err = log_define_class(log, (const struct names_class *)row->subject);

    if (!err)
        err = log_define_node(log, row->node);
    if (err)
        return err;
    mark = b->size;
    buffer_format(b, "{\"kind\":\"site\",\"node\":%u", row->node);
    if (il >= 0)
        buffer_format(b, ",\"il\":%d", il);
    buffer_format(b, ",\"class\":%u,\"thread\":%u,\"allocs\":%llu,\"bytes\":%llu%s",
                  ((const struct names_class *)row->subject)->id, row->thread,
                  (unsigned long long)row->allocs, (unsigned long long)row->bytes,
                  heap_names[row->heap]);
    if (row->weight > 0)
        buffer_format(b, ",\"weight\":%.17g", row->weight);
    buffer_append(b, "}\n", 2);
    if (b->failed) { /* memory is out: these allocations are lost, and said to be */
        b->size = mark;
        b->failed = 0;
        log->written -= row->allocs;
        log->lost_here[EVENT_LOST_NO_MEMORY] += row->allocs;
    } else {
        log->file.allocs += row->allocs;
    }
    return 0;
}

void log_sites_flush(struct log *log)
{
    struct log_sites *sites = log->sites;

    if (log_file_full(log))
        return; /* the counts go on growing in memory and are written once the file takes them */
    for (size_t i = 0; i < sites->capacity && sites->used; i++) {
        if (!sites->row[i].subject)
            continue;
        if (write_row(log, &sites->row[i])) {
            log->written -= sites->row[i].allocs;
            log->lost_here[EVENT_LOST_NO_MEMORY] += sites->row[i].allocs;
        }
        sites->row[i].subject = 0;
        sites->row[i].allocs = sites->row[i].bytes = 0;
        sites->row[i].weight = 0;
    }
    sites->used = 0;
}

void log_sites_drop(struct log *log)
{
    struct log_sites *sites = log->sites;

    for (size_t i = 0; i < sites->capacity && sites->used; i++) {
        log->written -= sites->row[i].allocs;
        log->lost_here[EVENT_LOST_WRITE_FAILED] += sites->row[i].allocs;
    }
}
