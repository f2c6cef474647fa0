/*
 * log/sites.c - --log sites: counts per context, class, heap and thread since the last time they were written.
 *
 * One table takes counts while the other, which it takes turns with, is written a few rows at a time, so that the rings
 * are never left alone for long. A row whose names are not known yet goes back to the first.
 */
#include "log/log_internal.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

#define FIRST_SLOTS 4096 /* a power of two */

struct sites_table {
    struct log_site *row; /* in the order in which they were met */
    uint32_t *slot;       /* open addressing: 1 + index of a row, 0 free */
    size_t rows, slots;
};

struct log_sites {
    struct sites_table open, closing;
    size_t done; /* rows of `closing` that are written, or went back */
};

/* Room for three quarters of the slots; none is taken. */
static int table_init(struct sites_table *table, size_t slots)
{
    *table = (struct sites_table){.slots = slots};
    table->row = memory_alloc(slots / 4 * 3 * sizeof(*table->row));
    table->slot = memory_zalloc(slots, sizeof(*table->slot));
    return table->row && table->slot ? 0 : -ENOMEM;
}

static void table_fini(struct sites_table *table)
{
    memory_free(table->row);
    memory_free(table->slot);
}

static void table_clear(struct sites_table *table)
{
    memset(table->slot, 0, table->slots * sizeof(*table->slot));
    table->rows = 0;
}

int log_sites_new(struct log_sites **out)
{
    struct log_sites *sites = memory_zalloc(1, sizeof(*sites));

    *out = sites;
    if (!sites)
        return -ENOMEM;
    return table_init(&sites->open, FIRST_SLOTS) || table_init(&sites->closing, FIRST_SLOTS)
               ? -ENOMEM
               : 0;
}

void log_sites_free(struct log_sites *sites)
{
    if (sites) {
        table_fini(&sites->open);
        table_fini(&sites->closing);
    }
    memory_free(sites);
}

static uint32_t *slot_of(struct sites_table *table, const struct log_site *key)
{
    uint64_t h = ((uintptr_t)key->class ^ (uint64_t)key->node << 20 ^ (uint64_t)key->site << 40 ^
                  key->thread ^ (uint64_t)key->heap << 60) *
                 UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(h >> 32) & (table->slots - 1);

    for (; table->slot[at]; at = (at + 1) & (table->slots - 1)) {
        const struct log_site *row = &table->row[table->slot[at] - 1];

        if (row->class == key->class && row->node == key->node && row->site == key->site &&
            row->thread == key->thread && row->heap == key->heap)
            break;
    }
    return &table->slot[at];
}

static int table_grow(struct sites_table *table)
{
    size_t slots = table->slots * 2;
    uint32_t *slot = memory_zalloc(slots, sizeof(*slot));
    struct log_site *row = slot ? memory_realloc(table->row, slots / 4 * 3 * sizeof(*row)) : NULL;

    if (!row) {
        memory_free(slot);
        return -ENOMEM;
    }
    memory_free(table->slot);
    table->slot = slot;
    table->row = row;
    table->slots = slots;
    for (size_t i = 0; i < table->rows; i++)
        *slot_of(table, &row[i]) = (uint32_t)i + 1;
    return 0;
}

static int table_add(struct sites_table *table, const struct log_site *site)
{
    struct log_site *row;
    uint32_t *slot;

    if (table->rows == table->slots / 4 * 3 && table_grow(table))
        return -ENOMEM;
    slot = slot_of(table, site);
    if (!*slot) {
        table->row[table->rows++] = *site;
        *slot = (uint32_t)table->rows;
        return 0;
    }
    row = &table->row[*slot - 1];
    row->allocs += site->allocs;
    row->bytes += site->bytes;
    row->weight += site->weight;
    return 0;
}

int log_sites_add(struct log *log, const struct log_thread *thread, const struct event *event)
{
    const struct log_site site = {
        .class = (const struct names_class *)event->subject,
        .node = event->node,
        .site = event->site,
        .thread = thread->ring->thread,
        .heap = event_heap(event),
        .allocs = 1,
        .bytes = event_bytes(event),
        .weight = log_weight(thread, event),
    };

    return table_add(&log->sites->open, &site);
}

static void lose(struct log *log, const struct log_site *site, enum event_lost reason)
{
    log->written -= site->allocs;
    log->lost_here[reason] += site->allocs;
}

/* Returns 0, -EAGAIN while something it speaks of has no name, -ENOMEM. */
static int write_row(struct log *log, const struct log_site *site)
{
    int err = log_define_class(log, site->class);

    if (!err)
        err = log_define_node(log, site->node);
    if (!err && log_site_il(log, site->site) == NAMES_SITE_PENDING)
        err = -EAGAIN;
    if (!err)
        err = log_format_site(log, site);
    if (!err)
        log->file.allocs += site->allocs;
    return err;
}

bool log_sites_write(struct log *log, size_t limit)
{
    struct log_sites *sites = log->sites;

    /* When the file takes nothing, counts go on growing in memory and are written once it does. */
    for (; sites->done < sites->closing.rows && limit && !log_file_full(log); limit--) {
        const struct log_site *site = &sites->closing.row[sites->done++];
        int err = write_row(log, site);

        if (err == -EAGAIN)
            err = table_add(&sites->open, site);
        if (err)
            lose(log, site, EVENT_LOST_NO_MEMORY);
    }
    return sites->done == sites->closing.rows;
}

void log_sites_turn(struct log *log)
{
    struct log_sites *sites = log->sites;
    struct sites_table closing = sites->open;

    if (sites->done < sites->closing.rows)
        return;
    table_clear(&sites->closing);
    sites->open = sites->closing;
    sites->closing = closing;
    sites->done = 0;
}

bool log_sites_flush(struct log *log)
{
    log_sites_write(log, SIZE_MAX);
    log_sites_turn(log);
    return log_sites_write(log, SIZE_MAX) && !log->sites->open.rows;
}

void log_sites_drop(struct log *log)
{
    struct log_sites *sites = log->sites;
    enum event_lost reason = log->file.error ? EVENT_LOST_WRITE_FAILED : EVENT_LOST_STOPPED;

    for (size_t i = sites->done; i < sites->closing.rows; i++)
        lose(log, &sites->closing.row[i], reason);
    for (size_t i = 0; i < sites->open.rows; i++)
        lose(log, &sites->open.row[i], reason);
}
