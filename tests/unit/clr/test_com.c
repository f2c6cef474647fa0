#include "clr/com.h"
#include "support/test.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/guids.h>

/* An object that admits to one interface besides IUnknown and counts its references. */
static struct {
    struct clr_unknown base;
    const struct clr_guid *accepts;
    uint32_t references;
    unsigned asked;
    hresult refusal;
} object;

static hresult object_query_interface(struct clr_unknown *self, const struct clr_guid *iid,
                                      void **out)
{
    object.asked++;
    if (!clr_guid_equal(iid, &clr_iid_unknown) &&
        !(object.accepts && clr_guid_equal(iid, object.accepts))) {
        *out = self; /* what a careless object may leave behind */
        return object.refusal;
    }
    object.references++;
    *out = self;
    return S_OK;
}

static uint32_t object_add_ref(struct clr_unknown *self)
{
    (void)self;
    return ++object.references;
}

static uint32_t object_release(struct clr_unknown *self)
{
    (void)self;
    return --object.references;
}

static int setup(void **state)
{
    static const struct clr_unknown_vtbl vtbl = {
        .query_interface = object_query_interface,
        .add_ref = object_add_ref,
        .release = object_release,
    };

    (void)state;
    object.base.vtbl = &vtbl;
    object.accepts = NULL;
    object.references = 1;
    object.asked = 0;
    object.refusal = E_NOINTERFACE;
    return 0;
}

TEST_EACH(setup, NULL);

TEST(the_newest_info_is_found)
{
    struct clr_info *info;
    int version;

    object.accepts = &clr_iid_info15;
    assert_int_equal(clr_info_query(&object, &info, &version), 0);
    assert_int_equal(version, 15);
    assert_int_equal(object.asked, 1); /* newest first */
    assert_ptr_equal(info, &object);
    assert_int_equal(object.references, 2);
    clr_release(info);
    assert_int_equal(object.references, 1);
}

TEST(the_oldest_usable_info_is_version_3)
{
    struct clr_info *info;
    int version;

    object.accepts = &clr_iid_info3;
    assert_int_equal(clr_info_query(&object, &info, &version), 0);
    assert_int_equal(version, 3);

    object.accepts = &clr_iid_info2;
    assert_int_equal(clr_info_query(&object, &info, &version), -ENOTSUP);
    assert_null(info);
    assert_int_equal(version, 0);
}

TEST(a_refused_query_leaves_null)
{
    void *out = &object;

    assert_int_equal(clr_query(&object, &clr_iid_info, &out), E_NOINTERFACE);
    assert_null(out);
    assert_int_equal(object.references, 1);
}

TEST(releasing_nothing_is_allowed)
{
    clr_release(NULL);
}

TEST(callback_ids_tell_their_version)
{
    assert_int_equal(clr_callback_version(&clr_iid_unknown), 0);
    assert_int_equal(clr_callback_version(&clr_iid_callback), 1);
    assert_int_equal(clr_callback_version(&clr_iid_callback2), 2);
    assert_int_equal(clr_callback_version(&clr_iid_callback11), 11);
    assert_int_equal(clr_callback_version(&clr_iid_class_factory), -1);
    assert_int_equal(clr_callback_version(&clr_iid_info11), -1);
}

TEST(the_factory_hands_out_the_one_object)
{
    struct clr_factory factory;
    struct clr_class_factory *held;
    void *first, *second;

    /* The runtime's order: the factory, the object, release of the factory. */
    object.accepts = &clr_iid_callback2;
    clr_factory_init(&factory, &object);
    assert_int_equal(clr_factory_get(&factory, &clr_iid_class_factory, &first), S_OK);
    held = first;
    assert_int_equal(held->vtbl->lock_server(held, 1), S_OK);
    assert_int_equal(held->vtbl->create_instance(held, NULL, &clr_iid_callback2, &first), S_OK);
    assert_int_equal(held->vtbl->create_instance(held, NULL, &clr_iid_callback2, &second), S_OK);
    assert_int_equal(held->vtbl->release(held), 0);
    assert_ptr_equal(first, &object);
    assert_ptr_equal(second, &object);
    assert_int_equal(object.references, 3);
}

TEST(the_factory_counts_its_references)
{
    struct clr_factory factory;
    struct clr_class_factory *held;
    void *out;

    clr_factory_init(&factory, &object);
    assert_int_equal(clr_factory_get(&factory, &clr_iid_unknown, &out), S_OK);
    held = out;
    assert_int_equal(held->vtbl->query_interface(held, &clr_iid_class_factory, &out), S_OK);
    assert_ptr_equal(out, held);
    assert_int_equal(held->vtbl->add_ref(held), 3);
    assert_int_equal(held->vtbl->release(held), 2);
    assert_int_equal(held->vtbl->release(held), 1);
    assert_int_equal(held->vtbl->release(held), 0);
}

TEST(the_factory_refuses_what_com_forbids)
{
    struct clr_factory factory;
    struct clr_class_factory *f = &factory.base;
    void *out = &object;

    clr_factory_init(&factory, &object);
    assert_int_equal(clr_factory_get(&factory, &clr_iid_callback, &out), E_NOINTERFACE);
    assert_null(out);
    assert_int_equal(clr_factory_get(&factory, NULL, &out), E_POINTER);
    assert_int_equal(clr_factory_get(&factory, &clr_iid_unknown, NULL), E_POINTER);

    out = &object;
    assert_int_equal(f->vtbl->create_instance(f, &object.base, &clr_iid_unknown, &out),
                     CLASS_E_NOAGGREGATION);
    assert_null(out);
    assert_int_equal(f->vtbl->create_instance(f, NULL, &clr_iid_callback2, &out), E_NOINTERFACE);
    assert_null(out);
    assert_int_equal(f->vtbl->create_instance(f, NULL, &clr_iid_unknown, NULL), E_POINTER);
    assert_int_equal(f->vtbl->create_instance(f, NULL, NULL, &out), E_POINTER);
    assert_int_equal(object.references, 1);
}
