/*
 * attach/live_stacks.h - the reply to `dump`: threads with frames that have names and, where
 * symbols are, lines.
 */
#ifndef SHADOWTRACE_ATTACH_LIVE_STACKS_H
#define SHADOWTRACE_ATTACH_LIVE_STACKS_H

#include "model/names.h"
#include "process/client.h"

#include <stdint.h>

struct live_stacks; /* keeps symbols over many replies */

struct live_frame {
    const char *method;       /* the reply's, or the live_stacks' until the next reply */
    int32_t il;               /* of the call under way in it; below 0: not known */
    bool filter;              /* a filter's second frame of its method */
    bool certain;             /* false: of an approximate copy, above what can be proved */
    const char *file;         /* NULL: not known; the live_stacks' */
    uint32_t line, line_last; /* as in struct symbols_line */
};

struct live_thread {
    uint32_t os, depth, tries, certain;
    bool exact, dispatching;
    const char *name;     /* NULL: none; the reply's */
    const json_t *frames; /* youngest first */
    size_t count;
};

/* dirs (borrowed): more folders with symbols. lines false: no files are looked at. */
struct live_stacks *live_stacks_new(const char *const *dirs, size_t ndirs, bool lines,
                                    enum names_style style);
void live_stacks_free(struct live_stacks *s);

/* live_stacks_take - look at a reply (borrowed until the next one). Returns: 0 or -ENOMEM. */
int live_stacks_take(struct live_stacks *s, const json_t *reply);

size_t live_stacks_count(const struct live_stacks *s);
void live_stacks_thread(const struct live_stacks *s, size_t index, struct live_thread *out);
void live_stacks_frame(struct live_stacks *s, const struct live_thread *thread, size_t index,
                       struct live_frame *out); /* index 0: the youngest */

#endif
