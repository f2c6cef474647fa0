/*
 * The rules of the shadow stack, on a simulated machine stack: an array of words, where level n lies
 * below level n - 1, a call's SP points into it, and its frame record lies where this CPU has it. A
 * method is a letter; "ABC" is a stack with A at the root and C on top.
 */
#ifndef SHADOWTRACE_TESTS_UNIT_STACK_MACHINE_H
#define SHADOWTRACE_TESTS_UNIT_STACK_MACHINE_H

#include "stack/stack_hot.h"

#include "base/memory.h"
#include "support/test.h"

#define LEVELS 8000u
#define STRIDE 4u /* words between two levels */
#define RECORD \
    (CPU_RECORD_APART ? STRIDE : 2u) /* how many a frame's record lies below its caller's SP */
#define FIRST_FRAMES 1000u
#define FROM_NATIVE  0x12345u /* return addresses */
#define FROM_JITTED  0x402000u

extern uintptr_t machine[(LEVELS + 2) * STRIDE];
extern uintptr_t functions[128]; /* a method record is its FunctionID, here */

/* What the profiler finds on the machine's stack: whether the thrower is off it. */
extern bool thrower_is_gone;
/* The same: code without hooks above the youngest frame, which may throw; and whether it is there still. */
extern struct stack_place above;
extern bool filter_throws;

uintptr_t id(char method);
uintptr_t function(char method);
uintptr_t sp_of(unsigned level);
struct frame_at place_of(unsigned level);
uintptr_t *record_of(unsigned level);
/* What the runtime says of where a handler is, when it is one of the frame on that level. */
uintptr_t handler_of(unsigned level);
void enter(char method, unsigned level, uintptr_t from);
void call(char method, unsigned level);
void native_call(char method, unsigned level);
void leave(char method, unsigned level);

/* A on level 1, the next letter on level 2, and so on; a dot before a letter: called from native code. */
void calls(const char *methods);
void search(const char *methods);
void unwind(const char *methods);
void expect_invariants(void);
void expect_at(const char *methods, const char *file, int line);
size_t settle(void);
uint64_t repairs(enum stack_repair why);

/* `count` repairs of one kind, and none of any other. */
void expect_only(enum stack_repair why, uint64_t count);
void expect_no_repair(void);
int machine_begin(void **state);

/* This thread gives its stack up, as its key's destructor would make it. */
int machine_over(void **state);

#define expect(methods) expect_at(methods, __FILE__, __LINE__)

#endif
