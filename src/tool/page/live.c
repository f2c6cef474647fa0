#include "page/live.h"

#include "command/print_complete.h"
#include "report/estimate.h"

#define NOWHERE UINT32_MAX

struct amount {
    double bytes, allocs;
};

struct live {
    struct page_union *u;
    const struct side *s;
    const struct report_live *live;
    uint32_t *nodes; /* by cell: of the union; NOWHERE: the filter leaves it out */
    /* By node of the union: */
    struct amount *made, *young, *alive, *survived, *net;
};

static void add(struct amount *to, double bytes, double allocs)
{
    to->bytes += bytes;
    to->allocs += allocs;
}

static double weight(const struct live *l, uint32_t cell, enum model_weight which)
{
    return model_cell_weight(l->s->read.model, cell, which);
}

static int weigh(struct live *l, enum page_weights what, uint32_t node, unsigned size, double bytes,
                 double allocs)
{
    const struct union_cell key = {.node = node, .size = (uint8_t)size, .side = (uint8_t)what};

    return union_weigh(l->u, &key, bytes, allocs);
}

/* ---- sums ---- */

static void add_cells(struct live *l, const uint32_t *nodes)
{
    const struct model_tree *t = l->s->tree;

    for (uint32_t i = 0; i < t->node_count; i++)
        for (uint32_t c = t->first_cell[i]; c < t->first_cell[i + 1]; c++) {
            uint32_t cell = t->cells[c], node = nodes[i];

            l->nodes[cell] = node;
            add(&l->made[node], weight(l, cell, MODEL_BYTES), weight(l, cell, MODEL_ALLOCS));
            add(&l->young[node], weight(l, cell, MODEL_BESIDE_BYTES),
                weight(l, cell, MODEL_BESIDE_ALLOCS));
            add(&l->alive[node], weight(l, cell, MODEL_LIVE_BYTES),
                weight(l, cell, MODEL_LIVE_ALLOCS));
        }
}

static uint32_t node_of(const struct live *l, const struct report_live_change *change)
{
    return change->site == UINT32_MAX ? NOWHERE : l->nodes[change->site];
}

static void add_changes(struct live *l)
{
    for (size_t i = 0; i < l->live->change_count; i++) {
        const struct report_live_change *c = &l->live->changes[i];
        uint32_t node = node_of(l, c);

        if (node == NOWHERE)
            continue;
        add(&l->survived[node], c->survived_bytes, c->survived_allocs);
        add(&l->net[node], c->survived_bytes - c->died_bytes, c->survived_allocs - c->died_allocs);
    }
}

/* ---- fates ---- */

static int put_fates(struct live *l)
{
    int err = 0;

    for (uint32_t n = 0; !err && n < l->u->nodes_count; n++) {
        const struct amount *young = &l->young[n], *alive = &l->alive[n];
        double bytes = l->made[n].bytes - young->bytes - l->survived[n].bytes,
               allocs = l->made[n].allocs - young->allocs - l->survived[n].allocs;

        err = weigh(l, PAGE_FATES, n, LIVE_NEW, bytes, allocs);
        if (!err)
            err = weigh(l, PAGE_FATES, n, LIVE_ALIVE, alive->bytes, alive->allocs);
        if (!err)
            err = weigh(l, PAGE_FATES, n, LIVE_DIED_YOUNG, young->bytes, young->allocs);
    }
    for (size_t i = 0; !err && i < l->live->death_count; i++) {
        const struct report_live_death *d = &l->live->deaths[i];
        unsigned fate = LIVE_DIED + d->generation * (REPORT_LIVE_AGES + 1u) + d->age;

        if (l->nodes[d->number] != NOWHERE)
            err = weigh(l, PAGE_FATES, l->nodes[d->number], fate, d->bytes, d->allocs);
    }
    return err;
}

/* ---- over time ---- */

/* A change at the end of a slice is over there, as report_live_choose has it. */
static uint32_t slice_of(const struct live *l, uint64_t t)
{
    const struct model *m = l->s->read.model;
    uint64_t each = model_slice_ns(m), slice = t && each ? (t - 1) / each : 0;
    unsigned count = model_slice_count(m);

    if (slice < count)
        return (uint32_t)slice;
    return count ? count - 1 : 0;
}

static int put_over_time(struct live *l)
{
    const struct report_live_change *changes = l->live->changes;
    struct union_cell key = {.side = PAGE_SURVIVED};
    uint32_t slice = 0;
    int err = 0;

    for (uint32_t n = 0; !err && n < l->u->nodes_count; n++) { /* what was there before */
        key.node = n;
        err = union_weigh(l->u, &key, l->alive[n].bytes - l->net[n].bytes,
                          l->alive[n].allocs - l->net[n].allocs);
    }
    for (size_t i = l->live->change_count; !err && i-- > 0;) { /* each as of its live_total */
        uint32_t node = node_of(l, &changes[i]);

        if (changes[i].site == UINT32_MAX)
            slice = slice_of(l, changes[i].t);
        if (node == NOWHERE)
            continue;
        key = (struct union_cell){.node = node, .slice = slice, .side = PAGE_SURVIVED};
        err = union_weigh(l->u, &key, changes[i].survived_bytes, changes[i].survived_allocs);
        key.side = PAGE_DIED;
        if (!err)
            err = union_weigh(l->u, &key, changes[i].died_bytes, changes[i].died_allocs);
    }
    return err;
}

/* ---- the peak ---- */

/* Behind the live_total that says most of a recording; *next: where the next one begins. */
static size_t find_peak(const struct report_live *live, size_t from, size_t *next)
{
    size_t peak = from, i = from;
    double most = -1;

    for (; i < live->change_count && live->changes[i].recording == live->changes[from].recording;
         i++)
        if (live->changes[i].site == UINT32_MAX && live->changes[i].survived_bytes > most) {
            most = live->changes[i].survived_bytes;
            peak = i + 1;
        }
    *next = i;
    return peak;
}

static int put_peak(struct live *l, struct amount *peak)
{
    const struct report_live *live = l->live;
    size_t next;
    int err = 0;

    for (uint32_t n = 0; n < l->u->nodes_count; n++)
        peak[n] = (struct amount){l->alive[n].bytes - l->net[n].bytes,
                                  l->alive[n].allocs - l->net[n].allocs};
    for (size_t i = 0; i < live->change_count; i = next) {
        size_t to = find_peak(live, i, &next);

        for (; i < to; i++)
            if (node_of(l, &live->changes[i]) != NOWHERE)
                add(&peak[node_of(l, &live->changes[i])],
                    live->changes[i].survived_bytes - live->changes[i].died_bytes,
                    live->changes[i].survived_allocs - live->changes[i].died_allocs);
    }
    for (uint32_t n = 0; !err && n < l->u->nodes_count; n++)
        err = weigh(l, PAGE_PEAK, n, 0, peak[n].bytes, peak[n].allocs);
    return err;
}

/* ---- what grows ---- */

static int add_growing(struct live *l)
{
    const struct report_live *live = l->live;

    l->u->growing = memory_alloc((live->growing_count + 1) * sizeof(*l->u->growing));
    for (size_t i = 0; l->u->growing && i < live->growing_count; i++) {
        const struct report_live_growing *g = &live->growing[i];

        if (l->nodes[g->site] != NOWHERE)
            l->u->growing[l->u->growing_count++] =
                (struct union_growing){l->nodes[g->site], g->looks, g->allocs};
    }
    return l->u->growing ? 0 : -ENOMEM;
}

int live_add(struct page_union *u, const struct side *s, const uint32_t *nodes)
{
    struct live l = {.u = u, .s = s, .live = model_live(s->read.model)};
    size_t cells = model_cell_count(s->read.model), count = u->nodes_count;
    struct amount *sums = memory_zalloc(6 * count + 1, sizeof(*sums));
    int err;

    l.nodes = memory_alloc((cells + 1) * sizeof(*l.nodes));
    err = sums && l.nodes ? 0 : -ENOMEM;
    if (!err) {
        l.made = sums;
        l.young = sums + count;
        l.alive = sums + 2 * count;
        l.survived = sums + 3 * count;
        l.net = sums + 4 * count;
        for (size_t i = 0; i < cells; i++)
            l.nodes[i] = NOWHERE;
        add_cells(&l, nodes);
        add_changes(&l);
        err = put_fates(&l);
    }
    if (!err)
        err = put_over_time(&l);
    if (!err)
        err = put_peak(&l, sums + 5 * count);
    if (!err)
        err = add_growing(&l);
    memory_free_all(sums, l.nodes);
    return err;
}

/* ---- head ---- */

static void put_collection(struct json_writer *w, const char *key,
                           const struct log_collection *collection)
{
    jw_object(w, key);
    print_collection_json(collection, "t", w);
    jw_end(w);
}

static void put_words(struct json_writer *w, const char *key, enum report_live_question question)
{
    const struct report_live_words *words = report_live_words(question);

    jw_array(w, key);
    jw_text(w, NULL, words->what);
    jw_text(w, NULL, words->unknown);
    jw_end(w);
}

/* [[node, looks, objects]...], nodes in their order. */
static void put_growing(const struct page_union *u, struct json_writer *json)
{
    jw_array(json, "grows");
    for (size_t node = 0; u->growing_count && node < u->nodes_count; node++)
        for (size_t i = 0; i < u->growing_count; i++) {
            if (u->growing[i].node != u->order[node])
                continue;
            jw_array(json, NULL);
            jw_unsigned(json, NULL, node);
            jw_unsigned(json, NULL, report_whole(u->growing[i].looks));
            jw_unsigned(json, NULL, report_whole(u->growing[i].allocs));
            jw_end(json);
        }
    jw_end(json);
}

void live_head(const struct page_union *u, const struct side *s, struct json_writer *json)
{
    const struct report_live *live = model_live(s->read.model);

    jw_object(json, "live");
    jw_text_if(json, "why", report_live_why(live));
    if (live->most_mean > 0 && !live->approximate)
        jw_number(json, "mean", "%.0f", live->most_mean);
    put_collection(json, "last", &live->last);
    put_collection(json, "peak", &live->peak);
    jw_unsigned(json, "recordings", live->asked);
    if (live->asked == 1 && live->last.gc > live->collections)
        jw_unsigned(json, "missed", live->last.gc - live->collections);
    jw_object(json, "words");
    put_words(json, "end", REPORT_LIVE_END);
    put_words(json, "peak", REPORT_LIVE_PEAK);
    put_words(json, "alive", REPORT_LIVE_AT);
    put_words(json, "grown", REPORT_LIVE_GROWN);
    put_words(json, "temporary", REPORT_LIVE_TEMPORARY);
    put_words(json, "lifetimes", REPORT_LIVE_LIFETIMES);
    jw_end(json);
    put_growing(u, json);
    jw_end(json);
}
