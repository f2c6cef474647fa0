/*
 * model/names.h - names as a person wants to read them, made from those of the log.
 *
 * short: C# keywords (string, byte[], int?), tuples as (int, string), no namespaces where the name
 * is unambiguous without, parameters only to distinguish overloads. full: as a .NET developer
 * writes it in full, `Ns.Outer.Inner<System.String>.Method<T>(System.Int32)`. raw: as the log has
 * it.
 *
 * To shorten a name to a number of columns: fit_name (terminal/fit.h).
 */
#ifndef SHADOWTRACE_MODEL_NAMES_H
#define SHADOWTRACE_MODEL_NAMES_H

#include "readers/defs.h"

enum names_style { NAMES_SHORT, NAMES_FULL, NAMES_RAW };
extern const char *const names_styles[]; /* words of --names; ends with NULL */

struct names;

/* names_new - of a log that was read (defs borrowed). Returns: 0 or -ENOMEM. */
int names_new(const struct log_defs *defs, enum names_style style, struct names **out);
void names_free(struct names *n); /* NULL is fine */

/*
 * names_beside - of another log that is shown beside the first: what is called alike in one of them
 * keeps its namespace in both. Before any name is asked for. Returns: 0 or -ENOMEM.
 * Owns: as names_new; it is freed before the first.
 */
int names_beside(struct names *first, const struct log_defs *defs, struct names **out);

/*
 * names_of_texts - of names that no log defines, as a living process says them: full ones. Numbers
 * are places in the arrays. Returns: 0 or -ENOMEM. Owns: texts are borrowed, the arrays are not.
 */
struct names_texts {
    const char *const *methods, *const *classes;
    size_t method_count, class_count;
};
int names_of_texts(const struct names_texts *texts, enum names_style style, struct names **out);

/*
 * Numbers of defs. The text is the names', made when first asked for; never NULL.
 * names_class is what an object of the type is called: short names say "boxed int", "closure of
 * Basket.Add" (name_words.h) in place of the names that compilers have for them. names_type is the
 * type's name itself.
 * Two methods of one log have the same short name only if they were one in the source (an async
 * method and its state machine), or their full names are the same; types never have.
 * Where memory is short, or the name is none (brackets do not match): the full name.
 */
const char *names_method(struct names *n, uint32_t method);
const char *names_class(struct names *n, uint32_t class_number);
const char *names_type(struct names *n, uint32_t class_number);

#endif
