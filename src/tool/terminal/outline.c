#include "terminal/outline.h"

#include "base/array.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

int outline_init(struct outline *t, const struct outline_source *source, uint32_t root)
{
    *t = (struct outline){.source = *source};
    if (!array_reserve(&t->rows, &t->capacity, 1))
        return -ENOMEM;
    t->rows[0] = (struct outline_row){.node = root};
    t->count = 1;
    return 0;
}

void outline_fini(struct outline *t)
{
    memory_free(t->rows);
    memory_free(t->children.nodes);
    *t = (struct outline){.count = 0};
}

size_t outline_end(const struct outline *t, size_t row)
{
    size_t end = row + 1;

    while (end < t->count && t->rows[end].depth > t->rows[row].depth)
        end++;
    return end;
}

size_t outline_parent(const struct outline *t, size_t row)
{
    size_t at = row;

    while (at > 0 && t->rows[at].depth >= t->rows[row].depth)
        at--;
    return at;
}

static bool opens(const struct outline *t, size_t row)
{
    return row < t->count && !t->rows[row].open &&
           t->source.has_children(t->source.context, t->rows[row].node);
}

/* Room for `count` rows after `row`, which the caller fills. */
static int insert(struct outline *t, size_t row, size_t count)
{
    if (!array_reserve(&t->rows, &t->capacity, t->count + count))
        return -ENOMEM;
    memmove(t->rows + row + 1 + count, t->rows + row + 1, (t->count - row - 1) * sizeof(*t->rows));
    t->count += count;
    return 0;
}

static int ask(struct outline *t, uint32_t node)
{
    t->children.count = 0;
    return t->source.children(t->source.context, node, &t->children);
}

static struct outline_row child_row(const struct outline_row *parent, uint32_t node)
{
    return (struct outline_row){.node = node, .depth = (parent->depth + 1) & 0x7fffffff};
}

int outline_open(struct outline *t, size_t row)
{
    int err;

    if (!opens(t, row))
        return 0;
    err = ask(t, t->rows[row].node);
    if (!err)
        err = insert(t, row, t->children.count);
    if (err)
        return err;
    t->rows[row].open = 1;
    for (size_t i = 0; i < t->children.count; i++)
        t->rows[row + 1 + i] = child_row(&t->rows[row], t->children.nodes[i]);
    return 0;
}

void outline_close(struct outline *t, size_t row)
{
    size_t end;

    if (row >= t->count || !t->rows[row].open)
        return;
    end = outline_end(t, row);
    memmove(t->rows + row + 1, t->rows + end, (t->count - end) * sizeof(*t->rows));
    t->count -= end - row - 1;
    t->rows[row].open = 0;
}

/* The rows of a subtree in a list of their own, so that no row moves more than once. */
struct run {
    struct outline_row *rows;
    size_t count, capacity;
};

static int push(struct run *run, struct outline_row row)
{
    if (!array_reserve(&run->rows, &run->capacity, run->count + 1))
        return -ENOMEM;
    run->rows[run->count++] = row;
    return 0;
}

/* Replaces the open rows below the row. */
static int put_run(struct outline *t, size_t row, const struct run *run)
{
    int err;

    outline_close(t, row);
    err = insert(t, row, run->count);
    if (err || !run->count)
        return err;
    memcpy(t->rows + row + 1, run->rows, run->count * sizeof(*run->rows));
    t->rows[row].open = 1;
    return 0;
}

/* todo: rows that are to follow, the next one last. */
static int push_children(struct outline *t, const struct outline_row *parent, struct run *todo)
{
    int err = ask(t, parent->node);

    for (size_t i = t->children.count; i > 0 && !err; i--)
        err = push(todo, child_row(parent, t->children.nodes[i - 1]));
    return err;
}

int outline_open_all(struct outline *t, size_t row, size_t most)
{
    struct run run = {NULL, 0, 0}, todo = {NULL, 0, 0};
    struct outline_row next = t->rows[row];
    int err = push_children(t, &next, &todo);

    while (todo.count && !err && run.count + todo.count <= most) {
        next = todo.rows[--todo.count];
        next.open = t->source.has_children(t->source.context, next.node);
        err = push(&run, next);
        if (!err && next.open)
            err = push_children(t, &next, &todo);
    }
    for (; todo.count && !err; todo.count--) /* too many: closed, so that none is left out */
        err = push(&run, todo.rows[todo.count - 1]);
    if (!err)
        err = put_run(t, row, &run);
    if (!err && run.count > most)
        err = -E2BIG;
    memory_free_all(run.rows, todo.rows);
    return err;
}

/* Of one level: rows up to the one on the path go to the run, those after it wait. */
static int split_level(struct outline *t, const struct outline_row *parent, uint32_t on_path,
                       struct run *run, struct run *behind)
{
    size_t i = 0, n;
    int err = ask(t, parent->node);

    for (n = t->children.count; n > 0 && !err && t->children.nodes[n - 1] != on_path; n--)
        err = push(behind, child_row(parent, t->children.nodes[n - 1]));
    for (; i < n && !err; i++)
        err = push(run, child_row(parent, t->children.nodes[i]));
    return err;
}

int outline_open_path(struct outline *t, size_t row, const uint32_t *path, size_t length,
                      size_t *at)
{
    struct run run = {NULL, 0, 0}, behind = {NULL, 0, 0};
    struct outline_row parent = t->rows[row];
    int err = 0;

    *at = row;
    for (size_t i = 1; i < length && !err; i++) {
        if (i > 1)
            run.rows[run.count - 1].open = 1;
        err = split_level(t, &parent, path[i], &run, &behind);
        if (err || !run.count || run.rows[run.count - 1].node != path[i])
            break; /* no child of it: the path ends here */
        parent = run.rows[run.count - 1];
        *at = row + run.count;
    }
    for (; behind.count && !err; behind.count--)
        err = push(&run, behind.rows[behind.count - 1]);
    if (!err && length > 1)
        err = put_run(t, row, &run);
    memory_free_all(run.rows, behind.rows);
    return err;
}
