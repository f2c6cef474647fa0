/*
 * retained/origins.h - where objects of a dump were allocated: the live_site lines of a log, and
 * the line of the source to which a person would put each.
 */
#ifndef SHADOWTRACE_RETAINED_ORIGINS_H
#define SHADOWTRACE_RETAINED_ORIGINS_H

#include "model/near.h"

struct origin {
    uint32_t path; /* of the defs */
    int32_t il;    /* in its leaf, or LOG_NO_IL */
    uint32_t class_number, place;
};

/* Place 0: not known. */
struct origin_place {
    const char *file;         /* NULL: no line is known */
    uint32_t method;          /* number in defs; 0 none */
    uint32_t line, line_last; /* as in struct source_line */
    uint32_t lack;            /* enum model_near_lack, why there is no line */
};

struct origins {
    struct log_id_map ids; /* of live_site lines, to the number of their origin */
    uint64_t recording;    /* of these ids: another recording in the log starts again */
    struct origin *all;
    size_t count, capacity;
    struct origin_place *places;
    size_t place_count, place_capacity;
    struct index index;
};

void origins_init(struct origins *o);
void origins_free(struct origins *o);

/* origins_take - a record of the log; of another kind: nothing. Returns: as a consumer's record. */
int origins_take(struct origins *o, struct log_defs *defs, const struct log_record *record);

/*
 * origins_place - once all are taken: where each was allocated, by the rule of model/near.h.
 * Without own code it is the innermost frame that has lines; else the method that allocated.
 * Returns: 0 or -ENOMEM.
 */
int origins_place(struct origins *o, const struct log_defs *defs, const struct model_own *own,
                  struct source_lines *lines);

#endif
