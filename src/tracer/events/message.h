/*
 * events/message.h - what the message of an exception is, read out of the object: its Message
 * property is managed code.
 */
#ifndef SHADOWTRACE_EVENTS_MESSAGE_H
#define SHADOWTRACE_EVENTS_MESSAGE_H

#include "clr/runtime.h"
#include "clr/utf16.h"
#include "metadata/metadata.h"

#define MESSAGE_UNITS 256 /* of a message, UTF-16; the rest is not read */

struct messages {
    const struct clr_runtime *runtime; /* borrowed, as is metadata */
    struct metadata *metadata;
    _Atomic(uint32_t) offset;            /* of Exception._message; 0: not known yet */
    uint32_t string_length, string_text; /* offsets in a String */
};

/*
 * message_of - the message of an exception of that class. Returns: *length units in the object,
 * which must not move meanwhile; NULL: none. Threads: any. May run: in a callback.
 */
const clr_wchar *message_of(struct messages *m, uintptr_t object, uintptr_t class_id,
                            size_t *length);

#endif
