/*
 * shadowtrace/log_reader.h - the fixed vocabulary of a log, for programs that write or read one. No
 * code, no state.
 *
 * A log is NDJSON: one JSON object per line, "kind" first. log_schema.json beside this file
 * describes every record: its members, their units, when they are there. Here are the words a C
 * program would otherwise spell out again, each list as a macro so that an enumeration, a table of
 * names and a switch cannot drift apart.
 *
 * To read a log: take it line by line; skip, and count, lines that are no JSON object, kinds and
 * members you do not know, and a last line without its newline. Refuse a header whose "version" is
 * above SST_LOG_VERSION.
 */
#ifndef SHADOWTRACE_LOG_READER_H
#define SHADOWTRACE_LOG_READER_H

#define SST_LOG_FORMAT  "shadowtrace" /* member "format" of the header */
#define SST_LOG_VERSION 1             /* member "version" of the header */
#define SST_INTEGER_MAX \
    9007199254740991     /* every integer of a log: at most 2^53 - 1, exact in a double */
#define SST_NODE_EMPTY 0 /* node id of the empty stack; every other id counts from 1 */

/* Member "kind". X(enumerator, text) */
#define SST_KINDS(X) \
    X(HEADER, "header") \
    X(MODULE, "module") \
    X(SYMBOLS, "symbols") \
    X(CLASS, "class") \
    X(METHOD, "method") \
    X(IMAGE, "image") \
    X(THREAD, "thread") \
    X(NODE, "node") \
    X(INLINED, "inlined") \
    X(ALLOC, "alloc") \
    X(VALUES, "values") \
    X(SITE, "site") \
    X(SNAPSHOT, "snapshot") \
    X(CHECK, "check") \
    X(CHECK_THREAD, "check_thread") \
    X(MISMATCH, "mismatch") \
    X(LOST, "lost") \
    X(REPAIR, "repair") \
    X(MANAGED_THREAD, "managed_thread") \
    X(LOAD, "load") \
    X(CLASS_LOAD, "class_load") \
    X(JIT, "jit") \
    X(EXCEPTION, "exception") \
    X(GC, "gc") \
    X(SUSPEND, "suspend") \
    X(TRANSITION, "transition") \
    X(FINALIZER, "finalizer") \
    X(CALLS, "calls") \
    X(FAMILY_LOST, "family_lost") \
    X(MARK, "mark") \
    X(CONFIG, "config") \
    X(SAMPLE, "sample") \
    X(PROFILE, "profile") \
    X(SAMPLING, "sampling") \
    X(LIVE_SITE, "live_site") \
    X(LIVE, "live") \
    X(LIVE_TOTAL, "live_total") \
    X(NOT_WRITTEN, "not_written") \
    X(UNHANDLED, "unhandled") \
    X(END, "end")

/* Member "heap" of alloc and site; absent for an ordinary object. */
#define SST_HEAPS(X) \
    X(LARGE, "large") \
    X(PINNED, "pinned") \
    X(FROZEN, "frozen")

/*
 * Member "call" of node: where the return address lies when it is not in the parent's code, or at
 * no IL offset of it. Of alloc and site, for the allocating instruction: DYNAMIC or PRECOMPILED. An
 * IL offset beside DYNAMIC is that of the call which led there.
 */
#define SST_CALLS(X) \
    X(NATIVE, "native")           /* in the runtime or other native code */ \
    X(STUB, "stub")               /* in a stub the runtime made */ \
    X(DYNAMIC, "dynamic")         /* in a dynamic method, which has no hooks */ \
    X(UNMAPPED, "unmapped")       /* in the parent's code, at a place without IL */ \
    X(UNHOOKED, "unhooked")       /* in managed code that is not hooked */ \
    X(PRECOMPILED, "precompiled") /* as UNMAPPED, in code that was compiled ahead of time */

/* Member "owner" of module: whose code it is; absent where that is not known. */
#define SST_OWNERS(X) \
    X(FRAMEWORK, "framework") \
    X(PACKAGE, "package") /* of somebody else */ \
    X(OWN, "own")         /* the user's */

/* Member "sort" of class: what an object of the type is, if it is no plain object. */
#define SST_SORTS(X) \
    X(VALUE, "value")       /* a value type: the object is a box */ \
    X(ASYNC, "async")       /* the state machine of an async method */ \
    X(ITERATOR, "iterator") /* that of an iterator */

/* Member "cause" of mismatch. */
#define SST_CAUSES(X) \
    X(SHADOW_EXTRA, "shadow_extra")         /* the shadow stack has frames the snapshot has not */ \
    X(SHADOW_MISSING, "shadow_missing")     /* the snapshot has frames the shadow stack has not */ \
    X(DIFFERENT_METHOD, "different_method") /* a frame shows another method */ \
    X(REFUSED_WITH_FRAMES, "refused_with_frames") /* no snapshot, but a shadow stack */

/* Member "why" of live_total: why the sums are not exact any more. */
#define SST_LIVE_WHYS(X) \
    X(MEMORY, "memory")         /* the table was full (--live-memory), or memory ran out */ \
    X(CONCURRENT, "concurrent") /* a collection ran concurrently with the program */ \
    X(LATE, "late")             /* a collection came before the session that tells of them */ \
    X(SESSION, "session")       /* the runtime gave no session, or what it said was not whole */ \
    X(SAMPLED, "sampled")       /* it is estimated, from samples */

/*
 * Codes in member "e" of calls, which holds pairs of a code and a number; above 0: the method that
 * is entered. At SST_CALL_UNWOUND_BELOW and less the call has SST_CALL_UNWOUND_BELOW + 1 - code
 * younger ones open, which go on.
 */
#define SST_CALL_LEFT          0
#define SST_CALL_TAIL          (-1)
#define SST_CALL_UNWOUND       (-2)
#define SST_CALL_MISSING       (-3)
#define SST_CALL_END_MISSING   (-4)
#define SST_CALL_VALUES        (-5)
#define SST_CALL_UNWOUND_BELOW (-16)

#define SST_ENUMERATOR_KIND(name, text)  SST_KIND_##name,
#define SST_ENUMERATOR_HEAP(name, text)  SST_HEAP_##name,
#define SST_ENUMERATOR_CALL(name, text)  SST_CALL_##name,
#define SST_ENUMERATOR_CAUSE(name, text) SST_CAUSE_##name,
#define SST_ENUMERATOR_OWNER(name, text) SST_OWNER_##name,
#define SST_ENUMERATOR_SORT(name, text)  SST_SORT_##name,
#define SST_ENUMERATOR_LIVE(name, text)  SST_LIVE_##name,

/* 0 in each: a word this version does not know, or none at all. */
enum sst_kind { SST_KIND_UNKNOWN, SST_KINDS(SST_ENUMERATOR_KIND) SST_KIND_COUNT };
enum sst_heap { SST_HEAP_NORMAL, SST_HEAPS(SST_ENUMERATOR_HEAP) SST_HEAP_COUNT };
enum sst_call { SST_CALL_NONE, SST_CALLS(SST_ENUMERATOR_CALL) SST_CALL_COUNT };
enum sst_owner { SST_OWNER_UNKNOWN, SST_OWNERS(SST_ENUMERATOR_OWNER) SST_OWNER_COUNT };
enum sst_sort { SST_SORT_NONE, SST_SORTS(SST_ENUMERATOR_SORT) SST_SORT_COUNT };
enum sst_live_why { SST_LIVE_EXACT, SST_LIVE_WHYS(SST_ENUMERATOR_LIVE) SST_LIVE_WHY_COUNT };
enum sst_cause { SST_CAUSE_UNKNOWN, SST_CAUSES(SST_ENUMERATOR_CAUSE) SST_CAUSE_COUNT };

#endif
