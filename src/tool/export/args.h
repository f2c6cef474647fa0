/* export/args.h - what `export` was asked for, and how it writes rows. */
#ifndef SHADOWTRACE_EXPORT_ARGS_H
#define SHADOWTRACE_EXPORT_ARGS_H

#include "export/export.h"

#include "command/filters.h"
#include "command/output.h"

struct export_args {
    unsigned format;
    struct naming naming;
    const char *output, *min_share, *host, *container;
    struct reading_options reading;
    struct filters filters;
    struct args_list symbols;
    bool physical, no_lines, each, redact;
    double share;
};

/*
 * export_rows_run - rows of each log, which end with a NULL. Returns: the exit status.
 * export_rows_tell - what was written, once the file is there.
 */
struct export_rows_sums;
int export_rows_run(const struct export_args *a, char **logs, const struct output *o,
                    struct export_rows_sums *sums);
void export_rows_tell(const char *path, const struct export_rows_sums *sums);

#endif
