/*
 * Whom a call goes to that has no hooks to say so. Most calls of the JIT have a fixed target: code,
 * or a stub that jumps there once the code is made, perhaps by way of another that counts.
 */
#include "code/internal.h"
#include "code/cpu_code.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/peek.h"

#define STUBS      8 /* one after the other, at the most */
#define STUB_SIZE  64
#define KNOWN_BITS 14

/*
 * Where calls go, by what they name: code, a stub, or a word that leads there. Many calls name the
 * same, and to read a stub or a word takes a system call. A method's stays a method's until code is
 * unloaded. A helper of the runtime stays one.
 */
struct callees {
    uint32_t epoch;
    struct {
        uintptr_t named;    /* the address, times 2; + 1: of a word; 0: free */
        uintptr_t function; /* 0: a helper */
    } known[1 << KNOWN_BITS];
};

static uintptr_t unless_dynamic(struct clr_info *info, uintptr_t function)
{
    int32_t dynamic = 0;

    return info->vtbl->is_function_dynamic(info, function, &dynamic) >= 0 && !dynamic ? function
                                                                                      : 0;
}

/*
 * The function whose code a target leads to; 0: none, or one without metadata. A method's stub
 * sometimes leads to the runtime instead: until its code is compiled, and while its calls are
 * counted again. Then the stub itself identifies the method. *helper: the call itself goes to the
 * runtime.
 */
static uintptr_t function_of(const struct metadata_config *config, struct cpu_target target,
                             bool *helper)
{
    struct clr_info *info = config->info;
    uint8_t stub[STUB_SIZE];
    uintptr_t function = 0, rejit, owner = 0;

    for (unsigned i = 0; i < STUBS; i++) {
        size_t size;

        if ((target.way != CPU_TO && target.way != CPU_THROUGH) ||
            (target.way == CPU_THROUGH && !peek(&target.at, target.at, sizeof(target.at))))
            break;
        if (target.at - config->native_low < config->native_high - config->native_low) {
            *helper = !i;
            break;
        }
        if (info->vtbl->get_function_from_ip3(info, (const uint8_t *)target.at, &function,
                                              &rejit) >= 0)
            return unless_dynamic(info, function);
        size = peek_some(stub, target.at, sizeof(stub));
        if (!owner)
            owner = cpu_stub_owner(stub, size, target.at);
        target = cpu_jump_target(stub, size, target.at);
    }
    if (!owner || !peek(&function, owner, sizeof(function)) || !function)
        return 0;
    return unless_dynamic(info, function);
}

/* The resolver's; NULL: another thread, or no memory. */
static struct callees *callees_of(struct metadata *metadata)
{
    uint32_t epoch = metadata_epoch(metadata);
    struct callees *callees;

    if (!metadata_is_resolver(metadata))
        return NULL;
    if (!metadata->callees)
        metadata->callees = memory_zalloc(1, sizeof(*callees));
    callees = metadata->callees;
    if (callees && callees->epoch != epoch)
        *callees = (struct callees){.epoch = epoch};
    return callees;
}

static uintptr_t function_called(struct metadata *metadata, struct cpu_target target)
{
    struct callees *callees = callees_of(metadata);
    uintptr_t named = target.at << 1 | (target.way == CPU_THROUGH), function;
    size_t at = hash_word(named) >> (64 - KNOWN_BITS);
    bool helper = false;

    if (target.way != CPU_TO && target.way != CPU_THROUGH)
        return 0;
    if (callees && callees->known[at].named == named)
        return callees->known[at].function;
    function = function_of(&metadata->config, target, &helper);
    if (callees && (function || helper)) {
        callees->known[at].named = named;
        callees->known[at].function = function;
    }
    return function;
}

struct metadata_method *code_callee(struct metadata *metadata, const uint8_t *code, size_t size,
                                    uintptr_t address)
{
    uintptr_t function = function_called(metadata, cpu_call_target(code, size, address));
    struct metadata_method *method;

    return function && metadata_method_map(metadata, function, &method) == 0 ? method : NULL;
}
