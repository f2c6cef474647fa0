/*
 * model/runs.h - runs of frames that reports fold into one: those that are not own code. Where own
 * code makes next to nothing, only the framework's.
 */
#ifndef SHADOWTRACE_MODEL_RUNS_H
#define SHADOWTRACE_MODEL_RUNS_H

#include "model/shape.h"

#define RUNS_NONE 0 /* number of the run without frames */

/* What is known of the frames so far. */
struct run {
    uint32_t name;   /* number of the common namespace, or NONE, which is "" */
    uint32_t module; /* common to all; 0: none */
    uint32_t count;
    uint32_t place; /* of the frame, where there is one only */
};

struct runs {
    const struct log_defs *defs;
    uint32_t *method_names; /* by method: number of its namespace + 1; 0: not asked yet */
    char **names;
    size_t name_count, name_capacity;
    struct run *runs;
    size_t run_count, run_capacity;
    struct index name_index, run_index;
};

int runs_init(struct runs *r, const struct log_defs *defs);
void runs_fini(struct runs *r);

/* runs_add - the run with one frame more. Returns: 0 or -ENOMEM. */
int runs_add(struct runs *r, uint32_t run, uint32_t method, uint32_t place, uint32_t *out);

/*
 * runs_name - of a run of several what to call it, "" if its frames have nothing in common: one
 * address for one name. Returns: 0 or -ENOMEM.
 */
int runs_name(struct runs *r, uint32_t run, const char **out);

#endif
