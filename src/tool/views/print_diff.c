#include "views/print_diff.h"

#include "args/args.h"
#include "command/print_complete.h"
#include "command/reading.h"
#include "terminal/terminal.h"
#include "terminal/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const titles[] = {"call site", "type", "method", "thread", "module", "line"};

static bool differs(const struct report_change *c)
{
    return c->side[0].bytes != c->side[1].bytes || c->side[0].allocs != c->side[1].allocs;
}

/* Of several logs a side, beyond what these differ by. */
static bool changed(const struct print_diff *p, const struct report_change *c)
{
    return report_diff_several(p->diff) ? report_change_certain(c) : differs(c);
}

static size_t count_noise(const struct print_diff *p)
{
    size_t noise = 0;

    for (size_t i = 0; report_diff_several(p->diff) && i < report_diff_count(p->diff); i++) {
        const struct report_change *c = report_diff_change(p->diff, i);

        noise += differs(c) && !report_change_certain(c);
    }
    return noise;
}

/* The rows that changed come first: how many of them, and how many are to be shown. */
static size_t count_changed(const struct print_diff *p, size_t *shown, bool *small)
{
    size_t count = report_diff_count(p->diff), some = 0;
    uint64_t least = p->min_bytes;

    while (some < count && changed(p, report_diff_change(p->diff, some)))
        some++;
    *small = p->top && some > p->top && p->small_bytes > least;
    least = *small ? p->small_bytes : least;
    *shown = 0;
    for (size_t i = 0; i < some && (!p->top || i < p->top); i++) {
        const struct report_change *c = report_diff_change(p->diff, i);

        if (report_distance(c->side[0].bytes, c->side[1].bytes) >= least)
            *shown = i + 1;
    }
    return some;
}

/* A row is shown as the newer side has it, where it is in there. */
static const struct print_report *shown_side(const struct print_diff *p,
                                             const struct report_change *c, struct report_row *row)
{
    int side = c->side[REPORT_DIFF_NEW].row != REPORT_DIFF_NONE ? REPORT_DIFF_NEW : REPORT_DIFF_OLD;
    const struct print_report *log = &p->side[side].logs[c->side[side].log];

    report_sites_row(log->sites, c->side[side].row, row);
    return log;
}

static bool estimated(const struct print_diff_side *side)
{
    for (size_t i = 0; i < side->count; i++)
        if (report_sites_estimated(side->logs[i].sites))
            return true;
    return false;
}

/* The mean of a side's logs. Returns: whether the number of objects is known. */
static bool total_of(const struct print_diff_side *side, uint64_t *allocs, uint64_t *bytes)
{
    double a = 0, b = 0;
    struct report_row total;
    bool counted = true;

    for (size_t i = 0; i < side->count; i++) {
        report_sites_total(side->logs[i].sites, &total);
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
    return !p->view                            ? ""
           : strcmp(p->view, "temporary") == 0 ? " that died young"
           : strcmp(p->view, "peak") == 0      ? " alive at the peak"
                                               : " not known dead at the end";
}

static void print_total(const struct print_diff *p, int number, FILE *out)
{
    const struct print_diff_side *side = &p->side[number];
    struct text_number n, a, b, share;
    uint64_t allocs = 0, bytes = 0, before = 0;
    bool counted = total_of(side, &allocs, &bytes);
    struct text_number change;

    text_part(out, number == REPORT_DIFF_OLD ? "Old: " : "New: ", side->names[0], "");
    if (side->count > 1)
        fprintf(out, " and %s more, on average", text_count(&n, side->count - 1));
    fputs(estimated(side) ? ": about " : ": ", out);
    if (counted)
        fprintf(out, "%s %s%s%s, ", text_count(&a, allocs), p->view ? "object" : "allocation",
                text_plural(allocs), words_of(p));
    fprintf(out, "%s bytes%s", text_count(&b, bytes), counted ? "" : words_of(p));
    if (number == REPORT_DIFF_NEW) {
        total_of(&p->side[REPORT_DIFF_OLD], &allocs, &before);
        fprintf(out, ": %s bytes", text_change(&change, before, bytes));
        if (before)
            fprintf(out, " (%s)",
                    text_share(&share, (double)report_distance(before, bytes) / (double)before));
    }
    fputs(".\n", out);
}

struct columns {
    int change, bytes, allocs;
    bool both, objects; /* what a narrow terminal has no room for is left out */
};

static int wider(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static struct columns columns_of(const struct print_diff *p, size_t shown, FILE *out)
{
    struct columns c = {8, 6, 8, true, true};
    struct text_number s;
    struct text_number n;

    for (size_t i = 0; i < shown; i++) {
        const struct report_diff_side *side = report_diff_change(p->diff, i)->side;

        c.change = wider(c.change, text_change(&s, side[0].bytes, side[1].bytes));
        c.bytes = wider(c.bytes, text_count(&n, side[0].bytes));
        c.bytes = wider(c.bytes, text_count(&n, side[1].bytes));
        c.allocs = wider(c.allocs, text_change(&s, side[0].allocs, side[1].allocs));
    }
    c.objects = terminal_fits(out, (size_t)(c.change + c.allocs) + 5);
    c.both = terminal_fits(out, (size_t)(c.change + 2 * c.bytes + c.allocs) + 9);
    return c;
}

static void print_change(const struct print_diff *p, const struct report_change *c,
                         const struct columns *columns, FILE *out)
{
    size_t used = (size_t)(columns->change + 2 * columns->bytes + columns->allocs) + 10;
    const struct report_diff_side *side = c->side;
    const struct print_report *shown;
    struct text_number change, allocs;
    struct text_number before, after;
    struct report_row row;

    fprintf(out, "%*s%s ", columns->change + 1, text_change(&change, side[0].bytes, side[1].bytes),
            report_change_certain(c) || side[0].bytes == side[1].bytes ? " " : "?");
    if (columns->both)
        fprintf(out, "%*s  %*s  ", columns->bytes, text_count(&before, side[0].bytes),
                columns->bytes, text_count(&after, side[1].bytes));
    if (columns->objects)
        fprintf(out, "%*s  ", columns->allocs,
                side[0].mixed || side[1].mixed
                    ? "-"
                    : text_change(&allocs, side[0].allocs, side[1].allocs));
    shown = shown_side(p, c, &row);
    print_report_what(shown, &row, shown->stack.wide ? SIZE_MAX : terminal_name_room(out, used),
                      out);
    putc('\n', out);
    if (shown->by == REPORT_BY_SITE)
        print_stack_text(&shown->stack, row.path, row.il, "      ", out);
}

static void print_heading(const struct columns *c, const char *what, FILE *out)
{
    size_t used = (size_t)(c->change + 2 * c->bytes + c->allocs) + 10;

    fprintf(out, "\n%*s  ", c->change + 1, "bytes");
    if (c->both)
        fprintf(out, "%*s  %*s  ", c->bytes, "old", c->bytes, "new");
    if (c->objects)
        fprintf(out, "%*s  ", c->allocs, "objects");
    text_elide(out, what, terminal_name_room(out, used));
    putc('\n', out);
}

void print_diff_text(const struct print_diff *p, FILE *out)
{
    bool estimates = estimated(&p->side[REPORT_DIFF_OLD]) || estimated(&p->side[REPORT_DIFF_NEW]);
    const enum report_by by = p->side[0].logs[0].by;
    bool small;
    size_t shown, all = report_diff_count(p->diff), some = count_changed(p, &shown, &small);
    size_t noise = count_noise(p);
    struct columns columns = columns_of(p, shown, out);
    struct report_diff_sum sum;
    struct text_number a, b, c;

    for (int side = 0; side < REPORT_DIFF_SIDES; side++)
        print_total(p, side, out);
    if (estimates)
        args_print_text(out,
                        "Estimates: a change marked ? may come from sampling alone; - stands for "
                        "the number of objects of several sizes, of which samples say too little.",
                        terminal_width(out));
    if (shown)
        print_heading(&columns, print_report_heading(by), out);
    for (size_t i = 0; i < shown; i++)
        print_change(p, report_diff_change(p->diff, i), &columns, out);
    fprintf(out, "\nShown: %s of %s %ss that changed; %s did not.%s\n", text_count(&a, shown),
            text_count(&b, some), titles[by], text_count(&c, all - some - noise),
            p->top && shown == p->top && shown < some ? " `--top 0` shows all." : "");
    if (small && shown < p->top)
        fprintf(
            out,
            "Not shown: changes of less than %s bytes, 0.1%% of all; `--min-bytes 0` shows them.\n",
            text_count(&a, p->small_bytes));
    report_diff_sum(p->diff, &sum);
    if (sum.inlined)
        fprintf(out,
                "Merged: %s %s with another that differs by frames inlined in one of the logs; "
                "`--exact` keeps them apart.\n",
                text_count(&a, sum.inlined), sum.inlined == 1 ? "call site" : "call sites");
    if (report_diff_several(p->diff))
        fprintf(out, "%s more %ss differ by no more than the logs of one side do.\n",
                text_count(&a, noise), titles[by]);
    for (int side = 0; side < REPORT_DIFF_SIDES; side++)
        for (size_t i = 0; i < p->side[side].count; i++) {
            fputs(side == REPORT_DIFF_OLD ? "Old: " : "New: ", out);
            reading_completeness(report_sites_log(p->side[side].logs[i].sites), out);
        }
}

/* JSON, a row at a time, as report's. */

static bool has_ranges(const struct print_diff_side *side)
{
    for (size_t i = 0; i < side->count; i++) {
        struct report_row total;

        report_sites_total(side->logs[i].sites, &total);
        if (total.approximate)
            return false;
    }
    return side->count > 1 || estimated(side);
}

static void json_amounts(const struct print_diff *p, const struct report_change *c, int number,
                         struct json_writer *w)
{
    const struct report_diff_side *side = &c->side[number];

    jw_object(w, number == REPORT_DIFF_OLD ? "old" : "new");
    jw_unsigned(w, "allocs", side->allocs);
    jw_unsigned(w, "bytes", side->bytes);
    if (side->mixed)
        jw_bool(w, "mixed", true);
    if (report_diff_several(p->diff) || has_ranges(&p->side[number])) {
        jw_array(w, "bytes_range");
        jw_number(w, NULL, "%.0f", side->low);
        jw_number(w, NULL, "%.0f", side->high);
        jw_end(w);
    }
    jw_end(w);
}

static void json_difference(const char *key, uint64_t before, uint64_t after, struct json_writer *w)
{
    jw_number(w, key, "%s%llu", after < before ? "-" : "",
              (unsigned long long)report_distance(before, after));
}

static void json_change(const struct print_diff *p, const struct report_change *c,
                        struct json_writer *w)
{
    const struct report_diff_side *side = c->side;
    const struct print_report *shown;
    struct report_row row;

    jw_line_object(w, 2, NULL);
    json_difference("allocs", side[0].allocs, side[1].allocs, w);
    json_difference("bytes", side[0].bytes, side[1].bytes, w);
    jw_bool(w, "certain", report_change_certain(c));
    json_amounts(p, c, REPORT_DIFF_OLD, w);
    json_amounts(p, c, REPORT_DIFF_NEW, w);
    shown = shown_side(p, c, &row);
    print_report_what_json(shown, &row, w);
    jw_end(w);
}

/* "log" is the first one; all of them are in "logs" where there are several. */
static void json_side(const struct print_diff *p, int number, struct json_writer *w)
{
    const struct print_diff_side *side = &p->side[number];
    uint64_t allocs = 0, bytes = 0, lost = 0;
    bool counted = total_of(side, &allocs, &bytes);

    for (size_t i = 0; i < side->count; i++)
        lost += report_log_lost(report_sites_log(side->logs[i].sites));
    jw_line_object(w, 1, number == REPORT_DIFF_OLD ? "old" : "new");
    jw_unsigned(w, "allocs", allocs);
    jw_unsigned(w, "bytes", bytes);
    jw_unsigned(w, "lost", lost);
    jw_bool(w, "estimated", estimated(side));
    if (!counted)
        jw_bool(w, "mixed", true);
    print_log_json(report_sites_log(side->logs[0].sites), side->logs[0].problems, "log", w);
    if (side->count > 1) {
        jw_array(w, "logs");
        for (size_t i = 0; i < side->count; i++)
            print_log_json(report_sites_log(side->logs[i].sites), side->logs[i].problems, NULL, w);
        jw_end(w);
    }
    jw_end(w);
}

static void json_totals(const struct print_diff *p, size_t some, size_t noise,
                        struct json_writer *w)
{
    uint64_t allocs[REPORT_DIFF_SIDES] = {0}, bytes[REPORT_DIFF_SIDES] = {0};
    struct report_diff_sum sum;

    for (int side = 0; side < REPORT_DIFF_SIDES; side++)
        total_of(&p->side[side], &allocs[side], &bytes[side]);
    jw_line_object(w, 1, "change");
    json_difference("allocs", allocs[0], allocs[1], w);
    json_difference("bytes", bytes[0], bytes[1], w);
    jw_end(w);
    jw_unsigned(w, "changed", some);
    if (report_diff_several(p->diff))
        jw_unsigned(w, "noise", noise);
    report_diff_sum(p->diff, &sum);
    jw_unsigned(w, "inlined", sum.inlined);
    jw_unsigned(w, "same", report_diff_count(p->diff) - some - noise);
}

int print_diff_json(const struct print_diff *p, FILE *out)
{
    const struct print_stack *first = &p->side[REPORT_DIFF_OLD].logs[0].stack;
    bool small;
    size_t shown, some = count_changed(p, &shown, &small);
    struct json_writer w;

    jw_init(&w, out);
    jw_object(&w, NULL);
    print_stack_schema_json(first, &w);
    jw_text_if(&w, "view", p->view);
    jw_text(&w, "by", print_report_keys[p->side[0].logs[0].by]);
    for (int side = 0; side < REPORT_DIFF_SIDES; side++)
        json_side(p, side, &w);
    json_totals(p, some, count_noise(p), &w);
    jw_line_array(&w, 1, "rows");
    for (size_t i = 0; i < shown; i++)
        json_change(p, report_diff_change(p->diff, i), &w);
    jw_end(&w);
    if (p->side[0].logs[0].by == REPORT_BY_SITE)
        print_stack_tables_json(first, &w);
    jw_end(&w);
    return jw_finish(&w);
}
