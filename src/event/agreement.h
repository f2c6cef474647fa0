/*
 * event/agreement.h - how shadow stack and snapshot agreed so far: counters of one process, written by src/check/ on
 * the comparing threads, read by the writer at any time. All relaxed: a reader may see one comparison half counted.
 */
#ifndef SHADOWTRACE_EVENT_AGREEMENT_H
#define SHADOWTRACE_EVENT_AGREEMENT_H

#include "base/atomics.h"

/* Why two stacks differ, by shape. Order and names are those of the log. */
enum agreement_cause {
    AGREEMENT_SHADOW_EXTRA, /* without some of its frames the shadow stack would equal the snapshot */
    AGREEMENT_SHADOW_MISSING,      /* the other way round */
    AGREEMENT_DIFFERENT_METHOD,    /* neither */
    AGREEMENT_REFUSED_WITH_FRAMES, /* the runtime refused, but there were frames */
    AGREEMENT_CAUSES
};
const char *agreement_cause_name(enum agreement_cause cause);

/*
 * Where a frame's callee returns to, beside the snapshot's IP of that frame: the same, or what lies between the two.
 * Names are those of the log.
 */
enum agreement_call {
    AGREEMENT_CALL_EQUAL,
    AGREEMENT_CALL_RUNTIME, /* native code of the runtime */
    AGREEMENT_CALL_NATIVE,  /* other native code */
    AGREEMENT_CALL_HANDLER, /* a catch, finally or fault of the frame's method; the snapshot has the throwing call */
    AGREEMENT_CALL_FILTER, /* the frame runs a filter: nobody called it */
    AGREEMENT_CALL_TAIL,   /* the stub that makes explicit tail calls */
    AGREEMENT_CALL_STUB, /* another stub that the runtime compiled: P/Invoke, delegates, instantiation */
    AGREEMENT_CALL_DYNAMIC,  /* a DynamicMethod */
    AGREEMENT_CALL_HIDDEN,   /* exception machinery of CoreLib that the snapshot hides */
    AGREEMENT_CALL_UNHOOKED, /* with --only or --exclude: a method that is not hooked */
    AGREEMENT_CALL_OTHER,    /* none of these: unexplained */
    AGREEMENT_CALLS
};
const char *agreement_call_name(enum agreement_call call);

/* A frame's SP beside its callee's shadow SP. */
enum agreement_sp {
    AGREEMENT_SP_EQUAL,
    AGREEMENT_SP_BETWEEN, /* higher, and within the frame: something lies between the two */
    AGREEMENT_SP_FILTER, /* what comes next runs a filter: not called by the frame, its shadow SP is made up */
    AGREEMENT_SP_OTHER,
    AGREEMENT_SPS
};
const char *agreement_sp_name(enum agreement_sp sp);

/* A frame's FP beside its shadow SP. */
enum agreement_fp {
    AGREEMENT_FP_EQUAL,
    AGREEMENT_FP_REPLACED, /* lower, and within the frame: a body entered by on-stack replacement */
    AGREEMENT_FP_OTHER,
    AGREEMENT_FPS
};
const char *agreement_fp_name(enum agreement_fp fp);

#define AGREEMENT_DEPTHS   14  /* by_depth rows: see agreement_depth_from */
#define AGREEMENT_REFUSALS 16  /* distinct HRESULTs kept apart; further ones share the last */
#define AGREEMENT_BUCKETS  320 /* histogram: 8 per power of two, up to 2^40 ns */

struct agreement_histogram {
    _Atomic(uint64_t) sum; /* ns */
    _Atomic(uint32_t) bucket[AGREEMENT_BUCKETS];
};

/* The same for threads that were stopped from outside (--check-threads). walked = the sum of those after it. */
struct agreement_threads {
    _Atomic(uint64_t) stops,
        busy; /* runtime suspended; tries that met a collection and were repeated */
    _Atomic(uint64_t) walked;
    _Atomic(uint64_t) equal;
    _Atomic(uint64_t)
        leaving; /* between its Leave or Tailcall hook and its return: the snapshot has it still */
    _Atomic(uint64_t) dispatching; /* inside an exception dispatch, and different */
    _Atomic(uint64_t) mismatched;
    _Atomic(uint64_t) refused; /* the runtime refused to walk it, and it had no frames */
    _Atomic(uint64_t) unready; /* it had frames, but was not at a safe point yet: E_NOTIMPL */
    _Atomic(uint64_t) suspended_ns, snapshot_ns, shadow_ns;
};

struct agreement {
    _Atomic(uint64_t) taken, equal, mismatched, refused; /* taken = equal + mismatched + refused */
    _Atomic(uint64_t) by_cause[AGREEMENT_CAUSES];
    struct {
        _Atomic(uint32_t) result; /* HRESULT; 0: free */
        _Atomic(uint64_t) count;
    } refusal[AGREEMENT_REFUSALS];
    /* Of equal stacks, frame by frame: the registers of the snapshot; the allocating instructions apart. */
    _Atomic(uint64_t) call[AGREEMENT_CALLS], sp[AGREEMENT_SPS], fp[AGREEMENT_FPS];
    _Atomic(uint64_t) sites, sites_equal, sites_unknown;
    struct agreement_threads threads;
    struct agreement_histogram shadow, snapshot; /* cost of each capture, ns */
    struct {
        _Atomic(uint64_t) count, shadow_ns, snapshot_ns;
    } depth[AGREEMENT_DEPTHS];
};

/* What one thread had of it, but for --check-threads: written by that thread, read by the writer. */
struct agreement_thread {
    _Atomic(uint64_t) compared, equal, refused;
    _Atomic(uint64_t) shadow_ns, snapshot_ns; /* of what was compared and not refused */
};

uint32_t agreement_depth_from(
    unsigned row); /* first depth of a by_depth row; the next row's is its end + 1 */
uint64_t agreement_bucket_ns(unsigned bucket); /* middle of a histogram bucket */

/* Count one snapshot. Threads: any; lock-free. */
void agreement_refused(struct agreement *a, int32_t result);
void agreement_cost(struct agreement *a, uint32_t depth, uint64_t shadow_ns, uint64_t snapshot_ns);

#endif
