/* What is in a dump comes out of it; what is damaged, cut or no dump is refused, and says so. */
#include "support/test.h"

#include "unit/heap/made_heap.h"

#include "heap/paths.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH "/tmp/shadowtrace-dump-%d"
#define A    UINT64_C(0x7f0000001000)
#define B    (A + 64)
#define C    (A + 4096)
#define D    (A + 8192)

static char path[64];

static int set_path(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), PATH, (int)getpid());
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

TEST_GROUP(set_path, remove_file);

/* A and B in a list, C reached from a root only, D by nothing. */
static void make(struct made_heap *m)
{
    made_begin(m, 1000);
    made_object(m, D, 2, 3, NULL, 0);
    made_object(m, A, 1, 8, (const uint64_t[]){B, B, D + 8}, 3);
    made_object(m, B, 2, 4, (const uint64_t[]){A}, 1);
    made_object(m, C, 1, 100, NULL, 0);
    made_root(m, A + 16, SST_HEAP_ROOT_STACK, SST_HEAP_ROOT_INTERIOR, 1);
    made_root(m, A, SST_HEAP_ROOT_HANDLE, SST_HEAP_ROOT_PINNING, 0);
    made_root(m, B + 8, SST_HEAP_ROOT_HANDLE, 0, 0); /* in B, but not said to be interior */
    made_root(m, 0, SST_HEAP_ROOT_HANDLE, 0, 0);
    made_root(m, C + 799, 77, SST_HEAP_ROOT_INTERIOR, 0); /* its last byte; a kind of later */
    made_root(m, C + 800, SST_HEAP_ROOT_OTHER, SST_HEAP_ROOT_INTERIOR, 0); /* after it */
    made_root(m, D, SST_HEAP_ROOT_HANDLE, SST_HEAP_ROOT_WEAK, 0);
    made_pair(m, C, B);
    made_pair(m, C, C + 8);
    made_site(m, A, 5);
    made_site(m, C, 4294967294);
    made_name(m, SST_HEAP_CLASSES, 1, 11, "");
    made_name(m, SST_HEAP_CLASSES, 2, 0, "Made.Up");
    made_name(m, SST_HEAP_NAMES, 1, 0, "Main()");
    made_end(m);
}

static const uint32_t *edges_of(const struct heap_graph *g, uint32_t node, uint32_t *count)
{
    *count = g->edges.first[node + 1] - g->edges.first[node];
    return g->edges.to + g->edges.first[node];
}

TEST(what_was_written_is_read)
{
    struct made_heap m;
    struct heap_graph g;
    uint32_t count;
    const uint32_t *to;

    make(&m);
    made_write(&m, path);
    made_read(path, &g);
    assert_int_equal(g.addresses.count, 4); /* A, B, C, D: 1 to 4 */
    assert_int_equal(heap_addresses_find(&g.addresses, C), 3);
    assert_int_equal(heap_addresses_find(&g.addresses, C + 8), 0);
    assert_int_equal(heap_addresses_before(&g.addresses, A - 8), 0);
    assert_int_equal(g.classes[1], 1);
    assert_int_equal(g.units[3], 100);
    assert_int_equal(g.sites[1], 5);
    assert_int_equal(g.sites[2], 0);
    assert_int_equal(g.sites[3], 4294967294);
    to = edges_of(&g, 1, &count);
    assert_int_equal(count, 3);
    assert_int_equal(to[1], 2);
    assert_int_equal(to[2], 0); /* D + 8 is none */
    to = edges_of(&g, 0, &count);
    assert_int_equal(count, 2); /* A once, and C */
    assert_int_equal(to[0], 1);
    assert_int_equal(to[1], 3);
    to = edges_of(&g, 3, &count);
    assert_int_equal(count, 1);
    assert_int_equal(to[0], 2);
    assert_true(heap_graph_pair(&g, 3, 2));
    assert_false(heap_graph_pair(&g, 2, 3));
    assert_int_equal(g.weak, 1);
    assert_int_equal(g.outside, 4);
    assert_int_equal(heap_graph_root(&g, 1)->kind, SST_HEAP_ROOT_STACK); /* says more */
    assert_int_equal(heap_graph_root(&g, 3)->kind, SST_HEAP_ROOT_OTHER);
    assert_null(heap_graph_root(&g, 4));
    assert_int_equal(heap_name(&g.class_names, 1)->id, 11);
    assert_string_equal(g.class_names.text + heap_name(&g.class_names, 2)->at, "Made.Up");
    assert_null(heap_name(&g.class_names, 3));
    heap_graph_free(&g);
    made_free(&m);
}

TEST(an_array_of_many_references_goes_over_chunks)
{
    enum { COUNT = 100000 };
    uint64_t *references = malloc(COUNT * sizeof(*references));
    struct made_heap m;
    struct heap_graph g;

    made_begin(&m, 5000);
    for (uint64_t i = 0; i < COUNT; i++)
        references[i] = A + (i % 2 ? B - A : 0);
    made_object(&m, C, 7, 1000, references, COUNT);
    made_object(&m, A, 1, 8, NULL, 0);
    made_object(&m, B, 1, 8, NULL, 0);
    made_end(&m);
    made_write(&m, path);
    made_read(path, &g);
    assert_int_equal(g.addresses.count, 3);
    assert_int_equal(g.edges.first[4] - g.edges.first[3], COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(g.edges.to[g.edges.first[3] + i], 1 + i % 2);
    assert_int_equal(g.classes[3], 7);
    assert_int_equal(g.units[3], 1000);
    heap_graph_free(&g);
    made_free(&m);
    free(references);
}

/* Returns: what reading the file comes to; d.why is one line if it is damaged. */
static int try_read(char why[160])
{
    struct heap_graph g = {.weak = 0};
    struct heap_dump d;
    int err = heap_dump_open(path, &d);

    if (!err)
        err = heap_graph_read(&d, &g);
    snprintf(why, 160, "%s", d.why);
    heap_graph_free(&g);
    heap_dump_close(&d);
    assert_true(err != -EBADMSG || (*why && !strchr(why, '\n')));
    return err;
}

TEST(a_dump_that_is_cut_anywhere_is_refused)
{
    struct made_heap m;
    char why[160];
    size_t whole;

    make(&m);
    whole = m.file.size;
    for (m.file.size = 0; m.file.size < whole; m.file.size++) {
        made_write(&m, path);
        assert_int_equal(try_read(why), -EBADMSG);
        assert_non_null(strstr(why, m.file.size < 8 ? "not a heap dump" : "is cut"));
    }
    buffer_char(&m.file, 'x');
    made_write(&m, path);
    assert_int_equal(try_read(why), -EBADMSG);
    made_free(&m);
}

TEST(each_bit_that_is_changed_is_seen)
{
    struct made_heap m;
    char why[160];

    make(&m);
    for (size_t i = 0; i < m.file.size; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            int err;

            m.file.data[i] ^= (char)(1 << bit);
            made_write(&m, path);
            err = try_read(why);
            m.file.data[i] ^= (char)(1 << bit);
            if (err != -EBADMSG && err != -EPROTO)
                fail_msg("bit %d of byte %zu makes no difference", bit, i);
        }
    made_free(&m);
}

TEST(counts_that_differ_from_the_end_record_are_damage)
{
    struct made_heap m;
    char why[160];

    for (int what = 0; what < 5; what++) {
        made_begin(&m, 1000);
        made_object(&m, A, 1, 8, NULL, 0);
        *(uint64_t *[]){&m.objects, &m.references, &m.roots, &m.pairs, &m.sites}[what] += 1;
        made_end(&m);
        made_write(&m, path);
        assert_int_equal(try_read(why), -EBADMSG);
        assert_non_null(strstr(why, "end record"));
        made_free(&m);
    }
}

TEST(a_later_version_and_what_is_no_file_are_told_apart)
{
    struct made_heap m;
    struct sst_heap_head *head;
    char why[160];

    made_begin(&m, 1000);
    head = (struct sst_heap_head *)(void *)m.file.data;
    head->version = SST_HEAP_VERSION + 1;
    made_end(&m);
    made_write(&m, path);
    assert_int_equal(try_read(why), -EPROTO);
    assert_non_null(strstr(why, "version 3"));
    made_free(&m);
    snprintf(path, sizeof(path), "/tmp");
    assert_int_equal(try_read(why), -EINVAL);
    snprintf(path, sizeof(path), "/tmp/shadowtrace-there-is-none");
    assert_int_equal(try_read(why), -ENOENT);
    set_path(NULL);
}

TEST(an_empty_heap_is_one)
{
    struct made_heap m;
    struct heap_graph g;

    made_begin(&m, 1000);
    made_root(&m, A, SST_HEAP_ROOT_STACK, 0, 0);
    made_pair(&m, A, B);
    made_site(&m, A, 1);
    made_end(&m);
    made_write(&m, path);
    made_read(path, &g);
    assert_int_equal(g.addresses.count, 0);
    assert_int_equal(g.outside, 2);
    heap_graph_free(&g);
    made_free(&m);
}

TEST(each_allocation_that_fails_is_told)
{
    struct made_heap m;
    char why[160];
    int err = -ENOMEM, failed = 0;

    make(&m);
    made_write(&m, path);
    for (; err == -ENOMEM; failed++) {
        memory_fail_after(failed);
        err = try_read(why);
        memory_fail_after(-1);
    }
    assert_int_equal(err, 0);
    assert_true(failed > 10);
    made_free(&m);
}

#define OBJECT UINT64_C(0x7f0000001000)
#define ARRAY  UINT64_C(0x7f0000002000)
#define KEEPER UINT64_C(0x7f0000003000)

TEST(slots_have_the_names_of_fields)
{
    const uint64_t references[] = {ARRAY, OBJECT, ARRAY}, slots[] = {2, 1, 0};
    const uint64_t elements[] = {OBJECT, ARRAY}, places[] = {5, 2};
    struct heap_step steps[] = {{2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {2, 2, 0}};
    struct heap_graph g;
    struct heap_dump d;
    struct made_heap m;

    made_begin(&m, 1000);
    made_slotted(&m, OBJECT, 1, 4, references, 3, slots);
    made_slotted(&m, ARRAY, 2, 6, elements, 2, places);
    made_object(&m, KEEPER, 3, 6, elements, 1);
    made_field(&m, 1, 0, 0, 2, "items");
    made_field(&m, 1, 0, 0, 1, "");
    made_field(&m, 2, 2, 2, 1, "value");
    made_static(&m, KEEPER + 24, OBJECT, 1, 0, "One");
    made_static(&m, ARRAY + 8, ARRAY, 1, SST_HEAP_STATIC_THREAD,
                "Two"); /* a box: it keeps nothing */
    made_static(&m, 0x1000, 0x2000, 1, 0, "NoObject");
    made_end(&m);
    made_write(&m, path);
    made_read(path, &g);
    assert_int_equal(heap_dump_open(path, &d), 0);
    assert_int_equal(heap_slots_find(&d, &g, steps, 4), 0); /* they are sorted */
    assert_int_equal(steps[0].slot, 1);
    assert_int_equal(steps[1].slot, 2);
    assert_int_equal(steps[2].slot, 5);
    assert_int_equal(steps[3].slot, 2);
    assert_string_equal(heap_field_name(&g, 1, 2), "items");
    assert_null(heap_field_name(&g, 1, 3));
    assert_null(heap_field_name(&g, 3, 2));
    assert_string_equal(heap_field_name(&g, 2, 5), "value");
    assert_null(heap_field_name(&g, 2, 4));
    assert_true(heap_graph_keeps(&g, 3));
    assert_false(heap_graph_keeps(&g, 2));
    assert_int_equal(g.static_count, 2);
    assert_int_equal(g.outside, 0);
    assert_int_equal(heap_graph_root(&g, 1)->kind, SST_HEAP_ROOT_STATIC);
    assert_string_equal(g.field_text + g.statics[heap_graph_root(&g, 2)->field - 1].at, "Two");
    heap_dump_close(&d);
    heap_graph_free(&g);
    made_free(&m);
}

TEST(a_root_that_says_who_holds_comes_before_one_that_does_not)
{
    const uint32_t all[] = {1}, keys[] = {0, 0, 0, 0};
    struct heap_grouping wanted = {keys, all, 1, 2};
    struct heap_dominators d;
    struct heap_paths paths;
    struct heap_graph g;
    struct made_heap m;

    made_begin(&m, 1000);
    made_object(&m, OBJECT, 1, 3, (const uint64_t[]){ARRAY}, 1);
    made_object(&m, ARRAY, 2, 3, (const uint64_t[]){KEEPER}, 1);
    made_object(&m, KEEPER, 3, 3, NULL, 0);
    made_root(&m, KEEPER, SST_HEAP_ROOT_STACK, 0, 0); /* one step away, but whose variable it is */
    made_root(&m, OBJECT, SST_HEAP_ROOT_HANDLE, 0, 0);
    made_end(&m);
    made_write(&m, path);
    made_read(path, &g);
    assert_int_equal(heap_dominators_find(&g.edges, g.units, &d), 0);
    assert_int_equal(heap_paths_find(&g, &d, &wanted, SIZE_MAX, &paths), 0);
    assert_int_equal(paths.count, 3);
    for (size_t i = 0; i < paths.count; i++)
        assert_int_equal(paths.paths[i].steps[0], 1);
    heap_paths_free(&paths);
    heap_dominators_free(&d);
    heap_graph_free(&g);
    made_free(&m);
}
