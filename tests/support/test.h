/*
 * support/test.h - cmocka with tests that register themselves. A unit test is a file of these:
 *
 *   TEST(what_it_proves) { ... }
 *   TEST(what_it_proves, setup, teardown) { ... }  with a separate fixture, in *state
 *   TEST_EACH(setup, teardown)                     around each test without a separate fixture
 *   TEST_GROUP(setup, teardown)                    once around them all
 *
 * The program runs them in the order in which they stand; with an argument, those whose names match
 * it (`build/unit/log/test_fate 'a_log_that_*'`).
 */
#ifndef SHADOWTRACE_TESTS_SUPPORT_TEST_H
#define SHADOWTRACE_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

/* One test of this program, in static memory: some programs count what is allocated. */
struct test_entry {
    struct CMUnitTest test;
    int line;
    struct test_entry *next;
};

void test_add(struct test_entry *entry);
void test_each(CMFixtureFunction setup, CMFixtureFunction teardown);
void test_group(CMFixtureFunction setup, CMFixtureFunction teardown);

/* Runs the tests whose names match `pattern` (NULL: all). Returns: how many failed. */
int test_run(const char *pattern);

/* Whether a thread of this process sleeps. */
bool test_sleeps(pid_t thread);

#define TEST(...) TEST_WITH(__VA_ARGS__, NULL, NULL, )
#define TEST_WITH(name, setup, teardown, ...) \
    static void name(void **state); \
    __attribute__((constructor)) static void name##_is_a_test(void) \
    { \
        static struct test_entry entry = {.test = {#name, name, setup, teardown, NULL}, \
                                          .line = __LINE__}; \
        test_add(&entry); \
    } \
    static void name(void **state __attribute__((unused)))

#define TEST_EACH(setup, teardown) \
    __attribute__((constructor)) static void test_each_of_file(void) \
    { \
        test_each(setup, teardown); \
    } \
    static void test_each_of_file(void)

#define TEST_GROUP(setup, teardown) \
    __attribute__((constructor)) static void test_group_of_file(void) \
    { \
        test_group(setup, teardown); \
    } \
    static void test_group_of_file(void)

#endif
