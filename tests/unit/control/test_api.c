/* What the library exports to the program itself. */
#include "support/test.h"

#include "control/internal.h"

#include <shadowtrace/shadowtrace.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LOG "/logs/app.ndjson"

static struct control control;
static char marks[4][5000];
static size_t mark_count;

static int mark(void *context, const char *text)
{
    assert_ptr_equal(context, marks);
    strcpy(marks[mark_count++], text);
    return 0;
}

static int mark_behind(void *context, const char *text)
{
    mark(context, text);
    return -ETIMEDOUT;
}

static const char *log_of(void *context)
{
    (void)context;
    return LOG;
}

static long thread_here(void *context)
{
    (void)context;
    return 7;
}

static int begin(void **state)
{
    (void)state;
    control = (struct control){.running = true,
                               .config = {.context = marks,
                                          .mark = mark,
                                          .mark_behind = mark_behind,
                                          .log = log_of,
                                          .thread = thread_here}};
    mark_count = 0;
    api_serve(&control);
    return 0;
}

static int end(void **state)
{
    (void)state;
    api_serve(NULL);
    return 0;
}

TEST_EACH(begin, end);

TEST(a_scope_is_two_marks_that_no_other_has)
{
    long first = sst_scope_begin("load"), second = sst_scope_begin("load");
    char text[40];

    assert_true(first > 0 && second > first);
    snprintf(text, sizeof(text), "load #%ld begin", first);
    assert_string_equal(marks[0], text);
    assert_int_equal(sst_scope_end(first, "load"), -ETIMEDOUT); /* as the log says */
    snprintf(text, sizeof(text), "load #%ld end", first);
    assert_string_equal(marks[2], text);
    assert_int_equal(sst_thread(), 7);
}

TEST(names_that_are_none_are_refused)
{
    char longest[4002];

    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(sst_scope_begin(longest), -EINVAL);
    longest[4000] = '\0';
    assert_true(sst_scope_begin(longest) > 0);
    assert_int_equal(sst_scope_begin(""), -EINVAL);
    assert_int_equal(sst_scope_begin(NULL), -EINVAL);
    assert_int_equal(sst_scope_begin("\xff"), -EINVAL);
    assert_int_equal(sst_scope_end(0, "load"), -EINVAL);
    assert_int_equal(mark_count, 1);
}

TEST(of_a_path_there_is_as_much_as_fits)
{
    char path[sizeof(LOG)] = "", part[5];

    assert_int_equal(sst_log(NULL, 0), strlen(LOG));
    assert_int_equal(sst_log(path, sizeof(path)), strlen(LOG));
    assert_string_equal(path, LOG);
    assert_int_equal(sst_log(part, sizeof(part)), strlen(LOG));
    assert_string_equal(part, "/log");
    assert_int_equal(sst_log(NULL, 1), -EINVAL);
}

TEST(nobody_answers_where_nothing_is_recorded)
{
    control.running = false;
    assert_int_equal(sst_scope_begin("load"), -ENODEV);
    assert_int_equal(sst_scope_end(1, "load"), -ENODEV);
    assert_int_equal(sst_thread(), -ENODEV);
    assert_int_equal(sst_log(NULL, 0), -ENODEV);
    assert_int_equal(mark_count, 0);
}
