#include "clr/type.h"

#include "base/atomics.h"
#include "clr/utf16.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

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
        if (clr_utf16_same(name, names[i]))
            return true;
    return false;
}

bool clr_type_is_value_base(struct clr_metadata *import, uint32_t type)
{
    static const clr_wchar *const bases[] = {u"System.ValueType", u"System.Enum"};

    return clr_type_is(import, type, bases, COUNT_OF(bases));
}
