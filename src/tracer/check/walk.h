/*
 * check/walk.h - one DoStackSnapshot: frames as the runtime reports them, and what their registers tell beside the
 * shadow frames. Inside of src/tracer/check/ only.
 */
#ifndef SHADOWTRACE_CHECK_WALK_H
#define SHADOWTRACE_CHECK_WALK_H

#include "check/check.h"
#include "check/threads.h"

struct check_code;
struct check_runs;

/* One walker's memory. Threads: one at a time. */
struct check_walk {
    struct check *check;
    struct check_frame *frame; /* leaf first; those that check_counts */
    size_t count, capacity;
    struct check_frame
        last;    /* the oldest that was reported, whether it counts or not; function 0: none */
    bool failed; /* memory ran out: the walk was cut short */
    struct stack_copied *shadow; /* oldest first: check_walk_copy's */
    size_t shadow_capacity;
    struct check_runs *runs; /* --native; else NULL */
    struct check_code *code; /* what lies at return addresses, once one had to be asked for */
};

int check_walk_init(struct check_walk *walk, struct check *check); /* 0 or -ENOMEM */
void check_walk_fini(struct check_walk *walk);
void check_walk_begin(struct check_walk *walk); /* no frames yet */

/* StackSnapshotCallback; client_data is the walk. */
hresult check_walk_frame(uintptr_t function, uintptr_t ip, uintptr_t frame_info,
                         uint32_t context_size, const uint8_t *context, void *client_data);

/* walk->shadow = the `depth` frames below `top` (stack_settle's) of the calling thread. Returns whether there was memory. */
bool check_walk_copy(struct check_walk *walk, const struct frame *top, size_t depth);

/*
 * check_registers - of equal stacks: the snapshot's registers of each frame beside the shadow frames `shadow` (oldest
 * first, as many as the walk's). Counted in the agreement.
 * Threads: the walker. May run: where the runtime may be asked what code lies at an address.
 */
void check_registers(struct check_walk *walk, const struct stack_copied *shadow);

const struct check_config *check_config(const struct check *check);

#endif
