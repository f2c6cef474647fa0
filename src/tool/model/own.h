/*
 * model/own.h - whose code a method is: the user's own, a package's, or the framework's.
 *
 * The library decides it while it records, from deps.json (`"type": "project"`; a single file has
 * it in its bundle), and the log's module lines say it. In logs of before, and of what the library
 * could not tell: the shared framework's folders; the main assembly; modules whose PDB names
 * sources that exist; what was made in memory. --own-code says otherwise.
 */
#ifndef SHADOWTRACE_MODEL_OWN_H
#define SHADOWTRACE_MODEL_OWN_H

#include "readers/log.h"
#include "report/source_lines.h"

enum model_owner { MODEL_FRAMEWORK, MODEL_PACKAGE, MODEL_OWN };

struct model_own;

/*
 * model_own_new - after all logs were read.
 * log:      its header names the main assembly, and the patterns given to `record --own-code`.
 * lines:    to ask for sources, or NULL.
 * patterns: globs over the names of modules and of methods that are own code; they override the
 *           log. Count 0: those of the header, if it has any.
 * Returns:  0; -ENOMEM; -ENOENT: a pattern matches nothing, why says which, and names that are
 *           near.
 * Owns:     defs is borrowed; nothing else once it returns.
 */
int model_own_new(const struct log_defs *defs, const struct log_input *log,
                  struct source_lines *lines, const char *const *patterns, size_t count,
                  struct model_own **out, char *why, size_t why_size);
void model_own_free(struct model_own *own);

/* model_own_main - the module that is the main assembly, by number; 0: the log has none. */
uint32_t model_own_main(const struct log_defs *defs, const json_t *header);

/* own NULL: nothing is known, all is MODEL_PACKAGE. */
enum model_owner model_own_of_module(const struct model_own *own, uint32_t module);
enum model_owner model_own_of_method(const struct model_own *own, uint32_t method);

/* Whether any module or method is own code. */
bool model_own_any(const struct model_own *own);

/*
 * model_own_nearest - the modules to show where own code makes less than 1 % of the bytes, as of a
 * compiler that is started through a stub: not framework, heaviest first.
 * bytes:   by module: what was allocated under its methods with nothing but framework between.
 * Returns: how many; 0: own code makes 1 %, or nothing else makes any, or methods were named.
 */
#define MODEL_OWN_NEAREST 3
size_t model_own_nearest(const struct model_own *own, const double *bytes,
                         uint32_t out[MODEL_OWN_NEAREST]);

/*
 * model_own_tell - the same as a line for a person: what own code makes, the nearest modules with
 * their shares, and the option that takes them for own. Returns: whether there is anything to say.
 */
struct buffer;
bool model_own_tell(const struct model_own *own, const double *bytes, struct buffer *out);

#endif
