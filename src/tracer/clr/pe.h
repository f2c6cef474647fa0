/* clr/pe.h - what the headers of a module's image name. */
#ifndef SHADOWTRACE_CLR_PE_H
#define SHADOWTRACE_CLR_PE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * clr_pe_metadata - the metadata in a mapped image; `flat`: mapped as in the file, not by section.
 * Returns: its first byte and *size; NULL: no such image. The runtime has checked the bytes.
 */
const uint8_t *clr_pe_metadata(const uint8_t *image, bool flat, uint32_t *size);

/* clr_pe_native - the same for the header of code compiled ahead of time; NULL: none. */
const uint8_t *clr_pe_native(const uint8_t *image, bool flat, uint32_t *size);

/* clr_pe_place - where an address relative to the image lies; NULL: in no section. */
const uint8_t *clr_pe_place(const uint8_t *image, bool flat, uint32_t address);

/*
 * clr_pe_find_pdb - which PDB the image was built with: by its id, and, if it is in the image, its
 * bytes there, packed. known: false: none.
 */
#define CLR_PDB_ID 20 /* a GUID, then a stamp */
struct clr_pe_pdb {
    bool known;
    uint8_t id[CLR_PDB_ID];
    const uint8_t *packed; /* NULL: it is a file */
    uint32_t packed_size, size;
};
void clr_pe_find_pdb(const uint8_t *image, bool flat, struct clr_pe_pdb *out);

/* clr_pe_size - bytes of the loaded image. */
uint32_t clr_pe_size(const uint8_t *image);

/* clr_pe_raw - where the file has what the loaded image has at `address`; 0: nowhere. */
uint64_t clr_pe_raw(const uint8_t *headers, uint32_t address);

#endif
