#include "report/align.h"

#include "base/memory.h"

#include <errno.h>
#include <stdint.h>

/* How the elements up to here are best matched. */
struct step {
    double cost;
    enum { MATCHED, GONE, ADDED } last;
};

/* The best of the three ways to this pair: `to` is after it in both lists. */
static struct step step_to(const struct align *a, const struct step *to, size_t old, size_t new)
{
    size_t width = a->news + 1;
    struct step best = {to[-(ptrdiff_t)width - 1].cost + a->match(a->context, old, new), MATCHED};
    double gone = to[-(ptrdiff_t)width].cost + a->gone(a->context, old);
    double added = to[-1].cost + a->added(a->context, new);

    if (gone < best.cost)
        best = (struct step){gone, GONE};
    return added < best.cost ? (struct step){added, ADDED} : best;
}

static void fill(const struct align *a, struct step *steps)
{
    size_t width = a->news + 1;

    steps[0] = (struct step){0, MATCHED};
    for (size_t old = 0; old < a->olds; old++)
        steps[(old + 1) * width] =
            (struct step){steps[old * width].cost + a->gone(a->context, old), GONE};
    for (size_t new = 0; new < a->news; new ++)
        steps[new + 1] = (struct step){steps[new].cost + a->added(a->context, new), ADDED};
    for (size_t old = 0; old < a->olds; old++)
        for (size_t new = 0; new < a->news; new ++) {
            struct step *to = &steps[(old + 1) * width + new + 1];

            *to = step_to(a, to, old, new);
        }
}

int align(const struct align *a, size_t *match)
{
    size_t width = a->news + 1, old = a->olds, new = a->news;
    struct step *steps;

    for (size_t i = 0; i < a->olds; i++)
        match[i] = ALIGN_NONE;
    if (a->olds && a->news > ALIGN_MAX / a->olds)
        return -E2BIG;
    steps = memory_alloc((a->olds + 1) * width * sizeof(*steps));
    if (!steps)
        return -ENOMEM;
    fill(a, steps);
    while (old && new) {
        const struct step *step = &steps[old * width + new];

        old -= step->last != ADDED;
        new -= step->last != GONE;
        if (step->last == MATCHED)
            match[old] = new;
    }
    memory_free(steps);
    return 0;
}
