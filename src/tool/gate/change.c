#include "gate/change.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/order.h"

#include <errno.h>
#include <string.h>

/* A limit and what it is of; of several alike, as lines of one text, first goes with first. */
struct keyed {
    char *key;
    size_t number; /* in its budget */
};

struct keys {
    struct keyed *key;
    size_t count;
};

/* Which limit of the older budget goes with which of the newer one. */
struct pairs {
    const struct budget *was, *is;
    bool *gone;                       /* by number of the older: it has a partner */
    const struct budget_limit **with; /* by number of the newer: its partner, or NULL */
};

ORDERED_BY(by_key, struct keyed, strcmp(x->key, y->key), ORDER(x->number, y->number))

static void free_keys(struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        memory_free(keys->key[i].key);
    memory_free(keys->key);
}

/* edited: of lines that may have another text by now, and no others. */
static char *key_of(const struct budget_limit *limit, bool edited)
{
    struct budget_limit line = *limit;
    struct buffer key = BUFFER_INIT;
    char nothing[] = "";

    if (edited)
        line.text = nothing;
    budget_limit_key(&line, &key);
    return buffer_take(&key);
}

/* Of the limits without a partner, in order. Returns: 0 or -ENOMEM; *out is for free_keys. */
static int keys_of(const struct pairs *p, bool newer, bool edited, struct keys *out)
{
    const struct budget *b = newer ? p->is : p->was;

    *out = (struct keys){memory_zalloc(b->count + 1, sizeof(*out->key)), 0};
    for (size_t i = 0; out->key && i < b->count; i++) {
        if (newer ? p->with[i] != NULL : p->gone[i])
            continue;
        if (edited && b->limits[i].of != BUDGET_LINE)
            continue;
        out->key[out->count] = (struct keyed){key_of(&b->limits[i], edited), i};
        if (!out->key[out->count++].key)
            return -ENOMEM;
    }
    if (!out->key)
        return -ENOMEM;
    SORT(out->key, out->count, by_key);
    return 0;
}

/* How many from `at` on have the same key. */
static size_t alike(const struct keys *keys, size_t at)
{
    size_t end = at;

    while (end < keys->count && strcmp(keys->key[end].key, keys->key[at].key) == 0)
        end++;
    return end - at;
}

/* Edited ones only where it is clear which is which: as many are gone as are new. */
static void pair(struct pairs *p, const struct keys *was, const struct keys *is, bool edited)
{
    for (size_t i = 0, k = 0; i < is->count && k < was->count;) {
        int order = strcmp(was->key[k].key, is->key[i].key);
        size_t before = order <= 0 ? alike(was, k) : 0, after = order >= 0 ? alike(is, i) : 0;

        for (size_t n = 0; n < before && n < after && (!edited || before == after); n++) {
            p->with[is->key[i + n].number] = &p->was->limits[was->key[k + n].number];
            p->gone[was->key[k + n].number] = true;
        }
        k += before;
        i += after;
    }
}

static int pair_all(struct pairs *p, bool edited)
{
    struct keys was, is;
    int err = keys_of(p, false, edited, &was), more = keys_of(p, true, edited, &is);

    err = err ? err : more;
    if (!err)
        pair(p, &was, &is, edited);
    free_keys(&was);
    free_keys(&is);
    return err;
}

static bool same_bound(const struct budget_bound *a, const struct budget_bound *bound)
{
    if (a->given != bound->given || a->over_baseline != bound->over_baseline)
        return false;
    if (a->over_baseline)
        return a->percent == bound->percent && !(a->over < bound->over) && !(a->over > bound->over);
    return !a->given || (!(a->max < bound->max) && !(a->max > bound->max));
}

static int add(struct gate_changes *c, const struct budget_limit *was,
               const struct budget_limit *is)
{
    static const struct budget_bound none;

    for (size_t i = 0; i < BUDGET_MEASURES; i++) {
        const struct budget_bound *before = was ? &was->bounds[i] : &none;
        const struct budget_bound *after = is ? &is->bounds[i] : &none;

        if (same_bound(before, after))
            continue;
        if (!array_reserve(&c->changes, &c->capacity, c->count + 1))
            return -ENOMEM;
        c->changes[c->count++] = (struct gate_change){
            before->given ? was : NULL, after->given ? is : NULL, (enum budget_measure)i};
    }
    return 0;
}

int gate_changes_new(const struct budget *was, const struct budget *is, struct gate_changes *c)
{
    struct pairs p = {.was = was,
                      .is = is,
                      .gone = memory_zalloc(was->count + 1, sizeof(*p.gone)),
                      .with = memory_zalloc(is->count + 1, sizeof(*p.with))};
    int err = p.gone && p.with ? 0 : -ENOMEM;

    *c = (struct gate_changes){.count = 0};
    if (!err)
        err = pair_all(&p, false);
    if (!err)
        err = pair_all(&p, true);
    for (size_t i = 0; !err && i < is->count; i++)
        err = add(c, p.with[i], &is->limits[i]);
    for (size_t i = 0; !err && i < was->count; i++)
        if (!p.gone[i])
            err = add(c, &was->limits[i], NULL);
    memory_free_all(p.gone, p.with);
    return err;
}

void gate_changes_free(struct gate_changes *c)
{
    memory_free(c->changes);
    *c = (struct gate_changes){.count = 0};
}
