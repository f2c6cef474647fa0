/* What in an environment keeps the library out of a process. */
#include "process/profiling.h"
#include "support/test.h"

#include <stdlib.h>

#define ENVIRONMENT(text) (&(const struct profiling_environment){text, sizeof(text) - 1})

TEST(a_variable_is_found_by_its_whole_name)
{
    const struct profiling_environment *e = ENVIRONMENT("TMP=no\0TMPDIR=/t=1\0EMPTY=\0LAST=x");

    assert_string_equal(profiling_variable(e, "TMPDIR"), "/t=1");
    assert_string_equal(profiling_variable(e, "EMPTY"), "");
    assert_string_equal(profiling_variable(e, "LAST"), "x");
    assert_null(profiling_variable(e, "TMPDI"));
    assert_null(profiling_variable(ENVIRONMENT(""), "TMPDIR"));
}

TEST(diagnostics_are_switched_off_by_a_number_as_the_runtime_reads_it)
{
    assert_string_equal(profiling_off(ENVIRONMENT("DOTNET_EnableDiagnostics=0")),
                        "DOTNET_EnableDiagnostics");
    assert_string_equal(profiling_off(ENVIRONMENT("COMPlus_EnableDiagnostics_Profiler=0x0")),
                        "COMPlus_EnableDiagnostics_Profiler");
    assert_null(
        profiling_off(ENVIRONMENT("DOTNET_EnableDiagnostics=1\0COMPlus_EnableDiagnostics=0")));
    assert_null(profiling_off(ENVIRONMENT("DOTNET_EnableDiagnostics_IPC=0")));
    assert_null(profiling_off(ENVIRONMENT("DOTNET_EnableDiagnostics=no")));
    assert_string_equal(profiling_no_diagnostics(ENVIRONMENT("DOTNET_EnableDiagnostics_IPC=0")),
                        "DOTNET_EnableDiagnostics_IPC");
    assert_null(profiling_no_diagnostics(ENVIRONMENT("DOTNET_EnableDiagnostics_Profiler=0")));
}

TEST(another_profiler_is_one_that_is_enabled_and_not_ours)
{
    struct profiling_other other;

    assert_true(profiling_another(
        ENVIRONMENT(
            "CORECLR_ENABLE_PROFILING=1\0CORECLR_PROFILER={1}\0CORECLR_PROFILER_PATH=/p.so"),
        &other));
    assert_string_equal(other.library, "/p.so");
    assert_string_equal(other.enable, "CORECLR_ENABLE_PROFILING");
    assert_true(
        profiling_another(ENVIRONMENT("DOTNET_ENABLE_PROFILING=1\0DOTNET_PROFILER={1}"), &other));
    assert_null(other.library);
    assert_false(
        profiling_another(ENVIRONMENT("CORECLR_ENABLE_PROFILING=0\0CORECLR_PROFILER={1}"), &other));
    assert_false(
        profiling_another(ENVIRONMENT("CORECLR_ENABLE_PROFILING=1\0"
                                      "CORECLR_PROFILER={7b6a1f52-3c0e-4e57-9d35-5ad0b3c5e4a1}"),
                          &other));
}

TEST(without_a_text_it_is_our_own)
{
    const struct profiling_environment own = {NULL, 0};

    setenv("DOTNET_EnableDiagnostics", "0", 1);
    assert_string_equal(profiling_off(&own), "DOTNET_EnableDiagnostics");
    unsetenv("DOTNET_EnableDiagnostics");
    assert_null(profiling_off(&own));
}
