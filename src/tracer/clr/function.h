/*
 * clr/function.h - one piece of code in an image that was compiled ahead of time, of each CPU. An
 * address is relative to the image. The runtime has checked the bytes.
 */
#ifndef SHADOWTRACE_CLR_FUNCTION_H
#define SHADOWTRACE_CLR_FUNCTION_H

#include "base/cpu.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the code of a RUNTIME_FUNCTION (CPU_RUNTIME_FUNCTION_BYTES) ends. */
uint32_t clr_function_end(const uint8_t *function, const uint8_t *image, bool flat);

/*
 * clr_function_refers - may what is at text[at] be a reference to an address? text[0, size) lies at
 * `address`. Returns: then *to is which.
 */
bool clr_function_refers(const uint8_t *text, uint32_t size, uint32_t address, uint32_t at,
                         uint32_t *to);

#endif
