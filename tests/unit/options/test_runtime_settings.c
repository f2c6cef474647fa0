#include "options/runtime_settings.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

TEST_EACH(clear, NULL);
TEST_GROUP(make_file, remove_file);

TEST(everything_is_on_unless_something_says_otherwise)
{
    struct runtime_settings s;

    runtime_settings_read(NULL, &s);
    assert_true(s.tiered && s.quick && s.quick_loops && s.pgo && s.ready_to_run);
    runtime_settings_read("/nowhere/x.runtimeconfig.json", &s);
    assert_true(s.tiered && s.quick && s.quick_loops && s.pgo && s.ready_to_run);
    config("{\"runtimeOptions\":{\"configProperties\":");
    runtime_settings_read(path, &s);
    assert_true(s.tiered && s.quick && s.quick_loops && s.pgo && s.ready_to_run);
}

TEST(the_programs_configuration_is_read)
{
    struct runtime_settings s;

    config("{\"runtimeOptions\":{\"configProperties\":{\"System.Runtime.TieredPGO\":false,"
           "\"System.Runtime.TieredCompilation.QuickJitForLoops\":false}}}");
    runtime_settings_read(path, &s);
    assert_false(s.pgo);
    assert_false(s.quick_loops);
    assert_true(s.tiered && s.quick);
}

TEST(the_environment_goes_before_it)
{
    struct runtime_settings s;

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
