/*
 * From a frame of code without hooks to the method that called it.
 *
 * A frame pointer leads to the return address. Small pieces of code keep none: their prolog says
 * what they push and how far they lower the stack pointer, for good; other code has a frame
 * pointer. What is found must lie in the code of the method asked for, behind a call.
 */
#include "code/internal.h"
#include "code/cpu_code.h"

#include "base/hash.h"
#include "base/memory.h"

#define FRAMES 64 /* of such code between two methods, at the most */
#define BODIES 8  /* of one piece of it that are looked at */

/*
 * What is known of places in code without hooks, one word for each: the same few lead to most
 * allocations made there, and the runtime is slow to tell. No place in a method with hooks is among
 * them: the way ends at the first. The place is in the upper bits, then whether there
 * is a frame pointer, then how many words lie between the stack pointer and the return address.
 */
#define STEPS_BITS  12
#define WORDS_BITS  12
#define PLACE_SHIFT (WORDS_BITS + 1)
#define FRAMED      (UINT64_C(1) << WORDS_BITS)

struct steps {
    _Atomic(uint32_t) epoch; /* all is forgotten when code was unloaded: other may lie there */
    _Atomic(uint64_t) step[1 << STEPS_BITS];
};

/* NULL: no memory. Code on the calling thread's stack is not unloaded: what it adds is right. */
static struct steps *steps_of(struct metadata *metadata)
{
    struct steps *steps = load_acquire(&metadata->steps), *none = NULL;
    uint32_t epoch = metadata_epoch(metadata);

    if (!steps) {
        struct steps *made = memory_zalloc(1, sizeof(*made));

        if (made && !cas_acq_rel(&metadata->steps, &none, made)) {
            memory_free(made);
            made = none;
        }
        steps = made;
    }
    if (steps && UNLIKELY(load_acquire(&steps->epoch) != epoch)) {
        for (size_t i = 0; i < COUNT_OF(steps->step); i++)
            store_relaxed(&steps->step[i], 0);
        store_release(&steps->epoch, epoch);
    }
    return steps;
}

static _Atomic(uint64_t) *step_at(struct steps *steps, uintptr_t ip)
{
    return &steps->step[hash_word(ip) >> (64 - STEPS_BITS)];
}

static bool step_known(struct steps *steps, uintptr_t ip, struct cpu_prolog *out)
{
    uint64_t known = steps ? load_relaxed(step_at(steps, ip)) : 0;

    if (!known || known >> PLACE_SHIFT != ip)
        return false;
    out->framed = known & FRAMED;
    out->bytes = (uint32_t)(known & (FRAMED - 1)) * sizeof(uintptr_t);
    return true;
}

static void step_note(struct steps *steps, uintptr_t ip, const struct cpu_prolog *prolog)
{
    uint64_t words = prolog->bytes / sizeof(uintptr_t), word = (uint64_t)ip << PLACE_SHIFT;

    if (steps && words < FRAMED && word >> PLACE_SHIFT == ip)
        store_relaxed(step_at(steps, ip), word | (prolog->framed ? FRAMED : 0) | words);
}

/* The code that holds ip, and its size before ip. Code without hooks has one body, or few. */
static const uint8_t *code_before(struct metadata *metadata, uintptr_t ip, size_t *size)
{
    struct clr_info *info = metadata->config.info;
    uintptr_t function = 0, rejit = 0, start[BODIES];
    uint32_t bodies = 0, count;

    if (info->vtbl->get_function_from_ip3(info, (const uint8_t *)ip, &function, &rejit) < 0 ||
        info->vtbl->get_native_code_start_addresses(info, function, rejit, BODIES, &bodies, start) <
            0)
        return NULL;
    for (uint32_t i = 0; i < bodies && i < BODIES; i++) {
        struct clr_code_info range = {0, 0};

        if (info->vtbl->get_code_info4(info, start[i], 1, &count, &range) >= 0 &&
            ip - range.start_address < range.size) {
            *size = ip - range.start_address;
            return (const uint8_t *)range.start_address;
        }
    }
    return NULL;
}

/* Does a call that returns to `ip` lie in the code of `method`? */
static bool is_call_in(struct metadata *metadata, const struct metadata_method *method,
                       uintptr_t ip)
{
    struct clr_info *info = metadata->config.info;
    uintptr_t function = 0, rejit;
    uint32_t offset;

    if (!code_body_find(metadata, method, ip - 1, &offset) &&
        (info->vtbl->get_function_from_ip3(info, (const uint8_t *)(ip - 1), &function, &rejit) <
             0 ||
         function != method->function_id))
        return false;
    return cpu_returns((const uint8_t *)ip);
}

static bool step(struct metadata *metadata, struct steps *steps, struct code_place *at,
                 uintptr_t limit)
{
    struct cpu_prolog prolog;
    const uint8_t *code;
    size_t size;
    uintptr_t slot;

    if (!step_known(steps, at->ip, &prolog)) {
        code = code_before(metadata, at->ip - 1, &size);
        if (!code || !cpu_prolog_simple(code, size, &prolog))
            return false;
        step_note(steps, at->ip, &prolog);
    }
    slot = prolog.framed ? at->fp + sizeof(slot) : at->sp + prolog.bytes;
    if (slot < at->sp || slot >= limit || slot % sizeof(slot))
        return false;
    if (prolog.framed)
        at->fp = ((const uintptr_t *)slot)[-1];
    at->ip = *(const uintptr_t *)slot;
    at->sp = slot + sizeof(slot);
    return true;
}

uintptr_t code_caller(struct metadata *metadata, const struct metadata_method *method,
                      const struct code_place *from, uintptr_t limit)
{
    struct code_place at = *from;
    struct cpu_prolog prolog;
    struct steps *steps;

    if (metadata->config.info_version < 9)
        return 0;
    steps = steps_of(metadata);
    for (unsigned i = 0; i < FRAMES && step(metadata, steps, &at, limit); i++) {
        if (!step_known(steps, at.ip, &prolog) && is_call_in(metadata, method, at.ip))
            return at.ip;
    }
    return 0;
}
