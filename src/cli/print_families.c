#include "cli/print_families.h"

#include "cli/reading.h"
#include "cli/text.h"

#include <inttypes.h>
#include <string.h>

#define FRAMES   8 /* of a throw's stack */
#define ALLOCATE 3 /* methods shown beside a collection */

static size_t shown(const struct families_table *t, uint64_t top)
{
    return top && top < t->count ? (size_t)top : t->count;
}

static const char *method_name(const struct families_report *f, const struct families_row *row)
{
    return row->name ? row->name : report_method(&f->defs, row->a)->name;
}

/* Text. */

static void stack_text(const struct report_defs *defs, uint32_t path, FILE *out)
{
    for (int i = 0; i < FRAMES && path > REPORT_PATH_LOST; i++) {
        const struct report_path *p = report_path(defs, path);

        fprintf(out, "%14sat %s\n", "", report_method(defs, p->method)->name);
        path = p->parent;
    }
}

static void exceptions_text(const struct families_report *f, uint64_t top, FILE *out)
{
    struct text_number count, each[4];

    fprintf(out, "%10s %8s %8s %9s %10s  %s\n", "thrown", "caught", "native", "swallowed",
            "superseded", "exception, and the stack that throws it");
    for (size_t i = 0; i < shown(&f->table, top); i++) {
        const struct families_row *row = &f->table.rows[i];

        fprintf(out, "%10s %8s %8s %9s %10s  %s\n", text_count(&count, row->count),
                text_count(&each[0], row->more[0]), text_count(&each[1], row->more[1]),
                text_count(&each[2], row->more[2]), text_count(&each[3], row->more[3]),
                report_class(&f->defs, row->a)->name);
        stack_text(&f->defs, row->b, out);
    }
    fprintf(out, "\n%10s %10s  %s\n", "caught", "took each", "exception, and who catches it");
    for (size_t i = 0; i < shown(&f->catchers, top); i++) {
        const struct families_row *row = &f->catchers.rows[i];

        fprintf(out, "%10s %10s  %s in %s\n", text_count(&count, row->count),
                text_ns(&each[0], (double)row->ns / (double)row->count),
                report_class(&f->defs, row->a)->name, report_method(&f->defs, row->b)->name);
    }
}

static uint64_t small_heap(const uint64_t sizes[5])
{
    return sizes[0] + sizes[1] + sizes[2] + sizes[3] + sizes[4];
}

/* Methods that allocated most before collection `at`. */
static void allocators_text(const struct families_report *f, size_t at, FILE *out)
{
    unsigned said = 0;

    for (size_t i = 0; i < f->table.count && said < ALLOCATE; i++) {
        const struct families_row *row = &f->table.rows[i];
        struct text_number bytes;

        if (row->a != at)
            continue;
        said++;
        fprintf(out, "%42s  by %s\n", text_count(&bytes, row->more[0]),
                report_method(&f->defs, row->b)->name);
    }
}

static void gc_text(const struct families_report *f, uint64_t top, FILE *out)
{
    size_t count = top && top < f->collection_count ? (size_t)top : f->collection_count;
    struct text_number took, bytes, before, after;

    fprintf(out, "%5s %12s %10s %12s %14s %14s %s\n", "gc", "ms", "took", "allocated",
            "heap before", "after", " generations, reason");
    for (size_t i = 0; i < count; i++) {
        const struct families_collection *c = &f->collections[i];

        fprintf(out, "%5" PRIu64 " %12.3f %10s %12s %14s %14s  ", c->number, (double)c->t / 1e6,
                text_ns(&took, (double)c->ns), text_count(&bytes, c->bytes),
                text_count(&before, small_heap(c->before)),
                text_count(&after, small_heap(c->after)));
        for (unsigned g = 0; g < 5; g++)
            if (c->generations >> g & 1)
                fprintf(out, "%u ", g);
        fprintf(out, "%s\n", c->induced ? "induced" : "");
        allocators_text(f, i, out);
    }
    fprintf(out, "%5s %12s %10s %12s since the last collection\n", "", "", "",
            text_count(&bytes, f->bytes_after));
    allocators_text(f, f->collection_count, out);
}

static void jit_text(const struct families_report *f, uint64_t top, FILE *out)
{
    struct text_number time, longest, count, again;

    fprintf(out, "%10s %10s %9s %9s  %s\n", "took", "longest", "compiled", "of these", "method");
    fprintf(out, "%10s %10s %9s %9s\n", "", "", "", "again");
    for (size_t i = 0; i < shown(&f->table, top); i++) {
        const struct families_row *row = &f->table.rows[i];

        fprintf(out, "%10s %10s %9s %9s  %s%s\n", text_ns(&time, (double)row->ns),
                text_ns(&longest, (double)row->max), text_count(&count, row->count),
                text_count(&again, row->more[1] + row->more[2]), method_name(f, row),
                row->name ? " (dynamic)" : "");
    }
}

static void suspend_text(const struct families_report *f, uint64_t top, FILE *out)
{
    struct text_number time, longest, count, stop;

    fprintf(out, "%10s %10s %9s %12s  %s\n", "took", "longest", "times", "until still", "reason");
    for (size_t i = 0; i < shown(&f->table, top); i++) {
        const struct families_row *row = &f->table.rows[i];

        fprintf(out, "%10s %10s %9s %12s  %s\n", text_ns(&time, (double)row->ns),
                text_ns(&longest, (double)row->max), text_count(&count, row->count),
                text_ns(&stop, (double)row->more[0]), row->name);
    }
}

static void calls_text(const struct families_report *f, uint64_t top, FILE *out)
{
    struct text_number total, self, count, longest;

    fprintf(out, "%10s %10s %10s %12s  %s\n", "total", "self", "longest", "calls", "method");
    for (size_t i = 0; i < shown(&f->table, top); i++) {
        const struct families_row *row = &f->table.rows[i];

        fprintf(out, "%10s %10s %10s %12s  %s\n", text_ns(&total, (double)row->ns),
                text_ns(&self, (double)row->more[0]), text_ns(&longest, (double)row->max),
                text_count(&count, row->count), method_name(f, row));
    }
    if (f->missing)
        fprintf(out, "%s calls had no room and are missing, with all that they called.\n",
                text_count(&count, f->missing));
}

void print_families_text(const struct families_report *f, uint64_t top, FILE *out)
{
    static void (*const prints[])(const struct families_report *, uint64_t, FILE *) = {
        exceptions_text, gc_text, jit_text, suspend_text, calls_text};
    static const char *const families[] = {"exceptions", "gc", "jit", "suspend", "calls"};
    size_t rows = f->topic == FAMILIES_GC ? f->collection_count : f->table.count;

    if (rows)
        prints[f->topic](f, top, out);
    else
        fprintf(out, "The log holds none: record with --events alloc,%s.\n", families[f->topic]);
    if (top && rows > top)
        fprintf(out, "\nShown: %" PRIu64 " of %zu. `--top 0` shows all.\n", top, rows);
    reading_completeness(&f->log, out);
}

/* JSON. */

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *stack_json(const struct report_defs *defs, uint32_t path)
{
    json_t *stack = json_array();

    while (path > REPORT_PATH_LOST) {
        const struct report_path *p = report_path(defs, path);

        json_array_append_new(stack, json_string(report_method(defs, p->method)->name));
        path = p->parent;
    }
    return stack;
}

static json_t *sizes_json(const uint64_t sizes[5])
{
    json_t *array = json_array();

    for (int i = 0; i < 5; i++)
        json_array_append_new(array, integer(sizes[i]));
    return array;
}

static json_t *throw_json(const struct families_report *f, const struct families_row *row)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "exception",
                     report_class(&f->defs, row->a)->name, "thrown", integer(row->count), "caught",
                     integer(row->more[0]), "native", integer(row->more[1]), "swallowed",
                     integer(row->more[2]), "superseded", integer(row->more[3]), "stack",
                     stack_json(&f->defs, row->b));
}

static json_t *catch_json(const struct families_report *f, const struct families_row *row)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "exception", report_class(&f->defs, row->a)->name,
                     "method", report_method(&f->defs, row->b)->name, "caught", integer(row->count),
                     "ns", integer(row->ns));
}

static json_t *allocators_json(const struct families_report *f, size_t at)
{
    json_t *array = json_array();

    for (size_t i = 0; i < f->table.count && json_array_size(array) < 10; i++) {
        const struct families_row *row = &f->table.rows[i];

        if (row->a == at)
            json_array_append_new(
                array, json_pack("{s:s, s:o, s:o}", "method", report_method(&f->defs, row->b)->name,
                                 "allocs", integer(row->count), "bytes", integer(row->more[0])));
    }
    return array;
}

static json_t *collection_json(const struct families_report *f, size_t at)
{
    const struct families_collection *c = &f->collections[at];
    json_t *generations = json_array();

    for (unsigned g = 0; g < 5; g++)
        if (c->generations >> g & 1)
            json_array_append_new(generations, integer(g));
    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "gc", integer(c->number),
                     "t", integer(c->t), "ns", integer(c->ns), "reason",
                     c->induced ? "induced" : "other", "generations", generations, "before",
                     sizes_json(c->before), "after", sizes_json(c->after), "bytes",
                     integer(c->bytes), "allocs", integer(c->allocs), "by", allocators_json(f, at));
}

static json_t *row_json(const struct families_report *f, const struct families_row *row)
{
    switch (f->topic) {
    case FAMILIES_EXCEPTIONS:
        return throw_json(f, row);
    case FAMILIES_JIT:
        return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "method", method_name(f, row),
                         "dynamic", row->name != NULL, "compiled", integer(row->count), "again",
                         integer(row->more[1] + row->more[2]), "failed", integer(row->more[3]),
                         "ns", integer(row->ns), "longest_ns", integer(row->max));
    case FAMILIES_SUSPENSIONS:
        return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "reason", row->name, "count",
                         integer(row->count), "ns", integer(row->ns), "longest_ns",
                         integer(row->max), "stop_ns", integer(row->more[0]), "aborted",
                         integer(row->more[1]));
    default:
        return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "method", method_name(f, row), "calls",
                         integer(row->count), "total_ns", integer(row->ns), "self_ns",
                         integer(row->more[0]), "longest_ns", integer(row->max), "unwound",
                         integer(row->more[1]));
    }
}

int print_families_json(const struct families_report *f, const struct report_problems *problems,
                        uint64_t top, FILE *out)
{
    bool gc = f->topic == FAMILIES_GC;
    size_t count = gc ? f->collection_count : shown(&f->table, top);
    json_t *rows = json_array(), *o;
    int failed;

    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, gc ? collection_json(f, i) : row_json(f, &f->table.rows[i]));
    o = json_pack("{s:o, s:o}", "rows", rows, "log", reading_log_json(&f->log, problems));
    if (f->topic == FAMILIES_EXCEPTIONS) {
        json_t *catchers = json_array();

        for (size_t i = 0; i < shown(&f->catchers, top); i++)
            json_array_append_new(catchers, catch_json(f, &f->catchers.rows[i]));
        json_object_set_new(o, "catchers", catchers);
    }
    if (gc)
        json_object_set_new(o, "since",
                            json_pack("{s:o, s:o, s:o}", "bytes", integer(f->bytes_after), "allocs",
                                      integer(f->allocs_after), "by",
                                      allocators_json(f, f->collection_count)));
    if (f->topic == FAMILIES_CALLS)
        json_object_set_new(o, "missing", integer(f->missing));
    failed = !o || json_dumpf(o, out, JSON_COMPACT);
    fputc('\n', out);
    json_decref(o);
    return failed;
}
