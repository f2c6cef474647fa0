#include "report/annotate.h"

#include "base/order.h"

#include <string.h>

struct adding {
    const struct report_sites *sites;
    struct source_lines *lines;
    const char *file;
    struct annotation *sums;
};

static void add(struct annotate_amount *to, const struct annotate_amount *more)
{
    to->allocs += more->allocs;
    to->bytes += more->bytes;
    report_spread_add(&to->spread, &more->spread);
}

/* The line of the file, 0 for another file's. */
static uint32_t line_in_file(struct adding *a, uint32_t method, int32_t il)
{
    struct source_line line;

    if (!source_line_of(a->lines, method, il, &line) || strcmp(line.file, a->file) != 0 ||
        line.line > ANNOTATE_LINES_MAX)
        return 0;
    return line.line;
}

static int reserve_line(struct adding *a, uint32_t line)
{
    if (!array_reserve_zeroed(&a->sums->lines, &a->sums->line_capacity, (size_t)line + 1))
        return -ENOMEM;
    a->sums->line_count = a->sums->line_capacity - 1;
    return 0;
}

/* Allocations by the lines of the file themselves; below: for each path all that was made there. */
static int add_rows(struct adding *a, struct annotate_amount *below)
{
    size_t count = report_sites_count(a->sites);
    struct report_row row;

    a->sums->types = memory_zalloc(count + 1, sizeof(*a->sums->types));
    if (!a->sums->types)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct annotate_amount own;
        uint32_t line;

        report_sites_row(a->sites, i, &row);
        own = (struct annotate_amount){row.allocs, row.bytes, row.spread};
        add(&a->sums->total, &own);
        add(&below[row.path], &own);
        line = row.path > REPORT_PATH_LOST ? line_in_file(a, row.method, row.il) : 0;
        if (!line)
            continue;
        if (reserve_line(a, line))
            return -ENOMEM;
        add(&a->sums->lines[line].own, &own);
        a->sums->types[a->sums->type_count++] = (struct annotate_type){line, row.class_number, own};
    }
    return 0;
}

/* Whether the call on that line runs within another call on it: recursion, counted once. */
static bool within_itself(struct adding *a, const struct report_defs *d, uint32_t path,
                          uint32_t line)
{
    for (path = report_path(d, path)->parent; path > REPORT_PATH_LOST;
         path = report_path(d, path)->parent) {
        const struct report_path *p = report_path(d, path);

        if (p->il >= 0 && p->parent > REPORT_PATH_LOST &&
            line_in_file(a, report_path(d, p->parent)->method, p->il) == line)
            return true;
    }
    return false;
}

/* Parents have lower numbers than their children: from the leaves to the roots. */
static int add_calls(struct adding *a, struct annotate_amount *below)
{
    const struct report_defs *d = report_sites_defs(a->sites);

    for (uint32_t path = (uint32_t)d->path_count - 1; path > REPORT_PATH_LOST; path--) {
        const struct report_path *p = report_path(d, path);
        uint32_t line;

        add(&below[p->parent], &below[path]);
        if (!below[path].allocs || p->il < 0 || p->parent <= REPORT_PATH_LOST)
            continue;
        line = line_in_file(a, report_path(d, p->parent)->method, p->il);
        if (!line || within_itself(a, d, path, line))
            continue;
        if (reserve_line(a, line))
            return -ENOMEM;
        add(&a->sums->lines[line].below, &below[path]);
    }
    return 0;
}

static int by_line(const void *left, const void *right)
{
    const struct annotate_type *a = left, *b = right;

    return a->line != b->line ? ORDER(a->line, b->line) : ORDER(a->class_number, b->class_number);
}

/* Sites of one type on one line become one. */
static void join_types(struct annotation *a)
{
    size_t kept = 0;

    qsort(a->types, a->type_count, sizeof(*a->types), by_line);
    for (size_t i = 0; i < a->type_count; i++)
        if (kept && by_line(&a->types[kept - 1], &a->types[i]) == 0)
            add(&a->types[kept - 1].own, &a->types[i].own);
        else
            a->types[kept++] = a->types[i];
    a->type_count = kept;
}

int annotate_file(const struct report_sites *sites, struct source_lines *lines, const char *file,
                  struct annotation *out)
{
    struct adding a = {sites, lines, file, out};
    struct annotate_amount *below =
        memory_zalloc(report_sites_defs(sites)->path_count, sizeof(*below));
    int err = -ENOMEM;

    *out = (struct annotation){.line_count = 0};
    if (below)
        err = reserve_line(&a, 1);
    if (!err)
        err = add_rows(&a, below);
    if (!err)
        err = add_calls(&a, below);
    if (!err)
        join_types(out);
    memory_free(below);
    return err;
}

void annotation_fini(struct annotation *a)
{
    memory_free_all(a->lines, a->types);
}
