/*
 * The whole of `record` and `env`, over a library that loads and does nothing. The commands are shell scripts, which
 * report in as a traced process would.
 */
#include "unit/record/record_support.h"

#include "record/record.h"
#include "support/test.h"

#include <dirent.h>

static struct capture said;
static bool have_compiler;

static int setup(void **state)
{
    char library[2 * PATH_MAX];

    if (folder_setup(state))
        return -1;
    write_text("lib.c", "int DllGetClassObject(void) { return 0; }", 0600);
    have_compiler = system("cc -shared -fPIC -o lib.so lib.c 2>/dev/null") == 0;
    snprintf(library, sizeof(library), "%s/lib.so", test_folder);
    setenv("SHADOWTRACE_LIBRARY", library, 1);
    setenv("TMPDIR", test_folder, 1);
    unsetenv("XDG_RUNTIME_DIR");
    unsetenv("CORECLR_ENABLE_PROFILING");
    unsetenv("SHADOWTRACE_OPTIONS");
    write_text("report",
               "status=$(printf '%s' \"$SHADOWTRACE_OPTIONS\" | sed "
               "'s/.*\"status\":\"\\([^\"]*\\)\".*/\\1/')\n"
               "printf '%s' \"$2\" > \"$status/$1.json\"\n",
               0700);
    return 0;
}

TEST_GROUP(setup, folder_teardown);

static int run(const struct cli_command *command, int argc, const char *const *words, FILE *out)
{
    char *argv[16] = {NULL}, *copies[16]; /* argv is put into a new order */
    int status;

    for (int i = 0; i < argc; i++)
        argv[i] = copies[i] = strdup(words[i]);
    capture_begin(&said);
    status = cli_run(command, argc, argv, out);
    capture_end(&said);
    for (int i = 0; i < argc; i++)
        free(copies[i]);
    return status;
}

#define RECORD(...) \
    run(&cmd_record, ELEMENTS(((const char *const[]){"record", __VA_ARGS__})), \
        (const char *const[]){"record", __VA_ARGS__}, stdout)

static int status_folders(void)
{
    DIR *dir = opendir(".");
    const struct dirent *entry;
    int count = 0;

    while ((entry = readdir(dir)) != NULL)
        count += !strncmp(entry->d_name, "shadowtrace-", 12);
    closedir(dir);
    return count;
}

static void needs_compiler(void)
{
    if (!have_compiler) {
        print_message("no C compiler here\n");
        skip();
    }
}

TEST(a_process_that_reported_in_is_summed_up)
{
    needs_compiler();
    assert_int_equal(
        RECORD(
            "--", "sh", "-c",
            "./report 12 '{\"executable\":\"/x/app\",\"state\":\"ended\",\"seen\":5,\"lost\":0}'; "
            "exit 17"),
        17);
    assert_string_equal(said.text, "shadowtrace: app (pid 12): 5 allocations, none lost\n");
    assert_int_equal(status_folders(), 0);
    assert_int_equal(
        RECORD("-q", "sh", "-c", "./report 12 '{\"executable\":\"/x/app\",\"state\":\"ended\"}'"),
        0);
    assert_string_equal(said.text, "");
}

TEST(the_folder_goes_though_a_process_records)
{
    needs_compiler();
    assert_int_equal(
        RECORD("sh", "-c", "./report $PPID '{\"executable\":\"/x/app\",\"state\":\"recording\"}'"),
        0);
    assert_says(said.text, "still running, and still recording");
    assert_int_equal(status_folders(), 0); /* nobody would read it any more */
}

TEST(no_report_at_all_is_said_even_when_quiet)
{
    needs_compiler();
    assert_int_equal(RECORD("--quiet", "sh", "-c", "exit 4"), 4);
    assert_says(said.text, "no process reported in: /");
    assert_says(said.text, "is a native program without .NET");
    assert_int_equal(lines_in(said.text), 1);
    assert_int_equal(status_folders(), 0);
}

TEST(the_options_arrive)
{
    needs_compiler();
    assert_int_equal(RECORD("--check", "1", "--only", "A.*", "-o", "log.ndjson", "sh", "-c",
                            "printf '%s' \"$SHADOWTRACE_OPTIONS\" >&2"),
                     0);
    assert_says(
        said.text,
        "{\"version\":1,\"check\":1,\"only\":[\"A.*\"],\"output\":\"/tmp/shadowtrace-test-");
    assert_says(said.text, "/log.ndjson\",\"status\":\"/tmp/shadowtrace-test-");
}

TEST(options_in_the_environment_are_replaced_with_a_note)
{
    needs_compiler();
    setenv("SHADOWTRACE_OPTIONS", "{\"version\":1,\"check\":77}", 1);
    assert_int_equal(RECORD("sh", "-c", "printf '%s' \"$SHADOWTRACE_OPTIONS\" >&2"), 0);
    assert_says(said.text, "note: SHADOWTRACE_OPTIONS of the environment is replaced");
    assert_null(strstr(said.text, "\"check\":77"));
    unsetenv("SHADOWTRACE_OPTIONS");
}

TEST(what_is_wrong_before_the_start_starts_nothing)
{
    assert_int_equal(RECORD("-q"), CLI_USAGE);
    assert_says(said.text, "expected a command to record");
    assert_int_equal(RECORD("--bogus", "touch", "started"), CLI_USAGE);
    assert_int_equal(RECORD("no-such-command"), 127);
    assert_says(said.text, "shadowtrace record: no-such-command: no such command\n");
    assert_int_equal(RECORD("./lib.c"), 126);
    assert_int_equal(RECORD("-o", "lib.c", "touch", "started"), CLI_IO);
    assert_says(said.text, "lib.c exists and will not be overwritten");
    assert_int_equal(RECORD("-o", "no/such/log", "touch", "started"), CLI_IO);
    setenv("CORECLR_ENABLE_PROFILING", "1", 1);
    setenv("CORECLR_PROFILER", "{1}", 1);
    assert_int_equal(RECORD("touch", "started"), CLI_USAGE);
    assert_says(said.text, "the environment sets another profiler");
    unsetenv("CORECLR_ENABLE_PROFILING");
    unsetenv("CORECLR_PROFILER");
    setenv("DOTNET_EnableDiagnostics", "0", 1);
    assert_int_equal(RECORD("touch", "started"), CLI_USAGE);
    unsetenv("DOTNET_EnableDiagnostics");
    setenv("TMPDIR", "/no/such", 1); /* falls back */
    assert_int_equal(access("started", F_OK), -1);
    assert_int_equal(status_folders(), 0);
    setenv("TMPDIR", test_folder, 1);
}

TEST(a_library_that_does_not_load_is_said_before_the_start)
{
    char library[2 * PATH_MAX];

    setenv("SHADOWTRACE_LIBRARY", "lib.c", 1);
    assert_int_equal(RECORD("touch", "started"), CLI_IO);
    assert_says(said.text, "cannot load ");
    assert_int_equal(lines_in(said.text), 1);
    assert_int_equal(access("started", F_OK), -1);
    snprintf(library, sizeof(library), "%s/lib.so", test_folder);
    setenv("SHADOWTRACE_LIBRARY", library, 1);
}

TEST(help_goes_to_standard_output)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(run(&cmd_record, 2, (const char *const[]){"record", "--help"}, out), CLI_OK);
    fclose(out);
    assert_says(text, " more options: shadowtrace help record --all\n");
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 80);
    free(text);
}

TEST(env_prints_and_starts_nothing)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(run(&cmd_env, 3, (const char *const[]){"env", "--format", "docker"}, out),
                     CLI_OK);
    assert_int_equal(run(&cmd_env, 2, (const char *const[]){"env", "ls"}, out), CLI_USAGE);
    assert_says(said.text, "unexpected argument \"ls\"");
    fclose(out);
    assert_says(text, "CORECLR_ENABLE_PROFILING=1\n");
    assert_says(text, "/lib.so\n");
    assert_null(strstr(text, "status"));
    free(text);
}
