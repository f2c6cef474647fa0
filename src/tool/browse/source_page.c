/* A source file, with what each line allocates itself and with all that it calls. */
#include "browse/page.h"

#include "terminal/key.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/order.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX (1u << 20)

struct source_page {
    struct page page;
    const char *file; /* as the compiler wrote it */
    char *text;
    size_t size;
    char **lines;
    size_t count, capacity;
    /* The lines; below the first of several those amounts that may be of any of them. */
    struct source_row {
        uint32_t line, line_last; /* as in struct model_place */
        double self[DATA_SUMS], total[DATA_SUMS];
    } * rows;
    size_t row_count, row_capacity;
};

static struct source_page *page_of(const struct page *page)
{
    return (struct source_page *)(uintptr_t)page;
}

static size_t count(const struct page *page)
{
    return page_of(page)->row_count;
}

static void heads(const struct page *page, struct canvas *c, int row)
{
    canvas_put(c, row, page_heads(page, c, row, true), c->columns, CANVAS_BOLD,
               page_of(page)->file);
}

/* Tabs as blanks. Source is shown from its beginning: only what is too long is cut. */
static void put_source(struct canvas *c, int row, int column, unsigned style, const char *text)
{
    int begin = column;
    char letter[2] = " ";

    for (; *text; text++) {
        size_t run = strcspn(text, "\t");

        if (run) {
            struct buffer part = BUFFER_INIT;

            buffer_append(&part, text, run);
            column = canvas_put(c, row, column, c->columns, style, part.failed ? "" : part.data);
            buffer_free(&part);
            text += run - 1;
            continue;
        }
        do
            column = canvas_put(c, row, column, c->columns, style, letter);
        while ((column - begin) % 4 && column < c->columns);
    }
}

static bool has_any(const struct source_row *row)
{
    return row->total[0] > 0 || row->self[0] > 0;
}

static const char *text_of(const struct source_page *p, size_t index)
{
    return p->rows[index].line_last ? "(one of these lines)" : p->lines[p->rows[index].line - 1];
}

static void draw(const struct page *page, struct canvas *c, int row, size_t index)
{
    const struct source_page *p = page_of(page);
    const struct source_row *of = &p->rows[index];
    struct buffer number = BUFFER_INIT;
    int column = page_width(page, c, true);

    if (has_any(of))
        page_amounts(page, c, row, of->total, of->self, true);
    source_line_put(&number, of->line, of->line_last);
    if (c->columns >= 40) {
        canvas_right(c, row, column, 5, CANVAS_DIM, number.failed ? "" : number.data + 1);
        column += 7;
    }
    put_source(c, row, column, has_any(of) ? CANVAS_BOLD : CANVAS_PLAIN, text_of(p, index));
    buffer_free(&number);
}

static void target(const struct page *page, struct target *out)
{
    const struct source_page *p = page_of(page);
    const struct source_row *row = &p->rows[page->list.cursor];

    *out = (struct target){
        .kind = TARGET_LINE, .file = p->file, .line = row->line, .line_last = row->line_last};
}

static bool hits(const struct page *page, size_t index)
{
    return search_hits(&page->data->search, text_of(page_of(page), index));
}

/* To the next line with something on it. */
static enum page_answer to_next(struct page *page, bool forward)
{
    const struct source_page *p = page_of(page);
    size_t at = page->list.cursor;

    for (size_t i = 0; i < p->row_count; i++) {
        at = forward ? (at + 1) % p->row_count : (at + p->row_count - 1) % p->row_count;
        if (has_any(&p->rows[at])) {
            list_at(&page->list, at);
            break;
        }
    }
    return PAGE_DONE;
}

static enum page_answer key(struct page *page, int key)
{
    switch (key) {
    case 'q':
    case KEY_LEFT:
    case 'h':
        return PAGE_BACK;
    case KEY_ENTER:
        return PAGE_CALLERS;
    case '+':
    case '-':
        return to_next(page, key == '+');
    }
    return PAGE_NOT_MINE;
}

static void fini(struct page *page)
{
    struct source_page *p = page_of(page);

    memory_free_all(p->text, p->lines, p->rows);
}

/* ---- making it ---- */

static int split(struct source_page *p)
{
    char *line = p->text;

    while (line && *line && p->count < LINES_MAX) {
        char *end = strchr(line, '\n');

        if (!array_reserve(&p->lines, &p->capacity, p->count + 1))
            return -ENOMEM;
        p->lines[p->count++] = line;
        if (end) {
            *end = '\0';
            if (end > line && end[-1] == '\r')
                end[-1] = '\0';
        }
        line = end ? end + 1 : NULL;
    }
    return 0;
}

static int add_row(struct source_page *p, const struct source_row *row)
{
    if (!array_reserve(&p->rows, &p->row_capacity, p->row_count + 1))
        return -ENOMEM;
    p->rows[p->row_count++] = *row;
    return 0;
}

ORDERED_BY(by_line, struct source_row, ORDER(x->line, y->line), ORDER(x->line_last, y->line_last),
           ORDER(y->total[0], x->total[0]))

/* Each line once: the first, which has what the line allocates, if it does. */
static void join_rows(struct source_page *p)
{
    size_t kept = 0;

    SORT(p->rows, p->row_count, by_line);
    for (size_t i = 0; i < p->row_count; i++)
        if (!kept || p->rows[kept - 1].line != p->rows[i].line ||
            p->rows[kept - 1].line_last != p->rows[i].line_last)
            p->rows[kept++] = p->rows[i];
    p->row_count = kept;
}

static int weigh(struct source_page *p, const struct data *d)
{
    struct ranking table;
    int err = ranking_make(d, VIEW_LINES, NULL, &table);

    for (size_t i = 0; !err && i < table.count; i++) {
        const struct ranking_row *row = &table.rows[i];
        struct source_row to = {.line = row->target.line, .line_last = row->target.line_last};

        if (row->target.kind != TARGET_LINE || row->target.line > p->count ||
            strcmp(row->target.file, p->file) != 0)
            continue;
        memcpy(to.self, row->self, sizeof(row->self));
        memcpy(to.total, row->total, sizeof(row->total));
        err = add_row(p, &to);
    }
    for (uint32_t line = 1; !err && line <= p->count; line++)
        err = add_row(p, &(struct source_row){.line = line});
    if (!err)
        join_rows(p);
    ranking_fini(&table);
    return err;
}

BEFORE_KEY(is_before, struct source_row, uint32_t, x->line < key)

static int load_text(struct source_page *p, const struct data *d, char *why, size_t why_size)
{
    int err = sources_text(&d->sources, p->file, &p->text, &p->size);

    if (err == -ESTALE)
        snprintf(why, why_size, "%.200s is not the file that was compiled", p->file);
    else if (err == -ENOTSUP)
        snprintf(why, why_size, "%.200s: the PDB has no usable hash of it", p->file);
    else if (err)
        snprintf(why, why_size, "cannot read %.200s: %s (--source DIR looks below DIR)", p->file,
                 strerror(-err));
    return err;
}

struct page *page_source(struct data *d, const struct target *t, char *why, size_t why_size)
{
    static const struct page_ops ops = {
        count, heads, draw,   hits,
        key,   fini,  target, .keys = "enter callers  +/- next, last line that allocates"};
    struct source_page *p = page_new(&ops, sizeof(*p), d);
    size_t at;

    snprintf(why, why_size, "out of memory");
    if (!p)
        return NULL;
    p->file = t->file;
    snprintf(p->page.title, sizeof(p->page.title), "source");
    if (load_text(p, d, why, why_size) || split(p) || weigh(p, d)) {
        page_free(&p->page);
        return NULL;
    }
    list_show(&p->page.list, p->row_count, 20);
    at = order_first(p->rows, p->row_count, sizeof(*p->rows), is_before, &t->line);
    list_at(&p->page.list, at && at == p->row_count ? at - 1 : at);
    return &p->page;
}
