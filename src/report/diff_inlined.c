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
    size_t first, count; /* its frames, innermost first */
    double change;       /* bytes, new less old */
};

struct shapes {
    struct shape *rows;
    size_t count, capacity;
    uint64_t *frames; /* hashes of their methods */
    size_t frame_count, frame_capacity;
};

static double mean_of(const struct amount *logs, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)logs[i].bytes;
    return sum / (double)count;
}

static double change_of(const struct report_diff *diff, size_t entry,
                        const struct report_diff_logs *sides)
{
    const struct amount *logs = &diff->amounts[entry * diff->logs];
    size_t old = sides[REPORT_DIFF_OLD].count;

    return mean_of(logs + old, sides[REPORT_DIFF_NEW].count) - mean_of(logs, old);
}

static int add_frame(struct shapes *s, uint64_t hash)
{
    if (s->frame_count == s->frame_capacity) {
        uint64_t *frames = array_grow(s->frames, &s->frame_capacity, sizeof(*frames));

        if (!frames)
            return -ENOMEM;
        s->frames = frames;
    }
    s->frames[s->frame_count++] = hash;
    return 0;
}

static const struct report_sites *sites_of(const struct report_diff_logs *sides, size_t log)
{
    size_t old = sides[REPORT_DIFF_OLD].count;

    return log < old ? sides[REPORT_DIFF_OLD].sites[log] : sides[REPORT_DIFF_NEW].sites[log - old];
}

/* The type and the frames of an entry, as the first log has them that has it. */
static int describe(struct shapes *s, const struct report_diff *diff,
                    const struct report_diff_logs *sides, struct shape *shape)
{
    const struct amount *amounts = &diff->amounts[shape->entry * diff->logs];
    const struct diff_paths *paths;
    struct report_row row;
    size_t log = 0;
    uint32_t at;

    while (amounts[log].row == REPORT_DIFF_NONE)
        log++;
    paths = &diff->paths[log];
    report_sites_row(sites_of(sides, log), amounts[log].row, &row);
    shape->type = diff_key_of_text(report_class(paths->defs, row.class_number)->name);
    shape->first = s->frame_count;
    for (at = paths->as[row.path]; at > REPORT_PATH_LOST; at = paths->folded[at].parent)
        if (add_frame(s, paths->methods[paths->folded[at].method].a))
            return -ENOMEM;
    shape->count = s->frame_count - shape->first;
    return 0;
}

static int gather(struct shapes *s, const struct report_diff *diff,
                  const struct report_diff_logs *sides)
{
    for (size_t i = 0; i < diff->count; i++) {
        struct shape shape = {.entry = i, .change = change_of(diff, i, sides)};

        if (shape.change == 0)
            continue;
        if (s->count == s->capacity) {
            struct shape *rows = array_grow(s->rows, &s->capacity, sizeof(*rows));

            if (!rows)
                return -ENOMEM;
            s->rows = rows;
        }
        if (describe(s, diff, sides, &shape))
            return -ENOMEM;
        s->rows[s->count++] = shape;
    }
    return 0;
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
static bool is_inlined(const struct shapes *s, const struct shape *one, const struct shape *other)
{
    const struct shape *longer = one->count > other->count ? one : other;
    const struct shape *shorter = longer == one ? other : one;
    const uint64_t *has = s->frames + longer->first, *wants = s->frames + shorter->first;
    size_t found = 0;

    if (longer->count - shorter->count > INLINED_MAX(longer->count))
        return false;
    for (size_t i = 0; i < longer->count && found < shorter->count; i++) {
        if (longer->count - i < shorter->count - found)
            return false;
        found += has[i] == wants[found];
    }
    return shorter->count && found == shorter->count;
}

/* All that the logs have of `from` is also `to`'s. */
static void take(struct report_diff *diff, struct shape *to, struct shape *from)
{
    struct amount *sums = &diff->amounts[to->entry * diff->logs];
    struct amount *more = &diff->amounts[from->entry * diff->logs];

    for (size_t i = 0; i < diff->logs; i++) {
        sums[i].allocs += more[i].allocs;
        sums[i].bytes += more[i].bytes;
        sums[i].low += more[i].low;
        sums[i].high += more[i].high;
        if (sums[i].row == REPORT_DIFF_NONE)
            sums[i].row = more[i].row;
        more[i] = (struct amount){.row = REPORT_DIFF_NONE};
    }
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
static struct shape *partner(const struct shapes *s, const struct shape *one, struct shape *rows,
                             size_t count)
{
    struct shape *best = NULL;

    for (size_t i = 0; i < count; i++) {
        struct shape *other = &rows[i];

        if (offset_each_other(one, other) &&
            (!best || size_of(one->change + other->change) < size_of(one->change + best->change)) &&
            is_inlined(s, one, other))
            best = other;
    }
    return best;
}

static void join_type(struct report_diff *diff, const struct shapes *s, struct shape *rows,
                      size_t count)
{
    count = count < ROWS_MAX ? count : ROWS_MAX;
    for (size_t i = 0; i < count; i++)
        for (struct shape *other; rows[i].change != 0;) {
            other = partner(s, &rows[i], rows, count);
            if (!other)
                break;
            take(diff, &rows[i], other);
        }
}

/* Entries that were joined with others are no rows any more. */
static void close_up(struct report_diff *diff)
{
    size_t kept = 0;

    for (size_t i = 0; i < diff->count; i++) {
        const struct amount *from = &diff->amounts[i * diff->logs];
        bool any = false;

        for (size_t log = 0; log < diff->logs; log++)
            any = any || from[log].row != REPORT_DIFF_NONE;
        if (!any)
            continue;
        memmove(&diff->amounts[kept * diff->logs], from, diff->logs * sizeof(*from));
        diff->entries[kept++] = diff->entries[i];
    }
    diff->count = kept;
}

int diff_join_inlined(struct report_diff *diff,
                      const struct report_diff_logs sides[REPORT_DIFF_SIDES])
{
    struct shapes s = {0};
    int err = gather(&s, diff, sides);

    if (!err && s.count)
        qsort(s.rows, s.count, sizeof(*s.rows), by_type);
    for (size_t at = 0, next; !err && at < s.count; at = next) {
        for (next = at + 1; next < s.count && s.rows[next].type.a == s.rows[at].type.a &&
                            s.rows[next].type.b == s.rows[at].type.b;)
            next++;
        join_type(diff, &s, &s.rows[at], next - at);
    }
    if (!err)
        close_up(diff);
    memory_free(s.rows);
    memory_free(s.frames);
    return err;
}
