#include "views/print_profile.h"

#include "command/print_complete.h"
#include "terminal/fit.h"
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
                report_profiler_name((enum report_profiler)i),
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

static void print_row(const struct report_profile *p, const struct print_stack *stack,
                      const struct report_profile_row *row, FILE *out)
{
    struct buffer name = BUFFER_INIT;

    for (unsigned i = 0; i < REPORT_SOURCES; i++)
        if (p->source[i].samples) {
            print_share(row->self[i], p->source[i].samples, out);
            print_share(row->total[i], p->source[i].samples, out);
        }
    fputs("  ", out);
    if (row->method)
        fit_print_name(out, print_stack_method(stack, &name, row->method), METHOD_COLUMNS);
    else
        fputs("(no frame is certain)", out);
    fputc('\n', out);
    buffer_free(&name);
}

static void print_head(const struct report_profile *p, FILE *out)
{
    for (unsigned i = 0; i < REPORT_SOURCES; i++)
        if (p->source[i].samples)
            fprintf(out, "%14s", report_profiler_name((enum report_profiler)i));
    fputc('\n', out);
    for (unsigned i = 0; i < REPORT_SOURCES; i++)
        if (p->source[i].samples)
            fputs("   self  total", out);
    fputs("  method\n", out);
}

void print_profile_text(const struct report_profile *p, const struct print_stack *stack,
                        uint64_t top, FILE *out)
{
    struct report_profile_row *rows;
    struct text_number share;
    size_t count;

    print_costs(p, out);
    if (report_profile_rows(p, stack->defs, &rows, &count))
        return;
    if (p->source[REPORT_SHADOW].samples && p->source[REPORT_SNAPSHOT].samples)
        fprintf(out, "both show the same in %s of the samples, by the method on top\n",
                text_share(&share, report_profile_overlap(p, rows, count)));
    fputc('\n', out);
    print_head(p, out);
    for (size_t i = 0; i < count && (!top || i < top); i++)
        print_row(p, stack, &rows[i], out);
    memory_free(rows);
}

static void costs_json(const struct report_profile_source *s, struct json_writer *w)
{
    jw_unsigned(w, "hz", report_profile_figure(s, "hz"));
    jw_unsigned(w, "moments", report_profile_figure(s, "ticks"));
    jw_unsigned(w, "late", report_profile_figure(s, "late"));
    jw_unsigned(w, "samples", s->samples);
    jw_unsigned(w, "approximate", s->approximate);
    jw_unsigned(w, "refused", report_profile_figure(s, "refused"));
    jw_object(w, "cost_ns");
    jw_unsigned(w, "sum", report_profile_figure(s, "cost_ns"));
    jw_unsigned(w, "p50", report_profile_quantile(s, 0.5));
    jw_unsigned(w, "p99", report_profile_quantile(s, 0.99));
    jw_unsigned(w, "worst", report_profile_figure(s, "worst_ns"));
    jw_end(w);
}

static const char *method_of(const struct log_defs *defs, const struct print_stack *stack,
                             struct buffer *b, uint32_t method)
{
    if (!method)
        return "";
    return stack ? print_stack_method(stack, b, method) : log_method(defs, method)->name;
}

static void methods_json(const struct report_profile *p, const struct log_defs *defs,
                         const struct print_stack *stack, struct json_writer *w)
{
    struct buffer name = BUFFER_INIT;
    struct report_profile_row *rows;
    size_t count;

    if (report_profile_rows(p, defs, &rows, &count)) {
        jw_fail(w);
        return;
    }
    jw_line_array(w, 1, "methods");
    for (size_t i = 0; i < count; i++) {
        jw_line_object(w, 2, NULL);
        jw_text(w, "method", method_of(defs, stack, &name, rows[i].method));
        jw_counts(w, "self", rows[i].self, REPORT_SOURCES);
        jw_counts(w, "total", rows[i].total, REPORT_SOURCES);
        jw_end(w);
    }
    jw_end(w);
    if (p->source[REPORT_SHADOW].samples && p->source[REPORT_SNAPSHOT].samples)
        jw_real(w, "overlap", report_profile_overlap(p, rows, count));
    memory_free(rows);
    buffer_free(&name);
}

static void stacks_json(const struct report_profile_source *s, const struct print_stack *stack,
                        struct json_writer *w)
{
    jw_array(w, "stacks");
    for (size_t i = 0; i < s->paths; i++) {
        if (!s->by_path[i])
            continue;
        jw_line_object(w, 2, NULL);
        jw_unsigned(w, "samples", s->by_path[i]);
        print_stack_json(stack, (uint32_t)i, LOG_NO_IL, w);
        jw_end(w);
    }
    jw_end(w);
}

void print_profile_members(const struct report_profile *p, const struct log_defs *defs,
                           const struct print_stack *stack, struct json_writer *w)
{
    for (unsigned i = 0; i < REPORT_SOURCES; i++) {
        const struct report_profile_source *s = &p->source[i];

        if (!s->figures && !s->samples)
            continue;
        jw_line_object(w, 1, report_profiler_name((enum report_profiler)i));
        costs_json(s, w);
        if (stack)
            stacks_json(s, stack, w);
        jw_end(w);
    }
    methods_json(p, defs, stack, w);
}

int print_profile_json(const struct report_profile *p, const struct print_stack *stack,
                       const struct log_input *log, const struct log_problems *problems, FILE *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_object(&w, NULL);
    print_stack_schema_json(stack, &w);
    jw_text(&w, "topic", "profile");
    if (stack->defs->some_hooked)
        jw_bool(&w, "some_hooked", true);
    print_profile_members(p, stack->defs, stack, &w);
    jw_line(&w, 1);
    print_log_json(log, problems, "log", &w);
    print_stack_tables_json(stack, &w);
    jw_end(&w);
    return jw_finish(&w);
}
