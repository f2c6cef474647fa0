#include "base/array.h"
#include "base/memory.h"
#include "support/test.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

TEST(an_array_grows_and_keeps_what_it_holds)
{
    uint32_t *numbers = NULL;
    size_t capacity = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(array_reserve(&numbers, &capacity, i + 1u));
        assert_true(capacity > i && capacity <= 8u + 2 * i);
        numbers[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i);
    assert_true(array_reserve(&numbers, &capacity, 5000u)); /* more at once than by half */
    assert_int_equal(capacity, 5000);
    memory_free(numbers);
}

TEST(new_elements_are_zero_where_that_is_asked_for)
{
    struct pair {
        uint64_t a, b;
    } *pairs = NULL;
    size_t capacity = 0;

    for (size_t wanted = 1; wanted < 500; wanted *= 3) {
        size_t before = capacity;

        assert_true(array_reserve_zeroed(&pairs, &capacity, wanted));
        for (size_t i = before; i < capacity; i++) {
            assert_true(pairs[i].a == 0 && pairs[i].b == 0);
            pairs[i].a = pairs[i].b = UINT64_MAX;
        }
    }
    memory_free(pairs);
}

TEST(without_memory_it_stays_as_it_is)
{
    uint64_t *numbers = NULL, *before;
    size_t capacity = 0;

    assert_true(array_reserve(&numbers, &capacity, 3u));
    numbers[2] = 42;
    before = numbers;
    memory_fail_after(0);
    assert_true(array_reserve(&numbers, &capacity, capacity)); /* nothing is asked for */
    assert_false(array_reserve(&numbers, &capacity, capacity + 1));
    memory_fail_after(-1);
    assert_false(
        array_reserve(&numbers, &capacity, SIZE_MAX / 8)); /* more bytes than there can be */
    assert_ptr_equal(numbers, before);
    assert_int_equal(capacity, 8);
    assert_int_equal(numbers[2], 42);
    memory_free(numbers);
}
