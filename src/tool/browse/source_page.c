/* A source file, with what each line allocates itself and with all that it calls. */
#include "browse/page.h"

#include "terminal/key.h"

#include "base/array.h"
#include "base/memory.h"

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
    struct line_sums {
        double self[DATA_SUMS], total[DATA_SUMS];
    } * sums; /* by line, from 1 on */
};

static struct source_page *page_of(const struct page *page)
{
    return (struct source_page *)(uintptr_t)page;
}

static size_t count(const struct page *page)
{
    return page_of(page)->count;
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

static void draw(const struct page *page, struct canvas *c, int row, size_t index)
{
    const struct source_page *p = page_of(page);
    const struct line_sums *sums = &p->sums[index + 1];
    bool any = sums->total[0] > 0 || sums->self[0] > 0;
    int column = page_width(page, c, true);
    char number[16];

    if (any)
        page_amounts(page, c, row, sums->total, sums->self, true);
    snprintf(number, sizeof(number), "%zu", index + 1);
    if (c->columns >= 40) {
        canvas_right(c, row, column, 5, CANVAS_DIM, number);
        column += 7;
    }
    put_source(c, row, column, any ? CANVAS_BOLD : CANVAS_PLAIN, p->lines[index]);
}

static void target(const struct page *page, struct target *out)
{
    const struct source_page *p = page_of(page);

    *out = (struct target){
        .kind = TARGET_LINE, .file = p->file, .line = (uint32_t)page->list.cursor + 1};
}

static bool hits(const struct page *page, size_t index)
{
    return search_hits(&page->data->search, page_of(page)->lines[index]);
}

/* To the next line with something on it. */
static enum page_answer to_next(struct page *page, bool forward)
{
    const struct source_page *p = page_of(page);
    size_t at = page->list.cursor;

    for (size_t i = 0; i < p->count; i++) {
        at = forward ? (at + 1) % p->count : (at + p->count - 1) % p->count;
        if (p->sums[at + 1].total[0] > 0 || p->sums[at + 1].self[0] > 0) {
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

    memory_free_all(p->text, p->lines, p->sums);
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

static int weigh(struct source_page *p, const struct data *d)
{
    struct ranking table;
    int err = ranking_make(d, VIEW_LINES, NULL, &table);

    p->sums = memory_zalloc(p->count + 2, sizeof(*p->sums));
    if (!p->sums && !err)
        err = -ENOMEM;
    for (size_t i = 0; !err && i < table.count; i++) {
        const struct ranking_row *row = &table.rows[i];

        if (row->target.kind != TARGET_LINE || row->target.line > p->count ||
            strcmp(row->target.file, p->file) != 0)
            continue;
        memcpy(p->sums[row->target.line].self, row->self, sizeof(row->self));
        memcpy(p->sums[row->target.line].total, row->total, sizeof(row->total));
    }
    ranking_fini(&table);
    return err;
}

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

    snprintf(why, why_size, "out of memory");
    if (!p)
        return NULL;
    p->file = t->file;
    snprintf(p->page.title, sizeof(p->page.title), "source");
    if (load_text(p, d, why, why_size) || split(p) || weigh(p, d)) {
        page_free(&p->page);
        return NULL;
    }
    list_show(&p->page.list, p->count, 20);
    list_at(&p->page.list, t->line ? t->line - 1 : 0);
    return &p->page;
}
