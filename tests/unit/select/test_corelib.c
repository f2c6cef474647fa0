/* What CoreLib must have on a runtime, and what it is when it has not. */
#include "select/corelib.h"

#include "unit/metadata/fake_info.h"
#include "support/test.h"

static hresult module_info(struct clr_info *self, uintptr_t id, const uint8_t **base, uint32_t max,
                           uint32_t *length, clr_wchar *name, uintptr_t *assembly, uint32_t *flags)
{
    (void)self, (void)id, (void)base, (void)max, (void)name, (void)assembly;
    *length = 0;
    *flags = COR_PRF_MODULE_DYNAMIC; /* its metadata is the runtime's own */
    return S_OK;
}

static hresult find_type(struct clr_metadata *self, const clr_wchar *name, uint32_t enclosing,
                         uint32_t *token)
{
    (void)self, (void)name, (void)enclosing;
    *token = 0x02000002;
    return S_OK;
}

/* RuntimeTypeHandle without InternalAllocNoChecks. */
static hresult enum_none(struct clr_metadata *self, void **enumerator, uint32_t owner,
                         const clr_wchar *name, uint32_t *methods, uint32_t max, uint32_t *count)
{
    (void)self, (void)enumerator, (void)owner, (void)name, (void)methods, (void)max;
    *count = 0;
    return S_OK;
}

static void enum_end(struct clr_metadata *self, void *enumerator)
{
    (void)self, (void)enumerator;
}

static uint64_t unpatched(unsigned major)
{
    struct clr_info_vtbl info_vtbl = fake_info_vtbl;
    struct clr_metadata_vtbl vtbl = fake_metadata_vtbl;
    struct fake_metadata import = {.base = {&vtbl}};
    struct fake_module modules[] = {{1, u"/CoreLib.dll", u"CoreLib", 0, &import}, {.id = 0}};
    struct fake_info info = {.base = {&info_vtbl}, .modules = modules};
    const struct clr_runtime runtime = {.info = &info.base, .major = major};
    struct corelib corelib = {0};

    info_vtbl.get_module_info2 = module_info;
    vtbl.find_type_def_by_name = find_type;
    vtbl.enum_methods_with_name = enum_none;
    vtbl.close_enum = enum_end;
    corelib_loaded(&corelib, &runtime, 1);
    assert_int_equal(corelib.module_id, 1);
    return load_relaxed(&corelib.unpatched);
}

TEST(a_fast_path_that_is_not_where_it_was_is_counted_from_the_first_runtime_on_that_has_it)
{
    assert_int_equal(unpatched(8), 0);
    assert_int_equal(unpatched(9), 0);
    assert_int_equal(unpatched(10), 1);
    assert_int_equal(unpatched(CLR_MAJOR_NEWEST + 1), 1);
}
