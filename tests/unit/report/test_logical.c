/* Call paths as they were written, where async methods were resumed. */
#include "report/logical.h"
#include "support/test.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVICES "System.Runtime.CompilerServices."
enum { MAIN = 1, OTHER, WORK, START, MOVE_NEXT, BOX, SET, ITERATOR, LEAF, METHODS = LEAF };
enum { WORK_BOX = 1, OBJECT };

static struct log_problems problems;
static struct log_defs defs;
static uint32_t *map;

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

/* Main calls Work (1 to 4); the box resumes it (11, 12), in it Leaf is called (13), below what another sets. */
static int setup(void **state)
{
    static const char *const names[METHODS] = {
        "App.Main()",
        "App.Other()",
        "App.Work(System.Int32)",
        SERVICES "AsyncMethodBuilderCore.Start<TStateMachine>(TStateMachine&)",
        "App.<Work>d__1.MoveNext()",
        SERVICES "AsyncTaskMethodBuilder<T>.AsyncStateMachineBox<App.<Work>d__1>.MoveNext()",
        "App.Set()",
        "App.<Iterate>d__2.MoveNext()",
        "App.Leaf()"};

    (void)state;
    log_problems_init(&problems);
    assert_int_equal(log_defs_init(&defs, &problems), 0);
    for (int i = 0; i < METHODS; i++)
        define("{\"kind\":\"method\",\"id\":%d,\"name\":\"%s\"}", i + 1, names[i]);
    define("{\"kind\":\"class\",\"id\":%d,\"name\":\"" SERVICES
           "AsyncTaskMethodBuilder<T>.AsyncStateMachineBox<App.<Work>d__1>\"}",
           WORK_BOX);
    define("{\"kind\":\"class\",\"id\":%d,\"name\":\"System.Object\"}", OBJECT);
    node(1, 0, MAIN, 0);
    node(10, 0, SET, 0);
    node(11, 10, BOX, 3);
    node(12, 11, MOVE_NEXT, 7);
    node(13, 12, LEAF, 9);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_free(map);
    map = NULL;
    log_defs_fini(&defs);
    log_problems_fini(&problems);
    return 0;
}

TEST_EACH(setup, teardown);

static void begun(int first_id, int parent, int il)
{
    node(first_id, parent, WORK, il);
    node(first_id + 1, first_id, START, 3);
    node(first_id + 2, first_id + 1, MOVE_NEXT, 4);
}

static uint32_t path_of(uint32_t id)
{
    uint32_t path;

    assert_int_equal(log_defs_path(&defs, id, (struct log_place){0, 0}, &path), 0);
    return path;
}

/* Nodes at which a box of Work, or what else waits, was made; 0 ends them. */
struct made {
    const uint32_t *nodes;
};

static uint32_t made_class = WORK_BOX;

static bool next(void *context, uint32_t *path, uint32_t *class_number)
{
    struct made *m = context;

    if (!*m->nodes)
        return false;
    *path = path_of(*m->nodes++);
    assert_int_equal(log_defs_class(&defs, made_class, (struct log_place){0, 0}, class_number), 0);
    return true;
}

/* The logical path of a node as "leaf:il outer:il ...". */
static const char *logical(uint32_t id, bool complete, const uint32_t *made)
{
    struct made boxes = {made};
    const struct report_logical_allocs allocs = {complete, complete, next, &boxes};
    static char text[1000];
    uint32_t path = path_of(id);

    if (!map)
        assert_int_equal(report_logical(&defs, &allocs, &map), 0);
    text[0] = '\0';
    for (path = map ? map[path] : path; path > LOG_PATH_LOST;
         path = log_call_path(&defs, path)->parent) {
        const struct log_call_path *p = log_call_path(&defs, path);
        size_t used = strlen(text);

        snprintf(text + used, sizeof(text) - used, "%s%s:%d", used ? " " : "",
                 log_method(&defs, p->method)->name, p->il < 0 ? -1 : p->il);
    }
    if (path == LOG_PATH_LOST)
        strcat(text, " lost");
    return text;
}

static const uint32_t nothing[] = {0};

TEST(a_resumed_method_is_below_what_called_it)
{
    begun(20, 1, 5);
    assert_string_equal(logical(13, true, nothing),
                        "App.Leaf():9 App.<Work>d__1.MoveNext():5 App.Main():0");
    assert_string_equal(logical(12, true, nothing), "App.<Work>d__1.MoveNext():5 App.Main():0");
    assert_string_equal(logical(22, true, nothing), "App.<Work>d__1.MoveNext():5 App.Main():0");
    assert_string_equal(logical(10, true, nothing), "App.Set():0");
}

TEST(without_a_beginning_its_callers_are_not_known)
{
    assert_string_equal(logical(13, true, nothing),
                        "App.Leaf():9 App.<Work>d__1.MoveNext():-1 lost");
}

TEST(a_log_that_leaves_allocations_out_may_lack_a_beginning)
{
    begun(20, 1, 5);
    assert_string_equal(logical(12, false, nothing), "App.<Work>d__1.MoveNext():-1 lost");
}

TEST(of_several_beginnings_what_they_have_in_common_is_kept)
{
    node(2, 1, OTHER, 1);
    begun(20, 1, 5);
    begun(30, 2, 6);
    assert_string_equal(logical(12, true, nothing),
                        "App.<Work>d__1.MoveNext():-1 (one of 2 callers):-1");
    assert_int_equal(report_logical_ends(&defs, map[path_of(12)]), 2);
    assert_int_equal(report_logical_ends(&defs, map[path_of(22)]), 0);
}

TEST(calls_on_two_lines_of_one_caller_keep_the_caller)
{
    begun(20, 1, 5);
    begun(30, 1, 6);
    assert_string_equal(logical(12, true, nothing), "App.<Work>d__1.MoveNext():-1 App.Main():0");
}

TEST(only_what_waited_can_have_been_resumed)
{
    static const uint32_t made[] = {22, 0};

    begun(20, 1, 5);
    begun(30, 1, 6);
    assert_string_equal(logical(12, true, made), "App.<Work>d__1.MoveNext():5 App.Main():0");
}

TEST(a_method_that_only_its_own_continuation_began_ends)
{
    begun(20, 12, 5);
    assert_string_equal(logical(12, true, nothing), "App.<Work>d__1.MoveNext():-1 lost");
    assert_string_equal(logical(22, true, nothing),
                        "App.<Work>d__1.MoveNext():5 App.<Work>d__1.MoveNext():-1 lost");
}

TEST(recursion_through_a_continuation_comes_to_an_end)
{
    begun(20, 13, 5);
    begun(30, 1, 8);
    node(41, 22, BOX, 3);
    node(42, 41, MOVE_NEXT, 7);
    begun(50, 42, 2);
    assert_string_equal(logical(12, true, nothing),
                        "App.<Work>d__1.MoveNext():-1 (one of 3 callers):-1");
    assert_string_equal(logical(42, true, nothing),
                        "App.<Work>d__1.MoveNext():-1 (one of 3 callers):-1");
    assert_string_equal(logical(32, true, nothing), "App.<Work>d__1.MoveNext():8 App.Main():0");
}

TEST(a_method_inlined_in_its_caller_is_its_caller_s)
{
    node(20, 1, START, 5);
    node(21, 20, MOVE_NEXT, 4);
    assert_string_equal(logical(12, true, nothing), "App.<Work>d__1.MoveNext():5 App.Main():0");
}

TEST(an_iterator_is_below_what_moves_it)
{
    begun(20, 1, 5);
    node(30, 10, ITERATOR, 4);
    define("{\"kind\":\"node\",\"id\":31,\"parent\":11,\"method\":%d,\"call\":\"unhooked\"}", SET);
    define("{\"kind\":\"node\",\"id\":32,\"parent\":31,\"method\":%d,\"call\":\"unhooked\"}",
           ITERATOR);
    assert_string_equal(logical(30, true, nothing), "App.<Iterate>d__2.MoveNext():4 App.Set():0");
    assert_int_equal(map[path_of(32)], path_of(32));
}

/* Runtime async: the body has the name of what returns the task; a thunk resumes it through a stub. */
TEST(what_the_runtime_suspends_is_below_its_caller)
{
    define("{\"kind\":\"method\",\"id\":20,\"name\":\"" SERVICES
           "AsyncHelpers.ThunkTaskCore.MoveNext<T>(T)\"}");
    define("{\"kind\":\"method\",\"id\":21,\"name\":\"App.Body()\"}");
    node(50, 1, 21, 6);
    define("{\"kind\":\"node\",\"id\":51,\"parent\":50,\"method\":21}");
    node(60, 10, 20, 3);
    define("{\"kind\":\"node\",\"id\":61,\"parent\":60,\"method\":21,\"call\":\"stub\"}");
    node(62, 61, LEAF, 9);
    node(63, 60, SET, 5); /* another call of the thunk's */
    assert_string_equal(logical(62, true, nothing), "App.Leaf():9 App.Body():6 App.Main():0");
    assert_string_equal(logical(51, true, nothing), "App.Body():6 App.Main():0");
    assert_int_equal(map[path_of(63)], path_of(63));
}

/* Without hooks in the framework; on .NET 11 the form that returns the task has none either. */
TEST(what_is_called_through_a_method_without_hooks_was_not_resumed)
{
    static const uint32_t suspended[] = {50, 0};

    made_class = 9;
    define("{\"kind\":\"class\",\"id\":9,\"name\":\"" SERVICES "Continuation\"}");
    define("{\"kind\":\"method\",\"id\":21,\"name\":\"App.Body()\"}");
    define("{\"kind\":\"node\",\"id\":50,\"parent\":1,\"method\":21,\"call\":\"unhooked\"}");
    define(
        "{\"kind\":\"node\",\"id\":61,\"parent\":0,\"begun\":50,\"method\":21,\"call\":\"stub\"}");
    node(62, 61, LEAF, 9);
    assert_string_equal(logical(50, true, suspended), "App.Body():-1 App.Main():0");
    assert_string_equal(logical(62, true, suspended), "App.Leaf():9 App.Body():-1 App.Main():0");
    made_class = WORK_BOX;
}

/* Optimised, without hooks in the framework: Work is inlined in Main, and what begins it has no frame. */
static void begun_inlined(void)
{
    define("{\"kind\":\"node\",\"id\":70,\"parent\":1,\"method\":%d,\"call\":\"unhooked\"}",
           MOVE_NEXT);
    node(71, 70, LEAF, 9);
}

TEST(where_its_box_is_made_a_method_was_not_resumed)
{
    static const uint32_t waits[] = {70, 0};

    begun_inlined();
    assert_string_equal(logical(71, true, waits),
                        "App.Leaf():9 App.<Work>d__1.MoveNext():-1 App.Main():0");
}

TEST(whose_resumptions_name_their_beginnings_was_not_resumed_elsewhere)
{
    begun_inlined();
    define("{\"kind\":\"node\",\"id\":80,\"parent\":0,\"begun\":70,\"method\":%d,"
           "\"call\":\"unhooked\"}",
           MOVE_NEXT);
    node(81, 80, LEAF, 12);
    assert_string_equal(logical(71, false, nothing),
                        "App.Leaf():9 App.<Work>d__1.MoveNext():-1 App.Main():0");
    assert_string_equal(logical(81, false, nothing),
                        "App.Leaf():12 App.<Work>d__1.MoveNext():-1 App.Main():0");
}

TEST(what_never_waits_was_never_resumed)
{
    begun_inlined();
    assert_string_equal(logical(71, true, nothing),
                        "App.Leaf():9 App.<Work>d__1.MoveNext():-1 App.Main():0");
}

/* As above, begun on two lines; the log says which of them it is. */
TEST(what_the_runtime_resumes_is_where_the_log_says)
{
    define("{\"kind\":\"method\",\"id\":20,\"name\":\"" SERVICES
           "AsyncHelpers.ThunkTaskCore.MoveNext<T>(T)\"}");
    define("{\"kind\":\"method\",\"id\":21,\"name\":\"App.Body()\"}");
    node(2, 1, OTHER, 1);
    node(50, 1, 21, 6);
    node(51, 2, 21, 8);
    node(60, 10, 20, 3);
    define(
        "{\"kind\":\"node\",\"id\":61,\"parent\":60,\"begun\":51,\"method\":21,\"call\":\"stub\"}");
    node(62, 61, LEAF, 9);
    assert_string_equal(logical(62, true, nothing),
                        "App.Leaf():9 App.Body():8 App.Other():1 App.Main():0");
}

/* Work is begun on two lines; the log says that here it goes on with that of node 30. */
TEST(a_beginning_that_the_log_tells_is_taken)
{
    uint32_t plain;

    node(2, 1, OTHER, 1);
    begun(20, 1, 5);
    begun(30, 2, 6);
    define("{\"kind\":\"node\",\"id\":40,\"parent\":11,\"begun\":32,\"method\":%d,\"il\":7}",
           MOVE_NEXT);
    node(41, 40, LEAF, 9);
    assert_string_equal(logical(41, false, nothing),
                        "App.Leaf():9 App.<Work>d__1.MoveNext():6 App.Other():1 App.Main():0");
    assert_string_equal(logical(13, true, nothing),
                        "App.Leaf():9 App.<Work>d__1.MoveNext():-1 (one of 2 callers):-1");
    /* by the machine's stack it is the path of one that goes on, wherever it was begun */
    plain = path_of(41);
    assert_int_equal(log_defs_plain(&defs, &plain), 0);
    assert_int_equal(plain, path_of(13));
    assert_int_equal(log_defs_plain(&defs, &plain), 0);
    assert_int_equal(plain, path_of(13));
}

/* The node is that of the method as written: its machine was made there, or inlined. What is begun goes on, too. */
TEST(a_beginning_may_be_the_call_of_the_method_as_written)
{
    begun(20, 1, 5);
    begun(24, 1, 8);
    define("{\"kind\":\"node\",\"id\":40,\"parent\":11,\"begun\":20,\"method\":%d,\"il\":7}",
           MOVE_NEXT);
    begun(50, 40, 12);
    define("{\"kind\":\"node\",\"id\":60,\"parent\":11,\"begun\":52,\"method\":%d,\"il\":7}",
           MOVE_NEXT);
    node(61, 60, LEAF, 9);
    assert_string_equal(
        logical(61, true, nothing),
        "App.Leaf():9 App.<Work>d__1.MoveNext():12 App.<Work>d__1.MoveNext():5 App.Main():0");
}

/* A log says anything. */
TEST(a_beginning_without_the_method_is_none)
{
    begun(20, 1, 5);
    define("{\"kind\":\"node\",\"id\":40,\"parent\":11,\"begun\":1,\"method\":%d,\"il\":7}",
           MOVE_NEXT);
    define("{\"kind\":\"node\",\"id\":41,\"parent\":11,\"begun\":777,\"method\":%d,\"il\":7}",
           MOVE_NEXT);
    define("{\"kind\":\"node\",\"id\":42,\"parent\":10,\"begun\":22,\"method\":%d,\"il\":7}", LEAF);
    assert_string_equal(logical(40, true, nothing), "App.<Work>d__1.MoveNext():5 App.Main():0");
    assert_string_equal(logical(41, true, nothing), "App.<Work>d__1.MoveNext():5 App.Main():0");
    assert_string_equal(logical(42, true, nothing), "App.Leaf():7 App.Set():0");
}

TEST(without_async_methods_paths_stay)
{
    log_defs_fini(&defs);
    assert_int_equal(log_defs_init(&defs, &problems), 0);
    define("{\"kind\":\"method\",\"id\":1,\"name\":\"App.Main()\"}");
    node(1, 0, MAIN, 0);
    assert_string_equal(logical(1, true, nothing), "App.Main():0");
    assert_null(map);
}
