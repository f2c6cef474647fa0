/* base/order.h - arrays in order: sorting them, and finding a place in them. */
#ifndef SHADOWTRACE_BASE_ORDER_H
#define SHADOWTRACE_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* What a comparison for qsort returns: two numbers, the lesser first. Both are evaluated twice. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

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
