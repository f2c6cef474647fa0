/* page/side.h - what one side of a page shows: logs, their model, its tree, and names for it. */
#ifndef SHADOWTRACE_PAGE_SIDE_H
#define SHADOWTRACE_PAGE_SIDE_H

#include "command/loading.h"
#include "model/method_namespaces.h"
#include "model/tree.h"

struct side_options {
    struct loading_options how;
    enum names_style names;
    struct model_filter filter;
    double min_share;
    bool live; /* what became of objects, too: filters leave it as it is (of the whole log) */
};

struct side {
    char **logs; /* the caller's */
    size_t count;
    struct loading read; /* its others: the full names */
    struct model_tree *tree;
    struct namespaces spaces;
    struct log_marks marks;
};

/*
 * side_read - reads the logs and makes the tree, by line, with types as leaves.
 * first:   of a comparison the other side, NULL: this is it; it is released after this one.
 * Returns: CLI_OK; else a line has said why. Owns: release with side_fini in any case.
 */
int side_read(const struct cli_command *command, const struct side_options *options, char **logs,
              size_t count, const struct side *first, struct side *out);
void side_fini(struct side *s);

/* side_is_live - whether it knows what became of its objects: was asked, and the log says. */
bool side_is_live(const struct side *s);

#endif
