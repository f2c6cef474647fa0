/* clr/pe.h - what the headers of a module's image name. */
#ifndef SHADOWTRACE_CLR_PE_H
#define SHADOWTRACE_CLR_PE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * clr_pe_metadata - the metadata in the mapped image of a module; `flat`: as in the file, not by section.
 * Returns: its first byte and *size; NULL when there is no such image. The bytes were checked by the runtime.
 */
const uint8_t *clr_pe_metadata(const uint8_t *image, bool flat, uint32_t *size);

/* clr_pe_native - the same for the header of the code that was compiled ahead of time; NULL: there is none. */
const uint8_t *clr_pe_native(const uint8_t *image, bool flat, uint32_t *size);

/* clr_pe_place - where an address relative to the image lies; NULL: in no section. */
const uint8_t *clr_pe_place(const uint8_t *image, bool flat, uint32_t address);

/* clr_pe_raw - where the file has what lies at `address` in the loaded image with these headers; 0: nowhere. */
uint64_t clr_pe_raw(const uint8_t *headers, uint32_t address);

#endif
