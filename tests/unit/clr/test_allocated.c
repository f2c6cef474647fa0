/* The runtime's own functions, found by name in tables like its own, which are constants of this program. */
#include "clr/allocated.h"

#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <stdio.h>

static hresult known;

static hresult thread_id(struct clr_info *self, uintptr_t *out)
{
    (void)self;
    *out = known == S_OK ? 7 : 0;
    return known;
}

static const struct clr_info_vtbl vtbl = {.get_current_thread_id = thread_id};
static struct clr_info info = {&vtbl};

static int64_t exact(void)
{
    return 1234567;
}

static int64_t thread(void)
{
    return 567;
}

static int64_t handed(uint8_t precise)
{
    return precise ? -1 : 1240000;
}

static void other(void)
{
}

/* Rows as qcallentrypoints.cpp and ecalllist.h have them. */
static const struct {
    const char *name;
    void *function;
} calls[] = {
    {"GCInterface_GetTotalMemory", (void *)other},
    {"GCInterface_GetTotalAllocatedBytesPrecise", (void *)exact},
    {"GCInterface_", (void *)other},
};
static const struct {
    uintptr_t flags;
    void *function;
    const char *name;
} internal[] = {
    {0, (void *)other, "GetAllocated"},
    {0, (void *)thread, "GetAllocatedBytesForCurrentThread"},
    {0, (void *)handed, "GetTotalAllocatedBytes"},
    {0, (void *)handed, "GetTotalAllocatedBytesApproximate"},
    {0, (void *)other, "GetTotalAllocated"},
};
static const void *const tables[] = {calls, internal}; /* used: else the compiler drops them */

static struct clr_allocated find_in(uintptr_t address, unsigned major)
{
    const struct clr_runtime runtime = {.info = &info, .major = major, .low = address};
    struct clr_allocated found;

    clr_allocated_find(&runtime, &found);
    return found;
}

TEST(functions_are_found_by_name_and_called)
{
    struct clr_allocated found = find_in((uintptr_t)tables, 10);

    known = S_OK;
    assert_int_equal(clr_allocated_exact(&found), 1234567);
    assert_int_equal(clr_allocated_thread(&found), 567);
    assert_int_equal(clr_allocated_most(&found), 1240000);
    found = find_in((uintptr_t)tables, 8);
    assert_int_equal(clr_allocated_most(&found), 1240000);
}

TEST(a_thread_that_the_runtime_does_not_know_calls_nothing)
{
    struct clr_allocated found = find_in((uintptr_t)tables, 10);

    known = CORPROF_E_NOT_MANAGED_THREAD;
    assert_true(clr_allocated_exact(&found) == CLR_ALLOCATED_UNKNOWN);
    assert_int_equal(clr_allocated_most(&found), 1240000);
}

TEST(another_image_and_a_runtime_that_nobody_has_tried_have_none)
{
    struct clr_allocated found = find_in((uintptr_t)&snprintf, 10); /* of libc */

    known = S_OK;
    assert_true(clr_allocated_exact(&found) == CLR_ALLOCATED_UNKNOWN);
    assert_true(clr_allocated_thread(&found) == CLR_ALLOCATED_UNKNOWN);
    assert_true(clr_allocated_most(&found) == CLR_ALLOCATED_UNKNOWN);
    found = find_in((uintptr_t)tables, CLR_MAJOR_NEWEST + 1);
    assert_true(clr_allocated_exact(&found) == CLR_ALLOCATED_UNKNOWN);
}

static const char *const twice[] = {"GCInterface_GetTotalAllocatedBytesPrecise"};

TEST(a_name_without_a_function_beside_it_is_passed_over)
{
    struct clr_allocated found =
        find_in((uintptr_t)twice, 10); /* the tables are in the same image */

    known = S_OK;
    assert_int_equal(clr_allocated_exact(&found), 1234567);
}
