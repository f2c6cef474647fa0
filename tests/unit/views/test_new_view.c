/* A view is a row of VIEWS (views/view.h): new_view.h adds one, and nothing else knows of it. */
#include "unit/views/new_view/new_view.h"

#include "unit/cli/command_support.h"

#include "support/test.h"
#include "unit/browse/browse_screen.h"

#define LOG FIXTURES "small.ndjson"

static const char *rows_of(struct ran *ran)
{
    assert_int_equal(ran->status, CLI_OK);
    return ran->out;
}

TEST(it_is_in_text)
{
    struct ran ran = RUN(&cmd_report, "report", "--view=kinds", "--no-lines", LOG);

    assert_non_null(strstr(rows_of(&ran), "byte[]"));
    assert_non_null(strstr(ran.out, "Shown: 3 kinds (all)."));
    free(ran.out);
}

TEST(it_is_in_json)
{
    json_t *json = printed(RUN(&cmd_report, "report", "--view=kinds", "--format=json", LOG));
    json_t *types = printed(RUN(&cmd_report, "report", "--view=types", "--format=json", LOG));

    assert_string_equal(json_string_value(json_object_get(json, "view")), "kinds");
    assert_string_equal(json_string_value(json_object_get(json, "by")), "kind");
    assert_true(json_equal(json_object_get(json, "rows"), json_object_get(types, "rows")));
    assert_int_equal(json_array_size(json_object_get(json, "rows")), 3);
    json_decref(json);
    json_decref(types);
}

TEST(it_is_in_help)
{
    struct ran ran = RUN(NULL, "shadowtrace", "help", "report");

    assert_non_null(strstr(rows_of(&ran), "kinds:"));
    free(ran.out);
    ran = RUN(&cmd_report, "report", "--view=colour", LOG);
    assert_non_null(strstr(ran.err, "kinds"));
    free(ran.out);
}

TEST(it_is_in_browse, NULL, close_logs)
{
    open_logs(LOG, NULL, NULL);
    screen_of(120, 24);
    expect_on_screen(" K kinds");
    press("K");
    expect_on_screen("[K kinds]");
    expect_on_screen("byte[]");
    assert_int_equal(browse.tabs[browse.tab]->list.count, 3);
}
