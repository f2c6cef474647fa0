/*
 * model/names.h - names as a person wants to read them, made from those of the log.
 *
 * short: C# keywords (string, byte[], int?), tuples as (int, string), no namespaces where the name
 * is unambiguous without, parameters only to tell overloads apart. full: as a .NET developer writes
 * it in full, `Ns.Outer.Inner<System.String>.Method<T>(System.Int32)`. raw: as the log has it.
 *
 * To cut a name to so many columns: fit_name (terminal/fit.h).
 */
#ifndef SHADOWTRACE_MODEL_NAMES_H
#define SHADOWTRACE_MODEL_NAMES_H

#include "readers/defs.h"

enum names_style { NAMES_SHORT, NAMES_FULL, NAMES_RAW };
extern const char *const names_styles[]; /* words of --names; ends with NULL */

struct names;

/* names_new - of a log that was read (defs borrowed). Returns: 0 or -ENOMEM. */
int names_new(const struct report_defs *defs, enum names_style style, struct names **out);
void names_free(struct names *n);

/* Numbers of defs. The text is the names', made when first asked for; never NULL. */
const char *names_method(struct names *n, uint32_t method);
const char *names_class(struct names *n, uint32_t class_number);

#endif
