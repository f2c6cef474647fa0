/*
 * shadowtrace/log_counters.h - the counters of a log, each in one line: from it come what the
 * tracer counts in, members of records, and what `shadowtrace compare` adds up and prints.
 * log_schema.json says of each what it counts. No code, no state.
 *
 * X(form, member, label). Form: COUNT; ANY: a count that is left out of the record while it is 0;
 * BY: an object of counts by name; WORD: a text that is there if there is something to say. Label:
 * its words in text, NULL: not shown there. All counts are since the start of the recording.
 */
#ifndef SHADOWTRACE_LOG_COUNTERS_H
#define SHADOWTRACE_LOG_COUNTERS_H

#include <stddef.h>

/* Of a check record itself, and of the end record's member "snapshots". */
#define SST_COUNTERS_SNAPSHOTS(X) \
    X(COUNT, taken, "Snapshots taken") \
    X(COUNT, compared, "compared") \
    X(COUNT, equal, "equal") \
    X(COUNT, mismatched, "different") \
    X(COUNT, refused, "refused by the runtime, no frames") \
    X(BY, refused_by, "") \
    X(BY, mismatched_by, "differences, by cause") \
    X(ANY, ended_early, "ended before the oldest frame") \
    X(ANY, unfinished, "begun, not finished")

/* Of a check record's member "instructions". */
#define SST_COUNTERS_INSTRUCTIONS(X) \
    X(COUNT, calls, NULL) \
    X(COUNT, calls_equal, NULL) \
    X(COUNT, calls_native, NULL) \
    X(COUNT, sites, NULL) \
    X(COUNT, sites_equal, NULL) \
    X(COUNT, sites_unknown, NULL)

/* Of its member "threads". */
#define SST_COUNTERS_THREADS(X) \
    X(COUNT, stops, "Stops of the whole runtime") \
    X(COUNT, busy, NULL) \
    X(COUNT, walked, "threads walked") \
    X(COUNT, equal, "equal") \
    X(COUNT, leaving, "on its way out") \
    X(COUNT, entering, "on its way in") \
    X(COUNT, dispatching, "in an exception dispatch") \
    X(COUNT, mismatched, "different") \
    X(COUNT, refused, "no managed frame") \
    X(COUNT, unready, "not at a safe point yet") \
    X(COUNT, unwinding, "unwound by an exception") \
    X(BY, refused_by, NULL) \
    X(COUNT, suspended_ns, NULL) \
    X(COUNT, snapshot_ns, NULL) \
    X(COUNT, shadow_ns, NULL) \
    X(ANY, ended_early, "ended before the oldest frame") \
    X(ANY, suspended, "a method had just suspended") \
    X(ANY, unsafe, "at a point where the runtime forbids walks")

/* Of its member "seeds". */
#define SST_COUNTERS_SEEDS(X) \
    X(COUNT, tried, "Threads seen from native frames") \
    X(COUNT, running, "not waiting: no registers") \
    X(COUNT, lost, "no managed frame found") \
    X(COUNT, met, "met the walk's youngest frame") \
    X(COUNT, met_stub, "met a stub that walks leave out") \
    X(COUNT, taken, "walks with that frame as seed") \
    X(COUNT, same, "frame by frame as without") \
    X(COUNT, equal, "methods as the shadow stack's") \
    X(COUNT, different, "different") \
    X(COUNT, refused, "refused by the runtime") \
    X(BY, refused_by, "") \
    X(WORD, missing, "not tried, missing:")

/* Of its member "calls". */
#define SST_COUNTERS_CALLS(X) \
    X(COUNT, taken, "Snapshots inside Enter hooks") \
    X(COUNT, equal, "equal") \
    X(COUNT, entering, "on its way in") \
    X(COUNT, dispatching, "in an exception dispatch") \
    X(COUNT, mismatched, "different") \
    X(COUNT, lost, "not taken: no caller found") \
    X(BY, refused_by, "refused by the runtime") \
    X(ANY, ended_early, "ended before the oldest frame")

/* Of its member "live": compared = equal + other_class + missing + early. */
#define SST_COUNTERS_LIVE(X) \
    X(COUNT, walks, "Walks of the whole heap") \
    X(COUNT, busy, NULL) \
    X(COUNT, not_walked, NULL) \
    X(COUNT, compared, "objects compared with the table") \
    X(COUNT, equal, "equal") \
    X(COUNT, missing, "alive, not in the table") \
    X(ANY, early, "frozen, seen before its notification") \
    X(COUNT, extra, "in the table, not in the heap") \
    X(COUNT, other_class, "of another type") \
    X(COUNT, suspended_ns, NULL)

/* Of the end record's member "walks" (--capture walk, --framework-frames walk). */
#define SST_COUNTERS_WALKS(X) \
    X(COUNT, taken, "Stacks walked") \
    X(COUNT, fallbacks, "uncertain: a snapshot instead") \
    X(BY, fallbacks_by, "")

/* Why a walk was not certain. X(enumerator, text, label) */
#define SST_WALK_REASONS(X) \
    X(CODE, "code", "code with no known body") \
    X(METHOD, "method", "method without a name") \
    X(PROLOG, "prolog", "unknown prolog") \
    X(IMAGE, "image", "image and code disagree") \
    X(OSR, "osr", "on-stack replacement") \
    X(NATIVE, "native", "no unwind information") \
    X(HIJACKED, "hijacked", "hijacked return address") \
    X(BOUNDS, "bounds", "off the thread's stack") \
    X(FILTER, "filter", "in an unknown filter") \
    X(DYNAMIC, "dynamic", "handler of dynamic code") \
    X(HOOKED, "hooked", "hooked frame not met") \
    X(LONG, "long", "too deep") \
    X(MEMORY, "memory", "out of memory") \
    X(UNPROVEN, "unproven", "filter from before")

/* Of a check_thread record. */
#define SST_COUNTERS_CHECK_THREAD(X) \
    X(COUNT, compared, NULL) \
    X(COUNT, equal, NULL) \
    X(COUNT, refused, NULL) \
    X(COUNT, shadow_ns, NULL) \
    X(COUNT, snapshot_ns, NULL)

/* Of a profile record. Beside them: hz, and cost_ns, worst_ns and cost, which are times. */
#define SST_COUNTERS_PROFILE(X) \
    X(COUNT, ticks, NULL) \
    X(COUNT, late, NULL) \
    X(COUNT, samples, NULL) \
    X(COUNT, approximate, NULL) \
    X(COUNT, dispatching, NULL) \
    X(COUNT, refused, NULL) \
    X(COUNT, lost, NULL)

/* Of the end record's member "calls": how they ended; `entered` are these and those `open`. */
#define SST_COUNTERS_CALL_ENDS(X) \
    X(COUNT, left, NULL) \
    X(COUNT, tail_calls, NULL) \
    X(COUNT, unwound, NULL) \
    X(COUNT, ends_missing, NULL)

/*
 * Classes of a check record's member "registers": where a frame's callee returns to, beside the
 * snapshot's IP of that frame; a frame's SP beside its callee's shadow SP; a frame's FP beside its
 * shadow SP. X(enumerator, text, label)
 */
#define SST_CLASSES_IP(X) \
    X(EQUAL, "equal", "equal") \
    X(RUNTIME, "runtime", "called through the runtime") \
    X(NATIVE, "native", "through other native code") \
    X(HANDLER, "handler", "in a handler of the method") \
    X(FILTER, "filter", "beside a filter") \
    X(TAIL, "tail_call", "through the tail call stub") \
    X(STUB, "stub", "through another stub") \
    X(DYNAMIC, "dynamic", "through a DynamicMethod") \
    X(HIDDEN, "hidden", "through hidden exception code") \
    X(HIJACKED, "hijacked", "replaced by a suspension") \
    X(UNHOOKED, "unhooked", "through a method without hooks") \
    X(UNNAMED, "unnamed", "through what has no name there") \
    X(OTHER, "other", "not explained")
#define SST_CLASSES_SP(X) \
    X(EQUAL, "equal", "equal") \
    X(BETWEEN, "between", "higher, for what lies between") \
    X(FILTER, "filter", "beside a filter") \
    X(OTHER, "other", "not explained")
#define SST_CLASSES_FP(X) \
    X(EQUAL, "equal", "equal") \
    X(REPLACED, "replaced", "lower: replaced on the stack") \
    X(OTHER, "other", "not explained")

/* Its members: lists of classes. X(list, member, label) */
#define SST_REGISTERS(X) \
    X(IP, ip, "instruction") \
    X(SP, sp, "stack pointer") \
    X(FP, fp, "frame pointer")

/* For an X of these lists that is about numbers only: SST_NUMBER_##form(what it makes of one). */
#define SST_NUMBER_COUNT(...) __VA_ARGS__
#define SST_NUMBER_ANY(...)   __VA_ARGS__
#define SST_NUMBER_BY(...)
#define SST_NUMBER_WORD(...)

/* A list as a table. */
enum sst_form { SST_FORM_COUNT, SST_FORM_ANY, SST_FORM_BY, SST_FORM_WORD };
struct sst_counter {
    enum sst_form form;
    const char *key, *label;
};
#define SST_COUNTER(form, member, label) {SST_FORM_##form, #member, label},

#endif
