/* Walks between hooked frames, on a stack that is made up: each frame has a frame pointer. */
#include "walk/internal.h"

#include "base/memory.h"
#include "stack/stack_hot.h"

#include "support/test.h"

#include <string.h>

#define DEPTH        8        /* frames of the stack, the oldest first */
#define WORDS        4        /* of each */
#define OLDEST_IP    0x100000 /* of frame i: this and i times 16 */
#define RESUME_IP(i) (OLDEST_IP + 16 * (uintptr_t)(i))

static struct metadata_method methods[DEPTH];
static struct walk walk;
static struct walk_thread *t;
static uintptr_t words[(DEPTH + 2) * WORDS];
static struct frame shadow[DEPTH];
static struct walk_hooked hooked;

/* Frame i lies above this address, which is its caller's stack pointer. */
static uintptr_t sp_of(size_t i)
{
    return (uintptr_t)&words[(DEPTH + 1 - i) * WORDS];
}

/* The rule for an address is at hand. */
static void rule_add(uintptr_t ip, const struct walk_rule *rule)
{
    t->near[walk_near(ip)] = (struct walk_near){
        ip,
        {.frame = (uint32_t)rule->cfa | (uint64_t)(uint32_t)rule->fp << 32,
         .flags = (uint64_t)(uint16_t)rule->ret << 32 | (uint64_t)rule->kind << 56 |
                  (uint64_t)(rule->by_fp ? WALK_BY_FP : 0) << 60,
         .of = rule->of}};
}

/* A managed method's, with a frame pointer. */
static void frame_rule(uintptr_t ip, const struct metadata_method *method)
{
    rule_add(
        ip,
        &(struct walk_rule){
            .of = method, .kind = KIND_MANAGED, .by_fp = true, .cfa = 16, .fp = -16, .ret = -8});
}

/* The frames of a stack, all linked; each is of the method of its number. */
static int setup(void **state)
{
    struct tree_config config = {.max_nodes = 1000};

    (void)state;
    memset(&walk, 0, sizeof(walk));
    t = memory_pages_map(sizeof(*t));
    assert_int_equal(tree_new(&config, &walk.tree), 0);
    assert_int_equal(walk_rules_new(&walk.rules), 0);
    store_relaxed(&walk.epoch, 1);
    t->low = (uintptr_t)words;
    t->high = (uintptr_t)(words + COUNT_OF(words));
    for (size_t i = 0; i < DEPTH; i++) {
        methods[i].function_id = 1000 + i;
        ((uintptr_t *)sp_of(i))[-1] = i ? RESUME_IP(i - 1) : OLDEST_IP - 16;
        ((uintptr_t *)sp_of(i))[-2] = i ? sp_of(i - 1) - 16 : 0;
        frame_rule(RESUME_IP(i), &methods[i]);
        shadow[i] = (struct frame){0};
    }
    rule_add(OLDEST_IP - 16, &(struct walk_rule){.kind = KIND_END});
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_free_all(t->steps.step, t->word, t->fresh.step, t->filter, t->shadow);
    memory_pages_unmap(t, sizeof(*t));
    walk_rules_free(walk.rules);
    tree_free(walk.tree);
    return 0;
}

/* Pushes a hooked frame: that of `i`. */
static void enter(size_t i)
{
    struct frame *frame = &hooked.oldest[hooked.next++];

    store_relaxed(&frame->method, (uintptr_t)&methods[i]);
    store_relaxed(&frame->sp, sp_of(i));
    store_relaxed(&frame->marked_ret, ((const uintptr_t *)sp_of(i))[-1]);
}

/* Walks from the youngest frame, with the frames of `hooked`, which stays as it is. */
static enum walk_why walk_on(void)
{
    struct walk_hooked on = hooked;
    uintptr_t fp[2] = {sp_of(DEPTH - 1) - 16, RESUME_IP(DEPTH - 1)};

    /* The frame of the function that calls is the lowest of the stack. */
    memcpy(words, fp, sizeof(fp));
    return walk_up(&walk, t, words, &on);
}

static uint32_t node_now(void)
{
    return t->steps.step[t->steps.count - 1].node;
}

static size_t frames_now(void)
{
    size_t frames = 0;

    for (const struct tree_node *node = tree_node_by_id(walk.tree, node_now());
         node != tree_root(walk.tree); node = tree_caller(walk.tree, node))
        frames++;
    return frames;
}

TEST(a_walk_meets_each_hooked_frame_and_has_those_between, setup, teardown)
{
    hooked = (struct walk_hooked){.oldest = shadow};
    enter(1);
    enter(4);
    enter(6);
    assert_int_equal(walk_on(), WALK_CERTAIN);
    assert_int_equal(frames_now(), DEPTH);
    for (size_t i = 0; i < 3; i++)
        assert_true(frame_walked(&shadow[i]));
    assert_int_equal(frame_ret(&shadow[1]), RESUME_IP(3));
}

TEST(a_frame_that_is_not_on_the_stack_is_a_miss, setup, teardown)
{
    hooked = (struct walk_hooked){.oldest = shadow};
    enter(1);
    enter(4);
    store_relaxed(&shadow[1].sp, sp_of(4) - 8); /* between two frames */
    assert_int_equal(walk_on(), WALK_HOOKED);
    store_relaxed(&shadow[1].sp, sp_of(4));
    store_relaxed(&shadow[1].method, (uintptr_t)&methods[5]); /* another method is there */
    assert_int_equal(walk_on(), WALK_HOOKED);
    store_relaxed(&shadow[1].method, (uintptr_t)&methods[4]);
    store_relaxed(&shadow[0].sp, sp_of(0) + 64); /* older than the stack */
    assert_int_equal(walk_on(), WALK_HOOKED);
    assert_false(frame_walked(&shadow[0]) || frame_walked(&shadow[1]));
    store_relaxed(&shadow[0].sp, sp_of(1));
    assert_int_equal(walk_on(), WALK_CERTAIN);
}

TEST(a_frame_that_is_new_is_looked_for_in_what_has_not_changed, setup, teardown)
{
    hooked = (struct walk_hooked){.oldest = shadow};
    enter(1);
    assert_int_equal(walk_on(), WALK_CERTAIN);
    enter(4); /* the words are the same: nothing of the machine's stack has changed */
    store_relaxed(&shadow[1].sp, sp_of(4) - 8);
    assert_int_equal(walk_on(), WALK_HOOKED);
    store_relaxed(&shadow[1].sp, sp_of(4));
    assert_int_equal(walk_on(), WALK_CERTAIN);
    assert_true(frame_walked(&shadow[1]));
}

/* Below a hooked frame that an earlier walk has met nothing is read: here it would end early. */
TEST(what_lies_below_a_frame_that_was_met_is_not_read_again, setup, teardown)
{
    uint32_t node;

    hooked = (struct walk_hooked){.oldest = shadow};
    enter(4);
    assert_int_equal(walk_on(), WALK_CERTAIN);
    node = node_now();
    ((uintptr_t *)sp_of(2))[-1] = OLDEST_IP - 16;
    assert_int_equal(walk_on(), WALK_CERTAIN);
    assert_int_equal(node_now(), node);
    hooked.next = 0;
    enter(4); /* called again: it is another frame */
    assert_int_equal(walk_on(), WALK_CERTAIN);
    assert_int_equal(frames_now(), DEPTH - 2);
}

TEST(a_frame_that_was_met_and_is_gone_is_a_miss, setup, teardown)
{
    hooked = (struct walk_hooked){.oldest = shadow};
    enter(1);
    assert_int_equal(walk_on(), WALK_CERTAIN);
    store_relaxed(&shadow[0].sp, sp_of(0) + 64); /* older than the stack, which is as it was */
    assert_int_equal(walk_on(), WALK_HOOKED);
    store_relaxed(&shadow[0].sp, sp_of(1));
    enter(4);
    assert_int_equal(walk_on(), WALK_CERTAIN);
    store_relaxed(&shadow[0].sp, sp_of(0) + 64);
    store_relaxed(&walk.epoch, 2); /* code was unloaded: no step is kept */
    assert_int_equal(walk_on(), WALK_HOOKED);
}

/* After a walk for a filter, or when code was unloaded, the steps may not be those of the stack. */
TEST(frames_that_were_met_are_met_again_when_the_last_walk_is_of_no_use, setup, teardown)
{
    uintptr_t fp[2] = {sp_of(DEPTH - 1) - 16, RESUME_IP(DEPTH - 1)};

    hooked = (struct walk_hooked){.oldest = shadow};
    enter(4);
    assert_int_equal(walk_on(), WALK_CERTAIN);
    memcpy(words, fp, sizeof(fp));
    assert_int_equal(walk_up(&walk, t, words, NULL), WALK_CERTAIN);
    ((uintptr_t *)sp_of(2))[-1] = OLDEST_IP - 16;
    assert_int_equal(walk_on(), WALK_CERTAIN);
    assert_int_equal(frames_now(), DEPTH - 2);
    ((uintptr_t *)sp_of(2))[-1] = RESUME_IP(1);
    store_relaxed(&walk.epoch, 2);
    assert_int_equal(walk_on(), WALK_CERTAIN);
    assert_int_equal(frames_now(), DEPTH);
}

TEST(a_method_that_goes_on_has_its_beginning_in_the_path, setup, teardown)
{
    uint32_t begun, node;

    hooked = (struct walk_hooked){.oldest = shadow};
    enter(4);
    assert_int_equal(walk_on(), WALK_CERTAIN);
    begun = node = node_now();
    tree_begin(walk.tree, begun, 1);
    hooked.next = 0;
    enter(4); /* the same words, but it is another call, which was begun elsewhere */
    frame_flags_set(&shadow[0], begun << FRAME_BEGUN_SHIFT);
    assert_int_equal(walk_on(), WALK_CERTAIN);
    assert_int_equal(frames_now(), DEPTH);
    assert_int_not_equal(node_now(), node);
    for (size_t i = 0; i < t->steps.count; i++)
        assert_int_equal(t->steps.step[i].begun, t->steps.step[i].of == &methods[4] ? begun : 0);
}
