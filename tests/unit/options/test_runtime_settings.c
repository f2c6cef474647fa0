#include "options/runtime_settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/shadowtrace-settings-XXXXXX";

static void config(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int clear(void **state)
{
    static const char *const names[] = {"DOTNET_TieredPGO",           "COMPlus_TieredPGO",
                                        "DOTNET_TieredCompilation",   "DOTNET_TC_QuickJit",
                                        "DOTNET_TC_QuickJitForLoops", "DOTNET_ReadyToRun"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        unsetenv(names[i]);
    return 0;
}

static void everything_is_on_unless_something_says_otherwise(void **state)
{
    struct runtime_settings s;

    (void)state;
    runtime_settings_read(NULL, &s);
    assert_true(s.tiered && s.quick && s.quick_loops && s.pgo && s.ready_to_run);
    runtime_settings_read("/nowhere/x.runtimeconfig.json", &s);
    assert_true(s.tiered && s.quick && s.quick_loops && s.pgo && s.ready_to_run);
    config("{\"runtimeOptions\":{\"configProperties\":");
    runtime_settings_read(path, &s);
    assert_true(s.tiered && s.quick && s.quick_loops && s.pgo && s.ready_to_run);
}

static void the_programs_configuration_is_read(void **state)
{
    struct runtime_settings s;

    (void)state;
    config("{\"runtimeOptions\":{\"configProperties\":{\"System.Runtime.TieredPGO\":false,"
           "\"System.Runtime.TieredCompilation.QuickJitForLoops\":false}}}");
    runtime_settings_read(path, &s);
    assert_false(s.pgo);
    assert_false(s.quick_loops);
    assert_true(s.tiered && s.quick);
}

static void the_environment_goes_before_it(void **state)
{
    struct runtime_settings s;

    (void)state;
    config("{\"runtimeOptions\":{\"configProperties\":{\"System.Runtime.TieredPGO\":false}}}");
    setenv("DOTNET_TieredPGO", "1", 1);
    setenv("DOTNET_ReadyToRun", "0", 1);
    runtime_settings_read(path, &s);
    assert_true(s.pgo);
    assert_false(s.ready_to_run);
    setenv("DOTNET_TieredPGO", "", 1); /* as if it were not there */
    setenv("COMPlus_TieredPGO", "0x0", 1);
    runtime_settings_read(NULL, &s);
    assert_false(s.pgo);
    setenv("DOTNET_TieredPGO", "nonsense", 1);
    runtime_settings_read(NULL, &s);
    assert_true(s.pgo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(everything_is_on_unless_something_says_otherwise, clear),
        cmocka_unit_test_setup(the_programs_configuration_is_read, clear),
        cmocka_unit_test_setup(the_environment_goes_before_it, clear),
    };
    int fd = mkstemp(path), failed;

    if (fd < 0)
        return 1;
    close(fd);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
