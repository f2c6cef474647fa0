#include "report/diff_internal.h"

#include <stdlib.h>

struct key diff_key_of_text(const char *text)
{
    struct key key = {index_hash_bytes(text, strlen(text)), 0xCBF29CE484222325u};

    for (; *text; text++) /* FNV-1a: nothing to do with the other */
        key.b = (key.b ^ (unsigned char)*text) * 0x100000001B3u;
    return key;
}

struct key diff_key_join(struct key left, struct key right)
{
    return (struct key){index_mix(left.a, right.a),
                        index_mix(left.b ^ 0x5851F42D4C957F2Du, right.b)};
}

static struct key key_number(struct key left, uint64_t number)
{
    return diff_key_join(left, (struct key){number, ~number});
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

/* ---- paths ---- */

/* How a method takes part in the key of a path. */
enum { FRAME, BEGINS, CAST, SEVERAL_CALLERS, AWAITS };

static uint8_t part_of(const char *name)
{
    static const char cast[] = "System.Runtime.CompilerServices.CastHelpers.";
    static const char types[] = "System.Runtime.CompilerServices.TypeHandle.CanCast";

    static const char *const awaits[] = {"TaskAwaiter",
                                         "ValueTaskAwaiter",
                                         "ConfiguredTaskAwaitable",
                                         "ConfiguredValueTaskAwaitable",
                                         "Async",
                                         "PoolingAsync"};
    static const char services[] = "System.Runtime.CompilerServices.";

    if (strncmp(name, services, strlen(services)) == 0)
        for (size_t i = 0; i < COUNT_OF(awaits); i++)
            if (strncmp(name + strlen(services), awaits[i], strlen(awaits[i])) == 0)
                return AWAITS;
    if (strstr(name, "..cctor("))
        return BEGINS;
    if (strncmp(name, cast, strlen(cast)) == 0 || strncmp(name, types, strlen(types)) == 0)
        return CAST;
    return strncmp(name, REPORT_SEVERAL, strlen(REPORT_SEVERAL)) == 0 ? SEVERAL_CALLERS : FRAME;
}

static void paths_fini(struct diff_paths *p)
{
    memory_free(p->methods);
    memory_free(p->parts);
    memory_free(p->folded);
    memory_free(p->as);
    memory_free(p->keys);
    *p = (struct diff_paths){0};
}

static void fold(struct diff_paths *p, uint32_t number)
{
    const struct report_path *path = report_path(p->defs, number);
    uint32_t parent = p->as[path->parent];
    uint8_t part = p->parts[path->method];

    if (part == AWAITS) { /* how much of it is inlined depends on when it was compiled again */
        p->as[number] = parent;
        p->keys[number] = p->keys[parent];
        return;
    }
    if (part == CAST) { /* the first that casts so makes the cache grow */
        parent = REPORT_PATH_EMPTY;
    } else if (part == BEGINS) {
        parent = REPORT_PATH_EMPTY;
    } else {
        for (uint32_t at = parent; at > REPORT_PATH_LOST; at = p->folded[at].parent)
            if (p->folded[at].method == path->method) {
                p->as[number] = at;
                p->keys[number] = p->keys[at];
                return;
            }
    }
    p->as[number] = number;
    p->folded[number] = (struct diff_folded){.parent = parent, .method = path->method};
    p->keys[number] =
        part == CAST ? diff_key_of_text("a cast")
        : part == SEVERAL_CALLERS
            ? diff_key_of_text("several callers")
            : key_number(diff_key_join(p->keys[parent], p->methods[path->method]), path->filter);
}

static void paths_free(struct report_diff *diff)
{
    for (size_t i = 0; diff->paths && i < diff->logs; i++)
        paths_fini(&diff->paths[i]);
    memory_free(diff->paths);
    diff->paths = NULL;
}

static int paths_init(struct diff_paths *p, const struct report_defs *d)
{
    *p = (struct diff_paths){.defs = d};
    p->methods = memory_zalloc(d->methods.count, sizeof(*p->methods));
    p->parts = memory_zalloc(d->methods.count, sizeof(*p->parts));
    p->folded = memory_zalloc(d->path_count, sizeof(*p->folded));
    p->as = memory_zalloc(d->path_count, sizeof(*p->as));
    p->keys = memory_zalloc(d->path_count, sizeof(*p->keys));
    return p->methods && p->parts && p->folded && p->as && p->keys ? 0 : -ENOMEM;
}

/* Keys of all paths of one log; parents come before their children. */
static int paths_make(struct diff_paths *p, const struct report_defs *d, bool exact)
{
    if (paths_init(p, d))
        return -ENOMEM;
    for (size_t i = 0; i < d->methods.count; i++) {
        p->methods[i] = diff_key_of_text(d->methods.defs[i].name);
        p->parts[i] = part_of(d->methods.defs[i].name);
    }
    p->keys[REPORT_PATH_EMPTY] = diff_key_of_text("no frame");
    p->keys[REPORT_PATH_LOST] = diff_key_of_text("callers not in the log");
    p->as[REPORT_PATH_LOST] = REPORT_PATH_LOST;
    for (uint32_t i = REPORT_PATH_LOST + 1; i < d->path_count; i++) {
        const struct report_path *path = report_path(d, i);
        struct key key = diff_key_join(p->keys[path->parent], p->methods[path->method]);

        if (exact)
            p->keys[i] = key_number(key_number(key, path->filter), (uint32_t)path->il);
        else
            fold(p, i);
    }
    return 0;
}

/* ---- rows ---- */

static struct key thread_key(const struct report_defs *d, uint32_t thread)
{
    const struct report_thread *t = thread ? &d->threads[thread - 1] : NULL;

    if (!t)
        return diff_key_of_text("thread not recorded");
    return t->name ? diff_key_of_text(t->name) : key_number(diff_key_of_text("thread"), t->id);
}

static struct key row_key(const struct diff_log *log, const struct report_row *row,
                          enum report_by by, bool exact, const struct key *paths)
{
    const struct report_defs *d = report_sites_defs(log->sites);
    struct key key = diff_key_of_text("no frame");
    struct report_diff_line line;

    switch (by) {
    case REPORT_BY_SITE:
        key = diff_key_join(paths[row->path],
                            diff_key_of_text(report_class(d, row->class_number)->name));
        return exact ? key_number(key, (uint32_t)row->il) : key;
    case REPORT_BY_TYPE:
        return diff_key_of_text(report_class(d, row->class_number)->name);
    case REPORT_BY_METHOD:
        return row->path == REPORT_PATH_EMPTY
                   ? key
                   : diff_key_of_text(report_method(d, row->method)->name);
    case REPORT_BY_MODULE:
        return row->path == REPORT_PATH_EMPTY
                   ? key
                   : diff_key_of_text(report_module(d, row->module)->name);
    case REPORT_BY_LINE: /* not exact, it is one side's: diff_join_lines finds its like */
        return diff_line_of(log, row, &line, &key)
                   ? key_number(exact ? key : key_number(key, (uint64_t)log->side), line.line)
                   : key;
    default:
        return thread_key(d, row->thread);
    }
}

static int grow(struct report_diff *diff)
{
    struct entry *entries = array_grow(diff->entries, &diff->capacity, sizeof(*entries));
    struct amount *amounts;

    if (!entries)
        return -ENOMEM;
    diff->entries = entries;
    amounts = memory_realloc(diff->amounts, diff->capacity * diff->logs * sizeof(*amounts));
    if (!amounts)
        return -ENOMEM;
    diff->amounts = amounts;
    return 0;
}

/* What a log has of the row with that key; NULL: no memory. */
static struct amount *amount_of(struct report_diff *diff, const struct key *key, size_t log)
{
    uint32_t number;
    size_t slot = 0;

    if (index_reserve(&diff->index, entry_hash, diff))
        return NULL;
    number = index_find(&diff->index, key->a, entry_equal, diff, key, &slot);
    if (number == INDEX_NONE) {
        if (diff->count == diff->capacity && grow(diff))
            return NULL;
        number = (uint32_t)diff->count++;
        diff->entries[number] = (struct entry){.key = *key};
        for (size_t i = 0; i < diff->logs; i++)
            diff->amounts[number * diff->logs + i] = (struct amount){.row = REPORT_DIFF_NONE};
        index_put(&diff->index, slot, number);
    }
    return &diff->amounts[number * diff->logs + log];
}

static int add_log(struct report_diff *diff, const struct diff_log *from, size_t log,
                   enum report_by by, bool exact)
{
    struct diff_paths *p = &diff->paths[log];
    int err = by == REPORT_BY_SITE ? paths_make(p, report_sites_defs(from->sites), exact) : 0;

    for (size_t i = 0; !err && i < report_sites_count(from->sites); i++) {
        struct report_row row;
        struct amount *to;
        struct key key;

        report_sites_row(from->sites, i, &row);
        key = row_key(from, &row, by, exact, p->keys);
        to = amount_of(diff, &key, log);
        if (!to) {
            err = -ENOMEM;
            break;
        }
        to->allocs += row.allocs;
        to->bytes += row.bytes;
        to->low += row.bytes_range.low;
        to->high += row.bytes_range.high;
        to->row = to->row == REPORT_DIFF_NONE ? i : to->row;
    }
    if (exact)
        paths_fini(p); /* else they are wanted for what is inlined */
    memory_free(p->keys);
    p->keys = NULL;
    return err;
}

/* ---- rows that become one ---- */

struct diff_log diff_log_of(const struct report_diff_logs sides[REPORT_DIFF_SIDES], size_t log)
{
    int side = log < sides[REPORT_DIFF_OLD].count ? REPORT_DIFF_OLD : REPORT_DIFF_NEW;
    size_t number = side == REPORT_DIFF_OLD ? log : log - sides[REPORT_DIFF_OLD].count;

    return (struct diff_log){&sides[side], sides[side].sites[number], side, number};
}

double diff_mean_of(const struct amount *logs, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)logs[i].bytes;
    return sum / (double)count;
}

size_t diff_row_of(const struct report_diff *diff,
                   const struct report_diff_logs sides[REPORT_DIFF_SIDES], size_t entry,
                   struct report_row *row)
{
    const struct amount *amounts = &diff->amounts[entry * diff->logs];
    size_t log = 0;

    while (amounts[log].row == REPORT_DIFF_NONE)
        log++;
    report_sites_row(diff_log_of(sides, log).sites, amounts[log].row, row);
    return log;
}

void diff_take(struct report_diff *diff, size_t to, size_t from)
{
    struct amount *sums = &diff->amounts[to * diff->logs];
    struct amount *more = &diff->amounts[from * diff->logs];

    for (size_t i = 0; i < diff->logs; i++) {
        sums[i].allocs += more[i].allocs;
        sums[i].bytes += more[i].bytes;
        sums[i].low += more[i].low;
        sums[i].high += more[i].high;
        if (sums[i].row == REPORT_DIFF_NONE)
            sums[i].row = more[i].row;
        more[i] = (struct amount){.row = REPORT_DIFF_NONE};
    }
}

void diff_close_up(struct report_diff *diff)
{
    size_t kept = 0;

    for (size_t i = 0; i < diff->count; i++) {
        const struct amount *from = &diff->amounts[i * diff->logs];
        bool any = false;

        for (size_t log = 0; log < diff->logs; log++)
            any = any || from[log].row != REPORT_DIFF_NONE;
        if (!any)
            continue;
        memmove(&diff->amounts[kept * diff->logs], from, diff->logs * sizeof(*from));
        diff->entries[kept++] = diff->entries[i];
    }
    diff->count = kept;
}

/* ---- sides ---- */

/* One side of a row, from what its logs have of it. */
static void join_side(const struct amount *logs, size_t count, struct report_diff_side *side)
{
    double allocs = 0, bytes = 0, least = 0, most = 0;

    *side = (struct report_diff_side){.row = REPORT_DIFF_NONE};
    for (size_t i = 0; i < count; i++) {
        const struct amount *a = &logs[i];
        double value = (double)a->bytes;

        allocs += (double)a->allocs;
        bytes += value;
        least = i == 0 || value < least ? value : least;
        most = i == 0 || value > most ? value : most;
        side->low = i == 0 || a->low < side->low ? a->low : side->low;
        side->high = i == 0 || a->high > side->high ? a->high : side->high;
        if (a->row != REPORT_DIFF_NONE &&
            (side->row == REPORT_DIFF_NONE || a->bytes > logs[side->log].bytes)) {
            side->row = a->row;
            side->log = i;
        }
    }
    side->spread = most - least;
    side->allocs = count == 1 ? logs->allocs : (uint64_t)(allocs / (double)count + 0.5);
    side->bytes = count == 1 ? logs->bytes : (uint64_t)(bytes / (double)count + 0.5);
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
    bool noise = ((const struct entry *)left)->noise, other = ((const struct entry *)right)->noise;
    const struct report_change *a = &((const struct entry *)left)->change;
    const struct report_change *b = &((const struct entry *)right)->change;
    uint64_t x = distance(a->side[0].bytes, a->side[1].bytes);
    uint64_t y = distance(b->side[0].bytes, b->side[1].bytes);

    if (noise != other)
        return noise ? 1 : -1;
    if (x != y)
        return x > y ? -1 : 1;
    x = distance(a->side[0].allocs, a->side[1].allocs);
    y = distance(b->side[0].allocs, b->side[1].allocs);
    if (x != y)
        return x > y ? -1 : 1;
    return rank(a) < rank(b) ? -1 : rank(a) > rank(b);
}

static void join(struct report_diff *diff, const struct report_diff_logs *sides)
{
    for (size_t i = 0; i < diff->count; i++) {
        const struct amount *logs = &diff->amounts[i * diff->logs];
        struct entry *e = &diff->entries[i];

        for (int side = 0; side < REPORT_DIFF_SIDES; side++) {
            join_side(logs, sides[side].count, &e->change.side[side]);
            logs += sides[side].count;
        }
        e->noise = diff->several && !report_change_certain(&e->change);
    }
}

int report_diff_new(const struct report_diff_logs sides[REPORT_DIFF_SIDES], enum report_by by,
                    bool exact, struct report_diff **out)
{
    struct report_diff *diff = memory_zalloc(1, sizeof(*diff));
    int err = diff ? 0 : -ENOMEM;

    *out = NULL;
    if (!err) {
        diff->logs = sides[REPORT_DIFF_OLD].count + sides[REPORT_DIFF_NEW].count;
        diff->several = diff->logs > REPORT_DIFF_SIDES;
        diff->paths = memory_zalloc(diff->logs, sizeof(*diff->paths));
        err = diff->paths ? 0 : -ENOMEM;
    }
    for (size_t i = 0; !err && i < diff->logs; i++) {
        const struct diff_log log = diff_log_of(sides, i);

        err = add_log(diff, &log, i, by, exact);
    }
    if (!err && by == REPORT_BY_SITE && !exact)
        err = diff_join_inlined(diff, sides);
    if (!err && by == REPORT_BY_LINE && !exact)
        err = diff_join_lines(diff, sides);
    if (err) {
        report_diff_free(diff);
        return err;
    }
    index_free(&diff->index);
    paths_free(diff);
    join(diff, sides);
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
    paths_free(diff);
    memory_free(diff->entries);
    memory_free(diff->amounts);
    memory_free(diff);
}

bool report_diff_several(const struct report_diff *diff)
{
    return diff->several;
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
    *out = (struct report_diff_sum){0, 0, {0, 0}, diff->inlined};
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
    double apart = a->spread > b->spread ? a->spread : b->spread;

    return a->high + apart < b->low || b->high + apart < a->low;
}
