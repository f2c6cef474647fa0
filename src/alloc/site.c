#include "alloc/site.h"

#define LESSONS 256 /* snapshots at the most: a helper that cannot be learned is given up */

static bool native(const struct site_table *table, uintptr_t address)
{
    return address >= table->native_low && address < table->native_high;
}

/* The helper's row, or -1 when the table is full. */
static int row_of(struct site_table *table, uintptr_t helper)
{
    unsigned at = (unsigned)(helper >> 4) & (SITE_HELPERS - 1);

    for (unsigned i = 0; i < SITE_HELPERS; i++, at = (at + 1) & (SITE_HELPERS - 1)) {
        uintptr_t found = load_relaxed(&table->entry[at].helper);

        if (found == helper || (!found && cas_acq_rel(&table->entry[at].helper, &found, helper)) ||
            found == helper)
            return (int)at;
    }
    return -1;
}

/* Where above the helper's frame does the address lie that the snapshot names? */
static uintptr_t learn(struct site_table *table, int row, const uintptr_t *frame, uintptr_t limit,
                       uintptr_t ip)
{
    for (uint32_t distance = 2; distance < SITE_REACH / sizeof(*frame); distance++) {
        if ((uintptr_t)(frame + distance) >= limit)
            break;
        if (frame[distance] == ip) {
            store_relaxed(&table->entry[row].distance, distance);
            return ip;
        }
    }
    return 0;
}

static uintptr_t through_helper(struct site_table *table, const uintptr_t *frame, uintptr_t limit,
                                site_teacher *teacher, void *context)
{
    int row = row_of(table, frame[1]);
    uint32_t distance = row < 0 ? 0 : load_relaxed(&table->entry[row].distance);
    uintptr_t ip;

    if (LIKELY(distance))
        return (uintptr_t)(frame + distance) < limit ? frame[distance] : 0;
    if (row < 0 || add_relaxed(&table->lessons, 1) >= LESSONS)
        return 0;
    ip = teacher(context);
    return ip ? learn(table, row, frame, limit, ip) : 0;
}

uintptr_t site_find(struct site_table *table, uintptr_t caller_sp, bool in_filter,
                    site_teacher *teacher, void *context)
{
    const uintptr_t *frame = __builtin_frame_address(0), *inner = NULL;
    uintptr_t target = caller_sp - 2 * sizeof(uintptr_t), next = frame[0], ip = 0;

    /* Frames of the live stack only: the chain must rise. */
    while (next < target && next > (uintptr_t)frame && next % sizeof(uintptr_t) == 0) {
        inner = frame;
        frame = (const uintptr_t *)next;
        next = frame[0];
    }
    if (UNLIKELY(next > target && !in_filter)) {
        /* past the method without meeting its frame: replaced on the stack, its own lies below */
        frame = inner;
        next = target;
    }
    if (LIKELY(next == target && frame))
        ip = native(table, frame[1]) ? through_helper(table, frame, frame[0], teacher, context)
                                     : frame[1];
    if (!ip)
        add_relaxed(&table->unknown, 1);
    return ip;
}
