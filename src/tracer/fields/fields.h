/*
 * fields/fields.h - names for a heap dump: static fields that hold objects, and the fields of
 * objects. The runtime knows where fields are, metadata has their names.
 *
 *     fields_open (the program runs) -> fields_statics (within the collection) -> fields_of (the
 *     program runs again) -> fields_close
 */
#ifndef SHADOWTRACE_FIELDS_FIELDS_H
#define SHADOWTRACE_FIELDS_FIELDS_H

#include "collect/graph.h"
#include "values/plan.h"

struct fields_static;

/* All zero between dumps, but for the first three. Threads: the one of collect/, and its pause. */
struct fields {
    struct clr_info *info; /* borrowed, as is metadata */
    int info_version;
    struct metadata *metadata;
    uintptr_t app_domain;
    struct values_types *types; /* NULL: no memory */
    struct fields_static *statics;
    size_t count, capacity;
    uintptr_t *thread; /* ThreadIDs, within the collection */
    size_t threads, thread_capacity;
};

/*
 * fields_open - lists the static fields of all classes that the tracer knows, or that have a
 * compiled method; but those of generic types, of which the runtime says nothing. Types are not
 * loaded. May run: not in a callback.
 */
void fields_open(struct fields *f);

/*
 * fields_statics - graph_static() for each that holds an object. In GarbageCollectionFinished. Of
 * what can be unloaded only where the collection found an object of the same module.
 */
void fields_statics(struct fields *f, struct graph *graph);

/* fields_of - graph_field() for each word of the class's objects that holds a reference. */
void fields_of(struct fields *f, struct graph *graph, const struct metadata_class *class,
               uint32_t number);

void fields_close(struct fields *f);

/* Shared by the files of this room: the class that a class is derived from, or NULL. */
struct metadata_class *fields_base(const struct fields *f, const struct metadata_class *class);

#endif
