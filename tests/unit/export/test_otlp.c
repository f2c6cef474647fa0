/* OTLP profiles: test_agree.py holds their sums against reports, test_export.py their messages. */
#include "unit/export/written.h"

static struct written made;

static int setup(void **state)
{
    (void)state;
    made = written_by(export_otlp, a_profile());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(made.data);
    return 0;
}

TEST_EACH(setup, teardown);

/* Number `wanted` of the fields of that number in a message. */
static struct field at(struct field message, unsigned number, size_t wanted)
{
    const char *from = message.data;
    struct field f;

    while (next(&from, message.data + message.value, &f))
        if (f.number == number && wanted-- == 0)
            return f;
    fail_msg("field %u is missing", number);
    return f;
}

static size_t count(struct field message, unsigned number)
{
    const char *from = message.data;
    size_t found = 0;
    struct field f;

    while (next(&from, message.data + message.value, &f))
        found += f.number == number;
    return found;
}

static struct field whole(void)
{
    return (struct field){.value = made.size, .data = made.data};
}

static void expect_text(uint64_t number, const char *text)
{
    struct field string = at(at(whole(), 2, 0), 5, number);

    assert_int_equal(string.value, strlen(text));
    assert_memory_equal(string.data, text, string.value);
}

static struct field profile(size_t number)
{
    return at(at(at(whole(), 1, 0), 2, 0), 2, number);
}

TEST(a_file_is_one_resource_and_one_dictionary)
{
    struct field dictionary = at(whole(), 2, 0);

    assert_int_equal(count(whole(), 1), 1);
    assert_int_equal(count(whole(), 2), 1);
    assert_int_equal(count(dictionary, 1), 3); /* entry 0 of each table is empty */
    assert_int_equal(count(dictionary, 2), 7);
    assert_int_equal(count(dictionary, 3), 6);
    assert_int_equal(count(dictionary, 4), 1);
    assert_int_equal(count(dictionary, 7), 4);
    for (unsigned table = 1; table <= 7; table++)
        assert_int_equal(at(dictionary, table, 0).value, table == 4 ? 28 : 0);
}

TEST(there_is_a_profile_of_bytes_and_one_of_objects)
{
    static const uint64_t bytes[] = {100, 20000001, 24}, objects[] = {4, 1, 1};

    assert_int_equal(count(at(at(whole(), 1, 0), 2, 0), 2), 2);
    for (size_t i = 0; i < 3; i++) {
        const char *of_bytes = at(at(profile(0), 2, i), 4, 0).data;
        const char *of_objects = at(at(profile(1), 2, i), 4, 0).data;

        assert_int_equal(varint(&of_bytes), bytes[i]);
        assert_int_equal(varint(&of_objects), objects[i]);
        assert_int_equal(at(at(profile(0), 2, i), 1, 0).value, i + 1);
    }
    expect_text(at(at(profile(0), 1, 0), 1, 0).value, "alloc_space");
    expect_text(at(at(profile(1), 1, 0), 1, 0).value, "alloc_objects");
    assert_int_equal(at(profile(0), 7, 0).value, 16);
    assert_memory_not_equal(at(profile(0), 7, 0).data, at(profile(1), 7, 0).data, 16);
}

/* The heaviest: a byte[] of Main +9; its leaf comes first, and Main's location has its line. */
TEST(a_stack_begins_with_what_was_made)
{
    struct field dictionary = at(whole(), 2, 0);
    const char *locations = at(at(dictionary, 7, 2), 1, 0).data;
    struct field leaf = at(dictionary, 2, varint(&locations));
    struct field caller = at(dictionary, 2, varint(&locations));

    expect_text(at(at(dictionary, 3, at(at(leaf, 3, 0), 1, 0).value), 1, 0).value, "System.Byte[]");
    expect_text(at(at(dictionary, 3, at(at(caller, 3, 0), 1, 0).value), 1, 0).value,
                "App.P.Main()");
    assert_int_equal(at(at(caller, 3, 0), 2, 0).value, 14);
    assert_int_equal(count(leaf, 4), 0); /* no frame of the runtime */
    assert_int_equal(count(caller, 4), 1);
}

/* Attribute 2 is the list of them. */
TEST(what_is_to_be_known_stands_in_an_attribute)
{
    struct field attribute = at(at(whole(), 2, 0), 6, 2), list;

    expect_text(at(attribute, 1, 0).value, "shadowtrace.remarks");
    list = at(at(attribute, 2, 0), 5, 0);
    assert_int_equal(count(list, 1), 2);
    assert_memory_equal(at(at(list, 1, 0), 1, 0).data, "the log is <not>", 16);
    assert_int_equal(*at(profile(0), 11, 0).data, 2);
}
