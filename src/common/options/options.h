/*
 * options/options.h - what is to be recorded. The command makes it from its arguments, the traced
 * process reads it from SHADOWTRACE_OPTIONS (JSON); both share this one description.
 */
#ifndef SHADOWTRACE_OPTIONS_OPTIONS_H
#define SHADOWTRACE_OPTIONS_OPTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_VARIABLE "SHADOWTRACE_OPTIONS"
#define OPTIONS_VERSION  1
#define OPTIONS_CLSID    "{7B6A1F52-3C0E-4E57-9D35-5AD0B3C5E4A1}"
#define OPTIONS_WHY_SIZE 400 /* enough for every line in `why` below; longer names in it are cut */

enum options_hooks { OPTIONS_HOOKS_AUTO, OPTIONS_HOOKS_ELT2, OPTIONS_HOOKS_ELT3 };
enum options_capture {
    OPTIONS_CAPTURE_SHADOW,
    OPTIONS_CAPTURE_SNAPSHOT,
    OPTIONS_CAPTURE_BOTH,
    OPTIONS_CAPTURE_WALK
};
enum options_stacks { OPTIONS_STACKS_NODE, OPTIONS_STACKS_INLINE };
enum options_log { OPTIONS_LOG_EVENTS, OPTIONS_LOG_SITES };
enum options_full { OPTIONS_FULL_WAIT, OPTIONS_FULL_DROP };
enum options_framework {
    OPTIONS_FRAMEWORK_AUTO,
    OPTIONS_FRAMEWORK_NONE,
    OPTIONS_FRAMEWORK_SNAPSHOT,
    OPTIONS_FRAMEWORK_WALK
};
enum options_sampler { OPTIONS_SAMPLER_AUTO, OPTIONS_SAMPLER_RUNTIME, OPTIONS_SAMPLER_EXACT };

/* What --events may name; order and names (options_family_name) are those of the log. */
enum options_family {
    OPTIONS_ALLOC,
    OPTIONS_CALLS,
    OPTIONS_THREADS,
    OPTIONS_MODULES,
    OPTIONS_CLASSES,
    OPTIONS_JIT,
    OPTIONS_EXCEPTIONS,
    OPTIONS_GC,
    OPTIONS_SUSPEND,
    OPTIONS_TRANSITIONS,
    OPTIONS_FINALIZERS,
    OPTIONS_FAMILIES
};
#define OPTIONS_EVENTS_ALL ((1u << OPTIONS_FAMILIES) - 1)

/* Glob patterns over full names (base/glob.h); a name matches the list when it matches any. */
struct options_patterns {
    char **pattern;
    size_t count;
    _Atomic(bool) *met; /* by pattern: whether a name matched it so far; NULL: not needed */
};

/* Every text is valid UTF-8 and not empty; every number is below 2^53. Paths are absolute. */
struct options {
    enum options_hooks hooks;     /* --hooks auto|elt2|elt3 */
    enum options_capture capture; /* --capture shadow|snapshot|both|walk */
    enum options_stacks stacks;   /* --stacks node|inline */
    enum options_log log;         /* --log events|sites */
    enum options_full full;       /* --full wait|drop */
    uint32_t events;              /* --events LIST: 1 << enum options_family; default alloc */
    uint32_t max_depth;           /* --max-depth N: of calls that are traced; 0 any */
    uint32_t min_duration;        /* --min-duration NS: of calls that are traced; 0 any */
    uint64_t call_buffer;         /* --call-buffer BYTES: calls and values not yet written */
    /* --check N: compare every N-th allocation of a thread; 0 off; by capture 1000, 0 or 1 */
    uint32_t check;
    /* check was not given: a thread also stops comparing when that takes 2 % of its time */
    bool check_bounded;
    uint32_t check_calls;   /* --check-calls N: compare in every N-th call's hook; 0 off */
    uint32_t check_threads; /* --check-threads MS: stop and compare all threads that often; 0 off */
    bool live;              /* --live: the table of live objects */
    uint32_t check_live;    /* --check-live N: beside the heap, after every N-th collection */
    char *heap_at_exit;     /* --heap-at-exit FILE: a dump of the heap, at the end; NULL: none */
    uint64_t live_memory;   /* --live-memory BYTES: that it may take */
    uint32_t live_grows;    /* --live-grows N: full collections; 0 off */
    bool native;            /* --native: native frames in the snapshots that are logged */
    uint32_t max_nodes;     /* --max-nodes N; default 4,000,000 */
    uint64_t sample;        /* --sample BYTES; 0 off */
    enum options_sampler sampler; /* --sampler auto|runtime|exact: who takes the samples */
    /* What the sampler comes to on this runtime: options_sampler_settle. No allocation is met. */
    bool runtime_samples;
    /* --framework-frames: frames without hooks; snapshot: of samples; auto: what
     * options_frames_settle makes of it */
    enum options_framework framework_frames;
    uint32_t budget;   /* --budget PERCENT: of the program's CPU, then the mean rises; 0 off */
    uint64_t min_size; /* --min-size BYTES; 0 off */
    struct options_patterns only, exclude; /* --only, --exclude: methods */
    bool own;                              /* --own: hook own code only */
    struct options_patterns own_code;      /* --own-code: modules and methods that are own code */
    struct options_patterns types;         /* --types */
    struct options_patterns process;       /* --process */
    struct options_patterns calls;         /* --calls: methods whose calls are traced; none: all */
    struct options_patterns args, returns; /* --args, --returns: methods */
    uint32_t value_length, value_items;    /* --value-length N (UTF-16 units), --value-items N */
    bool exact_generics;                   /* --exact-generics */
    bool compress, paused;                 /* --compress, --paused */
    bool no_inline;                        /* --no-inline: COR_PRF_DISABLE_INLINING, and the next */
    bool keep_tail_calls;                  /* --keep-tail-calls: the JIT makes none by itself */
    bool optimized;                        /* --optimized: no tiered compilation */
    bool no_lines;                         /* --no-lines: call paths by method, no IL offsets */
    bool rich;                             /* --rich: the default; refused with what prevents it */
    bool no_rich;                          /* --no-rich: no rich debug info; see options_rich */
    uint32_t profile;      /* --profile HZ: sample the stacks of all threads; 0 off */
    bool profile_snapshot; /* --profile-snapshot: the same by suspending and walking */
    bool no_control;       /* --no-control: no socket */
    uint64_t max_log;      /* --max-log BYTES; 0 off */
    uint32_t part_time;    /* --part-time TIME: s, the log begins a new part; 0 off */
    uint32_t keep;         /* --keep N: older parts, beside the one being written */
    uint32_t sums_every;   /* --sums-every TIME: ms, --log sites writes; 0: 500, soon at first */
    uint32_t detach_after; /* attach --for TIME: ms; 0: until `detach` */
    char *output;          /* -o FILE; NULL: shadowtrace-NAME-PID.ndjson in `directory` */
    char *directory;       /* where the default log goes; NULL: the current directory */
    char *status;          /* folder of status files; NULL none */
};

static inline bool options_records(const struct options *o, enum options_family family)
{
    return o->events >> family & 1;
}
const char *options_family_name(enum options_family family);

/* Does the runtime tell of every object: also where values are recorded, for what objects are is
 * met at their allocation? Else it samples, or nobody records allocations. */
static inline bool options_every_object(const struct options *o)
{
    return (options_records(o, OPTIONS_ALLOC) && !o->runtime_samples) || o->args.count ||
           o->returns.count;
}

/* Stacks are those of snapshots: there are no hooks. */
static inline bool options_snapshots(const struct options *o)
{
    return o->capture == OPTIONS_CAPTURE_SNAPSHOT;
}

/* Stacks are unwound: there are no hooks. */
static inline bool options_walks(const struct options *o)
{
    return o->capture == OPTIONS_CAPTURE_WALK;
}

/* Are frames without hooks unwound, between those with hooks? */
static inline bool options_walks_between(const struct options *o)
{
    return o->framework_frames == OPTIONS_FRAMEWORK_WALK;
}

/* Are methods hooked? */
static inline bool options_hooked(const struct options *o)
{
    return !options_snapshots(o) && !options_walks(o);
}

/* Must the log have each path on which an async method began to wait, whatever is left out? */
static inline bool options_beginnings(const struct options *o)
{
    return options_hooked(o) && o->stacks == OPTIONS_STACKS_NODE && !o->runtime_samples;
}

static inline bool options_elt2(const struct options *o)
{
    return o->hooks == OPTIONS_HOOKS_ELT2;
}

/* Is what is alive estimated, from samples of the runtime? */
static inline bool options_estimates_live(const struct options *o)
{
    return o->live && o->runtime_samples;
}

/* Does the JIT's rich debug info help: are methods inlined, and lines of allocations recorded? */
static inline bool options_rich(const struct options *o)
{
    return !o->no_rich && !o->no_lines && !o->no_inline && options_records(o, OPTIONS_ALLOC) &&
           !o->runtime_samples;
}

/* Are arguments or results recorded? */
static inline bool options_values(const struct options *o)
{
    return o->args.count || o->returns.count;
}

/* Do hooks make events: of calls, or of values? They cannot wait for the log's writer. */
static inline bool options_by_hooks(const struct options *o)
{
    return options_records(o, OPTIONS_CALLS) || options_values(o);
}

/* Is there a pattern that methods, modules or types are to match, or own code to be found? */
static inline bool options_choose(const struct options *o)
{
    return o->only.count || o->exclude.count || o->own || o->own_code.count || o->types.count ||
           o->args.count || o->returns.count || o->calls.count;
}

/* Are only a few methods hooked, while precompiled code of all others is used? */
static inline bool options_few(const struct options *o)
{
    return o->only.count || o->own;
}

/* Are there methods without hooks because of what was asked for? */
static inline bool options_chooses_methods(const struct options *o)
{
    return options_few(o) || o->exclude.count;
}

void options_init(struct options *o); /* the defaults */
void options_fini(struct options *o);

/*
 * options_read - options from the JSON text of SHADOWTRACE_OPTIONS.
 * Returns: 0; -EINVAL, with one line in why (what, where, what to do); -ENOMEM, why empty.
 * Owns:    o is the caller's, initialised here; options_fini() also on failure. Then o->status is
 *          set if the text is JSON and has one, to tell `why`; the rest must not be used.
 * Errors:  no text (json NULL), damaged JSON (with its byte offset), another version, unknown key,
 *          wrong type, value out of range, values that contradict each other.
 * Threads: any. No output, no environment, no state of our own; jansson allocates.
 */
int options_read(const char *json, struct options *o, char *why, size_t why_size);

/* options_write - the same as JSON, without defaults. Returns: text for memory_free(), or NULL. */
char *options_write(const struct options *o);

/*
 * options_sampler_settle - whether the runtime takes the samples, once it is known which one this
 * is: it does so without bias from OPTIONS_SAMPLER_MAJOR on, and about every 100 KB before.
 */
#define OPTIONS_SAMPLER_MAJOR 10
void options_sampler_settle(struct options *o, unsigned runtime_major);

/*
 * options_frames_settle - what becomes of --framework-frames auto, after options_sampler_settle.
 * walks: can stacks be unwound in this process? If not, samples have the frames of snapshots, which
 * is what a walk comes to, and other allocations have those with hooks only.
 */
void options_frames_settle(struct options *o, bool walks);

/* An empty list: false. Notes in `met` which patterns match. Threads: any. */
bool options_match(const struct options_patterns *patterns, const char *name);

#endif
