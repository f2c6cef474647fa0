/*
 * base/array.h - arrays that grow, as a pointer and a capacity of the caller's.
 *
 *     if (!array_reserve(&rows, &capacity, count + 1))
 *         return -ENOMEM;
 *     rows[count++] = row;
 */
#ifndef SHADOWTRACE_BASE_ARRAY_H
#define SHADOWTRACE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * array_reserve - room for `count` elements; at least half as many again as there was, if it grows.
 * Returns: whether there is room; else the array and its capacity are as they were.
 * Owns:    the caller: memory_free(*array). A NULL array has a capacity of 0.
 */
#define array_reserve(array, capacity, count) \
    ((count) <= *(capacity) || array_extend((array), (capacity), (count), sizeof(**(array)), false))

/* The same; what is new is zeroed. */
#define array_reserve_zeroed(array, capacity, count) \
    ((count) <= *(capacity) || array_extend((array), (capacity), (count), sizeof(**(array)), true))

/* Their other half. array: the address of the pointer. */
bool array_extend(void *array, size_t *capacity, size_t count, size_t size, bool zeroed);

#endif
