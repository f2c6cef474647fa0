#include "browse/page.h"

#include "terminal/fit.h"
#include "terminal/letter.h"

#include "base/buffer.h"
#include "base/memory.h"

void *page_new(const struct page_ops *ops, size_t size, struct data *d)
{
    struct page *page = memory_zalloc(1, size);

    if (page) {
        page->ops = ops;
        page->data = d;
    }
    return page;
}

void page_free(struct page *page)
{
    if (page && page->ops->fini)
        page->ops->fini(page);
    memory_free(page);
}

void page_target(const struct page *page, struct target *out)
{
    *out = (struct target){.kind = TARGET_NONE};
    if (page->ops->target)
        page->ops->target(page, out);
}

int page_sort(struct page *page)
{
    return page->ops->sort ? page->ops->sort(page) : 0;
}

bool page_find(struct page *page, bool forward)
{
    return page->ops->find ? page->ops->find(page, forward) : page_find_row(page, forward);
}

bool page_find_row(struct page *page, bool forward)
{
    size_t count = page->ops->count(page), at = page->list.cursor;

    for (size_t i = 0; i < count; i++) {
        at = forward ? (at + 1 < count ? at + 1 : 0) : (at ? at - 1 : count - 1);
        if (page->ops->hits(page, at)) {
            list_at(&page->list, at);
            return true;
        }
    }
    return false;
}

#define SHARE  7
#define AMOUNT 11
#define RANGE  15

/* Which columns a screen of that width has room for. */
static bool has_amount(const struct canvas *c)
{
    return c->columns >= 40;
}

static bool has_objects(const struct canvas *c)
{
    return c->columns >= 64;
}

static bool has_self(const struct canvas *c)
{
    return c->columns >= 90;
}

/* Of an estimate: how far the exact bytes may be from it. */
static bool has_range(const struct page *page, const struct canvas *c)
{
    return c->columns >= 110 && data_has_ranges(page->data);
}

/* The sum that rows are sorted by comes first, then the others. */
static void put(struct canvas *c, int row, int *column, int width, unsigned style, const char *text)
{
    canvas_right(c, row, *column, width, style, text);
    *column += width;
}

int page_width(const struct page *page, const struct canvas *c, bool has_total)
{
    return SHARE + (has_amount(c) ? AMOUNT : 0) + (has_total && has_self(c) ? AMOUNT : 0) +
           (has_objects(c) ? AMOUNT : 0) + (has_range(page, c) ? RANGE : 0);
}

int page_heads(const struct page *page, struct canvas *c, int row, bool has_total)
{
    bool bytes = page->data->sort == MODEL_BYTES;
    const char *main = has_total ? "total" : bytes ? "bytes" : "objects";
    int column = 0;

    put(c, row, &column, SHARE - 1, CANVAS_BOLD, bytes ? "bytes%" : "objs%");
    if (has_amount(c))
        put(c, row, &column, AMOUNT, CANVAS_BOLD, main);
    if (has_total && has_self(c))
        put(c, row, &column, AMOUNT, CANVAS_BOLD, "self");
    if (has_objects(c))
        put(c, row, &column, AMOUNT, CANVAS_BOLD, bytes ? "objects" : "bytes");
    if (has_range(page, c))
        put(c, row, &column, RANGE, CANVAS_BOLD, "95% of bytes");
    return column + 1;
}

int page_amounts(const struct page *page, struct canvas *c, int row, const double total[DATA_SUMS],
                 const double self[DATA_SUMS], bool has_total)
{
    const struct data *d = page->data;
    int main = d->sort == MODEL_ALLOCS, column = 0;
    enum model_weight others = main ? MODEL_BYTES : MODEL_ALLOCS;
    double all = data_total(d, d->sort), share = all > 0 ? total[main] / all : 0;
    unsigned style = share >= 0.1 ? CANVAS_BOLD | CANVAS_RED : share < 0.01 ? CANVAS_DIM : 0;
    struct data_number n;

    put(c, row, &column, SHARE - 1, style, data_share(d, &n, total[main]));
    if (has_amount(c))
        put(c, row, &column, AMOUNT, CANVAS_PLAIN, data_sum(d, &n, d->sort, total));
    if (has_total && has_self(c))
        put(c, row, &column, AMOUNT, CANVAS_PLAIN,
            self[main] > 0 ? data_sum(d, &n, d->sort, self) : "");
    if (has_objects(c))
        put(c, row, &column, AMOUNT, CANVAS_DIM, data_sum(d, &n, others, total));
    if (has_range(page, c))
        put(c, row, &column, RANGE, CANVAS_DIM, data_range(d, &n, total));
    return column + 1;
}

void page_name(struct canvas *c, int row, int column, unsigned style, const char *name,
               const char *where)
{
    int room = c->columns - column, beside = (int)letter_columns(where) + 2, end;
    struct buffer fitted = BUFFER_INIT;

    if (room <= 0)
        return;
    if (!*where || room - beside < 16)
        beside = 0;
    end = canvas_put(c, row, column, room - beside, style,
                     fit_name(&fitted, name, (size_t)(room - beside)));
    if (beside)
        canvas_put(c, row, end + 2, c->columns, CANVAS_DIM, where);
    buffer_free(&fitted);
}
