/*
 * log/log.h - the log: one event to one JSON object on one line, definitions before their first
 * use. Owns the file and the writer thread.
 *
 * The writer drains every ring; it never calls the runtime and never waits for anything that does.
 * An event whose class or node is not named yet waits in the writer's own memory, with all later
 * events of its thread, while the rings go on draining. Format:
 * include/shadowtrace/log_schema.json.
 */
#ifndef SHADOWTRACE_LOG_LOG_H
#define SHADOWTRACE_LOG_LOG_H

#include "clr/guard.h"
#include "event/agreement.h"
#include "event/event.h"
#include "event/profile.h"
#include "metadata/metadata.h"
#include "config/config.h"
#include "live/live.h"
#include "rich/rich.h"
#include "options/options.h"
#include "samples/alive.h"
#include "samples/samples.h"
#include "walk/walk.h"
#include "stack/stack.h"
#include "tree/tree.h"

#include <time.h>

struct log;

struct log_config {
    const struct options *options; /* borrowed, as is all below */
    struct metadata *metadata;
    struct tree *tree;
    struct tree_sites *sites;
    struct event_hub *hub;
    const struct agreement *agreement; /* NULL: nothing is compared */
    const char *runtime;               /* "10.0.12" */
    const char *hooks;                 /* "elt2", "elt3", "none" */
    bool attached;                     /* to a process that was running */
    bool unverified;                   /* a runtime version that this build was not tested on */
    const char *executable;            /* path of the process's image */
    const char *name;     /* for the default file name: main assembly, no folder, no extension */
    char *const *command; /* arguments of the process, NULL-terminated */
    const _Atomic(uint64_t)
        *missed; /* wanted methods that were compiled without hooks at first (--only) */
    const _Atomic(uint64_t) *spared; /* methods left without hooks: the runtime fails with them */
    const struct clr_guard *guard;   /* what is off on this runtime */
    const _Atomic(uint64_t) *unpatched;    /* what of the allocation fast path of CoreLib stays */
    struct live *live;                     /* what is alive; NULL: no --live */
    struct walk *walk;                     /* NULL: paths are not walked */
    const struct rich *rich;               /* what the JIT says of inlined methods */
    const struct samples *samples;         /* the runtime's; NULL: all allocations are met */
    const struct alive *alive;             /* of these; NULL: what is alive is not estimated */
    const struct agreement_frames *frames; /* --framework-frames */
    const struct profile *profile;         /* NULL: no --profile */
    const char *control;                   /* path of the control socket; NULL: none */
    const char *uncontrolled;              /* why there is no socket although it was wanted; NULL */
    const char *no_native; /* why there are no native frames although they were wanted; NULL */
    double (*measure)(
        void); /* ns per call pair of the hooks; run once on the writer; may be NULL */
};

/*
 * log_open - create the file (0600; never one that exists) and write the header; of samples taken
 * from a program's start on, the writer writes that.
 * Returns: 0 or -errno, with one line in why (what, where, what to do).
 * Owns:    *out is the process's, for good: its threads may outlive log_stop. Threads: one.
 */
int log_open(const struct log_config *config, struct log **out, char *why, size_t why_size);

int log_start(struct log *log); /* starts the writer (by thread_start, named); 0 or -errno */

/*
 * log_stop - write what the rings still hold, the end record, and close. When the writer has not
 * got on for timeout_ms, or after 15 times that, what is left counts as lost. The hub must have
 * been told to stop. Threads: one, once.
 */
void log_stop(struct log *log, unsigned timeout_ms);

/* log_cpu_clock - of the writer. Returns: whether there is one. Threads: any. */
bool log_cpu_clock(const struct log *log, clockid_t *clock);

/* log_withdraw - instead of log_start: no recording and no log. It must not be used afterwards. */
void log_withdraw(struct log *log);

/* log_heap - the dump at the end: its file, or why it is missing. Threads: one, once. */
void log_heap(struct log *log, const char *file, const char *why);

/* log_uncontrolled - why there is no socket any more; the text stays. Threads: any, once. */
void log_uncontrolled(struct log *log, const char *why);

/* In a child after fork: nothing is written any more, the file is the parent's. Signal-safe. */
void log_abandon(struct log *log);

/* log_named - classes, methods or sites got their names: a writer that waits for them goes on. */
void log_named(struct log *log);

/*
 * What was unloaded is given back when no event and no count can name it any more.
 * log_grace_begin - asks the writer to go beyond all that was recorded so far. log_grace_over:
 * whether it has.
 * log_forget      - these nodes are others from now on: they get log ids of their own, which are
 *                   never given twice. `gone`: what somebody looks at (log_sites) is counted with
 *                   the rest.
 * Threads: one (the resolver). log_grace_begin: 0, or -ENOMEM: nothing can be given back.
 */
int log_grace_begin(struct log *log);
bool log_grace_over(const struct log *log);
void log_forget(struct log *log, const struct tree_list *nodes);

/* log_live_written - what became of objects is written up to this collection. Threads: any. */
uint64_t log_live_written(const struct log *log);

/*
 * What others have written: lines beside those of the rings, in the order in which they are handed
 * over. log_mark: a mark, its time is now. log_configured: a change of configuration, see
 * config/config.h.
 * Returns: 0 or -ENOMEM. Threads: any; lock-free, the writer is not waited for. Not in a hook.
 */
int log_mark(struct log *log, const char *text);

/* log_mark_written - the same, and waits until it stands there, at most 2 s. */
int log_mark_written(struct log *log, const char *text);

/*
 * log_mark_behind - and waits until all that was recorded before it is in the file, and it, too.
 * Returns: 0, -ENOMEM, -ETIMEDOUT: not within 2 s.
 */
int log_mark_behind(struct log *log, const char *text);

/*
 * log_unhandled - an exception that nothing handles is about to end the process: as
 * log_mark_behind. message: "" none.
 */
int log_unhandled(struct log *log, const char *type, const char *message);
int log_configured(struct log *log, const struct config_settings *now,
                   const struct options_patterns *only);

/*
 * log_rotate - begin a new part of the log; the present one keeps all that is in it under another
 * name: PATH.1, PATH.2, and so on (with --max-log PATH.1, as when it is full). log_sites - call
 * sites by what they allocated since somebody first asked, as a JSON array of at most `limit`;
 * nobody asking for 10 s ends the counting. log_alive - those whose objects are alive, as the log's
 * lines have it, in the same way; -ENOENT: without --live.
 * Returns: 0 and *out, to be freed with memory_free: the file's new name, or the JSON; -ETIMEDOUT
 *          when the writer did not come to it within 2 s; -errno. Threads: any that may wait that
 *          long, one at a time.
 */
int log_rotate(struct log *log, char **out);
int log_sites(struct log *log, uint32_t limit, char **out);
int log_alive(struct log *log, uint32_t limit, char **out);

/* Counts so far, for people. Threads: any; a little behind, lost a second. */
struct log_counts {
    uint64_t written, bytes, file_bytes, parts, cut_allocs, lost[EVENT_LOST_REASONS];
};
void log_counts(const struct log *log, struct log_counts *out);
const char *log_path(const struct log *log);
uint64_t log_zero_ns(const struct log *log); /* CLOCK_MONOTONIC at t = 0 */

/* log_status_leave - the status folder is let go; of this process nothing more is said there. */
void log_status_leave(void);

/* The status of a process that records nothing: state "declined". */
void log_status_declined(const char *folder, const char *executable, char *const *command,
                         const char *reason);

#endif
