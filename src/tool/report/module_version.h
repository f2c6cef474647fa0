/* report/module_version.h - which version a traced module was, as its file says. */
#ifndef SHADOWTRACE_REPORT_MODULE_VERSION_H
#define SHADOWTRACE_REPORT_MODULE_VERSION_H

#include "readers/defs.h"
#include "symbols/version.h"

/*
 * module_version_read - from the file that was traced, where it was or by its name in one of
 * `dirs`, or from within the program of the header, which may be NULL. A file of another build, and
 * one whose build the log does not say, does not count. Returns: whether it was found.
 */
bool module_version_read(const struct log_def *module, const json_t *header,
                         const char *const *dirs, size_t ndirs, struct symbols_version *out);

#endif
