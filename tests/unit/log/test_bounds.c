/* A file that cannot be written: no kind of line takes more memory than may be, and each that is dropped is counted. */
#include "fixture.h"

#include "readers/problems.h"
#include "validate/validate.h"
#include "support/test.h"

#include <signal.h>
#include <sys/resource.h>

#define MANY 160000u
#define BOUND \
    (16u << 20) /* of a buffer that is doubled until it holds 8 MB and what one event may define */
#define FIRST_LIMIT 8192 /* bytes that the file takes at first */

static struct world *w;
static struct tree_node *nodes[RECORDS];
static rlim_t limit_before;

static int setup(void **state)
{
    (void)state;
    w = calloc(1, sizeof(*w));
    world_init(w);
    signal(SIGXFSZ, SIG_IGN);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_fini(w);
    free(w);
    return 0;
}

static void limit(rlim_t bytes)
{
    struct rlimit now;

    getrlimit(RLIMIT_FSIZE, &now);
    if (bytes)
        limit_before = now.rlim_cur;
    now.rlim_cur = bytes ? bytes : limit_before;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
}

/* Events that name what few others do, so that definitions are dropped, too. Each of them is one line. */
static void sample(struct event *event, unsigned i)
{
    event->subject = 77;
    event->node = tree_id(w->tree, nodes[i % RECORDS]);
    event->bytes_kind = EVENT_SAMPLE;
}

static void transition(struct event *event, unsigned i)
{
    event->subject = (uintptr_t)&w->methods[i % RECORDS];
    event->node = tree_id(w->tree, nodes[i * 7 % RECORDS]);
    event->bytes_kind = event_pack(EVENT_TO_NATIVE_CALL, EVENT_HEAP_NORMAL, EVENT_TRANSITION);
    add_relaxed(&w->hub.family_seen[OPTIONS_TRANSITIONS], 1);
}

static void snapshot(struct event *event, unsigned i)
{
    struct event_stack *stack = memory_zalloc(1, sizeof(*stack) + 2 * sizeof(stack->methods[0]));

    stack->count = 2;
    stack->methods[0] = (uintptr_t)&w->methods[i % RECORDS];
    stack->methods[1] = (uintptr_t)&w->methods[(i + 1) % RECORDS];
    event->subject = (uintptr_t)stack;
    event->bytes_kind = EVENT_SNAPSHOT;
}

static void mismatch(struct event *event, unsigned i)
{
    struct event_mismatch *m = memory_zalloc(1, sizeof(*m) + 2 * sizeof(m->methods[0]));

    m->shadow = m->snapshot = 1;
    m->methods[0] = (uintptr_t)&w->methods[i % RECORDS];
    m->methods[1] = (uintptr_t)&w->methods[(i + 1) % RECORDS];
    event->subject = (uintptr_t)m;
    event->bytes_kind = EVENT_MISMATCH;
}

static void call(struct event *event, unsigned i)
{
    struct metadata_method *method = &w->methods[i / 2 % RECORDS];

    event->node = i % 2;
    event->subject = i % 2 ? 0 : (uintptr_t)method;
    event->bytes_kind =
        event_pack(event_call_pack(i % 2 ? EVENT_CALL_LEAVE : EVENT_CALL_ENTER, method->id),
                   EVENT_HEAP_NORMAL, EVENT_CALL);
    store_relaxed(&w->ring->calls_seen, load_relaxed(&w->ring->calls_seen) + !(i % 2));
}

static const struct {
    const char *kind, *family;
    void (*make)(struct event *event, unsigned i);
    unsigned many;
} things[] = {
    {"sample", NULL, sample, 2 * MANY},     {"transition", "transitions", transition, MANY},
    {"snapshot", NULL, snapshot, 2 * MANY}, {"mismatch", NULL, mismatch, MANY},
    {"calls", "calls", call, 12 * MANY},
};

static void post(unsigned first, unsigned count, void (*make)(struct event *event, unsigned i),
                 size_t *most)
{
    for (unsigned i = first; i < first + count; i++) {
        struct event event = {.ticks = clock_ticks()};
        size_t now = w->log->file.buffer.size;

        make(&event, i);
        while (event_offer(w->ring, &event))
            usleep(100);
        *most = now > *most ? now : *most;
    }
}

static json_int_t member(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* The last line, which is short. */
static json_t *end_read(void)
{
    char tail[16384] = "";
    FILE *file = fopen(w->path, "re");
    size_t got;
    char *line;

    assert_non_null(file);
    fseek(file, -(long)(sizeof(tail) - 1), SEEK_END);
    got = fread(tail, 1, sizeof(tail) - 1, file);
    fclose(file);
    assert_true(got > 0 && tail[got - 1] == '\n');
    tail[got - 1] = '\0';
    line = strrchr(tail, '\n');
    return json_loads(line ? line + 1 : tail, 0, NULL);
}

static void expect_all_said(const char *kind, const char *family, json_int_t posted)
{
    struct log_problems problems;
    struct report_validation found;
    json_t *end = end_read();
    const json_t *sums = json_object_get(json_object_get(end, "events"), family ? family : "");
    json_int_t written = member(json_object_get(end, "records"), kind),
               lost = member(json_object_get(end, "not_written"), kind);

    log_problems_init(&problems);
    assert_int_equal(
        report_validate_parts(
            &(struct log_parts){.paths = (char *[]){(char *)(uintptr_t)w->path}, .count = 1}, NULL,
            NULL, &problems, &found),
        0);
    if (problems.count) /* lines by kind are what the end says, and use what is defined */
        fail_msg("line %" PRIu64 ": %s", (uint64_t)problems.kept[0].place.line,
                 problems.kept[0].text);
    log_problems_fini(&problems);
    assert_true(found.ended);
    if (family) {
        lost = member(sums, "lost");
        written = member(sums, "written");
    } else {
        assert_true(found.records[SST_KIND_NOT_WRITTEN] > 0);
    }
    print_message("%s: %lld written, %lld lost\n", kind, (long long)written, (long long)lost);
    assert_int_equal(written + lost, posted);
    assert_true(written > 0 && lost > 0);
    json_decref(end);
}

static int start_clock(void **state)
{
    (void)state;
    clock_start();
    return 0;
}

TEST_GROUP(start_clock, NULL);

TEST(no_kind_of_line_takes_more_memory_than_may_be, setup, teardown)
{
    static char text[RECORDS][32];

    w->options.events = OPTIONS_EVENTS_ALL;
    w->hub.slots = 65536;
    for (unsigned i = 0; i < RECORDS; i++) {
        snprintf(text[i], sizeof(text[i]), "Some.Type.Method%u()", i);
        nodes[i] = node_new(w, NULL, method_new(w, text[i]), (int32_t)i);
    }
    for (size_t k = 0; k < sizeof(things) / sizeof(*things); k++) {
        unsigned many = things[k].many;
        size_t most = 0;

        assert_int_equal(world_open(w), 0);
        w->ring = ring_new(w);
        limit(FIRST_LIMIT);
        start(w);
        post(0, many, things[k].make, &most);
        while (load_acquire(&w->ring->tail) != load_acquire(&w->ring->head))
            usleep(1000);
        print_message("%s: %zu bytes at most\n", things[k].kind, most);
        limit(0);
        assert_true(most <= BOUND);
        usleep(700000); /* until it is written, and what was dropped is said */
        post(many, 2 * RECORDS, things[k].make, &most);
        stop(w);
        expect_all_said(things[k].kind, things[k].family,
                        (many + 2 * RECORDS) / (strcmp(things[k].kind, "calls") ? 1 : 2));
        for (unsigned i = 0; i < OPTIONS_FAMILIES; i++)
            store_relaxed(&w->hub.family_seen[i], 0);
        world_again(w);
    }
}
