/* Who holds whom, of heaps that are small enough to be seen, and of one list that is long. */
#include "support/test.h"

#include "heap/paths.h"
#include "heap/sums.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NODES 16

/* edges: pairs of nodes, ended by {0, 0}; each node of `units` units and class 1, unless set. */
struct small {
    struct heap_graph g;
    uint32_t first[NODES + 2], to[64], units[NODES + 1], classes[NODES + 1];
};

static void build(struct small *s, uint32_t count, const uint32_t (*edges)[2])
{
    uint32_t at = 0;

    memset(s, 0, sizeof(*s));
    for (uint32_t node = 0; node <= count; node++) {
        s->first[node] = at;
        for (size_t e = 0; edges[e][0] || edges[e][1]; e++)
            if (edges[e][0] == node)
                s->to[at++] = edges[e][1];
        s->units[node] = node ? 1 : 0;
        s->classes[node] = 1;
    }
    s->first[count + 1] = at;
    s->g.edges = (struct heap_edges){count + 1, s->first, s->to};
    s->g.units = s->units;
    s->g.classes = s->classes;
    s->g.addresses.count = count;
}

static uint32_t dominator(const struct heap_dominators *d, uint32_t node)
{
    return d->node[d->above[d->place[node]]];
}

static const uint32_t diamond[][2] = {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 5},
                                      {5, 4}, {6, 5}, {5, 0}, {4, 4}, {0, 0}};

TEST(what_two_hold_is_held_by_who_holds_both)
{
    struct small s;
    struct heap_dominators d;
    struct heap_sum all, loose;

    build(&s, 6, diamond); /* 6 is held by nothing, and node 0 stands for what is outside */
    assert_int_equal(heap_dominators_find(&s.g.edges, s.units, &d), 0);
    assert_int_equal(d.count, 6);
    assert_int_equal(dominator(&d, 4), 1);
    assert_int_equal(dominator(&d, 5), 4);
    assert_int_equal(dominator(&d, 2), 1);
    assert_int_equal(d.place[6], HEAP_NO_PLACE);
    assert_int_equal(d.retained[d.place[1]], 5 * 8);
    assert_int_equal(d.retained[d.place[2]], 8);
    assert_int_equal(d.retained[d.place[4]], 2 * 8);
    heap_held(&s.g, &d, &all);
    heap_loose(&s.g, &d, &loose);
    assert_int_equal(all.objects, 5);
    assert_int_equal(all.bytes, 40);
    assert_int_equal(loose.objects, 1);
    assert_int_equal(loose.bytes, 8);
    heap_dominators_free(&d);
}

TEST(an_object_within_one_of_its_group_counts_once)
{
    static const uint32_t identity[] = {0, 1, 2, 3};
    struct small s;
    struct heap_dominators d;
    struct heap_sum sums[4];
    uint64_t objects, bytes;
    struct heap_grouping by = {s.classes, identity, 4, 4};
    uint32_t second[] = {0, 0, 1, 0};
    struct heap_grouping wanted = {s.classes, second, 4, 2};

    build(&s, 5, diamond);
    s.classes[1] = s.classes[4] = s.classes[5] = 3; /* 4 and 5 lie within 1 */
    s.classes[2] = s.classes[3] = 2;                /* neither holds 4 alone, both do */
    assert_int_equal(heap_dominators_find(&s.g.edges, s.units, &d), 0);
    assert_int_equal(heap_sums(&s.g, &d, &by, sums), 0);
    assert_int_equal(sums[3].objects, 3);
    assert_int_equal(sums[3].bytes, 3 * 8);
    assert_int_equal(sums[3].retained_objects, 5);
    assert_int_equal(sums[3].retained_bytes, 5 * 8);
    assert_int_equal(sums[2].retained_bytes, 2 * 8);
    assert_int_equal(sums[1].objects, 0);
    assert_int_equal(heap_together(&s.g, &d, &wanted, &objects, &bytes), 0);
    assert_int_equal(objects, 4);
    assert_int_equal(bytes, 4 * 8);
    heap_dominators_free(&d);
}

TEST(ways_of_one_shape_are_one_however_long)
{
    static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 8},
                                        {2, 7}, {1, 6}, {0, 9}, {9, 5}, {0, 0}};
    uint32_t wanted_classes[] = {0, 0, 0, 1};
    struct small s;
    struct heap_dominators d;
    struct heap_paths p;
    struct heap_grouping wanted = {s.classes, wanted_classes, 4, 2};

    build(&s, 9, edges); /* a list 1 2 3 4 with a record each, but 4; 9 has a record, too */
    s.classes[6] = s.classes[7] = s.classes[8] = s.classes[5] = 3;
    s.classes[9] = 2;
    assert_int_equal(heap_dominators_find(&s.g.edges, s.units, &d), 0);
    assert_int_equal(heap_paths_find(&s.g, &d, &wanted, 10, &p), 0);
    assert_int_equal(p.shapes, 2);
    assert_int_equal(p.count, 2);
    assert_int_equal(p.sum.objects, 4);
    assert_int_equal(p.paths[0].sum.objects, 3);
    assert_int_equal(p.paths[0].object, 6); /* the nearest */
    assert_int_equal(p.paths[0].step_count, 2);
    assert_int_equal(p.paths[0].steps[0], 1);
    assert_int_equal(p.paths[0].steps[1], 6);
    assert_int_equal(p.paths[1].steps[0], 9);
    heap_paths_free(&p);
    heap_dominators_free(&d);
}

/* A list of a million, each node of which also refers back to the first. */
static void make_list(struct heap_graph *g, uint32_t count)
{
    memset(g, 0, sizeof(*g));
    g->edges.nodes = count + 1;
    g->edges.first = malloc((count + 2) * sizeof(uint32_t));
    g->edges.to = malloc(2 * (count + 1) * sizeof(uint32_t));
    g->units = calloc(count + 1, sizeof(uint32_t));
    g->classes = calloc(count + 1, sizeof(uint32_t));
    for (uint32_t node = 0, at = 0; node <= count; node++) {
        g->edges.first[node] = at;
        if (node < count)
            g->edges.to[at++] = node + 1;
        if (node)
            g->edges.to[at++] = 1;
        g->edges.first[node + 1] = at;
        g->units[node] = node ? 4 : 0;
        g->classes[node] = node == count ? 2 : 1;
    }
    g->addresses.count = count;
}

TEST(a_list_of_a_million_needs_no_deep_stack)
{
    enum { COUNT = 1000000 };
    static const uint32_t last[] = {0, 0, 1};
    struct heap_graph g;
    struct heap_dominators d;
    struct heap_paths p;
    struct heap_grouping wanted = {NULL, last, 3, 2};

    make_list(&g, COUNT);
    wanted.keys = g.classes;
    assert_int_equal(heap_dominators_find(&g.edges, g.units, &d), 0);
    for (uint32_t node = 1; node <= COUNT; node += 999)
        assert_int_equal(d.retained[d.place[node]], UINT64_C(32) * (COUNT + 1 - node));
    assert_int_equal(heap_paths_find(&g, &d, &wanted, 1, &p), 0);
    assert_int_equal(p.paths[0].step_count, HEAP_STEPS_MAX);
    assert_int_equal(p.paths[0].step_count + p.paths[0].skipped, COUNT);
    assert_int_equal(p.paths[0].steps[0], 1);
    assert_int_equal(p.paths[0].steps[p.paths[0].skipped_before - 1], p.paths[0].skipped_before);
    assert_int_equal(p.paths[0].steps[p.paths[0].skipped_before],
                     p.paths[0].skipped_before + p.paths[0].skipped + 1);
    assert_int_equal(p.paths[0].steps[HEAP_STEPS_MAX - 1], COUNT);
    heap_paths_free(&p);
    heap_dominators_free(&d);
    free(g.edges.first);
    free(g.edges.to);
    free(g.units);
    free(g.classes);
}

TEST(each_allocation_that_fails_is_told)
{
    static const uint32_t all[] = {0, 1};
    struct small s;
    struct heap_grouping by = {s.classes, all, 2, 2};
    int err = -ENOMEM, failed = 0;

    build(&s, 6, diamond);
    for (; err == -ENOMEM; failed++) {
        struct heap_dominators d;
        struct heap_paths p = {.count = 0};
        struct heap_sum sums[2];
        uint64_t objects, bytes;

        memory_fail_after(failed);
        err = heap_dominators_find(&s.g.edges, s.units, &d);
        if (!err)
            err = heap_sums(&s.g, &d, &by, sums);
        if (!err)
            err = heap_together(&s.g, &d, &by, &objects, &bytes);
        if (!err)
            err = heap_paths_find(&s.g, &d, &by, 5, &p);
        memory_fail_after(-1);
        heap_paths_free(&p);
        heap_dominators_free(&d);
    }
    assert_int_equal(err, 0);
    assert_true(failed > 15);
}
