/* The status folder, and the summary made of it. */
#include "unit/record/record_support.h"

#include "base/memory.h"
#include "command/command.h"
#include "process/status.h"
#include "process/status_folder.h"
#include "record/summary.h"
#include "support/test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static struct record_processes processes;
static struct record_why why;
static char folder[PATH_MAX];

static int setup(void **state)
{
    if (folder_setup(state))
        return -1;
    unsetenv("XDG_RUNTIME_DIR");
    setenv("TMPDIR", test_folder, 1);
    return status_folder_create(NULL, folder, &why);
}

static int teardown(void **state)
{
    unsetenv("TMPDIR");
    return folder_teardown(state);
}

TEST_EACH(setup, teardown);

static void put(long pid, const char *json)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof(path), "%s/%ld.json", folder, pid);
    write_text(path, json, 0600);
}

static const char *summary(bool quiet)
{
    static char text[8192];
    FILE *out;

    assert_int_equal(record_status_read(folder, &processes), 0);
    memset(text, 0, sizeof(text));
    out = fmemopen(text, sizeof(text) - 1, "w");
    record_summary_print(out, &processes, test_folder, quiet);
    fclose(out);
    record_status_free(&processes);
    return text;
}

TEST(the_folder_is_ours_alone)
{
    char expected[2 * PATH_MAX], runtime[2 * PATH_MAX];
    struct stat st;

    snprintf(expected, sizeof(expected), "%s/shadowtrace-%u-", test_folder, (unsigned)geteuid());
    assert_ptr_equal(strstr(folder, expected), folder);
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    snprintf(runtime, sizeof(runtime), "%s/run", test_folder);
    assert_int_equal(mkdir(runtime, 0755), 0);
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    assert_int_equal(status_folder_create(NULL, folder, &why), CLI_OK);
    assert_null(strstr(folder, "/run/")); /* others may look into it */
    assert_int_equal(chmod(runtime, 0700), 0);
    assert_int_equal(status_folder_create(NULL, folder, &why), CLI_OK);
    assert_non_null(strstr(folder, "/run/"));
    setenv("XDG_RUNTIME_DIR", "relative", 1);
    setenv("TMPDIR", "/no/such", 1);
    assert_int_equal(status_folder_create(NULL, folder, &why), CLI_OK);
    assert_true(strstr(folder, "/dev/shm/shadowtrace-") == folder ||
                strstr(folder, "/tmp/shadowtrace-") == folder);
    status_folder_remove(folder);
    assert_int_equal(access(folder, F_OK), -1);
}

TEST(what_processes_wrote_is_read)
{
    const struct record_process *p;

    put(20, "{\"pid\":20,\"executable\":\"/usr/share/dotnet/"
            "dotnet\",\"command\":[\"dotnet\",\"exec\",\"/sdk/"
            "csc.dll\",\"-x\"],\"state\":\"ended\",\"log\":\"/tmp/"
            "a.ndjson\",\"seen\":168234,\"written\":168234,"
            "\"lost\":2,\"bytes\":12345678,\"runtime\":\"10.0.12\"}");
    put(3, "{\"pid\":3,\"executable\":\"/x/my\\u0007app\",\"command\":[\"./"
           "myapp\"],\"state\":\"declined\","
           "\"reason\":\"a\\nb\\u001b[31m\"}");
    write_text("other", "", 0600);
    put(100, "{\"state\":\"ended\",");
    assert_int_equal(record_status_read(folder, &processes), 0);
    assert_int_equal(processes.count, 3);
    p = &processes.process[0];
    assert_int_equal(p->pid, 3);
    assert_int_equal(p->state, RECORD_STATE_DECLINED);
    assert_string_equal(p->name, "my?app");
    assert_string_equal(p->reason, "a?b?[31m");
    assert_false(p->counted || p->sized);
    assert_null(p->log);
    p = &processes.process[1];
    assert_string_equal(p->name, "csc");
    assert_int_equal(p->seen, 168234);
    assert_int_equal(p->lost, 2);
    assert_int_equal(p->bytes, 12345678);
    assert_string_equal(p->runtime, "10.0.12");
    assert_int_equal(processes.process[2].state, RECORD_STATE_DAMAGED);
    assert_int_equal(record_status_count(&processes, RECORD_STATE_ENDED), 1);
    record_status_free(&processes);
}

TEST(only_whole_files_count)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof(path), "%s/17.json.tmp", folder);
    write_text(path, "{", 0600);
    snprintf(path, sizeof(path), "%s/.17.json", folder);
    write_text(path, "{", 0600);
    snprintf(path, sizeof(path), "%s/99999999999999999999.json", folder);
    write_text(path, "{", 0600);
    assert_int_equal(record_status_read(folder, &processes), 0);
    assert_int_equal(processes.count, 0);
    record_status_free(&processes);
    assert_int_equal(record_status_read("/no/such", &processes), -ENOENT);
    record_status_free(&processes);
}

TEST(a_process_is_named_as_its_user_would)
{
    static const struct {
        const char *json, *name;
    } rows[] = {
        {"{\"executable\":\"/usr/bin/dotnet\",\"command\":[\"dotnet\",\"App.DLL\"]}", "App"},
        {"{\"executable\":\"/usr/bin/dotnet\",\"command\":[\"dotnet\",\"build\",\"-c\",\"x\"]}",
         "dotnet build"},
        {"{\"executable\":\"/usr/bin/dotnet\",\"command\":[\"dotnet\",\"--info\"]}", "dotnet"},
        {"{\"executable\":\"/usr/bin/dotnet\"}", "dotnet"},
        {"{\"executable\":\"/x/app\",\"command\":[\"app\",\"some.dll\"]}", "app"},
        {"{\"command\":[\"/y/tool\"]}", "tool"},
        {"{\"command\":[7]}", "?"},
        {"[]", "?"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        put(1, rows[i].json);
        assert_int_equal(record_status_read(folder, &processes), 0);
        assert_string_equal(processes.process[0].name, rows[i].name);
        record_status_free(&processes);
    }
}

TEST(a_process_that_is_gone_records_no_more)
{
    char json[64] = "{\"state\":\"recording\"}";
    pid_t child = fork();
    siginfo_t info;

    if (child == 0) {
        pause();
        _exit(0);
    }
    put(child, json);
    assert_int_equal(record_status_read(folder, &processes), 0);
    assert_int_equal(processes.process[0].state, RECORD_STATE_RECORDING);
    record_status_free(&processes);
    assert_says(summary(false), "still running, and still recording");
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0); /* now a zombie */
    for (int reaped = 0; reaped < 2; reaped++) {
        assert_int_equal(record_status_read(folder, &processes), 0);
        assert_int_equal(processes.process[0].state, RECORD_STATE_LOST);
        record_status_free(&processes);
        waitpid(child, NULL, 0);
    }
    assert_says(summary(false), "killed, or crashed, while recording");
    put(child, "{\"state\":\"recording\",\"unhandled\":{\"type\":\"N.Odd\",\"message\":\"a\\u001b"
               "b\\nc\"}}");
    assert_says(summary(false), ": ended by an unhandled exception; its log can be read up to "
                                "there\nshadowtrace:     N.Odd: a?b?c\n");
}

TEST(the_summary_says_how_to_read_each_log)
{
    char json[3 * PATH_MAX], line[2 * PATH_MAX];
    const char *text;

    write_text("a log.ndjson", "0123456789", 0600);
    snprintf(json, sizeof(json),
             "{\"executable\":\"/x/app\",\"state\":\"ended\",\"log\":\"%s/a "
             "log.ndjson\",\"seen\":1234567,"
             "\"lost\":0,\"bytes\":3456789,\"runtime\":\"9.0.1\"}",
             test_folder);
    put(1, json);
    put(2, "{\"executable\":\"/x/b\",\"state\":\"ended\",\"log\":\"/nowhere/"
           "b\",\"seen\":1,\"lost\":1}");
    text = summary(false);
    assert_says(text,
                "shadowtrace: app (.NET 9.0.1, pid 1): 1,234,567 allocations, 3.5 MB, none lost\n"
                "shadowtrace:     shadowtrace report 'a log.ndjson'    (10 bytes)\n");
    assert_says(text, "shadowtrace:     shadowtrace browse 'a log.ndjson'    (on this terminal)\n"
                      "shadowtrace:     shadowtrace html 'a log.ndjson' -o 'a log.html'    (a page "
                      "for a browser)\n");
    assert_says(text, "shadowtrace: b (pid 2): 1 allocation, 1 of them LOST\n");
    assert_null(strstr(text, "/nowhere"));
    snprintf(line, sizeof(line), "report '%s/a log", test_folder);
    assert_string_equal(summary(true), "");
    assert_int_equal(record_status_read(folder, &processes), 0);
    memset(json, 0, sizeof(json));
    FILE *out = fmemopen(json, sizeof(json) - 1, "w");
    record_summary_print(out, &processes, "/elsewhere", false);
    fclose(out);
    record_status_free(&processes);
    assert_says(json, line);
}

TEST(the_end_of_a_log_says_what_a_status_file_cannot)
{
    static const char end[] = "{\"kind\":\"alloc\"}\n{\"kind\":\"end\",\"seen\":70,\"written\":70,"
                              "\"lost\":0,\"bytes\":9}\n";
    char json[2 * PATH_MAX];

    snprintf(json, sizeof(json),
             "{\"executable\":\"/x/app\",\"state\":\"recording\",\"seen\":3,\"log\":\"%s/a\"}",
             test_folder);
    put(4194999, json); /* there is no such process */
    write_text("a", end, 0600);
    assert_says(summary(false), "app (pid 4194999): 70 allocations, 9 bytes, none lost\n");
    write_text("a", "{\"kind\":\"alloc\"}\n{\"kind\":\"end\",\"se", 0600);
    assert_says(summary(false), "killed, or crashed");
}

TEST(the_summary_tells_of_other_losses)
{
    put(1, "{\"executable\":\"/x/app\",\"state\":\"ended\",\"seen\":1,\"lost\":0,"
           "\"values\":{\"posted\":5,\"lost\":3},\"events\":{\"calls\":{\"seen\":140370,"
           "\"written\":139559,\"lost\":811,\"lost_by\":{\"ring_full\":811}},\"jit\":{\"seen\":2,"
           "\"written\":2,\"lost\":0}}}");
    assert_string_equal(summary(false), "shadowtrace: app (pid 1): 1 allocation, none lost\n"
                                        "shadowtrace:     LOST of calls: 811 of 140370 (a larger "
                                        "--call-buffer keeps more); of values: 3 of 8\n");
}

TEST(the_summary_says_that_a_runtime_is_not_verified)
{
    put(1, "{\"executable\":\"/x/app\",\"state\":\"ended\",\"seen\":1,\"lost\":0,"
           "\"runtime\":\"11.0.0\",\"unverified\":true}");
    assert_says(summary(false),
                "shadowtrace: app (.NET 11.0.0, pid 1): 1 allocation, none lost\n"
                "shadowtrace:     this version of .NET is not verified: stacks are compared with "
                "--check\n");
    put(1, "{\"executable\":\"/x/app\",\"state\":\"ended\",\"seen\":1,\"lost\":0,"
           "\"runtime\":\"10.0.12\"}");
    assert_null(strstr(summary(false), "verified"));
}

TEST(quiet_still_says_what_should_have_been_recorded)
{
    put(1, "{\"executable\":\"/x/a\",\"state\":\"declined\",\"reason\":\"below .NET 8\"}");
    assert_says(summary(true), "shadowtrace: a (pid 1): not recorded: below .NET 8\n");
    put(2, "{\"executable\":\"/x/b\",\"state\":\"ended\",\"seen\":1,\"lost\":0}");
    assert_string_equal(summary(true), ""); /* another one was meant */
    assert_says(summary(false), "not recorded: below .NET 8");
    put(3, "{\"executable\":\"/x/c\",\"state\":\"failed\",\"seen\":5,\"lost\":0,\"reason\":\"disk "
           "full\"}");
    assert_string_equal(
        summary(true),
        "shadowtrace: c (pid 3): 5 allocations, none lost: recording failed: disk full\n");
    put(4, "{\"executable\":\"/x/d\",\"state\":\"failed\"}");
    assert_says(summary(true), "d (pid 4): recording failed: it does not say why\n");
}

TEST(each_failed_allocation_leaks_nothing)
{
    int err = -ENOMEM;

    put(1, "{\"executable\":\"/usr/bin/"
           "dotnet\",\"command\":[\"dotnet\",\"a.dll\"],\"state\":\"ended\",\"log\":\"/x\","
           "\"reason\":\"r\",\"runtime\":\"10\"}");
    put(2, "{}");
    for (long n = 0; n < 30; n++) {
        memory_fail_after(n);
        err = record_status_read(folder, &processes);
        memory_fail_after(-1);
        record_status_free(&processes);
        assert_true(err == 0 || err == -ENOMEM);
    }
    assert_int_equal(err, 0);
}

TEST(methods_without_hooks_are_told)
{
    const char *text;

    put(7,
        "{\"pid\":7,\"executable\":\"/x/app\",\"state\":\"ended\",\"log\":\"/x/log\","
        "\"seen\":5,\"written\":5,\"lost\":0,\"bytes\":9,\"beginnings_lost\":2,\"spared\":1234}");
    text = summary(false);
    assert_non_null(strstr(text, "2 paths on which async methods began to wait are lost"));
    assert_non_null(strstr(text, "1,234 methods are not hooked, and in no stack"));
    put(7, "{\"pid\":7,\"executable\":\"/x/app\",\"state\":\"ended\",\"log\":\"/x/log\","
           "\"seen\":5,\"written\":5,\"lost\":0,\"bytes\":9}");
    assert_null(strstr(summary(false), "hooked"));
}

TEST(what_is_off_on_this_runtime_is_said_in_one_line_each)
{
    put(7, "{\"pid\":7,\"executable\":\"/x/app\",\"state\":\"ended\",\"seen\":5,"
           "\"lost\":0,\"off\":{\"hooks\":9,\"beginnings\":1,\"allocated\":1}}");
    assert_says(summary(false),
                "shadowtrace:     call stacks are OFF: the hooks' registers are unexpected on this "
                "version of .NET; record with --capture snapshot\n"
                "shadowtrace:     the beginnings of async methods are OFF: the layout of objects "
                "is unknown on this version of .NET; logical stacks may end early\n"
                "shadowtrace:     the bytes allocated before sampling are OFF: unknown on this "
                "version of .NET\n");
    put(7, "{\"pid\":7,\"executable\":\"/x/app\",\"state\":\"ended\",\"seen\":5,\"lost\":0}");
    assert_null(strstr(summary(false), "OFF"));
}

/* As one that another user put in their place, by a mount: root would read what only root may. */
TEST(what_is_not_a_file_of_the_owner_of_the_folder_is_not_read)
{
    static const char text[] = "{\"state\":\"ended\",\"log\":\"/a\",\"seen\":1}";
    char path[PATH_MAX + 32];

    put(30, text);
    put(31, text);
    snprintf(path, sizeof(path), "%s/32.json", folder);
    assert_int_equal(symlink("30.json", path), 0);
    snprintf(path, sizeof(path), "%s/33.json", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof(path), "%s/31.json", folder);
    if (chown(path, 12345, (gid_t)-1))
        skip(); /* only root can give a file away */
    assert_int_equal(record_status_read(folder, &processes), 0);
    assert_int_equal(processes.count, 4);
    assert_int_equal(processes.process[0].state, RECORD_STATE_ENDED);
    for (int i = 1; i < 4; i++)
        assert_int_equal(processes.process[i].state, RECORD_STATE_DAMAGED);
    record_status_free(&processes);
}
