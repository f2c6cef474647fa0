/* Who called an async method that was resumed. */
#include "report/async.h"
#include "support/test.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START "System.Runtime.CompilerServices.AsyncTaskMethodBuilder.Start<T>(T&)"
enum { MAIN = 1, OTHER, WORK, START_METHOD, MOVE_NEXT, BOX };

static struct log_problems problems;
static struct log_defs defs;

static void define(const char *format, ...)
{
    struct log_parser parser;
    struct log_record record;
    struct log_line line = {.size = 0};
    char text[2000];
    va_list args;

    va_start(args, format);
    line.size = (size_t)vsnprintf(text, 1000, format, args);
    va_end(args);
    memset(text + line.size, '\n', LOG_LINE_PADDING);
    line.text = text;
    log_parser_init(&parser);
    assert_int_equal(log_parse(&parser, &line, &record), 0);
    assert_int_equal(log_defs_add(&defs, &record), 0);
    log_parser_fini(&parser);
}

static void node(int id, int parent, int method, int il)
{
    define("{\"kind\":\"node\",\"id\":%d,\"parent\":%d,\"method\":%d,\"il\":%d}", id, parent,
           method, il);
}

static int setup(void **state)
{
    static const char *const names[] = {"App.Main()",
                                        "App.Other()",
                                        "App.Work(System.Int32)",
                                        START,
                                        "App.<Work>d__1.MoveNext()",
                                        "X.Box.MoveNext()"};

    (void)state;
    log_problems_init(&problems);
    assert_int_equal(log_defs_init(&defs, &problems), 0);
    for (int i = 0; i < 6; i++)
        define("{\"kind\":\"method\",\"id\":%d,\"name\":\"%s\"}", i + 1, names[i]);
    node(1, 0, MAIN, 0);
    node(2, 0, BOX, 0);
    node(3, 2, MOVE_NEXT, 7); /* resumed */
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    log_defs_fini(&defs);
    log_problems_fini(&problems);
    return 0;
}

TEST_EACH(setup, teardown);

/* Whether the caller is known. */
static bool ask(struct report_caller *caller)
{
    struct report_async *a;
    uint32_t machine, path;
    bool known;

    assert_int_equal(report_async_new(&defs, &a), 0);
    assert_int_equal(log_defs_method(&defs, MOVE_NEXT, (struct log_place){0, 0}, &machine), 0);
    assert_int_equal(log_defs_path(&defs, 3, (struct log_place){0, 0}, &path), 0);
    assert_true(report_async_resumed(a, path));
    known = report_async_caller(a, machine, caller);
    report_async_free(a);
    return known;
}

static void begun(int first_id, int parent, int il)
{
    node(first_id, parent, WORK, il);
    node(first_id + 1, first_id, START_METHOD, 3);
    node(first_id + 2, first_id + 1, MOVE_NEXT, 4);
}

TEST(the_caller_of_a_resumed_method_is_that_of_its_beginning)
{
    struct report_caller caller;

    assert_false(ask(&caller)); /* no beginning in the log */
    begun(10, 1, 5);
    assert_true(ask(&caller));
    assert_string_equal(log_method(&defs, caller.method)->name, "App.Main()");
    assert_int_equal(caller.il, 5);
}

TEST(of_several_callers_none_is_named)
{
    struct report_caller caller;

    begun(10, 1, 5);
    begun(20, 1, 9);
    assert_false(ask(&caller));
}

TEST(a_beginning_that_cannot_be_told_counts_as_another)
{
    struct report_caller caller;

    begun(10, 1, 5);
    node(20, 1, START_METHOD, 3); /* the method as written is inlined in its caller */
    node(21, 20, MOVE_NEXT, 4);
    assert_false(ask(&caller));
}
