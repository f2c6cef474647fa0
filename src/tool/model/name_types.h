/*
 * model/name_types.h - the types that the names of logs tell of, and how much of its namespace each
 * has to keep so that no two look alike. For names.c.
 *
 *     name_types_add (all types) -> name_types_finish -> name_types_find
 *
 * The log does not say where a namespace ends and a type begins: "A.B.C" is C, nested in the type
 * A.B, only if some name tells that A.B is a type.
 */
#ifndef SHADOWTRACE_MODEL_NAME_TYPES_H
#define SHADOWTRACE_MODEL_NAME_TYPES_H

#include "model/name_parts.h"
#include "readers/index.h"

struct name_type {
    uint64_t id;    /* of the whole path: names and numbers of arguments */
    uint32_t first; /* its segments' hashes */
    uint8_t count;  /* of them */
    uint8_t outer;  /* segment that is the outermost type */
    uint8_t from;   /* segment with which its short name begins */
    bool sure;      /* it is a type, not the beginning of a method's name */
    bool seen;      /* among the names that are to look different */
};

struct name_suffix {
    uint64_t id;
    uint32_t count; /* types whose names could be that */
};

struct name_types {
    struct name_type *types;
    size_t type_count, type_capacity;
    struct index index;
    uint64_t *segments;
    size_t segment_count, segment_capacity;
    struct name_suffix *suffixes;
    size_t suffix_count, suffix_capacity;
    struct index suffix_index;
};

void name_types_free(struct name_types *t); /* begins as all zeros */

/* What segments [from, to) of a path are known by. */
uint64_t name_path_id(const struct name_parts *p, const struct parts_type *type, unsigned from,
                      unsigned to);

/*
 * name_types_add - the type that segments [from, to) of a path name. Returns: 0 or -ENOMEM.
 * name_types_finish - once all are there. Returns: 0 or -ENOMEM.
 * name_types_find - NULL: it was not added.
 */
enum name_evidence { NAME_SURE = 1, NAME_SEEN = 2 };
int name_types_add(struct name_types *t, const struct name_parts *p, const struct parts_type *type,
                   unsigned from, unsigned to, unsigned evidence);
int name_types_finish(struct name_types *t);
const struct name_type *name_types_find(const struct name_types *t, uint64_t id);

/* Whether the segment can only be a type: it has arguments, or a compiler's brackets. */
bool name_is_type(const struct parts_segment *segment);

#endif
