#include "gate/change.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/order.h"

#include <errno.h>
#include <string.h>

/* A limit and what it is of; of several alike, as lines of one text, first goes with first. */
struct keyed {
    char *key;
    const struct budget_limit *limit;
    size_t number; /* in its budget */
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    int order = strcmp(a->key, b->key);

    return order ? order : ORDER(a->number, b->number);
}

static int by_number(const void *left, const void *right)
{
    return ORDER(((const struct keyed *)left)->number, ((const struct keyed *)right)->number);
}

static void free_keys(struct keyed *keys, size_t count)
{
    for (size_t i = 0; keys && i < count; i++)
        memory_free(keys[i].key);
    memory_free(keys);
}

/* NULL: no memory. */
static struct keyed *keys_of(const struct budget *b)
{
    struct keyed *keys = memory_zalloc(b->count + 1, sizeof(*keys));
    bool failed = false;

    for (size_t i = 0; keys && i < b->count; i++) {
        struct buffer key = BUFFER_INIT;

        budget_limit_key(&b->limits[i], &key);
        keys[i] = (struct keyed){buffer_take(&key), &b->limits[i], i};
        failed = failed || !keys[i].key;
    }
    if (failed) {
        free_keys(keys, b->count);
        return NULL;
    }
    if (keys)
        SORT(keys, b->count, by_key);
    return keys;
}

static bool same_bound(const struct budget_bound *a, const struct budget_bound *b)
{
    if (a->given != b->given || a->over_baseline != b->over_baseline)
        return false;
    if (a->over_baseline)
        return a->percent == b->percent && !(a->over < b->over) && !(a->over > b->over);
    return !a->given || (!(a->max < b->max) && !(a->max > b->max));
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

/* was: by key; is, in the order of its budget: `with` has for each its partner, or NULL. */
static void pair(struct keyed *was, size_t was_count, struct keyed *is, size_t is_count,
                 const struct budget_limit **with)
{
    for (size_t i = 0, k = 0; i < is_count && k < was_count;) {
        int order = strcmp(was[k].key, is[i].key);

        if (order == 0) {
            with[is[i++].number] = was[k].limit;
            was[k++].limit = NULL;
        } else if (order < 0) {
            k++;
        } else {
            i++;
        }
    }
}

int gate_changes_new(const struct budget *was, const struct budget *is, struct gate_changes *c)
{
    struct keyed *before = keys_of(was), *after = keys_of(is);
    const struct budget_limit **with = memory_zalloc(is->count + 1, sizeof(*with));
    int err = before && after && with ? 0 : -ENOMEM;

    *c = (struct gate_changes){.count = 0};
    if (!err) {
        pair(before, was->count, after, is->count, with);
        SORT(before, was->count, by_number);
    }
    for (size_t i = 0; !err && i < is->count; i++)
        err = add(c, with[i], &is->limits[i]);
    for (size_t i = 0; !err && i < was->count; i++)
        if (before[i].limit)
            err = add(c, before[i].limit, NULL);
    free_keys(before, was->count);
    free_keys(after, is->count);
    memory_free(with);
    return err;
}

void gate_changes_free(struct gate_changes *c)
{
    memory_free(c->changes);
    *c = (struct gate_changes){.count = 0};
}
