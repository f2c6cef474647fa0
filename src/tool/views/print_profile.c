#include "views/print_profile.h"

#include "views/print_folded.h"
#include "terminal/text.h"

#include "base/memory.h"

#include <string.h>

#define METHOD_COLUMNS 70

static void print_costs(const struct report_profile *p, FILE *out)
{
    fprintf(out, "%-10s %8s %9s %12s %10s %10s %10s\n", "source", "moments", "samples",
            "approximate", "median", "99%", "worst");
    for (unsigned i = 0; i < REPORT_SOURCES; i++) {
        const struct report_profile_source *s = &p->source[i];
        struct text_number a, b, c, d, e, f;

        if (!s->figures && !s->samples)
            continue;
        fprintf(out, "%-10s %8s %9s %12s %10s %10s %10s\n",
                report_sampler_name((enum report_sampler)i),
                text_count(&a, report_profile_figure(s, "ticks")), text_count(&b, s->samples),
                text_share(&c, s->samples ? (double)s->approximate / (double)s->samples : 0),
                text_ns(&d, (double)report_profile_quantile(s, 0.5)),
                text_ns(&e, (double)report_profile_quantile(s, 0.99)),
                text_ns(&f, (double)report_profile_figure(s, "worst_ns")));
    }
}

static void print_share(uint64_t count, uint64_t all, FILE *out)
{
    struct text_number a;

    fprintf(out, "%7s", all ? text_share(&a, (double)count / (double)all) : "-");
}

static void print_row(const struct report_profile *p, const struct report_defs *defs,
                      const struct report_profile_row *row, FILE *out)
{
    for (unsigned i = 0; i < REPORT_SOURCES; i++)
        if (p->source[i].samples) {
            print_share(row->self[i], p->source[i].samples, out);
            print_share(row->total[i], p->source[i].samples, out);
        }
    fputs("  ", out);
    if (row->method)
        text_elide_method(out, report_method(defs, row->method)->name, METHOD_COLUMNS);
    else
        fputs("(no frame is certain)", out);
    fputc('\n', out);
}

static void print_head(const struct report_profile *p, FILE *out)
{
    for (unsigned i = 0; i < REPORT_SOURCES; i++)
        if (p->source[i].samples)
            fprintf(out, "%14s", report_sampler_name((enum report_sampler)i));
    fputc('\n', out);
    for (unsigned i = 0; i < REPORT_SOURCES; i++)
        if (p->source[i].samples)
            fputs("   self  total", out);
    fputs("  method\n", out);
}

void print_profile_text(const struct report_profile *p, const struct report_defs *defs,
                        uint64_t top, FILE *out)
{
    struct report_profile_row *rows;
    struct text_number share;
    size_t count;

    print_costs(p, out);
    if (report_profile_rows(p, defs, &rows, &count))
        return;
    if (p->source[REPORT_SHADOW].samples && p->source[REPORT_SNAPSHOT].samples)
        fprintf(out, "both show the same in %s of the samples, by the method on top\n",
                text_share(&share, report_profile_overlap(p, rows, count)));
    fputc('\n', out);
    print_head(p, out);
    for (size_t i = 0; i < count && (!top || i < top); i++)
        print_row(p, defs, &rows[i], out);
    memory_free(rows);
}

static json_t *costs_json(const struct report_profile_source *s)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I}}", "hz",
                     (json_int_t)report_profile_figure(s, "hz"), "moments",
                     (json_int_t)report_profile_figure(s, "ticks"), "late",
                     (json_int_t)report_profile_figure(s, "late"), "samples",
                     (json_int_t)s->samples, "approximate", (json_int_t)s->approximate, "refused",
                     (json_int_t)report_profile_figure(s, "refused"), "cost_ns", "sum",
                     (json_int_t)report_profile_figure(s, "cost_ns"), "p50",
                     (json_int_t)report_profile_quantile(s, 0.5), "p99",
                     (json_int_t)report_profile_quantile(s, 0.99), "worst",
                     (json_int_t)report_profile_figure(s, "worst_ns"));
}

static json_t *methods_json(const struct report_profile *p, const struct report_defs *defs,
                            double *overlap)
{
    struct report_profile_row *rows;
    json_t *array = json_array();
    size_t count;

    if (report_profile_rows(p, defs, &rows, &count)) {
        json_decref(array);
        return NULL;
    }
    *overlap = report_profile_overlap(p, rows, count);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            array, json_pack("{s:s, s:[I,I], s:[I,I]}", "method",
                             rows[i].method ? report_method(defs, rows[i].method)->name : "",
                             "self", (json_int_t)rows[i].self[0], (json_int_t)rows[i].self[1],
                             "total", (json_int_t)rows[i].total[0], (json_int_t)rows[i].total[1]));
    memory_free(rows);
    return array;
}

static json_t *stacks_json(const struct report_profile_source *s, const struct report_defs *defs)
{
    json_t *array = json_array();

    for (size_t i = 0; i < s->paths; i++) {
        json_t *stack;

        if (!s->by_path[i])
            continue;
        stack = json_array();
        for (uint32_t path = (uint32_t)i; path > REPORT_PATH_LOST;
             path = report_path(defs, path)->parent)
            json_array_append_new(
                stack, json_string(report_method(defs, report_path(defs, path)->method)->name));
        json_array_append_new(
            array, json_pack("{s:I, s:o}", "samples", (json_int_t)s->by_path[i], "stack", stack));
    }
    return array;
}

json_t *print_profile_json(const struct report_profile *p, const struct report_defs *defs,
                           bool stacks)
{
    json_t *json = json_object(), *one;
    double overlap = 0;

    for (unsigned i = 0; i < REPORT_SOURCES; i++) {
        if (!p->source[i].figures && !p->source[i].samples)
            continue;
        one = costs_json(&p->source[i]);
        if (stacks)
            json_object_set_new(one, "stacks", stacks_json(&p->source[i], defs));
        json_object_set_new(json, report_sampler_name((enum report_sampler)i), one);
    }
    json_object_set_new(json, "methods", methods_json(p, defs, &overlap));
    if (p->source[REPORT_SHADOW].samples && p->source[REPORT_SNAPSHOT].samples)
        json_object_set_new(json, "overlap", json_real(overlap));
    return json;
}

static void put_path(const struct report_defs *defs, uint32_t path, FILE *out)
{
    uint32_t parent = report_path(defs, path)->parent;

    if (parent > REPORT_PATH_LOST) {
        put_path(defs, parent, out);
        fputc(';', out);
    }
    print_folded_name(report_method(defs, report_path(defs, path)->method)->name, out);
}

void print_profile_folded(const struct report_profile_source *source,
                          const struct report_defs *defs, FILE *out)
{
    for (size_t i = REPORT_PATH_LOST + 1; i < source->paths; i++)
        if (source->by_path[i]) {
            put_path(defs, (uint32_t)i, out);
            fprintf(out, " %llu\n", (unsigned long long)source->by_path[i]);
        }
}
