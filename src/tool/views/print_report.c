#include "views/print_report.h"

#include "command/print_complete.h"
#include "command/print_sampling.h"
#include "command/reading.h"
#include "terminal/fit.h"
#include "terminal/terminal.h"
#include "terminal/text.h"
#include "views/view.h"

#include <string.h>

const char *const print_report_keys[] = {"site",   "type", "method", "thread",
                                         "module", "line", NULL};

const char *print_report_heading(enum report_by by)
{
    return by == REPORT_BY_SITE   ? "type, and the stack that allocates it"
           : by == REPORT_BY_LINE ? "line, method, type"
                                  : print_report_keys[by];
}

/* Text. */

static const char *const titles[] = {"call site", "type",   "allocating method",
                                     "thread",    "module", "line"};

#define LEAST_NAMES 16 /* columns of method and type; with less they stand below their line */

/* "File.cs:12  Method  Type" */
static void print_line(const struct print_report *p, const struct report_row *row, size_t room,
                       FILE *out)
{
    const struct line_row *at = line_rows_at(p->rows, row->line);
    const char *type = print_stack_type(&p->stack, row->class_number);
    struct buffer name = BUFFER_INIT;
    char where[PRINT_WHERE_SIZE] = "(no source line)";
    size_t half;
    bool narrow;

    if (at && at->line.file)
        print_stack_where(&p->stack, &at->line, where);
    narrow = !p->stack.wide && room < text_columns(where) + LEAST_NAMES;
    if (narrow) {
        text_print(out, fit_place(&name, where, room));
        fputs("\n", out);
        where[0] = '\0';
    }
    room = p->stack.wide                    ? SIZE_MAX / 2
           : room > text_columns(where) + 4 ? room - text_columns(where) - 4
                                            : 8;
    half = text_columns(type) < room / 2 ? text_columns(type) : room / 2;
    if (!narrow && at && at->line.file)
        print_stack_link(&p->stack, &at->line, where, out);
    else
        fputs(where, out);
    if (at) {
        fputs("  ", out);
        fit_print_name(out, print_stack_method(&p->stack, &name, at->method), room - half);
    }
    fputs("  ", out);
    fit_print_name(out, type, p->stack.wide ? SIZE_MAX : half);
    buffer_free(&name);
}

void print_report_what(const struct print_report *p, const struct report_row *row, size_t room,
                       FILE *out)
{
    const struct report_defs *d = report_sites_defs(p->sites);
    const struct report_thread *thread;
    struct buffer name = BUFFER_INIT;

    switch (p->by) {
    case REPORT_BY_SITE:
    case REPORT_BY_TYPE:
        fit_print_name(out, print_stack_type(&p->stack, row->class_number), room);
        break;
    case REPORT_BY_METHOD:
        fit_print_name(
            out, row->path ? print_stack_method(&p->stack, &name, row->method) : report_no_frame(d),
            room);
        buffer_free(&name);
        break;
    case REPORT_BY_LINE:
        print_line(p, row, room, out);
        break;
    case REPORT_BY_MODULE:
        text_elide(out, row->path ? report_module(d, row->module)->name : report_no_frame(d), room);
        break;
    case REPORT_BY_THREAD:
        if (!row->thread) {
            fputs("(thread not recorded)", out);
            break;
        }
        thread = &d->threads[row->thread - 1];
        fprintf(out, thread->os ? "%u (os %u)%s" : "%u", thread->id, thread->os,
                thread->name ? " " : "");
        if (thread->name)
            text_elide(out, thread->name, room > 30 ? room - 30 : 0);
        break;
    }
}

/* How wide the columns of numbers must be for these rows. */
struct columns {
    size_t bytes, allocs;
    bool calls, ranges;
    bool shares, objects; /* what a narrow terminal has no room for is left out */
};

#define CALLS_WIDTH       ((size_t)36)
#define UNOPTIMISED_WIDTH 21

/* How often the method of a row was called, and how long that took. */
static void print_calls(const struct print_report *p, const struct report_row *row, FILE *out)
{
    const struct report_call_time *time = report_sites_row_calls(p->sites, row);
    struct text_number calls, total, self;

    fprintf(out, "%10s  %10s  %10s  ", time ? text_count(&calls, time->calls) : "",
            time ? text_ns(&total, (double)time->total_ns) : "",
            time ? text_ns(&self, (double)time->self_ns) : "");
}

static size_t width_of(uint64_t value, size_t at_least)
{
    struct text_number n;
    size_t width = strlen(text_count(&n, value));

    return width > at_least ? width : at_least;
}

static void print_row(const struct print_report *p, const struct report_row *row,
                      const struct columns *c, FILE *out)
{
    struct text_number bytes, allocs, share, low, high;
    size_t used = c->bytes + c->allocs + 13;

    fprintf(out, "%*s ", (int)c->bytes + 1, text_count(&bytes, row->bytes));
    if (c->shares)
        fprintf(out, "%6s  ", text_share(&share, row->share));
    if (c->objects)
        fprintf(out, "%*s  ", (int)c->allocs, row->mixed ? "-" : text_count(&allocs, row->allocs));
    if (c->ranges) {
        char range[40];

        snprintf(range, sizeof(range), "%s-%s", text_short(&low, row->bytes_range.low),
                 text_short(&high, row->bytes_range.high));
        fprintf(out, "%15s  ", range);
        used += 17;
    }
    if (c->calls) {
        print_calls(p, row, out);
        used += CALLS_WIDTH;
    }
    if (row->unoptimised > 0)
        used += UNOPTIMISED_WIDTH;
    print_report_what(p, row, p->stack.wide ? SIZE_MAX : terminal_name_room(out, used), out);
    if (row->unoptimised > 0)
        fprintf(out, " [%s unoptimised]", text_share(&share, row->unoptimised));
    putc('\n', out);
    if (p->by == REPORT_BY_SITE)
        print_stack_text(&p->stack, row->path, row->il, "      ", out);
}

static struct columns columns_of(const struct print_report *p, const struct report_row *total,
                                 FILE *out)
{
    struct columns c = {.bytes = width_of(total->bytes, strlen("bytes")),
                        .allocs = width_of(total->allocs, strlen("objects"))};
    size_t used = c.bytes + 2;

    c.shares = terminal_fits(out, used += 8);
    c.objects = terminal_fits(out, used += c.allocs + 2);
    c.ranges =
        report_sites_estimated(p->sites) && !total->approximate && terminal_fits(out, used + 17);
    c.calls = report_sites_calls(p->sites) && terminal_fits(out, used + CALLS_WIDTH);
    return c;
}

static void print_heading(const struct print_report *p, const struct columns *c, FILE *out)
{
    size_t used = c->bytes + c->allocs + 13;

    fprintf(out, "\n%*s ", (int)c->bytes + 1, "bytes");
    if (c->shares)
        fprintf(out, "%6s  ", "share");
    if (c->objects)
        fprintf(out, "%*s  ", (int)c->allocs, "objects");
    fprintf(out, "%s%s", c->ranges ? "       95% range  " : "",
            c->calls ? "     calls       total        self  " : "");
    used += (c->ranges ? 17 : 0) + (c->calls ? CALLS_WIDTH : 0);
    text_elide(out, print_report_heading(p->by), terminal_name_room(out, used));
    putc('\n', out);
}

static void print_heaps(const struct print_report *p, FILE *out)
{
    static const char *const names[SST_HEAP_COUNT] = {
        [SST_HEAP_LARGE] = "large object heap",
        [SST_HEAP_PINNED] = "pinned object heap",
        [SST_HEAP_FROZEN] = "frozen heap",
    };

    for (int heap = SST_HEAP_NORMAL + 1; heap < SST_HEAP_COUNT; heap++) {
        struct text_number n, m;
        uint64_t bytes, allocs = report_sites_heap(p->sites, (enum sst_heap)heap, &bytes);

        if (allocs)
            fprintf(out, "  on the %s: %s, %s bytes\n", names[heap], text_count(&n, allocs),
                    text_count(&m, bytes));
    }
}

/* Objects that are there because the program is recorded. */
static void print_unoptimised(const struct report_row *total, FILE *out)
{
    struct text_number share;

    if (total->unoptimised > 0)
        fprintf(out,
                "  %s of the bytes exist only when recorded (boxes in unoptimised code); --steady "
                "leaves them out\n",
                text_share(&share, total->unoptimised));
}

static size_t rows_to_print(const struct print_report *p)
{
    size_t passing = report_sites_passing(p->sites);

    return p->top && p->top < passing ? (size_t)p->top : passing;
}

void print_report_text(const struct print_report *p, FILE *out)
{
    const struct report_log *log = report_sites_log(p->sites);
    bool estimated = report_sites_estimated(p->sites);
    size_t count = report_sites_count(p->sites), shown = rows_to_print(p);
    struct text_number a, b, c, d;
    struct report_row total, all, row;
    struct columns columns;
    struct report_sampling sampling;
    uint64_t threads = report_sites_defs(p->sites)->thread_count;
    double share = 0;

    report_sites_total(p->sites, &total);
    report_sites_all(p->sites, &all);
    if (print_sampling_late(log, p->found, &sampling))
        fputs(print_sampling_lead(&sampling), out);
    reading_bounds(p->bounds, p->found, out);
    view_amount_text(&all, estimated, out);
    fprintf(out, ", %s thread%s", text_count(&c, threads), text_plural(threads));
    if (p->filtered)
        fprintf(out, "; selected: %s allocation%s, %s bytes (%s)", text_count(&a, total.allocs),
                text_plural(total.allocs), text_count(&b, total.bytes),
                text_share(&c, all.bytes ? (double)total.bytes / (double)all.bytes : 0));
    fputs(".\n", out);
    view_estimate_text(log, p->found, &all, out);
    if (!estimated)
        print_heaps(p, out);
    print_unoptimised(&total, out);
    columns = columns_of(p, &total, out);
    if (shown)
        print_heading(p, &columns, out);
    for (size_t i = 0; i < shown; i++) {
        report_sites_row(p->sites, i, &row);
        print_row(p, &row, &columns, out);
        share += row.share;
    }
    fputc('\n', out);
    if (shown < count)
        fprintf(out, "Shown: %s of %s %ss, %s of %s bytes.%s\n", text_count(&a, shown),
                text_count(&b, count), titles[p->by], text_share(&c, share),
                p->filtered ? "the selected" : "all",
                p->top && shown == p->top ? " `--top 0` shows all." : "");
    else
        fprintf(out, "Shown: %s %s%s (all).\n", text_count(&d, count), titles[p->by],
                text_plural(count));
    reading_completeness(log, out);
}

/* JSON, row by row: there may be more than memory should hold twice. */

static void json_line_row(const struct print_report *p, const struct report_row *row,
                          struct json_writer *w)
{
    const struct report_defs *d = report_sites_defs(p->sites);
    const struct line_row *at = line_rows_at(p->rows, row->line);
    struct buffer name = BUFFER_INIT;

    jw_text(w, "type", print_stack_type(&p->stack, row->class_number));
    if (at) {
        jw_text(w, "method", print_stack_method(&p->stack, &name, at->method));
        jw_text(w, "module", report_module(d, at->line.module)->name);
        if (at->line.file)
            print_stack_line_json(&p->stack, &at->line, w);
    } else {
        jw_null(w, "method");
    }
    buffer_free(&name);
}

static void json_method(const struct print_report *p, const struct report_row *row,
                        struct json_writer *w)
{
    if (row->path == REPORT_PATH_EMPTY)
        jw_null(w, "method");
    else
        print_stack_method_json(&p->stack, row->method, row->il, w);
}

static void json_calls(const struct print_report *p, const struct report_row *row,
                       struct json_writer *w)
{
    const struct report_call_time *time = report_sites_row_calls(p->sites, row);

    if (!time)
        return;
    jw_unsigned(w, "calls", time->calls);
    jw_unsigned(w, "total_ns", time->total_ns);
    jw_unsigned(w, "self_ns", time->self_ns);
}

void print_report_what_json(const struct print_report *p, const struct report_row *row,
                            struct json_writer *w)
{
    const struct report_defs *d = report_sites_defs(p->sites);
    const struct report_thread *thread;

    switch (p->by) {
    case REPORT_BY_SITE:
        jw_text(w, "type", print_stack_type(&p->stack, row->class_number));
        json_method(p, row, w);
        print_stack_json(&p->stack, row->path, row->il, w);
        break;
    case REPORT_BY_TYPE:
        jw_text(w, "type", print_stack_type(&p->stack, row->class_number));
        if (row->module)
            jw_text(w, "module", report_module(d, row->module)->name);
        break;
    case REPORT_BY_METHOD:
        json_method(p, row, w);
        json_calls(p, row, w);
        break;
    case REPORT_BY_LINE:
        json_line_row(p, row, w);
        break;
    case REPORT_BY_MODULE:
        if (row->path == REPORT_PATH_EMPTY)
            jw_null(w, "module");
        else
            jw_text(w, "module", report_module(d, row->module)->name);
        break;
    case REPORT_BY_THREAD:
        if (!row->thread) {
            jw_null(w, "thread");
            break;
        }
        thread = &d->threads[row->thread - 1];
        jw_unsigned(w, "thread", thread->id);
        if (thread->os)
            jw_unsigned(w, "os", thread->os);
        jw_text_if(w, "name", thread->name);
        break;
    }
}

static void json_row(const struct print_report *p, const struct report_row *row,
                     struct json_writer *w)
{
    jw_line_object(w, 2, NULL);
    view_amounts_json(row, w);
    jw_number(w, "share", "%.6g", row->share);
    print_report_what_json(p, row, w);
    jw_end(w);
}

static void json_total(const struct print_report *p, struct json_writer *w)
{
    const struct report_log *log = report_sites_log(p->sites);
    struct report_row total, all;

    report_sites_total(p->sites, &total);
    report_sites_all(p->sites, &all);
    jw_object(w, "total");
    view_amounts_json(&total, w);
    jw_unsigned(w, "lost", report_log_lost(log));
    jw_unsigned(w, "threads", report_sites_defs(p->sites)->thread_count);
    jw_bool(w, "estimated", report_sites_estimated(p->sites));
    view_sampler_json(log, &all, w);
    if (p->filtered) {
        jw_object(w, "unfiltered");
        view_amounts_json(&all, w);
        jw_end(w);
    }
    jw_end(w);
}

int print_report_json(const struct print_report *p, FILE *out)
{
    size_t shown = rows_to_print(p);
    struct json_writer w;

    jw_init(&w, out);
    jw_object(&w, NULL);
    print_stack_schema_json(&p->stack, &w);
    jw_text(&w, "by", print_report_keys[p->by]);
    json_total(p, &w);
    jw_text_if(&w, "from", p->bounds->from);
    jw_text_if(&w, "to", p->bounds->to);
    print_log_json(report_sites_log(p->sites), p->problems, "log", &w);
    jw_unsigned(&w, "row_count", report_sites_count(p->sites));
    jw_line_array(&w, 1, "rows");
    for (size_t i = 0; i < shown; i++) {
        struct report_row row;

        report_sites_row(p->sites, i, &row);
        json_row(p, &row, &w);
    }
    jw_end(&w);
    if (p->by == REPORT_BY_SITE)
        print_stack_tables_json(&p->stack, &w);
    jw_end(&w);
    return jw_finish(&w);
}
