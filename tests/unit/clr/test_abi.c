/* The headers against slots, ids and values written by hand, and against the whole ABI (layout.h, compiled). */
#include "support/test.h"

#include "layout.h"

#include <stddef.h>
#include <stdint.h>

#include <shadowtrace/clr/callback.h>
#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/guids.h>
#include <shadowtrace/clr/info.h>
#include <shadowtrace/clr/metadata.h>
#include <shadowtrace/clr/structs.h>

#define SLOT(table, method) (offsetof(struct table, method) / sizeof(void *))

TEST(callback_methods_sit_in_their_slots)
{
    assert_int_equal(SLOT(clr_callback_vtbl, initialize), 3);
    assert_int_equal(SLOT(clr_callback_vtbl, shutdown), 4);
    assert_int_equal(SLOT(clr_callback_vtbl, thread_destroyed), 30);
    assert_int_equal(SLOT(clr_callback_vtbl, object_allocated), 50);
    assert_int_equal(SLOT(clr_callback_vtbl, exception_thrown), 54);
    assert_int_equal(SLOT(clr_callback_vtbl, exception_catcher_leave), 67);
    assert_int_equal(SLOT(clr_callback_vtbl, profiler_detach_succeeded), 82);
    assert_int_equal(SLOT(clr_callback_vtbl, load_as_notification_only), 97);
    assert_int_equal(sizeof(struct clr_callback_vtbl) / sizeof(void *), CLR_CALLBACK_SLOTS);
}

TEST(info_and_metadata_methods_sit_in_their_slots)
{
    assert_int_equal(SLOT(clr_info_vtbl, do_stack_snapshot), 36);
    assert_int_equal(SLOT(clr_info_vtbl, get_function_info2), 38);
    assert_int_equal(SLOT(clr_info_vtbl, set_function_id_mapper2), 59);
    assert_int_equal(SLOT(clr_info_vtbl, set_enter_leave_function_hooks3), 61);
    assert_int_equal(SLOT(clr_info_vtbl, set_event_mask2), 82);
    assert_int_equal(SLOT(clr_info_vtbl, enumerate_gc_heap_objects), 114);
    assert_int_equal(sizeof(struct clr_info_vtbl) / sizeof(void *), CLR_INFO_SLOTS);
    assert_int_equal(SLOT(clr_metadata_vtbl, get_type_def_props), 12);
    assert_int_equal(SLOT(clr_metadata_vtbl, get_method_props), 30);
    assert_int_equal(SLOT(clr_metadata_vtbl, get_nested_class_props), 62);
    assert_int_equal(SLOT(clr_metadata_assembly_vtbl, get_assembly_from_scope), 12);
}

TEST(unsigned_masks_stay_unsigned)
{
    assert_true(COR_PRF_DISABLE_ALL_NGEN_IMAGES > 0);
    assert_true((uintptr_t)PROFILER_GLOBAL_MODULE == 0xFFFFFFFFu); /* zero-extended */
    assert_true(CORPROF_E_STACKSNAPSHOT_UNSAFE < 0);
    assert_int_equal(clr_token_type(0x06000123), mdtMethodDef);
    assert_int_equal(clr_token_row(0x06000123), 0x123);
}

TEST(ids_are_equal_to_themselves_only)
{
    struct clr_guid other = clr_iid_info15;

    assert_true(clr_guid_equal(&other, &clr_iid_info15));
    assert_false(clr_guid_equal(&clr_iid_info14, &clr_iid_info15));
    for (size_t i = 0; i < sizeof(other); i++) {
        ((uint8_t *)&other)[i] ^= 0x80;
        assert_false(clr_guid_equal(&other, &clr_iid_info15));
        ((uint8_t *)&other)[i] ^= 0x80;
    }
}

TEST(a_guid_lies_in_memory_as_the_runtime_reads_it)
{
    /* 176FBED1-A55C-4796-98CA-A9DA0EF883E7, ICorProfilerCallback */
    static const uint8_t bytes[16] = {0xD1, 0xBE, 0x6F, 0x17, 0x5C, 0xA5, 0x96, 0x47,
                                      0x98, 0xCA, 0xA9, 0xDA, 0x0E, 0xF8, 0x83, 0xE7};

    assert_memory_equal(&clr_iid_callback, bytes, sizeof(bytes));
}
