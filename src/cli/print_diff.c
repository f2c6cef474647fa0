#include "cli/print_diff.h"

#include "cli/print_json.h"
#include "cli/reading.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const titles[] = {"call site", "type", "method", "thread", "module"};

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static bool changed(const struct report_change *c)
{
    return c->side[0].bytes != c->side[1].bytes || c->side[0].allocs != c->side[1].allocs;
}

/* "+1,234", "-1,234", "0" */
struct signed_text {
    char text[40];
};

static const char *signed_count(struct signed_text *to, uint64_t before, uint64_t after)
{
    struct text_number n;

    snprintf(to->text, sizeof(to->text), "%s%s",
             after > before   ? "+"
             : after < before ? "-"
                              : "",
             text_count(&n, distance(before, after)));
    return to->text;
}

/* The rows that changed come first: how many of them, and how many are to be shown. */
static size_t count_changed(const struct print_diff *p, size_t *shown)
{
    size_t count = report_diff_count(p->diff), i;

    *shown = 0;
    for (i = 0; i < count && changed(report_diff_change(p->diff, i)); i++) {
        const struct report_change *c = report_diff_change(p->diff, i);

        if ((!p->top || *shown < p->top) &&
            distance(c->side[0].bytes, c->side[1].bytes) >= p->min_bytes)
            *shown = i + 1;
    }
    return i;
}

/* A row is shown as the newer log has it, where it is in there. */
static const struct print_report *shown_side(const struct print_diff *p,
                                             const struct report_change *c, struct report_row *row)
{
    int side = c->side[REPORT_DIFF_NEW].row != REPORT_DIFF_NONE ? REPORT_DIFF_NEW : REPORT_DIFF_OLD;

    report_sites_row(p->side[side].sites, c->side[side].row, row);
    return &p->side[side];
}

static void print_total(const struct print_diff *p, int side, FILE *out)
{
    const struct report_sites *sites = p->side[side].sites;
    struct text_number allocs, bytes, share;
    struct report_row total, before;
    struct signed_text change;

    report_sites_total(sites, &total);
    fputs(side == REPORT_DIFF_OLD ? "Old: " : "New: ", out);
    text_print(out, p->names[side]);
    fprintf(out, ": %s%s allocation%s, %s bytes", report_sites_estimated(sites) ? "about " : "",
            text_count(&allocs, total.allocs), text_plural(total.allocs),
            text_count(&bytes, total.bytes));
    if (side == REPORT_DIFF_NEW) {
        report_sites_total(p->side[REPORT_DIFF_OLD].sites, &before);
        fprintf(out, ": %s bytes", signed_count(&change, before.bytes, total.bytes));
        if (before.bytes)
            fprintf(out, " (%s)",
                    text_share(&share,
                               (double)distance(before.bytes, total.bytes) / (double)before.bytes));
    }
    fputs(".\n", out);
}

struct columns {
    int change, bytes, allocs;
};

static int wider(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static struct columns columns_of(const struct print_diff *p, size_t shown)
{
    struct columns c = {8, 6, 8};
    struct signed_text s;
    struct text_number n;

    for (size_t i = 0; i < shown; i++) {
        const struct report_diff_side *side = report_diff_change(p->diff, i)->side;

        c.change = wider(c.change, signed_count(&s, side[0].bytes, side[1].bytes));
        c.bytes = wider(c.bytes, text_count(&n, side[0].bytes));
        c.bytes = wider(c.bytes, text_count(&n, side[1].bytes));
        c.allocs = wider(c.allocs, signed_count(&s, side[0].allocs, side[1].allocs));
    }
    return c;
}

static void print_change(const struct print_diff *p, const struct report_change *c,
                         const struct columns *columns, FILE *out)
{
    size_t used = (size_t)(columns->change + 2 * columns->bytes + columns->allocs) + 10;
    const struct report_diff_side *side = c->side;
    const struct print_report *shown;
    struct signed_text change, allocs;
    struct text_number before, after;
    struct report_row row;

    fprintf(out, "%*s%s %*s  %*s  %*s  ", columns->change + 1,
            signed_count(&change, side[0].bytes, side[1].bytes),
            report_change_certain(c) || side[0].bytes == side[1].bytes ? " " : "?", columns->bytes,
            text_count(&before, side[0].bytes), columns->bytes, text_count(&after, side[1].bytes),
            columns->allocs, signed_count(&allocs, side[0].allocs, side[1].allocs));
    shown = shown_side(p, c, &row);
    print_report_what(shown, &row, shown->stack.wide ? SIZE_MAX : TEXT_WIDTH - used, out);
    putc('\n', out);
    if (shown->by == REPORT_BY_SITE)
        print_stack_text(&shown->stack, row.path, row.il, "      ", out);
}

void print_diff_text(const struct print_diff *p, FILE *out)
{
    bool estimated =
        report_sites_estimated(p->side[0].sites) || report_sites_estimated(p->side[1].sites);
    const char *title = titles[p->side[0].by];
    size_t shown, all = report_diff_count(p->diff), some = count_changed(p, &shown);
    struct columns columns = columns_of(p, shown);
    struct text_number a, b, c;

    for (int side = 0; side < REPORT_DIFF_SIDES; side++)
        print_total(p, side, out);
    if (estimated)
        fputs("Estimates: a change behind which stands ? may come from the sampling alone.\n", out);
    if (shown)
        fprintf(out, "\n%*s  %*s  %*s  %*s  %s\n", columns.change + 1, "bytes", columns.bytes,
                "old", columns.bytes, "new", columns.allocs, "objects",
                p->side[0].by == REPORT_BY_SITE ? "type, and the stack that allocates it" : title);
    for (size_t i = 0; i < shown; i++)
        print_change(p, report_diff_change(p->diff, i), &columns, out);
    fprintf(out, "\nShown: %s of %s %ss that changed; %s did not.%s\n", text_count(&a, shown),
            text_count(&b, some), title, text_count(&c, all - some),
            p->top && shown == p->top && shown < some ? " `--top 0` shows all." : "");
    for (int side = 0; side < REPORT_DIFF_SIDES; side++) {
        fputs(side == REPORT_DIFF_OLD ? "Old: " : "New: ", out);
        reading_completeness(report_sites_log(p->side[side].sites), out);
    }
}

/* JSON, a row at a time, as report's. */

static void json_amounts(struct buffer *b, const char *key, uint64_t allocs, uint64_t bytes)
{
    buffer_format(b, "\"%s\":{\"allocs\":%llu,\"bytes\":%llu}", key, (unsigned long long)allocs,
                  (unsigned long long)bytes);
}

static long long signed_value(uint64_t before, uint64_t after)
{
    return after >= before ? (long long)(after - before) : -(long long)(before - after);
}

static void json_change(const struct print_diff *p, const struct report_change *c, struct buffer *b)
{
    const struct report_diff_side *side = c->side;
    const struct print_report *shown;
    struct report_row row;

    buffer_format(b, "{\"allocs\":%lld,\"bytes\":%lld,\"certain\":%s,",
                  signed_value(side[0].allocs, side[1].allocs),
                  signed_value(side[0].bytes, side[1].bytes),
                  report_change_certain(c) ? "true" : "false");
    json_amounts(b, "old", side[0].allocs, side[0].bytes);
    buffer_char(b, ',');
    json_amounts(b, "new", side[1].allocs, side[1].bytes);
    shown = shown_side(p, c, &row);
    print_report_what_json(shown, &row, b);
    buffer_char(b, '}');
}

static int json_side(const struct print_diff *p, int side, struct buffer *b)
{
    const struct print_report *report = &p->side[side];
    json_t *log = reading_log_json(report_sites_log(report->sites), report->problems);
    char *text = print_json_text(log, JSON_COMPACT);
    struct report_row total;

    report_sites_total(report->sites, &total);
    buffer_format(b,
                  "\"%s\":{\"allocs\":%llu,\"bytes\":%llu,\"lost\":%llu,\"estimated\":%s,\"log\":",
                  side == REPORT_DIFF_OLD ? "old" : "new", (unsigned long long)total.allocs,
                  (unsigned long long)total.bytes,
                  (unsigned long long)report_log_lost(report_sites_log(report->sites)),
                  report_sites_estimated(report->sites) ? "true" : "false");
    buffer_text(b, text ? text : "null");
    buffer_char(b, '}');
    json_decref(log);
    memory_free(text);
    return text ? 0 : -ENOMEM;
}

int print_diff_json(const struct print_diff *p, FILE *out)
{
    struct buffer b = BUFFER_INIT;
    size_t shown, all = report_diff_count(p->diff), some = count_changed(p, &shown);
    struct report_row old, new;
    int err;

    report_sites_total(p->side[REPORT_DIFF_OLD].sites, &old);
    report_sites_total(p->side[REPORT_DIFF_NEW].sites, &new);
    err = json_side(p, REPORT_DIFF_OLD, &b);
    buffer_text(&b, ",\n ");
    if (!err)
        err = json_side(p, REPORT_DIFF_NEW, &b);
    fprintf(out,
            "{\"by\":\"%s\",\n %s,\n \"change\":{\"allocs\":%lld,\"bytes\":%lld},\"changed\":%zu,"
            "\"same\":%zu,\n \"rows\":[",
            print_report_by(p->side[0].by), b.data ? b.data : "",
            signed_value(old.allocs, new.allocs), signed_value(old.bytes, new.bytes), some,
            all - some);
    for (size_t i = 0; i < shown && !err; i++) {
        err = b.failed ? -ENOMEM : 0;
        buffer_clear(&b);
        json_change(p, report_diff_change(p->diff, i), &b);
        fprintf(out, "%s\n  %s", i ? "," : "", b.failed ? "null" : b.data);
    }
    fputs("]}\n", out);
    err = b.failed ? -ENOMEM : err;
    buffer_free(&b);
    return err;
}
