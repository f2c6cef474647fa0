/* Offsets for the assembly: the Makefile compiles this to text and picks lines "->NAME $value". */
#include "stack/stack_hot.h"

#define OFFSET(name, value) __asm__ volatile("\n.ascii \"->" #name " %c0\"" : : "i"(value))

void stack_offsets(void);
void stack_offsets(void)
{
    OFFSET(STACK_TOP, offsetof(struct stack_words, top));
    OFFSET(STACK_LIMIT, offsetof(struct stack_words, limit));
    OFFSET(STACK_STATE, offsetof(struct stack_words, state));
    OFFSET(FRAME_METHOD, offsetof(struct frame, method));
    OFFSET(FRAME_SP, offsetof(struct frame, sp));
    OFFSET(FRAME_RET, offsetof(struct frame, marked_ret));
#if CPU_RECORD_APART
    OFFSET(FRAME_FP, offsetof(struct frame, fp));
#endif
    OFFSET(FRAME_SIZE, sizeof(struct frame));
    OFFSET(STACK_RESUMABLE, STACK_RESUMABLE);
    OFFSET(STACK_CALL_IF_SOME, STACK_CALL_IF_SOME);
    OFFSET(STACK_CALL_IF_NONE, STACK_CALL_IF_NONE);
    OFFSET(STACK_TAGS, STACK_TAGS);
    OFFSET(STACK_STATE_ENTER, STATE_ENTER);
    OFFSET(STACK_STATE_LEAVE, STATE_LEAVE);
}
