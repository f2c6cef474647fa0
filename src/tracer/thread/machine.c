#include "thread/machine.h"

#include "code/cpu_code.h"
#include "stack/stack_hot.h"

#include "base/mapping.h"
#include "base/peek.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

#define WALKED 64   /* frames between a callback and the youngest method, at the most */
#define NESTED 4096 /* the same where code without hooks has called more of it */

#define STUB_WORDS 128 /* that a stub of the runtime saves, above the frame of what it calls */

static struct {
    struct clr_info *info;
    int info_version;
    struct metadata *metadata;
} self;

void machine_start(const struct clr_runtime *runtime, struct metadata *metadata)
{
    self.info = runtime->info;
    self.info_version = runtime->info_version;
    self.metadata = metadata;
}

uintptr_t machine_function_at(uintptr_t ip)
{
    uintptr_t function = 0;

    return self.info->vtbl->get_function_from_ip(self.info, (const uint8_t *)ip, &function) == S_OK
               ? function
               : 0;
}

/* Jitted or precompiled code? *function: its FunctionID, 0 without metadata (DynamicMethod). */
static bool is_managed(uintptr_t ip, uintptr_t *function)
{
    uintptr_t dynamic, rejit;

    *function = machine_function_at(ip);
    return *function || (RULE(RULE_DYNAMIC_RUNS) && self.info_version >= 10 &&
                         self.info->vtbl->get_function_from_ip3(self.info, (const uint8_t *)ip,
                                                                &dynamic, &rejit) == S_OK);
}

/* The same, and none of the exception machinery (System.Runtime.EH). */
static bool is_code(uintptr_t ip)
{
    struct metadata_method *method;
    uintptr_t function;

    if (!is_managed(ip, &function))
        return false;
    return !function || metadata_method_map(self.metadata, function, &method) || !method->hidden;
}

bool machine_may_return_to(uintptr_t word)
{
    uint8_t code[CPU_CALL_BYTES];

    return word > CPU_CALL_BYTES && peek(code, word - CPU_CALL_BYTES, CPU_CALL_BYTES) &&
           cpu_returns(code + CPU_CALL_BYTES);
}

/*
 * Memory that the JIT writes to is no file's. It may be mapped twice, though: once to be written,
 * once to be run (DOTNET_EnableWriteXorExecute), from a file without a place in any folder.
 */
static bool is_jitted(uintptr_t address)
{
    struct mapping mapping;

    return mapping_find(address, &mapping) && mapping.executable &&
           (mapping.name[0] != '/' || strstr(mapping.name, "doublemapper"));
}

/* Does the chain go on from here? It must rise. */
static bool rises(const uintptr_t *frame)
{
    return frame[0] > (uintptr_t)frame && frame[0] % sizeof(uintptr_t) == 0;
}

/*
 * A stub of the runtime leaves the frame pointer of the code that called it in place. What it saved
 * begins with that, pushed next to its return address.
 */
static const uintptr_t *stub_saved(const uintptr_t *frame)
{
    uintptr_t function;

    for (const uintptr_t *word = frame + 2;
         word < frame + STUB_WORDS && (uintptr_t)(word + 1) < frame[0]; word++)
        if (word[0] == frame[0] && machine_may_return_to(word[1]) && is_managed(word[1], &function))
            return word;
    return NULL;
}

uintptr_t machine_stub_returns_to(const uintptr_t *frame)
{
    const uintptr_t *saved = stub_saved(frame);

    return saved ? saved[1] : 0;
}

/*
 * 10.0.12 leaves out the reports of frames of the method whose funclet it reported last: a second
 * pass through those alone is silent. While the first pass goes on, its managed code
 * (System.Runtime.EH) lies between the callback and the thrower; when the exception has gone into
 * native code, nothing managed does.
 */
bool machine_left(const struct frame *of)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    uintptr_t target = frame_record(of), function;

    for (unsigned i = 0; load_relaxed(&of->sp) != UINTPTR_MAX && i < WALKED; i++) {
        if (!rises(frame) || is_managed(frame[1], &function))
            return false;
        if (frame[0] >= target) /* equal: a native function called from where the thrower was */
            return !stub_saved(frame); /* else called from a filter */
        frame = (const uintptr_t *)frame[0];
    }
    return false;
}

/*
 * The frame is there if the chain leads to it, and returns to where it was called from: after a
 * frame was left, another may begin at the same place. A filter runs on the frame pointer of its
 * method's own frame, and the chain leads from there past what lies between: then the last step is
 * one from managed code.
 */
bool machine_unhooked(uintptr_t since, const struct frame *of, struct stack_place *out)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    uintptr_t target = frame_record(of);

    out->fp = 0;
    for (unsigned i = 0; i < NESTED && rises(frame); i++) {
        const uintptr_t *caller = (const uintptr_t *)frame[0];

        if ((uintptr_t)caller == target)
            return out->fp && out->fp != (uintptr_t)frame && caller[1] == frame_ret(of);
        if ((uintptr_t)caller > target)
            return is_code(frame[1]) || stub_saved(frame);
        if ((uintptr_t)caller < since && is_code(frame[1]))
            *out = (struct stack_place){(uintptr_t)caller, caller[1]};
        frame = caller;
    }
    return false;
}

bool machine_is_nameless(uintptr_t word)
{
    uintptr_t function;

    return machine_may_return_to(word) && is_jitted(word) && is_managed(word, &function) &&
           !function;
}

bool machine_runs(const struct stack_place *place)
{
    const uintptr_t *frame = __builtin_frame_address(0);

    while (rises(frame) && frame[0] < place->fp)
        frame = (const uintptr_t *)frame[0];
    return frame[0] == place->fp && ((const uintptr_t *)place->fp)[1] == place->ret;
}
