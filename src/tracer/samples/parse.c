/* The payloads, packed as ClrEtwAll.man lays them out: names are UTF-16 and end with a zero. */
#include "samples/internal.h"

#include "base/cursor.h"

enum { KIND_SMALL, KIND_LARGE, KIND_PINNED };

static void skip_name(struct cursor *p)
{
    while (!p->failed && cursor_little(p, 2))
        ;
}

static enum event_heap heap_of(uint64_t kind)
{
    return kind == KIND_LARGE    ? EVENT_HEAP_LARGE
           : kind == KIND_PINNED ? EVENT_HEAP_PINNED
                                 : EVENT_HEAP_NORMAL;
}

bool samples_parse(const struct session_event *event, struct samples_taken *out)
{
    struct cursor p = {event->data, event->size, false};
    bool tick = event->id == SAMPLES_TICK;

    *out = (struct samples_taken){0};
    if (tick)
        cursor_little(&p, 4); /* the amount, once more below with all its bits */
    out->heap = heap_of(cursor_little(&p, 4));
    cursor_little(&p, 2); /* which runtime of the process */
    if (tick)
        out->weight = cursor_little(&p, 8);
    out->class_id = (uintptr_t)cursor_little(&p, 8);
    skip_name(&p);
    if (tick)
        cursor_little(&p, 4); /* which heap of the server's collector */
    out->object = (uintptr_t)cursor_little(&p, 8);
    out->bytes = (cursor_little(&p, 8) + 7) & ~UINT64_C(7);
    return !p.failed && out->class_id && out->bytes;
}
