/* The log, from rings through the writer to the file. */
#include "fixture.h"
#include "support/test.h"

#include <fcntl.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct world *w;

static int setup(void **state)
{
    (void)state;
    w = calloc(1, sizeof(*w));
    world_init(w);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_fini(w);
    free(w);
    return 0;
}

/* ---- the ordinary case ---- */

TEST(the_header_comes_first_and_the_end_last)
{
    json_t *lines, *header, *end;

    start(w);
    stop(w);
    lines = log_read(w);
    header = json_array_get(lines, 0);
    assert_string_equal(kind_of(header), "header");
    assert_string_equal(json_string_value(json_object_get(header, "format")), "shadowtrace");
    assert_int_equal(number(header, "version"), 1);
    assert_int_equal(number(header, "pid"), getpid());
    assert_string_equal(json_string_value(json_object_get(header, "executable")),
                        "/usr/bin/dotnet");
    assert_string_equal(json_string_value(json_object_get(header, "runtime")), "10.0.12");
    assert_string_equal(json_string_value(json_object_get(header, "hooks")), "elt3");
    assert_int_equal(json_array_size(json_object_get(header, "command")), 3);
    assert_null(json_object_get(header, "unverified"));
    end = last(lines);
    assert_string_equal(kind_of(end), "end");
    expect_totals(lines, 0);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(a_runtime_that_was_not_tested_is_marked)
{
    json_t *lines;

    w->config.unverified = true;
    start(w);
    stop(w);
    lines = log_read(w);
    assert_true(json_is_true(json_object_get(json_array_get(lines, 0), "unverified")));
    json_decref(lines);
}

TEST(what_is_off_on_this_runtime_is_in_the_end_record)
{
    json_t *lines;
    const json_t *off;

    store_relaxed(&w->guard.hooks, 7);
    store_relaxed(&w->guard.beginnings, 1);
    start(w);
    stop(w);
    lines = log_read(w);
    off = json_object_get(last(lines), "off");
    assert_int_equal(json_object_size(off), 2);
    assert_int_equal(number(off, "hooks"), 7);
    assert_int_equal(number(off, "beginnings"), 1);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(an_allocation_is_one_line_with_its_context)
{
    struct metadata_class *class = class_new(w, "System.String");
    struct metadata_method *main_method = method_new(w, "App.Program.Main(System.String[])"),
                           *run = method_new(w, "App.Program.Run()");
    struct tree_node *root = node_new(w, NULL, main_method, CODE_IL_NATIVE),
                     *leaf = node_new(w, root, run, 17);
    json_t *lines, *line;

    w->ring = ring_new(w);
    allocate_on(w->ring, class, leaf, site_new(w, run, 5), 24, EVENT_HEAP_NORMAL);
    allocate_on(w->ring, class, leaf, 0, 85024, EVENT_HEAP_LARGE);
    allocate_on(w->ring, class, NULL, 0, 32, EVENT_HEAP_PINNED);
    allocate_on(w->ring, class, root, site_new(w, main_method, 0), 40, EVENT_HEAP_FROZEN);
    start(w);
    stop(w);
    lines = log_read(w);

    line = nth(lines, "alloc", 0);
    assert_int_equal(number(line, "thread"), 1);
    assert_int_equal(number(line, "class"), class->id);
    assert_int_equal(number(line, "bytes"), 24);
    assert_int_equal(number(line, "node"), tree_id(w->tree, leaf));
    assert_int_equal(number(line, "il"), 5);
    assert_null(json_object_get(line, "heap"));
    assert_null(json_object_get(line, "weight"));
    assert_null(json_object_get(line, "stack"));
    line = nth(lines, "alloc", 1);
    assert_null(json_object_get(line, "il"));
    assert_string_equal(json_string_value(json_object_get(line, "heap")), "large");
    line = nth(lines, "alloc", 2);
    assert_int_equal(number(line, "node"), 0);
    assert_string_equal(json_string_value(json_object_get(line, "heap")), "pinned");
    line = nth(lines, "alloc", 3);
    assert_int_equal(number(line, "il"), 0);
    assert_string_equal(json_string_value(json_object_get(line, "heap")), "frozen");

    line = nth(lines, "node", 0);
    assert_int_equal(number(line, "id"), tree_id(w->tree, root));
    assert_int_equal(number(line, "parent"), 0);
    assert_int_equal(number(line, "method"), main_method->id);
    assert_null(json_object_get(line, "il"));
    assert_string_equal(json_string_value(json_object_get(line, "call")), "native");
    line = nth(lines, "node", 1);
    assert_int_equal(number(line, "parent"), tree_id(w->tree, root));
    assert_int_equal(number(line, "il"), 17);
    line = nth(lines, "method", 0);
    assert_string_equal(json_string_value(json_object_get(line, "name")),
                        "App.Program.Main(System.String[])");
    assert_int_equal(number(line, "token"), main_method->token);

    assert_int_equal(number(last(lines), "bytes"), 24 + 85024 + 32 + 40);
    expect_definitions_first(lines, true);
    expect_totals(lines, 4);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(a_filter_frame_is_marked_in_its_node)
{
    struct metadata_method *method = method_new(w, "App.Filter()");
    struct tree_node *below = node_new(w, NULL, method, 3),
                     *node = node_open(w, below, method, FRAME_RET_FILTER);
    json_t *lines;

    store_release(&tree_call(w->tree, node)->il, CODE_IL_NONE);
    allocate(w, class_new(w, "C"), node, 24);
    start(w);
    stop(w);
    lines = log_read(w);
    assert_null(json_object_get(nth(lines, "node", 0), "filter"));
    assert_true(json_is_true(json_object_get(nth(lines, "node", 1), "filter")));
    assert_null(json_object_get(nth(lines, "node", 1), "call"));
    expect_valid(w->path);
    json_decref(lines);
}

TEST(definitions_come_before_their_first_use_and_once)
{
    enum { COUNT = 2000, THREADS = 5 };
    struct event_ring *rings[THREADS];
    struct tree_node *node = NULL;
    json_t *lines;

    for (unsigned i = 0; i < THREADS; i++)
        rings[i] = ring_new(w);
    for (unsigned i = 0; i < COUNT; i++) {
        struct metadata_class *class =
            i % 3 ? &w->classes[i % w->class_count] : class_new(w, "Some.Class");

        node = node_new(w, i % 40 ? node : NULL,
                        i % 2 ? &w->methods[0] : method_new(w, "Some.Method()"), (int32_t)(i % 7));
        allocate_on(rings[i % THREADS], class, node, 0, 24, EVENT_HEAP_NORMAL);
    }
    start(w);
    stop(w);
    lines = log_read(w);
    expect_definitions_first(lines, true);
    expect_totals(lines, COUNT);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(lines_of_one_thread_are_in_order_and_their_times_never_fall)
{
    struct metadata_class *class = class_new(w, "C");
    struct event_ring *rings[3];
    json_int_t last_bytes[4] = {0}, last_t[4] = {0};
    json_t *lines, *line;
    size_t i;

    for (unsigned r = 0; r < 3; r++)
        rings[r] = ring_new(w);
    start(w);
    for (unsigned n = 1; n <= 3000; n++) {
        const struct event event = {
            .ticks = clock_ticks() - (n % 10 == 0 ? 100000 : 0), /* one that comes late */
            .subject = (uintptr_t) class,
            .bytes_kind = event_pack(8 * n, EVENT_HEAP_NORMAL, EVENT_ALLOC)};

        store_relaxed(&rings[n % 3]->seen, load_relaxed(&rings[n % 3]->seen) + 1);
        while (event_post(rings[n % 3], &event))
            ;
    }
    stop(w);
    lines = log_read(w);
    json_array_foreach(lines, i, line)
    {
        json_int_t thread, t, bytes;

        if (!is(line, "alloc"))
            continue;
        thread = number(line, "thread");
        t = number(line, "t");
        bytes = number(line, "bytes");
        assert_in_range(thread, 1, 3);
        assert_true(bytes > last_bytes[thread]);
        assert_true(t >= last_t[thread]);
        last_bytes[thread] = bytes;
        last_t[thread] = t;
    }
    expect_totals(lines, 3000);
    json_decref(lines);
}

/* Ids are never used again: a program that loads and unloads all day comes to large ones. */
TEST(what_is_defined_takes_memory_in_its_own_record_only)
{
    struct metadata_method *methods[2];
    struct metadata_class *classes[2];

    assert_int_equal(world_open(w), 0);
    for (unsigned i = 0; i < 2; i++) {
        classes[i] = class_new(w, "T");
        methods[i] = method_new(w, "M()");
        classes[i]->module = methods[i]->module = &modules[0];
        classes[i]->id = methods[i]->id = i ? UINT32_MAX : 1;
    }
    assert_int_equal(log_define_class(w->log, classes[0]), 0); /* the buffer has its memory */
    assert_int_equal(log_define_method(w->log, methods[0]), 0);
    memory_fail_after(0);
    assert_int_equal(log_define_class(w->log, classes[1]), 0);
    assert_int_equal(log_define_method(w->log, methods[1]), 0);
    memory_fail_after(-1);
}

TEST(inline_stacks_are_whole)
{
    struct metadata_class *class = class_new(w, "System.Byte[]");
    struct tree_node *a = node_new(w, NULL, method_new(w, "A.Root()"), 1),
                     *b = node_new(w, a, method_new(w, "A.Leaf(\"quoted\\\")"), 2);
    json_t *lines, *stack;

    w->options.stacks = OPTIONS_STACKS_INLINE;
    allocate(w, class, b, 24);
    allocate(w, class, NULL, 24);
    start(w);
    stop(w);
    lines = log_read(w);
    stack = json_object_get(nth(lines, "alloc", 0), "stack");
    assert_int_equal(json_array_size(stack), 2);
    assert_string_equal(json_string_value(json_array_get(stack, 0)), "A.Leaf(\"quoted\\\")");
    assert_string_equal(json_string_value(json_array_get(stack, 1)), "A.Root()");
    assert_string_equal(json_string_value(json_object_get(nth(lines, "alloc", 0), "type")),
                        "System.Byte[]");
    assert_null(json_object_get(nth(lines, "alloc", 0), "node"));
    assert_int_equal(json_array_size(json_object_get(nth(lines, "alloc", 1), "stack")), 0);
    expect_valid(w->path);
    json_decref(lines);
}

/* On a path of which `node` is what was kept. */
static void allocate_cut(const struct metadata_class *class, const struct tree_node *node,
                         uint32_t site, enum event_heap heap)
{
    const struct event event = {.ticks = clock_ticks(),
                                .subject = (uintptr_t) class,
                                .node = (node ? tree_id(w->tree, node) : 0) | TREE_CUT,
                                .site = site,
                                .bytes_kind = event_pack(24, heap, EVENT_ALLOC)};

    store_relaxed(&w->ring->seen, load_relaxed(&w->ring->seen) + 1);
    assert_int_equal(event_post(w->ring, &event), 0);
}

static void expect_cut(json_t *lines, size_t n, const struct tree_node *node, bool cut)
{
    json_t *line = nth(lines, "alloc", n);

    assert_int_equal(number(line, "node"), node ? tree_id(w->tree, node) : 0);
    assert_int_equal(json_is_true(json_object_get(line, "cut")), cut);
    assert_int_equal(json_object_get(line, "il") == NULL, cut);
}

TEST(a_path_that_was_not_kept_is_marked)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A.Root()");
    struct tree_node *node = node_new(w, NULL, method, 1);
    uint32_t site = site_new(w, method, 5);
    json_t *lines;

    w->ring = ring_new(w);
    store_relaxed(&w->ring->hub->beginnings_lost, 2);
    allocate_on(w->ring, class, node, site, 24, EVENT_HEAP_NORMAL);
    allocate_cut(class, node, site, EVENT_HEAP_NORMAL);
    allocate_cut(class, node, site, EVENT_HEAP_LARGE);
    allocate_cut(class, NULL, site, EVENT_HEAP_NORMAL);
    start(w);
    stop(w);
    lines = log_read(w);
    expect_cut(lines, 0, node, false);
    expect_cut(lines, 1, node, true);
    expect_cut(lines, 2, node, true);
    expect_cut(lines, 3, NULL, true);
    assert_int_equal(number(last(lines), "cut_allocs"), 3);
    assert_int_equal(number(last(lines), "beginnings_lost"), 2);
    expect_definitions_first(lines, true);
    expect_totals(lines, 4);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(a_cut_inline_stack_is_marked)
{
    struct metadata_class *class = class_new(w, "C");
    struct tree_node *node = node_new(w, NULL, method_new(w, "A.Root()"), 1);
    json_t *lines, *line;

    w->options.stacks = OPTIONS_STACKS_INLINE;
    w->ring = ring_new(w);
    allocate_cut(class, node, 0, EVENT_HEAP_NORMAL);
    start(w);
    stop(w);
    lines = log_read(w);
    line = nth(lines, "alloc", 0);
    assert_true(json_is_true(json_object_get(line, "cut")));
    assert_int_equal(json_array_size(json_object_get(line, "stack")), 1);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(a_sampled_allocation_carries_its_weight)
{
    struct metadata_class *class = class_new(w, "C");
    json_t *lines;
    double small, large;

    w->options.sample = 65536;
    allocate(w, class, NULL, 24);
    allocate(w, class, NULL, 1 << 24);
    start(w);
    stop(w);
    lines = log_read(w);
    small = json_number_value(json_object_get(nth(lines, "alloc", 0), "weight"));
    large = json_number_value(json_object_get(nth(lines, "alloc", 1), "weight"));
    assert_true(small > 65536 && small < 65536 + 24); /* one sample per mean */
    assert_true(large >= 1 << 24 && large < (1 << 24) + 1);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(a_threads_end_and_name_are_written)
{
    static const char name[] = "worker \"1\"";
    struct metadata_class *class = class_new(w, "C");
    struct event_ring *ring = ring_new(w);
    struct event_name *named = memory_zalloc(1, sizeof(*named) + sizeof(name));
    const struct event event = {.subject = (uintptr_t)named, .bytes_kind = EVENT_THREAD_NAME};
    json_t *lines, *line;
    size_t i;
    bool has_name = false, has_end = false;

    named->os = ring->os;
    strcpy(named->text, name);
    assert_int_equal(event_post(ring, &event), 0);
    allocate_on(ring, class, NULL, 0, 24, EVENT_HEAP_NORMAL);
    event_ring_close(ring);
    start(w);
    stop(w);
    lines = log_read(w);
    json_array_foreach(lines, i, line)
    {
        const char *text = json_string_value(json_object_get(line, "name"));

        if (!is(line, "thread"))
            continue;
        assert_int_equal(number(line, "id"), 1);
        has_name |= text && strcmp(text, name) == 0;
        has_end |= json_object_get(line, "end") != NULL;
    }
    assert_true(has_name);
    assert_true(has_end);
    expect_definitions_first(lines, true);
    expect_totals(lines, 1); /* its ring is freed by now */
    expect_valid(w->path);
    json_decref(lines);
}

TEST(text_from_outside_is_valid_utf8_in_the_log)
{
    static char *const odd_command[] = {"dotnet", "\xff\xfe bad", "tab\tquote\"", NULL};
    json_t *lines, *header;

    w->config.executable = "/opt/\xc3\x28/dotnet";
    w->config.command = odd_command;
    start(w);
    stop(w);
    lines = log_read(w);
    header = json_array_get(lines, 0);
    assert_string_equal(json_string_value(json_object_get(header, "executable")),
                        "/opt/\xef\xbf\xbd(/dotnet");
    assert_string_equal(json_string_value(json_array_get(json_object_get(header, "command"), 1)),
                        "\xef\xbf\xbd\xef\xbf\xbd bad");
    assert_string_equal(json_string_value(json_array_get(json_object_get(header, "command"), 2)),
                        "tab\tquote\"");
    expect_valid(w->path);
    json_decref(lines);
}

/* ---- comparisons ---- */

static void post_payload(struct event_ring *ring, void *payload, enum event_kind kind)
{
    const struct event event = {
        .ticks = clock_ticks(), .subject = (uintptr_t)payload, .bytes_kind = kind};

    assert_int_equal(event_post(ring, &event), 0);
}

static struct event_mismatch *mismatch_new(const struct metadata_class *class,
                                           const struct metadata_method *a,
                                           const struct metadata_method *b)
{
    struct event_mismatch *m = memory_zalloc(1, sizeof(*m) + 3 * sizeof(m->methods[0]));

    m->class = (uintptr_t) class;
    m->cause = AGREEMENT_SHADOW_EXTRA;
    m->first = 1;
    m->repairs = 1u << STACK_UNWOUND | 1u << STACK_ORPHAN_LEAVE;
    m->shadow = 2;
    m->snapshot = 1;
    m->methods[0] = (uintptr_t)a;
    m->methods[1] = (uintptr_t)b;
    m->methods[2] = (uintptr_t)b;
    return m;
}

TEST(a_mismatch_shows_both_stacks)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *a = method_new(w, "A()"), *b = method_new(w, "B()");
    json_t *lines, *line;

    w->ring = ring_new(w);
    allocate(w, class, NULL, 24);
    post_payload(w->ring, mismatch_new(class, a, b), EVENT_MISMATCH);
    start(w);
    stop(w);
    lines = log_read(w);
    line = nth(lines, "mismatch", 0);
    assert_string_equal(json_string_value(json_object_get(line, "cause")), "shadow_extra");
    assert_int_equal(json_array_size(json_object_get(line, "shadow")), 2);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(line, "shadow"), 0)), a->id);
    assert_int_equal(json_array_size(json_object_get(line, "snapshot")), 1);
    assert_int_equal(json_array_size(json_object_get(line, "repairs")), 2);
    assert_null(json_object_get(line, "refused"));
    expect_definitions_first(lines, true);
    expect_totals(lines, 1); /* a comparison is no allocation */
    expect_valid(w->path);
    json_decref(lines);
}

TEST(the_class_of_a_mismatch_is_defined_before_it)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A()");
    json_t *lines;

    w->ring = ring_new(w);
    post_payload(w->ring, mismatch_new(class, method, method),
                 EVENT_MISMATCH); /* its allocation is not recorded */
    start(w);
    stop(w);
    lines = log_read(w);
    expect_definitions_first(lines, true);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(a_snapshot_shows_its_stack_and_why_it_was_refused)
{
    struct metadata_method *a = method_new(w, "A()");
    struct event_stack *stack = memory_zalloc(1, sizeof(*stack) + 2 * sizeof(stack->methods[0])),
                       *refused = memory_zalloc(1, sizeof(*refused));
    json_t *lines, *line;

    w->ring = ring_new(w);
    stack->count = 2;
    stack->methods[0] = (uintptr_t)a;
    stack->methods[1] = 0; /* the runtime named a function that nobody knows */
    post_payload(w->ring, stack, EVENT_SNAPSHOT);
    refused->refused = (int32_t)0x80131360;
    post_payload(w->ring, refused, EVENT_SNAPSHOT);
    start(w);
    stop(w);
    lines = log_read(w);
    line = nth(lines, "snapshot", 0);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(line, "stack"), 0)), a->id);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(line, "stack"), 1)), 0);
    line = nth(lines, "snapshot", 1);
    assert_string_equal(json_string_value(json_object_get(line, "refused")), "0x80131360");
    assert_int_equal(json_array_size(json_object_get(line, "stack")), 0);
    expect_definitions_first(lines, true);
    expect_valid(w->path);
    json_decref(lines);
}

/* An event with `count` native frames of this program in one run, the last of them cut off. */
static struct event_stack *native_new(struct metadata_method *method, size_t count)
{
    struct event_stack *stack = memory_zalloc(1, sizeof(*stack) + sizeof(stack->methods[0]) +
                                                     (count + 1) * sizeof(struct event_native));
    struct event_native *native = (struct event_native *)(stack->methods + 1);

    stack->count = 1;
    stack->methods[0] = (uintptr_t)method;
    stack->natives = (uint32_t)count + 1;
    for (size_t i = 0; i < count; i++)
        native[i] = (struct event_native){1, 0, (uintptr_t)native_new + i};
    native[count] = (struct event_native){1, 0, 0};
    return stack;
}

TEST(native_frames_come_after_their_image)
{
    struct metadata_method *a = method_new(w, "A()");
    json_t *lines, *image, *run, *frame;

    w->ring = ring_new(w);
    post_payload(w->ring, native_new(a, 2), EVENT_SNAPSHOT);
    post_payload(w->ring, native_new(a, 1), EVENT_SNAPSHOT);
    start(w);
    stop(w);
    lines = log_read(w);
    image = nth(lines, "image", 0);
    assert_null(strchr(json_string_value(json_object_get(image, "path")), '\n'));
    run = json_array_get(json_object_get(nth(lines, "snapshot", 0), "native"), 0);
    assert_int_equal(json_integer_value(json_object_get(run, "at")), 1);
    assert_true(json_is_true(json_object_get(run, "more")));
    assert_int_equal(json_array_size(json_object_get(run, "frames")), 2);
    frame = json_array_get(json_object_get(run, "frames"), 1);
    assert_int_equal(json_integer_value(json_array_get(frame, 0)),
                     json_integer_value(json_object_get(image, "id")));
    assert_int_equal(strtoull(json_string_value(json_array_get(frame, 1)), NULL, 16) +
                         (uint64_t)json_integer_value(json_object_get(image, "base")),
                     (uintptr_t)native_new + 1);
    expect_valid(w->path); /* one image, defined before it is used */
    json_decref(lines);
}

TEST(each_thread_s_comparisons_are_its_own_record)
{
    json_t *lines;

    w->config.agreement = &w->agreement;
    w->ring = ring_new(w);
    start(w);
    store_relaxed(&w->ring->checked.compared, 5);
    store_relaxed(&w->ring->checked.equal, 4);
    store_relaxed(&w->ring->checked.refused, 2);
    store_relaxed(&w->ring->checked.shadow_ns, 500);
    store_relaxed(&w->ring->checked.snapshot_ns, 100000);
    event_ring_close(w->ring);
    w->ring = NULL;
    stop(w);
    lines = log_read(w);
    assert_int_equal(count_of(lines, "check_thread"), 1);
    assert_int_equal(number(nth(lines, "check_thread", 0), "thread"), 1);
    assert_int_equal(number(nth(lines, "check_thread", 0), "compared"), 5);
    assert_int_equal(number(nth(lines, "check_thread", 0), "equal"), 4);
    assert_int_equal(number(nth(lines, "check_thread", 0), "refused"), 2);
    assert_int_equal(number(nth(lines, "check_thread", 0), "snapshot_ns"), 100000);
    assert_non_null(json_object_get(nth(lines, "thread", 1), "end"));
    expect_valid(w->path);
    json_decref(lines);
}

TEST(comparisons_are_summed_in_check_and_end)
{
    struct agreement *a = &w->agreement;
    json_t *lines, *snapshots;

    w->config.agreement = a;
    store_relaxed(&a->taken, 7);
    store_relaxed(&a->begun, 9);
    store_relaxed(&a->equal, 4);
    store_relaxed(&a->mismatched, 1);
    store_relaxed(&a->refused, 2);
    store_relaxed(&a->by_cause[AGREEMENT_DIFFERENT_METHOD], 1);
    agreement_refused(&a->refusals, (int32_t)0x80131360);
    agreement_refused(&a->refusals, (int32_t)0x80131360);
    for (unsigned i = 0; i < 5; i++)
        agreement_cost(a, 1 + 30 * i, 100, 20000);
    start(w);
    stop(w);
    lines = log_read(w);
    assert_int_equal(number(nth(lines, "check", 0), "compared"), 5);
    snapshots = json_object_get(last(lines), "snapshots");
    assert_int_equal(number(nth(lines, "check", 0), "equal"), 4);
    assert_int_equal(json_integer_value(json_object_get(snapshots, "taken")), 7);
    assert_int_equal(json_integer_value(json_object_get(snapshots, "unfinished")), 2);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(snapshots, "refused_by"), "0x80131360")),
        2);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(snapshots, "mismatched_by"),
                                                        "different_method")),
                     1);
    expect_valid(w->path);
    json_decref(lines);
}

static bool file_has(const char *text)
{
    char *content = NULL;
    size_t size = 0;
    FILE *file = fopen(w->path, "re"), *memory = open_memstream(&content, &size);
    bool found;

    for (int c; file && (c = fgetc(file)) != EOF;)
        fputc(c, memory);
    if (file)
        fclose(file);
    fclose(memory);
    found = strstr(content, text) != NULL;
    free(content);
    return found;
}

/* Each another number, so that none takes another one's place; byte for byte, as readers have known the line for long. */
TEST(every_counter_of_a_comparison_has_its_member)
{
    static const char *const expected[] = {
        "\"taken\":105,\"compared\":207,\"equal\":103,\"mismatched\":104,\"refused\":101,"
        "\"refused_by\":{\"0x80131360\":1},\"mismatched_by\":{\"shadow_missing\":1},\"ended_"
        "early\":102,",
        ",\"instructions\":{\"calls\":36,\"calls_equal\":11,\"calls_native\":12,\"sites\":14,"
        "\"sites_equal\":15,\"sites_unknown\":16},\"registers\":{\"ip\":{\"equal\":11,\"runtime\":"
        "12,"
        "\"tail_call\":13},\"sp\":{\"between\":17},\"fp\":{\"replaced\":18}},"
        "\"threads\":{\"stops\":21,\"busy\":22,\"walked\":23,\"equal\":24,\"leaving\":25,"
        "\"entering\":26,"
        "\"dispatching\":27,\"mismatched\":28,\"refused\":29,\"unready\":30,\"unwinding\":31,"
        "\"refused_by\":{\"0x80131361\":1},\"suspended_ns\":32,\"snapshot_ns\":33,\"shadow_ns\":34,"
        "\"ended_early\":35,\"unsafe\":37},"
        "\"seeds\":{\"tried\":41,\"running\":42,\"lost\":43,\"met\":44,\"met_stub\":45,\"taken\":"
        "46,"
        "\"same\":47,\"equal\":48,\"different\":49,\"refused\":50,\"refused_by\":{\"0x80131362\":1}"
        ","
        "\"missing\":\"libunwind\"},"
        "\"calls\":{\"taken\":61,\"equal\":62,\"entering\":63,\"dispatching\":64,\"mismatched\":65,"
        "\"lost\":66,\"refused_by\":{\"0x80131363\":1},\"ended_early\":67},\"repairs\":{",
        "\"snapshots\":{\"taken\":105,\"compared\":207,\"equal\":103,\"mismatched\":104,"
        "\"refused\":101,"
        "\"refused_by\":{\"0x80131360\":1},\"mismatched_by\":{\"shadow_missing\":1},\"ended_"
        "early\":102}"};
    struct agreement *a = &w->agreement;
    struct agreement_threads *threads = &a->threads;
    struct agreement_seeds *seeds = &a->seeds;
    struct agreement_calls *calls = &a->at_calls;
    _Atomic(uint64_t) *const counters[] = {&a->refused,
                                           &a->ended_early,
                                           &a->equal,
                                           &a->mismatched,
                                           &a->taken,
                                           &a->call[AGREEMENT_CALL_EQUAL],
                                           &a->call[AGREEMENT_CALL_RUNTIME],
                                           &a->call[AGREEMENT_CALL_TAIL],
                                           &a->sites,
                                           &a->sites_equal,
                                           &a->sites_unknown,
                                           &a->sp[AGREEMENT_SP_BETWEEN],
                                           &a->fp[AGREEMENT_FP_REPLACED],
                                           &threads->stops,
                                           &threads->busy,
                                           &threads->walked,
                                           &threads->equal,
                                           &threads->leaving,
                                           &threads->entering,
                                           &threads->dispatching,
                                           &threads->mismatched,
                                           &threads->refused,
                                           &threads->unready,
                                           &threads->unwinding,
                                           &threads->suspended_ns,
                                           &threads->snapshot_ns,
                                           &threads->shadow_ns,
                                           &threads->ended_early,
                                           &threads->unsafe,
                                           &seeds->tried,
                                           &seeds->running,
                                           &seeds->lost,
                                           &seeds->met,
                                           &seeds->met_stub,
                                           &seeds->taken,
                                           &seeds->same,
                                           &seeds->equal,
                                           &seeds->different,
                                           &seeds->refused,
                                           &calls->taken,
                                           &calls->equal,
                                           &calls->entering,
                                           &calls->dispatching,
                                           &calls->mismatched,
                                           &calls->lost,
                                           &calls->ended_early};
    static const uint64_t values[] = {101, 102, 103, 104, 105, 11, 12, 13, 14, 15, 16, 17,
                                      18,  21,  22,  23,  24,  25, 26, 27, 28, 29, 30, 31,
                                      32,  33,  34,  35,  37,  41, 42, 43, 44, 45, 46, 47,
                                      48,  49,  50,  61,  62,  63, 64, 65, 66, 67};

    w->config.agreement = a;
    for (size_t i = 0; i < COUNT_OF(counters); i++)
        store_relaxed(counters[i], values[i]);
    store_relaxed(&a->by_cause[AGREEMENT_SHADOW_MISSING], 1);
    agreement_refused(&a->refusals, (int32_t)0x80131360);
    agreement_refused(&threads->refusals, (int32_t)0x80131361);
    agreement_refused(&seeds->refusals, (int32_t)0x80131362);
    agreement_refused(&calls->refusals, (int32_t)0x80131363);
    store_relaxed(&seeds->missing, true);
    start(w);
    stop(w);
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        if (!file_has(expected[i]))
            fail_msg("the log has not: %s", expected[i]);
}

/* ---- waiting for names ---- */

static void wait_until_file_has(const char *text)
{
    uint64_t until = clock_ns() + PATIENCE_NS;

    while (!file_has(text)) {
        if (clock_ns() > until)
            fail_msg("the log never had %s", text);
        usleep(5000);
    }
}

/* What an allocation may have to wait for. */
enum wait { WAIT_CLASS, WAIT_METHOD, WAIT_INSTRUCTION, WAIT_SITE, WAITS };

static void event_waits(enum wait what)
{
    struct metadata_class *late = class_new(w, what == WAIT_CLASS ? NULL : "Late"),
                          *known = class_new(w, "Known");
    struct metadata_method *method = method_new(w, what == WAIT_METHOD ? NULL : "A.Late()");
    uint32_t site = tree_site_alloc(w->sites, (uintptr_t)method, 0x20, 0);
    struct tree_node *node = node_open(w, NULL, method, 0x10);
    struct tree_site *call = tree_call(w->tree, node), *alloc = tree_site_at(w->sites, site);
    struct event_ring *other = ring_new(w);
    json_t *lines;

    w->ring = ring_new(w);
    if (what != WAIT_INSTRUCTION)
        store_release(&call->il, 7);
    if (what != WAIT_SITE)
        store_release(&alloc->il, 8);
    allocate(w, known, NULL, 8);
    allocate_on(w->ring, late, node, site, 16, EVENT_HEAP_NORMAL); /* this one */
    allocate(w, known, NULL, 24);
    allocate_on(other, known, NULL, 0, 32, EVENT_HEAP_NORMAL);
    start(w);
    wait_until_file_has("\"bytes\":32"); /* others go on */
    wait_until_file_has("\"bytes\":8");
    assert_false(file_has("\"bytes\":16"));
    assert_false(file_has("\"bytes\":24")); /* later ones of the same thread wait after it */
    for (unsigned i = 0; i < 2000; i++) {   /* more than the ring holds: it goes on draining */
        while (load_acquire(&w->ring->head) - load_acquire(&w->ring->tail) >= w->ring->room)
            usleep(1000);
        allocate(w, known, NULL, 40);
    }
    if (what == WAIT_CLASS)
        store_release(&late->text, "Late");
    if (what == WAIT_METHOD)
        store_release(&method->text, "A.Late()");
    if (what == WAIT_INSTRUCTION)
        store_release(&call->il, 7);
    if (what == WAIT_SITE)
        store_release(&alloc->il, 8);
    stop(w);
    lines = log_read(w);
    expect_definitions_first(lines, true);
    expect_totals(lines, 2004);
    expect_valid(w->path);
    json_decref(lines);
}

static void order_of_bytes(const json_int_t *expected, size_t count)
{
    json_t *lines = log_read(w), *line;
    size_t i, at = 0;

    json_array_foreach(lines, i, line) if (is(line, "alloc") &&
                                           number(line, "thread") == w->ring->thread && at < count)
        assert_int_equal(number(line, "bytes"), expected[at++]);
    assert_int_equal(at, count);
    json_decref(lines);
}

TEST(an_event_waits_for_its_class_and_keeps_its_place)
{
    event_waits(WAIT_CLASS);
    order_of_bytes((const json_int_t[]){8, 16, 24, 40, 40}, 5);
}

TEST(an_event_waits_for_its_method)
{
    event_waits(WAIT_METHOD);
    order_of_bytes((const json_int_t[]){8, 16, 24, 40}, 4);
}

TEST(an_event_waits_for_its_call_instruction)
{
    event_waits(WAIT_INSTRUCTION);
    order_of_bytes((const json_int_t[]){8, 16, 24, 40}, 4);
}

TEST(an_event_waits_for_its_own_instruction)
{
    event_waits(WAIT_SITE);
    order_of_bytes((const json_int_t[]){8, 16, 24, 40}, 4);
}

TEST(what_is_never_named_counts_as_lost)
{
    struct metadata_class *never = class_new(w, NULL);
    json_t *lines;

    for (unsigned i = 0; i < 5; i++)
        allocate(w, never, NULL, 24);
    start(w);
    store_relaxed(&w->hub.stopped, true);
    log_stop(w->log, 50);
    while (!load_acquire(&w->log->ended))
        usleep(1000);
    lines = log_read(w);
    expect_totals(lines, 5);
    assert_int_equal(number(last(lines), "written"), 0);
    assert_int_equal(number(last(lines), "lost"), 5);
    json_decref(lines);
}

#define LATE       30  /* classes that are named after the end, one by one */
#define LATE_MS    60  /* from one to the next: all of them take longer than */
#define PATIENT_MS 900 /* the writer waits without getting on */

static bool
    first_last; /* the first of them is named last, as one that waits for the slowest place in code */

/* Names them. Returns: whether the machine let it do so without a break that the writer must not wait for. */
static void *name_late(void *late)
{
    struct metadata_class *const *class = late;
    uint64_t longest = 0;

    for (unsigned i = 0; i < LATE; i++) {
        uint64_t began = clock_ns();

        usleep(LATE_MS * 1000);
        if (first_last)
            metadata_progressed(w->metadata);
        store_release(&class[first_last ? LATE - 1 - i : i] -> text, "Late");
        log_named(w->log);
        longest = clock_ns() - began > longest ? clock_ns() - began : longest;
    }
    return longest < PATIENT_MS * UINT64_C(1000000) / 3 ? late : NULL;
}

static void named_after_the_end(void)
{
    void *in_time = NULL;

    for (unsigned tries = 0; !in_time; tries++) {
        struct metadata_class *late[LATE];
        pthread_t thread;
        json_t *lines;

        if (tries == 20)
            skip(); /* this machine cannot tell */
        for (unsigned i = 0; i < LATE; i++) {
            late[i] = class_new(w, NULL);
            allocate(w, late[i], NULL, 24);
        }
        start(w);
        assert_int_equal(pthread_create(&thread, NULL, name_late, late), 0);
        store_relaxed(&w->hub.stopped, true);
        log_stop(w->log, PATIENT_MS);
        pthread_join(thread, &in_time);
        while (!load_acquire(&w->log->ended))
            usleep(1000);
        lines = log_read(w);
        expect_totals(lines, LATE);
        if (in_time)
            assert_int_equal(number(last(lines), "written"), LATE);
        json_decref(lines);
        world_again(w);
    }
}

TEST(what_gets_its_name_after_the_end_is_waited_for_as_long_as_names_come)
{
    first_last = false;
    named_after_the_end();
}

TEST(what_waits_for_a_place_in_code_is_waited_for_as_long_as_places_are_resolved)
{
    first_last = true;
    named_after_the_end();
}

/* ---- losses ---- */

TEST(losses_are_written_by_reason)
{
    struct metadata_class *class = class_new(w, "C");
    json_t *lines, *lost_by;

    w->hub.drop = true;
    for (unsigned i = 0; i < 1024 + 10; i++)
        allocate(w, class, NULL, 24);
    store_relaxed(&w->ring->seen, load_relaxed(&w->ring->seen) + 2);
    event_lose(w->ring, EVENT_LOST_NO_CLASS);
    event_lose(w->ring, EVENT_LOST_NO_CLASS);
    add_relaxed(&w->hub.lost[EVENT_LOST_NO_RING], 3); /* of threads that have no ring to count on */
    start(w);
    stop(w);
    lines = log_read(w);
    expect_totals(lines, 1024 + 10 + 2 + 3);
    lost_by = json_object_get(last(lines), "lost_by");
    assert_int_equal(json_integer_value(json_object_get(lost_by, "ring_full")), 10);
    assert_int_equal(json_integer_value(json_object_get(lost_by, "no_class")), 2);
    assert_int_equal(json_integer_value(json_object_get(lost_by, "no_ring")), 3);
    assert_int_equal(count_of(lines, "lost"), 3);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(losses_of_a_thread_that_ended_are_kept)
{
    struct metadata_class *class = class_new(w, "C");
    json_t *lines;

    w->hub.drop = true;
    for (unsigned i = 0; i < 1024 + 10; i++)
        allocate(w, class, NULL, 24);
    event_ring_close(w->ring);
    w->ring = NULL; /* the writer frees it */
    start(w);
    wait_until_file_has("\"end\":"); /* of the thread */
    stop(w);
    lines = log_read(w);
    expect_totals(lines, 1024 + 10);
    assert_int_equal(number(last(lines), "lost"), 10);
    json_decref(lines);
}

/* ---- the file ---- */

TEST(the_file_is_the_users_own)
{
    struct stat status;

    start(w);
    stop(w);
    assert_int_equal(stat(w->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect_second_name(const char *first, const char *pattern)
{
    char path[256], second[256];
    json_t *lines;

    snprintf(path, sizeof(path), "%s/%s", w->folder, first);
    write_file(path, "somebody else's\n");
    memory_free(w->options.output);
    w->options.output = memory_strdup(path);
    start(w);
    stop(w);
    snprintf(second, sizeof(second), pattern, w->folder, (int)getpid());
    assert_string_equal(w->log->file.path, second);
    lines = lines_read(second, NULL);
    assert_int_equal(json_array_size(lines), 2);
    json_decref(lines);
}

TEST(a_file_that_exists_is_kept_and_the_log_has_the_pid_in_its_name)
{
    char line[64];
    FILE *file;

    expect_second_name("out.ndjson", "%s/out.%d.ndjson");
    file = fopen(w->path, "re");
    assert_non_null(fgets(line, sizeof(line), file));
    assert_string_equal(line, "somebody else's\n");
    fclose(file);
}

TEST(a_second_name_without_extension_ends_in_the_pid)
{
    expect_second_name("trace", "%s/trace.%d");
}

TEST(a_dot_in_front_is_no_extension)
{
    expect_second_name(".trace", "%s/.trace.%d");
}

TEST(a_log_is_never_written_through_a_link)
{
    char target[128];

    snprintf(target, sizeof(target), "%s/target", w->folder);
    assert_int_equal(symlink(target, w->path),
                     0); /* dangling: open() without O_EXCL would create the target */
    start(w);
    stop(w);
    assert_int_equal(access(target, F_OK), -1);
    assert_string_not_equal(w->log->file.path, w->path);
}

TEST(a_name_that_is_taken_is_followed_by_the_next)
{
    char next[128];

    write_file(w->path, "");
    snprintf(next, sizeof(next), "%s/out.%d.ndjson", w->folder, (int)getpid());
    write_file(next, "");
    assert_int_equal(world_open(w), 0); /* a process of our number, in another PID namespace */
    snprintf(next, sizeof(next), "%s/out.%d-2.ndjson", w->folder, (int)getpid());
    assert_int_equal(access(next, F_OK), 0);
}

TEST(a_folder_that_is_missing_is_said)
{
    memory_free(w->options.output);
    w->options.output = memory_strdup("/nonexistent-folder/out.ndjson");
    assert_int_equal(world_open(w), -ENOENT);
    assert_null(w->log);
    assert_non_null(strstr(w->why, "/nonexistent-folder/out.ndjson"));
}

TEST(a_name_that_is_too_long_is_said)
{
    static char name[5001];

    memset(name, 'x', 5000);
    memory_free(w->options.output);
    w->options.output = memory_strdup(name);
    assert_int_equal(world_open(w), -ENAMETOOLONG);
    assert_null(w->log);
}

TEST(without_a_name_the_log_is_called_after_the_program)
{
    char expected[128];

    memory_free(w->options.output);
    w->options.output = NULL;
    w->options.directory = memory_strdup(w->folder);
    start(w);
    stop(w);
    snprintf(expected, sizeof(expected), "%s/shadowtrace-App-%d.ndjson", w->folder, (int)getpid());
    assert_string_equal(w->log->file.path, expected);
    assert_int_equal(access(expected, F_OK), 0);
}

TEST(what_a_thread_recorded_is_soon_in_the_file)
{
    struct metadata_class *class = class_new(w, "C");

    start(w);
    allocate(w, class, NULL, 7 * 8);
    wait_until_file_has("\"bytes\":56"); /* though nobody stops the log */
    stop(w);
}

TEST(the_writer_has_a_name_and_takes_no_signals_but_its_own)
{
    uint64_t until = clock_ns() + PATIENCE_NS;
    bool found = false;

    start(w);
    while (!found && clock_ns() < until) {
        DIR *tasks = opendir("/proc/self/task");

        for (struct dirent *task; (task = readdir(tasks)) && !found;) {
            char path[300], line[256];
            bool writer = false;
            FILE *file;

            snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
            file = fopen(path, "re");
            while (file && fgets(line, sizeof(line), file)) {
                const unsigned long long faults = 1u << (SIGSEGV - 1) | 1u << (SIGBUS - 1) |
                                                  1u << (SIGFPE - 1) | 1u << (SIGILL - 1) |
                                                  1u << (SIGTRAP - 1);
                unsigned long long blocked;

                writer |= strcmp(line, "Name:\tshadowtrace-log\n") == 0;
                if (writer && sscanf(line, "SigBlk: %llx", &blocked) == 1) {
                    found = true;
                    /* All but SIGKILL, SIGSTOP, the C library's own two and SIGRTMIN. */
                    assert_true((blocked | faults | 1u << (SIGKILL - 1) | 1u << (SIGSTOP - 1) |
                                 7ull << 31) == ~0ull);
                }
            }
            if (file)
                fclose(file);
        }
        closedir(tasks);
    }
    assert_true(found);
    stop(w);
}

/* ---- writing that fails ---- */

static rlim_t limit_before;

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit_before = limit.rlim_cur;
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void unlimit_file_size(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limit_before;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void write_under_limit(rlim_t bytes, unsigned events)
{
    struct metadata_class *class = w->class_count ? &w->classes[0] : class_new(w, "C");

    w->hub.slots = 65536;
    assert_int_equal(world_open(w), 0);
    for (unsigned i = 0; i < events; i++)
        allocate(w, class, NULL, 24);
    limit_file_size(bytes);
    start(w);
    stop(w);
    unlimit_file_size();
}

/* Whatever is cut where: what the writer calls written is whole in the file, the rest is lost, and both are all. */
TEST(what_could_not_be_written_is_counted)
{
    const unsigned events = 10000;

    for (rlim_t bytes = 30000; bytes < 30140; bytes += 7) { /* cuts a line anywhere */
        uint64_t by[EVENT_LOST_REASONS], seen;
        json_t *lines;
        bool cut;

        write_under_limit(bytes, events);
        lines = lines_read(w->path, &cut);
        log_lost(w->log, by, &seen);
        assert_int_equal(seen, events);
        assert_true(by[EVENT_LOST_WRITE_FAILED] > 0);
        assert_int_equal(log_written(w->log) + by[EVENT_LOST_WRITE_FAILED], events);
        assert_int_equal(log_written(w->log), count_of(lines, "alloc"));
        json_decref(lines);
        world_again(w);
    }
}

TEST(a_log_that_can_be_written_again_goes_on)
{
    struct metadata_class *class = class_new(w, "C");
    uint64_t until = clock_ns() + PATIENCE_NS;
    json_t *lines;

    w->hub.slots = 65536;
    assert_int_equal(world_open(w), 0);
    for (unsigned i = 0; i < 10000; i++)
        allocate(w, class, NULL, 24);
    limit_file_size(30000);
    start(w);
    while (clock_ns() < until) { /* until it has met the limit */
        struct stat status;

        if (stat(w->path, &status) == 0 && status.st_size >= 30000)
            break;
        usleep(2000);
    }
    usleep(20000);
    unlimit_file_size();
    for (unsigned i = 0; i < 100; i++)
        allocate(w, class, NULL, 24);
    stop(w);
    lines = log_read(w);
    expect_totals(lines, 10100);
    assert_int_equal(number(last(lines), "lost"),
                     0); /* what waited in memory was written after all */
    expect_valid(w->path);
    json_decref(lines);
}

static void lift_the_limit(int signal)
{
    (void)signal;
    unlimit_file_size();
}

/* One write fails, and the next would not. */
TEST(a_failure_that_passes_at_the_very_end_costs_nothing)
{
    for (unsigned compress = 0; compress < 2; compress++) {
        struct log_tally lost;
        json_t *lines;

        w->options.compress = compress;
        assert_int_equal(world_open(w), 0);
        assert_int_equal(log_write_end(w->log, 1), 0);
        limit_file_size((rlim_t)w->log->file.bytes); /* not a byte more */
        signal(SIGXFSZ, lift_the_limit);
        log_file_close(&w->log->file, &lost);
        lines = compress ? lines_unpack(w->path, NULL) : log_read(w);
        assert_string_equal(kind_of(last(lines)), "end");
        json_decref(lines);
        expect_valid(w->path);
        world_again(w);
    }
}

TEST(a_log_that_cannot_even_take_its_header_is_not_opened)
{
    for (unsigned compress = 0; compress < 2; compress++) {
        int err;

        w->options.compress = compress;
        limit_file_size(0);
        err = world_open(w);
        unlimit_file_size();
        assert_int_equal(err, -EFBIG);
        assert_null(w->log);
        assert_non_null(strstr(w->why, w->path));
        unlink(w->path);
    }
}

/* ---- a mark that all stands before ---- */

/* The file is complete when it returns: a reader need not wait, nor may the log end first. */
TEST(what_was_recorded_before_a_mark_is_in_the_file_with_it)
{
    for (unsigned compress = 0; compress < 2; compress++) {
        struct metadata_class *class = class_new(w, "C");
        json_t *lines;

        w->options.compress = compress;
        w->hub.slots = 65536;
        assert_int_equal(world_open(w), 0);
        start(w);
        for (unsigned round = 1; round <= 20; round++) {
            for (unsigned i = 0; i < 1000; i++)
                allocate(w, class, NULL, 24);
            assert_int_equal(log_mark_behind(w->log, "behind"), 0);
            lines = compress ? lines_unpack(w->path, NULL) : log_read(w);
            assert_int_equal(count_of(lines, "alloc"), 1000 * round);
            assert_int_equal(count_of(lines, "mark"), round);
            json_decref(lines);
        }
        stop(w);
        world_again(w);
    }
}

/* Allocations and marks in turn: by time as by place, for it is time that parts a log at its marks. */
TEST(a_mark_is_timed_by_the_clock_of_allocations)
{
    struct metadata_class *class = class_new(w, "C");
    json_t *lines, *line;
    json_int_t allocs[500], marks[500];
    size_t i, a = 0, m = 0;

    start(w);
    for (unsigned n = 0; n < 500; n++) {
        allocate(w, class, NULL, 24);
        assert_int_equal(log_mark(w->log, "mark"), 0);
    }
    stop(w);
    lines = log_read(w);
    json_array_foreach(lines, i, line)
    {
        if (is(line, "alloc"))
            allocs[a++] = number(line, "t");
        if (is(line, "mark"))
            marks[m++] = number(line, "t");
    }
    assert_int_equal(a, 500);
    assert_int_equal(m, 500);
    for (i = 0; i < 500; i++) {
        assert_true(allocs[i] <= marks[i]);
        assert_true(i == 499 || marks[i] <= allocs[i + 1]);
    }
    json_decref(lines);
}

/* ---- compressed ---- */

TEST(a_compressed_log_holds_the_same_lines)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *node = node_new(w, NULL, method, 1);
    struct stat status;
    json_t *lines;

    w->options.compress = true;
    w->hub.slots = 65536;
    assert_int_equal(world_open(w), 0);
    for (unsigned i = 0; i < 20000; i++)
        allocate(w, class, node, 8 * i);
    start(w);
    stop(w);
    assert_int_equal(stat(w->path, &status), 0);
    assert_true(status.st_size < 20000 * 20);
    lines = lines_unpack(w->path, NULL);
    expect_definitions_first(lines, true);
    expect_totals(lines, 20000);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(what_is_flushed_of_a_compressed_log_can_be_read_before_its_end)
{
    struct metadata_class *class = class_new(w, "C");
    uint64_t until = clock_ns() + PATIENCE_NS;
    size_t found = 0;

    w->options.compress = true;
    start(w);
    for (unsigned i = 0; i < 10; i++)
        allocate(w, class, NULL, 24);
    while (found < 10 && clock_ns() < until) {
        bool cut;
        json_t *lines = lines_unpack(w->path, &cut);

        found = count_of(lines, "alloc");
        json_decref(lines);
        usleep(10000);
    }
    assert_int_equal(found, 10);
    stop(w);
}

/* Numbers that do not compress well, so that the limit is met soon. */
TEST(what_a_compressed_log_could_not_write_is_counted)
{
    const unsigned events = 20000;
    struct metadata_class *class = class_new(w, "C");
    uint64_t random = 88172645463325252u;

    w->options.compress = true;
    w->hub.slots = 65536;
    for (rlim_t bytes = 20000; bytes < 20005; bytes += 3) {
        uint64_t by[EVENT_LOST_REASONS], seen;
        json_t *lines;
        bool cut;

        assert_int_equal(world_open(w), 0);
        for (unsigned i = 0; i < events; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            allocate(w, class, NULL, (random & 0xffffffffff) * 8);
        }
        limit_file_size(bytes);
        start(w);
        stop(w);
        unlimit_file_size();
        lines = lines_unpack(w->path, &cut);
        log_lost(w->log, by, &seen);
        assert_int_equal(seen, events);
        assert_true(by[EVENT_LOST_WRITE_FAILED] > 0);
        assert_int_equal(log_written(w->log) + by[EVENT_LOST_WRITE_FAILED], events);
        assert_true(count_of(lines, "alloc") >=
                    log_written(w->log)); /* a piece cut short may still give some */
        json_decref(lines);
        world_again(w);
    }
}

static void record_parts(unsigned events)
{
    struct metadata_class *classes[] = {class_new(w, "C"), class_new(w, "D")};
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *nodes[] = {node_new(w, NULL, method, 1),
                                 node_new(w, node_new(w, NULL, method, 1), method, 2)};

    start(w);
    for (unsigned i = 0; i < events; i++) {
        wait_for_room(w);
        allocate(w, classes[i % 2], nodes[i / 3 % 2], 8 * i);
    }
    stop(w);
}

/* A log of samples: the program's start waits for no compressor, nor for the first lines. */
static void record_samples(unsigned events)
{
    struct metadata_class *class = class_new(w, "C");

    w->options.compress = w->options.runtime_samples = true;
    w->hub.slots = 65536;
    assert_int_equal(world_open(w), 0);
    assert_true(w->log->headless);
    for (unsigned i = 0; i < events; i++)
        allocate(w, class, NULL, 8 * i);
    start(w);
    stop(w);
}

static void expect_samples(unsigned events)
{
    json_t *lines = lines_unpack(w->path, NULL);

    assert_non_null(json_object_get(json_array_get(lines, 0), "parents"));
    expect_definitions_first(lines, true);
    expect_totals(lines, events);
    expect_valid(w->path);
    json_decref(lines);
}

TEST(a_log_of_samples_that_ends_soon_loads_no_compressor)
{
    record_samples(20);
    assert_null(w->log->file.zstd);
    expect_samples(20);
}

TEST(a_log_of_samples_that_grows_is_compressed)
{
    struct stat status;

    record_samples(20000);
    assert_non_null(w->log->file.zstd);
    expect_samples(20000);
    assert_int_equal(stat(w->path, &status), 0);
    assert_true(status.st_size < 20000 * 20);
}

TEST(a_log_without_the_compressor_that_it_was_to_have_is_whole)
{
    w->options.compress = w->options.runtime_samples = true;
    w->options.max_log = 1 << 20;
    w->options.keep = 20;
    assert_int_equal(world_open(w), 0);
    store_release(&w->log->file.uncompressed, "it is not there");
    record_parts(5000);
    assert_true(w->log->file.part > 2);
    assert_null(w->log->file.zstd);
    for (unsigned part = 1; part <= w->log->file.part; part++) {
        char path[128];
        json_t *lines;
        const char *why;

        snprintf(path, sizeof(path), part < w->log->file.part ? "%s.%u" : "%s", w->path, part);
        lines = lines_unpack(path, NULL);
        why = json_string_value(json_object_get(json_array_get(lines, 0), "uncompressed"));
        assert_true(why && strcmp(why, "it is not there") == 0);
        json_decref(lines);
    }
    expect_valid(w->path);
}

/* ---- of limited size ---- */

static json_t *part_read(const char *suffix)
{
    char path[128];

    snprintf(path, sizeof(path), "%s%s", w->path, suffix);
    return lines_read(path, NULL);
}

TEST(a_log_of_limited_size_is_its_last_two_parts)
{
    json_t *older, *newer;
    struct stat status;

    w->options.max_log = 200000;
    assert_int_equal(world_open(w), 0);
    w->log->started_at -= 100; /* some time ago: the parts are still of one recording */
    record_parts(20000);
    older = part_read(".1");
    newer = part_read("");
    assert_true(json_equal(json_object_get(json_array_get(older, 0), "started"),
                           json_object_get(json_array_get(newer, 0), "started")));
    assert_string_equal(kind_of(json_array_get(older, 0)), "header");
    assert_string_equal(kind_of(json_array_get(newer, 0)), "header");
    expect_definitions_first(older, true); /* each can be read without the other */
    expect_definitions_first(newer, true);
    assert_string_equal(kind_of(last(newer)), "end");
    assert_int_equal(number(last(newer), "seen"), 20000);
    assert_int_equal(number(last(newer), "written") + number(last(newer), "lost"), 20000);
    assert_true(w->log->file.part > 2);
    assert_int_equal(stat(w->path, &status), 0);
    assert_true(status.st_size < 200000 + 1000000);
    json_decref(older);
    json_decref(newer);
}

TEST(what_waited_for_a_late_writer_goes_to_as_many_parts_as_it_needs)
{
    struct metadata_class *class = class_new(w, "C");
    struct tree_node *node = node_new(w, NULL, method_new(w, "A()"), 1);
    struct stat status;
    uint64_t room;
    json_t *lines;

    w->options.max_log = 60000;
    assert_int_equal(world_open(w), 0);
    w->ring = ring_new(w);
    room = w->ring->room;
    for (uint64_t i = 0; i < room; i++) /* some 80 KB */
        allocate(w, class, node, 1u << 20);
    start(w);
    stop(w);
    assert_true(w->log->file.part > 2);
    lines = part_read(".1");
    assert_string_equal(kind_of(last(lines)), "alloc");
    assert_int_equal(access(w->path, F_OK), 0);
    json_decref(lines);
    lines = part_read("");
    assert_int_equal(number(last(lines), "written"), room);
    json_decref(lines);
    for (unsigned i = 0; i < 2; i++) { /* its share, and what is written at once */
        char path[128];

        snprintf(path, sizeof(path), "%s%s", w->path, i ? ".1" : "");
        assert_int_equal(stat(path, &status), 0);
        assert_true(status.st_size < 30000 + LOG_FLUSH_BYTES + 2000);
    }
}

TEST(as_many_older_parts_are_kept_as_asked_for_and_the_rest_is_counted)
{
    json_t *lines, *gone;
    char path[128], suffix[8];
    json_int_t next = -1;
    uint32_t parts;

    w->options.max_log = 200000;
    w->options.keep = 3;
    record_parts(20000);
    parts = w->log->file.part;
    assert_true(parts > 6);
    for (unsigned i = 1; i <= 3; i++) {
        snprintf(path, sizeof(path), "%s.%u", w->path, i);
        assert_int_equal(access(path, F_OK), 0);
    }
    snprintf(path, sizeof(path), "%s.4", w->path);
    assert_int_equal(access(path, F_OK), -1);
    lines = part_read("");
    gone = json_object_get(last(lines), "rotated_out");
    assert_int_equal(number(gone, "parts"), parts - 4);
    json_decref(lines);
    for (uint32_t part = parts - 3; part < parts; part++) { /* each in the file whose turn it was */
        snprintf(suffix, sizeof(suffix), ".%u", (part - 1) % 3 + 1);
        lines = part_read(suffix);
        assert_int_equal(number(json_array_get(lines, 0), "part"), part);
        for (size_t i = 0; i < json_array_size(lines); i++) {
            json_t *line = json_array_get(lines, i);

            if (!is(line, "alloc"))
                continue;
            assert_true(next < 0 || number(line, "bytes") == next);
            next = number(line, "bytes") + 8;
        }
        json_decref(lines);
    }
}

TEST(a_part_ends_when_its_time_is_over)
{
    json_t *older, *newer;

    w->options.part_time = 1;
    w->options.keep = 1;
    assert_int_equal(world_open(w), 0);
    w->log->file.part_began_ns -= 1000000000u; /* it began a second ago */
    record_parts(100);
    older = part_read(".1");
    newer = part_read("");
    assert_int_equal(number(json_array_get(newer, 0), "part"), 2);
    assert_string_equal(kind_of(json_array_get(older, 0)), "header");
    assert_int_equal(count_of(older, "alloc") + count_of(newer, "alloc"), 100);
    json_decref(older);
    json_decref(newer);
}

TEST(no_line_is_missing_between_two_parts)
{
    json_t *lines, *older, *line;
    json_int_t next = -1;
    size_t i;

    w->options.max_log = 100000;
    record_parts(5000);
    lines = part_read(".1");
    older = part_read("");
    json_array_extend(lines, older);
    json_array_foreach(lines, i, line)
    {
        if (!is(line, "alloc"))
            continue;
        assert_true(next < 0 || number(line, "bytes") == next);
        next = number(line, "bytes") + 8;
    }
    assert_int_equal(next, 8 * 5000);
    json_decref(lines);
    json_decref(older);
}

TEST(somebody_elses_file_is_not_taken_for_an_older_part)
{
    char path[128], line[64] = "";
    struct stat status;
    FILE *file;

    snprintf(path, sizeof(path), "%s.1", w->path);
    write_file(path, "somebody else's\n");
    w->options.max_log = 100000;
    record_parts(5000);
    file = fopen(path, "re");
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_string_equal(line, "somebody else's\n");
    assert_true(w->log->file.part > 2); /* nor does it keep the log from being parted */
    assert_int_equal(stat(w->path, &status), 0);
    assert_true(status.st_size <= 100000);
    snprintf(path, sizeof(path), "%s.2", w->path);
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_size <= 100000);
    unlink(path);
}

/* ---- the status file ---- */

static json_t *status_read(void)
{
    char path[128];
    json_t *status;

    snprintf(path, sizeof(path), "%s/%d.json", w->options.status, (int)getpid());
    status = json_load_file(path, 0, NULL);
    assert_non_null(status);
    return status;
}

static void use_status_folder(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/status", w->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    w->options.status = memory_strdup(path);
}

TEST(the_status_file_says_how_it_ended)
{
    struct metadata_class *class = class_new(w, "C");
    json_t *status;

    use_status_folder();
    for (unsigned i = 0; i < 5; i++)
        allocate(w, class, NULL, 24);
    start(w);
    stop(w);
    status = status_read();
    assert_string_equal(json_string_value(json_object_get(status, "state")), "ended");
    assert_string_equal(json_string_value(json_object_get(status, "log")), w->path);
    assert_int_equal(json_integer_value(json_object_get(status, "seen")), 5);
    assert_int_equal(json_integer_value(json_object_get(status, "written")), 5);
    assert_int_equal(json_integer_value(json_object_get(status, "lost")), 0);
    assert_int_equal(json_integer_value(json_object_get(status, "pid")), getpid());
    json_decref(status);
}

TEST(the_status_file_says_that_writing_failed)
{
    json_t *status;

    use_status_folder();
    write_under_limit(30000, 10000);
    status = status_read();
    assert_string_equal(json_string_value(json_object_get(status, "state")), "failed");
    assert_non_null(strstr(json_string_value(json_object_get(status, "reason")), w->path));
    assert_int_equal(json_integer_value(json_object_get(status, "seen")), 10000);
    assert_int_equal(json_integer_value(json_object_get(status, "written")) +
                         json_integer_value(json_object_get(status, "lost")),
                     10000);
    json_decref(status);
}

TEST(a_process_that_declines_says_why)
{
    json_t *status;

    use_status_folder();
    log_status_declined(w->options.status, "/usr/bin/dotnet", command, "a runtime below .NET 8");
    status = status_read();
    assert_string_equal(json_string_value(json_object_get(status, "state")), "declined");
    assert_string_equal(json_string_value(json_object_get(status, "reason")),
                        "a runtime below .NET 8");
    json_decref(status);
}

/* ---- a child after fork ---- */

TEST(an_abandoned_log_writes_nothing)
{
    struct metadata_class *class = class_new(w, "C");
    struct stat before, after;

    assert_int_equal(world_open(w), 0);
    assert_int_equal(stat(w->path, &before), 0);
    for (unsigned i = 0; i < 100; i++)
        allocate(w, class, NULL, 24);
    log_abandon(w->log);
    start(w);
    stop(w);
    assert_int_equal(stat(w->path, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
}

/* ---- memory that runs out ---- */

static void *seam_alloc(size_t size)
{
    return memory_alloc(size);
}

#define ENDED 10u /* threads: more than the first array of their ids holds */

/* All there is in a log, with the n-th allocation and all after it failing. Returns whether the log was opened. */
static bool run_out_of_memory(long n)
{
    struct metadata_class *class = &w->classes[0], *other = &w->classes[1];
    struct metadata_method *a = &w->methods[0], *b = &w->methods[1];
    struct tree_node *node = node_new(w, node_new(w, NULL, a, 1), b, 2);
    uint32_t site = site_new(w, b, 3);
    bool opened;
    int err;

    for (unsigned i = 0; i < ENDED; i++) {
        w->ring = ring_new(w);
        allocate(w, class, node, 24);
        event_ring_close(w->ring);
    }
    w->ring = ring_new(w);
    for (unsigned i = 0; i < 20; i++)
        allocate_on(w->ring, i % 2 ? class : other, node, site, 8 * i, EVENT_HEAP_LARGE);
    post_payload(w->ring, mismatch_new(class, a, b), EVENT_MISMATCH);
    json_set_alloc_funcs(seam_alloc, memory_free);
    memory_fail_after(n);
    errno = 0;
    err = world_open(w);
    opened = err == 0;
    if (opened) {
        if (log_start(w->log) == 0) {
            store_relaxed(&w->hub.stopped, true);
            log_stop(w->log, 2);
            while (!load_acquire(&w->log->ended))
                usleep(100);
        }
    } else {
        assert_int_equal(err, -ENOMEM);
        assert_null(w->log);
        assert_true(w->why[0] != '\0');
        assert_int_not_equal(errno, EBADF); /* a file that was closed is not closed again */
    }
    memory_fail_after(-1);
    json_set_alloc_funcs(malloc, free);
    return opened;
}

/* With the n-th allocation failing for n = 0, 1, 2, ..., until all of them succeed: what is in the file is whole lines,
 * nothing is used before it is defined, and what is not in the file is counted. */
TEST(whatever_allocation_fails_the_log_holds_together)
{
    bool whole = false;

    class_new(w, "Some.Class");
    class_new(w, "Another");
    method_new(w, "A()");
    method_new(w, "B()");
    w->config.agreement = &w->agreement;
    store_relaxed(&w->agreement.taken, 3);
    store_relaxed(&w->agreement.equal, 3);
    agreement_cost(&w->agreement, 3, 100, 2000);
    for (long n = 0; !whole; n++) {
        assert_true(n < 2000);
        if (run_out_of_memory(n)) {
            json_t *lines = log_read(w);
            uint64_t by[EVENT_LOST_REASONS], seen, lost = 0;

            whole = json_array_size(lines) > 1 && is(last(lines), "end") &&
                    number(last(lines), "written") == 20 + ENDED &&
                    count_of(lines, "mismatch") == 1 && count_of(lines, "check") == 1;
            expect_definitions_first(lines, false);
            assert_true(count_of(lines, "thread") <= 2 * ENDED + 1); /* begins once, ends once */
            log_lost(w->log, by, &seen);
            for (unsigned i = 0; i < EVENT_LOST_REASONS; i++)
                lost += by[i];
            assert_true(log_written(w->log) + lost <= 20 + ENDED);
            assert_int_equal(log_written(w->log), count_of(lines, "alloc"));
            if (is(last(lines), "end"))
                expect_totals(lines, 20 + ENDED);
            json_decref(lines);
        }
        world_again(w);
    }
}

TEST(a_log_goes_on_once_memory_is_back)
{
    struct metadata_class *class = class_new(w, "C");
    struct metadata_method *method = method_new(w, "A()");
    struct tree_node *node = node_new(w, NULL, method, 1);
    json_t *lines;

    assert_int_equal(world_open(w), 0);
    memory_fail_after(0);
    start(w);
    memory_fail_after(-1);
    w->ring = ring_new(w);
    memory_fail_after(0);
    for (unsigned i = 0; i < 10; i++)
        allocate(w, class, node, 24);
    parker_unpark(&w->hub.writer);
    usleep(100000); /* rounds without memory; however many there are, the rest must hold */
    memory_fail_after(-1);
    for (unsigned i = 0; i < 10; i++)
        allocate(w, class, node, 48);
    stop(w);
    lines = log_read(w);
    expect_definitions_first(lines, false);
    expect_totals(lines, 20);
    assert_true(number(last(lines), "written") >= 10);
    expect_valid(w->path);
    json_decref(lines);
}

static int start_all(void **state)
{
    const struct stack_config config = {0};

    (void)state;
    clock_start();
    return stack_start(&config);
}

TEST_EACH(setup, teardown);
TEST_GROUP(start_all, NULL);
