#include "clr/pe.h"

#include "base/load.h"

/* PE/COFF and ECMA-335 II.25: offsets in bytes. */
enum {
    DOS_PE_OFFSET = 60, /* where the file says that the PE headers are */
    PE_SECTIONS = 6,
    PE_OPTIONAL_SIZE = 20,
    PE_OPTIONAL = 24,
    OPTIONAL_MAGIC_64 = 0x20b,
    DIRECTORIES_32 = 96, /* in the optional header */
    DIRECTORIES_64 = 112,
    CLI_DIRECTORY = 14,
    DIRECTORY_SIZE = 8,
    SECTION_SIZE = 40,
    SECTION_VIRTUAL_SIZE = 8,
    SECTION_ADDRESS = 12,
    SECTION_RAW = 20,
    CLI_METADATA = 8,
    CLI_NATIVE = 64, /* of code compiled ahead of time */
};

uint64_t clr_pe_raw(const uint8_t *image, uint32_t address)
{
    const uint8_t *pe = image + load_u32(image + DOS_PE_OFFSET);
    const uint8_t *section = pe + PE_OPTIONAL + load_u16(pe + PE_OPTIONAL_SIZE);

    for (unsigned i = 0; i < load_u16(pe + PE_SECTIONS); i++, section += SECTION_SIZE) {
        uint32_t start = load_u32(section + SECTION_ADDRESS);

        if (address - start < load_u32(section + SECTION_VIRTUAL_SIZE))
            return (uint64_t)load_u32(section + SECTION_RAW) + (address - start);
    }
    return 0;
}

const uint8_t *clr_pe_place(const uint8_t *image, bool flat, uint32_t address)
{
    uint64_t at = address && flat ? clr_pe_raw(image, address) : address;

    return at ? image + at : NULL;
}

/* What a directory of the CLI header, at that offset in it, names. */
static const uint8_t *find(const uint8_t *image, bool flat, size_t offset, uint32_t *size)
{
    const uint8_t *pe, *optional, *directory, *cli;

    if (memcmp(image, "MZ", 2) != 0)
        return NULL;
    pe = image + load_u32(image + DOS_PE_OFFSET);
    if (memcmp(pe, "PE\0", 4) != 0)
        return NULL;
    optional = pe + PE_OPTIONAL;
    directory = optional +
                (load_u16(optional) == OPTIONAL_MAGIC_64 ? DIRECTORIES_64 : DIRECTORIES_32) +
                CLI_DIRECTORY * DIRECTORY_SIZE;
    cli = clr_pe_place(image, flat, load_u32(directory));
    if (!cli)
        return NULL;
    *size = load_u32(cli + offset + 4);
    return clr_pe_place(image, flat, load_u32(cli + offset));
}

const uint8_t *clr_pe_metadata(const uint8_t *image, bool flat, uint32_t *size)
{
    return find(image, flat, CLI_METADATA, size);
}

const uint8_t *clr_pe_native(const uint8_t *image, bool flat, uint32_t *size)
{
    return find(image, flat, CLI_NATIVE, size);
}
