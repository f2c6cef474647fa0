/* Maps of precompiled code, packed in both ways, and what is left to the runtime. */
#include "clr/debug_map.h"

#include "base/atomics.h"
#include "base/memory.h"
#include "support/test.h"
#include "unit/clr/put_nibbles.h"

#include <shadowtrace/clr/constants.h>

#include <stdlib.h>
#include <string.h>

#define SIZE 200 /* of the code */

struct place {
    uint32_t native, il, source;
};

static const struct place places[] = {
    {0, PROLOG, 2}, {9, 0, 2},     {9, NO_MAPPING, 2}, {9, EPILOG, 0},
    {20, 0x31, 2},  {30, 0x31, 0}, {150, 4, 2},        {180, EPILOG, 2},
};

static uint8_t info[256];
static size_t half; /* nibbles written */

static void put_number(uint32_t value)
{
    put_number_at(info, &half, value);
}

static void put_bits(uint64_t *bit, uint32_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++, ++*bit)
        info[*bit / 8] |= (uint8_t)((value >> i & 1) << *bit % 8);
}

static void pack_bits(const struct place *place, size_t count)
{
    uint64_t bit;

    put_number(8 - 1); /* bits of a native offset's distance */
    put_number(6 - 1); /* of an IL offset */
    bit = (half + 1) / 2 * 8;
    for (size_t i = 0; i < count; i++) {
        put_bits(&bit, place[i].source, 2);
        put_bits(&bit, place[i].native - (i ? place[i - 1].native : 0), 8);
        put_bits(&bit, place[i].il - EPILOG, 6);
    }
    half = (size_t)(bit + 7) / 8 * 2;
}

/* Bytes of the map, and of variables, which follow; then the map. Returns: all bytes. */
static size_t pack(enum debug_map_format format, const struct place *place, size_t count)
{
    for (size_t bytes = 0;;) { /* the first number is the size of what follows it */
        size_t head;

        memset(info, 0, sizeof(info));
        half = 0;
        put_number((uint32_t)bytes);
        put_number(3);
        half = head = (half + 1) / 2 * 2;
        put_number((uint32_t)count);
        if (format == DEBUG_MAP_BITS)
            pack_bits(place, count);
        for (size_t i = 0; format == DEBUG_MAP_NUMBERS && i < count; i++) {
            put_number(place[i].native - (i ? place[i - 1].native : 0));
            put_number(place[i].il - EPILOG);
            put_number(place[i].source);
        }
        half = (half + 1) / 2 * 2;
        if (bytes == (half - head) / 2)
            return half / 2;
        bytes = (half - head) / 2;
    }
}

static struct clr_debug_il_to_native_map *map;
static uint32_t count;

static bool read_all(enum debug_map_format format, size_t left)
{
    map = NULL;
    return debug_map_read(format, info, left, SIZE, &map, &count);
}

static void check(enum debug_map_format format)
{
    /* In order; of one place the prolog, IL, an epilog, what is not mapped. A repeated IL is one. */
    static const struct clr_debug_il_to_native_map expected[] = {
        {PROLOG, 0, 9},  {0, 9, 9},     {EPILOG, 9, 20},     {NO_MAPPING, 9, 9},
        {0x31, 20, 150}, {4, 150, 180}, {EPILOG, 180, SIZE},
    };
    size_t size = pack(format, places, COUNT_OF(places));

    assert_true(read_all(format, size));
    assert_int_equal(count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(map[i].il_offset, expected[i].il_offset);
        assert_int_equal(map[i].native_start_offset, expected[i].native_start_offset);
        assert_int_equal(map[i].native_end_offset, expected[i].native_end_offset);
    }
    memory_free(map);
    for (size_t left = 0; left < size; left++) {
        assert_false(read_all(format, left));
        assert_null(map);
    }
}

TEST(entries_are_those_that_the_runtime_gives)
{
    check(DEBUG_MAP_NUMBERS);
    check(DEBUG_MAP_BITS);
}

TEST(what_means_more_is_left_to_the_runtime)
{
    static const struct place call_of_numbers[] = {{0, 0, 2}, {4, 7, 0x10}};
    static const struct place call_of_bits[] = {{0, 0, 2}, {4, 7, 1}};
    static const struct place far[] = {{0, 0, 2}, {SIZE + 1, 7, 2}};

    pack(DEBUG_MAP_NUMBERS, call_of_numbers, 2);
    assert_false(read_all(DEBUG_MAP_NUMBERS, sizeof(info)));
    pack(DEBUG_MAP_BITS, call_of_bits, 2);
    assert_false(read_all(DEBUG_MAP_BITS, sizeof(info)));
    pack(DEBUG_MAP_NUMBERS, far, 2);
    assert_false(read_all(DEBUG_MAP_NUMBERS, sizeof(info)));
    pack(DEBUG_MAP_BITS, far, 2);
    assert_false(read_all(DEBUG_MAP_BITS, sizeof(info)));
    pack(DEBUG_MAP_BITS, places, 0);
    assert_false(read_all(DEBUG_MAP_BITS, sizeof(info)));
    pack(DEBUG_MAP_BITS, places, COUNT_OF(places));
    assert_false(read_all(DEBUG_MAP_UNKNOWN, sizeof(info)));
    memory_fail_after(0);
    assert_false(read_all(DEBUG_MAP_BITS, sizeof(info)));
    memory_fail_after(-1);
}

TEST(other_versions_of_images_are_not_known)
{
    assert_int_equal(debug_map_format(9), DEBUG_MAP_NUMBERS);
    assert_int_equal(debug_map_format(10), DEBUG_MAP_NUMBERS);
    assert_int_equal(debug_map_format(16), DEBUG_MAP_BITS);
    assert_int_equal(debug_map_format(15), DEBUG_MAP_UNKNOWN);
    assert_int_equal(debug_map_format(26), DEBUG_MAP_UNKNOWN);
}

TEST(damaged_info_is_read_within_its_bounds)
{
    for (int format = DEBUG_MAP_NUMBERS; format <= DEBUG_MAP_BITS; format++) {
        size_t size = pack((enum debug_map_format)format, places, COUNT_OF(places));
        uint8_t *exact = malloc(size);

        for (size_t bit = 0; bit < size * 8; bit++) {
            memcpy(exact, info, size);
            exact[bit / 8] ^= (uint8_t)(1 << bit % 8);
            map = NULL;
            if (debug_map_read((enum debug_map_format)format, exact, size, SIZE, &map, &count))
                for (uint32_t i = 0; i < count; i++)
                    assert_true(map[i].native_start_offset <= map[i].native_end_offset &&
                                map[i].native_end_offset <= SIZE);
            memory_free(map);
        }
        free(exact);
    }
}
