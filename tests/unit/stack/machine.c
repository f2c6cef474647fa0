/* The simulated machine stack of machine.h, and what holds of every shadow stack. */
#include "machine.h"

#include "base/clock.h"

uintptr_t machine[(LEVELS + 2) * STRIDE];
uintptr_t functions[128]; /* a method record is its FunctionID, here */

uintptr_t id(char method)
{
    return (uintptr_t)&functions[(unsigned)method];
}

uintptr_t function(char method)
{
    return functions[(unsigned)method];
}

uintptr_t sp_of(unsigned level)
{
    return (uintptr_t)&machine[(LEVELS + 1 - level) * STRIDE];
}

uintptr_t *record_of(unsigned level)
{
    return &machine[(LEVELS + 1 - level) * STRIDE - RECORD];
}

struct frame_at place_of(unsigned level)
{
    struct frame_at at = frame_at(sp_of(level));

#if CPU_RECORD_APART
    at.fp = (uintptr_t)record_of(level);
#endif
    return at;
}

uintptr_t handler_of(unsigned level)
{
    return sp_of(CPU_HANDLER_SP_OF_CALLER ? level : level + 1);
}

static char at_level[LEVELS + 1]; /* which method runs there */

/* What the runtime answers: whose code an address lies in. */
static uintptr_t function_at(uintptr_t ip)
{
    return ip > FROM_JITTED && ip <= FROM_JITTED + LEVELS ? function(at_level[ip - FROM_JITTED - 1])
                                                          : 0;
}

void enter(char method, unsigned level, uintptr_t from)
{
    at_level[level] = method;
    record_of(level)[1] = from;
    stack_enter_at(id(method), place_of(level));
}

void call(char method, unsigned level)
{
    enter(method, level, FROM_JITTED + level);
}

void native_call(char method, unsigned level)
{
    enter(method, level, FROM_NATIVE);
}

void leave(char method, unsigned level)
{
    stack_leave(id(method), sp_of(level));
}

void calls(const char *methods)
{
    unsigned level = 1;
    uintptr_t from = FROM_JITTED;

    for (; *methods; methods++) {
        if (*methods == '.') {
            from = FROM_NATIVE;
            continue;
        }
        enter(*methods, level, from + level);
        level++;
        from = FROM_JITTED;
    }
}

void search(const char *methods)
{
    for (; *methods; methods++)
        stack_search_function_enter(function(*methods));
}

void unwind(const char *methods)
{
    for (; *methods; methods++)
        stack_unwind_function_enter(function(*methods));
}

void expect_invariants(void)
{
    const struct stack *s = stack_self;
    const struct stack_block *block = load_relaxed(&s->block);
    bool lowered = s->dispatch.searching || s->dispatch.pending != STACK_NONE ||
                   (s->save_count && !s->saves[s->save_count - 1].filter);
    uint32_t depth = stack_depth(s);

    assert_ptr_equal(s->words->top, block->frames + 1 + depth); /* I3 */
    assert_ptr_equal(s->end, block->frames + 1 + block->capacity);
    assert_true(s->words->top <= s->end);
    assert_true(load_relaxed(&block->frames[0].sp) == UINTPTR_MAX); /* I1 */
    for (uint32_t i = 0; i < depth && !lowered; i++)
        assert_true(load_relaxed(&block->frames[1 + i].sp) < load_relaxed(&block->frames[i].sp));
    assert_true(s->words->limit == s->end || s->words->limit == NULL); /* I2 */
    if (lowered)
        assert_null(s->words->limit); /* I5 */
}

void expect_at(const char *methods, const char *file, int line)
{
    const struct stack *s = stack_self;
    char found[64];
    uint32_t depth = stack_depth(s), i;

    expect_invariants();
    for (i = 0; i < depth && i < sizeof(found) - 1; i++)
        found[i] = (char)((uintptr_t *)load_relaxed(&stack_frame(s, i)->method) - functions);
    found[i] = '\0';
    _assert_string_equal(found, methods, file, line);
}

size_t settle(void)
{
    struct frame *top;

    return stack_settle(stack_current(), &top);
}

uint64_t repairs(enum stack_repair why)
{
    return load_relaxed(&stack_self->repairs[why]);
}

void expect_only(enum stack_repair why, uint64_t count)
{
    for (unsigned i = 0; i < STACK_REPAIRS; i++)
        assert_int_equal(repairs((enum stack_repair)i), i == (unsigned)why ? count : 0);
    assert_int_equal(stack_touched(stack_self), count ? 1u << why : 0);
}

void expect_no_repair(void)
{
    expect_only(STACK_DEAD_ON_ENTER, 0);
}

bool thrower_is_gone;

static bool left(const struct frame *frame)
{
    uintptr_t sp = load_relaxed(&frame->sp);

    return thrower_is_gone && sp == sp_of(3);
}

struct stack_place above;
bool filter_throws;

static bool unhooked(uintptr_t since, const struct frame *frame, struct stack_place *out)
{
    assert_ptr_equal(frame, stack_words.top - 1);
    assert_true(since);
    *out = above;
    return above.fp || filter_throws;
}

static bool runs(const struct stack_place *place)
{
    return place->fp == above.fp && place->ret == above.ret;
}

int machine_begin(void **state)
{
    const struct stack_config config = {
        .function_at = function_at, .left = left, .unhooked = unhooked, .runs = runs};

    (void)state;
    clock_start();
    for (unsigned i = 0; i < COUNT_OF(functions); i++)
        functions[i] = 0x7f0000u + i;
    return stack_start(&config);
}

int machine_over(void **state)
{
    (void)state;
    memory_fail_after(-1);
    if (stack_peek()) {
        struct stack *s = stack_self;

        stack_self = &stack_none;
        stack_words_give(s);
        store_relaxed(&stack_words.state, 0); /* the next is another thread's */
        store_release(&s->gone, true);
    }
    while (stack_reclaim())
        ;
    return 0;
}
