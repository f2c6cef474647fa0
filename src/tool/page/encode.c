#include "page/encode.h"

#include "base/order.h"

#include <stdlib.h>

#define PAGE_COLUMN_NAME(name, text) text,
const char *const page_column_names[] = {PAGE_COLUMNS(PAGE_COLUMN_NAME)};
#undef PAGE_COLUMN_NAME

/* ---- Numbers ---- */

static void put(struct page_columns *c, enum page_column column, uint64_t value)
{
    struct buffer *b = &c->column[column].bytes;
    char *to = buffer_reserve(b, 10);
    size_t size = 0;

    c->column[column].count++;
    if (!to)
        return;
    for (; value > 127; value >>= 7)
        to[size++] = (char)(value | 128);
    to[size++] = (char)value;
    b->size += size;
}

/* The sign last: small ones of either sign are short. */
static uint64_t with_sign(int64_t value)
{
    return value < 0 ? ((uint64_t)-value << 1) - 1 : (uint64_t)value << 1;
}

static void put_signed(struct page_columns *c, enum page_column column, int64_t value)
{
    put(c, column, with_sign(value));
}

/* As the processor has it: little-endian. */
static void put_double(struct page_columns *c, enum page_column column, double value)
{
    c->column[column].count++;
    c->column[column].doubles = true;
    buffer_append(&c->column[column].bytes, &value, sizeof(value));
}

/* ---- Order of the tables ---- */

static int by_use(const void *a, const void *b, void *of)
{
    const struct union_place *places = of;
    const struct union_place *left = &places[*(const uint32_t *)a],
                             *right = &places[*(const uint32_t *)b];

    return ORDERS(ORDER(right->kind == MODEL_PLACE_ROOT, left->kind == MODEL_PLACE_ROOT),
                  ORDER(right->uses, left->uses),
                  ORDER(*(const uint32_t *)a, *(const uint32_t *)b));
}

static int by_name(const void *a, const void *b, void *of)
{
    const struct union_name *names = of;
    int order = strcmp(names[*(const uint32_t *)a].full, names[*(const uint32_t *)b].full);

    return order ? order : ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int order_table(void *records, size_t count, int (*by)(const void *, const void *, void *),
                       uint32_t **order, uint32_t **number)
{
    *order = memory_alloc(sizeof(**order) * (count + 1));
    *number = memory_alloc(sizeof(**number) * (count + 1));
    if (!*order || !*number)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        (*order)[i] = (uint32_t)i;
    qsort_r(*order, count, sizeof(**order), by, records);
    for (size_t i = 0; i < count; i++)
        (*number)[(*order)[i]] = (uint32_t)i;
    return 0;
}

/* ---- Columns ---- */

/* What a cell is written as a difference to. */
struct before {
    uint32_t thread, slice;
    struct of_place {
        uint64_t each;
        uint8_t size;
    } * places;
};

static void put_exact(struct page_columns *c, const struct union_cell *cell, struct of_place *last)
{
    uint64_t allocs = (uint64_t)cell->weight[MODEL_ALLOCS];
    uint64_t bytes = (uint64_t)cell->weight[MODEL_BYTES];

    put_signed(c, PAGE_SIZE, cell->size - last->size);
    put(c, PAGE_ALLOCS, allocs ? allocs - 1 : 0);
    put_signed(c, PAGE_BYTES, (int64_t)(bytes - allocs * last->each));
    last->size = cell->size;
    last->each = allocs ? bytes / allocs : 0;
}

static void put_estimated(struct page_columns *c, const struct union_cell *cell)
{
    put(c, PAGE_SIZE, cell->size);
    put_double(c, PAGE_ALLOCS, cell->weight[MODEL_ALLOCS]);
    put_double(c, PAGE_BYTES, cell->weight[MODEL_BYTES]);
    put_double(c, PAGE_BYTES_VARIANCE, cell->weight[MODEL_BYTES_VARIANCE]);
    put_double(c, PAGE_ALLOCS_VARIANCE, cell->weight[MODEL_ALLOCS_VARIANCE]);
    put_double(c, PAGE_BYTES_SEEN, cell->weight[MODEL_SEEN_BYTES]);
    put_double(c, PAGE_ALLOCS_SEEN, cell->weight[MODEL_SAMPLED]);
}

static void put_cells(const struct page_union *u, uint32_t node, bool estimated, bool sides,
                      struct before *before, struct page_columns *columns)
{
    for (uint32_t i = u->first_cell[node]; i < u->first_cell[node + 1]; i++) {
        const struct union_cell *cell = &u->cells[u->cell_order[i]];

        put_signed(columns, PAGE_THREAD, (int64_t)cell->thread - before->thread);
        put_signed(columns, PAGE_SLICE, (int64_t)cell->slice - before->slice);
        before->thread = cell->thread;
        before->slice = cell->slice;
        if (sides)
            put(columns, PAGE_SIDE, cell->side);
        if (estimated)
            put_estimated(columns, cell);
        else
            put_exact(columns, cell, &before->places[u->nodes[node].place]);
    }
}

static int put_tree(const struct page_union *u, bool estimated, bool sides,
                    struct page_columns *columns)
{
    uint32_t *depth = memory_zalloc(u->nodes_count + 1, sizeof(*depth));
    struct before before = {0, 0, memory_zalloc(u->places_count + 1, sizeof(*before.places))};
    uint32_t last = 0;
    int err = depth && before.places ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < u->nodes_count; i++) {
        uint32_t node = u->order[i], place = u->nodes[node].place;
        uint32_t cells = u->first_cell[node + 1] - u->first_cell[node];
        bool type = u->places[place].kind == MODEL_PLACE_TYPE;

        depth[node] = node ? depth[u->nodes[node].parent] + 1 : 0;
        put(columns, PAGE_UP, node ? last + 1 - depth[node] : 0);
        last = depth[node];
        put(columns, PAGE_PLACE, columns->place_number[place]);
        put(columns, PAGE_CELLS, type ? with_sign((int64_t)cells - 1) : cells);
        put_cells(u, node, estimated, sides, &before, columns);
    }
    memory_free_all(depth, before.places);
    return err;
}

static void put_tables(const struct page_union *u, struct page_columns *columns)
{
    for (size_t i = 0; i < u->places_count; i++) {
        const struct union_place *p = &u->places[columns->place_order[i]];

        put(columns, PAGE_PLACE_KIND, p->kind);
        put(columns, PAGE_PLACE_NAME, columns->name_number[p->name]);
        put(columns, PAGE_PLACE_FILE, p->file);
        put(columns, PAGE_PLACE_LINE, p->line);
        put(columns, PAGE_PLACE_LINE_LAST, p->line_last);
        put(columns, PAGE_PLACE_COUNT, p->count);
    }
    for (size_t i = 0; i < u->names_count; i++) {
        put(columns, PAGE_NAME_MODULE, u->names[columns->name_order[i]].module);
        put(columns, PAGE_NAME_OWNER, u->names[columns->name_order[i]].owner);
        put(columns, PAGE_NAME_LINED, u->names[columns->name_order[i]].lined);
        put(columns, PAGE_NAME_LACK, u->names[columns->name_order[i]].lack);
        put(columns, PAGE_NAME_SPACE, u->names[columns->name_order[i]].space);
    }
}

int page_encode(const struct page_union *u, bool estimated, bool sides,
                struct page_columns *columns)
{
    int err;

    *columns = (struct page_columns){0};
    err = order_table(u->places, u->places_count, by_use, &columns->place_order,
                      &columns->place_number);
    if (!err)
        err = order_table(u->names, u->names_count, by_name, &columns->name_order,
                          &columns->name_number);
    if (!err)
        err = put_tree(u, estimated, sides, columns);
    if (err)
        return err;
    put_tables(u, columns);
    for (int i = 0; i < PAGE_COLUMN_COUNT; i++)
        if (columns->column[i].bytes.failed)
            return -ENOMEM;
    return 0;
}

void page_columns_fini(struct page_columns *c)
{
    for (int i = 0; i < PAGE_COLUMN_COUNT; i++)
        buffer_free(&c->column[i].bytes);
    memory_free_all(c->place_order, c->name_order, c->place_number, c->name_number);
}
