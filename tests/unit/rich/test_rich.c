/* Rich debug info as the runtime sends it: its payload, and what is not one. */
#include "rich/rich.h"
#include "support/test.h"

#include "base/memory.h"

#include <string.h>

static uint8_t payload[512];
static size_t size;

static void put(const void *bytes, size_t count)
{
    memcpy(payload + size, bytes, count);
    size += count;
}

static void put_u32(uint32_t value)
{
    put(&value, sizeof(value));
}

static void put_node(uint64_t function, uint32_t il, uint32_t child, uint32_t sibling)
{
    put(&function, sizeof(function));
    put_u32(il);
    put_u32(child);
    put_u32(sibling);
}

static void put_map(uint32_t il, uint32_t node, uint32_t native)
{
    const uint8_t source = 2;

    put_u32(il);
    put_u32(node);
    put_u32(native);
    put(&source, 1);
}

/* 0 has inlined 1 and 3, and 1 has inlined 2; nobody names 4. */
static void put_body(void)
{
    size = 0;
    put_u32(5);
    put_u32(3);
    put_node(0x10, 0, 1, 0);
    put_node(0x20, 7, 2, 3);
    put_node(0x30, 9, 0, 0);
    put_node(0x40, 11, 0, 0);
    put_node(0x50, 13, 0, 0);
    put_map(0, 0, 4);
    put_map(6, 2, 9);
    put_map(8, 0, 9);
}

static struct rich_body *read_body(bool *refused)
{
    return rich_body_read(payload, size, refused);
}

TEST(a_payload_becomes_a_tree_of_methods_and_a_map)
{
    static const uint32_t parents[] = {RICH_NONE, 0, 1, 0, RICH_NONE};
    struct rich_body *body;
    bool refused;

    put_body();
    body = read_body(&refused);
    assert_non_null(body);
    assert_int_equal(body->nodes, 5);
    assert_int_equal(body->maps, 3);
    for (size_t i = 0; i < COUNT_OF(parents); i++)
        assert_int_equal(body->node[i].parent, parents[i]);
    assert_int_equal(body->node[2].function, 0x30);
    assert_int_equal(body->node[2].il, 9);
    assert_int_equal(body->map[1].node, 2);
    assert_int_equal(body->map[1].il, 6);
    assert_int_equal(body->map[2].native, 9);
    memory_free(body);
}

TEST(every_beginning_of_a_payload_is_refused)
{
    bool refused;

    put_body();
    for (size_t whole = size; size-- > 0;) {
        assert_true(size < whole);
        assert_null(read_body(&refused));
        assert_true(refused);
    }
}

TEST(what_contradicts_itself_is_refused)
{
    bool refused;

    put_body();
    memset(payload, 0, 4); /* no node */
    assert_null(read_body(&refused));
    assert_true(refused);
    put_body();
    memset(payload, 0xff, 8); /* more than there can be */
    assert_null(read_body(&refused));
    assert_true(refused);
    put_body();
    payload[size - 13 + 4] = 9; /* a node that is not there */
    assert_null(read_body(&refused));
    assert_true(refused);
    put_body();
    payload[size - 13 + 8] = 1; /* native offsets that fall */
    assert_null(read_body(&refused));
    assert_true(refused);
}

TEST(a_tree_with_a_circle_ends)
{
    struct rich_body *body;
    bool refused;

    size = 0;
    put_u32(3);
    put_u32(0);
    put_node(0x10, 0, 1, 0);
    put_node(0x20, 0, 2, 2);
    put_node(0x30, 0, 1, 1);
    body = read_body(&refused);
    assert_non_null(body);
    assert_int_equal(body->node[1].parent, 0);
    assert_int_equal(body->node[2].parent, 0);
    memory_free(body);
}

TEST(running_out_of_memory_is_no_damage)
{
    bool refused = true;

    put_body();
    memory_fail_after(0);
    assert_null(read_body(&refused));
    memory_fail_after(-1);
    assert_false(refused);
}
