/*
 * code/cpu_code.h - what machine code says; implemented for each CPU (x86_64/cpu_code.c, ...).
 *
 * Above all, which of several equal calls a return address belongs to. Two calls of a method in one
 * statement are alike in the runtime's map and in the IL; their order is not.
 */
#ifndef SHADOWTRACE_CODE_CPU_CODE_H
#define SHADOWTRACE_CODE_CPU_CODE_H

#include "base/cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The calls of a piece of code, in order. */
#define CPU_CALLS 256
struct cpu_call {
    uint32_t end;     /* offset of what follows it */
    uint8_t to, with; /* the first call that goes where it goes; that has such a first argument */
    bool passed;      /* a jump inside the code passes it */
};
struct cpu_calls {
    uint32_t count; /* UINT32_MAX: too many to distinguish */
    bool ordered;   /* all jumps are known */
    struct cpu_call call[CPU_CALLS];
};

/*
 * cpu_calls - reads code[0, size), which begins with a whole instruction. *out is empty if it
 * cannot be read as instructions. Threads: any, while the code stays where it is.
 */
void cpu_calls(const uint8_t *code, size_t size, struct cpu_calls *out);

/*
 * cpu_line - the calls next to one of code[0, size), the whole code of a method, that are sure to
 * run before, and after, it: no jump leads in between from elsewhere. ret: its end.
 * Returns: whether the code can be read, and there is such a call.
 */
#define CPU_LINE 8 /* as many on each side are looked for */
struct cpu_line {
    uint32_t before, after;                         /* how many there are */
    size_t before_at[CPU_LINE], after_at[CPU_LINE]; /* right behind each, the nearest first */
};
bool cpu_line(const uint8_t *code, size_t size, size_t ret, struct cpu_line *out);

/* Where a call or a jump goes, as far as the code alone tells. */
struct cpu_target {
    enum cpu_way {
        CPU_UNREAD,  /* no code, or the code before it cannot be read */
        CPU_TO,      /* to `at` */
        CPU_THROUGH, /* to where the word at `at` says */
        CPU_FOUND,   /* what it finds when it runs: a virtual method, a delegate, a pointer */
    } way;
    uintptr_t at;
};

/*
 * cpu_call_target - of the call that ends at code[size]; code[0] begins an instruction and lies at
 * `address`. cpu_jump_target - of the first jump without a condition in a stub at code[0, size),
 * which holds little else: moves, a counter, a jump that is taken once.
 * Threads: any, while the code stays where it is.
 */
struct cpu_target cpu_call_target(const uint8_t *code, size_t size, uintptr_t address);
struct cpu_target cpu_jump_target(const uint8_t *code, size_t size, uintptr_t address);

/*
 * cpu_stub_owner - where the FunctionID lies whose stub code[0, size) is, or 0: it is no
 * FixupPrecode. That jumps through a word, and behind the jump loads the next one, for the code
 * that it jumps to through the third. Code of the JIT calls through the first word: until the
 * method is compiled, that leads behind the jump. through: the word that led to the code, or 0.
 * Source: dotnet/runtime (8.0, 9.0, 10.0), src/coreclr/vm/amd64/thunktemplates.S.
 */
uintptr_t cpu_stub_owner(const uint8_t *code, size_t size, uintptr_t address, uintptr_t through);

/*
 * cpu_stub_helps - does stub code[0, size) put a constant in place of the first argument? It calls
 * a helper of the runtime then, with a class or the like; no stub of a method does so right before
 * it jumps to the runtime. Source: dotnet/runtime (8.0 to 10.0), DynamicHelpers of
 * src/coreclr/vm/amd64/cgenamd64.cpp.
 */
bool cpu_stub_helps(const uint8_t *code, size_t size);

/* What a piece of jitted code does to the stack before anything else. */
struct cpu_prolog {
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
 * cpu_prolog - reads the prolog at code[0, size).
 * cpu_prolog_simple - the same, but refuses leaves, prologs that touch pages, and those that push
 * rbp and set up no frame: for walks that restore rbp from frames only.
 * cpu_prolog_osr - of code that replaced a running method on the stack: it was entered with the
 * stack pointer of that method's frame. *out: framed; bytes go down from the saved copy of rbp.
 * Returns: false if the JIT is not known to make such a prolog.
 *
 * cpu_osr_distance - of the same code: from the stack pointer after the prolog to the highest
 * callee-saved register that it stores into the frame of the method it replaced; 0: none.
 * cpu_is_osr - does the code begin like that?
 * cpu_returns - may the instruction that ends at ip be a call? Reads CPU_CALL_BYTES before it.
 */
bool cpu_prolog(const uint8_t *code, size_t size, struct cpu_prolog *out);
bool cpu_prolog_simple(const uint8_t *code, size_t size, struct cpu_prolog *out);
bool cpu_prolog_osr(const uint8_t *code, size_t size, struct cpu_prolog *out);
uint32_t cpu_osr_distance(const uint8_t *code, size_t size);
bool cpu_is_osr(const uint8_t *code, size_t size);
bool cpu_returns(const uint8_t *ip);

/* Bytes of the instruction at code[0]; 0 if it is none, or does not end within size. */
size_t cpu_length(const uint8_t *code, size_t size);

#endif
