#include "report/diff.h"

#include <stdlib.h>

/* Two hashes of what a row is of: 128 bits stand for the names themselves. */
struct key {
    uint64_t a, b;
};

struct entry {
    struct key key;
    struct report_change change;
};

struct report_diff {
    struct entry *entries;
    size_t count, capacity;
    struct index index;
};

static struct key key_of_text(const char *text)
{
    struct key key = {index_hash_bytes(text, strlen(text)), 0xCBF29CE484222325u};

    for (; *text; text++) /* FNV-1a: nothing to do with the other */
        key.b = (key.b ^ (unsigned char)*text) * 0x100000001B3u;
    return key;
}

static struct key key_join(struct key left, struct key right)
{
    return (struct key){index_mix(left.a, right.a),
                        index_mix(left.b ^ 0x5851F42D4C957F2Du, right.b)};
}

static struct key key_number(struct key left, uint64_t number)
{
    return key_join(left, (struct key){number, ~number});
}

static bool entry_equal(const void *context, uint32_t number, const void *key)
{
    const struct key *have = &((const struct report_diff *)context)->entries[number].key;
    const struct key *want = key;

    return have->a == want->a && have->b == want->b;
}

static uint64_t entry_hash(const void *context, uint32_t number)
{
    return ((const struct report_diff *)context)->entries[number].key.a;
}

/* Keys of all paths of one side. Parents come before their children. NULL: no memory. */
static struct key *path_keys(const struct report_defs *d, bool exact)
{
    struct key *methods = memory_zalloc(d->methods.count, sizeof(*methods));
    struct key *paths = memory_zalloc(d->path_count, sizeof(*paths));

    if (!methods || !paths) {
        memory_free(methods);
        memory_free(paths);
        return NULL;
    }
    for (size_t i = 0; i < d->methods.count; i++)
        methods[i] = key_of_text(d->methods.defs[i].name);
    paths[REPORT_PATH_EMPTY] = key_of_text("no frame");
    paths[REPORT_PATH_LOST] = key_of_text("callers not in the log");
    for (size_t i = REPORT_PATH_LOST + 1; i < d->path_count; i++) {
        const struct report_path *path = report_path(d, (uint32_t)i);
        struct key key = key_join(paths[path->parent], methods[path->method]);

        key = key_number(key, path->filter);
        paths[i] = exact ? key_number(key, (uint32_t)path->il) : key;
    }
    memory_free(methods);
    return paths;
}

static struct key thread_key(const struct report_defs *d, uint32_t thread)
{
    const struct report_thread *t = thread ? &d->threads[thread - 1] : NULL;

    if (!t)
        return key_of_text("thread not recorded");
    return t->name ? key_of_text(t->name) : key_number(key_of_text("thread"), t->id);
}

static struct key row_key(const struct report_defs *d, const struct report_row *row,
                          enum report_by by, bool exact, const struct key *paths)
{
    struct key key = key_of_text("no frame");

    switch (by) {
    case REPORT_BY_SITE:
        key = key_join(paths[row->path], key_of_text(report_class(d, row->class_number)->name));
        return exact ? key_number(key, (uint32_t)row->il) : key;
    case REPORT_BY_TYPE:
        return key_of_text(report_class(d, row->class_number)->name);
    case REPORT_BY_METHOD:
        return row->path == REPORT_PATH_EMPTY ? key
                                              : key_of_text(report_method(d, row->method)->name);
    case REPORT_BY_MODULE:
        return row->path == REPORT_PATH_EMPTY ? key
                                              : key_of_text(report_module(d, row->module)->name);
    default:
        return thread_key(d, row->thread);
    }
}

static struct entry *entry_of(struct report_diff *diff, const struct key *key)
{
    struct entry *entries;
    uint32_t number;
    size_t slot = 0;

    if (index_reserve(&diff->index, entry_hash, diff))
        return NULL;
    number = index_find(&diff->index, key->a, entry_equal, diff, key, &slot);
    if (number != INDEX_NONE)
        return &diff->entries[number];
    if (diff->count == diff->capacity) {
        entries = array_grow(diff->entries, &diff->capacity, sizeof(*entries));
        if (!entries)
            return NULL;
        diff->entries = entries;
    }
    diff->entries[diff->count] = (struct entry){.key = *key};
    for (int side = 0; side < REPORT_DIFF_SIDES; side++)
        diff->entries[diff->count].change.side[side].row = REPORT_DIFF_NONE;
    index_put(&diff->index, slot, (uint32_t)diff->count);
    return &diff->entries[diff->count++];
}

static int add_side(struct report_diff *diff, const struct report_sites *sites, int side,
                    enum report_by by, bool exact)
{
    const struct report_defs *d = report_sites_defs(sites);
    struct key *paths = path_keys(d, exact);
    int err = paths ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < report_sites_count(sites); i++) {
        struct report_diff_side *to;
        struct report_row row;
        struct entry *entry;
        struct key key;

        report_sites_row(sites, i, &row);
        key = row_key(d, &row, by, exact, paths);
        entry = entry_of(diff, &key);
        if (!entry) {
            err = -ENOMEM;
            break;
        }
        to = &entry->change.side[side];
        to->allocs += row.allocs;
        to->bytes += row.bytes;
        to->low += row.bytes_range.low;
        to->high += row.bytes_range.high;
        to->row = to->row == REPORT_DIFF_NONE ? i : to->row;
    }
    memory_free(paths);
    return err;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Rows are a log's largest first: the earlier of two, and the newer log's before the older's. */
static size_t rank(const struct report_change *c)
{
    size_t newer = c->side[REPORT_DIFF_NEW].row, older = c->side[REPORT_DIFF_OLD].row;

    return newer != REPORT_DIFF_NONE ? 2 * newer : 2 * older + 1;
}

static int by_change(const void *left, const void *right)
{
    const struct report_change *a = &((const struct entry *)left)->change;
    const struct report_change *b = &((const struct entry *)right)->change;
    uint64_t x = distance(a->side[0].bytes, a->side[1].bytes);
    uint64_t y = distance(b->side[0].bytes, b->side[1].bytes);

    if (x != y)
        return x > y ? -1 : 1;
    x = distance(a->side[0].allocs, a->side[1].allocs);
    y = distance(b->side[0].allocs, b->side[1].allocs);
    if (x != y)
        return x > y ? -1 : 1;
    return rank(a) < rank(b) ? -1 : rank(a) > rank(b);
}

int report_diff_new(const struct report_sites *const sides[REPORT_DIFF_SIDES], enum report_by by,
                    bool exact, struct report_diff **out)
{
    struct report_diff *diff = memory_zalloc(1, sizeof(*diff));
    int err = diff ? 0 : -ENOMEM;

    *out = NULL;
    for (int side = 0; !err && side < REPORT_DIFF_SIDES; side++)
        err = add_side(diff, sides[side], side, by, exact);
    if (err) {
        report_diff_free(diff);
        return err;
    }
    index_free(&diff->index);
    if (diff->count)
        qsort(diff->entries, diff->count, sizeof(*diff->entries), by_change);
    *out = diff;
    return 0;
}

void report_diff_free(struct report_diff *diff)
{
    if (!diff)
        return;
    index_free(&diff->index);
    memory_free(diff->entries);
    memory_free(diff);
}

size_t report_diff_count(const struct report_diff *diff)
{
    return diff->count;
}

const struct report_change *report_diff_change(const struct report_diff *diff, size_t index)
{
    return &diff->entries[index].change;
}

void report_diff_sum(const struct report_diff *diff, struct report_diff_sum *out)
{
    *out = (struct report_diff_sum){0, 0, {0, 0}};
    for (size_t i = 0; i < diff->count; i++) {
        const struct report_diff_side *old = &diff->entries[i].change.side[REPORT_DIFF_OLD];
        const struct report_diff_side *new = &diff->entries[i].change.side[REPORT_DIFF_NEW];

        if (new->row == REPORT_DIFF_NONE)
            out->only[REPORT_DIFF_OLD]++;
        else if (old->row == REPORT_DIFF_NONE)
            out->only[REPORT_DIFF_NEW]++;
        else if (old->allocs == new->allocs && old->bytes == new->bytes)
            out->same++;
        else
            out->changed++;
    }
}

bool report_change_certain(const struct report_change *change)
{
    const struct report_diff_side *a = &change->side[0], *b = &change->side[1];

    return a->high < b->low || b->high < a->low;
}
