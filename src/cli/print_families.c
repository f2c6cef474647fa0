#include "cli/print_families.h"

#include "cli/print_json.h"
#include "cli/reading.h"
#include "cli/terminal.h"
#include "cli/text.h"

#include <inttypes.h>
#include <string.h>

#define INDENT     "              "
#define SITES      3 /* shown beside a collection */
#define SITES_JSON 10

static size_t shown(const struct families_table *t, uint64_t top)
{
    return top && top < t->count ? (size_t)top : t->count;
}

/* In b, or the log's. */
static const char *method_name(const struct print_families *p, struct buffer *b,
                               const struct families_row *row)
{
    return row->name ? row->name : print_stack_method(&p->stack, b, row->a);
}

/* Text. */

/* In what is left of a line that has `used` columns already. */
static void put_class(const struct print_families *p, uint32_t class_number, size_t used, FILE *out)
{
    text_elide(out, report_class(&p->report->defs, class_number)->name,
               p->stack.wide ? SIZE_MAX : terminal_width(out) - used);
}

static void put_method(const struct print_families *p, const char *name, size_t used, FILE *out)
{
    text_elide_method(out, name, p->stack.wide ? SIZE_MAX : terminal_width(out) - used);
}

static void exceptions_text(const struct print_families *p, FILE *out)
{
    const struct families_report *f = p->report;
    struct text_number count, each[4];
    struct buffer name = BUFFER_INIT;

    fprintf(out, "%10s %8s %8s %9s %10s  %s\n", "thrown", "caught", "native", "swallowed",
            "superseded", "exception, and the stack that throws it");
    for (size_t i = 0; i < shown(&f->table, p->top); i++) {
        const struct families_row *row = &f->table.rows[i];

        fprintf(out, "%10s %8s %8s %9s %10s  ", text_count(&count, row->count),
                text_count(&each[0], row->more[0]), text_count(&each[1], row->more[1]),
                text_count(&each[2], row->more[2]), text_count(&each[3], row->more[3]));
        put_class(p, row->a, 51, out);
        putc('\n', out);
        print_stack_text(&p->stack, row->b, REPORT_NO_IL, INDENT, out);
    }
    fprintf(out, "\n%10s %10s  %s\n", "caught", "took each", "exception, and who catches it");
    for (size_t i = 0; i < shown(&f->catchers, p->top); i++) {
        const struct families_row *row = &f->catchers.rows[i];

        fprintf(out, "%10s %10s  ", text_count(&count, row->count),
                text_ns(&each[0], (double)row->ns / (double)row->count));
        put_class(p, row->a, 23, out);
        fputs("\n" INDENT "in ", out);
        put_method(p, print_stack_method(&p->stack, &name, row->b), strlen(INDENT "in "), out);
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
static void allocators_text(const struct print_families *p, size_t at, FILE *out)
{
    const struct families_report *f = p->report;
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

static void gc_text(const struct print_families *p, FILE *out)
{
    const struct families_report *f = p->report;
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

static void jit_text(const struct print_families *p, FILE *out)
{
    const struct families_report *f = p->report;
    struct text_number time, longest, count, again;
    struct buffer name = BUFFER_INIT;

    fprintf(out, "%10s %10s %9s %9s  %s\n", "took", "longest", "compiled", "of these", "method");
    fprintf(out, "%10s %10s %9s %9s\n", "", "", "", "again");
    for (size_t i = 0; i < shown(&f->table, p->top); i++) {
        const struct families_row *row = &f->table.rows[i];

        fprintf(out, "%10s %10s %9s %9s  ", text_ns(&time, (double)row->ns),
                text_ns(&longest, (double)row->max), text_count(&count, row->count),
                text_count(&again, row->more[1] + row->more[2]));
        put_method(p, method_name(p, &name, row), row->name ? 53 : 43, out);
        fputs(row->name ? " (dynamic)\n" : "\n", out);
    }
    buffer_free(&name);
}

static void suspend_text(const struct print_families *p, FILE *out)
{
    const struct families_report *f = p->report;
    struct text_number time, longest, count, stop;

    fprintf(out, "%10s %10s %9s %12s  %s\n", "took", "longest", "times", "until still", "reason");
    for (size_t i = 0; i < shown(&f->table, p->top); i++) {
        const struct families_row *row = &f->table.rows[i];

        fprintf(out, "%10s %10s %9s %12s  ", text_ns(&time, (double)row->ns),
                text_ns(&longest, (double)row->max), text_count(&count, row->count),
                text_ns(&stop, (double)row->more[0]));
        text_print(out, row->name);
        putc('\n', out);
    }
}

static void calls_text(const struct print_families *p, FILE *out)
{
    const struct families_report *f = p->report;
    struct text_number total, self, count, longest;
    struct buffer name = BUFFER_INIT;

    fprintf(out, "%10s %10s %10s %12s  %s\n", "total", "self", "longest", "calls", "method");
    for (size_t i = 0; i < shown(&f->table, p->top); i++) {
        const struct families_row *row = &f->table.rows[i];

        fprintf(out, "%10s %10s %10s %12s  ", text_ns(&total, (double)row->ns),
                text_ns(&self, (double)row->more[0]), text_ns(&longest, (double)row->max),
                text_count(&count, row->count));
        put_method(p, method_name(p, &name, row), 47, out);
        putc('\n', out);
    }
    buffer_free(&name);
    if (f->missing)
        fprintf(out, "%s calls had no room and are missing, with all that they called.\n",
                text_count(&count, f->missing));
}

void print_families_text(const struct print_families *p, FILE *out)
{
    static void (*const prints[])(const struct print_families *, FILE *) = {
        exceptions_text, gc_text, jit_text, suspend_text, calls_text};
    static const char *const families[] = {"exceptions", "gc", "jit", "suspend", "calls"};
    const struct families_report *f = p->report;
    size_t rows = f->topic == FAMILIES_GC ? f->collections.count : f->table.count;

    if (rows)
        prints[f->topic](p, out);
    else
        fprintf(out,
                reading_records(&f->log, families[f->topic])
                    ? "The log holds none: none happened while it was recorded with --events %s.\n"
                    : "The log holds none: record with --events alloc,%s.\n",
                families[f->topic]);
    if (p->top && rows > p->top)
        fprintf(out, "\nShown: %" PRIu64 " of %zu. `--top 0` shows all.\n", p->top, rows);
    reading_completeness(&f->log, out);
}

/* JSON. */

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *method_json(const struct print_families *p, const struct families_row *row)
{
    struct buffer name = BUFFER_INIT;
    json_t *json = json_string(method_name(p, &name, row));

    buffer_free(&name);
    return json;
}

/* An object with the members of a stack; NULL: no memory. */
static json_t *stack_json(const struct print_families *p, uint32_t path, int32_t il)
{
    struct json_writer w;
    json_t *json;
    char *text;

    jw_init(&w, NULL);
    jw_object(&w, NULL);
    print_stack_json(&p->stack, path, il, &w);
    jw_end(&w);
    text = jw_take(&w);
    json = text ? json_loads(text, 0, NULL) : NULL;
    memory_free(text);
    return json;
}

static json_t *sizes_json(const uint64_t sizes[COLLECTION_HEAPS])
{
    json_t *array = json_array();

    for (int i = 0; i < COLLECTION_HEAPS; i++)
        json_array_append_new(array, integer(sizes[i]));
    return array;
}

static json_t *throw_json(const struct print_families *p, const struct families_row *row)
{
    json_t *json = stack_json(p, row->b, REPORT_NO_IL);

    json_object_update_new(
        json, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "exception",
                        report_class(&p->report->defs, row->a)->name, "thrown", integer(row->count),
                        "caught", integer(row->more[0]), "native", integer(row->more[1]),
                        "swallowed", integer(row->more[2]), "superseded", integer(row->more[3])));
    return json;
}

static json_t *catch_json(const struct print_families *p, const struct families_row *row)
{
    struct buffer name = BUFFER_INIT;
    json_t *json =
        json_pack("{s:s, s:s, s:o, s:o}", "exception", report_class(&p->report->defs, row->a)->name,
                  "method", print_stack_method(&p->stack, &name, row->b), "caught",
                  integer(row->count), "ns", integer(row->ns));

    buffer_free(&name);
    return json;
}

static json_t *allocators_json(const struct print_families *p, size_t at)
{
    const struct families_report *f = p->report;
    json_t *array = json_array();
    size_t count;
    const struct collections_share *share = collections_shares(&f->collections, at, &count);

    for (size_t i = 0; i < count && i < SITES_JSON; i++, share++) {
        json_t *json = stack_json(p, share->path, share->il);

        json_object_update_new(json, json_pack("{s:s, s:o, s:o}", "type",
                                               report_class(&f->defs, share->class_number)->name,
                                               "allocs", integer(share->allocs), "bytes",
                                               integer(share->bytes)));
        json_array_append_new(array, json);
    }
    return array;
}

static json_t *collection_json(const struct print_families *p, size_t at)
{
    const struct collection *c = &p->report->collections.all[at];
    json_t *generations = json_array();

    for (unsigned g = 0; g < COLLECTION_HEAPS; g++)
        if (c->generations >> g & 1)
            json_array_append_new(generations, integer(g));
    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "gc", integer(c->number),
                     "t", integer(c->t), "ns", integer(c->ns), "reason",
                     c->induced ? "induced" : "other", "generations", generations, "before",
                     sizes_json(c->before), "after", sizes_json(c->after), "bytes",
                     integer(c->bytes), "allocs", integer(c->allocs), "by", allocators_json(p, at));
}

static json_t *row_json(const struct print_families *p, const struct families_row *row)
{
    switch (p->report->topic) {
    case FAMILIES_EXCEPTIONS:
        return throw_json(p, row);
    case FAMILIES_JIT:
        return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "method", method_json(p, row),
                         "dynamic", row->name != NULL, "compiled", integer(row->count), "again",
                         integer(row->more[1] + row->more[2]), "failed", integer(row->more[3]),
                         "ns", integer(row->ns), "longest_ns", integer(row->max));
    case FAMILIES_SUSPENSIONS:
        return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "reason", row->name, "count",
                         integer(row->count), "ns", integer(row->ns), "longest_ns",
                         integer(row->max), "stop_ns", integer(row->more[0]), "aborted",
                         integer(row->more[1]));
    default:
        return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "method", method_json(p, row), "calls",
                         integer(row->count), "total_ns", integer(row->ns), "self_ns",
                         integer(row->more[0]), "longest_ns", integer(row->max), "unwound",
                         integer(row->more[1]));
    }
}

int print_families_json(const struct print_families *p, FILE *out)
{
    const struct families_report *f = p->report;
    bool gc = f->topic == FAMILIES_GC;
    size_t count = gc ? f->collections.count : shown(&f->table, p->top);
    json_t *rows = json_array(), *o;
    int failed;

    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, gc ? collection_json(p, i) : row_json(p, &f->table.rows[i]));
    o = json_pack("{s:o, s:o}", "rows", rows, "log", reading_log_json(&f->log, p->problems));
    if (f->topic == FAMILIES_EXCEPTIONS) {
        json_t *catchers = json_array();

        for (size_t i = 0; i < shown(&f->catchers, p->top); i++)
            json_array_append_new(catchers, catch_json(p, &f->catchers.rows[i]));
        json_object_set_new(o, "catchers", catchers);
    }
    if (gc)
        json_object_set_new(o, "since",
                            json_pack("{s:o, s:o, s:o}", "bytes",
                                      integer(f->collections.bytes_after), "allocs",
                                      integer(f->collections.allocs_after), "by",
                                      allocators_json(p, f->collections.count)));
    if (f->topic == FAMILIES_CALLS)
        json_object_set_new(o, "missing", integer(f->missing));
    failed = !o || print_json_value(o, out, JSON_COMPACT);
    fputc('\n', out);
    json_decref(o);
    return failed;
}
