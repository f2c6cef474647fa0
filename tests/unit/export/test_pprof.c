#include "unit/export/written.h"

static struct written profile;
static char *strings[50];
static size_t string_count;

static int setup(void **state)
{
    struct written packed = written_by(export_pprof, a_profile());
    const char *at;
    struct field f;

    (void)state;
    profile = unpacked(packed.data, packed.size, MAX_WBITS + 16);
    free(packed.data);
    for (at = profile.data; next(&at, profile.data + profile.size, &f);)
        if (f.number == 6)
            strings[string_count++] = strndup(f.data, f.value);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    while (string_count)
        free(strings[--string_count]);
    free(profile.data);
    return 0;
}

TEST_EACH(setup, teardown);

/* Number `wanted` of the fields of that number. */
static struct field at(unsigned number, size_t wanted)
{
    const char *from = profile.data;
    struct field f;

    while (next(&from, profile.data + profile.size, &f))
        if (f.number == number && wanted-- == 0)
            return f;
    fail_msg("field %u is missing", number);
    return f;
}

static uint64_t number_in(struct field message, unsigned number)
{
    const char *from = message.data;
    struct field f;

    while (next(&from, message.data + message.value, &f))
        if (f.number == number)
            return f.value;
    return 0;
}

TEST(the_first_string_is_empty_and_none_comes_twice)
{
    assert_string_equal(strings[0], "");
    for (size_t i = 0; i < string_count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(strings[i], strings[k]);
}

TEST(sample_types_are_those_of_go_and_bytes_come_first)
{
    assert_string_equal(strings[number_in(at(1, 0), 1)], "alloc_objects");
    assert_string_equal(strings[number_in(at(1, 0), 2)], "count");
    assert_string_equal(strings[number_in(at(1, 1), 1)], "alloc_space");
    assert_string_equal(strings[number_in(at(1, 1), 2)], "bytes");
    assert_string_equal(strings[at(14, 0).value], "alloc_space");
    assert_int_equal(at(9, 0).value, a_profile()->started);
    assert_int_equal(at(10, 0).value, 1500000000);
    assert_int_equal(at(12, 0).value, 1);
    assert_string_equal(strings[at(13, 0).value], "the log is <not> complete & more");
    assert_string_equal(strings[at(13, 1).value], "folded");
}

TEST(the_programs_own_module_is_the_first_mapping)
{
    assert_int_equal(number_in(at(3, 0), 1), 1);
    assert_string_equal(strings[number_in(at(3, 0), 5)], "/a/App.dll");
    assert_string_equal(strings[number_in(at(3, 0), 6)], "0a-1b");
    assert_int_equal(number_in(at(3, 0), 9), 1); /* it has lines */
    assert_int_equal(number_in(at(3, 1), 1), 2);
    assert_int_equal(number_in(at(3, 1), 6), 0);
    assert_int_equal(number_in(at(3, 1), 7), 1); /* names, but no lines */
    assert_int_equal(number_in(at(3, 1), 9), 0);
}

TEST(places_in_a_method_share_its_function_which_has_no_system_name)
{
    struct field main1 = at(4, 0), main2 = at(4, 3), function = at(5, 0);
    const char *from = main1.data;
    struct field line;

    while (next(&from, main1.data + main1.value, &line) && line.number != 4)
        ;
    assert_int_equal(number_in(line, 1), 1);
    assert_int_equal(number_in(line, 2), 12);
    assert_int_equal(number_in(main1, 2), 1);
    assert_int_equal(number_in(main2, 1), 4);
    assert_string_equal(strings[number_in(function, 2)], "App.P.Main()");
    assert_int_equal(number_in(function, 3), 0);
    assert_string_equal(strings[number_in(function, 4)], "/a/P.cs");
    assert_string_equal(strings[number_in(at(5, 1), 2)], HOSTILE);
}

TEST(a_sample_is_its_stack_leaf_first_two_values_and_labels)
{
    struct field sample = at(2, 0), f = {0};
    const char *from = sample.data, *numbers;

    assert_true(next(&from, sample.data + sample.value, &f) && f.number == 1 && f.value == 3);
    assert_memory_equal(f.data, "\x03\x02\x01", 3);
    assert_true(next(&from, sample.data + sample.value, &f) && f.number == 2);
    numbers = f.data;
    assert_int_equal(varint(&numbers), 4);
    assert_int_equal(varint(&numbers), 100);
    assert_true(next(&from, sample.data + sample.value, &f) && f.number == 3);
    assert_string_equal(strings[number_in(f, 1)], "type");
    assert_string_equal(strings[number_in(f, 2)], "System.String");
    assert_true(next(&from, sample.data + sample.value, &f) && f.number == 3);
    assert_string_equal(strings[number_in(f, 1)], "bytes");
    assert_int_equal(number_in(f, 3), 25);
    assert_true(next(&from, sample.data + sample.value, &f) && f.number == 3);
    assert_string_equal(strings[number_in(f, 1)], "own");
    assert_string_equal(strings[number_in(f, 2)], "App.P.Main()");
}

TEST(what_cannot_be_written_is_told)
{
    failures_are_told(export_pprof);
}
