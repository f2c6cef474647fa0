#include "world.h"

#include "base/memory.h"
#include "support/test.h"

#include <stddef.h>

#include <string.h>
#include <sys/mman.h>

static uint8_t room[4096];

static const struct values_type *type_of(const uint8_t *blob, size_t size)
{
    struct values_scope scope = world_scope();

    return values_type_read(world.types, &scope, &blob, blob + size, VALUES_LOAD);
}

static void check(const struct values_type *type, const void *at, bool sure, const char *expected)
{
    struct capture c = {.rules = &world_rules, .data = room, .room = sizeof(room)};
    char *text;

    assert_non_null(type);
    capture_value(&c, type, (uintptr_t)at, sure);
    text = world_text(&c, SIZE_MAX);
    assert_string_equal(text, expected);
    memory_free(text);
}

#define CHECK(expected, at, ...) \
    check(type_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})), (at), \
          true, (expected))
#define VALUE_TYPE(row) ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(row)
#define GENERIC(row, ...) \
    ELEMENT_TYPE_GENERICINST, ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(row), 1, __VA_ARGS__

static int setup(void **state)
{
    (void)state;
    world_begin();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_forget();
    return 0;
}

TEST_EACH(setup, teardown);

TEST(primitives_are_numbers_texts_and_words)
{
    CHECK("true", &(uint8_t){1}, ELEMENT_TYPE_BOOLEAN);
    CHECK("\"\xe2\x82\xac\"", &(uint16_t){0x20ac}, ELEMENT_TYPE_CHAR);
    CHECK("\"\xef\xbf\xbd\"", &(uint16_t){0xd800}, ELEMENT_TYPE_CHAR);
    CHECK("-5", &(int8_t){-5}, ELEMENT_TYPE_I1);
    CHECK("65535", &(uint16_t){65535}, ELEMENT_TYPE_U2);
    CHECK("-7", &(int32_t){-7}, ELEMENT_TYPE_I4);
    CHECK("\"-9223372036854775808\"", &(int64_t){INT64_MIN}, ELEMENT_TYPE_I8);
    CHECK("\"18446744073709551615\"", &(uint64_t){UINT64_MAX}, ELEMENT_TYPE_U8);
    CHECK("9007199254740991", &(uint64_t){9007199254740991}, ELEMENT_TYPE_U8);
    CHECK("1.5", &(float){1.5f}, ELEMENT_TYPE_R4);
    CHECK("\"NaN\"", &(double){__builtin_nan("")}, ELEMENT_TYPE_R8);
    CHECK("\"-Infinity\"", &(double){-__builtin_inf()}, ELEMENT_TYPE_R8);
}

TEST(decimals_are_as_csharp_writes_them)
{
    const uint32_t half[] = {1u << 16, 0, 5, 0}, minus[] = {0x80030000, 0, 1, 0},
                   zero[] = {0, 0, 0, 0}, most[] = {0, UINT32_MAX, UINT32_MAX, UINT32_MAX},
                   price[] = {4u << 16, 0, 1234500, 0};

    CHECK("\"0.5\"", half, VALUE_TYPE(WORLD_DECIMAL));
    CHECK("\"-0.001\"", minus, VALUE_TYPE(WORLD_DECIMAL));
    CHECK("\"0\"", zero, VALUE_TYPE(WORLD_DECIMAL));
    CHECK("\"79228162514264337593543950335\"", most, VALUE_TYPE(WORLD_DECIMAL));
    CHECK("\"123.4500\"", price, VALUE_TYPE(WORLD_DECIMAL));
}

TEST(enums_have_names)
{
    CHECK("\"Red\"", &(int32_t){0}, VALUE_TYPE(WORLD_COLOR));
    CHECK("\"Blue\"", &(int32_t){-10}, VALUE_TYPE(WORLD_COLOR));
    CHECK("3", &(int32_t){3}, VALUE_TYPE(WORLD_COLOR));
    CHECK("\"AB\"", &(int32_t){3}, VALUE_TYPE(WORLD_BITS));
    CHECK("\"B\"", &(int32_t){2}, VALUE_TYPE(WORLD_BITS));
    CHECK("0", &(int32_t){0}, VALUE_TYPE(WORLD_BITS));
    CHECK("7", &(int32_t){7}, VALUE_TYPE(WORLD_BITS));
}

TEST(structs_are_their_fields)
{
    const int32_t pair[] = {1, -2};
    const struct {
        int64_t has, value;
    } five = {1, 5}, none = {0, 5};
    const struct {
        int64_t value;
        int32_t n;
    } gen = {6, 7};

    CHECK("{\"X\":1,\"Y\":-2}", pair, VALUE_TYPE(WORLD_PAIR));
    CHECK("5", &five, GENERIC(WORLD_NULLABLE, ELEMENT_TYPE_I4));
    CHECK("null", &none, GENERIC(WORLD_NULLABLE, ELEMENT_TYPE_I4));
    CHECK("{\"Value\":6,\"N\":7}", &gen, GENERIC(WORLD_GEN, ELEMENT_TYPE_I8));
}

TEST(what_is_referred_to_is_read_if_it_is_there)
{
    uint8_t *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int32_t pair[] = {3, 4}, many[] = {1, 2, 3, 4, 5};
    const void *to_pair = pair, *nowhere = page, *nothing = NULL;
    const struct {
        const void *first;
        int32_t length;
    } span = {many, 5}, broken = {page, 2};

    assert_true(page != MAP_FAILED);
    CHECK("{\"ref\":{\"X\":3,\"Y\":4}}", &to_pair, ELEMENT_TYPE_BYREF, VALUE_TYPE(WORLD_PAIR));
    CHECK("{\"ref\":{\"unreadable\":true}}", &nowhere, ELEMENT_TYPE_BYREF, ELEMENT_TYPE_I4);
    CHECK("{\"ref\":null}", &nothing, ELEMENT_TYPE_BYREF, ELEMENT_TYPE_I4);
    CHECK("{\"pointer\":\"0x0\",\"target\":null}", &nothing, ELEMENT_TYPE_PTR, ELEMENT_TYPE_I4);
    CHECK("{\"pointer\":\"0x0\",\"target\":null}", &nothing, ELEMENT_TYPE_PTR, ELEMENT_TYPE_VOID);
    CHECK("{\"length\":5,\"items\":[1,2,3]}", &span, GENERIC(WORLD_SPAN, ELEMENT_TYPE_I4));
    CHECK("{\"length\":2,\"items\":[{\"unreadable\":true},{\"unreadable\":true}]}", &broken,
          GENERIC(WORLD_SPAN, ELEMENT_TYPE_I4));
    munmap(page, 4096);
}

TEST(objects_found_in_unsure_memory_must_be_of_a_known_class)
{
    const uintptr_t junk[] = {0x1234567890, 0}, object = (uintptr_t)junk, wild = 24, odd = 25;
    const struct values_type *type = type_of((const uint8_t[]){ELEMENT_TYPE_STRING}, 1);

    check(type, &object, true, "{\"type\":\"?\"}");
    check(type, &object, false, "{\"unreadable\":true}");
    check(type, &wild, false, "{\"unreadable\":true}");
    check(type, &odd, true, "{\"unreadable\":true}");
}

TEST(what_leads_to_itself_ends)
{
    struct node {
        const struct node *next;
        int32_t pair[2];
        uintptr_t text;
    } node = {&node, {1, 2}, 0};
    struct capture c = {.rules = &world_rules, .data = room, .room = sizeof(room)};
    char *text;

    capture_value(&c, type_of((const uint8_t[]){VALUE_TYPE(WORLD_NODE)}, 2), (uintptr_t)&node,
                  true);
    text = world_text(&c, SIZE_MAX);
    assert_true(strstr(text, "\"cut\":true") || strstr(text, "\"unreadable\":true"));
    assert_true(strlen(text) < 1000);
    memory_free(text);
}

TEST(what_has_no_room_is_cut)
{
    const int32_t pair[] = {1, 2};
    const struct values_type *type = type_of((const uint8_t[]){VALUE_TYPE(WORLD_PAIR)}, 2);

    for (size_t size = 0; size < 40; size++) {
        struct capture c = {.rules = &world_rules, .data = room, .room = size};
        char *text;

        capture_value(&c, type, (uintptr_t)pair, true);
        assert_true(c.size <= size);
        text = world_text(&c, SIZE_MAX);
        assert_true(size >= 29 || strstr(text, "\"cut\":true"));
        memory_free(text);
    }
}

TEST(damaged_blobs_are_unknown)
{
    static const uint8_t blobs[][8] = {
        {0},
        {ELEMENT_TYPE_VALUETYPE},
        {ELEMENT_TYPE_VALUETYPE, 0xff, 0xff},
        {ELEMENT_TYPE_GENERICINST, 8},
        {ELEMENT_TYPE_GENERICINST, ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(WORLD_GEN), 0},
        {ELEMENT_TYPE_GENERICINST, ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(WORLD_GEN), 1, 0x7e},
        {ELEMENT_TYPE_VAR, 9},
        {ELEMENT_TYPE_TYPEDBYREF},
        {0xff},
    };

    for (size_t i = 0; i < COUNT_OF(blobs); i++) {
        const struct values_type *type = type_of(blobs[i], sizeof(blobs[i]));

        assert_non_null(type);
        assert_true(type->kind == VALUES_UNKNOWN || type->size == 0 || type->kind == VALUES_STRUCT);
    }
    check(type_of(blobs[0], 0), &(int){0}, true, "{\"unreadable\":true}");
}

/* int Run(int first, out Pair second) of Gen<T>, and T Run(): the runtime does not say what T is. */
TEST(a_plan_has_names_this_and_what_comes_out)
{
    static const uint8_t signature[] = {
        IMAGE_CEE_CS_CALLCONV_HASTHIS, 2, ELEMENT_TYPE_VAR, 0, ELEMENT_TYPE_I4, ELEMENT_TYPE_BYREF,
        VALUE_TYPE(WORLD_PAIR)};
    struct metadata_method method = {.token = mdtMethodDef | 1, .module = world_scope().module};
    struct values_plan *plan;

    world.signature = signature;
    world.signature_size = sizeof(signature);
    plan = values_plan_new(world.types, &method, true, false, VALUES_LOAD);
    assert_non_null(plan);
    assert_true(plan->args && !plan->returns && plan->open);
    assert_int_equal(plan->count, 3);
    assert_string_equal(plan->parameter[0].name, "this");
    assert_string_equal(plan->parameter[1].name, "first");
    assert_true(plan->parameter[2].out && !plan->parameter[1].out);
    assert_true(plan->parameter[2].back && !plan->parameter[0].back && plan->back == 1);
    assert_int_equal(plan->result->kind, VALUES_UNKNOWN);
    values_plan_free(plan);
}

/* (this, out Pair, ref int): at the end only values on the stack are recorded; others may have moved. */
TEST(targets_are_read_again_on_the_stack_only)
{
    const uint8_t to_pair[] = {ELEMENT_TYPE_BYREF, VALUE_TYPE(WORLD_PAIR)},
                  to_int[] = {ELEMENT_TYPE_BYREF, ELEMENT_TYPE_I4};
    struct values_parameter parameters[] = {
        {.name = (char[]){"this"}, .type = &values_reference},
        {.name = (char[]){"pair"}, .back = true, .type = type_of(to_pair, sizeof(to_pair))},
        {.name = (char[]){"number"}, .back = true, .type = type_of(to_int, sizeof(to_int))},
    };
    const struct values_plan plan = {.count = 3, .back = 2, .parameter = parameters};
    const int32_t memory[] = {1, 2, 3};
    const uintptr_t low = (uintptr_t)memory, where[CAPTURE_TARGETS] = {low, low + 8},
                    lost[CAPTURE_TARGETS] = {0, 16};
    static const uint8_t moved[] = {CAPTURE_MOVED}, gone[] = {CAPTURE_UNREADABLE, CAPTURE_MOVED};
    struct capture c = {.rules = &world_rules, .data = room, .room = sizeof(room)};
    size_t whole;

    capture_targets(&c, &plan, where, low, low + 12);
    assert_int_equal(room[0], CAPTURE_STRUCT);
    assert_int_equal(room[c.size - 10], CAPTURE_PRIMITIVE);
    assert_int_equal(room[c.size - 8], 3);
    whole = c.size;
    c.size = 0;
    capture_targets(&c, &plan, where, low, low + 11); /* the last one reaches over the end */
    assert_int_equal(c.size, whole - 9);
    assert_memory_equal(room + c.size - 1, moved, 1);
    c.size = 0;
    capture_targets(&c, &plan, where, low + 1, low + 12);
    assert_memory_equal(room, moved, 1);
    c.size = 0;
    capture_targets(&c, &plan, lost, low, low + 12);
    assert_int_equal(c.size, 2);
    assert_memory_equal(room, gone, 2);
}

TEST(running_out_of_memory_gives_no_plan)
{
    static const uint8_t signature[] = {0,
                                        3,
                                        ELEMENT_TYPE_VOID,
                                        ELEMENT_TYPE_I4,
                                        VALUE_TYPE(WORLD_COLOR),
                                        GENERIC(WORLD_NULLABLE, VALUE_TYPE(WORLD_PAIR))};
    struct metadata_method method = {.token = mdtMethodDef | 1, .module = world_scope().module};
    struct values_plan *plan = NULL;
    long n = 0;

    world.signature = signature;
    world.signature_size = sizeof(signature);
    for (; !plan && n < 1000; n++) {
        world_forget();
        world_begin();
        memory_fail_after(n);
        plan = values_plan_new(world.types, &method, true, true, VALUES_LOAD);
        memory_fail_after(-1);
    }
    assert_non_null(plan);
    assert_true(n > 10);
    values_plan_free(plan);
}
