/* Reports by a key: their cells are those that a filter lets through, as in a view. */
#include "views/view.h"

#include "model/selected.h"

#include <string.h>

#define WHY_SIZE 1000

/* Cells that stay move to the front, with the paths that are left of theirs (NULL: all). */
static void keep(const struct selected *s, const uint32_t *cut, struct report_cells *c)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->count; i++) {
        if (!selected_cell(s, i))
            continue;
        c->cells[kept] = c->cells[i];
        if (cut)
            c->cells[kept].path = cut[c->cells[i].path];
        if (c->sampled)
            c->sampled[kept] = c->sampled[i];
        kept++;
    }
    c->count = kept;
}

/* Nothing has such a name: of types and methods that leaves no row, which some ask for. */
static int nothing(const struct view *v, const char *why, struct report_cells *c)
{
    cli_complain(v->command, "%s", why);
    if (v->filter.exclude.count || v->filter.below.count)
        return CLI_USAGE;
    c->count = 0;
    return CLI_OK;
}

static int choose(const struct view *v, struct report_cells *c)
{
    struct selected s;
    char why[WHY_SIZE] = "";
    uint32_t *cut = NULL;
    int err = selected_init(&s, v->read.model, &v->filter, why, sizeof(why));
    int status;

    if (!err && v->filter.below.count)
        err = selected_cut(&s, &c->defs, &cut);
    if (!err)
        keep(&s, cut, c);
    status = err == -ENOENT ? nothing(v, why, c) : cli_failed(v->command, err);
    selected_fini(&s);
    memory_free(cut);
    return status;
}

int view_choose(struct view *v, struct report_cells *cells)
{
    struct source_lines *lines = v->read.lines; /* the caller's */
    int status;

    v->how.no_lines = true; /* others than the caller's */
    report_problems_init(&v->read.problems);
    v->read.defs = &cells->defs;
    status = cli_failed(v->command, model_of_cells(cells, &v->read.model));
    if (!status)
        status = view_know(v);
    if (!status)
        loading_tell_own(v->command, &v->how, &v->read);
    if (!status)
        status = choose(v, cells);
    v->read.lines = NULL;
    view_unload(v);
    v->read.lines = lines;
    return status;
}
