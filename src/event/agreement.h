/*
 * event/agreement.h - how shadow stack and snapshot agreed so far: counters of one process, written by src/check/ on
 * the comparing threads, read by the writer at any time. All relaxed: a reader may see one comparison half counted.
 */
#ifndef SHADOWTRACE_EVENT_AGREEMENT_H
#define SHADOWTRACE_EVENT_AGREEMENT_H

#include "base/atomics.h"

#include <stdbool.h>

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
    AGREEMENT_CALL_DYNAMIC, /* a DynamicMethod */
    AGREEMENT_CALL_HIDDEN,  /* exception machinery of CoreLib that the snapshot hides */
    AGREEMENT_CALL_HIJACKED, /* the frame did call it: a suspension had put the runtime's own address there */
    AGREEMENT_CALL_UNHOOKED, /* a method that was to have no hooks */
    AGREEMENT_CALL_UNNAMED, /* one of native, tail, stub, dynamic: the runtime does not say in a hook */
    AGREEMENT_CALL_OTHER, /* none of these: unexplained */
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

/* How often the runtime refused, by HRESULT. */
struct agreement_refusals {
    struct {
        _Atomic(uint32_t) result; /* 0: free */
        _Atomic(uint64_t) count;
    } of[AGREEMENT_REFUSALS];
};

/* The same for threads that were stopped from outside (--check-threads). walked = the sum of those after it. */
struct agreement_threads {
    _Atomic(uint64_t) stops,
        busy; /* runtime suspended; tries that met a collection and were repeated */
    _Atomic(uint64_t) walked;
    _Atomic(uint64_t) equal;
    _Atomic(uint64_t)
        leaving; /* between its Leave or Tailcall hook and its return: the snapshot has it still */
    _Atomic(uint64_t)
        entering; /* called from native code and let in not yet: its Enter has been already */
    _Atomic(uint64_t)
        dispatching; /* inside an exception dispatch: one stack is the beginning of the other */
    _Atomic(uint64_t) ended_early; /* as of allocations */
    _Atomic(uint64_t) mismatched;
    _Atomic(uint64_t) refused; /* the runtime refused to walk it, and it had no frames */
    _Atomic(uint64_t) unready; /* it had frames, but was not at a safe point yet: E_NOTIMPL */
    _Atomic(uint64_t)
        unwinding; /* it had frames, but an exception unwinds them: ..._UNMANAGED_CTX */
    struct agreement_refusals refusals;
    _Atomic(uint64_t) suspended_ns, snapshot_ns, shadow_ns;
};

/*
 * Threads stopped from outside, seen from their native frames: the first managed frame beyond those, and a walk that
 * is told to begin there. tried = running + lost + taken; taken = same + equal + different + refused.
 */
struct agreement_seeds {
    _Atomic(uint64_t) tried;
    _Atomic(uint64_t) running; /* it does not wait in the system: its registers are not to be had */
    _Atomic(uint64_t) lost;    /* no managed frame was found */
    _Atomic(uint64_t) met; /* it is the youngest frame of the walk without a seed: IP, SP and FP */
    _Atomic(uint64_t) met_stub; /* it is younger: a stub, which walks leave out */
    _Atomic(uint64_t) taken;
    _Atomic(uint64_t) same;  /* frame by frame as the walk without a seed: methods, IP, SP and FP */
    _Atomic(uint64_t) equal; /* not that, but methods as the shadow stack's */
    _Atomic(uint64_t) different, refused;
    struct agreement_refusals refusals;
    _Atomic(bool) missing; /* libunwind was not there */
};

/* The same in Enter hooks (--check-calls), each with a seed. taken = the sum of those after it. */
struct agreement_calls {
    _Atomic(uint64_t) lost; /* where the method calls the hook was not found: no walk */
    _Atomic(uint64_t) taken, equal;
    _Atomic(uint64_t) entering;    /* as of threads */
    _Atomic(uint64_t) dispatching; /* as of threads */
    _Atomic(uint64_t) ended_early; /* as of allocations */
    _Atomic(uint64_t) mismatched;
    struct agreement_refusals
        refusals; /* those that are none of the classes above are mismatched */
};

struct agreement {
    /* taken = equal + mismatched + refused + ended_early */
    _Atomic(uint64_t) taken, equal, mismatched, refused;
    _Atomic(uint64_t)
        ended_early; /* the snapshot, before the oldest frame: proven by the machine's stack */
    _Atomic(uint64_t) by_cause[AGREEMENT_CAUSES];
    struct agreement_refusals refusals;
    /* Of equal stacks, frame by frame: the registers of the snapshot; the allocating instructions apart. */
    _Atomic(uint64_t) call[AGREEMENT_CALLS], sp[AGREEMENT_SPS], fp[AGREEMENT_FPS];
    _Atomic(uint64_t) sites, sites_equal, sites_unknown;
    struct agreement_threads threads;
    struct agreement_seeds seeds;
    struct agreement_calls at_calls;
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
void agreement_histogram_add(struct agreement_histogram *h, uint64_t ns);
uint64_t agreement_bucket_ns(unsigned bucket); /* middle of a histogram bucket */

/* Count one snapshot. Threads: any; lock-free. */
void agreement_refused(struct agreement_refusals *refusals, int32_t result);
void agreement_cost(struct agreement *a, uint32_t depth, uint64_t shadow_ns, uint64_t snapshot_ns);

#endif
