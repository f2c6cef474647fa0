#include "alloc/site.h"

#include "thread/machine.h"

#define PROBES 64 /* snapshots at most: then calibrating the helper is given up */

/* The helper's row; -1: not found, or with `make`: the table is full. */
static int row_of(struct site_table *table, uintptr_t helper, bool make)
{
    unsigned at = (unsigned)(helper >> 4) & (SITE_HELPERS - 1);

    for (unsigned i = 0; i < SITE_HELPERS; i++, at = (at + 1) & (SITE_HELPERS - 1)) {
        uintptr_t found = load_relaxed(&table->entry[at].helper);

        if (!found && !make)
            return -1;
        if (found == helper || (!found && cas_acq_rel(&table->entry[at].helper, &found, helper)) ||
            found == helper)
            return (int)at;
    }
    return -1;
}

/*
 * Where above the helper's frame is the address that the snapshot names? Snapshots skip code
 * without names: an address in such code that comes first may be what called the helper. It is if
 * its frame leads to what the snapshot names; if not, nothing is calibrated.
 */
static uint32_t calibrate(struct site_table *table, int row, const uintptr_t *frame,
                          const struct site_frame *of, uintptr_t ip)
{
    uintptr_t limit = frame[0];

    for (uint32_t distance = 2; distance < SITE_REACH / sizeof(*frame); distance++) {
        if ((uintptr_t)(frame + distance) >= limit)
            break;
        struct code_place place = {frame[distance], (uintptr_t)(frame + distance + 1), limit};
        bool nameless = frame[distance] != ip && !site_native(table, frame[distance]) &&
                        machine_is_nameless(frame[distance]);

        if (frame[distance] == ip ||
            (nameless && code_caller(table->metadata, of->method, &place, of->at.sp) == ip)) {
            store_relaxed(&table->entry[row].distance, distance);
            return distance;
        }
        if (nameless)
            break;
    }
    return 0;
}

/* What lies at a distance above the frame, which is below limit. */
static bool place_at(const uintptr_t *frame, uint32_t distance, uintptr_t limit,
                     struct code_place *out)
{
    if (!distance || (uintptr_t)(frame + distance) >= limit)
        return false;
    *out = (struct code_place){frame[distance], (uintptr_t)(frame + distance + 1), frame[0]};
    return true;
}

static bool through_helper(struct site_table *table, const uintptr_t *frame,
                           const struct site_frame *of, struct code_place *out)
{
    int row = row_of(table, frame[1], true);
    uint32_t distance = row < 0 ? 0 : load_relaxed(&table->entry[row].distance);
    uintptr_t ip;

    if (LIKELY(distance))
        return place_at(frame, distance, frame[0], out);
    if (row < 0 || load_relaxed(&table->entry[row].probes) >= PROBES)
        return false;
    add_relaxed(&table->entry[row].probes, 1);
    ip = check_leaf(table->check);
    return ip && place_at(frame, calibrate(table, row, frame, of, ip), frame[0], out);
}

/*
 * The first return out of the runtime on the way from `frame` to `target`. A frame that returns
 * into a helper is the last before code with a frame pointer.
 */
static bool first_place(struct site_table *table, const uintptr_t *frame, uintptr_t target,
                        struct code_place *out)
{
    bool ours = true; /* the frames of the callback itself */

    for (; frame[0] <= target; frame = (const uintptr_t *)frame[0]) {
        int row;

        ours = ours && !site_native(table, frame[1]);
        if (ours)
            continue;
        if (!site_native(table, frame[1]))
            return place_at(frame, 1, UINTPTR_MAX, out);
        row = row_of(table, frame[1], false);
        if (row >= 0 && place_at(frame, load_relaxed(&table->entry[row].distance), frame[0], out))
            return true;
        if (frame[0] == target)
            break;
    }
    return false;
}

bool site_find(struct site_table *table, const struct site_frame *of, struct site_places *out)
{
    const uintptr_t *start = __builtin_frame_address(0), *frame = start, *inner = NULL,
                    *before = NULL;
    uintptr_t target = FRAME_RECORD(of->at), next = frame[0];
    bool found = false;

    out->first.ip = 0;
    out->fault = false;
    /* Frames of the live stack only: the chain must rise. */
    while (next < target && next > (uintptr_t)frame && next % sizeof(uintptr_t) == 0) {
        before = inner;
        inner = frame;
        frame = (const uintptr_t *)next;
        next = frame[0];
    }
    if (UNLIKELY(next > target && !of->in_filter)) {
        /* past the method without meeting its frame: replaced on the stack, its own lies below */
        frame = inner;
        inner = NULL;
        next = target;
    } else {
        before = inner;
    }
    if (LIKELY(next == target && frame)) {
        if (LIKELY(site_native(table, frame[1]))) {
            found = through_helper(table, frame, of, &out->call);
        } else {
            found = place_at(frame, 1, UINTPTR_MAX, &out->call);
            out->fault = site_signalled(table, frame, before, target, &out->call.ip);
            if (table->by_helper || !inner || !site_native(table, inner[1]))
                first_place(table, start, (uintptr_t)frame, &out->first);
        }
    }
    return found;
}
