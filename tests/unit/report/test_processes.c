/* What a header says of the process that it is of. */
#include "report/processes.h"

#include "support/test.h"

static json_t *header(const char *executable, const char *command)
{
    return json_pack("{s:s, s:o, s:i, s:I, s:s}", "executable", executable, "command",
                     json_loads(command, JSON_DECODE_ANY, NULL), "pid", 12, "clock",
                     (json_int_t)5000, "started", "2026-11-24T10:00:30Z");
}

static void expect_name(const char *executable, const char *command, const char *name)
{
    struct report_processes p = {NULL, 0, 0};
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
    struct report_processes p = {NULL, 0, 0};
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
    struct report_processes p = {NULL, 0, 0};
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
