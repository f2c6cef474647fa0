/*
 * A line has another number in another build as soon as something was written above it. There it is
 * known by its method, and its place among the method's other lines that allocate the type.
 */
#include "model/diff_lines.h"

#include "base/order.h"
#include "base/path.h"

#include "report/align.h"

#include <math.h>

/* A row of one side. */
struct line {
    struct diff_key key;
    uint64_t build;  /* of its module; 0: not known */
    uint64_t number; /* diff_line_number */
    int side;
    size_t row;
    double bytes;
};

bool diff_line_of(const struct diff_log *log, const struct model_row *row, struct diff_key *key)
{
    const struct model_place *place = row->place;

    *key = log->rows->options.key == MODEL_BY_LINE_TYPE
               ? diff_key_of_text(log_class(log->defs, row->class_number)->name)
               : diff_key_of_text("any type");
    if (!row->what)
        return false;
    *key = diff_key_join(*key, diff_key_of_text(log_method(log->defs, row->what - 1)->name));
    if (place->file)
        *key = diff_key_join(*key, diff_key_of_text(path_base_name_foreign(place->file)));
    return place->file;
}

/* Whether the row has a line: then *out is that. */
static bool find_line(const struct diff_rows *rows, size_t row, struct line *out)
{
    const struct model_row *first;
    const struct diff_log log = diff_log_of(rows, diff_first(rows, row, &first));
    const char *build;

    if (!diff_line_of(&log, first, &out->key))
        return false;
    build = log_module(log.defs, log_method(log.defs, first->what - 1)->module)->mvid;
    out->build = build ? diff_key_of_text(build).a : 0;
    out->number = diff_line_number(first->place);
    out->side = log.side;
    out->row = row;
    out->bytes = diff_mean(rows, row, log.side);
    return true;
}

ORDERED_BY(by_place, struct line, diff_key_order(&x->key, &y->key), ORDER(x->side, y->side),
           ORDER(x->number, y->number))

static void by_number(struct diff_rows *rows, const struct line *old, size_t olds,
                      const struct line *new, size_t news)
{
    for (size_t i = 0, k = 0; i < olds && k < news;) {
        if (old[i].number == new[k].number)
            diff_rows_move(rows, new[k++].row, old[i++].row);
        else if (old[i].number < new[k].number)
            i++;
        else
            k++;
    }
}

/* Lines of one method and type, of both sides. */
struct pairs {
    const struct line *old, *new;
};

/* Bytes that changed, and one for another number. */
static double cost_of_match(const void *context, size_t old, size_t new)
{
    const struct pairs *p = context;
    const struct line *a = &p->old[old], *b = &p->new[new];

    return (a->bytes > b->bytes ? a->bytes - b->bytes : b->bytes - a->bytes) +
           (a->number != b->number);
}

static double cost_of_gone(const void *context, size_t old)
{
    return ((const struct pairs *)context)->old[old].bytes;
}

static double cost_of_added(const void *context, size_t new)
{
    return ((const struct pairs *)context)->new[new].bytes;
}

/* As few bytes as possible changed, lines staying in their order. -E2BIG: they are too many. */
static int by_order(struct diff_rows *rows, const struct line *old, size_t olds,
                    const struct line *new, size_t news)
{
    const struct pairs pairs = {old, new};
    const struct align how = {olds, news, cost_of_match, cost_of_gone, cost_of_added, &pairs};
    size_t *match = memory_alloc((olds + 1) * sizeof(*match));
    int err = match ? align(&how, match) : -ENOMEM;

    for (size_t i = 0; !err && i < olds; i++)
        if (match[i] != ALIGN_NONE)
            diff_rows_move(rows, new[match[i]].row, old[i].row);
    memory_free(match);
    return err;
}

/* Rows of one method and type: those of the old side, then the new one's. */
static int join(struct diff_rows *rows, const struct line *lines, size_t count)
{
    bool one_build = lines->build != 0;
    size_t olds = 0;

    for (size_t i = 0; i < count; i++) {
        olds += lines[i].side == DIFF_OLD;
        one_build = one_build && lines[i].build == lines->build;
    }
    if (!one_build) {
        int err = by_order(rows, lines, olds, lines + olds, count - olds);

        if (err != -E2BIG)
            return err;
    }
    by_number(rows, lines, olds, lines + olds, count - olds);
    return 0;
}

int diff_join_lines(struct diff_rows *rows)
{
    struct line *lines = memory_alloc((rows->count + 1) * sizeof(*lines));
    size_t count = 0;
    int err = lines ? 0 : -ENOMEM;

    for (size_t row = 0; !err && row < rows->count; row++)
        count += find_line(rows, row, &lines[count]);
    if (!err)
        qsort(lines, count, sizeof(*lines), by_place);
    for (size_t at = 0, next; !err && at < count; at = next) {
        for (next = at + 1; next < count && !diff_key_order(&lines[next].key, &lines[at].key);)
            next++;
        err = join(rows, &lines[at], next - at);
    }
    diff_rows_compact(rows);
    memory_free(lines);
    return err;
}

/* ---- lines that are not known ---- */

/* A row of a method that changed. */
struct part {
    struct diff_key key; /* method and type */
    size_t row;
    bool lined;
    double change;
};

ORDERED_BY(by_method, struct part, diff_key_order(&x->key, &y->key), ORDER(x->lined, y->lined),
           ORDER(x->row, y->row))

static bool find_part(const struct diff_rows *rows, size_t row, struct part *out)
{
    const struct model_row *first;
    const struct diff_log log = diff_log_of(rows, diff_first(rows, row, &first));

    *out = (struct part){.row = row, .change = diff_growth(rows, row)};
    if (!first->what || out->change == 0)
        return false;
    out->lined = first->place->file;
    out->key = diff_key_of_text(log_method(log.defs, first->what - 1)->name);
    if (log.rows->options.key == MODEL_BY_LINE_TYPE)
        out->key = diff_key_join(out->key,
                                 diff_key_of_text(log_class(log.defs, first->class_number)->name));
    return true;
}

/* The line that leaves the least of the change of what has no line; NULL: none cancels it. */
static struct part *line_for(double change, struct part *parts, size_t count)
{
    struct part *best = NULL;

    for (size_t i = 0; i < count; i++)
        if (parts[i].lined && diff_cancel(change, parts[i].change) &&
            (!best || fabs(change + parts[i].change) < fabs(change + best->change)))
            best = &parts[i];
    return best;
}

/* Those of one method; the ones without a line are first. */
static uint64_t join_parts(struct diff_rows *rows, struct part *parts, size_t count)
{
    uint64_t joined = 0;

    for (size_t i = 0; i < count && !parts[i].lined; i++)
        for (struct part *line; (line = line_for(parts[i].change, parts, count)); joined++) {
            diff_rows_move(rows, parts[i].row, line->row);
            parts[i].change += line->change;
            line->change = 0;
        }
    return joined;
}

int diff_join_unlined(struct diff_rows *rows, uint64_t *joined)
{
    struct part *parts = memory_alloc((rows->count + 1) * sizeof(*parts));
    size_t count = 0;

    if (!parts)
        return -ENOMEM;
    for (size_t row = 0; row < rows->count; row++)
        count += find_part(rows, row, &parts[count]);
    qsort(parts, count, sizeof(*parts), by_method);
    for (size_t at = 0, next; at < count; at = next) {
        for (next = at + 1; next < count && !diff_key_order(&parts[next].key, &parts[at].key);)
            next++;
        *joined += join_parts(rows, &parts[at], next - at);
    }
    diff_rows_compact(rows);
    memory_free(parts);
    return 0;
}
