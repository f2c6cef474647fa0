#include "clr/pe.h"

#include "base/load.h"

/* PE/COFF and ECMA-335 II.25: offsets in bytes. */
enum {
    DOS_PE_OFFSET = 60, /* where the file says that the PE headers are */
    PE_SECTIONS = 6,
    PE_OPTIONAL_SIZE = 20,
    PE_OPTIONAL = 24,
    OPTIONAL_MAGIC_64 = 0x20b,
    OPTIONAL_IMAGE_SIZE = 56,
    DIRECTORIES_32 = 96, /* in the optional header */
    DIRECTORIES_64 = 112,
    DEBUG_DIRECTORY = 6,
    CLI_DIRECTORY = 14,
    DIRECTORY_SIZE = 8,
    SECTION_SIZE = 40,
    SECTION_VIRTUAL_SIZE = 8,
    SECTION_ADDRESS = 12,
    SECTION_RAW = 20,
    CLI_METADATA = 8,
    CLI_NATIVE = 64, /* of code compiled ahead of time */
    DEBUG_SIZE = 28, /* of an entry: */
    DEBUG_STAMP = 4,
    DEBUG_TYPE = 12,
    DEBUG_BYTES = 16,
    DEBUG_ADDRESS = 20,
    CODEVIEW = 2,      /* "RSDS", then the PDB's GUID */
    EMBEDDED_PDB = 17, /* "MPDB", its size, and what deflate made of it */
    GUID_SIZE = 16,
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

uint32_t clr_pe_size(const uint8_t *image)
{
    return load_u32(image + load_u32(image + DOS_PE_OFFSET) + PE_OPTIONAL + OPTIONAL_IMAGE_SIZE);
}

const uint8_t *clr_pe_place(const uint8_t *image, bool flat, uint32_t address)
{
    uint64_t at = address && flat ? clr_pe_raw(image, address) : address;

    return at ? image + at : NULL;
}

/* A directory of the optional header: its address and its size, 4 bytes each. NULL: no image. */
static const uint8_t *directory_of(const uint8_t *image, unsigned number)
{
    const uint8_t *pe, *optional;

    if (memcmp(image, "MZ", 2) != 0)
        return NULL;
    pe = image + load_u32(image + DOS_PE_OFFSET);
    if (memcmp(pe, "PE\0", 4) != 0)
        return NULL;
    optional = pe + PE_OPTIONAL;
    return optional + (load_u16(optional) == OPTIONAL_MAGIC_64 ? DIRECTORIES_64 : DIRECTORIES_32) +
           number * DIRECTORY_SIZE;
}

static void take_entry(const uint8_t *image, bool flat, const uint8_t *entry,
                       struct clr_pe_pdb *out)
{
    uint32_t size = load_u32(entry + DEBUG_BYTES), type = load_u32(entry + DEBUG_TYPE);
    const uint8_t *data = clr_pe_place(image, flat, load_u32(entry + DEBUG_ADDRESS));

    if (!data || size < 8)
        return;
    if (type == CODEVIEW && size >= 4 + GUID_SIZE && memcmp(data, "RSDS", 4) == 0) {
        memcpy(out->id, data + 4, GUID_SIZE);
        memcpy(out->id + GUID_SIZE, entry + DEBUG_STAMP, 4);
        out->known = true;
    } else if (type == EMBEDDED_PDB && memcmp(data, "MPDB", 4) == 0) {
        out->size = load_u32(data + 4);
        out->packed = data + 8;
        out->packed_size = size - 8;
    }
}

void clr_pe_find_pdb(const uint8_t *image, bool flat, struct clr_pe_pdb *out)
{
    const uint8_t *directory = directory_of(image, DEBUG_DIRECTORY), *entry;
    uint32_t count;

    *out = (struct clr_pe_pdb){.known = false};
    if (!directory)
        return;
    count = load_u32(directory + 4) / DEBUG_SIZE;
    entry = clr_pe_place(image, flat, load_u32(directory));
    for (uint32_t i = 0; entry && i < count; i++)
        take_entry(image, flat, entry + (size_t)i * DEBUG_SIZE, out);
}

/* What a directory of the CLI header, at that offset in it, names. */
static const uint8_t *find(const uint8_t *image, bool flat, size_t offset, uint32_t *size)
{
    const uint8_t *directory = directory_of(image, CLI_DIRECTORY), *cli;

    cli = directory ? clr_pe_place(image, flat, load_u32(directory)) : NULL;
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
