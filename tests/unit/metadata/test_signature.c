#include "metadata/signature.h"

#include "fake_metadata.h"

#include "base/memory.h"
#include "metadata/internal.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>

/* TypeDefOrRef as it is coded in a blob. */
#define DEF(row)  ((row) << 2)
#define REF(row)  ((row) << 2 | 1)
#define SPEC(row) ((row) << 2 | 2)

static const struct fake_type types[] = {
    {0x02000002, u"Ns.Plain", 0},
    {0x02000003, u"Ns.Outer`1", 0},
    {0x02000004, u"Inner`2", 0x02000003},
    {0x02000005, u"Deep", 0x02000004},
    {0x02000006, u"Ns.Odd`Name`7", 0}, /* generic, but the suffix is not its arity */
    {0x02000007, u"Ns.Host", 0},
    {0x02000008, u"<>c__DisplayClass0_0`1", 0x02000007},
    {0x02000009, u"Ns.Caf\u00e9\U0001F600", 0},
    {0x0200000A, u"Loop", 0x0200000A}, /* damaged: encloses itself */
    {0, NULL, 0},
};

static const struct fake_reference references[] = {
    {0x01000001, u"System.Collections.Generic.List`1", 0x23000001},
    {0x01000002, u"System.Collections.Generic.Dictionary`2", 0x23000001},
    {0x01000003, u"Entry", 0x01000002},
    {0x01000004, u"Ns.Not`1Arity", 0x23000001},
    {0x01000005, u"Loop", 0x01000005}, /* damaged: in the scope of itself */
    {0x01000006, u"System.Runtime.CompilerServices.IsVolatile", 0x23000001},
    {0, NULL, 0},
};

static const struct fake_parameter parameters[] = {
    {0x02000003, 0, u"T"},
    {0x02000004, 0, u"T"},
    {0x02000004, 1, u"U"},
    {0x02000004, 2, u"V"},
    {0x02000005, 0, u"T"},
    {0x02000005, 1, u"U"},
    {0x02000005, 2, u"V"},
    {0x02000006, 0, u"A"},
    {0x02000008, 0, u"TKey"},
    {0x06000001, 1, u"TSecond"},
    {0x06000001, 0, u"TM"}, /* out of order */
    {0, 0, NULL},
};

/* Each TypeSpec refers to the one before it twice: without a limit the work doubles with each. */
static const uint8_t spec_list_of_t[] = {0x15, 0x12, REF(1), 1, 0x13, 0};
static const uint8_t spec_self[] = {0x1D, 0x12, SPEC(2)};
static const uint8_t spec_bomb[] = {0x15, 0x12, REF(2), 2, 0x12, SPEC(3), 0x12, SPEC(3)};
static const struct fake_blob blobs[] = {
    {0x1B000001, 0, NULL, spec_list_of_t, sizeof(spec_list_of_t)},
    {0x1B000002, 0, NULL, spec_self, sizeof(spec_self)},
    {0x1B000003, 0, NULL, spec_bomb, sizeof(spec_bomb)},
    {0, 0, NULL, NULL, 0},
};

static struct fake_metadata metadata = {
    .base = {&fake_metadata_vtbl},
    .types = types,
    .references = references,
    .parameters = parameters,
    .blobs = blobs,
};

static struct signature_scope scope = {
    .import = &metadata.base, .type = 0x02000004, .method = 0x06000001};

struct sample {
    const char *text;
    uint8_t size;
    uint8_t blob[24];
};

/* Parameters of methods without a return value. */
static const struct sample samples[] = {
    {"()", 3, {0x00, 0, 0x01}},
    {"(System.Boolean, System.Char, System.SByte, System.Byte)", 7, {0x20, 4, 0x01, 2, 3, 4, 5}},
    {"(System.Int16, System.UInt16, System.Int32, System.UInt32)", 7, {0x20, 4, 0x01, 6, 7, 8, 9}},
    {"(System.Int64, System.UInt64, System.Single, System.Double)",
     7,
     {0, 4, 1, 0xA, 0xB, 0xC, 0xD}},
    {"(System.String, System.Object, System.TypedReference)", 6, {0, 3, 1, 0xE, 0x1C, 0x16}},
    {"(System.IntPtr, System.UIntPtr)", 5, {0, 2, 1, 0x18, 0x19}},
    {"(System.Int32*, System.Void**, System.Int32&)", 10, {0, 3, 1, 0xF, 8, 0xF, 0xF, 1, 0x10, 8}},
    {"(Ns.Plain, System.Collections.Generic.List`1)", 7, {0, 2, 1, 0x12, DEF(2), 0x11, REF(1)}},
    {"(U, TM, TSecond)", 10, {0x10, 2, 3, 1, 0x13, 1, 0x1E, 0, 0x1E, 1}},
    {"(System.Int32[], System.Int32[][], T[])",
     11,
     {0, 3, 1, 0x1D, 8, 0x1D, 0x1D, 8, 0x1D, 0x13, 0}},
    {"(System.Int32[,])", 8, {0, 1, 1, 0x14, 8, 2, 0, 0}},
    {"(System.Int32[*])", 8, {0, 1, 1, 0x14, 8, 1, 0, 0}},
    {"(System.String[,,])", 13, {0, 1, 1, 0x14, 0xE, 3, 2, 4, 5, 3, 0, 0x7F, 1}},
    {"(System.Int32[,][])", 9, {0, 1, 1, 0x1D, 0x14, 8, 2, 0, 0}},
    {"(System.Collections.Generic.List<System.Int32>)", 8, {0, 1, 1, 0x15, 0x12, REF(1), 1, 8}},
    {"(System.Collections.Generic.Dictionary<System.String, System.Collections.Generic.List<U>>)",
     14,
     {0, 1, 1, 0x15, 0x12, REF(2), 2, 0xE, 0x15, 0x12, REF(1), 1, 0x13, 1}},
    {"(System.Collections.Generic.Dictionary<System.Int32, System.Int64>.Entry[])",
     10,
     {0, 1, 1, 0x1D, 0x15, 0x11, REF(3), 2, 8, 0xA}},
    {"(Ns.Outer<System.Int32>.Inner<System.String, System.Char>.Deep)",
     10,
     {0, 1, 1, 0x15, 0x12, DEF(5), 3, 8, 0xE, 3}},
    {"(Ns.Odd`Name`7<System.Int32>)", 8, {0, 1, 1, 0x15, 0x12, DEF(6), 1, 8}},
    {"(Ns.Not`1Arity<System.Int32>)", 8, {0, 1, 1, 0x15, 0x12, REF(4), 1, 8}},
    {"(Ns.Host.<>c__DisplayClass0_0<System.Int32>&)", 9, {0, 1, 1, 0x10, 0x15, 0x11, DEF(8), 1, 8}},
    {"(Ns.Caf\xC3\xA9\xF0\x9F\x98\x80)", 5, {0, 1, 1, 0x12, DEF(9)}},
    {"(delegate*<System.Int32, System.Void>)", 8, {0, 1, 1, 0x1B, 0, 1, 1, 8}},
    {"(delegate*<System.String>)", 7, {0, 1, 1, 0x1B, 0, 0, 0xE}},
    {"(delegate* unmanaged[Cdecl]<System.Int32*, System.Int64>)",
     9,
     {0, 1, 1, 0x1B, 1, 1, 0xA, 0xF, 8}},
    {"(delegate* unmanaged[Stdcall]<System.Void>)", 7, {0, 1, 1, 0x1B, 2, 0, 1}},
    {"(delegate* unmanaged<System.Int32, System.Void>[])", 9, {0, 1, 1, 0x1D, 0x1B, 9, 1, 1, 8}},
    {"(delegate*<delegate*<System.Void>, U>)", 12, {0, 1, 1, 0x1B, 0, 1, 0x13, 1, 0x1B, 0, 0, 1}},
    {"(System.Int32, System.String)", 9, {0, 2, 1, 0x1F, REF(6), 8, 0x20, REF(6), 0xE}},
    {"(System.Int32&)", 6, {0, 1, 1, 0x45, 0x10, 8}},
    {"(System.Int32, __arglist)", 4, {5, 1, 1, 8}},
    {"(__arglist)", 3, {5, 0, 1}},
    {"(System.Int32, __arglist, System.String)", 6, {5, 2, 1, 8, 0x41, 0xE}},
    {"(System.Collections.Generic.List<T>)", 5, {0, 1, 1, 0x12, SPEC(1)}},
    {"(?)", 12, {0, 1, 1, 0x21, 1, 2, 3, 4, 5, 6, 7, 8}}, /* the runtime's own: an address */
    {"(System.Int32)", 14, {0, 1, 1, 0x22, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8}},
    {"(System.Int32)",
     12,
     {0, 1, 0x15, 0x12, REF(2), 2, 0x1D, 0xE, 0x1D, 0x1D, 8, 8}}, /* any return type */
};

static char *parameters_of(const uint8_t *blob, size_t size)
{
    struct buffer b = BUFFER_INIT;

    signature_append_parameters(&b, &scope, blob, size);
    return buffer_take(&b);
}

/* The blob is copied to a block of exactly its size, so that reading past it shows under AddressSanitizer. */
static void check(const uint8_t *blob, size_t size, const char *expected)
{
    uint8_t *exact = malloc(size ? size : 1);
    char *text;

    memcpy(exact, blob, size);
    text = parameters_of(exact, size);
    assert_non_null(text);
    if (expected)
        assert_string_equal(text, expected);
    else
        assert_true(text[0] == '(' && text[strlen(text) - 1] == ')');
    memory_free(text);
    free(exact);
}

TEST(every_type_is_written_as_its_developer_would)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        check(samples[i].blob, samples[i].size, samples[i].text);
}

TEST(numbers_of_four_bytes_are_read)
{
    static const uint8_t far_type[] = {0, 1, 1, 0x12, 0xC0, 0x40, 0, 0x09}; /* TypeRef 0x100002 */
    static const uint8_t two_bytes[] = {0, 1, 1, 0x12, 0x80, DEF(2)};

    check(far_type, sizeof(far_type), "(?)");
    check(two_bytes, sizeof(two_bytes), "(Ns.Plain)");
}

TEST(what_is_damaged_becomes_a_question_mark)
{
    static const struct sample damaged[] = {
        {"(?)", 0, {0}},
        {"(?)", 1, {0}},
        {"(System.Int32, ?)", 4, {0, 2, 1, 8}},
        {"(System.Int32, ?)", 5, {0, 2, 1, 8, 0x17}},       /* no such type */
        {"(System.Int32, ?)", 6, {0, 2, 1, 8, 0x12, 0x0B}}, /* no such table */
        {"(?)", 5, {0, 1, 1, 0x12, 0xFF}},                  /* no such number */
        {"(?)", 3, {6, 0, 1}},                              /* a field's */
        {"(?)", 3, {7, 0, 1}},
        {"(?)", 9, {0, 1, 1, 0x15, 0x12, REF(1), 0xC0, 0xFF, 0xFF}},
        {"(?)", 8, {0, 1, 1, 0x15, 0x08, 1, 1, 8}},
        {"(?)", 8, {0, 1, 1, 0x15, 0x12, REF(1), 0, 8}},  /* an instance without arguments */
        {"(?)", 8, {0, 1, 1, 0x14, 8, 0, 0, 0}},          /* rank 0 */
        {"(?)", 9, {0, 1, 1, 0x14, 8, 0x80, 0x80, 0, 0}}, /* rank 128 */
        {"(?)", 5, {0, 1, 1, 0x12, SPEC(2)}},             /* made of itself */
        {"(?)", 5, {0, 1, 1, 0x12, SPEC(3)}},             /* twice of itself */
        {"(?)", 5, {0, 1, 1, 0x12, DEF(10)}},             /* in itself */
        {"(?)", 5, {0, 1, 1, 0x12, REF(5)}},
        {"(?, System.Int32)", 6, {0, 2, 1, 0x12, DEF(20), 8}}, /* unknown, but the rest is sound */
    };

    for (size_t i = 0; i < COUNT_OF(damaged); i++)
        check(damaged[i].blob, damaged[i].size, damaged[i].text);
}

TEST(no_truncation_and_no_flipped_byte_is_read_past)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        uint8_t blob[sizeof(samples[i].blob)];

        for (size_t size = 0; size <= samples[i].size; size++)
            check(samples[i].blob, size, NULL);
        for (size_t at = 0; at < samples[i].size; at++) {
            memcpy(blob, samples[i].blob, sizeof(blob));
            for (unsigned value = 0; value < 256; value++) {
                blob[at] = (uint8_t)value;
                check(blob, samples[i].size, NULL);
            }
        }
    }
    assert_int_equal(load_relaxed(&fake_enumerators), 0);
}

TEST(nesting_has_a_limit)
{
    enum { LEVELS = 100000 };
    uint8_t *blob = malloc(LEVELS);

    memset(blob, 0x1D, LEVELS);
    memcpy(blob, (const uint8_t[]){0, 1, 1}, 3);
    check(blob, LEVELS, "(?)");
    memset(blob + 3, 0x1B, LEVELS - 3);
    check(blob, LEVELS, "(?)");
    blob[50] = 8; /* 46 levels: deep, but sound */
    memset(blob + 3, 0x1D, 47);
    check(blob, 51, NULL);
    free(blob);
}

TEST(many_parameters_do_not_make_endless_text)
{
    enum { COUNT = 10000 };
    uint8_t *blob = malloc(COUNT + 4);
    char *text;

    memcpy(blob, (const uint8_t[]){0, 0x80 | COUNT >> 8, COUNT & 0xFF, 1}, 4);
    memset(blob + 4, 0xE, COUNT);
    text = parameters_of(blob, COUNT + 4);
    assert_in_range(strlen(text), SIGNATURE_FULL, SIGNATURE_FULL + 64);
    memory_free(text);
    free(blob);
}

TEST(a_variable_without_a_name_is_written_by_number)
{
    static const uint8_t blob[] = {0, 3, 1, 0x13, 7, 0x1E, 9, 0x13, 0};
    struct signature_scope old = scope;

    check(blob, sizeof(blob), "(!7, !!9, T)");
    scope.type = scope.method = 0;
    check(blob, sizeof(blob), "(!7, !!9, !0)");
    scope = old;
}

TEST(exact_arguments_stand_for_variables)
{
    static const uint8_t blob[] = {0, 4, 1, 0x13, 0, 0x13, 1, 0x1E, 0, 0x1D, 0x1E, 1};
    static struct metadata_class_entry exact = {.record = {.token = 0x02000002}};
    static struct metadata_class_entry canon = {.record = {.token = 0x02000002, .canon = true}};
    struct metadata_class *type_arg[] = {&exact.record, &canon.record},
                          *method_arg[] = {NULL, &exact.record};
    struct signature_scope old = scope;

    store_relaxed(&exact.record.text, "Ns.Exact[]");
    scope.type_args = scope.method_args = 2;
    scope.type_arg = type_arg;
    scope.method_arg = method_arg;
    check(blob, sizeof(blob), "(Ns.Exact[], U, TM, Ns.Exact[][])");
    scope = old;
}

TEST(a_definition_shows_each_types_own_parameters)
{
    struct buffer b = BUFFER_INIT;
    struct signature_scope old = scope;

    assert_true(signature_append_definition(&b, &scope, 0x02000004));
    assert_string_equal(b.data, "Ns.Outer<T>.Inner<U, V>");
    buffer_clear(&b);
    scope.type = 0x02000005;
    assert_true(signature_append_definition(&b, &scope, 0x02000005));
    assert_string_equal(b.data, "Ns.Outer<T>.Inner<U, V>.Deep");
    buffer_clear(&b);
    buffer_text(&b, "kept");
    assert_false(signature_append_definition(&b, &scope, 0x02000063));
    assert_false(signature_append_definition(&b, &scope, 0x0200000A));
    assert_string_equal(b.data, "kept");
    buffer_free(&b);
    scope = old;
}

TEST(names_that_are_kept_are_what_they_were)
{
    static const uint8_t blob[] = {0, 2, 1, 0x12, DEF(2), 0x11, REF(1)};
    static const struct fake_type none[] = {{0, NULL, 0}};

    scope.names = signature_names_new();
    for (unsigned round = 0; round < 2; round++)
        for (size_t i = 0; i < COUNT_OF(samples); i++)
            check(samples[i].blob, samples[i].size, samples[i].text);
    metadata.types = none; /* the metadata is not asked again */
    check(blob, sizeof(blob), "(Ns.Plain, System.Collections.Generic.List`1)");
    memory_free(scope.names);
    scope.names = NULL;
    check(blob, sizeof(blob), "(?, System.Collections.Generic.List`1)");
    metadata.types = types;
}

TEST(running_out_of_memory_marks_the_buffer)
{
    static const uint8_t blob[] = {0, 1, 1, 0x15, 0x12, REF(1), 1, 8};

    for (long n = 0;; n++) {
        struct buffer b = BUFFER_INIT;
        char *text;

        memory_fail_after(n);
        signature_append_parameters(&b, &scope, blob, sizeof(blob));
        memory_fail_after(-1);
        text = buffer_take(&b);
        if (text) {
            assert_string_equal(text, "(System.Collections.Generic.List<System.Int32>)");
            memory_free(text);
            break;
        }
    }
    assert_int_equal(load_relaxed(&fake_enumerators), 0);
}
