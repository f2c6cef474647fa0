#include "views/print_mismatch.h"

#include "views/native_names.h"
#include "terminal/text.h"

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

static void print_cell(const struct report_checks *c, const uint32_t *stack, size_t size,
                       size_t index, size_t width, bool pad, FILE *out)
{
    size_t used = 0;

    if (index != NONE)
        used = text_elide_method(out, report_method(&c->defs, frame_of(stack, size, index))->name,
                                 width);
    if (pad)
        fprintf(out, "%*s", (int)(width - used), "");
}

static void print_row(const struct report_checks *c, const struct report_mismatch *m,
                      const struct print_mismatch_row *row, bool first,
                      const struct terminal *terminal, FILE *out)
{
    size_t half = (terminal->width - MARGIN) / 2;

    if (first)
        fputs(terminal_strong(terminal), out);
    fputs(first ? "> " : row_equal(m, row) ? "  " : "| ", out);
    print_cell(c, m->shadow, m->shadow_size, row->shadow, half, true, out);
    fputs(row->snapshot != NONE ? " | " : " |", out);
    print_cell(c, m->snapshot, m->snapshot_size, row->snapshot, half, false, out);
    if (first)
        fputs(terminal_plain(terminal), out);
    putc('\n', out);
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

static void print_where(const struct report_checks *c, const struct report_mismatch *m, FILE *out)
{
    text_part(out, "\n", m->cause, "");
    fprintf(out, ", first seen in line %llu, offset %llu", (unsigned long long)m->at.line,
            (unsigned long long)m->at.offset);
    if (m->thread)
        fprintf(out, ", thread %u", c->defs.threads[m->thread - 1].id);
    if (m->class_number) {
        fputs(", of ", out);
        text_elide(out, report_class(&c->defs, m->class_number)->name, 40);
    }
    text_part(out, "; the snapshot was refused: ", m->refused[0] ? m->refused : NULL, "");
    text_part(out,
              m->repairs[0] ? "\nRepairs that had touched this stack: "
                            : "\nNo repair had touched this stack.",
              m->repairs, "\n");
}

void print_mismatch(const struct report_checks *c, const struct report_mismatch *m,
                    const struct terminal *terminal, FILE *out)
{
    struct print_mismatch_row *rows =
        memory_alloc((m->shadow_size + m->snapshot_size + 1) * sizeof(*rows));
    size_t count = rows ? print_mismatch_rows(m, rows) : 0, first = 0, low, high;
    struct native_names *names = m->native_count ? native_names_new(&c->images) : NULL;
    char title[48];

    print_where(c, m, out);
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
        print_row(c, m, &rows[i], i == first, terminal, out);
    }
    if (!low)
        print_natives(m, names, m->snapshot_size, terminal, out);
    native_names_free(names);
    if (low)
        fprintf(out, "  ... %zu more, equal\n", low);
    memory_free(rows);
}
