#include "report/live.h"

#include "readers/header.h"
#include "report/estimate.h"

#include <errno.h>

/* The most samples that are followed after a collection (samples/alive.c has a higher limit; the
 * number is itself an estimate here). */
#define FOLLOWED_MOST 4700

/* ---- which collections ---- */

/* Whether a collection was over at that bound. */
static bool is_over(const struct log_collection *c, const struct report_live_bound *bound)
{
    if (!bound->given)
        return true;
    if (bound->is_gc)
        return c->gc <= bound->gc;
    if (c->at.recording != bound->at.recording)
        return c->at.recording < bound->at.recording;
    return bound->at.t ? c->at.t <= bound->at.t : c->at.line <= bound->at.line;
}

/* Collections between two lines of a log: numbers are read, and may be any. */
static uint64_t between(uint64_t before, uint64_t next)
{
    return next > before ? next - before - 1 : 0;
}

/*
 * Of those behind `last` and before `next`, how many may have run before the bound. A mark's line
 * stands behind the sums of all that did.
 */
static uint64_t missed(const struct log_collection *last, const struct report_live_bound *bound,
                       const struct log_collection *next)
{
    if (!bound->given || next->opening)
        return 0;
    if (bound->is_gc)
        return between(last->gc, bound->gc + 1 < next->gc ? bound->gc + 1 : next->gc);
    if (bound->at.line > last->at.line && bound->at.line < next->at.line)
        return 0;
    return between(last->gc, next->gc);
}

/* c is the first that was not over at a bound. before: the one of the same recording, or NULL. */
static void pass(const struct log_collection *c, const struct log_collection *before,
                 const struct report_live_bound *bound, const struct log_collection *last,
                 uint64_t *count)
{
    if (!is_over(c, bound) && (!before || is_over(before, bound)))
        *count = missed(last, bound, c);
}

int report_live_choose(const struct log_marks *marks, enum report_live_question question,
                       const struct report_live_bound *from, const struct report_live_bound *to,
                       struct report_live_spans *out)
{
    out->count = marks->recordings ? marks->recordings : 1;
    out->spans = memory_zalloc(out->count + 1, sizeof(*out->spans));
    if (!out->spans)
        return -ENOMEM;
    for (size_t i = 0; i < marks->collection_count; i++) {
        const struct log_collection *c = &marks->collections[i],
                                    *before =
                                        i && c[-1].at.recording == c->at.recording ? c - 1 : NULL;
        struct report_live_span *span =
            &out->spans[c->at.recording <= out->count ? c->at.recording : out->count];

        pass(c, before, from, &span->first, &span->missed_first);
        if (question != REPORT_LIVE_PEAK)
            pass(c, before, to, &span->last, &span->missed);
        else if (is_over(c, to) && !c->opening)
            span->missed += between(before ? before->gc : 0, c->gc);
        if (from->given && is_over(c, from)) {
            span->from = i + 1;
            span->first = *c;
        }
        if (is_over(c, to) &&
            (question != REPORT_LIVE_PEAK || !span->to || c->bytes > span->last.bytes)) {
            span->to = i + 1;
            span->last = *c;
        }
    }
    return 0;
}

void report_live_spans_fini(struct report_live_spans *spans)
{
    memory_free(spans->spans);
    *spans = (struct report_live_spans){NULL, 0};
}

/* ---- reading ---- */

void report_live_init(struct report_live *l, enum report_live_question question)
{
    *l = (struct report_live){.question = question};
}

void report_live_fini(struct report_live *l)
{
    memory_free_all(l->sites, l->more, l->deaths, l->changes, l->growing);
    index_free(&l->death_index);
    log_id_map_free(&l->ids);
}

/* The part of the recording being read that is asked for; NULL: all of it. */
static const struct report_live_span *span_of(const struct report_live *l)
{
    if (!l->spans || !l->spans->count)
        return NULL;
    return &l->spans->spans[l->recording < l->spans->count ? l->recording : l->spans->count];
}

/*
 * Bytes a sample as the recording ended: thinned since it began, never less. One without an end
 * says it by what its samples have come to, which was too much for fewer of them.
 */
static double mean_of(const struct report_live *l)
{
    double mean = l->mean;

    while (!l->over && mean > 0 && l->most_bytes / mean > FOLLOWED_MOST)
        mean *= 2;
    return mean;
}

static void settle(struct report_live *l)
{
    const double mean = mean_of(l);

    for (size_t i = l->first; l->more && i < l->count; i++)
        l->more[i].mean = mean;
    l->most_mean = l->totals && mean > l->most_mean ? mean : l->most_mean;
    if (l->totals) {
        l->ended++;
        l->ended_bytes += (double)l->last.bytes;
        l->ended_allocs += (double)l->last.allocs;
        l->peaked_bytes += (double)l->peak.bytes;
        l->peaked_allocs += (double)l->peak.allocs;
        l->totals = 0;
    }
    l->first = l->count;
    l->growing_first = l->growing_count;
    l->bytes = l->allocs = 0;
    l->opened = false;
    log_id_map_free(&l->ids);
    l->ids = (struct log_id_map){.pages = NULL};
}

void report_live_begin(struct report_live *l, const struct report_live_spans *spans)
{
    settle(l);
    l->spans = spans;
    l->seen = 0;
    l->recording = 0;
}

static int begin_estimates(struct report_live *l)
{
    if (l->more)
        return 0;
    l->more_capacity = l->count + 1;
    l->more = memory_zalloc(l->more_capacity, sizeof(*l->more));
    return l->more ? 0 : -ENOMEM;
}

int report_live_recording(struct report_live *l, uint64_t recording, const json_t *header)
{
    enum log_sampler_kind sampler = log_sampler_kind(header);
    bool live = json_is_true(json_object_get(json_object_get(header, "options"), "live"));

    if (recording != l->recording) {
        if (l->recording)
            settle(l);
        l->mean = l->first_mean = l->most_bytes = 0;
        l->over = false;
    }
    l->recording = recording;
    l->opened = false;
    if (sampler == LOG_SAMPLER_EXACT || !live || l->first_mean > 0)
        return 0;
    l->mean = l->first_mean = (double)log_sample_mean(header);
    l->approximate |= sampler == LOG_SAMPLER_TICKS;
    return begin_estimates(l);
}

/* Samples that a higher mean has left may be thinned once more while they are followed. */
void report_live_mean(struct report_live *l, const struct log_record *r)
{
    double sample = (double)json_integer_value(json_object_get(r->json, "sample"));

    if (r->kind == SST_KIND_CONFIG && l->first_mean > 0 && sample > l->mean)
        l->mean = sample;
    if (r->kind != SST_KIND_END || !(l->first_mean > 0))
        return;
    l->mean *= (double)log_alive_mean(NULL, r->json) / l->first_mean;
    l->over = true;
}

void report_live_end(struct report_live *l)
{
    settle(l);
    for (size_t i = 0; i < l->death_count; i++) {
        struct report_live_death *d = &l->deaths[i];

        if (l->more && d->number < l->count)
            d->variance =
                report_estimate_alive_variance(d->bytes, d->allocs, l->more[d->number].mean);
    }
    l->spans = NULL;
}

bool report_live_bound(const struct report_live *l, double bytes, struct report_amount *out)
{
    double mean = l->totals ? mean_of(l) : 0; /* of one that is still being read */

    mean = mean > l->most_mean ? mean : l->most_mean;
    if (!(mean > 0) || l->approximate)
        return false;
    *out = report_estimate_interval(bytes, bytes * mean, 0);
    if (!(bytes > 0))
        out->high = report_estimate_none(mean);
    return true;
}

static int add_site(struct report_live *l, const struct report_live_site *site, uint32_t id)
{
    if (!array_reserve(&l->sites, &l->capacity, l->count + 1) ||
        (l->more && !array_reserve(&l->more, &l->more_capacity, l->count + 1)))
        return -ENOMEM;
    l->sites[l->count] = *site;
    if (l->more)
        l->more[l->count] = (struct report_live_more){.mean = 0};
    return log_id_map_set(&l->ids, id, (uint32_t)l->count++);
}

/* In a later part a site is defined again, maybe with less: the first definition stays. */
static int take_site(struct report_live *l, struct log_defs *defs, const struct log_record *r)
{
    const struct log_alloc *a = &r->alloc;
    struct report_live_site site = {.il = log_defs_alloc_il(defs, a),
                                    .unoptimised = a->unoptimised};
    int err;

    if (log_id_map_get(&l->ids, a->id))
        return 0;
    site.path = LOG_PATH_LOST;
    err = a->unloaded ? 0 : log_defs_alloc_path(defs, a, r->at, &site.path);
    if (a->unloaded)
        site.il = LOG_NO_IL;
    if (!err)
        err = log_defs_class(defs, a->class_id, r->at, &site.class_number);
    return err ? err : add_site(l, &site, a->id);
}

static int site_of(struct report_live *l, struct log_defs *defs, const struct log_record *r,
                   struct report_live_site **out)
{
    const struct report_live_site lost = {.path = LOG_PATH_LOST, .il = LOG_NO_IL};
    uint32_t number = log_id_map_get(&l->ids, r->live.site);

    if (UNLIKELY(!number)) {
        log_problem(defs->problems, r->at, "live_site %u is used but not defined", r->live.site);
        defs->undefined++;
        if (add_site(l, &lost, r->live.site))
            return -ENOMEM;
        number = (uint32_t)l->count;
    }
    *out = &l->sites[number - 1];
    return 0;
}

INDEX_OF_BYTES(death_kind, struct report_live_death, age);

static int add_death(struct report_live *l, uint32_t site, const struct log_died *d)
{
    const struct report_live_death key = {
        .number = site, .generation = (uint16_t)d->generation, .age = (uint16_t)d->age};
    uint32_t number;

    if (index_add(&l->death_index, &death_kind, &l->deaths, &l->death_count, &l->death_capacity,
                  &key, &number) < 0)
        return -ENOMEM;
    l->deaths[number].bytes += (double)d->bytes;
    l->deaths[number].allocs += (double)d->objects;
    return 0;
}

/* A part begins with all that is alive: whatever was known before is said again. */
static void open_part(struct report_live *l)
{
    if (l->opened)
        return;
    for (size_t i = l->first; i < l->count; i++)
        l->sites[i].bytes = l->sites[i].allocs = 0;
    l->bytes = l->allocs = 0;
    l->opened = true;
}

static int take_deaths(struct report_live *l, struct report_live_site *site,
                       const struct log_record *r, bool within)
{
    const char *at = r->live.died;
    struct log_died d;
    int err = 0;

    while (!err && at && log_died_next(&at, &d)) {
        if (d.generation >= REPORT_LIVE_GENERATIONS)
            d.generation = 2; /* of a later version: whatever it is, an old one */
        if (d.age > REPORT_LIVE_AGES)
            d.age = REPORT_LIVE_AGES;
        site->bytes -= (double)d.bytes;
        site->allocs -= (double)d.objects;
        l->bytes -= (double)d.bytes;
        l->allocs -= (double)d.objects;
        if (within && l->question == REPORT_LIVE_LIFETIMES)
            err = add_death(l, (uint32_t)(site - l->sites), &d);
    }
    return err;
}

static int add_change(struct report_live *l, const struct report_live_change *change)
{
    if (!l->keeps_changes)
        return 0;
    if (!array_reserve(&l->changes, &l->change_capacity, l->change_count + 1))
        return -ENOMEM;
    l->changes[l->change_count++] = *change;
    return 0;
}

static int take_live(struct report_live *l, struct log_defs *defs, const struct log_record *r)
{
    const struct report_live_span *span = span_of(l);
    const double bytes = (double)r->live.survived_bytes, allocs = (double)r->live.survived;
    bool within = !span || l->seen >= span->from;
    double before_bytes, before_allocs;
    struct report_live_site *site;
    int err;

    if (span && l->seen >= span->to)
        return 0;
    if (r->live.opening)
        open_part(l);
    err = site_of(l, defs, r, &site);
    if (err)
        return err;
    site->bytes += bytes;
    site->allocs += allocs;
    l->bytes += bytes;
    l->allocs += allocs;
    if (r->live.opening)
        return 0;
    if (within && l->question >= REPORT_LIVE_TEMPORARY) {
        site->beside_bytes += bytes;
        site->beside_allocs += allocs;
    }
    before_bytes = site->bytes;
    before_allocs = site->allocs;
    err = take_deaths(l, site, r, within);
    if (l->more && within) {
        struct report_live_more *more = &l->more[site - l->sites];

        more->came_bytes += bytes;
        more->came_allocs += allocs;
        more->went_bytes += before_bytes - site->bytes;
        more->went_allocs += before_allocs - site->allocs;
    }
    return err ? err
               : add_change(
                     l, &(struct report_live_change){.site = (uint32_t)(site - l->sites),
                                                     .recording = (uint32_t)l->ended + 1,
                                                     .survived_bytes = bytes,
                                                     .survived_allocs = allocs,
                                                     .died_bytes = before_bytes - site->bytes,
                                                     .died_allocs = before_allocs - site->allocs});
}

/* What the sites come to has to be what the line says: else something is missing, or wrong. */
static void hold(struct report_live *l, struct log_defs *defs, const struct log_record *r,
                 const struct log_collection *c)
{
    if (l->wrong ||
        (l->bytes == (double)c->bytes && l->allocs == (double)c->allocs)) /* whole numbers */
        return;
    log_problem(defs->problems, r->at,
                "live_total says %llu objects, %llu bytes, but the live lines come to %.0f "
                "objects, %.0f bytes",
                (unsigned long long)c->allocs, (unsigned long long)c->bytes, l->allocs, l->bytes);
    l->wrong = true;
}

static void reach(struct report_live *l, const struct report_live_span *span)
{
    bool from = l->seen == span->from && l->question == REPORT_LIVE_GROWN;

    for (size_t i = l->first; from && i < l->count; i++) {
        l->sites[i].beside_bytes = l->sites[i].bytes;
        l->sites[i].beside_allocs = l->sites[i].allocs;
    }
    if (l->seen == span->to && !l->asked++)
        l->at = *span;
}

/* [[site,looks,objects],...], which replaces that of an earlier line. */
static int take_growing(struct report_live *l, const struct log_record *r)
{
    const json_t *row;
    size_t i;

    l->growing_count = l->growing_first;
    json_array_foreach(json_object_get(r->json, "grows"), i, row)
    {
        json_int_t id = json_integer_value(json_array_get(row, 0));
        uint32_t number = id > 0 && id <= UINT32_MAX ? log_id_map_get(&l->ids, (uint32_t)id) : 0;

        if (!number)
            continue;
        if (!array_reserve(&l->growing, &l->growing_capacity, l->growing_count + 1))
            return -ENOMEM;
        l->growing[l->growing_count++] = (struct report_live_growing){
            number - 1, UINT32_MAX, (double)json_integer_value(json_array_get(row, 1)),
            (double)json_integer_value(json_array_get(row, 2))};
    }
    return 0;
}

static int take_total(struct report_live *l, struct log_defs *defs, const struct log_record *r)
{
    const struct report_live_span *span = span_of(l);
    struct log_collection c;

    log_collection_of(r, &c);
    if (c.opening && (!span || l->seen < span->to))
        open_part(l);
    l->seen++;
    l->collections += !c.opening;
    l->last = c;
    l->most_bytes = (double)c.bytes > l->most_bytes ? (double)c.bytes : l->most_bytes;
    if (!l->totals++ || c.bytes > l->peak.bytes)
        l->peak = c;
    if (l->question && (!span || l->seen <= span->to)) {
        hold(l, defs, r, &c);
        l->why = l->why ? l->why : c.why;
    } else if (!l->question) {
        l->why = l->why ? l->why : c.why;
    }
    if (span && (l->seen == span->from || l->seen == span->to))
        reach(l, span);
    if ((l->question == REPORT_LIVE_GROWN || l->keeps_changes) && (!span || l->seen <= span->to) &&
        take_growing(l, r))
        return -ENOMEM;
    return add_change(l, &(struct report_live_change){.site = UINT32_MAX,
                                                      .recording = (uint32_t)l->ended + 1,
                                                      .t = c.at.t,
                                                      .survived_bytes = (double)c.bytes,
                                                      .survived_allocs = (double)c.allocs});
}

int report_live_take(struct report_live *l, struct log_defs *defs, const struct log_record *r)
{
    int err = 0;

    l->lines++;
    if (r->kind == SST_KIND_LIVE_TOTAL)
        return take_total(l, defs, r);
    if (!l->question)
        return 0;
    if (r->kind == SST_KIND_LIVE_SITE)
        err = take_site(l, defs, r);
    if (r->live.site && err != -ENOMEM) {
        int live_err = take_live(l, defs, r);

        err = err ? err : live_err;
    }
    return err;
}

static enum report_live_when when_in(uint64_t at, uint64_t from, uint64_t to)
{
    if (at < from)
        return REPORT_LIVE_BEFORE;
    return at < to ? REPORT_LIVE_WITHIN : REPORT_LIVE_BEHIND;
}

enum report_live_when report_live_when(const struct report_live *l, const struct log_record *r)
{
    const struct report_live_span *span = span_of(l);

    if (!span)
        return REPORT_LIVE_BEHIND; /* of those so far */
    if (r->kind == SST_KIND_ALLOC)
        return when_in(r->alloc.t, span->first.at.t, span->last.at.t);
    return when_in(l->seen, span->from, span->to);
}

struct report_live_sums report_live_sums_of(const struct report_live *l,
                                            const struct report_live_site *s)
{
    switch (l->question) {
    case REPORT_LIVE_GROWN:
        return (struct report_live_sums){s->bytes, s->allocs, s->beside_bytes, s->beside_allocs};
    case REPORT_LIVE_TEMPORARY:
        return (struct report_live_sums){s->beside_bytes, s->beside_allocs, -s->beside_bytes,
                                         -s->beside_allocs};
    case REPORT_LIVE_LIFETIMES:
        return (struct report_live_sums){s->bytes, s->allocs, -s->beside_bytes, -s->beside_allocs};
    default:
        return (struct report_live_sums){s->bytes, s->allocs, 0, 0};
    }
}

/*
 * Of what is alive at both moments the samples are the same, and say nothing of the difference:
 * what came and what went says more, unless much of it came and went again.
 */
static void spread_of_grown(const struct report_live_site *s, const struct report_live_more *m,
                            struct report_live_spread *out)
{
    double before = report_estimate_alive_variance(s->beside_bytes, s->beside_allocs, m->mean);
    double came = report_estimate_alive_variance(m->came_bytes, m->came_allocs, m->mean);
    double went = report_estimate_alive_variance(m->went_bytes, m->went_allocs, m->mean);
    bool moves = came + went < out->variance + before;

    out->beside_variance = before;
    out->less_bytes = moves ? m->went_bytes : s->beside_bytes;
    out->of_variance = moves ? came : out->variance;
    out->less_variance = moves ? went : before;
}

struct report_live_spread report_live_spread_of(const struct report_live *l, size_t site)
{
    const struct report_live_site *s = &l->sites[site];
    const struct report_live_sums sums = report_live_sums_of(l, s);
    struct report_live_spread out = {.variance = 0};

    if (!l->more)
        return out;
    out.variance = report_estimate_alive_variance(sums.bytes, sums.allocs, l->more[site].mean);
    if (l->question == REPORT_LIVE_GROWN) {
        spread_of_grown(s, &l->more[site], &out);
    } else if (l->question == REPORT_LIVE_TEMPORARY || l->question == REPORT_LIVE_LIFETIMES) {
        out.less_bytes = s->beside_bytes; /* from what was allocated, which is in a cell */
        out.less_variance =
            report_estimate_alive_variance(s->beside_bytes, s->beside_allocs, l->more[site].mean);
    } else {
        out.of_variance = out.variance;
    }
    return out;
}

void report_live_forget(struct report_live *l)
{
    memory_free_all(l->sites, l->more);
    l->sites = NULL;
    l->more = NULL;
    l->count = l->capacity = l->first = 0;
}
