/* base/order.h - arrays in order: sorting them, and finding a place in them. */
#ifndef SHADOWTRACE_BASE_ORDER_H
#define SHADOWTRACE_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* What a comparison for qsort returns: two numbers, the lesser first. Both are evaluated twice. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * A comparison for qsort of elements of a type: by keys, each an expression of `x` and `y` as ORDER
 * is one, the first that differs decides. All are computed.
 */
#define ORDERED_BY(name, type, ...) \
    static int name(const void *a, const void *b) \
    { \
        const type *x = a, *y = b; \
        const int orders[] = {__VA_ARGS__}; \
        size_t i = 0; \
\
        while (i + 1 < sizeof(orders) / sizeof(*orders) && !orders[i]) \
            i++; \
        return orders[i]; \
    }

/* qsort of elements that there may be none of. */
#define SORT(array, count, order) \
    ((count) ? qsort((array), (count), sizeof(*(array)), (order)) : (void)0)

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
