/* The call tree, top down: data's `shown`. */
#include "browse/outline_page.h"

#include "base/array.h"
#include "base/memory.h"

#include <errno.h>

struct tree_page {
    struct outline_page outline; /* of: the tree */
    /* What the search number `searched` finds: places, and how many nodes at and below each. */
    unsigned searched;
    uint8_t *hit;    /* by place */
    uint32_t *below; /* by node: hits in its subtree without itself */
};

static const struct model_tree *tree_of(const struct outline_page *p)
{
    return p->of;
}

static void node(const struct outline_page *p, uint32_t number, struct outline_node *out)
{
    const struct model_tree *t = tree_of(p);

    *out = (struct outline_node){.place = &t->places[t->nodes[number].place]};
    data_add(out->self, t->self, number);
    data_add(out->total, t->total, number);
}

static bool has_children(void *page, uint32_t number)
{
    return tree_of(page)->nodes[number].end > number + 1;
}

static int children(void *page, uint32_t number, struct outline_children *out)
{
    const struct model_tree *t = tree_of(page);
    uint32_t end = t->nodes[number].end;

    for (uint32_t child = number + 1; child < end; child = t->nodes[child].end) {
        if (!array_reserve(&out->nodes, &out->capacity, out->count + 1))
            return -ENOMEM;
        out->nodes[out->count++] = child;
    }
    return outline_page_sort(page, out);
}

/* ---- searching ---- */

static int search(struct tree_page *p)
{
    const struct data *d = p->outline.page.data;
    const struct model_tree *t = tree_of(&p->outline);

    if (p->hit && p->searched == d->search.number)
        return 0;
    memory_free_all(p->hit, p->below);
    p->hit = memory_zalloc(t->place_count + 1, sizeof(*p->hit));
    p->below = memory_zalloc(t->node_count + 1, sizeof(*p->below));
    if (!p->hit || !p->below) {
        memory_free_all(p->hit, p->below);
        p->hit = NULL;
        p->below = NULL;
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < t->place_count; i++)
        p->hit[i] = data_hits(d, &t->places[i]);
    for (uint32_t i = t->node_count; i-- > 1;)
        p->below[t->nodes[i].parent] += p->below[i] + p->hit[t->nodes[i].place];
    p->searched = d->search.number;
    return 0;
}

static bool hits(const struct tree_page *p, uint32_t number)
{
    return p->hit[tree_of(&p->outline)->nodes[number].place];
}

static bool any(const struct tree_page *p, uint32_t number)
{
    return hits(p, number) || p->below[number];
}

/* The first, or last, child with a hit in [from, to) of a node's children. */
static bool child_with(const struct tree_page *p, const struct outline_children *of, size_t from,
                       size_t to, bool first, uint32_t *out)
{
    for (size_t i = from; i < to; i++) {
        uint32_t child = of->nodes[first ? i : to - 1 - (i - from)];

        if (any(p, child)) {
            *out = child;
            return true;
        }
    }
    return false;
}

static int ask(struct tree_page *p, uint32_t number, struct outline_children *out)
{
    out->count = 0;
    return children(p, number, out);
}

static size_t index_of(const struct outline_children *of, uint32_t child)
{
    size_t i = 0;

    while (i < of->count && of->nodes[i] != child)
        i++;
    return i;
}

/* Down from a node with hits below: to the last hit of its subtree in the order of rows. */
static int last_in(struct tree_page *p, struct outline_children *of, uint32_t *at)
{
    uint32_t next;

    while (p->below[*at]) {
        if (ask(p, *at, of))
            return -ENOMEM;
        if (child_with(p, of, 0, of->count, false, &next))
            *at = next;
    }
    return 0;
}

/* Down to the first hit at or below a node. */
static int first_in(struct tree_page *p, struct outline_children *of, uint32_t *at)
{
    uint32_t next;

    while (!hits(p, *at)) {
        if (ask(p, *at, of))
            return -ENOMEM;
        if (!child_with(p, of, 0, of->count, true, &next))
            return 0;
        *at = next;
    }
    return 0;
}

/* The hit behind *at in the order in which all rows would be shown; the root: round. */
static int next_hit(struct tree_page *p, struct outline_children *of, uint32_t *at)
{
    const struct model_node *nodes = tree_of(&p->outline)->nodes;
    uint32_t here = *at, next;

    if (p->below[here]) {
        if (ask(p, here, of))
            return -ENOMEM;
        if (child_with(p, of, 0, of->count, true, at))
            return first_in(p, of, at);
    }
    for (; here; here = nodes[here].parent) {
        if (ask(p, nodes[here].parent, of))
            return -ENOMEM;
        if (child_with(p, of, index_of(of, here) + 1, of->count, true, &next)) {
            *at = next;
            return first_in(p, of, at);
        }
    }
    *at = 0;
    return first_in(p, of, at);
}

static int last_hit(struct tree_page *p, struct outline_children *of, uint32_t *at)
{
    const struct model_node *nodes = tree_of(&p->outline)->nodes;
    uint32_t here = *at, next;

    for (; here; here = nodes[here].parent) {
        if (ask(p, nodes[here].parent, of))
            return -ENOMEM;
        if (child_with(p, of, 0, index_of(of, here), false, &next)) {
            *at = next;
            return last_in(p, of, at);
        }
        if (hits(p, nodes[here].parent)) {
            *at = nodes[here].parent;
            return 0;
        }
    }
    *at = 0;
    return last_in(p, of, at);
}

static int show(struct tree_page *p, uint32_t at)
{
    const struct model_node *nodes = tree_of(&p->outline)->nodes;
    uint32_t *path = memory_alloc((nodes[at].depth + 1) * sizeof(*path));
    size_t length = nodes[at].depth + 1;
    int err;

    if (!path)
        return -ENOMEM;
    for (size_t i = length; i-- > 0; at = nodes[at].parent)
        path[i] = at;
    err = outline_page_show(&p->outline, path, length);
    memory_free(path);
    return err;
}

static bool find(struct page *page, bool forward)
{
    struct tree_page *p = (struct tree_page *)page;
    struct outline_children of = {NULL, 0, 0};
    uint32_t at = p->outline.outline.rows[page->list.cursor].node;
    bool found = !search(p) && any(p, 0);

    if (found)
        found = !(forward ? next_hit(p, &of, &at) : last_hit(p, &of, &at)) && !show(p, at);
    memory_free(of.nodes);
    return found;
}

static void free_tree(struct outline_page *page)
{
    struct tree_page *p = (struct tree_page *)page;

    memory_free_all(p->hit, p->below);
}

struct page *page_tree(struct data *d)
{
    static const struct outline_node_ops nodes = {node, children, has_children, free_tree, find};
    struct tree_page *p = outline_page_new(&nodes, sizeof(*p), d, d->shown);

    return p ? &p->outline.page : NULL;
}
