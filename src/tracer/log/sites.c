/*
 * log/sites.c - --log sites: counts per context, class, heap and thread since the last time they
 * were written.
 *
 * One table takes counts while the other, which it takes turns with, is written a few rows at a
 * time, so that the rings are never left alone for long. A row whose names are not known yet goes
 * back to the first.
 */
#include "log/records.h"
#include "log/rounds.h"

#include "base/decimal.h"
#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

#define FIRST_SLOTS 4096  /* a power of two */
#define MANY_ROWS   32768 /* new rows that are written before their time */
#define KEPT_SLOTS  65536 /* room for as many rows stays when they are written */

/* What one thread allocated at one place; 40 bytes, for there may be hundreds of thousands. */
struct row {
    uint64_t class_heap; /* the class, an address of user space : 48, enum event_heap : 16 */
    uint32_t node, site, thread;
    uint32_t allocs; /* a count that does not fit starts another row */
    uint64_t bytes;
    double more; /* bytes that they stand for beyond their own: --sample */
};

struct sites_table {
    struct row
        *row; /* in the order in which they were met; pages, room for three quarters of the slots */
    /* Open addressing: 1 + index of a row : 32, its hash : 32; 0: free. In pages. */
    uint64_t *slot;
    size_t rows, slots;
};

struct log_sites {
    struct sites_table open, closing;
    /*
     * --live: rows of allocations up to the last collection are in `past`, unless the sums of one
     * before it are being written: then those up to that one are, and later ones in `middle`.
     */
    struct sites_table past, middle;
    uint64_t latest, frozen, told; /* ticks: of that one; of the one before, 0: none; written */
    size_t done;                   /* rows of `closing` that are written, or went back */
    uint64_t swaps;                /* how often they changed when nothing had gone back */
    bool went_back;
    /* Rows of `open` with which it is closed early; those that went back do not count. */
    size_t swap_at;
};

static size_t row_bytes(size_t slots)
{
    return slots / 4 * 3 * sizeof(struct row);
}

/* Room for that many slots, none of them taken, beside the rows there are. */
static int table_room(struct sites_table *table, size_t slots)
{
    uint64_t *slot = memory_pages_map(slots * sizeof(*slot));
    struct row *row =
        slot ? memory_pages_grow(table->row, row_bytes(table->slots), row_bytes(slots)) : NULL;

    if (!row) {
        memory_pages_unmap(slot, slots * sizeof(*slot));
        return -ENOMEM;
    }
    memory_pages_unmap(table->slot, table->slots * sizeof(*slot));
    table->row = row;
    table->slot = slot;
    table->slots = slots;
    return 0;
}

static void table_fini(struct sites_table *table)
{
    memory_pages_unmap(table->row, row_bytes(table->slots));
    memory_pages_unmap(table->slot, table->slots * sizeof(*table->slot));
}

static void table_clear(struct sites_table *table)
{
    if (table->slots > KEPT_SLOTS) {
        memory_pages_clear(table->row, row_bytes(table->slots));
        memory_pages_clear(table->slot, table->slots * sizeof(*table->slot));
    } else {
        memset(table->slot, 0, table->slots * sizeof(*table->slot));
    }
    table->rows = 0;
}

int log_sites_new(struct log_sites **out)
{
    struct log_sites *sites = memory_zalloc(1, sizeof(*sites));

    *out = sites;
    if (!sites)
        return -ENOMEM;
    sites->swap_at = MANY_ROWS;
    return table_room(&sites->open, FIRST_SLOTS) || table_room(&sites->closing, FIRST_SLOTS) ||
                   table_room(&sites->past, FIRST_SLOTS) || table_room(&sites->middle, FIRST_SLOTS)
               ? -ENOMEM
               : 0;
}

void log_sites_free(struct log_sites *sites)
{
    if (sites) {
        table_fini(&sites->open);
        table_fini(&sites->closing);
        table_fini(&sites->past);
        table_fini(&sites->middle);
    }
    memory_free(sites);
}

static uint32_t hash_of(const struct row *row)
{
    return (uint32_t)(hash_word(row->class_heap ^ (uint64_t)row->node << 20 ^
                                (uint64_t)row->site << 40 ^ row->thread) >>
                      32);
}

static struct row *row_at(const struct sites_table *table, const uint64_t *slot)
{
    return &table->row[(uint32_t)*slot - 1];
}

static void slot_set(uint64_t *slot, uint32_t hash, size_t index)
{
    *slot = (uint64_t)hash << 32 | (uint32_t)(index + 1);
}

static uint64_t *slot_of(struct sites_table *table, const struct row *key, uint32_t hash)
{
    size_t at = hash & (table->slots - 1);

    for (; table->slot[at]; at = (at + 1) & (table->slots - 1)) {
        const struct row *row = row_at(table, &table->slot[at]);

        if (table->slot[at] >> 32 == hash && row->class_heap == key->class_heap &&
            row->node == key->node && row->site == key->site && row->thread == key->thread &&
            row->allocs <= UINT32_MAX - key->allocs)
            break;
    }
    return &table->slot[at];
}

static int table_grow(struct sites_table *table)
{
    if (table_room(table, table->slots * 2))
        return -ENOMEM;
    memory_pages_fill(table->slot, table->slots * sizeof(*table->slot)); /* read before written */
    for (size_t i = 0; i < table->rows; i++) {
        uint32_t hash = hash_of(&table->row[i]);

        slot_set(slot_of(table, &table->row[i], hash), hash, i);
    }
    return 0;
}

/* Whether there is room for another row; -ENOSPC: the file takes none, and as many wait as may. */
static int table_reserve(const struct log *log, struct sites_table *table)
{
    if (LIKELY(table->rows < table->slots / 4 * 3))
        return 0;
    if (log_file_full(&log->file) && row_bytes(table->slots * 2) > LOG_KEEP_LIMIT)
        return -ENOSPC;
    return table_grow(table);
}

static int table_add(const struct log *log, struct sites_table *table, const struct row *add)
{
    struct row *row;
    int err = table_reserve(log, table); /* without it what has a row still finds it */
    uint32_t hash = hash_of(add);
    uint64_t *slot = slot_of(table, add, hash);

    if (!*slot) {
        if (err)
            return err;
        slot_set(slot, hash, table->rows);
        table->row[table->rows++] = *add;
        return 0;
    }
    row = row_at(table, slot);
    row->allocs += add->allocs;
    row->bytes += add->bytes;
    row->more += add->more;
    return 0;
}

static void lose(struct log *log, const struct row *row, enum event_lost reason)
{
    log->row_allocs -= row->allocs;
    log->row_bytes -= row->bytes;
    log->lost_here[reason] += row->allocs;
}

static void swap(struct sites_table *a, struct sites_table *b)
{
    struct sites_table swapped = *a;

    *a = *b;
    *b = swapped;
}

/* A collection has ended: what is open was made before it. */
static void cut(struct log *log, uint64_t ticks)
{
    struct log_sites *sites = log->sites;
    struct sites_table *to = sites->frozen ? &sites->middle : &sites->past;

    sites->latest = ticks;
    if (!to->rows) {
        swap(to, &sites->open);
        return;
    }
    for (size_t i = 0; i < sites->open.rows; i++)
        if (table_add(log, to, &sites->open.row[i]))
            lose(log, &sites->open.row[i], EVENT_LOST_NO_MEMORY);
    if (sites->open.rows)
        table_clear(&sites->open);
}

/* Where an allocation of that moment belongs. Without collections to tell from it has none. */
static struct sites_table *table_of(struct log *log, uint64_t ticks)
{
    struct log_sites *sites = log->sites;
    uint64_t latest = log->live ? live_ticks(log->config.live) : 0;

    if (UNLIKELY(latest != sites->latest))
        cut(log, latest);
    if (LIKELY(ticks > latest || !latest))
        return &sites->open;
    return sites->frozen && ticks > sites->frozen ? &sites->middle : &sites->past;
}

int log_sites_add(struct log *log, const struct log_thread *thread, const struct event *event,
                  double weight)
{
    struct log_sites *sites = log->sites;
    const struct row row = {
        .class_heap = event->subject | (uint64_t)event_heap(event) << 48,
        .node = event->node,
        .site = event->site,
        .thread = thread->ring->thread,
        .allocs = 1,
        .bytes = event_bytes(event),
        .more = weight - (double)event_bytes(event),
    };

    if (UNLIKELY(sites->open.rows >= sites->swap_at))
        log_sites_swap(log);
    return table_add(log, table_of(log, event->ticks), &row);
}

static const struct metadata_class *class_of(const struct row *row)
{
    return (const struct metadata_class *)(row->class_heap & ((UINT64_C(1) << 48) - 1));
}

static int write_line(struct log *log, const struct row *row)
{
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;
    double weight = (double)row->bytes + row->more;
    int32_t il = tree_is_cut(row->node) ? CODE_IL_NONE : log_site_il(log, row->site);
    char *line = buffer_reserve(b, LOG_LINE), *at = line;

    if (!line)
        return log_line_drop(log, mark);
    at = LOG_PUT_NUMBER(at, "{\"kind\":\"site\",\"node\":", log_node_id(log, row->node));
    at = log_put_il(at, il);
    if (LIKELY(!tree_is_cut(row->node)))
        at = log_put_inlined(at, log_site_inlined(log, row->site));
    at = LOG_PUT_NUMBER(at, ",\"class\":", class_of(row)->id);
    if (LIKELY(log_ids_has(&log->defined_threads, row->thread)))
        at = LOG_PUT_NUMBER(at, ",\"thread\":", row->thread);
    at = LOG_PUT_NUMBER(at, ",\"allocs\":", row->allocs);
    at = LOG_PUT_NUMBER(at, ",\"bytes\":", row->bytes);
    b->size += (size_t)(at - line);
    log_put_heap(b, (enum event_heap)(row->class_heap >> 48), row->node);
    if (weight > (double)row->bytes) /* else each stands for itself */
        buffer_format(b, ",\"weight\":%.17g", weight);
    return log_line_end(log, SST_KIND_SITE, mark);
}

/* Returns 0, -EAGAIN while something it speaks of has no name, -ENOMEM. */
static int write_row(struct log *log, const struct row *row)
{
    int err = log_define_class(log, class_of(row));

    if (!err)
        err = log_define_node(log, row->node);
    if (!err && log_site_il(log, row->site) == CODE_IL_PENDING)
        err = -EAGAIN;
    if (!err)
        err = log_define_inlined(log, log_site_inlined(log, row->site));
    if (!err)
        err = write_line(log, row);
    if (err)
        return err;
    log->row_allocs -= row->allocs;
    log->row_bytes -= row->bytes;
    log->file.put.allocs += row->allocs;
    log->file.put.bytes += row->bytes;
    log->file.put.cut += tree_is_cut(row->node) ? row->allocs : 0;
    return 0;
}

bool log_sites_write(struct log *log, size_t limit)
{
    struct log_sites *sites = log->sites;

    /* When the file takes nothing, counts go on growing in memory and are written once it does. */
    for (; sites->done < sites->closing.rows && limit && !log_file_full(&log->file); limit--) {
        const struct row *row = &sites->closing.row[sites->done++];
        int err = write_row(log, row);

        if (err == -EAGAIN || err == -ENOSPC) {
            err = table_add(log, log->live ? &sites->past : &sites->open, row);
            sites->swap_at++;
            sites->went_back = true;
        }
        if (err)
            lose(log, row, err == -ENOSPC ? EVENT_LOST_WRITE_FAILED : EVENT_LOST_NO_MEMORY);
        log_file_flush_large(&log->file);
    }
    if (sites->done < sites->closing.rows)
        return false;
    if (sites->done) {
        table_clear(&sites->closing);
        log_file_hurry(&log->file); /* it is half a second old already */
    }
    sites->done = 0;
    return true;
}

void log_sites_swap(struct log *log)
{
    struct log_sites *sites = log->sites;
    struct sites_table *from = sites->past.rows ? &sites->past : &sites->open;

    if (sites->closing.rows)
        return;
    /* What was made after a collection comes behind what became of objects in it. */
    if (log->live && from == &sites->open && live_ticks(log->config.live) != sites->told)
        return;
    sites->swaps += !sites->went_back;
    sites->went_back = false;
    swap(from, &sites->closing);
    sites->swap_at = MANY_ROWS;
}

void log_sites_freeze(struct log *log, uint64_t ticks)
{
    if (log->sites->latest != ticks)
        cut(log, ticks);
    log->sites->frozen = ticks;
}

bool log_sites_write_past(struct log *log)
{
    struct log_sites *sites = log->sites;

    if (!log_sites_write(log, SIZE_MAX))
        return false;
    if (sites->past.rows)
        log_sites_swap(log);
    return log_sites_write(log, SIZE_MAX) && !sites->past.rows;
}

void log_sites_thaw(struct log *log)
{
    struct log_sites *sites = log->sites;

    sites->told = sites->frozen;
    sites->frozen = 0;
    swap(&sites->past, &sites->middle);
}

uint64_t log_sites_swaps(const struct log *log)
{
    return log->sites->swaps;
}

bool log_sites_flush(struct log *log)
{
    struct log_sites *sites = log->sites;

    for (unsigned i = 0; i < (log->live ? 2 : 1); i++) { /* what is past, then what is open */
        log_sites_write(log, SIZE_MAX);
        log_sites_swap(log);
    }
    return log_sites_write(log, SIZE_MAX) && !sites->open.rows && !sites->past.rows &&
           !sites->middle.rows;
}

void log_sites_drop(struct log *log)
{
    struct log_sites *sites = log->sites;
    enum event_lost reason = log->file.error ? EVENT_LOST_WRITE_FAILED : EVENT_LOST_STOPPED;

    for (size_t i = sites->done; i < sites->closing.rows; i++)
        lose(log, &sites->closing.row[i], reason);
    for (size_t i = 0; i < sites->open.rows; i++)
        lose(log, &sites->open.row[i], reason);
    for (size_t i = 0; i < sites->past.rows; i++)
        lose(log, &sites->past.row[i], reason);
    for (size_t i = 0; i < sites->middle.rows; i++)
        lose(log, &sites->middle.row[i], reason);
}
