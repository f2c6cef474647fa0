#include "views/print_diff.h"

#include "args/args.h"
#include "command/print_complete.h"
#include "views/column.h"
#include "command/reading.h"
#include "terminal/terminal.h"
#include "terminal/text.h"

#include <stdlib.h>
#include <string.h>

static const struct print_diff_log *first_log(const struct print_diff *p)
{
    return &p->side[DIFF_OLD].logs[0];
}

static bool differs(const struct diff_change *c)
{
    return c->side[0].bytes != c->side[1].bytes || c->side[0].allocs != c->side[1].allocs;
}

/* Of several logs a side, beyond what these differ by. */
static bool changed(const struct print_diff *p, const struct diff_change *c)
{
    return diff_several(p->diff) ? diff_change_certain(c) : differs(c);
}

static size_t count_noise(const struct print_diff *p)
{
    size_t noise = 0;

    for (size_t i = 0; diff_several(p->diff) && i < diff_count(p->diff); i++) {
        const struct diff_change *c = diff_change(p->diff, i);

        noise += differs(c) && !diff_change_certain(c);
    }
    return noise;
}

/* The rows that changed come first: how many of them, and how many are to be shown. */
static size_t count_changed(const struct print_diff *p, size_t *shown, bool *small)
{
    size_t count = diff_count(p->diff), some = 0;
    uint64_t least = p->min_bytes;

    while (some < count && changed(p, diff_change(p->diff, some)))
        some++;
    *small = p->top && some > p->top && p->small_bytes > least;
    least = *small ? p->small_bytes : least;
    *shown = 0;
    for (size_t i = 0; i < some && (!p->top || i < p->top); i++) {
        const struct diff_change *c = diff_change(p->diff, i);

        if (diff_distance(c->side[0].bytes, c->side[1].bytes) >= least)
            *shown = i + 1;
    }
    return some;
}

static bool estimated(const struct print_diff_side *side)
{
    for (size_t i = 0; i < side->count; i++)
        if (model_estimated(side->logs[i].view.read.model))
            return true;
    return false;
}

static const struct log_input *log_of(const struct print_diff_log *log)
{
    return model_log(log->view.read.model);
}

static void total_of_log(const struct print_diff_log *log, struct model_amount *out)
{
    view_amount(&log->view, log->view.sum, out);
}

/* The mean of a side's logs. Returns: whether the number of objects is known. */
static bool total_of(const struct print_diff_side *side, uint64_t *allocs, uint64_t *bytes)
{
    double a = 0, b = 0;
    struct model_amount total;
    bool counted = true;

    for (size_t i = 0; i < side->count; i++) {
        total_of_log(&side->logs[i], &total);
        counted &= !total.mixed;
        a += (double)total.allocs;
        b += (double)total.bytes;
        *allocs = total.allocs;
        *bytes = total.bytes;
    }
    if (side->count > 1) {
        *allocs = (uint64_t)(a / (double)side->count + 0.5);
        *bytes = (uint64_t)(b / (double)side->count + 0.5);
    }
    return counted;
}

/* What became of objects. */
static const char *words_of(const struct print_diff *p)
{
    switch (first_log(p)->view.question) {
    case REPORT_LIVE_NONE:
        return "";
    case REPORT_LIVE_TEMPORARY:
        return " that died young";
    case REPORT_LIVE_PEAK:
        return " alive at the peak";
    default:
        return " not known dead at the end";
    }
}

static void print_total(const struct print_diff *p, int number, FILE *out)
{
    const struct print_diff_side *side = &p->side[number];
    struct text_number n, a, b, share;
    uint64_t allocs = 0, bytes = 0, before = 0;
    bool counted = total_of(side, &allocs, &bytes);
    struct text_number change;

    text_part(out, number == DIFF_OLD ? "Old: " : "New: ", side->names[0], "");
    if (side->count > 1)
        fprintf(out, " and %s more, on average", text_count(&n, side->count - 1));
    fputs(estimated(side) ? ": about " : ": ", out);
    if (counted)
        fprintf(out, "%s %s%s%s, ", text_count(&a, allocs),
                first_log(p)->view.question ? "object" : "allocation", text_plural(allocs),
                words_of(p));
    fprintf(out, "%s bytes%s", text_count(&b, bytes), counted ? "" : words_of(p));
    if (number == DIFF_NEW) {
        total_of(&p->side[DIFF_OLD], &allocs, &before);
        fprintf(out, ": %s bytes", text_change(&change, before, bytes));
        if (before)
            fprintf(out, " (%s)",
                    text_share(&share, (double)diff_distance(before, bytes) / (double)before));
    }
    fputs(".\n", out);
}

/* ---- rows: what the views of each log show, beside how much it changed ---- */

static const struct print_diff *diff_of(const struct view_rows *r)
{
    return r->context;
}

static const struct diff_change *change_of(const struct view_row *row)
{
    return diff_change(diff_of(row->of)->diff, row->number);
}

/* A row is shown as the newer side has it, where it is in there. */
static const struct view_rows *locate(const struct view_rows *r, size_t number, size_t *at)
{
    const struct diff_side *side = diff_change(diff_of(r)->diff, number)->side;
    int shown = side[DIFF_NEW].row != DIFF_NONE ? DIFF_NEW : DIFF_OLD;

    *at = side[shown].row;
    return &diff_of(r)->side[shown].logs[side[shown].log].rows;
}

static bool change_value(struct view_row *row, struct column_value *out)
{
    const struct diff_side *side = change_of(row)->side;
    struct text_number change;

    return column_text(out, text_change(&change, side[0].bytes, side[1].bytes));
}

static bool doubt_value(struct view_row *row, struct column_value *out)
{
    const struct diff_change *c = change_of(row);

    out->text = "?";
    return !diff_change_certain(c) && c->side[0].bytes != c->side[1].bytes;
}

static bool side_value(struct view_row *row, struct column_value *out)
{
    out->count = change_of(row)->side[row->column->number].bytes;
    return true;
}

static bool objects_value(struct view_row *row, struct column_value *out)
{
    const struct diff_side *side = change_of(row)->side;
    struct text_number change;

    if (side[0].mixed || side[1].mixed)
        return column_text(out, "-");
    return column_text(out, text_change(&change, side[0].allocs, side[1].allocs));
}

static void change_members(struct view_row *row, struct json_writer *w);

static const struct column change_columns[] = {
    COLUMN("bytes", NUMBER_TEXT, change_value, .json = change_members),
    COLUMN("", TEXT, doubt_value, .rank = TABLE_IF_FILLED, .least = 1),
    COLUMN("old", COUNT, side_value, .rank = 3, .number = DIFF_OLD),
    COLUMN("new", COUNT, side_value, .rank = 3, .number = DIFF_NEW),
    COLUMN("objects", NUMBER_TEXT, objects_value, .rank = 2),
};
static const struct columns amounts = COLUMNS(change_columns);

/* The rows of the diff, in the columns of its first log. */
static struct view_rows rows_of(struct print_diff *p)
{
    struct view_rows rows = first_log(p)->rows;

    for (int side = 0; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < p->side[side].count; i++)
            p->side[side].logs[i].rows.context = p;
    rows.columns[VIEW_COLUMNS_AMOUNTS] = &amounts;
    rows.columns[VIEW_COLUMNS_NOTES] = NULL;
    rows.context = p;
    rows.locate = locate;
    return rows;
}

/* ---- text ---- */

static const char *titles(const struct print_diff *p)
{
    return view_row_words(first_log(p)->view.kind, 2);
}

static void print_shown(const struct print_diff *p, size_t shown, size_t some, bool small,
                        FILE *out)
{
    size_t noise = count_noise(p);
    struct text_number a, b, c;
    struct diff_sum sum;

    fprintf(out, "\nShown: %s of %s %s that changed; %s did not.%s\n", text_count(&a, shown),
            text_count(&b, some), titles(p), text_count(&c, diff_count(p->diff) - some - noise),
            p->top && shown == p->top && shown < some ? " `--top 0` shows all." : "");
    if (small && shown < p->top)
        fprintf(
            out,
            "Not shown: changes of less than %s bytes, 0.1%% of all; `--min-bytes 0` shows them.\n",
            text_count(&a, p->small_bytes));
    diff_sum(p->diff, &sum);
    if (sum.inlined)
        fprintf(out, "Merged: %s %s with %s; `--exact` keeps them separate.\n",
                text_count(&a, sum.inlined), view_row_words(first_log(p)->view.kind, sum.inlined),
                first_log(p)->view.kind == VIEW_SITES
                    ? "another that differs by frames inlined in one of the logs"
                    : "what their method makes on a line that is not known");
    if (diff_several(p->diff))
        fprintf(out, "%s more %s differ by no more than the logs of one side do.\n",
                text_count(&a, noise), titles(p));
}

int print_diff_text(struct print_diff *p, FILE *out)
{
    const struct view_rows rows = rows_of(p);
    bool small;
    size_t shown, some = count_changed(p, &shown, &small);
    int err = 0;

    for (int side = 0; side < DIFF_SIDES; side++)
        print_total(p, side, out);
    if (p->steady)
        args_print_text(out,
                        "Only some of the logs were recorded with --own or --only. Only what "
                        "all logs have is compared, without boxes that exist only when recorded.",
                        terminal_width(out));
    if (estimated(&p->side[DIFF_OLD]) || estimated(&p->side[DIFF_NEW]))
        args_print_text(out,
                        "Estimates: a change marked ? may come from sampling alone. A number of "
                        "objects is - if they have several sizes: samples cannot estimate it.",
                        terminal_width(out));
    if (shown) {
        putc('\n', out);
        err = columns_table(&rows, shown, out);
    }
    print_shown(p, shown, some, small, out);
    for (int side = 0; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < p->side[side].count; i++) {
            fputs(side == DIFF_OLD ? "Old: " : "New: ", out);
            reading_completeness(log_of(&p->side[side].logs[i]), out);
        }
    return err;
}

/* ---- JSON ---- */

static bool has_ranges(const struct print_diff_side *side)
{
    for (size_t i = 0; i < side->count; i++) {
        struct model_amount total;

        total_of_log(&side->logs[i], &total);
        if (total.approximate)
            return false;
    }
    return side->count > 1 || estimated(side);
}

static void json_amounts(const struct print_diff *p, const struct diff_change *c, int number,
                         struct json_writer *w)
{
    const struct diff_side *side = &c->side[number];

    jw_object(w, number == DIFF_OLD ? "old" : "new");
    jw_unsigned(w, "allocs", side->allocs);
    jw_unsigned(w, "bytes", side->bytes);
    if (side->mixed)
        jw_bool(w, "mixed", true);
    if (diff_several(p->diff) || has_ranges(&p->side[number]))
        view_range_json("bytes_range", &(struct report_amount){0, side->low, side->high}, w);
    jw_end(w);
}

static void json_difference(const char *key, uint64_t before, uint64_t after, struct json_writer *w)
{
    jw_number(w, key, "%s%llu", after < before ? "-" : "",
              (unsigned long long)diff_distance(before, after));
}

static void change_members(struct view_row *row, struct json_writer *w)
{
    const struct print_diff *p = diff_of(row->of);
    const struct diff_change *c = change_of(row);
    const struct diff_side *side = c->side;

    json_difference("allocs", side[0].allocs, side[1].allocs, w);
    json_difference("bytes", side[0].bytes, side[1].bytes, w);
    jw_bool(w, "certain", diff_change_certain(c));
    json_amounts(p, c, DIFF_OLD, w);
    json_amounts(p, c, DIFF_NEW, w);
}

/* "log" is the first one; all of them are in "logs" where there are several. */
static void json_side(const struct print_diff *p, int number, struct json_writer *w)
{
    const struct print_diff_side *side = &p->side[number];
    uint64_t allocs = 0, bytes = 0, lost = 0;
    bool counted = total_of(side, &allocs, &bytes);

    for (size_t i = 0; i < side->count; i++)
        lost += log_input_lost(log_of(&side->logs[i]));
    jw_line_object(w, 1, number == DIFF_OLD ? "old" : "new");
    jw_unsigned(w, "allocs", allocs);
    jw_unsigned(w, "bytes", bytes);
    jw_unsigned(w, "lost", lost);
    jw_bool(w, "estimated", estimated(side));
    if (!counted)
        jw_bool(w, "mixed", true);
    print_log_json(log_of(&side->logs[0]), &side->logs[0].view.read.problems, "log", w);
    if (side->count > 1) {
        jw_array(w, "logs");
        for (size_t i = 0; i < side->count; i++)
            print_log_json(log_of(&side->logs[i]), &side->logs[i].view.read.problems, NULL, w);
        jw_end(w);
    }
    jw_end(w);
}

static void json_totals(const struct print_diff *p, size_t some, size_t noise,
                        struct json_writer *w)
{
    uint64_t allocs[DIFF_SIDES] = {0}, bytes[DIFF_SIDES] = {0};
    struct diff_sum sum;

    for (int side = 0; side < DIFF_SIDES; side++)
        total_of(&p->side[side], &allocs[side], &bytes[side]);
    jw_line_object(w, 1, "change");
    json_difference("allocs", allocs[0], allocs[1], w);
    json_difference("bytes", bytes[0], bytes[1], w);
    jw_end(w);
    jw_unsigned(w, "changed", some);
    if (diff_several(p->diff))
        jw_unsigned(w, "noise", noise);
    diff_sum(p->diff, &sum);
    jw_unsigned(w, "inlined", sum.inlined);
    jw_unsigned(w, "same", diff_count(p->diff) - some - noise);
}

int print_diff_json(struct print_diff *p, FILE *out)
{
    const struct view_rows rows = rows_of(p);
    const struct view *first = &first_log(p)->view;
    bool small;
    size_t shown, some = count_changed(p, &shown, &small);
    struct json_writer w;

    jw_init(&w, out);
    jw_object(&w, NULL);
    print_stack_schema_json(&first->stack, &w);
    if (first->live)
        jw_text(&w, "view", view_word(first));
    jw_text(&w, "by", view_by(first->kind));
    if (p->steady)
        jw_bool(&w, "steady", true);
    for (int side = 0; side < DIFF_SIDES; side++)
        json_side(p, side, &w);
    json_totals(p, some, count_noise(p), &w);
    columns_json(&rows, "rows", shown, &w);
    if (first->kind == VIEW_SITES)
        print_stack_tables_json(&first->stack, &w);
    jw_end(&w);
    return jw_finish(&w);
}
