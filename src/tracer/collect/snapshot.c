#include "collect/snapshot.h"

#include "base/array.h"
#include "base/load.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <string.h>

/* Where the members are (ClrEtwAll.man): a number of the batch, a count, the runtime, the rows. */
#define COUNT     4 /* u32 */
#define HEAD      10
#define ROOT_SIZE 21 /* object, kind u8, flags u32, id */
#define PAIR_SIZE 24 /* key, value, id */
#define NODE_SIZE 32 /* object, bytes, type, references */
#define EDGE_SIZE 12 /* object, field u32 */

/* EtwGCRootKind */
enum { ROOT_STACK, ROOT_FINALIZER, ROOT_HANDLE };

/* ---- rows ---- */

static void take_root(const uint8_t *row, const struct snapshot_taker *taker)
{
    static const int32_t kinds[] = {[ROOT_STACK] = COR_PRF_GC_ROOT_STACK,
                                    [ROOT_FINALIZER] = COR_PRF_GC_ROOT_FINALIZER,
                                    [ROOT_HANDLE] = COR_PRF_GC_ROOT_HANDLE};
    uint8_t kind = row[8];

    taker->root(taker->context, load_u64(row),
                kind <= ROOT_HANDLE ? kinds[kind] : COR_PRF_GC_ROOT_OTHER,
                (int32_t)load_u32(row + 9), load_u64(row + 13));
}

static void take_pair(const uint8_t *row, const struct snapshot_taker *taker)
{
    taker->pair(taker->context, load_u64(row), load_u64(row + 8));
}

/* What was taken makes room: first ... end go to the beginning. */
static void move_up(void *rows, size_t *first, size_t *end, size_t size)
{
    *end -= *first;
    memmove(rows, (uint8_t *)rows + *first * size, *end * size);
    *first = 0;
}

/* Room for `count` more of an event's kind. */
static bool reserve(struct snapshot *s, unsigned kind, size_t count)
{
    if (kind == SNAPSHOT_NODES) {
        if (s->first_node)
            move_up(s->nodes, &s->first_node, &s->end_node, sizeof(*s->nodes));
        return array_reserve(&s->nodes, &s->node_capacity, s->end_node + count);
    }
    if (kind != SNAPSHOT_EDGES)
        return true;
    if (s->first_edge)
        move_up(s->edges, &s->first_edge, &s->end_edge, sizeof(*s->edges));
    return array_reserve(&s->edges, &s->edge_capacity, s->end_edge + count);
}

static void put_node(struct snapshot *s, const uint8_t *row)
{
    s->nodes[s->end_node++] = (struct snapshot_node){.address = load_u64(row),
                                                     .bytes = load_u64(row + 8),
                                                     .class_id = load_u64(row + 16),
                                                     .edges = load_u64(row + 24)};
}

/* The objects all of whose references are there. */
static void drain(struct snapshot *s, const struct snapshot_taker *taker)
{
    while (s->first_node < s->end_node) {
        const struct snapshot_node *node = &s->nodes[s->first_node];

        if (node->edges > s->end_edge - s->first_edge)
            return;
        taker->object(taker->context, node, node->edges ? s->edges + s->first_edge : NULL);
        s->first_edge += node->edges;
        s->first_node++;
    }
}

/* ---- batches ---- */

/* Returns: how many rows of that size it has. Each has the next number of its kind. */
static uint32_t rows_of(struct snapshot *s, const struct session_event *event, uint32_t size)
{
    uint32_t count = event->size < HEAD ? 0 : load_u32(event->data + COUNT);

    if (!count || (event->size - HEAD) / size < count ||
        load_u32(event->data) != s->batches[event->id - SNAPSHOT_ROOTS]++)
        s->error = -EPROTO;
    return s->error ? 0 : count;
}

void snapshot_take(struct snapshot *s, const struct session_event *event,
                   const struct snapshot_taker *taker)
{
    static const uint32_t sizes[] = {ROOT_SIZE, PAIR_SIZE, NODE_SIZE, EDGE_SIZE};
    uint32_t size, count;
    const uint8_t *row;

    if (event->id - SNAPSHOT_ROOTS >= SNAPSHOT_KINDS || s->error)
        return;
    size = sizes[event->id - SNAPSHOT_ROOTS];
    count = rows_of(s, event, size);
    if (!reserve(s, event->id, count)) {
        s->error = -ENOMEM;
        return;
    }
    row = event->data + HEAD;
    for (uint32_t i = 0; i < count; i++, row += size) {
        if (event->id == SNAPSHOT_ROOTS)
            take_root(row, taker);
        else if (event->id == SNAPSHOT_PAIRS)
            take_pair(row, taker);
        else if (event->id == SNAPSHOT_NODES)
            put_node(s, row);
        else
            s->edges[s->end_edge++] = load_u64(row);
    }
    drain(s, taker);
}

int snapshot_end(struct snapshot *s)
{
    int err = s->error;

    if (!err && (s->first_node != s->end_node || s->first_edge != s->end_edge))
        err = -EPROTO;
    memory_free_all(s->nodes, s->edges);
    *s = (struct snapshot){.nodes = NULL};
    return err;
}
