/* Tables: types, methods, lines, modules, threads, namespaces, sizes, time, logs. */
#include "browse/page.h"

#include "terminal/key.h"
#include "terminal/text.h"
#include "views/ranges.h"

#include <stdio.h>

struct ranking_page {
    struct page page;
    struct ranking ranking;
    bool total;  /* sorted by it, and the share is of it */
    double most; /* of one row: what bars are drawn by */
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

static const char *heading(const struct ranking *t)
{
    switch (t->key) {
    case MODEL_BY_LINE:
    case MODEL_BY_OWN:
        return "source line";
    case MODEL_BY_SIZE:
        return "bytes of object";
    case MODEL_BY_SLICE:
        return "from";
    default:
        return t->kind == RANKING_LOGS ? "log" : view_row_word(t->kind);
    }
}

static void heads(const struct page *page, struct canvas *c, int row)
{
    const struct ranking_page *p = page_of(page);
    int column = page_heads(page, c, row, false);

    if (ranking_has_total(p->ranking.key))
        canvas_put(c, row, column, c->columns, CANVAS_BOLD, p->total ? "(total) " : "(self) ");
    column += ranking_has_total(p->ranking.key) ? p->total ? 8 : 7 : 0;
    canvas_put(c, row, column, c->columns, CANVAS_BOLD, heading(&p->ranking));
}

/* What a range is called, as short as it has to be. */
static const char *range_text(const struct ranking_page *p, const struct ranking_row *row, int room,
                              struct buffer *out)
{
    const char *text = ranking_name(p->page.data, &p->ranking, row, out);
    unsigned power = row->target.number & 0xff;
    struct text_number low, high;

    if (p->ranking.key != MODEL_BY_SIZE || (int)text_columns(text) <= room || power >= 63)
        return text;
    buffer_clear(out);
    buffer_format(out, "%s-%s", text_short(&low, power ? (double)(UINT64_C(1) << power) : 0),
                  text_short(&high, (double)(UINT64_C(2) << power)));
    return out->failed ? "?" : out->data;
}

#define RANGE_SIZES 24 /* columns of "16,777,216 to 33,554,431" */
#define RANGE_TIME  9
#define HEAP        7
#define RATE        13
#define BAR_LEAST   6
#define BAR_MOST    30

/* "3.4 MB/s" of a slice, or the heap of sizes. */
static void draw_beside(const struct ranking_page *p, const struct ranking_row *r, struct canvas *c,
                        int row, int column)
{
    const struct data *d = p->page.data;
    double seconds = (double)model_slice_ns(d->model) / 1e9;
    struct buffer rate = BUFFER_INIT;
    struct data_number n;

    if (p->ranking.key == MODEL_BY_SIZE) {
        canvas_put(c, row, column, HEAP, CANVAS_YELLOW,
                   range_heap((enum sst_heap)(r->target.number >> 8)));
    } else if (seconds > 0 && c->columns - column >= RATE) {
        buffer_format(&rate, "%s/s",
                      data_amount(d, &n, d->sort, r->self[d->sort == MODEL_ALLOCS] / seconds));
        canvas_right(c, row, column, RATE, CANVAS_DIM, rate.failed ? "?" : rate.data);
    }
    buffer_free(&rate);
}

/* A range, what stands beside it, and a bar as long as its part of the largest row. */
static void draw_range(const struct ranking_page *p, const struct ranking_row *r, struct canvas *c,
                       int row, int column)
{
    bool time = p->ranking.key == MODEL_BY_SLICE;
    int beside = column + (time ? RANGE_TIME : RANGE_SIZES) + 2;
    int bar = beside + (time ? RATE : HEAP) + 2, room = c->columns - bar;
    struct buffer b = BUFFER_INIT;

    canvas_put(c, row, column, c->columns, CANVAS_PLAIN, range_text(p, r, c->columns - column, &b));
    draw_beside(p, r, c, row, beside);
    buffer_clear(&b);
    if (room >= BAR_LEAST && p->most > 0) {
        text_bar(&b, r->self[p->page.data->sort == MODEL_ALLOCS] / p->most,
                 (size_t)(room < BAR_MOST ? room : BAR_MOST));
        canvas_put(c, row, bar, c->columns, CANVAS_CYAN, b.failed ? "" : b.data);
    }
    buffer_free(&b);
}

static void draw_name(const struct ranking_page *p, const struct ranking_row *r, struct canvas *c,
                      int row, int column)
{
    const struct data *d = p->page.data;
    struct buffer name = BUFFER_INIT, where = BUFFER_INIT;
    const char *text = ranking_name(d, &p->ranking, r, &name);
    bool file = p->ranking.key == MODEL_BY_METHOD && r->target.file;
    unsigned style = r->own ? CANVAS_BOLD | CANVAS_GREEN : CANVAS_PLAIN;

    canvas_put(c, row, column, 1, style, r->own ? "*" : "");
    if (search_hits(&d->search, text))
        style |= CANVAS_UNDERLINE;
    page_name(c, row, column + 1, style, text, file ? data_file_line(&r->target, &where) : "");
    buffer_free(&name);
    buffer_free(&where);
}

static void draw(const struct page *page, struct canvas *c, int row, size_t index)
{
    const struct ranking_page *p = page_of(page);
    const struct ranking_row *r = row_at(page, index);
    const double *sums = p->total ? r->total : r->self;
    int column = page_amounts(page, c, row, sums, sums, false);

    (ranking_has_bars(p->ranking.key) ? draw_range : draw_name)(p, r, c, row, column);
}

static void target(const struct page *page, struct target *out)
{
    const struct ranking_row *r = row_at(page, page->list.cursor);

    if (r)
        *out = r->target;
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

static void find_most(struct ranking_page *p)
{
    int main = p->page.data->sort == MODEL_ALLOCS;

    p->most = 0;
    for (size_t i = 0; i < p->ranking.count; i++)
        if (p->ranking.rows[i].self[main] > p->most)
            p->most = p->ranking.rows[i].self[main];
}

static int sort(struct page *page)
{
    struct ranking_page *p = page_of(page);

    ranking_sort(page->data, &p->ranking, page->data->sort, p->total);
    find_most(p);
    page->list.cursor = 0;
    return 0;
}

/* What enter opens: a row among lines may be of a method, or of nothing that has callers. */
static enum page_answer entered(const struct page *page)
{
    const struct ranking *t = &page_of(page)->ranking;
    struct target target;

    page_target(page, &target);
    switch (target.kind) {
    case TARGET_METHOD:
    case TARGET_TYPE:
        return PAGE_CALLERS;
    case TARGET_LINE:
        return PAGE_SOURCE;
    case TARGET_MODULE:
    case TARGET_NAMESPACE:
        return PAGE_METHODS;
    case TARGET_THREAD:
    case TARGET_SLICE:
        return PAGE_ONLY;
    case TARGET_NONE:
        break;
    }
    return t->key == MODEL_BY_SIZE ? PAGE_DONE : PAGE_TREE;
}

static enum page_answer key(struct page *page, int key)
{
    struct ranking_page *p = page_of(page);

    if (key == 't' && ranking_has_total(p->ranking.key)) {
        p->total = !p->total;
        sort(page);
        return PAGE_DONE;
    }
    if (key == KEY_ENTER || key == ' ' || key == KEY_RIGHT || key == 'l')
        return p->ranking.count ? entered(page) : PAGE_DONE;
    if (key == KEY_LEFT || key == 'h')
        return PAGE_BACK;
    return PAGE_NOT_MINE;
}

static void fini(struct page *page)
{
    ranking_fini(&page_of(page)->ranking);
}

static const struct page_ops *ops_of(enum view_kind kind)
{
#define OPS(hint, nothing) \
    { \
        count, heads, draw, hits, key, fini, target, .sort = sort, .keys = (hint), \
                                                     .empty = (nothing) \
    }
#define NOTHING "Nothing is let through."
    static const struct page_ops
        types = OPS("enter who makes it", NOTHING),
        methods = OPS("enter callers  t self/total", NOTHING),
        lines =
            OPS("enter source  t self/total",
                "No line is known: the modules have no PDBs. --symbols DIR says where they are."),
        groups = OPS("enter its methods  t self/total", NOTHING),
        threads = OPS("enter only this thread", NOTHING), logs = OPS("enter tree", NOTHING),
        slices = OPS("enter only this time", "The log has sums of call sites, which have no "
                                             "times; record without --log sites."),
        others = OPS("s bytes/objects", NOTHING);
#undef NOTHING
#undef OPS

    if (kind == RANKING_LOGS)
        return &logs;
    switch (view_key(kind)) {
    case MODEL_BY_TYPE:
        return &types;
    case MODEL_BY_METHOD:
        return &methods;
    case MODEL_BY_LINE:
    case MODEL_BY_OWN:
        return &lines;
    case MODEL_BY_MODULE:
    case MODEL_BY_NAMESPACE:
        return &groups;
    case MODEL_BY_THREAD:
        return &threads;
    case MODEL_BY_SLICE:
        return &slices;
    default:
        return &others;
    }
}

static void set_title(struct ranking_page *p, const struct target *only)
{
    const struct ranking of = {.key = only->kind == TARGET_MODULE ? MODEL_BY_MODULE
                                                                  : MODEL_BY_NAMESPACE};
    const struct ranking_row row = {.target = *only};
    struct buffer name = BUFFER_INIT;

    snprintf(p->page.title, sizeof(p->page.title), "methods of %s",
             ranking_name(p->page.data, &of, &row, &name));
    buffer_free(&name);
}

struct page *page_ranking(struct data *d, enum view_kind kind, const struct target *only)
{
    struct ranking_page *p = page_new(ops_of(kind), sizeof(*p), d);

    if (!p)
        return NULL;
    if ((kind != RANKING_LOGS && view_key(kind) == MODEL_BY_NAMESPACE && data_namespaces(d)) ||
        ranking_make(d, kind, only, &p->ranking)) {
        page_free(&p->page);
        return NULL;
    }
    if (only)
        set_title(p, only);
    find_most(p);
    return &p->page;
}
