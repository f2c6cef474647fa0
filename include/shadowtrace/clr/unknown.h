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
    /* IUnknown: slots 0 to 2 */
    hresult (*query_interface)(struct clr_unknown *self, const struct clr_guid *riid,
                               void **object);
    uint32_t (*add_ref)(struct clr_unknown *self);
    uint32_t (*release)(struct clr_unknown *self);
};

struct clr_unknown {
    const struct clr_unknown_vtbl *vtbl;
};

CLR_SLOT(clr_unknown_vtbl, query_interface, 0);
CLR_SLOT(clr_unknown_vtbl, add_ref, 1);
CLR_SLOT(clr_unknown_vtbl, release, 2);
static_assert(sizeof(struct clr_unknown_vtbl) == 3 * sizeof(void *), "IUnknown");

struct clr_class_factory;

/* IClassFactory: what DllGetClassObject hands out. */
struct clr_class_factory_vtbl {
    /* IUnknown: slots 0 to 2 */
    hresult (*query_interface)(struct clr_class_factory *self, const struct clr_guid *riid,
                               void **object);
    uint32_t (*add_ref)(struct clr_class_factory *self);
    uint32_t (*release)(struct clr_class_factory *self);

    /* IClassFactory: slots 3 to 4 */
    hresult (*create_instance)(struct clr_class_factory *self, struct clr_unknown *outer,
                               const struct clr_guid *riid, void **object);
    hresult (*lock_server)(struct clr_class_factory *self, int32_t lock);
};

struct clr_class_factory {
    const struct clr_class_factory_vtbl *vtbl;
};

CLR_SLOT(clr_class_factory_vtbl, query_interface, 0);
CLR_SLOT(clr_class_factory_vtbl, add_ref, 1);
CLR_SLOT(clr_class_factory_vtbl, release, 2);
CLR_SLOT(clr_class_factory_vtbl, create_instance, 3);
CLR_SLOT(clr_class_factory_vtbl, lock_server, 4);
static_assert(sizeof(struct clr_class_factory_vtbl) == 5 * sizeof(void *), "IClassFactory");

#endif
