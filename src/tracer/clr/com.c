#include "clr/com.h"

#include "base/atomics.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/guids.h>

#include <errno.h>
#include <stdbool.h>

void clr_release(void *object)
{
    struct clr_unknown *unknown = object;

    if (unknown)
        unknown->vtbl->release(unknown);
}

hresult clr_query(void *object, const struct clr_guid *iid, void **out)
{
    struct clr_unknown *unknown = object;
    hresult hr;

    *out = NULL;
    hr = unknown->vtbl->query_interface(unknown, iid, out);
    if (hr < 0)
        *out = NULL;
    else if (!*out)
        hr = E_NOINTERFACE; /* a success without an object would only crash later */
    return hr < 0 ? hr : S_OK;
}

int clr_info_query(void *unknown, struct clr_info **info, int *version)
{
    static const struct clr_guid *const iids[] = {
        &clr_iid_info3,  &clr_iid_info4,  &clr_iid_info5,  &clr_iid_info6,  &clr_iid_info7,
        &clr_iid_info8,  &clr_iid_info9,  &clr_iid_info10, &clr_iid_info11, &clr_iid_info12,
        &clr_iid_info13, &clr_iid_info14, &clr_iid_info15,
    };
    const int oldest = 3;

    for (int i = (int)COUNT_OF(iids) - 1; i >= 0; i--) {
        void *found;

        if (clr_query(unknown, iids[i], &found) == S_OK) {
            *info = found;
            *version = oldest + i;
            return 0;
        }
    }
    *info = NULL;
    *version = 0;
    return -ENOTSUP;
}

int clr_callback_version(const struct clr_guid *iid)
{
    static const struct clr_guid *const iids[] = {
        &clr_iid_unknown,   &clr_iid_callback,  &clr_iid_callback2,  &clr_iid_callback3,
        &clr_iid_callback4, &clr_iid_callback5, &clr_iid_callback6,  &clr_iid_callback7,
        &clr_iid_callback8, &clr_iid_callback9, &clr_iid_callback10, &clr_iid_callback11,
    };

    for (int i = 0; i < (int)COUNT_OF(iids); i++)
        if (clr_guid_equal(iid, iids[i]))
            return i;
    return -1;
}

static struct clr_factory *factory_of(struct clr_class_factory *self)
{
    return container_of(self, struct clr_factory, base);
}

/* Whether there is something to answer, and room for the answer, which is nothing so far. */
static bool is_asked(const struct clr_guid *iid, void **object)
{
    if (object)
        *object = NULL;
    return iid && object;
}

/* IClassFactory slot 0. */
static hresult factory_query_interface(struct clr_class_factory *self, const struct clr_guid *iid,
                                       void **object)
{
    if (!is_asked(iid, object))
        return E_POINTER;
    if (!clr_guid_equal(iid, &clr_iid_unknown) && !clr_guid_equal(iid, &clr_iid_class_factory))
        return E_NOINTERFACE;
    self->vtbl->add_ref(self);
    *object = self;
    return S_OK;
}

/* IClassFactory slot 1. */
static uint32_t factory_add_ref(struct clr_class_factory *self)
{
    return add_relaxed(&factory_of(self)->references, 1) + 1;
}

/* IClassFactory slot 2; nothing to free, so the count orders nothing. */
static uint32_t factory_release(struct clr_class_factory *self)
{
    return atomic_fetch_sub_explicit(&factory_of(self)->references, 1, memory_order_relaxed) - 1;
}

/* IClassFactory slot 3: not a new instance but another reference to the one there is. */
static hresult factory_create_instance(struct clr_class_factory *self, struct clr_unknown *outer,
                                       const struct clr_guid *iid, void **object)
{
    if (!is_asked(iid, object))
        return E_POINTER;
    if (outer)
        return CLASS_E_NOAGGREGATION;
    return clr_query(factory_of(self)->object, iid, object);
}

/* IClassFactory slot 4: the library is never unloaded, so there is nothing to lock. */
static hresult factory_lock_server(struct clr_class_factory *self, int32_t lock)
{
    (void)self;
    (void)lock;
    return S_OK;
}

static const struct clr_class_factory_vtbl factory_vtbl = {
    .query_interface = factory_query_interface,
    .add_ref = factory_add_ref,
    .release = factory_release,
    .create_instance = factory_create_instance,
    .lock_server = factory_lock_server,
};

void clr_factory_init(struct clr_factory *factory, void *object)
{
    factory->base.vtbl = &factory_vtbl;
    factory->object = object;
    atomic_init(&factory->references, 0);
}

hresult clr_factory_get(struct clr_factory *factory, const struct clr_guid *iid, void **out)
{
    return factory_query_interface(&factory->base, iid, out);
}
