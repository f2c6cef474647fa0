#include "gate/spans.h"

#include "base/order.h"

/* All bytes are the key: no padding. */
INDEX_OF_BYTES(span_cell_kind, struct gate_span_cell, cell);

void gate_sum_add(struct gate_sum *to, const struct gate_sum *more)
{
    to->objects += more->objects;
    to->bytes += more->bytes;
    to->objects_variance += more->objects_variance;
    to->bytes_variance += more->bytes_variance;
    to->objects_seen += more->objects_seen;
    to->bytes_seen += more->bytes_seen;
}

void gate_spans_free(struct gate_spans *s)
{
    if (!s)
        return;
    index_free(&s->index);
    memory_free_all(s->spans, s->pairs, s->cells, s);
}

const struct gate_pair *gate_spans_pair(const struct gate_spans *s, const char *from,
                                        const char *to)
{
    for (size_t i = 0; s && i < s->pair_count; i++)
        if (strcmp(s->pairs[i].from, from) == 0 && strcmp(s->pairs[i].to, to) == 0)
            return &s->pairs[i];
    return NULL;
}

static int add_span(struct gate_spans *s, uint64_t from, uint64_t to)
{
    if (!array_reserve(&s->spans, &s->capacity, s->count + 1))
        return -ENOMEM;
    s->spans[s->count++] = (struct gate_span){from, to, (uint32_t)s->pair_count};
    return 0;
}

/* From each mark `from` that no span is open at to the next mark `to`. */
static int add_pair(struct gate_spans *s, const struct log_marks *marks, const char *from,
                    const char *to)
{
    struct gate_pair pair = {from, to, s->count, 0};
    const struct log_mark_record *open = NULL;
    int err = array_reserve(&s->pairs, &s->pair_capacity, s->pair_count + 1) ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < marks->count; i++) {
        const struct log_mark_record *mark = &marks->marks[i];

        if (open && strcmp(mark->text, to) == 0) {
            err = add_span(s, open->at.t, mark->at.t);
            open = NULL;
        }
        if (!open && strcmp(mark->text, from) == 0)
            open = mark;
    }
    pair.end = s->count;
    if (!err)
        s->pairs[s->pair_count++] = pair;
    return err;
}

int gate_spans_new(const struct budget *b, const struct log_marks *marks, struct gate_spans **out)
{
    struct gate_spans *s = memory_zalloc(1, sizeof(*s));
    int err = s ? 0 : -ENOMEM;

    *out = s;
    for (size_t i = 0; !err && i < b->count; i++) {
        const struct budget_limit *l = &b->limits[i];

        if (l->per == BUDGET_SPAN && !gate_spans_pair(s, l->from, l->to))
            err = add_pair(s, marks, l->from, l->to);
    }
    return err;
}

/* An allocation of a sampled log stands for several: how sure that is follows from their number. */
static struct gate_sum sum_of(const struct report_cell_event *e)
{
    struct gate_sum sum = {.objects = e->allocs, .bytes = e->bytes};

    if (e->allocs > 1 && !e->site) {
        sum.objects_variance = e->allocs * e->allocs - e->allocs;
        sum.bytes_variance = e->bytes * e->bytes * (1 - 1 / e->allocs);
        sum.objects_seen = 1;
        sum.bytes_seen = e->bytes / e->allocs;
    }
    return sum;
}

BEFORE_KEY(ends_before, struct gate_span, uint64_t, x->to <= key)

int gate_spans_take(void *spans, const struct report_cell_event *event)
{
    struct gate_spans *s = spans;
    int err = 0;

    s->untimed = s->untimed || event->site;
    for (size_t i = 0; err >= 0 && i < s->pair_count; i++) {
        const struct gate_pair *pair = &s->pairs[i];
        size_t at = pair->first + order_first(s->spans + pair->first, pair->end - pair->first,
                                              sizeof(*s->spans), ends_before, &event->t);
        struct gate_span_cell key = {.span = (uint32_t)at, .cell = event->cell};
        struct gate_sum sum = sum_of(event);
        uint32_t number;

        if (at == pair->end || s->spans[at].from > event->t)
            continue;
        err = index_add(&s->index, &span_cell_kind, &s->cells, &s->cell_count, &s->cell_capacity,
                        &key, &number);
        if (err >= 0)
            gate_sum_add(&s->cells[number].sum, &sum);
    }
    return err < 0 ? err : 0;
}

ORDERED_BY(by_span, struct gate_span_cell, ORDER(x->span, y->span), ORDER(x->cell, y->cell))

void gate_spans_sort(struct gate_spans *s)
{
    SORT(s->cells, s->cell_count, by_span);
    index_free(&s->index);
}

BEFORE_KEY(is_before, struct gate_span_cell, uint32_t, x->span < key)

void gate_spans_cells(const struct gate_spans *s, size_t span, size_t *begin, size_t *end)
{
    uint32_t key = (uint32_t)span;

    *begin = order_first(s->cells, s->cell_count, sizeof(*s->cells), is_before, &key);
    key++;
    *end = order_first(s->cells, s->cell_count, sizeof(*s->cells), is_before, &key);
}
