/*
 * A runtime with one module, CoreLib, held in memory: what src/tracer/values/ asks of metadata and class layouts. Types:
 * the primitives, System.Decimal, Nullable<T>, Span<T>, and Pair {X, Y}, Color, Bits, Gen<T> {Value, N}, and
 * Node {Next: Node*, Pair, Text: string}.
 */
#ifndef SHADOWTRACE_TESTS_VALUES_WORLD_H
#define SHADOWTRACE_TESTS_VALUES_WORLD_H

#include "values/capture.h"
#include "values/values.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/info.h>

enum {
    WORLD_OBJECT = 1,
    WORLD_VALUE,
    WORLD_ENUM,
    WORLD_CANON,
    WORLD_STRING,
    WORLD_INT,
    WORLD_LONG,
    WORLD_BOOL,
    WORLD_DECIMAL,
    WORLD_NULLABLE,
    WORLD_SPAN,
    WORLD_PAIR,
    WORLD_COLOR,
    WORLD_BITS,
    WORLD_GEN,
    WORLD_NODE,
    WORLD_TYPES
};

#define WORLD_TOKEN(row) ((row) << 2) /* TypeDefOrRef of a definition, one byte */

/* The one method: its signature is the test's. */
struct world {
    struct clr_metadata import;
    struct clr_info info;
    const uint8_t *signature;
    uint32_t signature_size;
    struct metadata *metadata;
    struct values_types *types;
};
extern struct world world;
extern const struct capture_rules world_rules;

/* Before each test; the types it met are gone after world_forget. */
void world_begin(void);
void world_forget(void);
struct values_scope world_scope(void);

/* A captured value as text. `cut`: the number of bytes present, SIZE_MAX for all. Free it with memory_free. */
char *world_text(const struct capture *c, size_t cut);

#endif
