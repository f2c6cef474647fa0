/* Rich debug info where the runtime keeps it, and memory that only looks like it. */
#include "rich/stored.h"
#include "support/test.h"
#include "unit/clr/put_nibbles.h"

#include "base/memory.h"

#include <string.h>
#include <sys/mman.h>

#define FUNCTION UINT64_C(0x7f0123456789abcd)
#define CODE     8 /* behind the word that names the header */
#define PACKED   5 /* behind flags and size */

static struct {
    uint8_t code[64];
    uint64_t header[4]; /* debug info, EH info, GC info, method */
    uint8_t info[1024];
} memory;
static size_t half; /* nibbles written */

static void put_number(uint32_t value)
{
    put_number_at(memory.info + PACKED, &half, value);
}

static void put_delta(int32_t value)
{
    put_number(value < 0 ? (uint32_t)-value << 1 | 1 : (uint32_t)value << 1);
}

static void put_method(uint64_t value)
{
    for (unsigned i = 0; i < 16; i++)
        put_nibble_at(memory.info + PACKED, &half, value >> (4 * i) & 15);
}

static void put_node(uint64_t method, int32_t il, int32_t child, int32_t sibling)
{
    put_method(method);
    put_delta(il);
    put_delta(child);
    put_delta(sibling);
}

static void put_map(uint32_t native, int32_t node, int32_t il)
{
    put_number(native);
    put_delta(node);
    put_delta(il);
    put_number(2);
}

/* Two nodes and three entries: (native, node, IL) 0, 0, prolog; 9, 1, 0; 700, 0, 80. */
static void put_all(void)
{
    uintptr_t header = (uintptr_t)memory.header;
    uint32_t size;

    memset(&memory, 0, sizeof(memory));
    half = 0;
    put_number(2);
    put_number(3);
    put_node(FUNCTION, 2, 1, 0);
    put_node(0x20, 70, -1, 0);
    put_map(0, 0, 0);
    put_map(9, 1, 2);
    put_map(691, -1, 80);
    size = (uint32_t)(half + 1) / 2;
    memcpy(memory.code, &header, sizeof(header));
    memory.header[0] = (uintptr_t)memory.info;
    memory.header[3] = FUNCTION;
    memory.info[0] = 2;
    memcpy(memory.info + 1, &size, sizeof(size));
}

static uint8_t *out;
static size_t out_size;

static enum rich_stored read_at(const void *start)
{
    static struct rich_pages stay;

    return rich_stored_read((uintptr_t)start, &stay, FUNCTION, &out, &out_size);
}

static enum rich_stored read_all(void)
{
    return read_at(memory.code + CODE);
}

static uint32_t word(size_t at)
{
    uint32_t value;

    memcpy(&value, out + at, sizeof(value));
    return value;
}

TEST(what_the_runtime_keeps_becomes_the_payload_of_its_event)
{
    static const uint32_t il[] = {(uint32_t)-2, 0, 80}, node[] = {0, 1, 0}, native[] = {0, 9, 700};
    uint64_t method;

    put_all();
    assert_int_equal(read_all(), RICH_STORED);
    assert_int_equal(out_size, 8 + 2 * 20 + 3 * 13);
    assert_int_equal(word(0), 2);
    assert_int_equal(word(4), 3);
    memcpy(&method, out + 8, sizeof(method));
    assert_int_equal(method, FUNCTION);
    assert_int_equal(word(16), 0); /* IL, child, sibling */
    assert_int_equal(word(20), 1);
    assert_int_equal(word(24), 0);
    assert_int_equal(word(28), 0x20);
    assert_int_equal(word(36), 70);
    assert_int_equal(word(40), 0);
    for (size_t i = 0; i < COUNT_OF(il); i++) {
        assert_int_equal(word(48 + 13 * i), il[i]);
        assert_int_equal(word(52 + 13 * i), node[i]);
        assert_int_equal(word(56 + 13 * i), native[i]);
        assert_int_equal(out[60 + 13 * i], 2);
    }
    memory_free(out);
}

TEST(code_without_a_header_of_the_method_has_none)
{
    put_all();
    memory.header[3]++; /* another method's */
    assert_int_equal(read_all(), RICH_STORED_NONE);
    put_all();
    memory.header[0] = 0;
    assert_int_equal(read_all(), RICH_STORED_NONE);
    put_all();
    memory.info[0] = 0;
    assert_int_equal(read_all(), RICH_STORED_NONE);
    put_all();
    memset(memory.code, 0xcc, sizeof(memory.code)); /* precompiled: what is before it is code */
    assert_int_equal(read_all(), RICH_STORED_NONE);
    assert_null(out);
}

TEST(code_at_the_beginning_of_what_is_mapped_has_none)
{
    uint8_t *pages = mmap(NULL, 2 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(munmap(pages, 4096), 0);
    assert_int_equal(read_at(pages + 4096), RICH_STORED_NONE);
    munmap(pages + 4096, 4096);
}

TEST(code_that_was_unloaded_meanwhile_has_none)
{
    uint8_t *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(page, MAP_FAILED);
    assert_int_equal(munmap(page, 4096), 0);
    assert_int_equal(rich_stored_read((uintptr_t)page + 64, NULL, FUNCTION, &out, &out_size),
                     RICH_STORED_NONE);
}

TEST(code_with_patchpoints_has_inlined_nothing)
{
    put_all();
    memory.info[0] = 3;
    assert_int_equal(read_all(), RICH_STORED_TIER0);
    memory.info[0] = 1;
    assert_int_equal(read_all(), RICH_STORED_TIER0);
}

TEST(a_record_that_is_not_wholly_understood_is_damaged)
{
    uint32_t size;

    put_all();
    memory.info[0] = 6; /* a flag that nobody knows */
    assert_int_equal(read_all(), RICH_STORED_DAMAGED);
    put_all();
    memory.header[0] = 16; /* unreadable */
    assert_int_equal(read_all(), RICH_STORED_DAMAGED);
    put_all();
    memcpy(&size, memory.info + 1, sizeof(size));
    for (uint32_t cut = 0; cut <= size + 1; cut++) { /* shorter, and a byte longer */
        memcpy(memory.info + 1, &cut, sizeof(cut));
        assert_int_equal(read_all(), cut == size ? RICH_STORED : RICH_STORED_DAMAGED);
        memory_free(out);
    }
    put_all();
    half = 2;
    put_method(0x30); /* the root is another method */
    assert_int_equal(read_all(), RICH_STORED_DAMAGED);
    put_all();
    memset(memory.info + PACKED, 0xff, 64); /* a number that does not end */
    assert_int_equal(read_all(), RICH_STORED_DAMAGED);
    put_all();
    memset(memory.info + 1, 0xff, 4); /* longer than any */
    assert_int_equal(read_all(), RICH_STORED_DAMAGED);
}

TEST(running_out_of_memory_for_a_record_is_no_damage)
{
    uint32_t large = 600; /* more than is read at once */

    put_all();
    memory_fail_after(0);
    assert_int_equal(read_all(), RICH_STORED_NO_MEMORY);
    memory_fail_after(-1);
    memcpy(memory.info + 1, &large, sizeof(large));
    for (long n = 0; n < 2; n++) {
        memory_fail_after(n);
        assert_int_equal(read_all(), RICH_STORED_NO_MEMORY);
        memory_fail_after(-1);
    }
}
