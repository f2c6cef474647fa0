/*
 * values/capture.h - a value as bytes: written in a hook, read by the writer. One item per value:
 *
 *   tag: 1 byte, then
 *   NULL, CUT, UNREADABLE, MISSING, MOVED   nothing
 *   PRIMITIVE    element: 1, bits: 8
 *   DECIMAL      16 bytes as they lie
 *   ENUM         type: 8 (struct values_type *), bits: 8 (sign extended)
 *   STRING       length: 4, taken: 4, taken UTF-16 units
 *   OBJECT       class: 8 (struct metadata_class *, 0: not known)
 *   BOXED        class: 8, item; for a tuple, which is a separate object: its items
 *   ARRAY        class: 8, rank: 4, length of each dimension: 4, taken: 4, taken items
 *   STRUCT       type: 8, an item for each field
 *   REF          item
 *   POINTER      address: 8, item
 *   SPAN         length: 4, taken: 4, taken items
 *
 * Where the room ended the data ends: what a reader finds missing was cut.
 */
#ifndef SHADOWTRACE_VALUES_CAPTURE_H
#define SHADOWTRACE_VALUES_CAPTURE_H

#include "values/plan.h"

enum capture_tag {
    CAPTURE_CUT, /* no room, or nested too deep */
    CAPTURE_NULL,
    CAPTURE_UNREADABLE, /* memory that is not there, or no object where one should be */
    CAPTURE_MISSING,    /* an out parameter on the way in */
    CAPTURE_PRIMITIVE,
    CAPTURE_DECIMAL,
    CAPTURE_ENUM,
    CAPTURE_STRING,
    CAPTURE_OBJECT,
    CAPTURE_BOXED,
    CAPTURE_ARRAY,
    CAPTURE_STRUCT,
    CAPTURE_REF,
    CAPTURE_POINTER,
    CAPTURE_SPAN,
    CAPTURE_MOVED, /* a by-ref's target off the stack, after a collection: nobody knows where */
};

/* How objects lie in memory, and how much of them is wanted. */
struct capture_rules {
    uint32_t string_length, string_text; /* offsets in a string */
    uint32_t max_text, max_items;
    /* The record of a class that was met before, or NULL; asks nobody. */
    struct metadata_class *(*class_find)(void *context, uintptr_t class_id);
    /* The layout of a class, NULL while nobody made it. */
    const struct values_type *(*layout)(void *context, const struct metadata_class *class);
    void *context;
};

struct capture {
    const struct capture_rules *rules;
    uint8_t *data;
    size_t size, room;
    unsigned depth;
    bool full;
};

/* One value that lies at `at`. `sure`: a managed reference led there, it can be read. */
void capture_value(struct capture *c, const struct values_type *type, uintptr_t at, bool sure);
void capture_tag(struct capture *c, enum capture_tag tag); /* one of those without a content */

/* All of a plan's arguments, from the ranges that the runtime gives. */
void capture_arguments(struct capture *c, const struct values_plan *plan,
                       const struct clr_function_argument_info *arguments);

/*
 * By-refs that the method writes through (parameters that are `back`): where they lead when it is
 * entered (0: not known), and what is there when it ends. Only what lies from low to high is read:
 * after a collection the thread's own stack, for all else may have moved.
 */
#define CAPTURE_TARGETS 8 /* of one call; what further ones lead to is cut */
void capture_where(const struct values_plan *plan,
                   const struct clr_function_argument_info *arguments,
                   uintptr_t where[CAPTURE_TARGETS]);
void capture_targets(struct capture *c, const struct values_plan *plan,
                     const uintptr_t where[CAPTURE_TARGETS], uintptr_t low, uintptr_t high);

#endif
