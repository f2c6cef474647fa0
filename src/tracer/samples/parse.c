/* The payloads, packed as ClrEtwAll.man lays them out: names are UTF-16 and end with a zero. */
#include "samples/internal.h"

#include <string.h>

enum { KIND_SMALL, KIND_LARGE, KIND_PINNED };

/* What is left of a payload; short once something was not there. */
struct payload {
    const uint8_t *at;
    size_t left;
    bool cut;
};

static uint64_t take(struct payload *p, size_t size)
{
    uint64_t value = 0;

    if (p->left < size) {
        p->cut = true;
        return 0;
    }
    memcpy(&value, p->at, size); /* little-endian, as the runtime writes it */
    p->at += size;
    p->left -= size;
    return value;
}

static void skip_name(struct payload *p)
{
    while (!p->cut && take(p, 2))
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
    struct payload p = {event->data, event->size, false};
    bool tick = event->id == SAMPLES_TICK;

    *out = (struct samples_taken){0};
    if (tick)
        take(&p, 4); /* the amount, once more below with all its bits */
    out->heap = heap_of(take(&p, 4));
    take(&p, 2); /* which runtime of the process */
    if (tick)
        out->weight = take(&p, 8);
    out->class_id = (uintptr_t)take(&p, 8);
    skip_name(&p);
    if (tick)
        take(&p, 4); /* which heap of the server's collector */
    out->object = (uintptr_t)take(&p, 8);
    out->bytes = (take(&p, 8) + 7) & ~UINT64_C(7);
    return !p.cut && out->class_id && out->bytes;
}
