/* base/order.h - arrays in order: sorting them, and finding a place in them. */
#ifndef SHADOWTRACE_BASE_ORDER_H
#define SHADOWTRACE_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* What a comparison for qsort returns: two numbers, the lesser first. Both are evaluated twice. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* A comparison by several keys, each as ORDER: the first that differs decides. All are computed. */
#define ORDERS(...) \
    order_of_keys((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static inline int order_of_keys(const int *orders, size_t count)
{
    size_t i = 0;

    while (i + 1 < count && !orders[i])
        i++;
    return orders[i];
}

/* A comparison for qsort of elements of a type, by keys that are expressions of `x` and `y`. */
#define ORDERED_BY(name, type, ...) \
    static int name(const void *a, const void *b) \
    { \
        const type *x = a, *y = b; \
\
        return ORDERS(__VA_ARGS__); \
    }

/* qsort of elements that there may be none of. */
#define SORT(array, count, order) \
    ((count) ? qsort((array), (count), sizeof(*(array)), (order)) : (void)0)

/* Whether an element is before a key, for order_first: an expression of `x` and `key`. */
#define BEFORE_KEY(name, type, key_type, expression) \
    static bool name(const void *element, const void *wanted) \
    { \
        const type *x = element; \
        const key_type key = *(const key_type *)wanted; \
\
        return expression; \
    }

/* order_first - the index of the first element that is not `before` the key, or their count. */
static inline size_t order_first(const void *array, size_t count, size_t size,
                                 bool (*before)(const void *element, const void *key),
                                 const void *key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (before((const char *)array + middle * size, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
