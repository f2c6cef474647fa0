/*
 * The JIT compiles a method again once it runs often, and then inlines what it calls: from then on
 * its call path has fewer frames. When that happens differs from run to run: two recordings of one
 * build have the same allocations on a path with those frames, and on one without, in other shares.
 */
#include "model/diff_inlined.h"

#include "base/order.h"

#include <math.h>

#define ROWS_MAX 1000 /* of a type, the most changed; each is held against each */

/* Of `count` frames, the most that may be inlined. */
#define INLINED_MAX(count) (1 + (count) / 4)

/* A row that changed. */
struct shape {
    struct diff_key type;
    struct diff_key own; /* the path up to its innermost frame of own code */
    bool has_own;
    size_t row;
    /* In the first log that has it: its path, and how many frames that has. */
    const struct diff_paths *paths;
    uint32_t path;
    size_t count;
    double change; /* bytes, new less old */
};

/* Counts the frames, and joins the names of those from the innermost own one on. */
static void name_frames(struct shape *shape, const struct model_own *own)
{
    const struct diff_paths *paths = shape->paths;

    for (uint32_t at = shape->path; at > LOG_PATH_LOST; at = paths->folded[at].parent) {
        const uint32_t method = paths->folded[at].method;

        if (shape->has_own)
            shape->own = diff_key_join(shape->own, paths->methods[method]);
        else if (model_own_of_method(own, method) == MODEL_OWN)
            shape->own = paths->methods[method];
        shape->has_own = shape->has_own || model_own_of_method(own, method) == MODEL_OWN;
        shape->count++;
    }
}

static struct shape shape_of(const struct diff_rows *rows, const struct diff_paths *paths,
                             size_t row)
{
    struct shape shape = {.row = row, .change = diff_growth(rows, row)};
    const struct model_row *first;
    size_t log = diff_first(rows, row, &first);

    shape.paths = &paths[log];
    shape.path = shape.paths->as[first->what];
    shape.type = diff_key_of_text(log_class(shape.paths->defs, first->class_number)->name);
    name_frames(&shape, model_own_code(diff_log_of(rows, log).rows->tree->model));
    return shape;
}

/* By type, then by their own frames; those without any first. */
ORDERED_BY(by_own, struct shape, diff_key_order(&x->type, &y->type),
           diff_key_order(&x->own, &y->own), ORDER(x->row, y->row))

/* Rows of one type below the same own frames become one if most of what some lost others have. */
static uint64_t join_own(struct diff_rows *rows, struct shape *shapes, size_t count)
{
    double sum = 0, most = 0;

    for (size_t i = 0; i < count; i++) {
        sum += shapes[i].change;
        most = fmax(most, fabs(shapes[i].change));
    }
    if (count < 2 || !shapes->has_own || !diff_cancel_all(sum, most))
        return 0;
    for (size_t i = 1; i < count; i++) {
        diff_rows_move(rows, shapes->row, shapes[i].row);
        shapes[i].change = 0;
    }
    shapes->change = sum;
    return count - 1;
}

/* By type; of a type the most changed first, then as they came. */
ORDERED_BY(by_type, struct shape, diff_key_order(&x->type, &y->type),
           ORDER(fabs(y->change), fabs(x->change)), ORDER(x->row, y->row))

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
    for (; wanted > LOG_PATH_LOST; at = has[at].parent) {
        if (longer->paths->methods[has[at].method].a ==
            shorter->paths->methods[wants[wanted].method].a)
            wanted = wants[wanted].parent;
        else if (!more--)
            return false;
    }
    return true;
}

/* The one of these that goes with `one` and leaves the least of both changes; or NULL. */
static struct shape *partner(const struct shape *one, struct shape *shapes, size_t count)
{
    struct shape *best = NULL;

    for (size_t i = 0; i < count; i++) {
        struct shape *other = &shapes[i];

        if (diff_cancel(one->change, other->change) &&
            (!best || fabs(one->change + other->change) < fabs(one->change + best->change)) &&
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
        if (diff_growth(rows, row) != 0)
            shapes[count++] = shape_of(rows, paths, row);
    SORT(shapes, count, by_own);
    for (size_t at = 0, next; at < count; at = next) {
        for (next = at + 1; next < count && !diff_key_order(&shapes[next].type, &shapes[at].type) &&
                            !diff_key_order(&shapes[next].own, &shapes[at].own);)
            next++;
        *joined += join_own(rows, &shapes[at], next - at);
    }
    SORT(shapes, count, by_type);
    for (size_t at = 0, next; at < count; at = next) {
        for (next = at + 1; next < count && !diff_key_order(&shapes[next].type, &shapes[at].type);)
            next++;
        *joined += join_type(rows, &shapes[at], next - at);
    }
    diff_rows_compact(rows);
    memory_free(shapes);
    return 0;
}
