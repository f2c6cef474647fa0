#include "server/mark.h"

int mark_new(struct report_cells *c, uint64_t now_ns, struct mark **out)
{
    struct mark *m = memory_zalloc(1, sizeof(*m));

    *out = NULL;
    if (!m || report_cells_flush(c)) {
        memory_free(m);
        return -ENOMEM;
    }
    m->at_ns = now_ns;
    m->count = c->count;
    m->sums = memory_alloc((c->count + 1) * sizeof(*m->sums));
    if (c->sampled)
        m->sampled = memory_alloc((c->count + 1) * sizeof(*m->sampled));
    if (!m->sums || (c->sampled && !m->sampled)) {
        mark_free(m);
        return -ENOMEM;
    }
    for (size_t i = 0; i < c->count; i++)
        m->sums[i] = (struct mark_sums){c->cells[i].bytes, c->cells[i].allocs};
    if (c->sampled && c->count)
        memcpy(m->sampled, c->sampled, c->count * sizeof(*m->sampled));
    memcpy(m->heaps, c->heaps, sizeof(m->heaps));
    *out = m;
    return 0;
}

void mark_free(struct mark *m)
{
    if (m)
        memory_free_all(m->sums, m->sampled);
    memory_free(m);
}

struct mark_sums mark_total(const struct mark *m)
{
    struct mark_sums total = {0, 0};

    for (size_t heap = 0; m && heap < SST_HEAP_COUNT; heap++) {
        total.bytes += m->heaps[heap].bytes;
        total.allocs += m->heaps[heap].allocs;
    }
    return total;
}

/* ---- what came since ---- */

static void take_away(struct report_cell_sampled *from, const struct report_cell_sampled *what)
{
    from->bytes_variance -= what->bytes_variance;
    from->allocs_variance -= what->allocs_variance;
    from->bytes -= what->bytes;
    from->allocs -= what->allocs;
}

/* What a cell came to at the mark: nothing, if it is newer. */
static struct mark_sums sums_at(const struct mark *m, size_t cell)
{
    return cell < m->count ? m->sums[cell] : (struct mark_sums){0, 0};
}

/* Until a log proves sampled each allocation stands for itself. */
static struct report_cell_sampled sampled_at(const struct mark *m, size_t cell)
{
    const struct mark_sums sums = sums_at(m, cell);

    if (m->sampled)
        return cell < m->count ? m->sampled[cell] : (struct report_cell_sampled){0, 0, 0, 0};
    return (struct report_cell_sampled){0, 0, sums.bytes, sums.allocs};
}

static void heaps_since(struct report_cells *c, const struct mark *m)
{
    for (size_t heap = 0; heap < SST_HEAP_COUNT; heap++) {
        const struct report_cell_sum *then = &m->heaps[heap];
        struct report_cell_sum *now = &c->heaps[heap];
        struct report_cell_sampled sampled = then->sampled;

        if (c->sampled && !m->sampled)
            sampled = (struct report_cell_sampled){0, 0, then->bytes, then->allocs};
        now->bytes -= then->bytes;
        now->allocs -= then->allocs;
        now->unoptimised -= then->unoptimised;
        take_away(&now->sampled, &sampled);
    }
}

/* What is alive is of now, not of a span of time. */
static void forget_live(struct report_cells *c)
{
    memory_free_all(c->lives, c->spreads);
    c->lives = NULL;
    c->spreads = NULL;
    c->live_settled = true;
    c->live.question = c->options.live = REPORT_LIVE_NONE;
    report_live_forget(&c->live);
    c->live.death_count = c->live.growing_count = c->live.change_count = 0;
}

void mark_since(struct report_cells *c, const struct mark *m)
{
    size_t kept = 0;

    forget_live(c);
    heaps_since(c, m);
    for (size_t i = 0; i < c->count; i++) {
        struct report_cell cell = c->cells[i];
        const struct mark_sums then = sums_at(m, i);

        cell.bytes -= then.bytes;
        cell.allocs -= then.allocs;
        if (!(cell.allocs > 0))
            continue;
        if (c->sampled) {
            struct report_cell_sampled sampled = c->sampled[i], before = sampled_at(m, i);

            take_away(&sampled, &before);
            c->sampled[kept] = sampled;
        }
        c->cells[kept++] = cell;
    }
    c->count = kept;
}

/* ---- by slices of time ---- */

/* The cells by slice, in place of those by path alone. */
struct sliced {
    struct report_cell *cells;
    struct report_cell_sampled *sampled;
    size_t count, capacity, sampled_capacity;
};

/* What of a cell came between a mark and the next, or with `next` NULL until now. */
static int add_slice(struct sliced *s, const struct report_cells *cells, size_t i,
                     const struct mark *from, const struct mark *next, uint32_t slice)
{
    struct mark_sums then = sums_at(from, i),
                     now = next ? sums_at(next, i)
                                : (struct mark_sums){cells->cells[i].bytes, cells->cells[i].allocs};

    if (!(now.allocs - then.allocs > 0))
        return 0;
    if (!array_reserve(&s->cells, &s->capacity, s->count + 1) ||
        (cells->sampled && !array_reserve(&s->sampled, &s->sampled_capacity, s->count + 1)))
        return -ENOMEM;
    s->cells[s->count] = cells->cells[i];
    s->cells[s->count].slice = slice;
    s->cells[s->count].bytes = now.bytes - then.bytes;
    s->cells[s->count].allocs = now.allocs - then.allocs;
    if (cells->sampled) {
        struct report_cell_sampled before = sampled_at(from, i);

        s->sampled[s->count] = next ? sampled_at(next, i) : cells->sampled[i];
        take_away(&s->sampled[s->count], &before);
    }
    s->count++;
    return 0;
}

int mark_slices(struct report_cells *c, struct mark *const *marks, size_t count, uint64_t slice_ns,
                uint64_t now_ns)
{
    struct sliced s = {.count = 0};
    int err = 0;

    for (size_t i = 0; !err && i < c->count; i++)
        for (size_t k = 0; !err && k < count; k++)
            err = add_slice(&s, c, i, marks[k], k + 1 < count ? marks[k + 1] : NULL, (uint32_t)k);
    if (err) {
        memory_free_all(s.cells, s.sampled);
        return err;
    }
    forget_live(c);
    heaps_since(c, marks[0]);
    memory_free(c->cells);
    c->cells = s.cells;
    c->count = s.count;
    c->capacity = s.capacity;
    if (c->sampled) {
        memory_free(c->sampled);
        c->sampled = s.sampled ? s.sampled : memory_zalloc(1, sizeof(*s.sampled));
        c->sampled_capacity = s.sampled ? s.sampled_capacity : 1;
    }
    c->slice_ns = slice_ns;
    c->duration = now_ns - marks[0]->at_ns;
    return c->cells || !c->count ? 0 : -ENOMEM;
}
