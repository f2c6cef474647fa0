/* What was allocated when: slices of equal length, as a table and as a line of bars. */
#include "views/column.h"
#include "views/ranges.h"
#include "views/view_time.h"

#include "terminal/text.h"

#include <string.h>

#define NS_S 1e9

/* ---- slices ---- */

static double bytes_of(const struct time_line *l, unsigned slice)
{
    return model_row_self(&l->slices, &l->slices.rows[slice], MODEL_BYTES);
}

int time_line_init(struct time_line *l, const struct view *v)
{
    const struct model_rows_options by_slice = {.key = MODEL_BY_SLICE};
    int err;

    *l = (struct time_line){.slice_ns = model_slice_ns(v->read.model)};
    err = model_rows_init(&l->slices, v->tree, &by_slice);
    if (err)
        return err;
    l->first = l->slice_ns ? (unsigned)(v->read.found.from.t / l->slice_ns) : 0;
    l->count = (unsigned)l->slices.count;
    if (l->first >= l->count)
        l->first = 0;
    for (unsigned i = l->first; i < l->count; i++)
        if (bytes_of(l, i) > l->most) {
            l->most = bytes_of(l, i);
            l->peak = i;
        }
    return 0;
}

void time_line_fini(struct time_line *l)
{
    model_rows_fini(&l->slices);
}

void time_line_put(const struct time_line *l, struct buffer *b)
{
    static const char *const bars[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                       "\u2585", "\u2586", "\u2587", "\u2588"};

    for (unsigned i = l->first; i < l->count; i++) {
        double share = l->most > 0 ? bytes_of(l, i) / l->most : 0;
        unsigned bar = (unsigned)(share * 8 + 0.5);

        buffer_text(b, bars[share > 0 && !bar ? 1 : bar > 8 ? 8 : bar]);
    }
}

/* ---- the view ---- */

static bool from_value(struct view_row *row, struct column_value *out)
{
    char text[32];

    return column_text(out, range_time(row->row->what * row->of->slice_ns, text));
}

static bool rate_value(struct view_row *row, struct column_value *out)
{
    double seconds = (double)row->of->slice_ns / NS_S;
    struct text_number n;

    if (!(seconds > 0))
        return false;
    return column_text(out, text_bytes(&n, (uint64_t)((double)row->self.bytes / seconds)));
}

static bool bar_value(struct view_row *row, struct column_value *out)
{
    const double most = row->of->most;

    out->number = most > 0 ? row->self_weights[MODEL_BYTES] / most : 0;
    return true;
}

static void time_members(struct view_row *row, struct json_writer *w)
{
    jw_unsigned(w, "from_ns", row->row->what * row->of->slice_ns);
    jw_unsigned(w, "to_ns", (row->row->what + 1) * row->of->slice_ns);
}

static const struct column time_columns[] = {
    COLUMN("from", NUMBER_TEXT, from_value),
    VIEW_AMOUNTS(3),
    VIEW_SHARE_MEMBER,
    {.json = time_members},
    COLUMN("per second", NUMBER_TEXT, rate_value, .rank = 4),
    COLUMN("", BAR, bar_value, .rank = 1, .least = 30),
};
static const struct columns columns = COLUMNS(time_columns);

struct view_rows time_line_rows(const struct view *v, const struct time_line *l)
{
    struct view_rows rows = {.view = v,
                             .kind = VIEW_TIME,
                             .rows = l->slices,
                             .columns = {&columns},
                             .slice_ns = l->slice_ns,
                             .most = l->most};

    rows.rows.rows += l->first;
    rows.rows.count -= l->first;
    return rows;
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
