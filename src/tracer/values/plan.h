/*
 * values/plan.h - what a hook must know to copy a value: types with their layout, and the arguments
 * of a method. Made from signature blobs (ECMA-335 II.23.2), metadata and the runtime's class
 * layouts; immutable once published, never freed while the process runs.
 */
#ifndef SHADOWTRACE_VALUES_PLAN_H
#define SHADOWTRACE_VALUES_PLAN_H

#include "base/buffer.h"
#include "metadata/metadata.h"

#include <shadowtrace/clr/metadata.h>

enum values_kind {
    VALUES_UNKNOWN, /* its size is not known: nothing of it is read */
    VALUES_VOID,
    VALUES_PRIMITIVE, /* element says which */
    VALUES_DECIMAL,
    VALUES_ENUM,      /* element is what it is made of; names */
    VALUES_REFERENCE, /* an object, or null: what it is tells the object */
    VALUES_STRUCT,    /* fields */
    VALUES_NULLABLE,  /* fields[0] is whether it has a value, fields[1] the value */
    VALUES_SPAN,      /* fields[0] is a by-ref to the first element, fields[1] the length */
    VALUES_BYREF,     /* target */
    VALUES_POINTER,   /* target; VALUES_VOID or VALUES_UNKNOWN: only the address is known */
};

struct values_field {
    char *name; /* UTF-8 */
    uint32_t offset;
    const struct values_type *type;
};

struct values_name {
    uint64_t value;
    char *name;
};

struct values_type {
    enum values_kind kind;
    uint8_t element;    /* CorElementType */
    bool flags;         /* of an enum: [Flags] */
    bool object;        /* VALUES_STRUCT: of an object, offsets from its beginning; not a value's */
    bool kept;          /* for all that name class_id: nothing of it can be unloaded */
    uint32_t size;      /* bytes; 0: not known */
    uintptr_t class_id; /* as a type argument; of a reference System.__Canon's; 0: not known */
    const struct values_type *target;
    uint32_t fields, names;
    struct values_field *field;
    struct values_name *name;      /* of an enum, by falling value */
    struct values_type *next;      /* all that were made */
    struct values_type *next_kept; /* those with class ids of the same hash */
};

struct values_parameter {
    char *name; /* UTF-8 */
    bool out;   /* what it refers to is not there yet when the method is entered */
    bool back;  /* by reference, and written: its target is captured at the end, too */
    const struct values_type *type;
};

struct values_plan {
    bool args, returns; /* which of them is asked for */
    bool open; /* shared code: what the variables of its type stand for, each instantiation tells */
    uint32_t count; /* parameters, `this` included: the first */
    uint32_t back;  /* how many of them are */
    struct values_parameter *parameter;
    const struct values_type *result;
};

#define VALUES_BUCKETS 1024
#define VALUES_SIMPLE  32

/* Makes types; one in a process. */
struct values_types {
    struct clr_info *info; /* borrowed, as is names */
    struct metadata *metadata;
    struct metadata_module *corelib;    /* NULL: not met yet */
    _Atomic(struct values_type *) made; /* newest first */
    _Atomic(struct values_type *) kept[VALUES_BUCKETS];
    _Atomic(struct values_type *) simple[VALUES_SIMPLE];         /* by element */
    _Atomic(struct values_instance *) instances[VALUES_BUCKETS]; /* for VALUES_QUIET */
};

/* What type variables stand for. */
struct values_scope {
    struct metadata_module *module; /* whose tokens the blob holds */
    const struct values_type *const *type_arg, *const *method_arg;
    uint32_t type_args, method_args;
};

/*
 * Whether types may be loaded and a collection may run: not in a hook, where what was not read
 * before with VALUES_LOAD is unknown.
 */
enum values_mode { VALUES_LOAD, VALUES_QUIET };

/* The value of a primitive type at an address, extended to 64 bits by its sign, if it has one. */
uint64_t values_bits(const void *at, uint8_t element);

/*
 * values_type_read - one type of a signature blob; *blob moves past it.
 * Returns: the type; VALUES_UNKNOWN if damaged, nested too deep or not loaded; NULL: no memory.
 */
const struct values_type *values_type_read(struct values_types *types,
                                           const struct values_scope *scope, const uint8_t **blob,
                                           const uint8_t *end, enum values_mode mode);

/* A class's values: what its boxes, or elements of its arrays, hold. NULL: no memory. */
const struct values_type *values_type_of(struct values_types *types,
                                         const struct metadata_class *class, enum values_mode mode);

/*
 * How to capture objects of a class: values_type_of, but the items of System.Tuple<...> (an
 * `object`, which no other code may use as the type of a value).
 */
const struct values_type *values_type_of_objects(struct values_types *types,
                                                 const struct metadata_class *class,
                                                 enum values_mode mode);

/*
 * The fields that a class itself has, at their offsets in an object; not those of its base. It is
 * not kept for others. NULL: no memory, or the runtime does not say.
 */
const struct values_type *values_type_of_fields(struct values_types *types,
                                                const struct metadata_class *class,
                                                enum values_mode mode);

/* Whether instances of a mdTypeDef are values, not objects. */
bool values_type_is_value(const struct metadata_module *module, uint32_t token);

/* values_plan_new - the plan of a method. Returns: NULL when metadata or memory failed. */
struct values_plan *values_plan_new(struct values_types *types,
                                    const struct metadata_method *method, bool args, bool returns,
                                    enum values_mode mode);
void values_plan_free(struct values_plan *plan);
void values_types_free(struct values_types *types); /* all types; nobody may use one any more */

extern const struct values_type values_reference, values_unknown; /* any object; anything */

#endif
