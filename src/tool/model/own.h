/*
 * model/own.h - whose code a method is: the user's own, a package's, or the framework's.
 *
 * The library decides it while it records, from deps.json (`"type": "project"`; a single file has
 * it in its bundle), and the log's module lines say it. Logs of before have the shared framework's
 * folders, and the modules whose PDB names sources that exist. --own-code says otherwise.
 */
#ifndef SHADOWTRACE_MODEL_OWN_H
#define SHADOWTRACE_MODEL_OWN_H

#include "readers/log.h"
#include "report/source_lines.h"

enum model_owner { MODEL_FRAMEWORK, MODEL_PACKAGE, MODEL_OWN };

struct model_own;

/*
 * model_own_new - patterns: globs over modules and methods that are own code, in place of what the
 * log says; count 0: none. lines: to ask for sources, or NULL.
 * Returns: 0; -ENOMEM; -ENOENT: a pattern matches nothing, why says which.
 * Owns:    defs, lines and patterns are borrowed.
 */
int model_own_new(const struct report_defs *defs, struct source_lines *lines,
                  const char *const *patterns, size_t count, struct model_own **out, char *why,
                  size_t why_size);
void model_own_free(struct model_own *own);

/* own NULL: nothing is known, all is MODEL_PACKAGE. */
enum model_owner model_own_of_module(const struct model_own *own, uint32_t module);
enum model_owner model_own_of_method(const struct model_own *own, uint32_t method);

#endif
