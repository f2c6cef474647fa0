#include "clr/scope.h"

#include "clr/com.h"
#include "clr/file_map.h"
#include "clr/importer.h"
#include "clr/pe.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/dispenser.h>
#include <shadowtrace/clr/guids.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct clr_metadata_dispenser *dispenser; /* one for the process; NULL: not available */

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

const uint8_t *clr_scope_image(struct clr_info *info, uintptr_t module_id, bool *flat)
{
    const uint32_t changing =
        COR_PRF_MODULE_DYNAMIC | COR_PRF_MODULE_COLLECTIBLE | COR_PRF_MODULE_RESOURCE;
    uint32_t length, flags = COR_PRF_MODULE_DYNAMIC;
    const uint8_t *image = NULL;
    uintptr_t assembly;

    if (info->vtbl->get_module_info2(info, module_id, &image, 0, &length, NULL, &assembly,
                                     &flags) != S_OK ||
        flags & changing)
        return NULL;
    *flat = flags & COR_PRF_MODULE_FLAT_LAYOUT;
    return image;
}

static hresult open_own(struct clr_info *info, uintptr_t module_id, const char *path,
                        struct clr_metadata **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct clr_unknown *import = NULL;
    bool flat;
    const uint8_t *image = clr_scope_image(info, module_id, &flat), *metadata, *own = NULL;
    uint32_t size = 0;
    hresult result;

    metadata = image ? clr_pe_metadata(image, flat, &size) : NULL;
    if (!metadata)
        return E_FAIL;
    runtime = info->vtbl;
    pthread_once(&once, dispenser_make);
    if (!dispenser)
        return E_FAIL;
    if (path && size >= CLR_FILE_MAP_MIN && !flat)
        own = clr_file_map(path, image, metadata, size);
    metadata = own ? own : metadata;
    result = dispenser->vtbl->open_scope_on_memory(dispenser, metadata, size, ofReadOnly,
                                                   &clr_iid_metadata_import2, &import);
    if (result == S_OK)
        *out = clr_importer_new((struct clr_metadata *)(void *)import, metadata, size);
    return result;
}

void clr_scope_close(void)
{
    clr_release(dispenser);
    dispenser = NULL;
}

hresult clr_scope_open(struct clr_info *info, uintptr_t module_id, const char *path,
                       struct clr_metadata **out)
{
    struct clr_unknown *import = NULL;
    hresult result = open_own(info, module_id, path, out);

    if (result == S_OK)
        return S_OK;
    result = info->vtbl->get_module_metadata(info, module_id, ofRead, &clr_iid_metadata_import2,
                                             &import);
    *out = result < 0 ? NULL : (struct clr_metadata *)(void *)import;
    return result;
}
