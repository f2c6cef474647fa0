/* Batches of objects and of references, in whatever order they come: each object has its own. */
#include "collect/snapshot.h"

#include "base/memory.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS 5000u
#define MOST    9u /* references of an object, but for one */
#define MANY    20000u

static struct snapshot snapshot;
static uint8_t batch[1 << 20];
static uint32_t rows, batches[SNAPSHOT_KINDS];
static uint64_t objects, references, wrong;

static uint64_t address_of(uint64_t n)
{
    return 0x7f0000000000 + n * 64;
}

static uint64_t edges_of(uint64_t n)
{
    return n == OBJECTS / 2 ? MANY : n % MOST;
}

static uint64_t edge_of(uint64_t n, uint64_t i)
{
    return address_of((n * 31 + i) % OBJECTS);
}

static void take_object(void *context, const struct snapshot_node *node, const uintptr_t *to)
{
    uint64_t n = objects++;

    (void)context;
    wrong += node->address != address_of(n) || node->class_id != n % 7 + 1 ||
             node->bytes != 24 + n % 5 * 8 || node->edges != edges_of(n);
    for (uint64_t i = 0; i < node->edges; i++)
        wrong += to[i] != edge_of(n, i);
    references += node->edges;
}

static void take_root(void *context, uintptr_t object, int32_t kind, int32_t flags, uintptr_t id)
{
    static const int32_t kinds[] = {COR_PRF_GC_ROOT_STACK, COR_PRF_GC_ROOT_FINALIZER,
                                    COR_PRF_GC_ROOT_HANDLE, COR_PRF_GC_ROOT_OTHER,
                                    COR_PRF_GC_ROOT_OTHER};

    (void)context;
    assert_int_equal(kind, kinds[objects]);
    assert_int_equal(flags, objects * 3);
    assert_int_equal(object, address_of(objects));
    assert_int_equal(id, objects + 100);
    objects++;
}

static void take_pair(void *context, uintptr_t key, uintptr_t value)
{
    (void)context;
    assert_int_equal(key, address_of(1));
    assert_int_equal(value, address_of(2));
    objects++;
}

static const struct snapshot_taker taker = {NULL, take_object, take_root, take_pair};

static void begin(uint32_t id)
{
    memset(batch, 0, 10);
    memcpy(batch, &batches[id - SNAPSHOT_ROOTS], 4);
    batches[id - SNAPSHOT_ROOTS]++;
    rows = 0;
}

static uint8_t *row(uint32_t size)
{
    return batch + 10 + size * rows++;
}

static void words(uint8_t *to, const uint64_t *words_, size_t count)
{
    memcpy(to, words_, count * sizeof(*words_));
}

static void tell(uint32_t id, uint32_t size)
{
    memcpy(batch + 4, &rows, 4);
    snapshot_take(&snapshot, &(struct session_event){id, 0, 10 + rows * size, batch}, &taker);
}

static void tell_nodes(uint64_t from, uint64_t to)
{
    begin(SNAPSHOT_NODES);
    for (uint64_t n = from; n < to; n++)
        words(row(32), (const uint64_t[]){address_of(n), 24 + n % 5 * 8, n % 7 + 1, edges_of(n)},
              4);
    tell(SNAPSHOT_NODES, 32);
}

/* The references of all objects, as one stream. */
static uint64_t *stream_of(size_t *count)
{
    uint64_t *all = malloc((OBJECTS * MOST + MANY) * sizeof(*all));

    *count = 0;
    for (uint64_t n = 0; n < OBJECTS; n++)
        for (uint64_t i = 0; i < edges_of(n); i++)
            all[(*count)++] = edge_of(n, i);
    return all;
}

static void tell_edges(const uint64_t *all, size_t from, size_t to)
{
    begin(SNAPSHOT_EDGES);
    for (size_t i = from; i < to; i++)
        memcpy(row(12), &all[i], 8);
    tell(SNAPSHOT_EDGES, 12);
}

static int setup(void **state)
{
    (void)state;
    snapshot_end(&snapshot);
    memset(batches, 0, sizeof(batches));
    objects = references = wrong = 0;
    return 0;
}

TEST_EACH(setup, NULL);

TEST(references_come_to_the_object_whose_they_are_however_the_batches_fall)
{
    size_t count, told = 0;
    uint64_t *all = stream_of(&count), node = 0;

    (void)state;
    srand(4);
    while (node < OBJECTS || told < count) {
        uint64_t node_to = node + (uint64_t)(rand() % 300), to = told + (uint64_t)(rand() % 900);

        node_to = node_to < OBJECTS ? node_to : OBJECTS;
        to = to < count ? to : count;
        if (rand() % 2 && node_to > node) {
            tell_nodes(node, node_to);
            node = node_to;
        } else if (to > told) {
            tell_edges(all, told, to);
            told = to;
        }
    }
    assert_int_equal(objects, OBJECTS);
    assert_int_equal(references, count);
    assert_int_equal(wrong, 0);
    assert_int_equal(snapshot_end(&snapshot), 0);
    free(all);
}

TEST(roots_and_pairs_are_what_they_are_called)
{
    uint64_t id;
    int32_t flags;

    (void)state;
    begin(SNAPSHOT_ROOTS);
    for (uint64_t n = 0; n < 5; n++) {
        uint8_t *at = row(21);

        id = n + 100;
        flags = (int32_t)n * 3;
        words(at, (const uint64_t[]){address_of(n)}, 1);
        at[8] = (uint8_t)n;
        memcpy(at + 9, &flags, 4);
        memcpy(at + 13, &id, 8);
    }
    tell(SNAPSHOT_ROOTS, 21);
    assert_int_equal(objects, 5);
    begin(SNAPSHOT_PAIRS);
    words(row(24), (const uint64_t[]){address_of(1), address_of(2), 7}, 3);
    tell(SNAPSHOT_PAIRS, 24);
    assert_int_equal(objects, 6);
    assert_int_equal(snapshot_end(&snapshot), 0);
}

TEST(what_is_missing_is_missed)
{
    size_t count;
    uint64_t *all = stream_of(&count);

    (void)state;
    tell_nodes(0, 10); /* their references do not come */
    assert_int_equal(snapshot_end(&snapshot), -EPROTO);
    setup(NULL);
    tell_edges(all, 0, 10); /* whose? */
    assert_int_equal(snapshot_end(&snapshot), -EPROTO);
    setup(NULL);
    tell_nodes(0, 1);
    batches[SNAPSHOT_NODES - SNAPSHOT_ROOTS]++; /* a batch is lost */
    tell_nodes(0, 1);
    assert_int_equal(snapshot_end(&snapshot), -EPROTO);
    setup(NULL);
    begin(SNAPSHOT_NODES); /* cut */
    rows = 2;
    memcpy(batch + 4, &rows, 4);
    snapshot_take(&snapshot, &(struct session_event){SNAPSHOT_NODES, 0, 10 + 63, batch}, &taker);
    assert_int_equal(objects, 0);
    assert_int_equal(snapshot_end(&snapshot), -EPROTO);
    snapshot_take(&snapshot, &(struct session_event){SNAPSHOT_NODES, 0, 3, batch}, &taker);
    assert_int_equal(snapshot_end(&snapshot), -EPROTO);
    free(all);
}

TEST(memory_that_runs_out_is_said)
{
    size_t count;
    uint64_t *all = stream_of(&count);

    (void)state;
    memory_fail_after(0);
    tell_nodes(0, 10);
    memory_fail_after(-1);
    tell_edges(all, 0, 10);
    assert_int_equal(objects, 0);
    assert_int_equal(snapshot_end(&snapshot), -ENOMEM);
    free(all);
}
