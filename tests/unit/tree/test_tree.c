/* The context tree: one node per key for all threads, and a full table. */
#include "tree/tree.h"

#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define CHUNK_NODES (1u << 14) /* nodes in one mapping of the tree */

static struct tree *tree;

static int make(uint32_t max_nodes, void (*created)(void *, struct tree_site *), void *context)
{
    const struct tree_config config = {
        .max_nodes = max_nodes, .created = created, .context = context};

    return tree_new(&config, &tree);
}

static int setup(void **state)
{
    (void)state;
    return make(1000000, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    memory_fail_after(-1);
    tree_free(tree);
    tree = NULL;
    return 0;
}

static struct tree_node *child(struct tree_node *parent, uintptr_t method, uintptr_t ip)
{
    return tree_child(tree, parent, method, ip);
}

/* The address space of this process, bytes. */
static unsigned long address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages * 4096;
}

TEST(where_address_space_is_limited_it_takes_little_of_it, NULL, teardown)
{
    const unsigned long room = 512ul << 20;
    struct rlimit before, limit;
    unsigned long taken;

    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = address_space() + room;
    if (setrlimit(RLIMIT_AS, &limit))
        skip();
    taken = address_space();
    assert_int_equal(make(4000000, NULL, NULL), 0);
    taken = address_space() - taken;
    setrlimit(RLIMIT_AS, &before);
    assert_true(taken < room / 16);
    assert_non_null(child(tree_root(tree), 8, 1));
}

TEST(a_new_tree_has_its_root, setup, teardown)
{
    struct tree_node *root = tree_root(tree);

    assert_int_equal(tree_count(tree), 1);
    assert_ptr_equal(tree_node_by_id(tree, 0), root);
    assert_null(tree_node_by_id(tree, 1));
    assert_int_equal(tree_id(tree, root), 0);
    assert_null(tree_parent(root));
    assert_true(tree_method(tree, root) == 0);
    assert_int_equal(tree_mark(root), 0);
}

TEST(the_same_key_gives_the_same_node, setup, teardown)
{
    struct tree_node *a = child(tree_root(tree), 0x10, 0x100), *b = child(a, 0x20, 0x200);

    assert_ptr_not_equal(a, tree_root(tree));
    for (unsigned i = 0; i < 10; i++) {
        assert_ptr_equal(child(tree_root(tree), 0x10, 0x100), a);
        assert_ptr_equal(child(a, 0x20, 0x200), b);
        child(tree_root(tree), 0x30 + i, 0x100); /* past the first */
    }
    assert_ptr_equal(tree_parent(b), a);
    assert_true(tree_method(tree, b) == 0x20);
    assert_true(tree_call(tree, b)->ip == 0x200);
    assert_true(tree_call(tree, b)->method == 0x10);
    assert_int_equal(tree_site_il(tree_call(tree, b)), TREE_IL_PENDING);
}

TEST(each_part_of_the_key_tells_nodes_apart, setup, teardown)
{
    struct tree_node *a = child(tree_root(tree), 0x10, 0x100),
                     *b = child(tree_root(tree), 0x11, 0x100),
                     *c = child(tree_root(tree), 0x10, 0x101), *d = child(a, 0x10, 0x100),
                     *e = child(b, 0x10, 0x100);
    struct tree_node *all[] = {tree_root(tree), a, b, c, d, e};

    for (size_t i = 0; i < COUNT_OF(all); i++)
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(all[i], all[j]);
    assert_int_equal(tree_count(tree), 6);
}

/* More than its own list takes; and below each a node with the same key. */
TEST(a_child_is_found_again_among_any_number, setup, teardown)
{
    struct tree_node *of[1000], *below[COUNT_OF(of)];

    for (size_t count = 1; count <= COUNT_OF(of); count++) {
        of[count - 1] = child(tree_root(tree), 0x10 + count, 0x7fff12345678);
        below[count - 1] = child(of[count - 1], 0x10, 0x7fff12345678 + (count << 30));
        for (size_t i = 0; i < count; i += 1 + i / 8) {
            assert_ptr_equal(child(tree_root(tree), 0x10 + i + 1, 0x7fff12345678), of[i]);
            assert_ptr_equal(child(of[i], 0x10, 0x7fff12345678 + ((i + 1) << 30)), below[i]);
        }
    }
    assert_int_equal(tree_count(tree), 1 + 2 * COUNT_OF(of));
}

TEST(nodes_share_the_same_call_from_the_same_method, setup, teardown)
{
    struct tree_node *a = child(tree_root(tree), 0x10, 0x100), *b = child(a, 0x20, 0x200),
                     *c = child(tree_root(tree), 0x10, 0x108), *d = child(c, 0x20, 0x200),
                     *e = child(tree_root(tree), 0x11, 0x108), *f = child(e, 0x20, 0x200);

    assert_ptr_not_equal(b, d);
    assert_ptr_equal(tree_call(tree, b), tree_call(tree, d));
    assert_ptr_not_equal(tree_call(tree, b), tree_call(tree, f)); /* another caller */
    assert_ptr_not_equal(tree_call(tree, b), tree_call(tree, child(c, 0x20, 0x208)));
    assert_ptr_not_equal(tree_call(tree, b), tree_call(tree, child(c, 0x30, 0x200)));
    store_release(&tree_call(tree, b)->il, 77);
    assert_int_equal(tree_site_il(tree_call(tree, d)), 77);
}

static bool unloads(uintptr_t method, uintptr_t target)
{
    return method == 0x10 || target == 0x10;
}

TEST(calls_of_code_that_may_be_unloaded_are_not_shared, setup, teardown)
{
    const struct tree_config config = {.max_nodes = 1000, .unloads = unloads};
    struct tree_node *a, *b, *c, *d;

    teardown(NULL);
    assert_int_equal(tree_new(&config, &tree), 0);
    a = child(tree_root(tree), 0x20, 0x100);
    b = child(tree_root(tree), 0x20, 0x108);
    c = child(a, 0x10, 0x200);
    d = child(b, 0x10, 0x200);
    assert_ptr_not_equal(tree_call(tree, c), tree_call(tree, d));
    assert_ptr_not_equal(tree_call(tree, child(c, 0x30, 0x300)),
                         tree_call(tree, child(d, 0x30, 0x300)));
    assert_ptr_equal(tree_call(tree, child(a, 0x30, 0x300)),
                     tree_call(tree, child(b, 0x30, 0x300)));
    assert_ptr_equal(child(b, 0x10, 0x200), d);
}

TEST(the_writers_mark_changes_nothing_else, setup, teardown)
{
    struct tree_node *a = child(tree_root(tree), 0x10, 0x100), *b = child(a, 0x20, 0x200);

    tree_mark_set(a, 255);
    tree_mark_set(b, 7);
    assert_int_equal(tree_mark(a), 255);
    assert_int_equal(tree_mark(b), 7);
    assert_ptr_equal(child(tree_root(tree), 0x10, 0x100), a);
    assert_ptr_equal(child(a, 0x20, 0x200), b);
    tree_marks_clear(tree);
    assert_int_equal(tree_mark(a), 0);
    assert_int_equal(tree_mark(b), 0);
    assert_ptr_equal(child(a, 0x20, 0x200), b);
}

TEST(many_keys_give_dense_ids, setup, teardown)
{
    const uint32_t count = 3 * CHUNK_NODES;
    struct tree_node *node = tree_root(tree);

    for (uint32_t i = 1; i < count; i++) {
        node = child(i % 50 ? node : tree_root(tree), i, i * 16);
        assert_int_equal(tree_id(tree, node), i);
    }
    assert_int_equal(tree_count(tree), count);
    for (uint32_t i = 1; i < count; i++) {
        node = tree_node_by_id(tree, i);
        assert_int_equal(tree_id(tree, node), i);
        assert_ptr_equal(child(tree_parent(node), i, i * 16), node);
    }
    assert_null(tree_node_by_id(tree, count));
    assert_null(tree_node_by_id(tree, UINT32_MAX));
    assert_int_equal(tree_refused(tree), 0);
}

TEST(past_max_nodes_none_is_given_and_counted, setup, teardown)
{
    struct tree_node *a, *b;

    teardown(NULL);
    assert_int_equal(make(3, NULL, NULL), 0);
    a = child(tree_root(tree), 0x10, 1);
    b = child(a, 0x20, 2);
    assert_int_equal(tree_refused(tree), 0);
    assert_null(child(b, 0x30, 3));
    assert_null(child(a, 0x30, 3));
    assert_int_equal(tree_refused(tree), 2);
    assert_int_equal(tree_count(tree), 3);
    assert_null(tree_node_by_id(tree, 3));
    assert_ptr_equal(child(a, 0x20, 2), b); /* what is known is still found */
    assert_int_equal(tree_refused(tree), 2);
}

TEST(a_path_that_was_cut_stays_so, setup, teardown)
{
    uint32_t a, b, c;

    teardown(NULL);
    assert_int_equal(make(3, NULL, NULL), 0);
    a = tree_next(tree, 0, 0x10, 1);
    b = tree_next(tree, a, 0x20, 2);
    assert_int_equal(a, 1);
    assert_int_equal(b, 2);
    c = tree_next(tree, a, 0x30, 3);
    assert_true(tree_is_cut(c));
    assert_int_equal(tree_uncut(c), a);
    assert_null(tree_node_by_id(tree, c));
    assert_int_equal(tree_next(tree, c, 0x20, 2), c); /* not the child of `a` that calls the same */
    assert_int_equal(tree_refused(tree), 1);
    assert_int_equal(tree_next(tree, 0, 0x40, 4), TREE_CUT);
    assert_int_equal(tree_next(tree, a, 0x20, 2), b);
}

static bool is_odd(uintptr_t method)
{
    return method & 1;
}

static const struct tree_gone odd = {is_odd, is_odd};

static bool odd_unloads(uintptr_t method, uintptr_t target)
{
    return is_odd(method) || is_odd(target);
}

TEST(paths_through_what_is_gone_are_given_back, setup, teardown)
{
    const struct tree_config config = {.max_nodes = 1000, .unloads = odd_unloads};
    struct tree_node *a, *b, *gone, *below[10], *stays[10];
    struct tree_list nodes = {0}, calls = {0};
    uint32_t count;

    teardown(NULL);
    assert_int_equal(tree_new(&config, &tree), 0);
    a = child(tree_root(tree), 0x10, 0x100);
    b = child(a, 0x20, 0x200);
    gone = child(a, 0x31, 0x300);
    for (unsigned i = 0; i < 10; i++) { /* beyond what a list takes */
        below[i] = child(child(gone, 0x40, 0x400), 0x50 + 2 * i, 0x500);
        stays[i] = child(a, 0x60 + 2 * i, 0x600);
    }
    count = tree_count(tree);
    assert_int_equal(tree_prune(tree, &odd, &nodes, &calls), 0);
    assert_int_equal(nodes.count, 12); /* gone, the one that it calls, and ten below that */
    assert_int_equal(calls.count, 2);  /* the others do without what is gone */
    assert_ptr_equal(child(a, 0x20, 0x200), b);
    for (unsigned i = 0; i < 10; i++) {
        assert_ptr_equal(child(a, 0x60 + 2 * i, 0x600), stays[i]);
        assert_true(tree_method(tree, below[i]) == 0x50 + 2 * i); /* as it was, for who has it */
    }
    tree_back(tree, &nodes, &calls);
    for (unsigned i = 0; i < 12; i++)
        b = child(b, 0x80 + 2 * i, 0x800);
    assert_int_equal(tree_count(tree), count); /* all twelve were given out again */
    assert_int_equal(tree_made(tree), count + 12);
    for (unsigned i = 12; i-- > 0; b = tree_parent(b)) {
        assert_true(tree_method(tree, b) == 0x80 + 2 * i);
        assert_ptr_equal(child(tree_parent(b), 0x80 + 2 * i, 0x800), b);
    }
    assert_ptr_equal(b, child(a, 0x20, 0x200));
    assert_true(tree_method(tree, child(a, 0x31, 0x300)) == 0x31); /* loaded again */
    tree_list_fini(&nodes);
    tree_list_fini(&calls);
}

TEST(what_goes_on_is_a_child_apart_and_calls_from_its_caller, setup, teardown)
{
    struct tree_node *caller = child(tree_root(tree), 0x10, 0x100);
    struct tree_node *here = child(caller, 0x20, 0x200), *there = child(caller, 0x30, 0x300);
    struct tree_node *on, *same, *other;

    tree_begin(tree, tree_id(tree, there), 1);
    assert_int_equal(tree_begun_depth(tree, tree_id(tree, there)), 1);
    assert_int_equal(tree_begun_depth(tree, tree_id(tree, here)), 0);
    assert_int_equal(tree_begun_depth(tree, 12345), 0); /* whatever a word may be */
    assert_int_equal(tree_begun_depth(tree, UINT32_MAX), 0);
    on = tree_go_on(tree, here, tree_id(tree, there));
    assert_ptr_equal(tree_go_on(tree, here, tree_id(tree, there)), on);
    other = tree_go_on(tree, here, tree_id(tree, caller));
    assert_ptr_not_equal(other, on);
    assert_int_equal(tree_goes_on(tree, on), tree_id(tree, there));
    assert_int_equal(tree_goes_on(tree, here), 0);
    assert_int_equal(tree_goes_on(tree, tree_root(tree)), 0);
    same = child(on, 0x40, 0x400);
    assert_ptr_not_equal(same, child(here, 0x40, 0x400));
    assert_ptr_not_equal(same, child(other, 0x40, 0x400));
    assert_ptr_equal(tree_call(tree, same), tree_call(tree, child(here, 0x40, 0x400)));
    assert_true(tree_call(tree, same)->method == 0x20); /* which its instruction is in */
    assert_ptr_equal(tree_caller(tree, same), here);
    assert_ptr_equal(tree_caller(tree, here), caller);
    assert_ptr_equal(tree_caller(tree, caller), tree_root(tree));
    assert_null(tree_caller(tree, tree_root(tree)));
}

TEST(beginnings_in_each_other_come_to_an_end, setup, teardown)
{
    uint32_t id = tree_id(tree, child(tree_root(tree), 0x10, 0x100));

    tree_begin(tree, id, 0);
    tree_begin(tree, id, TREE_BEGUN_DEPTH + 1);
    assert_int_equal(tree_begun_depth(tree, id), 0);
    tree_begin(tree, id, TREE_BEGUN_DEPTH);
    tree_begin(tree, id, 1); /* the first word holds */
    assert_int_equal(tree_begun_depth(tree, id), TREE_BEGUN_DEPTH);
}

TEST(where_nodes_are_few_paths_go_without_beginnings, setup, teardown)
{
    struct tree_node *last;

    teardown(NULL);
    assert_int_equal(make(100, NULL, NULL), 0);
    last = tree_root(tree);
    assert_non_null(tree_go_on(tree, tree_root(tree), 7));
    while (tree_count(tree) <= 50)
        last = child(last, 0x10, 0x100);
    assert_null(tree_go_on(tree, last, 7));
    assert_int_equal(tree_refused(tree), 0);
}

/* Its id may still be written in what waits. */
TEST(a_beginning_that_is_gone_is_none_and_no_other_gets_its_id, setup, teardown)
{
    const struct tree_config config = {.max_nodes = 1000, .unloads = odd_unloads};
    struct tree_list nodes = {0}, calls = {0};
    struct tree_node *last;
    uint32_t gone, other;

    teardown(NULL);
    assert_int_equal(tree_new(&config, &tree), 0);
    gone = tree_id(tree, child(tree_root(tree), 0x31, 0x300));
    other = tree_id(tree, child(tree_root(tree), 0x33, 0x300));
    tree_begin(tree, gone, 1);
    last = tree_go_on(tree, tree_root(tree), gone);
    assert_int_equal(tree_prune(tree, &odd, &nodes, &calls), 0);
    assert_int_equal(nodes.count, 2);
    tree_back(tree, &nodes, &calls);
    assert_int_equal(tree_begun_depth(tree, gone), 0);
    tree_begin(tree, gone, 1); /* by who had not heard of it */
    assert_int_equal(tree_begun_depth(tree, gone), 0);
    assert_int_equal(tree_id(tree, child(last, 0x40, 0x400)), other);
    for (unsigned i = 0; i < 10; i++) {
        last = child(last, 0x50, 0x500);
        assert_int_not_equal(tree_id(tree, last), gone);
    }
    tree_list_fini(&nodes);
    tree_list_fini(&calls);
}

TEST(without_memory_nothing_is_pruned, setup, teardown)
{
    const struct tree_config config = {.max_nodes = 1000, .unloads = odd_unloads};
    struct tree_list nodes = {0}, calls = {0};
    struct tree_node *gone;
    int err = -ENOMEM;

    teardown(NULL);
    assert_int_equal(tree_new(&config, &tree), 0);
    gone = child(tree_root(tree), 0x31, 0x300);
    for (long fail = 0; err; fail++) {
        assert_ptr_equal(child(tree_root(tree), 0x31, 0x300), gone);
        assert_int_equal(nodes.count + calls.count, 0);
        memory_fail_after(fail);
        err = tree_prune(tree, &odd, &nodes, &calls);
        memory_fail_after(-1);
        assert_true(!err || err == -ENOMEM);
    }
    assert_int_equal(nodes.count, 1);
    assert_int_equal(calls.count, 1);
    tree_list_fini(&nodes);
    tree_list_fini(&calls);
}

TEST(a_tree_without_memory_is_none, setup, teardown)
{
    teardown(NULL);
    for (long fail = 0;; fail++) {
        int err;

        memory_fail_after(fail);
        err = make(1000, NULL, NULL);
        memory_fail_after(-1);
        if (!err) {
            assert_true(fail > 7); /* the tree and its calls: each has buckets, and first things */
            return;
        }
        assert_int_equal(err, -ENOMEM);
        assert_null(tree);
    }
}

TEST(without_memory_none_is_given_and_counted, setup, teardown)
{
    struct tree_node *last = tree_root(tree);

    for (uint32_t i = 1; i < CHUNK_NODES; i++)
        last = child(tree_root(tree), i, 1);
    memory_fail_after(0);
    assert_null(child(last, 1, 1));
    assert_null(child(last, 2, 2));
    assert_int_equal(tree_refused(tree), 2);
    memory_fail_after(-1);
    assert_ptr_equal(tree_parent(child(last, 1, 1)), last);
    assert_int_equal(tree_refused(tree), 2);
}

/* The resolver walks the calls in order and waits at one that is still being made. */
TEST(no_call_stays_reserved_once_memory_is_back, setup, teardown)
{
    struct tree_site *call;

    for (uint32_t i = 1; i < CHUNK_NODES; i++)
        child(tree_root(tree), i, 1);
    memory_fail_after(0);
    for (uint32_t i = 0; i < 3; i++)
        child(tree_root(tree), CHUNK_NODES + i, 1);
    memory_fail_after(-1);
    for (uint32_t i = 0; i < 3; i++)
        child(tree_root(tree), CHUNK_NODES + i, 1);
    for (uint32_t id = 0; (call = tree_site_by_id(tree->calls, id)); id++)
        if (load_acquire(&call->state) == TREE_RESERVED)
            fail_msg("call %u", id);
}

static void note_created(void *context, struct tree_site *call)
{
    unsigned *count = context;

    ++*count;
    assert_int_equal(load_relaxed(&call->state), TREE_RESERVED); /* nobody else finds it yet */
    assert_true(call->target != 0);
    store_release(&call->il, 77);
}

TEST(a_new_call_is_shown_to_the_folder_above, setup, teardown)
{
    unsigned created = 0;
    struct tree_node *a;

    teardown(NULL);
    assert_int_equal(make(1000, note_created, &created), 0);
    a = child(tree_root(tree), 0x10, 1);
    child(tree_root(tree), 0x10, 1);
    assert_int_equal(created, 1);
    assert_int_equal(tree_site_il(tree_call(tree, a)), 77);
    child(a, 0x10, 1); /* another method calls it */
    child(child(a, 0x10, 1), 0x10, 1);
    assert_int_equal(created, 2);
}

/* ---- four threads, the same random keys ---- */

#define THREADS 4
#define STEPS   60000u

static void *insert(void *context)
{
    uint64_t random = 88172645463325252u; /* the same for all: they meet at every key */
    struct tree_node *node = tree_root(tree);
    uintptr_t bad = 0;

    (void)context;
    for (unsigned i = 0; i < STEPS; i++) {
        struct tree_node *found;
        uintptr_t method, ip;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        if (random % 8 == 0)
            node = tree_root(tree);
        method = 1 + (random >> 8) % 16;
        ip = 1 + (random >> 16) % 4;
        found = tree_child(tree, node, method, ip);
        if (!found)
            continue;
        bad += tree_parent(found) != node || tree_method(tree, found) != method ||
               tree_call(tree, found)->ip != ip;
        node = found;
    }
    return (void *)bad;
}

static int by_key(const void *x, const void *y)
{
    const struct tree_node *a = *(struct tree_node *const *)x, *b = *(struct tree_node *const *)y;

    if (tree_parent(a) != tree_parent(b))
        return tree_parent(a) < tree_parent(b) ? -1 : 1;
    return (tree_call(tree, a) > tree_call(tree, b)) - (tree_call(tree, a) < tree_call(tree, b));
}

static void threads_at_once_make_no_node_twice(uint32_t max_nodes)
{
    struct tree_node **live;
    pthread_t threads[THREADS];
    uint32_t count, used = 0;

    assert_int_equal(make(max_nodes, NULL, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, insert, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        void *bad;

        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    count = tree_count(tree);
    assert_true(count <= max_nodes);
    live = test_calloc(count, sizeof(struct tree_node *));
    for (uint32_t i = 0; i < count; i++) {
        struct tree_node *node = tree_node_by_id(tree, i);

        assert_non_null(node);
        if (node->up)
            live[used++] = node;
    }
    qsort(live, used, sizeof(struct tree_node *), by_key);
    for (uint32_t i = 1; i < used; i++)
        if (by_key(&live[i - 1], &live[i]) == 0)
            fail_msg("ids %u and %u have the same key", tree_id(tree, live[i - 1]),
                     tree_id(tree, live[i]));
    assert_true(used > 1000);
    test_free(live);
}

TEST(threads_with_room_make_no_node_twice, setup, teardown)
{
    teardown(NULL);
    threads_at_once_make_no_node_twice(1000000);
    assert_int_equal(tree_refused(tree), 0);
}

TEST(threads_without_room_make_no_node_twice, setup, teardown)
{
    teardown(NULL);
    threads_at_once_make_no_node_twice(5000);
    assert_int_equal(tree_count(tree), 5000);
    assert_true(tree_refused(tree) > 0);
}
