/*
 * metadata/state_machine.h - the state machines that compilers generate for async methods: the
 * position, relative to a machine's `this`, of the object that identifies it across suspensions.
 *
 * A machine is a structure in a box (AsyncTaskMethodBuilder<T>.AsyncStateMachineBox<S>), which is
 * created when the method first waits; until then it is on the stack. In unoptimized code it is an
 * object, created when the method is called. The machine of an async iterator is neither: it
 * continues for the caller that requests the next item.
 */
#ifndef SHADOWTRACE_METADATA_STATE_MACHINE_H
#define SHADOWTRACE_METADATA_STATE_MACHINE_H

#include "metadata/metadata.h"

#include <shadowtrace/log_reader.h>

/* metadata_method.machine_at: bytes from the object to the machine in it, or: */
#define METADATA_MACHINE_OPEN    UINT32_MAX       /* in a box that was not met yet */
#define METADATA_MACHINE_NOWHERE (UINT32_MAX - 1) /* in a box that does not tell */

/* What an object of a class is to an async method that waits. */
enum metadata_waits {
    METADATA_WAITS_OPEN, /* nobody has asked yet */
    METADATA_WAITS_NOT,
    METADATA_WAITS_ELSE,         /* it waits in it, but the object serves others afterwards */
    METADATA_WAITS_CONTINUATION, /* made by a suspended method, passed to it when it goes on */
    METADATA_WAITS_BOX,
    METADATA_WAITS_MACHINE
};
enum metadata_waits metadata_class_waits(struct metadata *metadata, struct metadata_class *class);

/*
 * metadata_class_is_value - whether it is a value type: its objects are boxes.
 * metadata_class_sort - what its objects are. Both ask the module's metadata.
 * Threads: any that may read it.
 */
bool metadata_class_is_value(const struct metadata_class *class);
enum sst_sort metadata_class_sort(const struct metadata_class *class);

/*
 * metadata_machine_find - sets machine and machine_at of a method that is a machine's MoveNext.
 * Threads: any. May run: in FunctionIDMapper2; asks the module's metadata, once for each record.
 */
void metadata_machine_find(struct metadata_method *method);

/*
 * metadata_machine_place - a box of the class was made while the method ran: sets machine_at, if
 * the machine is the method's.
 * Threads: any. May run: in ObjectAllocated; asks the runtime once for each record.
 */
void metadata_machine_place(struct clr_info *info, struct metadata_method *method,
                            const struct metadata_class *box);

/*
 * How a continuation is passed to what the runtime made of a method for runtime async to await:
 * null as it is called, what it was suspended in as it goes on. Before it come `this`, a buffer for
 * a returned structure, and what tells shared code its types.
 * Source: dotnet/runtime docs/design/coreclr/botr/clr-abi.md; programs of
 *          tests/e2e/test_logical.py.
 */
enum metadata_continued {
    METADATA_CONTINUED = 1,
    METADATA_CONTINUED_THIS = 2,   /* after `this` */
    METADATA_CONTINUED_CONTEXT = 4 /* after what says for which types */
};

/*
 * metadata_method_continued - how it is passed to a method that returns one; 0: it is not, or the
 * runtime does not tell the method from the one that returns the Task.
 * Threads: any. May run: in FunctionIDMapper2; asks the runtime for the token's function.
 */
uint8_t metadata_method_continued(const struct metadata *metadata,
                                  const struct metadata_method *method);

/* Is the method that of the machine in a box of this class? */
bool metadata_machine_of(const struct metadata_method *method, const struct metadata_class *box);

#endif
