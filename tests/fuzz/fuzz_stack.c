/*
 * Fuzz target: src/tracer/stack. An input is a run of calls, returns and exception events in any order, two bytes each: what,
 * and which. While nothing of an exception is open the stack must be what a naive model says, frame by frame; after
 * every step its invariants (stack_hot.h, I1 to I5) must hold.
 */
#include "must.h"

#include "stack/stack_hot.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS (1u << 17)
#define MODEL \
    (WORDS / 2) /* frames: no two have the same SP, and none is closer than two words to the next */
#define METHODS     6u
#define STEPS       20000u
#define FROM_NATIVE 0x12345u
#define FROM_JITTED 0x402000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uintptr_t machine[WORDS]; /* the thread's own stack: SPs point into it */
static uintptr_t functions[METHODS + 1];

struct call {
    uintptr_t method, sp;
};
static struct call model[MODEL];
static uint32_t depth;
static bool lossy; /* memory has run out at some time: frames may be missing */
static uint8_t
    above; /* what the machine's stack holds above the youngest frame: code without hooks, 0 none */
static bool
    ordered; /* SPs fall: nothing was entered over frames that a dispatch still had to cut */

static uintptr_t method_of(unsigned which)
{
    return (uintptr_t)&functions[which % METHODS];
}

/* One more than the hooked methods: a function that nobody hooked. */
static uintptr_t function_of(unsigned which)
{
    return functions[which % (METHODS + 1)];
}

static uint32_t pick(uint8_t which)
{
    return depth - 1 - which % (depth < 16 ? depth : 16); /* one of the youngest */
}

/* ---- the model: the rules for calls, without an exception ---- */

static void model_enter(uintptr_t method, uintptr_t sp)
{
    while (depth && model[depth - 1].sp <= sp)
        depth--;
    MUST(depth < MODEL);
    model[depth++] = (struct call){method, sp};
}

static void model_leave(uintptr_t sp)
{
    uint32_t at = depth;

    while (at && model[at - 1].sp < sp)
        at--;
    if (at && model[at - 1].sp == sp)
        depth = at - 1;
}

static void model_leave_low(uintptr_t method, uintptr_t sp)
{
    uint32_t at = depth;

    while (at && model[at - 1].sp < sp)
        at--;
    model_leave(at && model[at - 1].method == method ? model[at - 1].sp : sp);
}

/* ---- what the machine's stack holds, as the input wants it ---- */

static bool unhooked(uintptr_t since, const struct frame *frame, struct stack_place *out)
{
    MUST(since && frame == stack_words.top - 1 && stack_self->dispatch.searching);
    *out = (struct stack_place){above / 2, above};
    return above;
}

static bool runs(const struct stack_place *place)
{
    MUST(place->fp);
    return place->ret == above;
}

/* ---- the real one ---- */

static bool quiet(const struct stack *s)
{
    return !s->dispatch.searching && s->dispatch.pending == STACK_NONE &&
           (!s->save_count || s->saves[s->save_count - 1].filter);
}

static void check_invariants(const struct stack *s)
{
    const struct stack_block *block = load_relaxed(&s->block);
    uint32_t count = stack_depth(s);

    MUST(s->words->top == block->frames + 1 + count); /* I3 */
    MUST(s->end == block->frames + 1 + block->capacity && s->words->top <= s->end);
    MUST(load_relaxed(&block->frames[0].sp) == UINTPTR_MAX); /* I1 */
    for (uint32_t i = count; ordered && i > 0 && count - i < 64;
         i--) /* those at the bottom were looked at as they came */
        MUST(load_relaxed(&block->frames[i].sp) < load_relaxed(&block->frames[i - 1].sp));
    MUST(s->words->limit == NULL || s->words->limit == s->end); /* I2 */
    MUST(quiet(s) || s->words->limit == NULL);                  /* I5 */
    MUST(s->save_count <= s->save_capacity);
    for (uint32_t i = 1; i < s->save_count; i++) /* not two for the same code without hooks */
        MUST(!s->saves[i].unhooked.fp || !s->saves[i - 1].unhooked.fp ||
             s->saves[i].depth > s->saves[i - 1].depth);
}

/* The stack is the model. */
static void check_equal(const struct stack *s)
{
    MUST(stack_depth(s) == depth);
    for (uint32_t i = depth; i > 0 && depth - i < 64; i--) {
        MUST(load_relaxed(&stack_frame(s, i - 1)->method) == model[i - 1].method);
        MUST(load_relaxed(&stack_frame(s, i - 1)->sp) == model[i - 1].sp);
    }
}

/* The model becomes the stack: after what it does not know. */
static void model_again(const struct stack *s)
{
    depth = stack_depth(s);
    for (uint32_t i = 0; i < depth; i++)
        model[i] = (struct call){load_relaxed(&stack_frame(s, i)->method),
                                 load_relaxed(&stack_frame(s, i)->sp)};
}

static void enter(unsigned method, uintptr_t sp, uintptr_t from)
{
    bool exact = !lossy && quiet(stack_self);

    if (sp < (uintptr_t)&machine[4] || sp >= (uintptr_t)&machine[WORDS])
        return;
    ordered = ordered && (quiet(stack_self) || load_relaxed(&stack_words.top[-1].sp) > sp);
    ((uintptr_t *)sp)[-1] = from;
    stack_enter(method_of(method), sp);
    if (exact)
        model_enter(method_of(method), sp);
    else if (stack_peek())
        model_again(stack_self);
    if (!lossy) {
        MUST(depth && model[depth - 1].sp == sp && model[depth - 1].method == method_of(method));
        MUST(frame_ret(&stack_words.top[-1]) == from);
    }
}

static uintptr_t below_top(uint8_t words)
{
    uintptr_t top = depth ? model[depth - 1].sp : (uintptr_t)&machine[WORDS - 1];

    return top - sizeof(uintptr_t) * (2 + words % 8);
}

static void leave_some(uint8_t what, uint8_t which)
{
    uintptr_t method, sp;

    if (!depth) {
        stack_leave(method_of(which), (uintptr_t)&machine[WORDS - 1]);
        return;
    }
    method = model[pick(which)].method;
    sp = model[pick(which)].sp - (what ? sizeof(uintptr_t) : 0); /* else an orphan */
    if (what == 1) { /* of a body entered by on-stack replacement */
        stack_leave_low(method, sp);
        model_leave_low(method, sp);
    } else {
        stack_leave(method, sp);
        model_leave(sp);
    }
}

static void event(uint8_t what, uint8_t which)
{
    uintptr_t f = function_of(which), sp = depth ? model[pick(which)].sp : 0;
    struct frame *top;

    switch (what) {
    case 0:
        stack_exception_thrown();
        break;
    case 1:
        stack_search_function_enter(f);
        break;
    case 2:
        stack_search_filter_enter(f);
        break;
    case 3:
        stack_search_filter_leave();
        break;
    case 4:
        stack_search_catcher_found();
        break;
    case 5:
        stack_unwind_function_enter(f);
        break;
    case 6:
        stack_unwind_finally_enter(f, which & 128 ? 0 : sp);
        break;
    case 7:
        stack_catcher_enter(f, which & 128 ? 0 : sp);
        break;
    case 8:
        stack_unwind_finally_leave();
        break;
    case 10:
        above = which;
        break;
    default:
        if (stack_peek()) {
            size_t count = stack_settle(stack_self, &top);

            MUST(count == stack_depth(stack_self) && top == stack_words.top);
            MUST(stack_self->dispatch.pending == STACK_NONE);
            if (count)
                frame_node_set(&top[-1], 1);
        }
    }
}

static void step(uint8_t what, uint8_t which)
{
    switch (what) {
    case 0:
    case 1:
        enter(which, below_top(which), FROM_JITTED);
        break;
    case 2:
        enter(which, below_top(which), FROM_NATIVE);
        break;
    case 3: /* over dead frames */
        if (depth)
            enter(which, model[pick(which)].sp, which & 128 ? FROM_NATIVE : FROM_JITTED);
        break;
    case 4: /* deep */
        for (unsigned i = 0; i < 16u * which; i++)
            enter(which, below_top(0), FROM_JITTED);
        break;
    case 5:
        memory_fail_after(which & 128 ? -1 : which % 4);
        lossy = true;
        break;
    case 6:
    case 7:
    case 8:
        leave_some((uint8_t)(what - 6), which);
        break;
    case 9:
        leave_some(0, 0);
        break;
    default:
        event((uint8_t)(what - 10), which);
        if (stack_peek())
            model_again(stack_self);
    }
}

static void begin(void)
{
    static bool started;
    const struct stack_config config = {.unhooked = unhooked, .runs = runs};

    if (!started) {
        for (unsigned i = 0; i <= METHODS; i++)
            functions[i] = 0x7f0000u + i;
        MUST(stack_start(&config) == 0);
        started = true;
    }
    depth = 0;
    lossy = false;
    above = 0;
    ordered = true;
}

/* The thread gives its stack up, as its key's destructor would make it. */
static void end(void)
{
    static unsigned inputs;
    struct stack *s;

    memory_fail_after(-1);
    if (!stack_peek()) /* a stack refused when out of memory ends with a call above it */
        stack_enter(method_of(0), (uintptr_t)&machine[WORDS - 1]);
    s = stack_peek();
    if (s) {
        stack_self = &stack_none;
        stack_words_give(s);
        store_relaxed(&stack_words.state, 0); /* the next is another thread's */
        store_release(&s->gone, true);
    }
    if (++inputs % 64 == 0)
        stack_reclaim();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    begin();
    for (size_t i = 0; i + 1 < size && i / 2 < STEPS; i += 2) {
        bool exact = !lossy;

        step(data[i] % 21, data[i + 1]);
        if (!stack_peek()) {
            MUST(!depth || lossy);
            depth = 0;
            continue;
        }
        check_invariants(stack_self);
        if (!exact || lossy)
            model_again(stack_self);
        check_equal(stack_self);
    }
    end();
    return 0;
}
