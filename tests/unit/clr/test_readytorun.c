#include "clr/readytorun.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A loaded image, addresses are offsets. What is at fixed places in every one: */
enum {
    PE = 0x80,
    OPTIONAL = PE + 24,
    SECTION = OPTIONAL + 240,
    CLI = 0x200,
    READY = 0x280,
    METHODS = 0x400,
    INSTANCES = 0x500,
    FUNCTIONS = 0x600,
    IMPORTS = 0x700,
    CELLS = 0x740,
    SIGNATURES = 0x780,
    CODE = 0x800,
    DEBUG = 0x900,
    SIZE = 0x1000,
};

static uint8_t image[SIZE];

static void put(size_t at, uint64_t value, size_t size)
{
    memcpy(image + at, &value, size);
}

static void put_bytes(size_t at, const char *bytes, size_t size)
{
    memcpy(image + at, bytes, size);
}

/* Code of two methods, the second with a handler; a generic instance; one cell for `new` of a class. */
static int make_image(void **state)
{
    static const uint32_t sections[][3] = {{101, IMPORTS, 20},
                                           {102, FUNCTIONS, 48},
                                           {103, METHODS, 32},
                                           {105, DEBUG, 16},
                                           {109, INSTANCES, 64}};

    (void)state;
    memset(image, 0, sizeof(image));
    put_bytes(0, "MZ", 2);
    put(60, PE, 4);
    put_bytes(PE, "PE\0", 4);
    put(PE + 6, 1, 2);
    put(PE + 20, 240, 2);
    put(OPTIONAL, 0x20b, 2);
    put(OPTIONAL + 56, SIZE, 4);
    put(OPTIONAL + 112 + 14 * 8, CLI, 4);
    put(SECTION + 8, SIZE, 4);
    put(CLI + 64, READY, 4);
    put(CLI + 68, 16 + 5 * 12, 4);
    put(READY, 0x00525452, 4);
    put(READY + 4, 16, 2);
    put(READY + 12, 5, 4);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 3; j++)
            put(READY + 16 + i * 12 + j * 4, sections[i][j], 4);

    /*
     * Rows 1 to 4, of which 2 has code: one block, its only leaf is index 1. Numbers of 7 bits are shifted by one. Header:
     * four elements, offsets of one byte. Node: index << 2. Entry: function 1, nothing to fill in first.
     */
    put_bytes(METHODS, "\x20\x01\x08\x04", 4);

    /*
     * One bucket, offsets of one byte, counted from behind the header. An entry of row 7 with owner, class 3 of
     * __Canon: flags, instance, class, token, one argument, __Canon; row; function 3.
     */
    put_bytes(INSTANCES, "\x00\x02\x04\x99\x02", 5);
    put_bytes(INSTANCES + 5, "\x40\x15\x12\x0c\x01\x3e\x07\x0c", 8);

    /* As the methods, of function 1: how far before the entry its debug info is; 0: behind. */
    put_bytes(DEBUG, "\x20\x01\x08\x00", 4);

    for (uint32_t i = 0; i < 4; i++) {
        put(FUNCTIONS + i * 12, CODE + i * 16, 4);
        put(FUNCTIONS + i * 12 + 4, CODE + i * 16 + 16, 4);
    }
    put(IMPORTS, CELLS, 4);
    put(IMPORTS + 4, 8, 4);
    image[IMPORTS + 11] = 8;
    put(IMPORTS + 12, SIGNATURES, 4);
    put(SIGNATURES, SIGNATURES + 8, 4);
    put_bytes(SIGNATURES + 8, "\x1c\x12\x0c", 3);
    /* call [rip + d], in the handler behind function 1 */
    put(CODE + 2 * 16, 0x15ff, 2);
    put(CODE + 2 * 16 + 2, (uint32_t)(CELLS - (CODE + 2 * 16 + 6)), 4);
    return 0;
}

TEST_EACH(make_image, NULL);

TEST(methods_with_code_are_found)
{
    struct readytorun *r = readytorun_new(image, false);
    uint32_t code = 0;

    assert_non_null(r);
    assert_true(readytorun_method(r, 2, &code));
    assert_int_equal(code, 1);
    assert_false(readytorun_method(r, 1, &code));
    assert_false(readytorun_method(r, 4, &code));
    assert_false(readytorun_method(r, 5, &code));
    assert_false(readytorun_method(r, 0, &code));
    readytorun_free(r);
}

static bool is_canon_of_class_3(void *context, struct readytorun_instance *instance)
{
    struct readytorun_signature *from = &instance->signature;
    uint32_t number = 0;

    ++*(int *)context;
    if (!instance->has_owner || instance->has_arguments || *from->at++ != 0x15 ||
        *from->at++ != 0x12)
        return false;
    assert_true(readytorun_number(from, &number));
    assert_int_equal(number, 3 << 2);
    assert_true(readytorun_number(from, &number));
    assert_int_equal(number, 1);
    assert_int_equal(*from->at++, READYTORUN_CANON);
    assert_true(readytorun_number(from, &number));
    return number == 7;
}

static bool refuses(void *context, struct readytorun_instance *instance)
{
    (void)instance;
    ++*(int *)context;
    return false;
}

TEST(instances_are_found_by_their_signature)
{
    struct readytorun *r = readytorun_new(image, false);
    uint32_t code = 0;
    int asked = 0;

    assert_non_null(r);
    assert_true(readytorun_instance(r, 7, is_canon_of_class_3, &asked, &code));
    assert_int_equal(code, 6 >> 1);
    assert_int_equal(asked, 1);
    assert_false(readytorun_instance(r, 7, refuses, &asked, &code));
    assert_false(readytorun_instance(r, 8, is_canon_of_class_3, &asked, &code));
    assert_int_equal(asked, 2);
    readytorun_free(r);
}

static bool note(void *context, enum readytorun_fixup fixup, struct readytorun_signature type)
{
    assert_int_equal(fixup, READYTORUN_NEW_OBJECT);
    assert_int_equal(*type.at, 0x12);
    ++*(int *)context;
    return true;
}

TEST(cells_of_a_method_are_its_handlers_too)
{
    struct readytorun *r = readytorun_new(image, false);
    int seen = 0;

    assert_non_null(r);
    assert_true(readytorun_cells(r, 1, note, &seen));
    assert_int_equal(seen, 1);
    assert_false(readytorun_cells(r, 3, note, &seen)); /* a different method */
    assert_false(readytorun_cells(r, 4, note, &seen)); /* no function */
    assert_int_equal(seen, 1);
    readytorun_free(r);
}

TEST(a_cell_says_what_it_is_for)
{
    struct readytorun *r = readytorun_new(image, false);
    struct readytorun_signature from;
    enum readytorun_fixup fixup;

    assert_non_null(r);
    assert_true(readytorun_cell(r, (uintptr_t)image + CELLS, &fixup, &from));
    assert_int_equal(fixup, READYTORUN_NEW_OBJECT);
    assert_int_equal(*from.at, 0x12);
    assert_false(readytorun_cell(r, (uintptr_t)image + CELLS + 4, &fixup, &from)); /* in it */
    assert_false(readytorun_cell(r, (uintptr_t)image + CELLS + 8, &fixup, &from));
    assert_false(readytorun_cell(r, (uintptr_t)image - 8, &fixup, &from));
    image[SIGNATURES + 8] |= 0x80; /* in the terms of another module */
    assert_false(readytorun_cell(r, (uintptr_t)image + CELLS, &fixup, &from));
    readytorun_free(r);
}

static bool member(enum readytorun_fixup fixup, const char *bytes, size_t size,
                   struct readytorun_member *out)
{
    const uint8_t *at = (const uint8_t *)bytes;

    return readytorun_member(fixup, (struct readytorun_signature){at, at + size}, out);
}
#define MEMBER(fixup, bytes, out) member(fixup, bytes, sizeof(bytes) - 1, out)

TEST(a_cell_of_a_method_names_it)
{
    static const char instance[] = "\x54\x15\x12\x0c\x01\x3e\x07\x02\x08\x3e";
    struct readytorun_member m;

    assert_true(MEMBER(READYTORUN_METHOD_DEF, "\x81\x02", &m));
    assert_int_equal(m.token, 0x06000102);
    assert_ptr_equal(m.owner.at, m.owner.end);
    assert_ptr_equal(m.arguments.at, m.arguments.end);
    assert_true(MEMBER(READYTORUN_VIRTUAL_REF, "\x07", &m));
    assert_int_equal(m.token, 0x0A000007);
    assert_true(MEMBER(READYTORUN_METHOD, "\x02\x07", &m));
    assert_int_equal(m.token, 0x06000007);
    assert_true(MEMBER(READYTORUN_METHOD, instance, &m));
    assert_int_equal(m.token, 0x0A000007);
    assert_int_equal(m.owner.end - m.owner.at, 5);
    assert_int_equal(m.arguments.end - m.arguments.at, 3);
    for (size_t size = 0; size < sizeof(instance) - 1; size++)
        assert_false(member(READYTORUN_METHOD, instance, size, &m));
    assert_false(MEMBER(READYTORUN_METHOD, "\x08\x07", &m));             /* a slot */
    assert_false(MEMBER(READYTORUN_METHOD, "\x80\x80\x01\x07", &m));     /* in other terms */
    assert_false(MEMBER(READYTORUN_METHOD_DEF, "\xc1\x00\x00\x00", &m)); /* no row */
}

TEST(debug_info_is_found_by_where_code_begins)
{
    struct readytorun *r = readytorun_new(image, false);
    uintptr_t code = (uintptr_t)image + CODE;
    size_t left = 0;

    assert_non_null(r);
    assert_int_equal(readytorun_version(r), 16);
    assert_ptr_equal(readytorun_debug(r, code + 16, &left), image + DEBUG + 4);
    assert_int_equal(left, 12);
    assert_null(readytorun_debug(r, code, &left));      /* it has none */
    assert_null(readytorun_debug(r, code + 17, &left)); /* none begins there */
    assert_null(readytorun_debug(r, code + SIZE, &left));
    assert_null(readytorun_debug(r, (uintptr_t)image - 16, &left));
    image[DEBUG + 3] = 1 << 1; /* shared: it lies before */
    assert_ptr_equal(readytorun_debug(r, code + 16, &left), image + DEBUG + 2);
    assert_int_equal(left, 14);
    image[DEBUG + 3] = 4 << 1; /* damaged: before the beginning */
    assert_null(readytorun_debug(r, code + 16, &left));
    readytorun_free(r);
    r = readytorun_new(image, true);
    assert_true(!r || !readytorun_debug(r, code + 16, &left)); /* such code does not run */
    readytorun_free(r);
}

TEST(what_lies_in_the_image_is_told)
{
    struct readytorun *r = readytorun_new(image, false);

    assert_non_null(r);
    assert_true(readytorun_holds(r, (uintptr_t)image));
    assert_true(readytorun_holds(r, (uintptr_t)image + SIZE - 1));
    assert_false(readytorun_holds(r, (uintptr_t)image + SIZE));
    assert_false(readytorun_holds(r, (uintptr_t)image - 1));
    readytorun_free(r);
}

TEST(an_image_without_such_code_is_none)
{
    put(CLI + 64, 0, 4);
    assert_null(readytorun_new(image, false));
    make_image(NULL);
    put(READY, 0x12345678, 4);
    assert_null(readytorun_new(image, false));
}

TEST(damaged_tables_are_read_within_their_bounds)
{
    static const size_t tables[] = {METHODS, INSTANCES, FUNCTIONS, IMPORTS, SIGNATURES, DEBUG};
    uint32_t code;
    int asked = 0;
    size_t left;

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        for (size_t at = 0; at < 16; at++)
            for (int bit = 0; bit < 8; bit++) {
                struct readytorun *r;

                if (tables[i] == FUNCTIONS || (tables[i] == IMPORTS && at < 4))
                    continue; /* addresses are the runtime's word */
                make_image(NULL);
                image[tables[i] + at] ^= (uint8_t)(1 << bit);
                r = readytorun_new(image, false);
                for (uint32_t row = 0; r && row < 8; row++) {
                    readytorun_method(r, row, &code);
                    readytorun_instance(r, row, refuses, &asked, &code);
                }
                if (r)
                    readytorun_debug(r, (uintptr_t)image + CODE + 16, &left);
                readytorun_free(r);
            }
}
