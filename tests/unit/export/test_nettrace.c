#include "unit/export/written.h"

#include "export/nettrace.h"

/* Reads a file block by block; what is not as the format has it fails. */
struct reader {
    const char *data;
    size_t size, at;
    unsigned stacks, events, modules, methods, maps;
    uint64_t stack_addresses[10][5], stack_sizes[10];
    uint64_t starts[10];
    char text[10][200]; /* of methods: type|method|parameters, in ASCII */
    struct {
        uint64_t bytes, object, thread, time;
        uint32_t stack, sequence;
        char type[100];
    } ticks[10];
    uint32_t last_sequence;
};

/* A UTF-16 text, its letters beyond ASCII as '?'. Returns: its end. */
static const char *text(const char *at, char *to)
{
    uint64_t unit;

    while ((unit = little(at, 2)) != 0) {
        *to++ = unit >= 0x20 && unit < 0x7f ? (char)unit : '?';
        at += 2;
    }
    *to = '\0';
    return at + 2;
}

static void take_event(struct reader *r, unsigned kind, const char *payload, size_t size,
                       uint64_t thread, uint64_t time, uint32_t stack)
{
    char some[300];

    if (kind == 1) {
        assert_int_equal(little(payload, 8), ++r->modules);
        text(payload + 24, some);
    } else if (kind == 2) {
        char *to = r->text[r->methods];
        const char *at = text(payload + 36, to);

        r->starts[r->methods++] = little(payload + 16, 8);
        strcat(to, "|");
        at = text(at, to + strlen(to));
        strcat(to, "|");
        at = text(at, to + strlen(to));
        assert_ptr_equal(at + 10, payload + size);
    } else if (kind == 3) {
        assert_int_equal(size, 8 + 8 + 1 + 2 + 8 * little(payload + 17, 2) + 2);
        r->maps++;
    } else {
        const char *at = text(payload + 26, r->ticks[r->events].type);

        assert_int_equal(kind, 4);
        r->ticks[r->events].bytes = little(payload + 10, 8);
        r->ticks[r->events].object = little(at + 12, 8);
        r->ticks[r->events].thread = thread;
        r->ticks[r->events].time = time;
        r->ticks[r->events++].stack = stack;
        assert_ptr_equal(at + 20, payload + size);
    }
}

static void take_events(struct reader *r, const char *at, const char *end)
{
    uint64_t thread = 0, time = 0, size = 0;
    uint32_t kind = 0, stack = 0, sequence = 0;

    assert_int_equal(little(at, 2), 20);
    assert_int_equal(little(at + 2, 2), 1);
    for (at += 20; at < end; at += size) {
        unsigned flags = (uint8_t)*at++;

        if (flags & 1)
            kind = (uint32_t)varint(&at);
        sequence++;
        if (flags & 2) {
            sequence += (uint32_t)varint(&at);
            varint(&at);
            varint(&at);
        }
        thread = flags & 4 ? varint(&at) : thread;
        stack = flags & 8 ? (uint32_t)varint(&at) : stack;
        time += varint(&at);
        size = flags & 128 ? varint(&at) : size;
        assert_true(flags & 64);
        assert_true(stack <= r->stacks);
        if (thread == 42)
            assert_int_equal(sequence, ++r->last_sequence);
        take_event(r, kind, at, size, thread, time, stack);
    }
    assert_ptr_equal(at, end);
}

static void take_stacks(struct reader *r, const char *at, const char *end)
{
    assert_int_equal(little(at, 4), r->stacks + 1);
    assert_true(r->stacks + little(at + 4, 4) < 10);
    for (at += 8; at < end; r->stacks++) {
        size_t size = little(at, 4) / 8;

        r->stack_sizes[r->stacks + 1] = size;
        for (size_t i = 0; i < size && i < 5; i++)
            r->stack_addresses[r->stacks + 1][i] = little(at + 4 + 8 * i, 8);
        at += 4 + 8 * size;
    }
    assert_ptr_equal(at, end);
}

/* One object: its type, its size, zeros up to four, what is in it, its end. */
static void take_object(struct reader *r)
{
    const char *at = r->data + r->at, *name = at + 15;
    size_t length = little(at + 11, 4), size, start = r->at + 16 + length;

    assert_memory_equal(at, "\5\5\1", 3);
    assert_int_equal(at[15 + length], 6);
    if (strncmp(name, "Trace", length) == 0) {
        assert_int_equal(little(at + 3, 4), 4);
        assert_int_equal(little(r->data + start + 0, 2), 2026);
        assert_int_equal(little(r->data + start + 2, 2), 11);
        assert_int_equal(little(r->data + start + 14, 2), 500); /* ms */
        assert_int_equal(little(r->data + start + 24, 8), 1000000000);
        assert_int_equal(little(r->data + start + 36, 4), 42);
        r->at = start + 48;
    } else {
        size = little(r->data + start, 4);
        start = (start + 4 + 3) & ~(size_t)3;
        at = r->data + start;
        if (strncmp(name, "EventBlock", length) == 0)
            take_events(r, at, at + size);
        else if (strncmp(name, "StackBlock", length) == 0)
            take_stacks(r, at, at + size);
        r->at = start + size;
    }
    assert_int_equal(r->data[r->at++], 6);
}

static struct reader read_back(const struct written *w)
{
    struct reader r = {.data = w->data, .size = w->size, .at = 32};

    assert_memory_equal(w->data, "Nettrace\x14\0\0\0!FastSerialization.1", 32);
    while (r.data[r.at] == 5)
        take_object(&r);
    assert_int_equal(r.data[r.at], 1);
    assert_int_equal(r.at, r.size - 1);
    return r;
}

TEST(events_stacks_and_methods_come_back)
{
    struct written w = written_by(export_nettrace, a_profile());
    struct reader r = read_back(&w);

    assert_int_equal(r.modules, 3);
    assert_int_equal(r.methods, 4);
    assert_int_equal(r.maps, 3);
    assert_string_equal(r.text[0], "App.P|Main|()");
    assert_string_equal(r.text[1], "Ns.<Main>$<\"&;?\?>|Run|(System.Int32)");
    assert_string_equal(r.text[2], "shadowtrace|(callers not in the log)|");
    assert_int_equal(r.events, 3);
    assert_int_equal(r.ticks[0].bytes, 100);
    assert_int_equal(r.ticks[0].object, 25);
    assert_int_equal(r.ticks[0].thread, 42);
    assert_string_equal(r.ticks[0].type, "System.String");
    assert_int_equal(r.ticks[1].bytes, 20000001);
    assert_string_equal(r.ticks[1].type, "System.Byte[]");
    assert_int_equal(r.ticks[2].bytes, 24);
    /* Innermost first; an IL offset has four bytes of code, behind four for those not known. */
    assert_int_equal(r.stack_sizes[r.ticks[0].stack], 2);
    assert_int_equal(r.stack_addresses[r.ticks[0].stack][0], r.starts[1]);
    assert_int_equal(r.stack_addresses[r.ticks[0].stack][1], r.starts[0] + 16);
    assert_int_equal(r.stack_addresses[r.ticks[1].stack][0], r.starts[0] + 40);
    assert_true(r.starts[1] >= r.starts[0] + 44);
    free(w.data);
}

static struct written of_threads(const uint64_t threads[], const uint64_t times[], size_t count)
{
    struct written w;
    FILE *out = open_memstream(&w.data, &w.size);
    struct nettrace *n;

    assert_int_equal(nettrace_new(a_profile(), out, &n), 0);
    for (size_t i = 0; i < count; i++)
        nettrace_allocation(
            n, &(struct export_allocation){
                   .node = 3, .thread = threads[i], .t = times[i], .bytes = i, .object_bytes = i});
    assert_int_equal(nettrace_finish(n), 0);
    nettrace_free(n);
    fclose(out);
    return w;
}

TEST(threads_count_their_own_events_and_times_grow)
{
    static const uint64_t threads[] = {42, 7, 7, 42, 9, 42}, times[] = {50, 100, 80, 200, 210, 300};
    struct written w = of_threads(threads, times, 6);
    struct reader r = read_back(&w); /* the numbers of thread 42 have no gap */

    assert_int_equal(r.events, 6);
    assert_int_equal(r.ticks[4].thread, 9);
    assert_int_equal(r.ticks[1].time, 100);
    assert_int_equal(r.ticks[2].time, 101);
    assert_int_equal(r.ticks[3].time, 200);
    assert_int_equal(r.ticks[5].time, 300);
    assert_int_equal(r.stacks, 1); /* one stack, once */
    free(w.data);
}

TEST(a_stack_that_has_no_room_keeps_its_inner_frames_and_says_so)
{
    struct export_profile p = *a_profile();
    uint32_t count = 100000;
    struct export_node *nodes = calloc(count + 2, sizeof(*nodes));
    struct export_sample sample = {count + 1, 24, 1, 0, 0};
    struct written w;
    struct reader r;

    for (uint32_t i = 1; i <= count; i++)
        nodes[i] = (struct export_node){i - 1, 0};
    nodes[count + 1] = (struct export_node){count, 2};
    p.nodes = nodes;
    p.node_count = count + 2;
    p.samples = &sample;
    p.sample_count = 1;
    w = written_by(export_nettrace, &p);
    r = read_back(&w);
    assert_int_equal(r.stack_sizes[1], 8000);
    assert_string_equal(r.text[3], "shadowtrace|(outer frames left out: the format has no room)|");
    free(w.data);
    free(nodes);
}

TEST(what_cannot_be_written_is_told)
{
    failures_are_told(export_nettrace);
}
