/*
 * validate/schema.h - JSON Schema (draft 2020-12), as much of it as ours use: type,
 * const, enum, required, properties, additionalProperties, items, minItems, maxItems, minimum,
 * maximum, multipleOf, minLength, pattern (as a POSIX extended expression), oneOf, anyOf, not, and
 * $ref to the document's own $defs. A schema that uses anything else is refused, so that nothing
 * passes unchecked.
 */
#ifndef SHADOWTRACE_VALIDATE_SCHEMA_H
#define SHADOWTRACE_VALIDATE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct report_schema;

/* The schema that ships with this version, built into the program. */
extern const char report_schema_text[];
size_t report_schema_size(void);

/*
 * report_schema_new - a schema from its text.
 * Returns: 0; -EINVAL, with one line in why; -ENOMEM. Owns: the caller, until report_schema_free.
 */
int report_schema_new(const char *text, size_t size, struct report_schema **out, char *why,
                      size_t why_size);
void report_schema_free(struct report_schema *schema);

/* Whether it was made from report_schema_text. */
bool report_schema_is_shipped(const struct report_schema *schema);

/*
 * report_schema_check - hold a value against the schema. Where a oneOf distinguishes its branches
 * by the constant that each gives one member ("kind"), the complaint is that of the branch which
 * the value chose.
 * Returns: whether it holds; if not, one line in why: where in the value, and what is wrong.
 * Threads: any, also at once.
 */
bool report_schema_check(const struct report_schema *schema, const json_t *value, char *why,
                         size_t why_size);

#endif
