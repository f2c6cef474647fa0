/*
 * clr/unknown.h - IUnknown and IClassFactory, the two COM interfaces the runtime loads a profiler
 * with.
 *
 * Source: unknwn.idl, facts only. Holds no state.
 *
 * add_ref and release return the new count, for diagnosis only.
 */
#ifndef SHADOWTRACE_CLR_UNKNOWN_H
#define SHADOWTRACE_CLR_UNKNOWN_H

#include <shadowtrace/clr/types.h>

struct clr_unknown;

/* IUnknown: the first three slots of every interface. */
struct clr_unknown_vtbl {
    CLR_UNKNOWN_SLOTS(clr_unknown);
};

struct clr_unknown {
    const struct clr_unknown_vtbl *vtbl;
};

struct clr_class_factory;

/* IClassFactory: what DllGetClassObject hands out. */
struct clr_class_factory_vtbl {
    CLR_UNKNOWN_SLOTS(clr_class_factory);

    /* IClassFactory: slots 3 to 4 */
    hresult (*create_instance)(struct clr_class_factory *self, struct clr_unknown *outer,
                               const struct clr_guid *riid, void **object);
    hresult (*lock_server)(struct clr_class_factory *self, int32_t lock);
};

struct clr_class_factory {
    const struct clr_class_factory_vtbl *vtbl;
};

#endif
