/* Pieces of code that share a rule, by the addresses in them. */
#include "walk/internal.h"

#include "support/test.h"

enum { BODIES = 3000, SIZE = 100 };

static void add(struct walk_bodies *bodies, uintptr_t low, uintptr_t high, uint32_t epoch)
{
    walk_bodies_add(bodies, &(const struct walk_body){
                                low, high, epoch, {.distance = (uint32_t)low, .kind = 1}});
}

static uint32_t found(const struct walk_bodies *bodies, uintptr_t at, uint32_t epoch)
{
    const struct walk_body *body = walk_bodies_find(bodies, at, epoch);

    return body ? body->rule.distance : 0;
}

TEST(a_body_is_found_by_each_address_in_it)
{
    struct walk_bodies *bodies = walk_bodies_new();

    for (uintptr_t i = 1; i <= BODIES; i++)
        add(bodies, i * SIZE, i * SIZE + SIZE - 1, 0);
    for (uintptr_t i = 1; i <= BODIES; i++) {
        assert_int_equal(found(bodies, i * SIZE, 7), i * SIZE);
        assert_int_equal(found(bodies, i * SIZE + SIZE - 2, 7), i * SIZE);
        assert_int_equal(found(bodies, i * SIZE + SIZE - 1, 7), 0);
    }
    walk_bodies_free(bodies);
}

TEST(a_body_is_found_in_each_of_its_pages)
{
    struct walk_bodies *bodies = walk_bodies_new();

    add(bodies, 0x10ff0, 0x14010, 0);
    for (uintptr_t at = 0x11000; at < 0x15000; at += 0x1000) {
        assert_int_equal(found(bodies, at, 1), 0x10ff0);
        assert_true(walk_bodies_page(bodies, at + 0xfff, 1));
    }
    assert_int_equal(found(bodies, 0x14010, 1), 0);
    assert_false(walk_bodies_page(bodies, 0x15000, 1));
    walk_bodies_free(bodies);
}

TEST(a_body_that_may_be_unloaded_is_of_its_epoch)
{
    struct walk_bodies *bodies = walk_bodies_new();

    for (uint32_t epoch = 1; epoch <= BODIES; epoch++) {
        add(bodies, 0x10000, 0x10100, epoch);
        add(bodies, 0x20000, 0x20100, 0);
        assert_int_equal(found(bodies, 0x10050, epoch), 0x10000);
        assert_int_equal(found(bodies, 0x10050, epoch + 1), 0);
        assert_false(walk_bodies_page(bodies, 0x10050, epoch + 1));
        walk_bodies_forget(bodies, epoch + 1);
        assert_int_equal(found(bodies, 0x10050, epoch), 0);
        assert_int_equal(found(bodies, 0x20050, epoch), 0x20000);
    }
    walk_bodies_free(bodies);
}
