/*
 * The JIT compiles a method again once it runs often, and then inlines what it calls: from then on
 * its call path has fewer frames. When that happens differs from run to run: two recordings of one
 * build have the same allocations on a path with those frames, and on one without, in other shares.
 */
#include "model/diff_inlined.h"

#include "base/order.h"

#define ROWS_MAX 1000 /* of a type, the most changed; each is held against each */

/* Of `count` frames, the most that may be inlined. */
#define INLINED_MAX(count) (1 + (count) / 4)

/* A row that changed. */
struct shape {
    struct diff_key type;
    size_t row;
    /* In the first log that has it: its path, and how many frames that has. */
    const struct diff_paths *paths;
    uint32_t path;
    size_t count;
    double change; /* bytes, new less old */
};

static double change_of(const struct diff_rows *rows, size_t row)
{
    return diff_mean(rows, row, DIFF_NEW) - diff_mean(rows, row, DIFF_OLD);
}

static struct shape shape_of(const struct diff_rows *rows, const struct diff_paths *paths,
                             size_t row)
{
    struct shape shape = {.row = row, .change = change_of(rows, row)};
    const struct model_row *first;

    shape.paths = &paths[diff_first(rows, row, &first)];
    shape.path = shape.paths->as[first->what];
    shape.type = diff_key_of_text(report_class(shape.paths->defs, first->class_number)->name);
    for (uint32_t at = shape.path; at > REPORT_PATH_LOST; at = shape.paths->folded[at].parent)
        shape.count++;
    return shape;
}

static double size_of(double change)
{
    return change < 0 ? -change : change;
}

/* By type; of a type the most changed first, then as they came. */
static int by_type(const void *left, const void *right)
{
    const struct shape *a = left, *b = right;
    double x = size_of(a->change), y = size_of(b->change);
    int order = diff_key_order(&a->type, &b->type);

    return order ? order : x != y ? ORDER(y, x) : ORDER(a->row, b->row);
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

/* Did the one lose what the other has more of, for the most part? */
static bool offset_each_other(const struct shape *one, const struct shape *other)
{
    double larger = size_of(one->change) > size_of(other->change) ? size_of(one->change)
                                                                  : size_of(other->change);

    return one->change * other->change < 0 && 2 * size_of(one->change + other->change) <= larger;
}

/* The one of these that goes with `one` and leaves the least of both changes; or NULL. */
static struct shape *partner(const struct shape *one, struct shape *shapes, size_t count)
{
    struct shape *best = NULL;

    for (size_t i = 0; i < count; i++) {
        struct shape *other = &shapes[i];

        if (offset_each_other(one, other) &&
            (!best || size_of(one->change + other->change) < size_of(one->change + best->change)) &&
            is_inlined(one, other))
            best = other;
    }
    return best;
}

/* Rows of one type. Returns: how many became part of others. */
static uint64_t join_type(struct diff_rows *rows, struct shape *shapes, size_t count)
{
    uint64_t joined = 0;

    count = count < ROWS_MAX ? count : ROWS_MAX;
    for (size_t i = 0; i < count; i++)
        for (struct shape *other; shapes[i].change != 0; joined++) {
            other = partner(&shapes[i], shapes, count);
            if (!other)
                break;
            diff_rows_move(rows, shapes[i].row, other->row);
            shapes[i].change += other->change;
            other->change = 0;
        }
    return joined;
}

int diff_join_inlined(struct diff_rows *rows, const struct diff_paths *paths, uint64_t *joined)
{
    struct shape *shapes = memory_alloc((rows->count + 1) * sizeof(*shapes));
    size_t count = 0;

    if (!shapes)
        return -ENOMEM;
    for (size_t row = 0; row < rows->count; row++)
        if (change_of(rows, row) != 0)
            shapes[count++] = shape_of(rows, paths, row);
    qsort(shapes, count, sizeof(*shapes), by_type);
    for (size_t at = 0, next; at < count; at = next) {
        for (next = at + 1; next < count && !diff_key_order(&shapes[next].type, &shapes[at].type);)
            next++;
        *joined += join_type(rows, &shapes[at], next - at);
    }
    diff_rows_compact(rows);
    memory_free(shapes);
    return 0;
}
