/*
 * code/x86.h - which of several equal calls a return address belongs to, by the machine code. Two
 * calls of a method in one statement are alike in the runtime's map and in the IL; their order is
 * not.
 */
#ifndef SHADOWTRACE_CODE_X86_H
#define SHADOWTRACE_CODE_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the calls in a piece of code those that go where the one in question goes. */
struct x86_rank {
    uint32_t place; /* of the one in question: 0 is the first */
    uint32_t count; /* 0: not known; UINT32_MAX: too many to be told apart */
    bool ordered;   /* no jump passes one of them: they lie in the order in which they run */
};

/*
 * x86_rank - reads code[0, size), which begins with a whole instruction; ret is an offset in it, or
 * its end, right behind a call. by_argument: calls are equal only if their first argument looks the
 * same (there helpers that make objects are told the class).
 * Returns: its place. Not known: code that cannot be read as instructions, no call before ret.
 * Threads: any, while the code stays where it is.
 */
struct x86_rank x86_rank(const uint8_t *code, size_t size, size_t ret, bool by_argument);

/*
 * x86_line - the calls next to one of code[0, size), the whole code of a method, that are sure to
 * run before, and after, it: no jump leads in between from elsewhere. ret: as x86_rank.
 * Returns: whether the code can be read, and there is such a call.
 */
#define X86_LINE 8 /* as many on each side are looked for */
struct x86_line {
    uint32_t before, after;                         /* how many there are */
    size_t before_at[X86_LINE], after_at[X86_LINE]; /* right behind each, the nearest first */
};
bool x86_line(const uint8_t *code, size_t size, size_t ret, struct x86_line *out);

/* Where a call or a jump goes, as far as the code alone tells. */
struct x86_target {
    enum x86_way {
        X86_UNREAD,  /* there is none, or the code before it cannot be read */
        X86_TO,      /* to `at` */
        X86_THROUGH, /* to where the word at `at` says */
        X86_FOUND,   /* what it finds when it runs: a virtual method, a delegate, a pointer */
    } way;
    uintptr_t at;
};

/*
 * x86_call_target - of the call that ends at code[size]; code[0] begins an instruction and lies at
 * `address`. x86_jump_target - of the first jump without a condition in a stub at code[0, size),
 * which holds little else: moves, a counter, a jump that is taken once.
 * Threads: any, while the code stays where it is.
 */
struct x86_target x86_call_target(const uint8_t *code, size_t size, uintptr_t address);
struct x86_target x86_jump_target(const uint8_t *code, size_t size, uintptr_t address);

/*
 * x86_stub_owner - where the FunctionID lies whose stub code[0, size) is, or 0: it is no
 * FixupPrecode. That jumps through a word, and behind the jump loads the next one, for the code
 * that it jumps to through the third. Source: dotnet/runtime (8.0, 9.0, 10.0),
 * src/coreclr/vm/amd64/thunktemplates.S.
 */
uintptr_t x86_stub_owner(const uint8_t *code, size_t size, uintptr_t address);

/* What a piece of jitted code does to the stack before anything else. */
struct x86_prolog {
    bool framed; /* rbp points to the saved rbp; the return address is the word above */
    /* Between the stack pointer after the prolog and the saved rbp, or the return address. */
    uint32_t bytes;
    uint32_t pushed; /* bytes of registers, rbp included */
    uint32_t saved;  /* without a frame: from the return address down to the pushed rbp; 0: none */
    uint32_t size;   /* of the prolog's code */
    bool leaf;       /* without a frame: it makes no calls, or is not all of a prolog */
    bool probes;     /* it touches each page before it lowers the stack pointer */
};

/*
 * x86_prolog - reads the prolog at code[0, size).
 * x86_prolog_simple - the same, but refuses leaves, prologs that touch pages, and those that push
 * rbp and set up no frame: for walks that restore rbp from frames only.
 * x86_prolog_osr - of code that replaced a running method on the stack: it was entered with the
 * stack pointer of that method's frame. *out: framed; bytes go down from the saved copy of rbp.
 * Returns: false if the JIT is not known to make such a prolog.
 *
 * x86_osr_distance - of the same code: from the stack pointer after the prolog to the highest
 * callee-saved register that it stores into the frame of the method it replaced; 0: none.
 * x86_is_osr - does the code begin like that?
 * x86_returns - may the instruction that ends at ip be a call? Reads X86_CALL bytes before it.
 */
#define X86_CALL 8
bool x86_prolog(const uint8_t *code, size_t size, struct x86_prolog *out);
bool x86_prolog_simple(const uint8_t *code, size_t size, struct x86_prolog *out);
bool x86_prolog_osr(const uint8_t *code, size_t size, struct x86_prolog *out);
uint32_t x86_osr_distance(const uint8_t *code, size_t size);
bool x86_is_osr(const uint8_t *code, size_t size);
bool x86_returns(const uint8_t *ip);

/* Bytes of the instruction at code[0]; 0 if it is none, or does not end within size. */
size_t x86_length(const uint8_t *code, size_t size);

#endif
