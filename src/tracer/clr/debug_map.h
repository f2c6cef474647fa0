/*
 * clr/debug_map.h - the map from native code to IL, as an image has it for code that was compiled
 * ahead of time. Asked for a map, the runtime unpacks the same, and keeps a copy for good, in a
 * table that grows slower with each.
 *
 * Source: dotnet/runtime (8.0 to 10.0) src/coreclr/vm/debuginfostore.cpp (DoBounds), and
 * src/coreclr/debug/ee/functioninfo.cpp (SetBoundaries: what the runtime makes of it).
 */
#ifndef SHADOWTRACE_CLR_DEBUG_MAP_H
#define SHADOWTRACE_CLR_DEBUG_MAP_H

#include <shadowtrace/clr/info.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUG_MAP_NEWEST 10 /* .NET */

/* How entries are packed: as numbers of half bytes, until .NET 9; as bits, in .NET 10. */
enum debug_map_format { DEBUG_MAP_UNKNOWN, DEBUG_MAP_NUMBERS, DEBUG_MAP_BITS };

/* debug_map_format - by the major version of the image's native header. */
enum debug_map_format debug_map_format(uint32_t version);

/*
 * debug_map_read - the map at the beginning of a function's debug info, of which info[0, left) may
 * be read. size: bytes of the function's code.
 * Returns: whether it is the runtime's answer: then *map, for memory_free(), by native offset. If
 *          not, the runtime has to be asked: the code has none, or more than a plain one.
 */
bool debug_map_read(enum debug_map_format format, const uint8_t *info, size_t left, uint32_t size,
                    struct clr_debug_il_to_native_map **map, uint32_t *count);

#endif
