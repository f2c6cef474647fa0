#include "clr/type.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <string.h>

#define NAME_UNITS 64

bool clr_type_is(struct clr_metadata *import, uint32_t type, const clr_wchar *const *names,
                 size_t count)
{
    const struct clr_metadata_vtbl *v = import->vtbl;
    clr_wchar name[NAME_UNITS];
    uint32_t length = 0, scope;
    hresult hr = clr_token_type(type) == mdtTypeRef
                     ? v->get_type_ref_props(import, type, &scope, name, NAME_UNITS, &length)
                     : v->get_type_def_props(import, type, name, NAME_UNITS, &length, NULL, NULL);

    if (hr != S_OK || !length || length > NAME_UNITS)
        return false;
    for (size_t i = 0; i < count; i++)
        if (memcmp(name, names[i], length * sizeof(*name)) == 0) /* it counts the NUL */
            return true;
    return false;
}
