/* What was allocated when: slices of equal length, as a table and as a line of bars. */
#include "views/column.h"
#include "views/ranges.h"
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
    for (unsigned i = 0; i < count; i++)
        l->slices[i].what = i;
    for (uint32_t i = 0; i < t->cell_count; i++) {
        uint32_t slice = model_cell(v->read.model, t->cells[i])->slice;

        for (int w = 0; slice < count && w < MODEL_WEIGHTS; w++)
            l->slices[slice].self[w] +=
                model_cell_weight(v->read.model, t->cells[i], (enum model_weight)w);
    }
    l->first = l->slice_ns ? (unsigned)(v->read.found.from.t / l->slice_ns) : 0;
    l->count = count;
    if (l->first >= count)
        l->first = 0;
    for (unsigned i = l->first; i < count; i++)
        if (l->slices[i].self[MODEL_BYTES] > l->most) {
            l->most = l->slices[i].self[MODEL_BYTES];
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
        double share = l->most > 0 ? l->slices[i].self[MODEL_BYTES] / l->most : 0;
        unsigned bar = (unsigned)(share * 8 + 0.5);

        buffer_text(b, bars[share > 0 && !bar ? 1 : bar > 8 ? 8 : bar]);
    }
}

/* ---- the view ---- */

static bool from_value(struct view_row *row, struct column_value *out)
{
    char text[32];

    buffer_text(&out->made, range_time(row->row->what * row->of->slice_ns, text));
    out->text = out->made.data;
    return true;
}

static bool rate_value(struct view_row *row, struct column_value *out)
{
    double seconds = (double)row->of->slice_ns / NS_S;
    struct text_number n;

    if (!(seconds > 0))
        return false;
    buffer_text(&out->made, text_bytes(&n, (uint64_t)((double)row->self.bytes / seconds)));
    out->text = out->made.data;
    return true;
}

static bool bar_value(struct view_row *row, struct column_value *out)
{
    const double most = row->of->most;

    out->number = most > 0 ? row->row->self[MODEL_BYTES] / most : 0;
    return true;
}

static void time_members(struct view_row *row, struct json_writer *w)
{
    jw_unsigned(w, "from_ns", row->row->what * row->of->slice_ns);
    jw_unsigned(w, "to_ns", (row->row->what + 1) * row->of->slice_ns);
}

static const struct column time_columns[] = {
    {.heading = "from", .kind = TABLE_NUMBER_TEXT, .value = from_value},
    VIEW_AMOUNTS(3),
    VIEW_SHARE_MEMBER,
    {.json = time_members},
    {.heading = "per second", .kind = TABLE_NUMBER_TEXT, .rank = 4, .value = rate_value},
    {.heading = "", .kind = TABLE_BAR, .rank = 1, .least = 30, .value = bar_value},
};
static const struct columns columns = COLUMNS(time_columns);

struct view_rows time_line_rows(const struct view *v, const struct time_line *l)
{
    return (struct view_rows){.view = v,
                              .kind = VIEW_TIME,
                              .rows = {.rows = l->slices + l->first, .count = l->count - l->first},
                              .columns = {&columns},
                              .slice_ns = l->slice_ns,
                              .most = l->most};
}

static int print(const struct view *v, const struct time_line *l, FILE *out)
{
    const struct view_rows rows = time_line_rows(v, l);
    struct text_number n;
    int err;

    if (v->format == READING_JSON)
        return view_rows_json(&rows, rows.rows.count, out);
    err = view_rows_text(&rows, rows.rows.count, out);
    if (err)
        return err;
    fprintf(out, "\nEach line is %s long.\n", text_ns(&n, (double)l->slice_ns));
    view_foot(v, out);
    return 0;
}

int view_time(struct view *v, FILE *out)
{
    struct time_line line;
    int err = time_line_init(&line, v);

    if (!err)
        err = print(v, &line, out);
    time_line_fini(&line);
    return err;
}
