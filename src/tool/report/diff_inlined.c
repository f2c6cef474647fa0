/*
 * The JIT compiles a method again once it runs often, and then inlines what it calls: from then on its call path has
 * fewer frames. When that happens differs from run to run, so that two recordings of one build have the same allocations
 * on a path with those frames, and on one without, in other shares.
 */
#include "report/diff_internal.h"

#include <stdlib.h>

#define ROWS_MAX 1000 /* of a type, the most changed; each is held against each */

/* Frames that may be inlined of so many. */
#define INLINED_MAX(count) (1 + (count) / 4)

/* A row that changed. */
struct shape {
    struct key type;
    size_t entry;
    const struct diff_paths
        *paths; /* of the first log that has it; its path there, and how many frames that has */
    uint32_t path;
    size_t count;
    double change; /* bytes, new less old */
};

static double change_of(const struct report_diff *diff, size_t entry,
                        const struct report_diff_logs *sides)
{
    const struct amount *logs = &diff->amounts[entry * diff->logs];
    size_t old = sides[REPORT_DIFF_OLD].count;

    return diff_mean_of(logs + old, sides[REPORT_DIFF_NEW].count) - diff_mean_of(logs, old);
}

static struct shape shape_of(const struct report_diff *diff, const struct report_diff_logs *sides,
                             size_t entry)
{
    struct shape shape = {.entry = entry, .change = change_of(diff, entry, sides)};
    struct report_row row;

    shape.paths = &diff->paths[diff_row_of(diff, sides, entry, &row)];
    shape.path = shape.paths->as[row.path];
    shape.type = diff_key_of_text(report_class(shape.paths->defs, row.class_number)->name);
    for (uint32_t at = shape.path; at > REPORT_PATH_LOST; at = shape.paths->folded[at].parent)
        shape.count++;
    return shape;
}

/* The rows that changed. Returns: how many; *out is to be freed, NULL without memory. */
static size_t gather(const struct report_diff *diff, const struct report_diff_logs *sides,
                     struct shape **out)
{
    size_t count = 0;

    *out = memory_alloc((diff->count + 1) * sizeof(**out));
    for (size_t i = 0; *out && i < diff->count; i++)
        if (change_of(diff, i, sides) != 0)
            (*out)[count++] = shape_of(diff, sides, i);
    return count;
}

static double size_of(double change)
{
    return change < 0 ? -change : change;
}

/* By type; of a type the most changed first, then as they came. */
static int by_type(const void *left, const void *right)
{
    const struct shape *a = left, *b = right;

    if (a->type.a != b->type.a)
        return a->type.a < b->type.a ? -1 : 1;
    if (a->type.b != b->type.b)
        return a->type.b < b->type.b ? -1 : 1;
    if (size_of(a->change) != size_of(b->change))
        return size_of(a->change) > size_of(b->change) ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* Has the longer one all frames of the other, in the same order? */
static bool is_inlined(const struct shape *one, const struct shape *other)
{
    const struct shape *longer = one->count > other->count ? one : other;
    const struct shape *shorter = longer == one ? other : one;
    const struct diff_folded *has = longer->paths->folded, *wants = shorter->paths->folded;
    size_t more = longer->count - shorter->count;
    uint32_t at = longer->path, wanted = shorter->path;

    if (!shorter->count || more > INLINED_MAX(longer->count))
        return false;
    for (; wanted > REPORT_PATH_LOST; at = has[at].parent) {
        if (longer->paths->methods[has[at].method].a ==
            shorter->paths->methods[wants[wanted].method].a)
            wanted = wants[wanted].parent;
        else if (!more--)
            return false;
    }
    return true;
}

static void take(struct report_diff *diff, struct shape *to, struct shape *from)
{
    diff_take(diff, to->entry, from->entry);
    to->change += from->change;
    from->change = 0;
    diff->inlined++;
}

/* Did the one lose what the other has more of, for the most part? */
static bool offset_each_other(const struct shape *one, const struct shape *other)
{
    double larger = size_of(one->change) > size_of(other->change) ? size_of(one->change)
                                                                  : size_of(other->change);

    return one->change * other->change < 0 && 2 * size_of(one->change + other->change) <= larger;
}

/* The row among these that goes with `one` and leaves the least of both changes; NULL: none does. */
static struct shape *partner(const struct shape *one, struct shape *rows, size_t count)
{
    struct shape *best = NULL;

    for (size_t i = 0; i < count; i++) {
        struct shape *other = &rows[i];

        if (offset_each_other(one, other) &&
            (!best || size_of(one->change + other->change) < size_of(one->change + best->change)) &&
            is_inlined(one, other))
            best = other;
    }
    return best;
}

static void join_type(struct report_diff *diff, struct shape *rows, size_t count)
{
    count = count < ROWS_MAX ? count : ROWS_MAX;
    for (size_t i = 0; i < count; i++)
        for (struct shape *other; rows[i].change != 0;) {
            other = partner(&rows[i], rows, count);
            if (!other)
                break;
            take(diff, &rows[i], other);
        }
}

int diff_join_inlined(struct report_diff *diff,
                      const struct report_diff_logs sides[REPORT_DIFF_SIDES])
{
    struct shape *rows;
    size_t count = gather(diff, sides, &rows);

    if (!rows)
        return -ENOMEM;
    qsort(rows, count, sizeof(*rows), by_type);
    for (size_t at = 0, next; at < count; at = next) {
        for (next = at + 1; next < count && rows[next].type.a == rows[at].type.a &&
                            rows[next].type.b == rows[at].type.b;)
            next++;
        join_type(diff, &rows[at], next - at);
    }
    diff_close_up(diff);
    memory_free(rows);
    return 0;
}
