#include "code/calls.h"

#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

void calls_begin(struct calls_marks *marks)
{
    marks->calls = marks->jumps = 0;
    marks->more_calls = marks->more_jumps = false;
}

void calls_mark(struct calls_marks *marks, size_t at, size_t end, uint64_t target, uint64_t first)
{
    uint32_t i = marks->calls;

    if (i == CPU_CALLS) {
        marks->more_calls = true;
        return;
    }
    marks->at[i] = at;
    marks->end[i] = end;
    marks->target[i] = target;
    marks->first[i] = first;
    marks->calls++;
}

void calls_mark_jump(struct calls_marks *marks, size_t at, int64_t to)
{
    int64_t place = (int64_t)at + to;

    if (marks->jumps == CALLS_JUMPS) {
        marks->more_jumps = true;
        return;
    }
    marks->from[marks->jumps] = at;
    marks->to[marks->jumps++] = place < 0 ? SIZE_MAX : (size_t)place;
}

/* Whether a jump inside the code passes a call. */
static bool is_passed(const struct calls_marks *m, size_t call, size_t size)
{
    for (uint32_t i = 0; i < m->jumps; i++)
        if (m->to[i] < size && (m->from[i] < call) != (m->to[i] <= call))
            return true;
    return false;
}

/* The first with the same value. */
static uint8_t first_like(const uint64_t *value, uint32_t of)
{
    uint32_t i = 0;

    while (value[i] != value[of])
        i++;
    return (uint8_t)i;
}

_Static_assert(CPU_CALLS - 1 <= UINT8_MAX, "the number of a call has one byte");

void calls_end(const struct calls_marks *marks, size_t size, struct cpu_calls *out)
{
    out->count = marks->more_calls ? UINT32_MAX : marks->calls;
    out->ordered = !marks->more_jumps;
    for (uint32_t i = 0; !marks->more_calls && i < marks->calls; i++)
        out->call[i] =
            (struct cpu_call){(uint32_t)marks->end[i], first_like(marks->target, i),
                              first_like(marks->first, i), is_passed(marks, marks->at[i], size)};
}

static struct cpu_rank rank_of(const struct cpu_call *call, uint32_t count, bool ordered,
                               size_t ret, bool by_argument)
{
    struct cpu_rank rank = {0, count == UINT32_MAX ? count : 0, false};
    uint32_t mine = 0;

    if (count == UINT32_MAX)
        return rank;
    while (mine < count && call[mine].end != ret)
        mine++;
    if (mine == count)
        return rank;
    rank.ordered = ordered;
    for (uint32_t i = 0; i < count; i++) {
        if (call[i].to != call[mine].to || (by_argument && call[i].with != call[mine].with))
            continue;
        if (i == mine)
            rank.place = rank.count;
        rank.ordered &= !call[i].passed;
        rank.count++;
    }
    return rank;
}

#define PIECES_BITS 10
#define CALLS_KEPT  16384

/* If there is no room for more calls, all are forgotten. */
struct calls_memo {
    struct kept_piece {
        uintptr_t code; /* 0: free */
        uint32_t size, at, count;
        bool ordered;
    } piece[1 << PIECES_BITS];
    uint32_t used;
    struct cpu_call call[CALLS_KEPT];
};

struct calls_memo *calls_memo_new(void)
{
    return memory_zalloc(1, sizeof(struct calls_memo));
}

static void keep(struct calls_memo *memo, struct kept_piece *piece, const uint8_t *code,
                 size_t size)
{
    struct cpu_calls calls;
    uint32_t count;

    cpu_calls(code, size, &calls);
    count = calls.count == UINT32_MAX ? 0 : calls.count;
    if (memo->used + count > CALLS_KEPT) {
        memset(memo->piece, 0, sizeof(memo->piece));
        memo->used = 0;
    }
    *piece = (struct kept_piece){(uintptr_t)code, (uint32_t)size, memo->used, calls.count,
                                 calls.ordered};
    memcpy(memo->call + memo->used, calls.call, count * sizeof(*calls.call));
    memo->used += count;
}

struct cpu_rank calls_rank(struct calls_memo *memo, const uint8_t *code, size_t size, size_t ret,
                           bool by_argument)
{
    struct kept_piece *piece;
    struct cpu_calls calls;

    if (!memo) {
        cpu_calls(code, size, &calls);
        return rank_of(calls.call, calls.count, calls.ordered, ret, by_argument);
    }
    piece = &memo->piece[hash_word((uintptr_t)code) >> (64 - PIECES_BITS)];
    if (piece->code != (uintptr_t)code || piece->size != size)
        keep(memo, piece, code, size);
    return rank_of(memo->call + piece->at, piece->count, piece->ordered, ret, by_argument);
}
