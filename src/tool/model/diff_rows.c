#include "model/diff_rows.h"

#include "base/order.h"

#include <math.h>

struct diff_key diff_key_of_text(const char *text)
{
    struct diff_key key = {hash_bytes(text, strlen(text)), 0xCBF29CE484222325u};

    for (; *text; text++) /* FNV-1a: nothing to do with the other */
        key.b = (key.b ^ (unsigned char)*text) * 0x100000001B3u;
    return key;
}

struct diff_key diff_key_join(struct diff_key left, struct diff_key right)
{
    return (struct diff_key){hash_mix(left.a, right.a),
                             hash_mix(left.b ^ 0x5851F42D4C957F2Du, right.b)};
}

struct diff_key diff_key_of_number(struct diff_key left, uint64_t number)
{
    return diff_key_join(left, (struct diff_key){number, ~number});
}

int diff_key_order(const struct diff_key *left, const struct diff_key *right)
{
    return left->a != right->a ? ORDER(left->a, right->a) : ORDER(left->b, right->b);
}

void diff_rows_init(struct diff_rows *rows, const struct diff_logs *sides)
{
    *rows =
        (struct diff_rows){.sides = sides, .logs = sides[DIFF_OLD].count + sides[DIFF_NEW].count};
}

void diff_rows_fini(struct diff_rows *rows)
{
    memory_free_all(rows->keys, rows->amounts);
    index_free(&rows->index);
}

static bool key_equal(const void *record, const void *key)
{
    return diff_key_order(record, key) == 0;
}

static uint64_t key_hash(const void *record)
{
    return ((const struct diff_key *)record)->a;
}

struct diff_amount *diff_rows_add(struct diff_rows *rows, const struct diff_key *key)
{
    static const struct index_kind kind = {sizeof(*key), key_hash, key_equal};
    uint32_t number;
    int added;

    if (!array_reserve(&rows->amounts, &rows->amount_capacity, (rows->count + 1) * rows->logs))
        return NULL;
    added = index_add(&rows->index, &kind, &rows->keys, &rows->count, &rows->key_capacity, key,
                      &number);
    for (size_t log = 0; added > 0 && log < rows->logs; log++)
        diff_amounts(rows, number)[log] = (struct diff_amount){.row = DIFF_NONE};
    return added < 0 ? NULL : diff_amounts(rows, number);
}

struct diff_log diff_log_of(const struct diff_rows *rows, size_t log)
{
    size_t olds = rows->sides[DIFF_OLD].count;
    int side = log < olds ? DIFF_OLD : DIFF_NEW;
    size_t number = log < olds ? log : log - olds;
    const struct model_rows *of = rows->sides[side].rows[number];

    return (struct diff_log){of, model_defs(of->tree->model), side};
}

size_t diff_first(const struct diff_rows *rows, size_t row, const struct model_row **out)
{
    const struct diff_amount *amounts = diff_amounts(rows, row);
    size_t log = 0;

    while (amounts[log].row == DIFF_NONE)
        log++;
    *out = &diff_log_of(rows, log).rows->rows[amounts[log].row];
    return log;
}

double diff_mean(const struct diff_rows *rows, size_t row, int side)
{
    const struct diff_amount *amounts = diff_amounts(rows, row);
    size_t count = rows->sides[side].count;
    double sum = 0;

    if (side == DIFF_NEW)
        amounts += rows->sides[DIFF_OLD].count;
    for (size_t i = 0; i < count; i++)
        sum += (double)amounts[i].bytes;
    return sum / (double)count;
}

double diff_growth(const struct diff_rows *rows, size_t row)
{
    return diff_mean(rows, row, DIFF_NEW) - diff_mean(rows, row, DIFF_OLD);
}

bool diff_cancel_all(double sum, double most)
{
    return most > 0 && 2 * fabs(sum) <= most;
}

bool diff_cancel(double one, double other)
{
    return diff_cancel_all(one + other, fmax(fabs(one), fabs(other)));
}

void diff_rows_move(struct diff_rows *rows, size_t to, size_t from)
{
    struct diff_amount *sums = diff_amounts(rows, to), *more = diff_amounts(rows, from);

    for (size_t i = 0; i < rows->logs; i++) {
        sums[i].allocs += more[i].allocs;
        sums[i].bytes += more[i].bytes;
        sums[i].low += more[i].low;
        report_spread_add(&sums[i].spread, &more[i].spread);
        sums[i].high += more[i].high;
        if (sums[i].row == DIFF_NONE)
            sums[i].row = more[i].row;
        more[i] = (struct diff_amount){.row = DIFF_NONE};
    }
}

void diff_rows_compact(struct diff_rows *rows)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct diff_amount *from = diff_amounts(rows, i);
        bool any = false;

        for (size_t log = 0; log < rows->logs; log++)
            any = any || from[log].row != DIFF_NONE;
        if (any)
            memmove(diff_amounts(rows, kept++), from, rows->logs * sizeof(*from));
    }
    rows->count = kept;
}
