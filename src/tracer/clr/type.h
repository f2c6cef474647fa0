/* clr/type.h - types by what metadata calls them. */
#ifndef SHADOWTRACE_CLR_TYPE_H
#define SHADOWTRACE_CLR_TYPE_H

#include <shadowtrace/clr/types.h>

#include <stdbool.h>
#include <stddef.h>

struct clr_metadata;

/*
 * clr_type_is - has the type, a mdTypeDef or mdTypeRef, one of these names? With namespace, without
 * enclosing types; of at most 63 units. May run: wherever metadata may be asked.
 */
bool clr_type_is(struct clr_metadata *import, uint32_t type, const clr_wchar *const *names,
                 size_t count);

/* The same, for what value types derive from: System.ValueType, System.Enum. */
bool clr_type_is_value_base(struct clr_metadata *import, uint32_t type);

#endif
