/*
 * clr/dispenser.h - IMetaDataDispenserEx: metadata importers besides the runtime's own.
 *
 * Source: cor.h of dotnet/runtime, facts only. Holds no state. The slots after open_scope_on_memory
 * and set_option are left out: nothing here needs them.
 */
#ifndef SHADOWTRACE_CLR_DISPENSER_H
#define SHADOWTRACE_CLR_DISPENSER_H

#include <shadowtrace/clr/types.h>
#include <shadowtrace/clr/unknown.h>

/* VARIANT, for the integers that set_option takes. */
#define CLR_VARIANT_UI4 19
struct clr_variant {
    uint16_t type, reserved[3];
    uint64_t value, more;
};

struct clr_metadata_dispenser;

struct clr_metadata_dispenser_vtbl {
    CLR_UNKNOWN_SLOTS(clr_metadata_dispenser);

    /* IMetaDataDispenser: slots 3 to 5 */
    hresult (*define_scope)(struct clr_metadata_dispenser *self, const struct clr_guid *rclsid,
                            uint32_t flags, const struct clr_guid *riid, struct clr_unknown **out);
    hresult (*open_scope)(struct clr_metadata_dispenser *self, const clr_wchar *path,
                          uint32_t flags, const struct clr_guid *riid, struct clr_unknown **out);
    hresult (*open_scope_on_memory)(struct clr_metadata_dispenser *self, const void *data,
                                    uint32_t size, uint32_t flags, const struct clr_guid *riid,
                                    struct clr_unknown **out);

    /* IMetaDataDispenserEx: from slot 6 */
    hresult (*set_option)(struct clr_metadata_dispenser *self, const struct clr_guid *option,
                          const struct clr_variant *value);
};

struct clr_metadata_dispenser {
    const struct clr_metadata_dispenser_vtbl *vtbl;
};

/* MetaDataGetDispenser, which libcoreclr exports. */
typedef hresult clr_metadata_get_dispenser(const struct clr_guid *rclsid,
                                           const struct clr_guid *riid, struct clr_unknown **out);

#endif
