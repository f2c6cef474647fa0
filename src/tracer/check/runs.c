#include "check/internal.h"

#include "base/memory.h"

#include <shadowtrace/clr/structs.h>

#include <string.h>

#define RUNS       64   /* of one snapshot, the youngest */
#define RUN_FRAMES 64   /* of one run, the youngest */
#define FRAMES     1024 /* of one snapshot */

struct run {
    uint32_t at;
    uintptr_t end; /* stack pointer of the managed frame below, towards the root */
    struct native_registers start;
};

struct check_runs {
    struct native *native;
    bool open; /* the last run has no end yet */
    size_t count;
    struct run run[RUNS];
    struct event_native frame[FRAMES];
};

struct check_runs *check_runs_new(void)
{
    struct check_runs *runs = memory_zalloc(1, sizeof(*runs));

    if (runs && native_new(&runs->native)) {
        memory_free(runs);
        return NULL;
    }
    return runs;
}

void check_runs_free(struct check_runs *runs)
{
    if (runs)
        native_free(runs->native);
    memory_free(runs);
}

void check_runs_begin(struct check_runs *runs)
{
    runs->open = false;
    runs->count = 0;
}

void check_runs_frame(struct check_runs *runs, uintptr_t function, size_t at, const void *context)
{
    struct native_registers registers;

    if (!context)
        return;
    check_registers_of(context, &registers);
    if (function && runs->open) {
        runs->run[runs->count - 1].end = registers.value[CPU_SP];
        runs->open = false;
    } else if (!function && !runs->open && runs->count < RUNS) {
        runs->run[runs->count++] = (struct run){(uint32_t)at, UINTPTR_MAX, registers};
        runs->open = true;
    }
}

size_t check_runs_walk(struct check_runs *runs, const struct event_native **out)
{
    size_t count = 0;

    for (size_t i = 0; i < runs->count && count < FRAMES; i++) {
        const struct run *run = &runs->run[i];
        uintptr_t ip[RUN_FRAMES + 1]; /* one more tells that there are more */
        size_t found = native_run(runs->native, &run->start, run->end, ip, RUN_FRAMES + 1);

        for (size_t k = 0; k < found && count < FRAMES; k++)
            runs->frame[count++] =
                (struct event_native){run->at, (uint32_t)i, k < RUN_FRAMES ? ip[k] : 0};
    }
    *out = runs->frame;
    return count;
}
