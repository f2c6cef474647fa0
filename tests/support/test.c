/* The tests of a program, and how they are run. */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_TESTS 200

static struct test_entry *entries;
static CMFixtureFunction each_setup, each_teardown, group_setup, group_teardown;

/* Sorted by line: compilers keep no order among constructors. */
void test_add(struct test_entry *entry)
{
    struct test_entry **at = &entries;

    while (*at && (*at)->line < entry->line)
        at = &(*at)->next;
    entry->next = *at;
    *at = entry;
}

void test_each(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    each_setup = setup;
    each_teardown = teardown;
}

void test_group(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    group_setup = setup;
    group_teardown = teardown;
}

/* As a terminal starts a program: nohup, a build service or a shell may have had these ignored. */
static void signals_as_usual(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        signal(numbers[i], SIG_DFL);
}

int test_run(const char *pattern)
{
    static struct CMUnitTest tests[MAX_TESTS];
    size_t count = 0;

    signals_as_usual();
    for (struct test_entry *entry = entries; entry; entry = entry->next) {
        struct CMUnitTest *test = &tests[count++];

        if (count > MAX_TESTS)
            abort();
        *test = entry->test;
        if (!test->setup_func && !test->teardown_func) {
            test->setup_func = each_setup;
            test->teardown_func = each_teardown;
        }
    }
    if (pattern)
        cmocka_set_test_filter(pattern);
    return _cmocka_run_group_tests("tests", tests, count, group_setup, group_teardown);
}

bool test_sleeps(pid_t thread)
{
    char path[64], state = '?';
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
    file = fopen(path, "re");
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    if (file)
        fclose(file);
    return state == 'S';
}
