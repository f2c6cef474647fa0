#include "clr/scope.h"

#include "clr/com.h"
#include "clr/metadata_file.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/dispenser.h>
#include <shadowtrace/clr/guids.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

static uint32_t u32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint16_t u16(const uint8_t *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

uint64_t clr_scope_raw(const uint8_t *image, uint32_t address)
{
    const uint8_t *pe = image + u32(image + DOS_PE_OFFSET);
    const uint8_t *section = pe + PE_OPTIONAL + u16(pe + PE_OPTIONAL_SIZE);

    for (unsigned i = 0; i < u16(pe + PE_SECTIONS); i++, section += SECTION_SIZE) {
        uint32_t start = u32(section + SECTION_ADDRESS);

        if (address - start < u32(section + SECTION_VIRTUAL_SIZE))
            return (uint64_t)u32(section + SECTION_RAW) + (address - start);
    }
    return 0;
}

const uint8_t *clr_scope_place(const uint8_t *image, bool flat, uint32_t address)
{
    uint64_t at = address && flat ? clr_scope_raw(image, address) : address;

    return at ? image + at : NULL;
}

/* What a directory of the CLI header, at that offset in it, names. */
static const uint8_t *find(const uint8_t *image, bool flat, size_t offset, uint32_t *size)
{
    const uint8_t *pe, *optional, *directory, *cli;

    if (memcmp(image, "MZ", 2) != 0)
        return NULL;
    pe = image + u32(image + DOS_PE_OFFSET);
    if (memcmp(pe, "PE\0", 4) != 0)
        return NULL;
    optional = pe + PE_OPTIONAL;
    directory = optional + (u16(optional) == OPTIONAL_MAGIC_64 ? DIRECTORIES_64 : DIRECTORIES_32) +
                CLI_DIRECTORY * DIRECTORY_SIZE;
    cli = clr_scope_place(image, flat, u32(directory));
    if (!cli)
        return NULL;
    *size = u32(cli + offset + 4);
    return clr_scope_place(image, flat, u32(cli + offset));
}

const uint8_t *clr_scope_find(const uint8_t *image, bool flat, uint32_t *size)
{
    return find(image, flat, CLI_METADATA, size);
}

const uint8_t *clr_scope_native(const uint8_t *image, bool flat, uint32_t *size)
{
    return find(image, flat, CLI_NATIVE, size);
}

/* ---- the runtime's dispenser ---- */

static struct clr_metadata_dispenser *dispenser; /* one for the process; NULL: none to be had */

static const struct clr_guid thread_safety = {
    0xF7559806, 0xF266, 0x42EA, {0x8C, 0x63, 0x0A, 0xDB, 0x45, 0xE8, 0xB2, 0x34}};

/* Exported by libcoreclr, or by the program itself when the runtime is linked into it. */
static void *find_entry(const void *in_runtime)
{
    Dl_info image;
    void *library = dladdr(in_runtime, &image) && image.dli_fname
                        ? dlopen(image.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    void *entry = dlsym(library ? library : RTLD_DEFAULT, "MetaDataGetDispenser");

    if (library)
        dlclose(library); /* the runtime has its own reference */
    return entry;
}

static const void *runtime; /* an address in it, for the next */

static void dispenser_make(void)
{
    const struct clr_variant on = {.type = CLR_VARIANT_UI4, .value = 1};
    clr_metadata_get_dispenser *get;
    struct clr_unknown *made = NULL;
    void *entry = find_entry(runtime);

    memcpy(&get, &entry, sizeof(get));
    if (!entry || getenv("DOTNET_MODIFIABLE_ASSEMBLIES") ||
        get(&clr_clsid_metadata_dispenser, &clr_iid_metadata_dispenser_ex, &made) != S_OK)
        return;
    dispenser = (struct clr_metadata_dispenser *)(void *)made;
    if (dispenser->vtbl->set_option(dispenser, &thread_safety, &on) != S_OK) {
        clr_release(dispenser);
        dispenser = NULL;
    }
}

static hresult open_own(struct clr_info *info, uintptr_t module_id, const char *path,
                        struct clr_unknown **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const uint32_t changing =
        COR_PRF_MODULE_DYNAMIC | COR_PRF_MODULE_COLLECTIBLE | COR_PRF_MODULE_RESOURCE;
    const uint8_t *image = NULL, *metadata, *own = NULL;
    uint32_t length, flags = COR_PRF_MODULE_DYNAMIC, size = 0;
    uintptr_t assembly;

    if (info->vtbl->get_module_info2(info, module_id, &image, 0, &length, NULL, &assembly,
                                     &flags) != S_OK ||
        !image || (flags & changing))
        return E_FAIL;
    metadata = clr_scope_find(image, flags & COR_PRF_MODULE_FLAT_LAYOUT, &size);
    if (!metadata)
        return E_FAIL;
    runtime = info->vtbl;
    pthread_once(&once, dispenser_make);
    if (!dispenser)
        return E_FAIL;
    if (path && size >= METADATA_FILE_LEAST && !(flags & COR_PRF_MODULE_FLAT_LAYOUT))
        own = metadata_file_map(path, image, metadata, size);
    return dispenser->vtbl->open_scope_on_memory(dispenser, own ? own : metadata, size, ofReadOnly,
                                                 &clr_iid_metadata_import2, out);
}

hresult clr_scope_open(struct clr_info *info, uintptr_t module_id, const char *path,
                       struct clr_metadata **out)
{
    struct clr_unknown *import = NULL;
    hresult result = open_own(info, module_id, path, &import);

    if (result != S_OK) {
        import = NULL;
        result = info->vtbl->get_module_metadata(info, module_id, ofRead, &clr_iid_metadata_import2,
                                                 &import);
    }
    *out = result < 0 ? NULL : (struct clr_metadata *)(void *)import;
    return result;
}
