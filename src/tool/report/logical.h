/*
 * report/logical.h - call paths as in the source. Where an async method was resumed, the machine's
 * stack continues with the code that completed its task; its logical path continues with its
 * caller, which was on the stack when the method began. The path of a resumed method, and of
 * everything below it, becomes that of its beginning.
 *
 * If a node has a beginning (begun), that one is used. Otherwise it is found among the log's other
 * paths. If the method began on several paths, the path keeps their common part and ends with a
 * frame that says so ("(one of 3 callers)"); if the log has none, it ends with LOG_PATH_LOST.
 */
#ifndef SHADOWTRACE_REPORT_LOGICAL_H
#define SHADOWTRACE_REPORT_LOGICAL_H

#include "readers/log.h"

/* What is asked of a log's allocations: the path each was made on, and its class. */
struct report_logical_allocs {
    bool begun;    /* the log has each path on which an async method first had to wait */
    bool complete; /* and each allocation: where no method had to wait none was resumed */
    bool (*next)(void *context, uint32_t *path, uint32_t *class_number);
    void *context;
};

/* What logs leave out, which decides what logical paths may rest on. All 0 to begin with. */
struct report_logical_basis {
    bool left_out; /* allocations are, of some log */
    bool unbegun;  /* and so may the paths be on which async methods were made to wait */
};

/* report_logical_note - takes each record of the logs. */
void report_logical_note(struct report_logical_basis *b, const struct log_record *record);

/* report_logical_known - sets begun and complete of *out. all: no allocation was passed over. */
void report_logical_known(const struct report_logical_basis *b, const struct log_input *log,
                          bool all, struct report_logical_allocs *out);

/*
 * report_logical - the logical path of each path of defs, which gets the paths that it does not
 * have yet.
 * Returns: 0 and *out, with an entry for each path that there was, to be freed with memory_free;
 *          NULL if no method was resumed: all paths are logical; -ENOMEM.
 */
int report_logical(struct log_defs *defs, const struct report_logical_allocs *allocs,
                   uint32_t **out);

/* report_logical_ends - whether a path ends where several may have called: how many; else 0. */
uint32_t report_logical_ends(const struct log_defs *defs, uint32_t path);

#endif
