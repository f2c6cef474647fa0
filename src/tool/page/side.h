/* page/side.h - what one side of a page shows: logs, their model, its tree, and names for it. */
#ifndef SHADOWTRACE_PAGE_SIDE_H
#define SHADOWTRACE_PAGE_SIDE_H

#include "command/reading.h"
#include "model/names.h"
#include "model/own.h"
#include "model/tree.h"

struct side_options {
    struct reading_options reading;
    struct reading_window window;
    struct args_list symbols, own_code;
    bool no_lines, physical;
    enum names_style names;
    uint64_t slice_ns;
    bool no_time; /* all of it is one slice */
    struct model_filter filter;
    double min_share;
};

struct side {
    char **logs; /* the caller's; NULL ends them */
    size_t count;
    struct report_problems problems;
    struct model *model;
    struct source_lines *lines; /* NULL: not looked up */
    struct model_own *own;
    struct names *shown, *full;
    struct model_tree *tree;
    struct report_marks marks;
};

/*
 * side_read - reads the logs and makes the tree, by line, with types as leaves.
 * first:   of a comparison the other side, NULL: this is it; it is released after this one.
 * Returns: CLI_OK; else a line has said why. Owns: release with side_fini in any case.
 */
int side_read(const struct cli_command *command, const struct side_options *options, char **logs,
              size_t count, const struct side *first, struct side *out);
void side_fini(struct side *s);

#endif
