/*
 * walk/unwind_info.h - what the exception directory of a precompiled image says of a method's frame
 * (UNWIND_INFO of x86-64). Bytes of an image that the runtime has loaded.
 */
#ifndef SHADOWTRACE_WALK_UNWIND_INFO_H
#define SHADOWTRACE_WALK_UNWIND_INFO_H

#include <stdbool.h>
#include <stdint.h>

struct code_frame_info {
    uint32_t bytes;  /* from the stack pointer after the prolog to the return address */
    uint32_t pushed; /* of these, by pushes */
    uint32_t saved;  /* from the return address down to the pushed rbp; 0: none */
    bool framed;     /* rbp is the frame register: only methods with localloc say so */
    uint32_t frame;  /* from the stack pointer after the prolog to where rbp points */
};

/* unwind_info_read - Returns: false if it has a version, flag or code that no such image needs. */
bool unwind_info_read(const uint8_t *info, const uint8_t *end, struct code_frame_info *out);

/* An entry of the directory. */
struct unwind_function {
    uint32_t begin, end, info; /* relative to the image */
};

/* unwind_info_find - the entry that covers an address relative to the image; NULL: none. */
const struct unwind_function *unwind_info_find(const struct unwind_function *functions,
                                               uint32_t count, uint32_t address);

#endif
