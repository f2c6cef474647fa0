#include "names/names.h"

#include "fake_info.h"

#include "base/clock.h"
#include "names/internal.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

/* As long as nothing was unloaded, a record's number is its log id. */
static const struct names_class *class_by_id(const struct names *of, uint32_t id)
{
    bool listed;

    return names_class_at(of, id, &listed);
}

enum { APP = 0x2000, WIDGET = 0x100, NS_PER_MS = 1000000 };

static const struct fake_type types[] = {{0x02000002, u"App.Widget", 0}, {0, NULL, 0}};
static struct fake_metadata metadata = {.base = {&fake_metadata_vtbl}, .types = types};
static struct fake_module modules[] = {{APP, u"/app/App.dll", u"App", 1, &metadata},
                                       {0, NULL, NULL, 0, NULL}};
static struct fake_class classes[] = {{.id = WIDGET, .module = APP, .token = 0x02000002},
                                      {.id = 0}};
static struct fake_info info = {.base = {&fake_info_vtbl}, .modules = modules, .classes = classes};

static struct names *names;
static _Atomic(int) rounds, work, hang;
static char thread_name[16];
static sigset_t thread_mask;

static bool poll(void *context)
{
    assert_ptr_equal(context, &rounds);
    if (load_relaxed(&rounds) == 0) {
        pthread_getname_np(pthread_self(), thread_name, sizeof(thread_name));
        pthread_sigmask(SIG_BLOCK, NULL, &thread_mask);
    }
    store_release(&rounds, load_relaxed(&rounds) + 1);
    while (load_acquire(&hang))
        usleep(1000);
    if (load_relaxed(&work) <= 0)
        return false;
    add_relaxed(&work, -1);
    return true;
}

static int start(unsigned pause_ms, int open)
{
    const struct names_config config = {.info = &info.base,
                                        .info_version = 15,
                                        .poll = poll,
                                        .context = &rounds,
                                        .pause_ms = pause_ms};

    store_relaxed(&rounds, 0);
    store_relaxed(&work, open);
    store_relaxed(&hang, 0);
    return names_new(&config, &names) || names_start(names) ? -1 : 0;
}

static int setup(void **state)
{
    (void)state;
    return start(0, 0);
}

static int setup_slow(void **state)
{
    (void)state;
    return start(100, 1000);
}

static int teardown(void **state)
{
    (void)state;
    store_release(&hang, 0);
    store_relaxed(&work, 0);
    if (!names_stop(names, 5000))
        return -1;
    names_free(names);
    return 0;
}

static bool soon(bool (*seen)(void))
{
    for (int i = 0; i < 5000 && !seen(); i++)
        usleep(1000);
    return seen();
}

static bool widget_has_its_text(void)
{
    const struct names_class *c = class_by_id(names, 1);

    return c && names_class_text(c) && !strcmp(names_class_text(c), "App.Widget");
}

static bool three_rounds(void)
{
    return load_acquire(&rounds) >= 3;
}

static void a_new_class_gets_its_text_by_itself(void **state)
{
    struct names_class *c;

    (void)state;
    assert_int_equal(names_class_get(names, WIDGET, &c), 0);
    assert_true(soon(widget_has_its_text));
}

static void the_thread_has_a_name_and_takes_no_signal(void **state)
{
    (void)state;
    assert_true(soon(three_rounds));
    assert_string_equal(thread_name, "shadowtrace-res");
    assert_true(sigismember(&thread_mask, SIGTERM) && sigismember(&thread_mask, SIGSEGV) &&
                sigismember(&thread_mask, SIGRTMIN + 1));
}

static void stopping_does_not_wait_for_the_pause_to_end(void **state)
{
    uint64_t before, fastest = UINT64_MAX;

    (void)state;
    for (int i = 0; i < 5; i++) { /* one of them runs undisturbed */
        usleep(120000);           /* long enough for the longest pause to begin */
        before = clock_ns();
        assert_true(names_stop(names, 1000));
        if (clock_ns() - before < fastest)
            fastest = clock_ns() - before;
        names_free(names);
        setup(NULL);
    }
    assert_in_range(fastest, 0, 20 * NS_PER_MS);
}

static bool some_rounds(void)
{
    return load_acquire(&rounds) >= 100;
}

static void no_round_begins_once_it_has_stopped(void **state)
{
    int before;

    (void)state;
    store_relaxed(&work, INT32_MAX);
    assert_true(soon(some_rounds));
    assert_true(names_stop(names, 5000));
    before = load_acquire(&rounds);
    usleep(50000);
    assert_int_equal(load_acquire(&rounds), before);
    assert_true(names_stop(names, 0)); /* once more is harmless */
}

static void a_resolver_that_hangs_is_left_alone(void **state)
{
    uint64_t before;

    (void)state;
    store_release(&hang, 1);
    assert_true(soon(three_rounds) || load_relaxed(&rounds) > 0);
    before = clock_ns();
    assert_false(names_stop(names, 50));
    assert_in_range(clock_ns() - before, 49 * NS_PER_MS, UINT64_C(2000) * NS_PER_MS);
    store_release(&hang, 0);
    assert_true(names_stop(names, 5000));
}

static void idle_rounds_grow_rare(void **state)
{
    int before;

    (void)state;
    usleep(300000);
    before = load_relaxed(&rounds);
    usleep(500000);
    assert_in_range(load_relaxed(&rounds) - before, 1, 15); /* every 50 ms */
}

static void rounds_with_work_come_as_often_as_they_are_wanted(void **state)
{
    (void)state;
    usleep(450000);
    assert_in_range(load_relaxed(&rounds), 1, 5); /* every 100 ms */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_class_gets_its_text_by_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(the_thread_has_a_name_and_takes_no_signal, setup, teardown),
        cmocka_unit_test_setup_teardown(stopping_does_not_wait_for_the_pause_to_end, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(no_round_begins_once_it_has_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_resolver_that_hangs_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(idle_rounds_grow_rare, setup, teardown),
        cmocka_unit_test_setup_teardown(rounds_with_work_come_as_often_as_they_are_wanted,
                                        setup_slow, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
