/*
 * names/native.h - which of several equal calls a return address belongs to, by reading the machine code. Two calls of
 * one method in one statement look alike in the runtime's map and in the IL; their order tells them apart.
 */
#ifndef SHADOWTRACE_NAMES_NATIVE_H
#define SHADOWTRACE_NAMES_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the calls in a piece of code those that go where the one in question goes. */
struct native_rank {
    uint32_t place; /* of the one in question: 0 is the first */
    uint32_t count; /* 0: not known; UINT32_MAX: too many to be told apart */
    bool ordered;   /* no jump passes one of them: they lie in the order in which they run */
};

/*
 * native_rank - reads code[0, size), which begins with a whole instruction, up to its end; ret is an offset in it, or its
 * end, right behind a call. by_argument: only calls whose first argument looks the same are equal (helpers that make
 * objects are told the class there).
 * Returns: its place. Not known: code that cannot be read as instructions, no call before ret.
 * Threads: any, while the code stays where it is.
 */
struct native_rank native_rank(const uint8_t *code, size_t size, size_t ret, bool by_argument);

/* What a piece of jitted code does to the stack before anything else. */
struct native_prolog {
    bool framed;    /* rbp leads to the frame: its caller's is there, the return address above it */
    uint32_t bytes; /* else: between the stack pointer and the return address, behind the prolog */
};

/*
 * native_prolog - reads the prolog at code[0, size). Returns: false if it is none that the JIT is known to make.
 * native_returns - may the instruction that ends at ip be a call? Reads NATIVE_CALL bytes before it.
 */
#define NATIVE_CALL 8
bool native_prolog(const uint8_t *code, size_t size, struct native_prolog *out);
bool native_returns(const uint8_t *ip);

/* Bytes of the instruction at code[0]; 0 if it is none, or does not end within size. */
size_t native_length(const uint8_t *code, size_t size);

#endif
