#include "views/print_mismatch.h"

#include "views/native_names.h"
#include "terminal/fit.h"
#include "terminal/text.h"

#include <string.h>

#define AROUND_BELOW 3 /* rows shown below the first difference, towards the root */
#define AROUND_ABOVE 9 /* and from it towards the leaves */
#define MARGIN       6 /* columns of a row that are no name: the mark, the bar */

#define NONE PRINT_MISMATCH_NONE

static uint32_t frame_of(const uint32_t *stack, size_t size, size_t index)
{
    return stack[size - 1 - index]; /* leaf first in memory */
}

/* Whether `few` is `many` with frames left out. */
static bool align(const uint32_t *many, size_t many_size, const uint32_t *few, size_t few_size)
{
    size_t found = 0;

    for (size_t i = 0; i < many_size && found < few_size; i++)
        found += frame_of(many, many_size, i) == frame_of(few, few_size, found);
    return found == few_size;
}

static size_t rows_with_gaps(const uint32_t *many, size_t many_size, const uint32_t *few,
                             size_t few_size, bool shadow_is_many, struct print_mismatch_row *rows)
{
    size_t next = 0;

    for (size_t i = 0; i < many_size; i++) {
        bool both =
            next < few_size && frame_of(many, many_size, i) == frame_of(few, few_size, next);
        size_t other = both ? next++ : NONE;

        rows[i] = shadow_is_many ? (struct print_mismatch_row){i, other}
                                 : (struct print_mismatch_row){other, i};
    }
    return many_size;
}

size_t print_mismatch_rows(const struct report_mismatch *m, struct print_mismatch_row *rows)
{
    size_t deeper = m->shadow_size > m->snapshot_size ? m->shadow_size : m->snapshot_size;

    if (align(m->shadow, m->shadow_size, m->snapshot, m->snapshot_size))
        return rows_with_gaps(m->shadow, m->shadow_size, m->snapshot, m->snapshot_size, true, rows);
    if (align(m->snapshot, m->snapshot_size, m->shadow, m->shadow_size))
        return rows_with_gaps(m->snapshot, m->snapshot_size, m->shadow, m->shadow_size, false,
                              rows);
    for (size_t i = 0; i < deeper; i++)
        rows[i] = (struct print_mismatch_row){i < m->shadow_size ? i : NONE,
                                              i < m->snapshot_size ? i : NONE};
    return deeper;
}

static bool row_equal(const struct report_mismatch *m, const struct print_mismatch_row *row)
{
    return row->shadow != NONE && row->snapshot != NONE &&
           frame_of(m->shadow, m->shadow_size, row->shadow) ==
               frame_of(m->snapshot, m->snapshot_size, row->snapshot);
}

/* The names of a row's frames, in buffers of their own; "" for none. */
static void names_of(const struct report_mismatch *m, const struct print_mismatch_row *row,
                     const struct print_stack *stack, struct buffer buffers[2],
                     const char *names[2])
{
    uint32_t methods[2] = {0, 0};

    if (row->shadow != NONE)
        methods[0] = frame_of(m->shadow, m->shadow_size, row->shadow);
    if (row->snapshot != NONE)
        methods[1] = frame_of(m->snapshot, m->snapshot_size, row->snapshot);
    names[0] = row->shadow == NONE ? "" : print_stack_method(stack, &buffers[0], methods[0]);
    names[1] = row->snapshot == NONE ? "" : print_stack_method(stack, &buffers[1], methods[1]);
    if (row->shadow != NONE && methods[0] != methods[1] && strcmp(names[0], names[1]) == 0)
        for (int i = 0; i < 2; i++)
            names[i] = log_method(stack->defs, methods[i])->name;
}

static void print_row(const struct report_mismatch *m, const struct print_mismatch_row *row,
                      bool first, const struct print_stack *stack, const struct terminal *terminal,
                      FILE *out)
{
    size_t half = (terminal->width - MARGIN) / 2, used;
    struct buffer buffers[2] = {BUFFER_INIT, BUFFER_INIT};
    const char *names[2];

    names_of(m, row, stack, buffers, names);

    if (first)
        fputs(terminal_strong(terminal), out);
    fputs(first ? "> " : row_equal(m, row) ? "  " : "| ", out);
    used = fit_print_name(out, names[0], half);
    fprintf(out, "%*s%s", (int)(half - used), "", row->snapshot != NONE ? " | " : " |");
    fit_print_name(out, names[1], half);
    if (first)
        fputs(terminal_plain(terminal), out);
    putc('\n', out);
    buffer_free(&buffers[0]);
    buffer_free(&buffers[1]);
}

/* --native: frames just above a snapshot's frame; `at` counts from the leaf, up to the size. */
static void print_natives(const struct report_mismatch *m, struct native_names *names, size_t at,
                          const struct terminal *terminal, FILE *out)
{
    size_t half = (terminal->width - MARGIN) / 2;

    for (size_t i = 0; i < m->native_count; i++) {
        if (m->natives[i].at != at)
            continue;
        fprintf(out, "  %*s |   ", (int)half, "");
        text_elide(out, native_names_text(names, &m->natives[i]), half - 2);
        putc('\n', out);
    }
}

static void print_where(const struct report_mismatch *m, const struct print_stack *stack, FILE *out)
{
    text_part(out, "\n", m->cause, "");
    fprintf(out, ", first seen in line %llu, offset %llu", (unsigned long long)m->at.line,
            (unsigned long long)m->at.offset);
    if (m->thread)
        fprintf(out, ", thread %u", stack->defs->threads[m->thread - 1].id);
    if (m->class_number) {
        fputs(", of ", out);
        fit_print_name(out, print_stack_type(stack, m->class_number), 40);
    }
    text_part(out, "; the snapshot was refused: ", m->refused[0] ? m->refused : NULL, "");
    text_part(out,
              m->repairs[0] ? "\nRepairs that had touched this stack: "
                            : "\nNo repair had touched this stack.",
              m->repairs, "\n");
}

void print_mismatch(const struct report_mismatch *m, const struct report_checks *c,
                    const struct print_stack *stack, const struct terminal *terminal, FILE *out)
{
    struct print_mismatch_row *rows =
        memory_alloc((m->shadow_size + m->snapshot_size + 1) * sizeof(*rows));
    size_t count = rows ? print_mismatch_rows(m, rows) : 0, first = 0, low, high;
    struct native_names *names = m->native_count ? native_names_new(&c->images) : NULL;
    char title[48];

    print_where(m, stack, out);
    while (first < count && row_equal(m, &rows[first]))
        first++;
    low = first > AROUND_BELOW ? first - AROUND_BELOW : 0;
    high = count - first > AROUND_ABOVE ? first + AROUND_ABOVE : count;
    snprintf(title, sizeof(title), "shadow stack, %zu frames", m->shadow_size);
    fprintf(out, "  %-*s | snapshot, %zu frames\n", (int)((terminal->width - MARGIN) / 2), title,
            m->snapshot_size);
    if (high < count)
        fprintf(out, "  ... %zu more above\n", count - high);
    for (size_t i = high; i-- > low;) {
        if (rows[i].snapshot != NONE)
            print_natives(m, names, m->snapshot_size - 1 - rows[i].snapshot, terminal, out);
        print_row(m, &rows[i], i == first, stack, terminal, out);
    }
    if (!low)
        print_natives(m, names, m->snapshot_size, terminal, out);
    native_names_free(names);
    if (low)
        fprintf(out, "  ... %zu more, equal\n", low);
    memory_free(rows);
}
