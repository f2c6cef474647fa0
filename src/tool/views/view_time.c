/* What was allocated when: slices of equal length, as a table and as a line of bars. */
#include "views/ranges.h"
#include "views/view_rows.h"
#include "views/view_time.h"

#include "terminal/text.h"

#include <string.h>

#define NS_S 1e9

/* ---- slices ---- */

int time_line_init(struct time_line *l, const struct view *v)
{
    const struct model_tree *t = v->tree;
    unsigned count = model_slice_count(v->read.model);

    *l = (struct time_line){.slice_ns = model_slice_ns(v->read.model)};
    l->slices = memory_zalloc(count ? count : 1, sizeof(*l->slices));
    if (!l->slices)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->cell_count; i++) {
        uint32_t slice = model_cell(v->read.model, t->cells[i])->slice;

        for (int w = 0; slice < count && w < MODEL_WEIGHTS; w++)
            l->slices[slice].weights[w] +=
                model_cell_weight(v->read.model, t->cells[i], (enum model_weight)w);
    }
    l->first = l->slice_ns ? (unsigned)(v->read.found.from.t / l->slice_ns) : 0;
    l->count = count;
    if (l->first >= count)
        l->first = 0;
    for (unsigned i = l->first; i < count; i++)
        if (l->slices[i].weights[MODEL_BYTES] > l->most) {
            l->most = l->slices[i].weights[MODEL_BYTES];
            l->peak = i;
        }
    return 0;
}

void time_line_fini(struct time_line *l)
{
    memory_free(l->slices);
}

void time_line_put(const struct time_line *l, struct buffer *b)
{
    static const char *const bars[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                       "\u2585", "\u2586", "\u2587", "\u2588"};

    for (unsigned i = l->first; i < l->count; i++) {
        double share = l->most > 0 ? l->slices[i].weights[MODEL_BYTES] / l->most : 0;
        unsigned bar = (unsigned)(share * 8 + 0.5);

        buffer_text(b, bars[share > 0 && !bar ? 1 : bar > 8 ? 8 : bar]);
    }
}

/* ---- the view ---- */

enum column { FROM, BYTES, SHARE, ALLOCS, RANGE, RATE, BAR, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [FROM] = {"from", TABLE_NUMBER_TEXT, 0, 0},
    VIEW_COLUMNS_OF_AMOUNT(BYTES, SHARE, ALLOCS, 3, RANGE),
    [RATE] = {"per second", TABLE_NUMBER_TEXT, 4, 0},
    [BAR] = {"", TABLE_BAR, 1, 30},
};

static void put_slice(const struct view *v, const struct time_line *l, unsigned slice,
                      struct table *t)
{
    double seconds = (double)l->slice_ns / NS_S;
    struct report_row amount;
    struct text_number n;
    char text[32];

    view_amount(v, l->slices[slice].weights, &amount);
    table_row(t);
    table_text(t, FROM, range_time(slice * l->slice_ns, text));
    table_count(t, BYTES, amount.bytes);
    table_share(t, SHARE, amount.share);
    view_put_objects(t, ALLOCS, &amount);
    view_put_range(t, RANGE, &amount);
    if (seconds > 0)
        table_text(t, RATE, text_bytes(&n, (uint64_t)((double)amount.bytes / seconds)));
    table_share(t, BAR, l->most > 0 ? l->slices[slice].weights[MODEL_BYTES] / l->most : 0);
}

static int print_text(const struct view *v, const struct time_line *l, FILE *out)
{
    const struct table_look look = view_look(v, out);
    struct text_number n;
    struct table *t = NULL;
    int err = table_new(columns, COLUMNS, &t);

    for (unsigned i = l->first; !err && i < l->count; i++)
        put_slice(v, l, i, t);
    if (!err)
        err = view_print_table(v, t, &look, out);
    if (!err) {
        fprintf(out, "\nEach line is %s long.\n", text_ns(&n, (double)l->slice_ns));
        view_foot(v, out);
    }
    table_free(t);
    return err;
}

void time_line_json(const struct view *v, const struct time_line *l, struct json_writer *w)
{
    for (unsigned i = l->first; i < l->count; i++) {
        struct report_row amount;

        view_amount(v, l->slices[i].weights, &amount);
        jw_line_object(w, 2, NULL);
        view_amounts_json(&amount, w);
        jw_number(w, "share", "%.6g", amount.share);
        jw_unsigned(w, "from_ns", i * l->slice_ns);
        jw_unsigned(w, "to_ns", (i + 1) * l->slice_ns);
        jw_end(w);
    }
}

static int print_json(const struct view *v, const struct time_line *l, FILE *out)
{
    struct json_writer w;

    jw_init(&w, out);
    view_begin_json(v, l->count - l->first, &w);
    jw_line_array(&w, 1, "rows");
    time_line_json(v, l, &w);
    jw_end(&w);
    jw_end(&w);
    return jw_finish(&w);
}

int view_time(struct view *v, FILE *out)
{
    struct time_line line;
    int err = time_line_init(&line, v);

    if (!err)
        err = v->format == READING_JSON ? print_json(v, &line, out) : print_text(v, &line, out);
    time_line_fini(&line);
    return err;
}
