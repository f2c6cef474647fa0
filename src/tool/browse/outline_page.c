#include "browse/outline_page.h"

#include "terminal/key.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/order.h"

#include <errno.h>
#include <stdlib.h>

#define OPEN_ALL 20000 /* rows that "*" opens at most */

static struct outline_page *page_of(const struct page *page)
{
    return (struct outline_page *)(uintptr_t)page;
}

static const struct outline_row *row_at(const struct outline_page *p, size_t index)
{
    return &p->outline.rows[index < p->outline.count ? index : 0];
}

/* ---- drawing ---- */

static size_t count(const struct page *page)
{
    return page_of(page)->outline.count;
}

static void heads(const struct page *page, struct canvas *c, int row)
{
    canvas_put(c, row, page_heads(page, c, row, true), c->columns, CANVAS_BOLD, "  call path");
}

/* How far rows are moved to the left, so that the one under the cursor has room for its name. */
static int shift(const struct page *page, int room, int step)
{
    int indent = (int)row_at(page_of(page), page->list.cursor)->depth * step;
    int most = room / 2 > 30 ? room - 40 : room / 3;

    return indent > most ? indent - most : 0;
}

static void draw(const struct page *page, struct canvas *c, int row, size_t index)
{
    const struct outline_page *p = page_of(page);
    const struct outline_row *r = row_at(p, index);
    struct buffer name = BUFFER_INIT, where = BUFFER_INIT;
    struct outline_node node;
    struct target of;
    int column, step = c->columns < 60 ? 1 : 2, indent;
    unsigned style;

    p->nodes->node(p, r->node, &node);
    style = node.place->kind == MODEL_PLACE_TYPE ? CANVAS_CYAN : CANVAS_PLAIN;
    if (node.place->own)
        style = CANVAS_BOLD | CANVAS_GREEN;
    column = page_amounts(page, c, row, node.total, node.self, true);
    indent = (int)r->depth * step - shift(page, c->columns - column, step);
    if (indent < 0) {
        canvas_put(c, row, column, 1, CANVAS_DIM, "<");
        indent = 0;
    }
    column += indent;
    canvas_put(c, row, column + 1, 1, CANVAS_BOLD,
               r->open                                                              ? "-"
               : p->outline.source.has_children(p->outline.source.context, r->node) ? "+"
                                                                                    : " ");
    canvas_put(c, row, column + 2, 1, style, node.place->own ? "*" : "");
    if (data_hits(page->data, node.place))
        style |= CANVAS_UNDERLINE;
    data_target(node.place, &of);
    column = canvas_put(c, row, column + 3, c->columns, style,
                        node.place->kind == MODEL_PLACE_TYPE ? "new " : "");
    page_name(c, row, column, style, data_place(page->data, node.place, &name),
              data_file_line(&of, &where));
    buffer_free(&name);
    buffer_free(&where);
}

static void target(const struct page *page, struct target *out)
{
    struct outline_node node;
    const struct outline_page *p = page_of(page);

    p->nodes->node(p, row_at(p, page->list.cursor)->node, &node);
    data_target(node.place, out);
}

/* ---- children ---- */

struct weighed {
    double weight;
    uint32_t node, order;
};

ORDERED_BY(heavier, struct weighed, ORDER(y->weight, x->weight), ORDER(x->order, y->order))

int outline_page_sort(const struct outline_page *p, struct outline_children *children)
{
    struct weighed *sorted;
    struct outline_node node;

    if (p->page.data->sort == MODEL_BYTES || children->count < 2)
        return 0; /* they are */
    sorted = memory_alloc(children->count * sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < children->count; i++) {
        p->nodes->node(p, children->nodes[i], &node);
        sorted[i] = (struct weighed){node.total[1], children->nodes[i], (uint32_t)i};
    }
    SORT(sorted, children->count, heavier);
    for (size_t i = 0; i < children->count; i++)
        children->nodes[i] = sorted[i].node;
    memory_free(sorted);
    return 0;
}

/* ---- opening ---- */

/* From a row on down, to where no child stands out; at least one step. */
static int heaviest_path(struct outline_page *p, size_t row, uint32_t **path, size_t *length)
{
    struct outline_children children = {NULL, 0, 0};
    struct outline_node parent, child;
    int weight = p->page.data->sort == MODEL_ALLOCS, err = 0;
    size_t capacity = 0;
    uint32_t at = row_at(p, row)->node;

    for (*length = 0; !err;) {
        if (!array_reserve(path, &capacity, *length + 1)) {
            err = -ENOMEM;
            break;
        }
        (*path)[(*length)++] = at;
        children.count = 0;
        err = p->nodes->children(p, at, &children);
        if (err || !children.count)
            break;
        p->nodes->node(p, at, &parent);
        p->nodes->node(p, children.nodes[0], &child);
        if (*length > 1 && child.total[weight] < PAGE_HEAVY * parent.total[weight])
            break;
        at = children.nodes[0];
    }
    memory_free(children.nodes);
    return err;
}

static int open_heaviest(struct outline_page *p)
{
    uint32_t *path = NULL;
    size_t length, at = p->page.list.cursor;
    int err = heaviest_path(p, at, &path, &length);

    if (!err)
        err = outline_open_path(&p->outline, at, path, length, &at);
    memory_free(path);
    list_show(&p->page.list, p->outline.count, p->page.list.height);
    if (!err)
        list_at(&p->page.list, at);
    return err;
}

int outline_page_show(struct outline_page *p, const uint32_t *path, size_t length)
{
    size_t row = 0, i = 0, at;
    int err;

    /* As far as it is open: rows of siblings stay as they are. */
    while (i + 1 < length && p->outline.rows[row].open) {
        size_t next = row + 1;

        while (next < p->outline.count &&
               p->outline.rows[next].depth > p->outline.rows[row].depth &&
               (p->outline.rows[next].depth != p->outline.rows[row].depth + 1 ||
                p->outline.rows[next].node != path[i + 1]))
            next++;
        if (next == p->outline.count || p->outline.rows[next].node != path[i + 1])
            break;
        row = next;
        i++;
    }
    at = row;
    err = i + 1 < length ? outline_open_path(&p->outline, row, path + i, length - i, &at) : 0;
    list_show(&p->page.list, p->outline.count, p->page.list.height);
    if (!err)
        list_at(&p->page.list, at);
    return err;
}

/* A row that is open closes; one that is not: its parent goes under the cursor. */
static void close_or_up(struct outline_page *p)
{
    size_t at = p->page.list.cursor;

    if (row_at(p, at)->open)
        outline_close(&p->outline, at);
    else
        list_at(&p->page.list, outline_parent(&p->outline, at));
}

static int open_or_down(struct outline_page *p)
{
    size_t at = p->page.list.cursor;

    if (!row_at(p, at)->open)
        return outline_open(&p->outline, at);
    list_key(&p->page.list, KEY_DOWN);
    return 0;
}

static int toggle(struct outline_page *p)
{
    size_t at = p->page.list.cursor;

    if (!row_at(p, at)->open)
        return outline_open(&p->outline, at);
    outline_close(&p->outline, at);
    return 0;
}

static int open_all(struct outline_page *p)
{
    int err = outline_open_all(&p->outline, p->page.list.cursor, OPEN_ALL);

    return err == -E2BIG ? 0 : err;
}

static enum page_answer key(struct page *page, int key)
{
    struct outline_page *p = page_of(page);
    int err = 0;

    switch (key) {
    case KEY_ENTER:
    case ' ':
        err = toggle(p);
        break;
    case KEY_RIGHT:
    case 'l':
        err = open_or_down(p);
        break;
    case KEY_LEFT:
    case 'h':
        close_or_up(p);
        break;
    case '+':
        err = outline_open(&p->outline, page->list.cursor);
        break;
    case '-':
        outline_close(&p->outline, page->list.cursor);
        break;
    case '*':
        err = open_all(p);
        break;
    case 'H':
        err = open_heaviest(p);
        break;
    default:
        return PAGE_NOT_MINE;
    }
    list_show(&page->list, p->outline.count, page->list.height);
    return err ? PAGE_FAILED : PAGE_DONE;
}

/* ---- beginning and end ---- */

static void fini(struct page *page)
{
    struct outline_page *p = page_of(page);

    p->nodes->free(p);
    outline_fini(&p->outline);
}

static bool hits(const struct page *page, size_t index)
{
    const struct outline_page *p = page_of(page);
    struct outline_node n;

    p->nodes->node(p, row_at(p, index)->node, &n);
    return data_hits(page->data, n.place);
}

static bool find(struct page *page, bool forward)
{
    const struct outline_node_ops *nodes = page_of(page)->nodes;

    return nodes->find ? nodes->find(page, forward) : page_find_row(page, forward);
}

/* Only the first row stays open: what is open below was in the other order. */
static int sort(struct page *page)
{
    struct outline_page *p = page_of(page);

    outline_close(&p->outline, 0);
    page->list.cursor = 0;
    return outline_open(&p->outline, 0);
}

void *outline_page_new(const struct outline_node_ops *nodes, size_t size, struct data *d, void *of)
{
    static const struct page_ops ops = {
        count, heads,  draw, hits, key,
        fini,  target, find, sort, .keys = "enter open  H heaviest path  * all"};
    struct outline_page *p = page_new(&ops, size, d);
    const struct outline_source source = {nodes->children, nodes->has_children, p};

    if (!p)
        return NULL;
    p->nodes = nodes;
    p->of = of;
    if (outline_init(&p->outline, &source, 0) || outline_open(&p->outline, 0)) {
        p->of = NULL; /* still the caller's */
        page_free(&p->page);
        return NULL;
    }
    return p;
}
