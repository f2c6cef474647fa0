#include "metadata/metadata.h"

#include "fake_info.h"

#include "base/clock.h"
#include "metadata/internal.h"
#include "support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* As long as nothing was unloaded, a record's number is its log id. */
static const struct metadata_class *class_by_id(const struct metadata *of, uint32_t id)
{
    bool listed;

    return metadata_class_at(of, id, &listed);
}

/* Timeout of a wait for an event that must happen, and a pause in the background. */
enum { APP = 0x2000, WIDGET = 0x100, NS_PER_MS = 1000000, PATIENCE_MS = 120000, LONG_MS = 600000 };

static const struct fake_type types[] = {{0x02000002, u"App.Widget", 0}, {0, NULL, 0}};
static struct fake_metadata fake = {.base = {&fake_metadata_vtbl}, .types = types};
static struct fake_module modules[] = {{APP, u"/app/App.dll", u"App", 1, &fake},
                                       {0, NULL, NULL, 0, NULL}};
static struct fake_class classes[] = {{.id = WIDGET, .module = APP, .token = 0x02000002},
                                      {.id = 0}};
static struct fake_info info = {.base = {&fake_info_vtbl}, .modules = modules, .classes = classes};

static struct metadata *metadata;
static _Atomic(int) rounds, work, hang, hangs;
static uint64_t started_ns;
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
    while (load_acquire(&hang)) {
        store_release(&hangs, 1);
        usleep(1000);
    }
    if (load_relaxed(&work) <= 0)
        return false;
    add_relaxed(&work, -1);
    return true;
}

static int start(unsigned pause_ms, int open)
{
    const struct metadata_config config = {.info = &info.base,
                                           .info_version = 15,
                                           .poll = poll,
                                           .context = &rounds,
                                           .pause_ms = pause_ms};

    store_relaxed(&rounds, 0);
    store_relaxed(&work, open);
    store_relaxed(&hang, 0);
    store_relaxed(&hangs, 0);
    started_ns = clock_ns();
    return metadata_new(&config, &metadata) || metadata_start(metadata) ? -1 : 0;
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

static int setup_long(void **state)
{
    (void)state;
    return start(LONG_MS, 0);
}

static int teardown(void **state)
{
    (void)state;
    store_release(&hang, 0);
    store_relaxed(&work, 0);
    if (!metadata_stop(metadata, PATIENCE_MS))
        return -1;
    metadata_free(metadata);
    return 0;
}

static bool soon(bool (*seen)(void))
{
    for (int i = 0; i < PATIENCE_MS && !seen(); i++)
        usleep(1000);
    return seen();
}

static bool widget_has_its_text(void)
{
    const struct metadata_class *c = class_by_id(metadata, 1);

    return c && metadata_class_text(c) && !strcmp(metadata_class_text(c), "App.Widget");
}

static bool one_round(void)
{
    return load_acquire(&rounds) >= 1;
}

static bool three_rounds(void)
{
    return load_acquire(&rounds) >= 3;
}

TEST(a_new_class_gets_its_text_by_itself, setup, teardown)
{
    struct metadata_class *c;

    assert_int_equal(metadata_class_get(metadata, WIDGET, &c), 0);
    assert_true(soon(widget_has_its_text));
}

TEST(the_thread_has_a_name_and_takes_no_signal_but_its_own, setup, teardown)
{
    assert_true(soon(three_rounds));
    assert_string_equal(thread_name, "shadowtrace-res");
    assert_true(sigismember(&thread_mask, SIGTERM) && !sigismember(&thread_mask, SIGSEGV) &&
                sigismember(&thread_mask, SIGRTMIN + 1));
}

TEST(stopping_does_not_wait_for_the_pause_to_end, setup_long, teardown)
{
    assert_true(soon(one_round));
    assert_true(metadata_stop(metadata, PATIENCE_MS));
    metadata_free(metadata); /* its thread has ended: it was woken */
    assert_int_equal(setup(NULL), 0);
}

static bool some_rounds(void)
{
    return load_acquire(&rounds) >= 100;
}

TEST(no_round_begins_once_it_has_stopped, setup, teardown)
{
    int before;

    store_relaxed(&work, INT32_MAX);
    assert_true(soon(some_rounds));
    assert_true(metadata_stop(metadata, PATIENCE_MS));
    before = load_acquire(&rounds);
    usleep(50000);
    assert_int_equal(load_acquire(&rounds), before);
    assert_true(metadata_stop(metadata, 0)); /* once more is harmless */
}

static bool it_hangs(void)
{
    return load_acquire(&hangs);
}

TEST(a_resolver_that_hangs_is_left_alone, setup, teardown)
{
    uint64_t before;

    store_release(&hang, 1);
    assert_true(soon(it_hangs));
    before = clock_ns();
    assert_false(metadata_stop(metadata, 50));
    assert_true(clock_ns() - before >= 49 * NS_PER_MS);
    store_release(&hang, 0);
    assert_true(metadata_stop(metadata, PATIENCE_MS));
}

static bool ten_rounds(void)
{
    return load_acquire(&rounds) >= 10; /* the pause has grown to its longest */
}

static bool twenty_rounds(void)
{
    return load_acquire(&rounds) >= 20;
}

/* A slow machine makes rounds fewer; more than one in `ms`, but for the first, nobody can make of pauses that long. */
static void expect_at_most_one_each(int ms, int from, uint64_t from_ns)
{
    int made = load_acquire(&rounds) - from;

    assert_true((uint64_t)(made - 1) * (uint64_t)ms * NS_PER_MS <= clock_ns() - from_ns);
}

TEST(idle_rounds_grow_rare, setup, teardown)
{
    uint64_t before_ns;
    int before;

    assert_true(soon(ten_rounds));
    before_ns = clock_ns();
    before = load_acquire(&rounds);
    assert_true(soon(twenty_rounds));
    expect_at_most_one_each(50, before, before_ns);
}

TEST(rounds_with_work_come_as_often_as_they_are_wanted, setup_slow, teardown)
{
    assert_true(soon(three_rounds));
    expect_at_most_one_each(100, 0, started_ns);
}
