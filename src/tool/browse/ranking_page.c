/* Tables: types, methods, lines, modules, threads, logs. */
#include "browse/page.h"

#include "terminal/key.h"

#include "base/memory.h"

#include <stdio.h>

struct ranking_page {
    struct page page;
    struct ranking ranking;
    bool total; /* sorted by it, and the share is of it */
};

static struct ranking_page *page_of(const struct page *page)
{
    return (struct ranking_page *)(uintptr_t)page;
}

static const struct ranking_row *row_at(const struct page *page, size_t index)
{
    const struct ranking *t = &page_of(page)->ranking;

    return index < t->count ? &t->rows[index] : NULL;
}

static size_t count(const struct page *page)
{
    return page_of(page)->ranking.count;
}

static void heads(const struct page *page, struct canvas *c, int row)
{
    static const char *const what[RANKING_KINDS] = {
        "type", "method", "source line", "source line", "module", "thread", "log"};
    const struct ranking_page *p = page_of(page);
    int column = page_heads(page, c, row, false);

    if (ranking_has_total(p->ranking.kind))
        canvas_put(c, row, column, c->columns, CANVAS_BOLD, p->total ? "(total) " : "(self) ");
    column += ranking_has_total(p->ranking.kind) ? p->total ? 8 : 7 : 0;
    canvas_put(c, row, column, c->columns, CANVAS_BOLD, what[p->ranking.kind]);
}

static void draw(const struct page *page, struct canvas *c, int row, size_t index)
{
    const struct ranking_page *p = page_of(page);
    const struct ranking_row *r = row_at(page, index);
    struct buffer name = BUFFER_INIT, where = BUFFER_INIT;
    const double *sums = p->total ? r->total : r->self;
    bool file = p->ranking.kind == RANKING_METHODS && r->target.file;
    int column = page_amounts(page, c, row, sums, sums, false);
    const char *text = ranking_name(page->data, &p->ranking, r, &name);
    unsigned style = r->own ? CANVAS_BOLD | CANVAS_GREEN : CANVAS_PLAIN;

    canvas_put(c, row, column, 1, style, r->own ? "*" : "");
    if (search_hits(&page->data->search, text))
        style |= CANVAS_UNDERLINE;
    page_name(c, row, column + 1, style, text,
              file ? data_file_line(r->target.file, r->target.line, &where) : "");
    buffer_free(&name);
    buffer_free(&where);
}

static void target(const struct page *page, struct target *out)
{
    const struct ranking_row *r = row_at(page, page->list.cursor);

    *out = r ? r->target : (struct target){.kind = TARGET_NONE};
}

static bool hits(const struct page *page, size_t index)
{
    const struct ranking_page *p = page_of(page);
    struct buffer name = BUFFER_INIT;
    bool found = search_hits(&page->data->search,
                             ranking_name(page->data, &p->ranking, row_at(page, index), &name));

    buffer_free(&name);
    return found;
}

static bool find(struct page *page, bool forward)
{
    return page_find(page, forward, hits);
}

static int sort(struct page *page)
{
    struct ranking_page *p = page_of(page);

    ranking_sort(page->data, &p->ranking, page->data->sort, p->total);
    page->list.cursor = 0;
    return 0;
}

static enum page_answer key(struct page *page, int key)
{
    struct ranking_page *p = page_of(page);
    static const enum page_answer enter[RANKING_KINDS] = {
        PAGE_CALLERS, PAGE_CALLERS, PAGE_SOURCE, PAGE_SOURCE, PAGE_MODULE, PAGE_THREAD, PAGE_TREE};

    if (key == 't' && ranking_has_total(p->ranking.kind)) {
        p->total = !p->total;
        sort(page);
        return PAGE_DONE;
    }
    if (key == KEY_ENTER || key == ' ' || key == KEY_RIGHT || key == 'l')
        return p->ranking.count ? enter[p->ranking.kind] : PAGE_DONE;
    if (key == KEY_LEFT || key == 'h')
        return PAGE_BACK;
    return PAGE_NOT_MINE;
}

static void free_page(struct page *page)
{
    ranking_fini(&page_of(page)->ranking);
    memory_free(page);
}

static const struct page_ops *ops_of(enum ranking_kind kind)
{
#define OPS(hint, nothing) \
    { \
        .free = free_page, .count = count, .heads = heads, .draw = draw, .key = key, \
        .target = target, .find = find, .sort = sort, .keys = (hint), .empty = (nothing) \
    }
    static const struct page_ops ops[RANKING_KINDS] = {
        OPS("enter who makes it", "Nothing is let through."),
        OPS("enter callers  t self/total", "Nothing is let through."),
        OPS("enter source  t self/total", "No line is known: the modules have no PDBs beside them. "
                                          "--symbols DIR says where they are."),
        OPS("enter source  t self/total", "No line is known: the modules have no PDBs beside them. "
                                          "--symbols DIR says where they are."),
        OPS("enter its methods  t self/total", "Nothing is let through."),
        OPS("enter only this thread", "Nothing is let through."),
        OPS("enter tree", "Nothing is let through."),
    };
#undef OPS

    return &ops[kind];
}

struct page *page_ranking(struct data *d, enum ranking_kind kind, uint32_t only_module)
{
    struct ranking_page *p = memory_zalloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->page.ops = ops_of(kind);
    p->page.data = d;
    if (only_module)
        snprintf(p->page.title, sizeof(p->page.title), "methods of %s",
                 report_module(model_defs(d->model), only_module)->name);
    if (ranking_make(d, kind, only_module, &p->ranking)) {
        memory_free(p);
        return NULL;
    }
    return &p->page;
}
