/*
 * base/il.h - an instruction of a method's IL in one number: its offset; or, where it is one of
 * several and which is not known, the offsets of the first and the last of them.
 */
#ifndef SHADOWTRACE_BASE_IL_H
#define SHADOWTRACE_BASE_IL_H

#include <stdint.h>

#define IL_MOST 0x0fffffff /* no offset is higher, nor any such number when it is an offset */

/* A mark, how far the last is behind the first, and the first. */
#define IL_SEVERAL     0x10000000
#define IL_FIRST_BITS  16
#define IL_FIRST_MOST  0xffff
#define IL_BEHIND_MOST 0x0fff

/* Returns: -1 where that does not fit. */
static inline int32_t il_several(uint32_t first, uint32_t last)
{
    if (first > last || first > IL_FIRST_MOST || last - first > IL_BEHIND_MOST)
        return -1;
    return first == last ? (int32_t)first
                         : (int32_t)(IL_SEVERAL | (last - first) << IL_FIRST_BITS | first);
}

/* Of what is at least 0. */
static inline uint32_t il_first(int32_t il)
{
    return (uint32_t)(il & IL_SEVERAL ? il & IL_FIRST_MOST : il & IL_MOST);
}

static inline uint32_t il_last(int32_t il)
{
    return il_first(il) + (il & IL_SEVERAL ? (uint32_t)il >> IL_FIRST_BITS & IL_BEHIND_MOST : 0);
}

#endif
