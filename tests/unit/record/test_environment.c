/* The environment of COMMAND: what is set, printed, and what of the present one stands in the way. */
#include "unit/record/record_support.h"

#include "base/memory.h"
#include "record/environment.h"
#include "support/test.h"

static struct record_environment environment;
static struct record_why why;
static char *printed;

static int clean_environment(void **state)
{
    static const char *const names[] = {
        "CORECLR_ENABLE_PROFILING",  "CORECLR_PROFILER",
        "CORECLR_PROFILER_PATH",     "CORECLR_PROFILER_PATH_64",
        "DOTNET_ENABLE_PROFILING",   "DOTNET_PROFILER",
        "DOTNET_EnableDiagnostics",  "DOTNET_EnableDiagnostics_Profiler",
        "COMPlus_EnableDiagnostics", "COMPlus_EnableDiagnostics_Profiler",
        "SHADOWTRACE_OPTIONS",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        unsetenv(names[i]);
    why.text[0] = '\0';
    return 0;
}

static int end(void **state)
{
    free(printed);
    return folder_teardown(state);
}

TEST_EACH(clean_environment, NULL);
TEST_GROUP(folder_setup, end);

/* Is the JIT told to keep rich debug info, with these options? */
static bool is_rich(const struct options *options)
{
    bool rich = false;

    assert_int_equal(record_environment_make(&environment, "/lib.so", options, &why), CLI_OK);
    for (size_t i = 0; i < environment.count; i++)
        rich |= !strcmp(environment.set[i].name, "DOTNET_RichDebugInfo");
    record_environment_fini(&environment);
    return rich;
}

TEST(rich_debug_info_is_asked_for_where_it_helps)
{
    struct options o;

    options_init(&o);
    assert_true(is_rich(&o));
    o.no_rich = true;
    assert_false(is_rich(&o));
    options_init(&o);
    o.no_lines = true;
    assert_false(is_rich(&o));
    options_init(&o);
    o.no_inline = true;
    assert_false(is_rich(&o));
    options_init(&o);
    o.events = 1u << OPTIONS_GC;
    assert_false(is_rich(&o));
    options_init(&o);
    o.sample = 1u << 20; /* by the runtime, if it can */
    assert_false(is_rich(&o));
    o.sampler = OPTIONS_SAMPLER_EXACT;
    assert_true(is_rich(&o));
}

static void make(const char *library)
{
    char pattern[] = "it's \"%x\"\\", *patterns[] = {pattern};
    struct options o;

    options_init(&o);
    o.only.pattern = patterns;
    o.only.count = 1;
    assert_int_equal(record_environment_make(&environment, library, &o, &why), CLI_OK);
}

static const char *print(enum env_format format)
{
    size_t size = 0;
    FILE *out;

    free(printed);
    printed = NULL;
    out = open_memstream(&printed, &size);
    assert_int_equal(record_environment_print(&environment, format, out, &why), CLI_OK);
    fclose(out);
    return printed;
}

TEST(a_shell_gets_back_what_was_quoted)
{
    char got[4096];
    FILE *shell;

    make("/opt/a 'b'\n$HOME/`x`/lib.so");
    write_text("env.sh", print(ENV_SHELL), 0600);
    setenv("CORECLR_PROFILER_PATH_64", "/other.so", 1);
    shell = popen(
        ". ./env.sh; printf '%s|%s|%s|%s|%s' \"$CORECLR_ENABLE_PROFILING\" \"$CORECLR_PROFILER\" "
        "\"$CORECLR_PROFILER_PATH\" \"$SHADOWTRACE_OPTIONS\" "
        "\"${CORECLR_PROFILER_PATH_64-unset}\"; "
        "sh -c 'printf \"|%s\" \"$CORECLR_PROFILER\"'",
        "r");
    got[fread(got, 1, sizeof(got) - 1, shell)] = '\0';
    pclose(shell);
    assert_string_equal(got,
                        "1|" OPTIONS_CLSID "|/opt/a 'b'\n$HOME/`x`/lib.so|"
                        "{\"version\":1,\"only\":[\"it's \\\"%x\\\"\\\\\"]}|unset|" OPTIONS_CLSID);
    record_environment_fini(&environment);
}

TEST(other_launchers_have_their_own_quotes)
{
    make("/opt/lib.so");
    assert_says(print(ENV_DOCKER),
                "\nCORECLR_PROFILER_PATH=/opt/lib.so\n"
                "SHADOWTRACE_OPTIONS={\"version\":1,\"only\":[\"it's \\\"%x\\\"\\\\\"]}\n");
    assert_says(print(ENV_SYSTEMD),
                "\nEnvironment=\"SHADOWTRACE_OPTIONS={\\\"version\\\":1,\\\"only\\\":[\\\"it's "
                "\\\\\\\"%%x\\\\\\\"\\\\\\\\\\\"]}\"\n");
    assert_says(print(ENV_JSON), "{\"CORECLR_ENABLE_PROFILING\":\"1\",");
    assert_says(print(ENV_JSON), "\"SHADOWTRACE_OPTIONS\":\"{\\\"version\\\":1,");
    record_environment_fini(&environment);
    make("/opt/a\nb.so");
    assert_int_equal(record_environment_print(&environment, ENV_DOCKER, stderr, &why), CLI_IO);
    assert_says(why.text, "line break");
    assert_says(print(ENV_SYSTEMD), "/opt/a\\nb.so");
    assert_int_equal(record_environment_print(&environment, ENV_RUNSETTINGS, stderr, &why), CLI_IO);
    assert_says(why.text, "CORECLR_PROFILER_PATH contains a line break");
    assert_says(why.text, "a .runsettings file cannot hold");
    record_environment_fini(&environment);
}

TEST(a_run_of_tests_gets_it_in_xml)
{
    make("/opt/<a> & b/lib.so");
    assert_string_equal(
        print(ENV_RUNSETTINGS),
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<RunSettings>\n  <RunConfiguration>\n"
        "    <EnvironmentVariables>\n"
        "      <CORECLR_ENABLE_PROFILING>1</CORECLR_ENABLE_PROFILING>\n"
        "      <CORECLR_PROFILER>" OPTIONS_CLSID "</CORECLR_PROFILER>\n"
        "      <CORECLR_PROFILER_PATH>/opt/&lt;a&gt; &amp; b/lib.so</CORECLR_PROFILER_PATH>\n"
        "      <SHADOWTRACE_OPTIONS>{&quot;version&quot;:1,&quot;only&quot;:[&quot;it's "
        "\\&quot;%x\\&quot;\\\\&quot;]}</SHADOWTRACE_OPTIONS>\n"
                        "      <DOTNET_RichDebugInfo>1</DOTNET_RichDebugInfo>\n"
        "    </EnvironmentVariables>\n  </RunConfiguration>\n</RunSettings>\n");
    record_environment_fini(&environment);
}

TEST(a_process_takes_it_over)
{
    char **own, **list;

    make("/opt/lib.so");
    setenv("CORECLR_PROFILER_PATH_64", "/other.so", 1);
    setenv("SHADOWTRACE_OPTIONS", "old", 1);
    setenv("SHADOWTRACE_OPTION", "of another", 1);
    own = environ;
    list = record_environment_list(&environment);
    assert_non_null(list);
    environ = list;
    assert_string_equal(getenv("SHADOWTRACE_OPTION"), "of another");
    assert_string_equal(getenv("CORECLR_ENABLE_PROFILING"), "1");
    assert_string_equal(getenv("CORECLR_PROFILER_PATH"), "/opt/lib.so");
    assert_null(getenv("CORECLR_PROFILER_PATH_64"));
    assert_says(getenv("SHADOWTRACE_OPTIONS"), "{\"version\":1");
    assert_int_equal(record_environment_check(&why), CLI_OK); /* record inside record */
    environ = own;
    memory_free(list);
    unsetenv("SHADOWTRACE_OPTION");
    record_environment_fini(&environment);
}

TEST(tail_calls_are_kept_from_the_jit_with_inlining_or_alone)
{
    static const struct {
        bool no_inline, keep_tail_calls;
        const char *found;
    } cases[] = {{false, false, NULL}, {true, false, "=0"}, {false, true, "=0"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct options o;
        const char *at;

        options_init(&o);
        o.no_inline = cases[i].no_inline;
        o.keep_tail_calls = cases[i].keep_tail_calls;
        assert_int_equal(record_environment_make(&environment, "/lib.so", &o, &why), CLI_OK);
        at = strstr(print(ENV_DOCKER), "DOTNET_TailCallOpt");
        assert_int_equal(at != NULL, cases[i].found != NULL);
        if (at)
            assert_memory_equal(at + strlen("DOTNET_TailCallOpt"), "=0\n", 3);
        record_environment_fini(&environment);
        options_fini(&o);
    }
}

TEST(a_library_whose_path_is_not_text_is_refused)
{
    struct options o;

    options_init(&o);
    assert_int_equal(record_environment_make(&environment, "/opt/\xff.so", &o, &why), CLI_IO);
    assert_says(why.text, "is not UTF-8");
    record_environment_fini(&environment);
}

TEST(another_profiler_is_named)
{
    assert_int_equal(record_environment_check(&why), CLI_OK);
    setenv("CORECLR_PROFILER", "{846F5F1C-F9AE-4B07-969E-05C26BC060D8}", 1);
    assert_int_equal(record_environment_check(&why), CLI_OK); /* not enabled */
    setenv("CORECLR_ENABLE_PROFILING", "0", 1);
    assert_int_equal(record_environment_check(&why), CLI_OK);
    setenv("CORECLR_ENABLE_PROFILING", "1", 1);
    assert_int_equal(record_environment_check(&why), CLI_USAGE);
    assert_says(why.text, "CORECLR_PROFILER={846F5F1C-F9AE-4B07-969E-05C26BC060D8}");
    assert_says(why.text, "unset CORECLR_ENABLE_PROFILING");
    setenv("CORECLR_PROFILER_PATH", "/opt/datadog.so", 1);
    assert_int_equal(record_environment_check(&why), CLI_USAGE);
    assert_says(why.text, "(/opt/datadog.so)");
    setenv("CORECLR_PROFILER", "{7b6a1f52-3c0e-4e57-9d35-5ad0b3c5e4a1}", 1); /* ours */
    assert_int_equal(record_environment_check(&why), CLI_OK);
    setenv("DOTNET_ENABLE_PROFILING", "1", 1);
    setenv("DOTNET_PROFILER", "{1}", 1);
    assert_int_equal(record_environment_check(&why), CLI_USAGE);
    assert_says(why.text, "unset DOTNET_ENABLE_PROFILING");
}

/* Each row was tried on .NET 10: does a profiler load? */
TEST(diagnostics_switched_off_are_named)
{
    static const struct {
        const char *dotnet, *complus;
        int status;
    } rows[] = {
        {"0", NULL, CLI_USAGE},   {NULL, "0", CLI_USAGE},   {"00", NULL, CLI_USAGE},
        {"0x0", NULL, CLI_USAGE}, {" 0", NULL, CLI_USAGE},  {"", "0", CLI_USAGE},
        {"0", "1", CLI_USAGE},    {"0zz", NULL, CLI_USAGE}, {"1", "0", CLI_OK},
        {"", NULL, CLI_OK},       {"false", NULL, CLI_OK},  {"10", NULL, CLI_OK},
        {"zz", NULL, CLI_OK},     {"zz", "0", CLI_OK},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        static const char *const names[2][2] = {
            {"DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics"},
            {"DOTNET_EnableDiagnostics_Profiler", "COMPlus_EnableDiagnostics_Profiler"}};

        for (size_t which = 0; which < 2; which++) {
            clean_environment(NULL);
            if (rows[i].dotnet)
                setenv(names[which][0], rows[i].dotnet, 1);
            if (rows[i].complus)
                setenv(names[which][1], rows[i].complus, 1);
            assert_int_equal(record_environment_check(&why), rows[i].status);
            if (rows[i].status != CLI_OK)
                assert_says(why.text, names[which][rows[i].dotnet && *rows[i].dotnet ? 0 : 1]);
        }
    }
}

TEST(each_failed_allocation_is_reported_and_leaks_nothing)
{
    struct options o;
    int status = CLI_IO;

    options_init(&o);
    for (long n = 0; status != CLI_OK && n < 100; n++) {
        memory_fail_after(n);
        status = record_environment_make(&environment, "/lib.so", &o, &why);
        memory_fail_after(-1);
        record_environment_fini(&environment);
        assert_true(status == CLI_OK || status == CLI_IO);
    }
    assert_int_equal(status, CLI_OK);
}
