#include "base/array.h"

#include "base/memory.h"

#include <string.h>

#define FIRST 8 /* elements */

bool array_extend(void *array, size_t *capacity, size_t count, size_t size, bool zeroed)
{
    size_t most = SIZE_MAX / 2 / size, larger = *capacity ? *capacity + *capacity / 2 : FIRST;
    void *block;

    if (larger < count)
        larger = count;
    memcpy(&block, array, sizeof(block)); /* a pointer to whatever type */
    block = larger > most ? NULL : memory_realloc(block, larger * size);
    if (!block)
        return false;
    if (zeroed)
        memset((char *)block + *capacity * size, 0, (larger - *capacity) * size);
    memcpy(array, &block, sizeof(block));
    *capacity = larger;
    return true;
}
