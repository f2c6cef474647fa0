/*
 * Whom a call goes to that has no hooks to say so. Most calls of the JIT have a fixed target: code,
 * or a stub that jumps there once the code is made, perhaps by way of another that counts.
 */
#include "code/internal.h"
#include "code/cpu_code.h"

#include "base/peek.h"

#define STUBS     8 /* one after the other, at the most */
#define STUB_SIZE 64

static uintptr_t unless_dynamic(struct clr_info *info, uintptr_t function)
{
    int32_t dynamic = 0;

    return info->vtbl->is_function_dynamic(info, function, &dynamic) >= 0 && !dynamic ? function
                                                                                      : 0;
}

/*
 * The function whose code a target leads to; 0: none, or one without metadata. A method's stub
 * sometimes leads to the runtime instead: until its code is compiled, and while its calls are
 * counted again. Then the stub itself identifies the method.
 */
static uintptr_t function_of(struct clr_info *info, struct cpu_target target)
{
    uint8_t stub[STUB_SIZE];
    uintptr_t function = 0, rejit, owner = 0;

    for (unsigned i = 0; i < STUBS; i++) {
        size_t size;

        if ((target.way != CPU_TO && target.way != CPU_THROUGH) ||
            (target.way == CPU_THROUGH && !peek(&target.at, target.at, sizeof(target.at))))
            break;
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

struct metadata_method *code_callee(struct metadata *metadata, const uint8_t *code, size_t size,
                                    uintptr_t address)
{
    uintptr_t function = function_of(metadata->config.info, cpu_call_target(code, size, address));
    struct metadata_method *method;

    return function && metadata_method_map(metadata, function, &method) == 0 ? method : NULL;
}
