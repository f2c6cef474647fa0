#include "views/print_events.h"

#include "command/print_complete.h"
#include "command/reading.h"
#include "terminal/fit.h"
#include "terminal/terminal.h"
#include "terminal/text.h"

#include <inttypes.h>
#include <string.h>

#define LEAST_CATCHER 50 /* columns of a line with INDENT in front of a name */
#define INDENT        "              "
#define SITES         3 /* shown beside a collection */
#define SITES_JSON    10

static size_t shown(const struct events_table *t, uint64_t top)
{
    return top && top < t->count ? (size_t)top : t->count;
}

/* In b, or the log's. */
static const char *method_name(const struct print_events *p, struct buffer *b,
                               const struct events_row *row)
{
    return row->name ? row->name : print_stack_method(&p->stack, b, row->a);
}

/* Text. */

/* In what is left of a line that has `used` columns already. */
static void put_class(const struct print_events *p, uint32_t class_number, size_t used, FILE *out)
{
    fit_print_name(out, print_stack_type(&p->stack, class_number),
                   p->stack.wide ? SIZE_MAX : terminal_name_room(out, used));
}

static void put_method(const struct print_events *p, const char *name, size_t used, FILE *out)
{
    fit_print_name(out, name, p->stack.wide ? SIZE_MAX : terminal_name_room(out, used));
}

static void exceptions_text(const struct print_events *p, FILE *out)
{
    const struct events_report *f = p->report;
    struct text_number count, each[4];
    struct buffer name = BUFFER_INIT;
    const char *before;

    fprintf(out, "%10s %8s %8s %9s %10s  %s\n", "thrown", "caught", "native", "swallowed",
            "superseded", "exception, and the stack that throws it");
    for (size_t i = 0; i < shown(&f->table, p->top); i++) {
        const struct events_row *row = &f->table.rows[i];

        fprintf(out, "%10s %8s %8s %9s %10s  ", text_count(&count, row->count),
                text_count(&each[0], row->more[0]), text_count(&each[1], row->more[1]),
                text_count(&each[2], row->more[2]), text_count(&each[3], row->more[3]));
        put_class(p, row->a, 51, out);
        putc('\n', out);
        print_stack_text(&p->stack, row->b, LOG_NO_IL, INDENT, out);
    }
    fprintf(out, "\n%10s %10s  %s\n", "caught", "took each", "exception, and who catches it");
    for (size_t i = 0; i < shown(&f->catchers, p->top); i++) {
        const struct events_row *row = &f->catchers.rows[i];

        fprintf(out, "%10s %10s  ", text_count(&count, row->count),
                text_ns(&each[0], (double)row->ns / (double)row->count));
        put_class(p, row->a, 23, out);
        before = terminal_fits(out, LEAST_CATCHER) ? INDENT "in " : "  in ";
        fprintf(out, "\n%s", before);
        fit_print_name(out, print_stack_method(&p->stack, &name, row->b),
                       p->stack.wide ? SIZE_MAX : terminal_width(out) - strlen(before));
        putc('\n', out);
    }
    buffer_free(&name);
}

static uint64_t whole_heap(const uint64_t sizes[COLLECTION_HEAPS])
{
    uint64_t sum = 0;

    for (int i = 0; i < COLLECTION_HEAPS; i++)
        sum += sizes[i];
    return sum;
}

/* Sites that allocated most before collection `at`. */
static void allocators_text(const struct print_events *p, size_t at, FILE *out)
{
    const struct events_report *f = p->report;
    size_t count;
    const struct collections_share *share = collections_shares(&f->collections, at, &count);

    for (size_t i = 0; i < count && i < SITES; i++, share++) {
        struct text_number bytes;

        fprintf(out, "%42s  ", text_count(&bytes, share->bytes));
        put_class(p, share->class_number, 44, out);
        putc('\n', out);
        print_stack_text(&p->stack, share->path, share->il, INDENT, out);
    }
}

static void gc_text(const struct print_events *p, FILE *out)
{
    const struct events_report *f = p->report;
    const struct collections *all = &f->collections;
    size_t count = p->top && p->top < all->count ? (size_t)p->top : all->count;
    struct text_number took, bytes, before, after;

    fprintf(out, "%5s %12s %10s %12s %14s %14s %s\n", "gc", "ms", "took", "allocated",
            "heap before", "after", " generations, reason");
    for (size_t i = 0; i < count; i++) {
        const struct collection *c = &all->all[i];

        fprintf(out, "%5" PRIu64 " %12.3f %10s %12s %14s %14s  ", c->number, (double)c->t / 1e6,
                text_ns(&took, (double)c->ns), text_count(&bytes, c->bytes),
                text_count(&before, whole_heap(c->before)),
                text_count(&after, whole_heap(c->after)));
        for (unsigned g = 0; g < COLLECTION_HEAPS; g++)
            if (c->generations >> g & 1)
                fprintf(out, "%u ", g);
        fprintf(out, "%s\n", c->induced ? "induced" : "");
        allocators_text(p, i, out);
    }
    fprintf(out, "%5s %12s %10s %12s since the last collection\n", "", "", "",
            text_count(&bytes, f->collections.bytes_after));
    allocators_text(p, all->count, out);
}

static void jit_text(const struct print_events *p, FILE *out)
{
    const struct events_report *f = p->report;
    struct text_number time, longest, count, again;
    struct buffer name = BUFFER_INIT;

    fprintf(out, "%10s %10s %9s %9s  %s\n", "took", "longest", "compiled", "of these", "method");
    fprintf(out, "%10s %10s %9s %9s\n", "", "", "", "again");
    for (size_t i = 0; i < shown(&f->table, p->top); i++) {
        const struct events_row *row = &f->table.rows[i];

        fprintf(out, "%10s %10s %9s %9s  ", text_ns(&time, (double)row->ns),
                text_ns(&longest, (double)row->max), text_count(&count, row->count),
                text_count(&again, row->more[1] + row->more[2]));
        put_method(p, method_name(p, &name, row), row->name ? 53 : 43, out);
        fputs(row->name ? " (dynamic)\n" : "\n", out);
    }
    buffer_free(&name);
}

static void suspend_text(const struct print_events *p, FILE *out)
{
    const struct events_report *f = p->report;
    struct text_number time, longest, count, stop;

    fprintf(out, "%10s %10s %9s %12s  %s\n", "took", "longest", "times", "until still", "reason");
    for (size_t i = 0; i < shown(&f->table, p->top); i++) {
        const struct events_row *row = &f->table.rows[i];

        fprintf(out, "%10s %10s %9s %12s  ", text_ns(&time, (double)row->ns),
                text_ns(&longest, (double)row->max), text_count(&count, row->count),
                text_ns(&stop, (double)row->more[0]));
        text_print(out, row->name);
        putc('\n', out);
    }
}

static void calls_text(const struct print_events *p, FILE *out)
{
    const struct events_report *f = p->report;
    struct text_number total, self, count, longest;
    struct buffer name = BUFFER_INIT;

    fprintf(out, "%10s %10s %10s %12s  %s\n", "total", "self", "longest", "calls", "method");
    for (size_t i = 0; i < shown(&f->table, p->top); i++) {
        const struct events_row *row = &f->table.rows[i];

        fprintf(out, "%10s %10s %10s %12s  ", text_ns(&total, (double)row->ns),
                text_ns(&self, (double)row->more[0]), text_ns(&longest, (double)row->max),
                text_count(&count, row->count));
        put_method(p, method_name(p, &name, row), 47, out);
        putc('\n', out);
    }
    buffer_free(&name);
    if (f->missing)
        fprintf(out, "%s calls are missing, with all that they called: the buffer was full.\n",
                text_count(&count, f->missing));
}

void print_events_text(const struct print_events *p, FILE *out)
{
    static void (*const prints[])(const struct print_events *, FILE *) = {
        exceptions_text, gc_text, jit_text, suspend_text, calls_text};
    static const char *const families[] = {"exceptions", "gc", "jit", "suspend", "calls"};
    const struct events_report *f = p->report;
    size_t rows = f->topic == EVENTS_GC ? f->collections.count : f->table.count;

    if (rows)
        prints[f->topic](p, out);
    else
        fprintf(out,
                reading_records(&f->log, families[f->topic])
                    ? "The log has no such events: none happened while it was recorded with "
                      "--events %s.\n"
                    : "The log has no such events; record with --events alloc,%s.\n",
                families[f->topic]);
    if (p->top && rows > p->top)
        fprintf(out, "\nShown: %" PRIu64 " of %zu. `--top 0` shows all.\n", p->top, rows);
    reading_completeness(&f->log, out);
}

/* JSON. */

static void throw_json(const struct print_events *p, const struct events_row *row,
                       struct json_writer *w)
{
    jw_text(w, "exception", print_stack_type(&p->stack, row->a));
    jw_unsigned(w, "thrown", row->count);
    jw_unsigned(w, "caught", row->more[0]);
    jw_unsigned(w, "native", row->more[1]);
    jw_unsigned(w, "swallowed", row->more[2]);
    jw_unsigned(w, "superseded", row->more[3]);
    print_stack_json(&p->stack, row->b, LOG_NO_IL, w);
}

static void catchers_json(const struct print_events *p, struct json_writer *w)
{
    const struct events_table *t = &p->report->catchers;
    struct buffer name = BUFFER_INIT;

    jw_line_array(w, 1, "catchers");
    for (size_t i = 0; i < shown(t, p->top); i++) {
        const struct events_row *row = &t->rows[i];

        jw_line_object(w, 2, NULL);
        jw_text(w, "exception", print_stack_type(&p->stack, row->a));
        jw_text(w, "method", print_stack_method(&p->stack, &name, row->b));
        jw_unsigned(w, "caught", row->count);
        jw_unsigned(w, "ns", row->ns);
        jw_end(w);
    }
    jw_end(w);
    buffer_free(&name);
}

static void allocators_json(const struct print_events *p, size_t at, struct json_writer *w)
{
    const struct events_report *f = p->report;
    size_t count;
    const struct collections_share *share = collections_shares(&f->collections, at, &count);

    jw_array(w, "by");
    for (size_t i = 0; i < count && i < SITES_JSON; i++, share++) {
        jw_object(w, NULL);
        jw_text(w, "type", print_stack_type(&p->stack, share->class_number));
        jw_unsigned(w, "allocs", share->allocs);
        jw_unsigned(w, "bytes", share->bytes);
        print_stack_json(&p->stack, share->path, share->il, w);
        jw_end(w);
    }
    jw_end(w);
}

static void collection_json(const struct print_events *p, size_t at, struct json_writer *w)
{
    const struct collection *c = &p->report->collections.all[at];

    jw_unsigned(w, "gc", c->number);
    jw_unsigned(w, "t", c->t);
    jw_unsigned(w, "ns", c->ns);
    jw_text(w, "reason", c->induced ? "induced" : "other");
    jw_array(w, "generations");
    for (unsigned g = 0; g < COLLECTION_HEAPS; g++)
        if (c->generations >> g & 1)
            jw_unsigned(w, NULL, g);
    jw_end(w);
    jw_counts(w, "before", c->before, COLLECTION_HEAPS);
    jw_counts(w, "after", c->after, COLLECTION_HEAPS);
    jw_unsigned(w, "bytes", c->bytes);
    jw_unsigned(w, "allocs", c->allocs);
    allocators_json(p, at, w);
}

static void since_json(const struct print_events *p, struct json_writer *w)
{
    const struct collections *c = &p->report->collections;

    jw_line_object(w, 1, "since");
    jw_unsigned(w, "bytes", c->bytes_after);
    jw_unsigned(w, "allocs", c->allocs_after);
    allocators_json(p, c->count, w);
    jw_end(w);
}

static void method_json(const struct print_events *p, const struct events_row *row,
                        struct json_writer *w)
{
    struct buffer name = BUFFER_INIT;

    jw_text(w, "method", method_name(p, &name, row));
    buffer_free(&name);
}

static void row_json(const struct print_events *p, const struct events_row *row,
                     struct json_writer *w)
{
    switch (p->report->topic) {
    case EVENTS_EXCEPTIONS:
        throw_json(p, row, w);
        break;
    case EVENTS_JIT:
        method_json(p, row, w);
        jw_bool(w, "dynamic", row->name != NULL);
        jw_unsigned(w, "compiled", row->count);
        jw_unsigned(w, "again", row->more[1] + row->more[2]);
        jw_unsigned(w, "failed", row->more[3]);
        jw_unsigned(w, "ns", row->ns);
        jw_unsigned(w, "longest_ns", row->max);
        break;
    case EVENTS_SUSPENSIONS:
        jw_text(w, "reason", row->name);
        jw_unsigned(w, "count", row->count);
        jw_unsigned(w, "ns", row->ns);
        jw_unsigned(w, "longest_ns", row->max);
        jw_unsigned(w, "stop_ns", row->more[0]);
        jw_unsigned(w, "aborted", row->more[1]);
        break;
    default:
        method_json(p, row, w);
        jw_unsigned(w, "calls", row->count);
        jw_unsigned(w, "total_ns", row->ns);
        jw_unsigned(w, "self_ns", row->more[0]);
        jw_unsigned(w, "longest_ns", row->max);
        jw_unsigned(w, "unwound", row->more[1]);
    }
}

static void rows_json(const struct print_events *p, struct json_writer *w)
{
    const struct events_report *f = p->report;
    bool gc = f->topic == EVENTS_GC;
    size_t count = gc ? f->collections.count : shown(&f->table, p->top);

    jw_line_array(w, 1, "rows");
    for (size_t i = 0; i < count; i++) {
        jw_line_object(w, 2, NULL);
        if (gc)
            collection_json(p, i, w);
        else
            row_json(p, &f->table.rows[i], w);
        jw_end(w);
    }
    jw_end(w);
}

int print_events_json(const struct print_events *p, FILE *out)
{
    static const char *const topics[] = {
        [EVENTS_EXCEPTIONS] = "exceptions",   [EVENTS_GC] = "gc",       [EVENTS_JIT] = "jit",
        [EVENTS_SUSPENSIONS] = "suspensions", [EVENTS_CALLS] = "calls",
    };
    const struct events_report *f = p->report;
    struct json_writer w;

    jw_init(&w, out);
    jw_object(&w, NULL);
    print_stack_schema_json(&p->stack, &w);
    jw_text(&w, "topic", topics[f->topic]);
    print_log_json(&f->log, p->problems, "log", &w);
    rows_json(p, &w);
    if (f->topic == EVENTS_EXCEPTIONS)
        catchers_json(p, &w);
    if (f->topic == EVENTS_GC)
        since_json(p, &w);
    if (f->topic == EVENTS_CALLS)
        jw_unsigned(&w, "missing", f->missing);
    if (f->topic == EVENTS_EXCEPTIONS || f->topic == EVENTS_GC)
        print_stack_tables_json(&p->stack, &w);
    jw_end(&w);
    return jw_finish(&w);
}
