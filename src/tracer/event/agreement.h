/*
 * event/agreement.h - how shadow stack and snapshot agreed so far: counters of one process, written
 * by src/tracer/check/ on the comparing threads, read by the writer at any time. All relaxed: a
 * reader may see one comparison half counted. Which counters there are is in
 * shadowtrace/log_counters.h, what they count in log_schema.json.
 */
#ifndef SHADOWTRACE_EVENT_AGREEMENT_H
#define SHADOWTRACE_EVENT_AGREEMENT_H

#include "base/atomics.h"

#include <shadowtrace/log_counters.h>
#include <shadowtrace/log_reader.h>

#include <stdbool.h>

/* Why two stacks differ, by shape. */
#define AGREEMENT_CAUSE(name, text) AGREEMENT_##name,
enum agreement_cause { SST_CAUSES(AGREEMENT_CAUSE) AGREEMENT_CAUSES };
const char *agreement_cause_name(enum agreement_cause cause);

/* What is between a frame and its callee: by its IP, its SP, its FP. */
#define AGREEMENT_CALL(name, text, label) AGREEMENT_CALL_##name,
#define AGREEMENT_SP(name, text, label)   AGREEMENT_SP_##name,
#define AGREEMENT_FP(name, text, label)   AGREEMENT_FP_##name,
enum agreement_call { SST_CLASSES_IP(AGREEMENT_CALL) AGREEMENT_CALLS };
enum agreement_sp { SST_CLASSES_SP(AGREEMENT_SP) AGREEMENT_SPS };
enum agreement_fp { SST_CLASSES_FP(AGREEMENT_FP) AGREEMENT_FPS };

#define AGREEMENT_COUNTER(form, member, label) SST_NUMBER_##form(_Atomic(uint64_t) member;)

#define AGREEMENT_DEPTHS   14  /* by_depth rows: see agreement_depth_from */
#define AGREEMENT_REFUSALS 16  /* distinct HRESULTs kept apart; further ones share the last */
#define AGREEMENT_BUCKETS  320 /* histogram: 8 per power of two, up to 2^40 ns */

struct agreement_histogram {
    _Atomic(uint64_t) sum; /* ns */
    _Atomic(uint32_t) bucket[AGREEMENT_BUCKETS];
};

/* How often the runtime refused, by HRESULT. */
struct agreement_refusals {
    struct {
        _Atomic(uint32_t) result; /* 0: free */
        _Atomic(uint64_t) count;
    } of[AGREEMENT_REFUSALS];
};

/* The same for threads that were stopped from outside (--check-threads). */
struct agreement_threads {
    SST_COUNTERS_THREADS(AGREEMENT_COUNTER)
    struct agreement_refusals refusals;
};

/*
 * Threads that were stopped from outside, seen from their native frames: the first managed frame
 * above those, and a walk that begins there.
 */
struct agreement_seeds {
    SST_COUNTERS_SEEDS(AGREEMENT_COUNTER)
    struct agreement_refusals refusals;
    _Atomic(bool) missing; /* libunwind was not there */
};

/* The same in Enter hooks (--check-calls), each with a seed. */
struct agreement_calls {
    SST_COUNTERS_CALLS(AGREEMENT_COUNTER)
    struct agreement_refusals refusals; /* those that are of no other class are mismatched */
};

/* The table of live objects beside the heap (--check-live). */
struct agreement_live {
    SST_COUNTERS_LIVE(AGREEMENT_COUNTER)
};

/* --framework-frames snapshot: those with the shadow stack's hooked frames, and the others. */
struct agreement_frames {
    _Atomic(uint64_t) added, refused, differed;
};

struct agreement {
    struct agreement_frames frames;
    /* `compared` and `unfinished` are for the writer to make */
    SST_COUNTERS_SNAPSHOTS(AGREEMENT_COUNTER)
    _Atomic(uint64_t) begun; /* comparisons, before the event of what is compared is in the ring */
    _Atomic(uint64_t) by_cause[AGREEMENT_CAUSES];
    struct agreement_refusals refusals;
    /* Of equal stacks, frame by frame: the snapshot's registers; allocating instructions apart. */
    _Atomic(uint64_t) call[AGREEMENT_CALLS], sp[AGREEMENT_SPS], fp[AGREEMENT_FPS];
    SST_COUNTERS_INSTRUCTIONS(AGREEMENT_COUNTER) /* `calls` and the like are in call */
    struct agreement_threads threads;
    struct agreement_seeds seeds;
    struct agreement_calls at_calls;
    struct agreement_live live;
    struct agreement_histogram shadow, snapshot; /* cost of each capture, ns */
    struct {
        _Atomic(uint64_t) count, shadow_ns, snapshot_ns;
    } depth[AGREEMENT_DEPTHS];
};

/* One thread's share, but for --check-threads: written by that thread, read by the writer. */
struct agreement_thread {
    SST_COUNTERS_CHECK_THREAD(AGREEMENT_COUNTER) /* times: of what was compared and not refused */
};

uint32_t agreement_depth_from(
    unsigned row); /* first depth of a by_depth row; the next row's is its end + 1 */
void agreement_histogram_add(struct agreement_histogram *h, uint64_t ns);
uint64_t agreement_bucket_ns(unsigned bucket); /* middle of a histogram bucket */

/* Count one snapshot. Threads: any; lock-free. */
void agreement_refused(struct agreement_refusals *refusals, int32_t result);
void agreement_cost(struct agreement *a, uint32_t depth, uint64_t shadow_ns, uint64_t snapshot_ns);

#endif
