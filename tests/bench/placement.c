/*
 * bench/placement.c - the profiler of noop.c with hooks that keep frames (placement.S), for measuring where they and what
 * they touch had best lie; and fib without a runtime. What the environment says: PLACEMENT, numbers with commas: bytes into
 * its page at which a thread's block of frames begins, the same of its words (-1: they lie in the block's first page), and
 * whether the block asks for huge pages.
 */
#define _GNU_SOURCE
#define NOOP_ENTER3 placement_enter
#define NOOP_LEAVE3 placement_leave
#include <stdint.h>

void placement_enter(uintptr_t id);
void placement_leave(uintptr_t id);

#include "noop.c"

#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE       4096
#define BLOCK      (2u << 20) /* bytes, of frames side by side */
#define BY_POINTER (MASK + 1 + PAGE)
#define MASK       0xffffff
#define FRAME      32
#define SHOWN      __attribute__((visibility("default")))

struct words {
    char *top, *limit;
    uint64_t state;
    char *base, *more[28]; /* a limit further on (LIMIT) */
};
static struct words none; /* full at once */
_Thread_local struct words *placement_self __attribute__((visibility("hidden"))) = &none;
_Thread_local struct words placement_words __attribute__((visibility("hidden"), aligned(64)));
void (*placement_enter_at)(uintptr_t) __attribute__((visibility("hidden"))) = placement_enter;
void (*placement_leave_at)(uintptr_t) __attribute__((visibility("hidden"))) = placement_leave;
int placement_fib(int n);
int (*placement_fib_at)(int) __attribute__((visibility("hidden"))) = placement_fib;
extern char placement_begin[], placement_end[];
void placement_slow(void);
SHOWN double placement_loop(int n, int rounds);
SHOWN double placement_adds(int rounds);

static char *pages(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static char *block(int huge)
{
    char *at = pages(huge ? 2 * BLOCK : LINK ? BY_POINTER : BLOCK);

    if (at && huge) {
        at += -(uintptr_t)at % BLOCK;
        madvise(at, BLOCK, MADV_HUGEPAGE);
    }
    return at;
}

/* The thread's first call, a block that is full or frames without a leave: the stack is reset, and this call has no frame. */
void placement_slow(void)
{
    struct words *words = SELF >= 2 ? &placement_words : placement_self;
    int frames = 0, own = 0, huge = 0;
    char *base;

    if (words == &none || !words->base) {
        const char *where = getenv("PLACEMENT");

        if (where)
            sscanf(where, "%d,%d,%d", &frames, &own, &huge);
        base = block(huge);
        if (!base)
            return;
        if (SELF < 2) {
            words = own < 0 ? (struct words *)base : (struct words *)(pages(2 * PAGE) + own);
            placement_self = words;
        }
        base += frames + (own < 0 ? (int)sizeof(*words) : 0);
        words->base = base;
    }
    base = words->base;
    words->top = LINK ? base : DOWN ? base + BLOCK - 2 * PAGE : base + 2 * FRAME;
    if (!LINK)
        *(uintptr_t *)(words->top + (DOWN ? FRAME : -FRAME) + 8) = UINTPTR_MAX;
    *(char **)((char *)words + LIMIT) = DOWN ? base + FRAME : base + BLOCK - 2 * PAGE;
}

/* Distances from the thread's pointer into the code that has placeholders for them. */
__attribute__((constructor)) static void write_distances(void)
{
    char *low = (char *)((uintptr_t)placement_begin & -(uintptr_t)PAGE);
    size_t size = (size_t)(placement_end - low);
    intptr_t thread = (intptr_t)__builtin_thread_pointer();

    mprotect(low, size, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (char *at = placement_begin; at + sizeof(int32_t) <= placement_end; at++) {
        uint32_t word;

        memcpy(&word, at, sizeof(word));
        if (word >> 8 != 0x7EADBE)
            continue;
        word = (word & 0xff) == 0x80
                   ? (uint32_t)((intptr_t)&placement_self - thread)
                   : (uint32_t)((intptr_t)&placement_words - thread) + (word & 0xff);
        memcpy(at, &word, sizeof(word));
    }
    mprotect(low, size, PROT_READ | PROT_EXEC);
}

static double thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds of a call, the median of `rounds`, at most 100. */
double placement_loop(int n, int rounds)
{
    double found[100];
    double last = 1, calls = 1;

    for (int i = 2; i <= n; i++) {
        double more = 1 + calls + last;

        last = calls;
        calls = more;
    }
    for (int i = 0; i < rounds; i++) {
        double begin = thread_ns(), ns;
        int at = i;

        placement_fib(n);
        for (ns = (thread_ns() - begin) / calls; at && found[at - 1] > ns; at--)
            found[at] = found[at - 1];
        found[at] = ns;
    }
    return found[rounds / 2];
}

/* Nanoseconds of eight additions in registers: what a processor gives that has no memory to wait for. */
double placement_adds(int rounds)
{
    double begin = thread_ns();

    for (int i = 0; i < rounds; i++)
        __asm__ volatile("add $1, %%eax\n add $1, %%ecx\n add $1, %%edx\n add $1, %%esi\n"
                         "add $1, %%edi\n add $1, %%r8d\n add $1, %%r9d\n add $1, %%r10d" ::
                             : "eax", "ecx", "edx", "esi", "edi", "r8", "r9", "r10", "cc");
    return (thread_ns() - begin) / rounds;
}
