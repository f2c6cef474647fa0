/* Logs of a tree of processes: each below the one that started it, as far as the logs say. */
#include "base/atomics.h"
#include "support/test.h"
#include "unit/cli/command_support.h"
#include "unit/readers/process_logs.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static char *folder;

static int setup(void **state)
{
    (void)state;
    folder = process_logs_make();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    process_logs_remove(folder);
    return 0;
}

TEST_EACH(setup, teardown);

/* From the column of processes on, the beginning of each line. */
static void expect_column(const char *text, const char *const lines[], size_t count)
{
    const char *head = strstr(text, "process "), *line = head;
    size_t column;

    assert_non_null(head);
    while (head > text && head[-1] != '\n')
        head--;
    column = (size_t)(line - head);
    for (size_t i = 0; i < count; i++) {
        head = strchr(head, '\n');
        assert_non_null(head++);
        if (strncmp(head + column, lines[i], strlen(lines[i])) != 0)
            fail_msg("row %zu is not \"%s\":\n%s", i, lines[i], text);
    }
}

TEST(each_process_stands_below_the_one_that_started_it)
{
    static const char *const lines[] = {"Test (pid 10) ", "  s?h > Host (pid 12) ",
                                        "    Build (pid 14) ", "Old (pid 13) ", "Alone (pid 15) "};
    struct ran ran = RUN(&cmd_report, "report", "--view=processes", folder);

    assert_int_equal(ran.status, CLI_OK);
    expect_column(ran.out, lines, COUNT_OF(lines));
    assert_null(strchr(ran.out, '\033'));
    free(ran.out);
    ran = RUN(&cmd_report, "report", folder);
    expect_column(strstr(ran.out, "\nProcesses\n"), lines, COUNT_OF(lines));
    free(ran.out);
}

TEST(further_commands_name_the_folder_as_it_was_typed)
{
    struct ran ran = RUN(&cmd_report, "report", folder);
    char more[200];

    snprintf(more, sizeof(more), "  shadowtrace report --view tree %s\n", folder);
    assert_non_null(strstr(ran.out, more));
    free(ran.out);
    ran = RUN(&cmd_report, "report", "--process=Host", folder); /* not all of them */
    snprintf(more, sizeof(more), "  shadowtrace report --view tree %s/12.ndjson\n", folder);
    assert_non_null(strstr(ran.out, more));
    free(ran.out);
}

TEST(of_some_those_that_they_come_from_are_shown)
{
    static const char *const lines[] = {"Test (pid 10) ", "  s?h > Host (pid 12) ",
                                        "    Build (pid 14) "};
    struct ran ran = RUN(&cmd_report, "report", "--view=processes", "--top=1", folder);

    expect_column(ran.out, lines, COUNT_OF(lines));
    assert_null(strstr(ran.out, "Old"));
    free(ran.out);
}

TEST(a_thread_of_several_processes_is_told_with_its_own)
{
    struct ran ran = RUN(&cmd_report, "report", "--view=threads", folder);
    json_t *json, *row;
    size_t i;

    assert_non_null(strstr(ran.out, "1 (os 12) of Host (pid 12)\n"));
    assert_non_null(strstr(ran.out, "1 (os 13) of Old (pid 13)\n"));
    free(ran.out);
    ran = RUN(&cmd_report, "report", "--view=threads", "--format=json", folder);
    json = json_loads(ran.out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(json, "rows")), 4);
    json_array_foreach(json_object_get(json, "rows"), i, row)
    {
        assert_int_equal(json_integer_value(json_object_get(row, "pid")),
                         json_integer_value(json_object_get(row, "os")));
        assert_non_null(json_string_value(json_object_get(row, "process")));
    }
    json_decref(json);
    free(ran.out);
    ran = RUN(&cmd_report, "report", "--view=threads", "--process=Host", folder);
    assert_null(strstr(ran.out, " of Host"));
    free(ran.out);
}

TEST(json_says_who_started_it_and_through_whom)
{
    struct ran ran = RUN(&cmd_report, "report", "--view=processes", "--format=json", folder);
    json_t *json = json_loads(ran.out, 0, NULL), *row;
    size_t i;

    assert_non_null(json);
    assert_int_equal(json_array_size(json_object_get(json, "rows")), 4); /* those that made some */
    json_array_foreach(json_object_get(json, "rows"), i, row)
    {
        json_int_t pid = json_integer_value(json_object_get(row, "pid"));
        const json_t *parent = json_object_get(row, "parent"),
                     *through = json_object_get(row, "through");

        assert_int_equal(json_integer_value(parent), pid == 12 ? 10 : pid == 14 ? 12 : 0);
        assert_true(!parent == (pid == 13 || pid == 15));
        assert_int_equal(json_array_size(through), pid == 12);
        if (pid == 12)
            assert_string_equal(json_string_value(json_array_get(through, 0)), "s\033h");
    }
    json_decref(json);
    free(ran.out);
}
