#include "shipper/source.h"

#include "base/order.h"
#include "export/rows.h"

#include <stdio.h>

int source_new(const char *path, const struct log_recording *recording, struct source **out)
{
    static const struct report_cells_options options = {.paths = true,
                                                        .ils = true,
                                                        .types = true,
                                                        .slice_ns = EXPORT_ROWS_BUCKET,
                                                        .slices_max = 1U << 30,
                                                        .by_clock = true};
    struct source *s = memory_zalloc(1, sizeof(*s));
    int err = -ENOMEM;

    *out = NULL;
    if (!s)
        return -ENOMEM;
    log_problems_init(&s->problems);
    s->pid = recording->pid;
    s->clock = recording->clock;
    err = report_cells_init(&s->cells, &options, &s->problems);
    s->cells.log.only_one = true; /* rows are of one recording */
    if (!err && !(s->path = memory_strdup(path)))
        err = -ENOMEM;
    if (!err)
        err = follow_new(path, &s->cells.defs, &s->cells.consumer, &s->cells.log, &s->follow);
    if (err) {
        source_free(s);
        return err;
    }
    *out = s;
    return 0;
}

void source_free(struct source *s)
{
    if (!s)
        return;
    follow_free(s->follow);
    report_cells_fini(&s->cells);
    log_problems_fini(&s->problems);
    memory_free_all(s->acked.minutes, s->sent.minutes, s->path, s);
}

void source_stop(struct source *s)
{
    follow_free(s->follow);
    s->follow = NULL;
}

void source_end(struct source *s)
{
    s->over = true;
}

int source_step(struct source *s, size_t budget, uint64_t until_ns, char why[SOURCE_WHY])
{
    int more = follow_step(s->follow, budget, until_ns);

    s->losses = *follow_losses(s->follow);
    if (!follow_news(s->follow, why, SOURCE_WHY))
        *why = '\0';
    if (more < 0) {
        if (more == -EPROTO || more == -EBADMSG)
            snprintf(why, SOURCE_WHY, "%.150s: %.120s", s->path, s->cells.log.why);
        else
            snprintf(why, SOURCE_WHY, "cannot read %.200s: %s", s->path, strerror(-more));
        source_stop(s);
        return more;
    }
    if (!more && (s->over || follow_ended(s->follow)))
        source_stop(s);
    return more;
}

/* ---- what there is to tell ---- */

ORDERED_BY(by_slice, struct source_minute, ORDER(x->slice, y->slice))

BEFORE_KEY(before_slice, struct source_minute, uint32_t, x->slice < key)

static struct source_minute *minute_of(const struct source_state *state, uint32_t slice)
{
    size_t at =
        order_first(state->minutes, state->count, sizeof(*state->minutes), before_slice, &slice);

    return at < state->count && state->minutes[at].slice == slice ? &state->minutes[at] : NULL;
}

/* Adds a minute of 0 allocations if it is missing. The last requested one is near. */
static int minute_add(struct source_state *state, uint32_t slice)
{
    if (minute_of(state, slice))
        return 0;
    if (!array_reserve(&state->minutes, &state->capacity, state->count + 1))
        return -ENOMEM;
    state->minutes[state->count++] = (struct source_minute){slice, 0};
    SORT(state->minutes, state->count, by_slice);
    return 0;
}

static int sum_up(struct source *s)
{
    struct source_state *now = &s->sent;
    int err = report_cells_flush(&s->cells);

    now->count = 0;
    for (size_t i = 0; !err && i < s->cells.count; i++) {
        err = minute_add(now, s->cells.cells[i].slice);
        if (!err)
            minute_of(now, s->cells.cells[i].slice)->allocs += s->cells.cells[i].allocs;
    }
    now->duration = s->cells.duration;
    now->lost = log_input_lost(&s->cells.log);
    now->gone = s->losses.bytes;
    now->ended = log_input_ended(&s->cells.log);
    now->any = true;
    return err;
}

/* More was allocated in that minute than the server knows. */
static bool is_news(const struct source *s, const struct source_minute *minute)
{
    const struct source_minute *acked = minute_of(&s->acked, minute->slice);

    return !acked || acked->allocs < minute->allocs || minute->allocs < acked->allocs;
}

int source_changed(struct source *s)
{
    int err = s->cells.log.header ? sum_up(s) : 0;

    if (err || !s->cells.log.header)
        return err;
    for (size_t i = 0; i < s->sent.count; i++)
        if (is_news(s, &s->sent.minutes[i]))
            return 1;
    return !s->acked.any || s->acked.ended != s->sent.ended || s->acked.lost != s->sent.lost ||
           s->acked.gone != s->sent.gone;
}

void source_select(struct source *s)
{
    struct report_cells *c = &s->cells;
    size_t kept = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct source_minute *minute = minute_of(&s->sent, c->cells[i].slice);

        if (!minute || !is_news(s, minute))
            continue;
        c->cells[kept] = c->cells[i];
        if (c->sampled)
            c->sampled[kept] = c->sampled[i];
        kept++;
    }
    c->count = kept;
}

int source_acknowledge(struct source *s)
{
    struct source_state before = s->acked;
    uint32_t last = s->sent.count ? s->sent.minutes[s->sent.count - 1].slice : 0;

    s->acked = s->sent;
    s->sent = before; /* its memory is used again */
    return last > SOURCE_KEEPS ? report_cells_forget(&s->cells, last - SOURCE_KEEPS) : 0;
}
