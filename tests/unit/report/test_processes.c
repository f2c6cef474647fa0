/* What a header says of the process that it is of. */
#include "report/processes.h"

#include "base/memory.h"
#include "support/test.h"

#include <errno.h>

static json_t *header(const char *executable, const char *command)
{
    return json_pack("{s:s, s:o, s:i, s:I, s:s}", "executable", executable, "command",
                     json_loads(command, JSON_DECODE_ANY, NULL), "pid", 12, "clock",
                     (json_int_t)5000, "started", "2026-11-24T10:00:30Z");
}

static void expect_name(const char *executable, const char *command, const char *name)
{
    struct report_processes p = {.process = NULL};
    json_t *one = header(executable, command);

    assert_int_equal(report_processes_begin(&p, one), 0);
    assert_string_equal(p.process[0].name, name);
    report_processes_fini(&p);
    json_decref(one);
}

TEST(a_process_is_called_as_its_program_without_its_extension)
{
    expect_name("/usr/bin/dotnet", "[\"dotnet\", \"/app/Shop.dll\", \"--fast\"]", "Shop");
    expect_name("/app/Shop", "[\"./Shop\"]", "Shop");
    expect_name("/usr/bin/dotnet", "[\"dotnet\", \"build\"]", "dotnet");
    expect_name("/usr/bin/dotnet", "[\"dotnet\", \"exec\", \"/sdk/MSBuild.DLL\"]", "MSBuild");
    expect_name("/app/Shop.Worker", "[]", "Shop.Worker");
}

TEST(its_command_line_is_kept_in_words)
{
    struct report_processes p = {.process = NULL};
    json_t *one = header("/app/Shop", "[\"./Shop\", \"\", \"a b\"]"),
           *none = header("/app/Shop", "[]"), *odd = header("/app/Shop", "[1, null]");

    assert_int_equal(report_processes_begin(&p, one), 0);
    assert_int_equal(report_processes_begin(&p, none), 0);
    assert_int_equal(report_processes_begin(&p, odd), 0);
    assert_string_equal(p.process[0].command, "./Shop  a b");
    assert_null(p.process[1].command);
    assert_string_equal(p.process[2].command, " ");
    assert_string_equal(p.process[0].started, "2026-11-24T10:00:30Z");
    assert_int_equal(p.process[0].pid, 12);
    report_processes_fini(&p);
    json_decref(one);
    json_decref(none);
    json_decref(odd);
}

TEST(the_first_is_the_one_whose_clock_was_the_lowest)
{
    struct report_processes p = {.process = NULL};
    json_t *one = header("/app/Shop", "[]"), *empty = json_object();

    assert_int_equal(report_processes_first(&p), 0);
    report_processes_end(&p, 7); /* of none */
    assert_int_equal(report_processes_begin(&p, empty), 0);
    assert_int_equal(report_processes_begin(&p, one), 0);
    report_processes_end(&p, 300);
    json_object_set_new(one, "clock", json_integer(4000));
    assert_int_equal(report_processes_begin(&p, one), 0);
    assert_int_equal(report_processes_first(&p), 4000);
    assert_int_equal(p.process[1].ran, 300);
    assert_int_equal(p.process[2].ran, 0);
    assert_null(p.process[0].name);
    report_processes_fini(&p);
    json_decref(one);
    json_decref(empty);
}

TEST(a_pattern_means_a_program_with_or_without_its_extension)
{
    json_t *one = header("/usr/bin/dotnet", "[\"dotnet\", \"/app/Shop.Worker.dll\"]");

    assert_true(report_process_is(one, "Shop.Worker"));
    assert_true(report_process_is(one, "Shop.Worker.dll"));
    assert_true(report_process_is(one, "Shop.*"));
    assert_false(report_process_is(one, "Shop"));
    assert_false(report_process_is(one, "worker"));
    assert_false(report_process_is(NULL, "*"));
    json_decref(one);
}

/* A header of a process: its number, its birth, and the text of its parents; NULL: an older log. */
static void begin(struct report_processes *p, int pid, int born, const char *parents)
{
    json_t *one = header("/app/Shop", "[]");

    json_object_set_new(one, "pid", json_integer(pid));
    if (parents) {
        json_object_set_new(one, "born", json_integer(born));
        json_object_set_new(one, "parents", json_loads(parents, JSON_DECODE_ANY, NULL));
    }
    assert_int_equal(report_processes_begin(p, one), 0);
    json_decref(one);
}

TEST(the_parent_is_the_nearest_that_has_a_log)
{
    struct report_processes p = {.process = NULL};
    size_t between;

    begin(&p, 10, 100, "[{\"pid\": 1, \"born\": 1, \"name\": \"init\"}]");
    begin(&p, 12, 105,
          "[{\"pid\": 11, \"born\": 103, \"name\": \"sh\"}, {\"pid\": 10, \"born\": 100},"
          " {\"pid\": 1, \"born\": 1}]");
    begin(&p, 13, 106, "[{\"pid\": 12, \"born\": 105}, {\"pid\": 10, \"born\": 100}]");
    assert_int_equal(report_process_parent(&p, 0, &between), REPORT_PROCESS_NONE);
    assert_int_equal(report_process_parent(&p, 1, &between), 0);
    assert_int_equal(between, 1);
    assert_string_equal(p.process[1].parents[0].name, "sh");
    assert_null(p.process[1].parents[1].name);
    assert_int_equal(report_process_parent(&p, 2, &between), 1);
    assert_int_equal(between, 0);
    report_processes_fini(&p);
}

TEST(a_number_that_is_used_again_is_another_process)
{
    struct report_processes p = {.process = NULL};
    size_t between;

    begin(&p, 10, 100, "[]");
    begin(&p, 12, 500, "[{\"pid\": 10, \"born\": 400}]");
    begin(&p, 10, 100, "[]"); /* attached to twice: the first of its logs */
    begin(&p, 14, 200, "[{\"pid\": 10, \"born\": 100}]");
    assert_int_equal(report_process_parent(&p, 1, &between), REPORT_PROCESS_NONE);
    assert_int_equal(report_process_parent(&p, 3, &between), 0);
    report_processes_fini(&p);
}

TEST(older_logs_and_odd_ones_have_no_parent)
{
    struct report_processes p = {.process = NULL};
    size_t between;

    begin(&p, 10, 100, NULL);
    begin(&p, 12, 105, "[{\"pid\": \"10\", \"born\": 100}, {\"pid\": 12, \"born\": 105}]");
    begin(&p, 13, 105, "{\"pid\": 10}");
    begin(&p, 14, 107, "[{\"pid\": 14, \"born\": 107}, 7, {\"pid\": 12, \"born\": 105}]");
    for (size_t i = 0; i < p.count; i++)
        assert_int_equal(report_process_parent(&p, i, &between), REPORT_PROCESS_NONE);
    report_processes_fini(&p);
}

TEST(memory_that_runs_out_at_any_point_is_said)
{
    json_t *one = header("/app/Shop", "[\"./Shop\"]");
    int err = -ENOMEM;

    json_object_set_new(one, "born", json_integer(100));
    json_object_set_new(one, "parents",
                        json_loads("[{\"pid\": 10, \"born\": 9, \"name\": \"sh\"}]", 0, NULL));
    for (long n = 0; err; n++) {
        struct report_processes p = {.process = NULL};
        struct forest forest = {NULL, 0};

        memory_fail_after(n);
        err = report_processes_begin(&p, one);
        if (!err)
            err = report_processes_forest(&p, NULL, 0, &forest);
        memory_fail_after(-1);
        assert_int_equal(err, err ? -ENOMEM : 0);
        assert_true(n < 100);
        report_processes_fini(&p);
        forest_fini(&forest);
    }
    json_decref(one);
}
