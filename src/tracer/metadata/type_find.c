/* Types that metadata names in other modules. */
#include "metadata/internal.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <uchar.h>

#define NAME_UNITS 512
#define NESTED_MAX 16

/* The definition of that name in one module, 0: not found; on request only a public one. */
static uint32_t definition(const struct metadata_module *module, const clr_wchar *name,
                           uint32_t enclosing, bool public_only)
{
    struct clr_metadata *import = module->import;
    uint32_t token = 0, flags = 0;

    if (!import || load_acquire(&metadata_module_entry(module)->gone) ||
        import->vtbl->find_type_def_by_name(import, name, enclosing, &token) < 0 ||
        import->vtbl->get_type_def_props(import, token, NULL, 0, NULL, &flags, NULL) < 0)
        return 0;
    return !public_only || (flags & tdVisibilityMask) == tdPublic ? token : 0;
}

static struct metadata_module *find_outermost(struct metadata *metadata, const clr_wchar *name,
                                              uint32_t *type)
{
    const struct metadata_records *records = &metadata->modules.records;
    struct metadata_module *found = NULL, *module;
    struct metadata_entry *entry;

    for (uint32_t number = 1; (entry = metadata_record_at(records, number)); number++) {
        uint32_t token;

        module = &container_of(entry, struct metadata_module_entry, entry)->record;
        token = load_acquire(&entry->listed) ? definition(module, name, mdTokenNil, true) : 0;
        if (!token)
            continue;
        if (found && !module->corelib)
            return NULL; /* which of them the reference means is in no table that we read */
        found = module;
        *type = token;
        if (module->corelib)
            break;
    }
    return found;
}

struct metadata_module *metadata_type_find(struct metadata *metadata,
                                           const struct metadata_module *from, uint32_t type_ref,
                                           uint32_t *type)
{
    clr_wchar name[NESTED_MAX][NAME_UNITS];
    struct clr_metadata *import = from->import;
    struct metadata_module *module;
    uint32_t scope = type_ref, length, depth = 0;

    if (!import)
        return NULL;
    do {
        uint32_t token = scope;

        if (depth == NESTED_MAX || !clr_token_row(token) ||
            import->vtbl->get_type_ref_props(import, token, &scope, name[depth], NAME_UNITS,
                                             &length) < 0)
            return NULL;
        name[depth++][NAME_UNITS - 1] = 0;
    } while (clr_token_type(scope) == mdtTypeRef);
    module = find_outermost(metadata, name[--depth], type);
    while (module && depth) {
        *type = definition(module, name[--depth], *type, false);
        if (!*type)
            module = NULL;
    }
    return module;
}
