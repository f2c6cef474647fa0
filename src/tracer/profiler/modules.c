#include "profiler/modules.h"

#include "clr/com.h"

#include <shadowtrace/clr/constants.h>

#define AT_ONCE 64u /* that are asked for */

static void describe(struct profiler *p, uintptr_t module_id)
{
    metadata_module_met(p->metadata, module_id);
}

void modules_meet(struct profiler *p, uintptr_t module_id)
{
    metadata_module_loaded(p->metadata, module_id);
    if (options_every_object(&p->options)) /* sampled ones come off the fast path */
        corelib_loaded(&p->corelib, p->runtime.info, module_id, p->selection.keeps_precompiled);
    if (options_values(&p->options) || p->options.exact_generics || load_acquire(&p->describes))
        describe(p, module_id);
}

void modules_all(struct profiler *p, void (*meet)(struct profiler *p, uintptr_t module_id))
{
    struct clr_info *info = p->runtime.info;
    struct clr_module_enum *modules;
    uintptr_t id[AT_ONCE];
    uint32_t count = 0;
    hresult result;

    if (info->vtbl->enum_modules(info, &modules) != S_OK)
        return; /* each is met when something of it is */
    do {
        result = modules->vtbl->next(modules, AT_ONCE, id, &count);
        for (uint32_t i = 0; result >= 0 && i < count; i++)
            meet(p, id[i]);
    } while (result == S_OK && count);
    clr_release(modules);
}

void modules_describe(struct profiler *p)
{
    store_release(&p->describes, true);
    modules_all(p, describe);
}
