/* model/selected.h - which cells and paths of a model a filter lets through. */
#ifndef SHADOWTRACE_MODEL_SELECTED_H
#define SHADOWTRACE_MODEL_SELECTED_H

#include "model/shape.h"

struct selected {
    const struct model *model;
    const struct log_defs *defs;
    const struct model_filter *filter;
    bool *types, *methods, *no_types, *no_methods, *beginnings; /* NULL: no glob */
    uint8_t *paths;                                             /* flags */
};

/* selected_init - Returns: 0; -ENOMEM; -ENOENT: a glob matches nothing, why says which. */
int selected_init(struct selected *s, const struct model *m, const struct model_filter *filter,
                  char *why, size_t why_size);
void selected_fini(struct selected *s);

bool selected_cell(const struct selected *s, size_t i);

/* selected_mark - which paths the cells that were let through are of, and those paths' callers. */
void selected_mark(struct selected *s);
bool selected_path(const struct selected *s, uint32_t path); /* marked */

/* Whether a path's frame is the outermost that is shown. */
bool selected_outermost(const struct selected *s, uint32_t path);

#endif
