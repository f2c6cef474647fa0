#include "support/test.h"

#include "base/buffer.h"
#include "samples/internal.h"

/* A payload as the runtime packs it. */
static void put(struct buffer *b, uint64_t value, size_t size)
{
    buffer_append(b, (const char *)&value, size);
}

static void put_name(struct buffer *b, const char *name)
{
    do
        put(b, (uint64_t)*name, 2);
    while (*name++);
}

static struct buffer sampled(uint32_t kind, uint64_t size)
{
    struct buffer b = BUFFER_INIT;

    put(&b, kind, 4);
    put(&b, 7, 2);
    put(&b, 0x7f0012345678, 8);
    put_name(&b, "System.Byte[]");
    put(&b, 0x7e0000001000, 8);
    put(&b, size, 8);
    put(&b, 4711, 8);
    return b;
}

static bool parse(const struct buffer *b, uint32_t id, size_t size, struct samples_taken *out)
{
    const struct session_event event = {
        .id = id, .size = (uint32_t)size, .data = (const uint8_t *)b->data};

    return samples_parse(&event, out);
}

TEST(a_sample_has_its_class_address_size_and_heap)
{
    static const enum event_heap heaps[] = {EVENT_HEAP_NORMAL, EVENT_HEAP_LARGE, EVENT_HEAP_PINNED};

    for (uint32_t kind = 0; kind < 3; kind++) {
        struct buffer b = sampled(kind, 1000);
        struct samples_taken s;

        assert_true(parse(&b, SAMPLES_SAMPLED, b.size, &s));
        assert_int_equal(s.class_id, 0x7f0012345678);
        assert_int_equal(s.object, 0x7e0000001000);
        assert_int_equal(s.bytes, 1000);
        assert_int_equal(s.heap, heaps[kind]);
        assert_int_equal(s.weight, 0);
        buffer_free(&b);
    }
}

TEST(sizes_are_rounded_up_as_the_heap_does)
{
    struct buffer b = sampled(0, 1025);
    struct samples_taken s;

    assert_true(parse(&b, SAMPLES_SAMPLED, b.size, &s));
    assert_int_equal(s.bytes, 1032);
    buffer_free(&b);
}

TEST(a_tick_also_says_what_it_stands_for)
{
    struct buffer b = BUFFER_INIT;
    struct samples_taken s;

    put(&b, 106496, 4);
    put(&b, 1, 4);
    put(&b, 7, 2);
    put(&b, 0x100000001a000, 8);
    put(&b, 0x7f0012345678, 8);
    put_name(&b, "System.String");
    put(&b, 3, 4);
    put(&b, 0x7e0000001000, 8);
    put(&b, 100024, 8);
    assert_true(parse(&b, SAMPLES_TICK, b.size, &s));
    assert_int_equal(s.weight, 0x100000001a000);
    assert_int_equal(s.heap, EVENT_HEAP_LARGE);
    assert_int_equal(s.class_id, 0x7f0012345678);
    assert_int_equal(s.object, 0x7e0000001000);
    assert_int_equal(s.bytes, 100024);
    buffer_free(&b);
}

TEST(what_is_cut_anywhere_before_its_size_is_no_sample)
{
    struct buffer b = sampled(0, 24);
    struct samples_taken s;

    for (size_t size = 0; size < b.size - 8; size++)
        assert_false(parse(&b, SAMPLES_SAMPLED, size, &s));
    assert_true(parse(&b, SAMPLES_SAMPLED, b.size - 8, &s)); /* the last member is not needed */
    buffer_free(&b);
}

TEST(a_sample_of_no_class_or_no_bytes_is_none)
{
    struct buffer b = sampled(0, 0);
    struct samples_taken s;

    assert_false(parse(&b, SAMPLES_SAMPLED, b.size, &s));
    buffer_free(&b);
}
