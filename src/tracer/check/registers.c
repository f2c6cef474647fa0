/*
 * Compares the registers of each frame of a snapshot with the shadow frames:
 *
 * IP  of a frame that called another hooked method is the return address that the callee's Enter
 *     stored, if no frame lies between the two. Otherwise the code that holds the return address
 *     tells what lies between. A suspension may have replaced the return address before the Enter
 *     hook read it.
 * SP  of a frame is the callee's shadow SP if no frame lies between; otherwise it is higher, and
 *     below the frame's own caller.
 * FP  plus two words is the frame's shadow SP: a hooked method has a frame pointer. In a body that
 *     was entered by on-stack replacement it is lower.
 */
#include "check/internal.h"

#include "base/memory.h"
#include "clr/utf16.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

#define CODE_ROWS 1024 /* return addresses that are remembered, each walker's own; a power of two */
#define NAME_SIZE 64

struct check_code {
    uint32_t epoch; /* of the names: code that was unloaded may have been replaced */
    struct {
        uintptr_t ip, function;    /* function: that holds ip, if the runtime has a name for it */
        enum agreement_call class; /* if it has none */
    } row[CODE_ROWS];
};

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* Jitted code without metadata: a stub of the runtime, by its name, or somebody's DynamicMethod. */
static enum agreement_call class_of_dynamic(struct clr_info *info, uintptr_t function)
{
    clr_wchar wide[NAME_SIZE] = {0};
    char name[CLR_UTF8_SIZE(NAME_SIZE)];
    const uint8_t *signature;
    uintptr_t module;
    uint32_t size, length = 0;

    if (info->vtbl->get_dynamic_function_info(info, function, &module, &signature, &size, NAME_SIZE,
                                              &length, wide) < 0)
        return AGREEMENT_CALL_STUB;
    clr_utf16_to_utf8(name, sizeof(name), wide, length ? length - 1 : 0);
    if (starts_with(name, "IL_STUB_CallTailCallTarget"))
        return AGREEMENT_CALL_TAIL;
    return starts_with(name, "IL_STUB") ? AGREEMENT_CALL_STUB : AGREEMENT_CALL_DYNAMIC;
}

/* Returns whether the runtime said: in an ELT3 hook it does not. */
static bool ask(const struct check_config *config, uintptr_t ip, uintptr_t *function,
                enum agreement_call *class)
{
    struct clr_info *info = config->info;
    const uint8_t *code = (const uint8_t *)ip;
    uintptr_t rejit;
    hresult result;

    *class = AGREEMENT_CALL_OTHER;
    if (info->vtbl->get_function_from_ip(info, code, function) == S_OK)
        return true;
    result = info->vtbl->get_function_from_ip3(info, code, function, &rejit);
    if (result == S_OK)
        *class = class_of_dynamic(info, *function);
    else
        *class = result == CORPROF_E_UNSUPPORTED_CALL_SEQUENCE
                     ? AGREEMENT_CALL_UNNAMED
                     : AGREEMENT_CALL_NATIVE; /* nothing that was jitted */
    *function = 0;
    return *class != AGREEMENT_CALL_UNNAMED;
}

/* What lies at a return address that is not the snapshot's IP of `function`'s frame. */
static enum agreement_call class_of(struct check_walk *walk, uintptr_t ip, uintptr_t function,
                                    bool called)
{
    const struct check_config *config = &walk->check->config;
    uint32_t epoch = metadata_epoch(config->metadata);
    unsigned at = (unsigned)(ip ^ ip >> 9) & (CODE_ROWS - 1);
    struct check_code *code = walk->code;
    struct metadata_method *method;

    if (ip == FRAME_RET_FILTER)
        return AGREEMENT_CALL_FILTER;
    if (ip >= config->native_low && ip < config->native_high)
        return called ? AGREEMENT_CALL_HIJACKED : AGREEMENT_CALL_RUNTIME;
    if (!code || code->epoch != epoch) {
        if (!code)
            code = walk->code = memory_alloc(sizeof(*code));
        if (!code)
            return AGREEMENT_CALL_OTHER;
        memset(code, 0, sizeof(*code));
        code->epoch = epoch;
    }
    if (code->row[at].ip != ip)
        code->row[at].ip = ask(config, ip, &code->row[at].function, &code->row[at].class) ? ip : 0;
    if (!code->row[at].function)
        return code->row[at].class;
    /* Its own code, but elsewhere: in a handler, which the snapshot shows at the throwing call. */
    if (code->row[at].function == function)
        return AGREEMENT_CALL_HANDLER;
    method = metadata_method_find(config->metadata, code->row[at].function);
    if (method && method->hidden)
        return AGREEMENT_CALL_HIDDEN;
    /* What --only does not name has no record, as a rule. */
    if (method ? load_relaxed(&method->spared) || (config->reduce && !method->hooked)
               : config->reduce)
        return AGREEMENT_CALL_UNHOOKED;
    if (config->pinvokes && !(method && method->hooked) &&
        !metadata_method_map(config->metadata, code->row[at].function, &method) &&
        metadata_method_pinvoke(method))
        return AGREEMENT_CALL_UNHOOKED;
    return AGREEMENT_CALL_OTHER;
}

/* `below`: how many shadow frames are older; that of a filter is never the oldest. */
static enum agreement_fp class_of_fp(const struct check_frame *frame,
                                     const struct stack_copied *shadow, size_t below)
{
    /* It runs on the frame pointer of its method's own frame. */
    if (shadow->ret == FRAME_RET_FILTER)
        do
            shadow--;
        while (below-- > 1 && (FRAME_RECORD(*shadow) < frame->fp ||
                               stack_copied_function(shadow) != frame->function));
    if (frame->fp == FRAME_RECORD(*shadow))
        return AGREEMENT_FP_EQUAL;
    return frame->fp >= frame->sp && frame->fp < FRAME_RECORD(*shadow) ? AGREEMENT_FP_REPLACED
                                                                       : AGREEMENT_FP_OTHER;
}

static enum agreement_sp class_of_sp(const struct check_frame *frame,
                                     const struct stack_copied *own)
{
    const struct stack_copied *callee = own + 1;

    if (callee->sp == frame->sp)
        return AGREEMENT_SP_EQUAL;
    if (callee->ret == FRAME_RET_FILTER)
        return AGREEMENT_SP_FILTER;
    return frame->sp > callee->sp && frame->sp < own->sp ? AGREEMENT_SP_BETWEEN
                                                         : AGREEMENT_SP_OTHER;
}

void check_registers(struct check_walk *walk, const struct stack_copied *shadow)
{
    struct agreement *a = walk->check->config.agreement;
    uint64_t call[AGREEMENT_CALLS] = {0}, sp[AGREEMENT_SPS] = {0}, fp[AGREEMENT_FPS] = {0};

    for (size_t i = 0; i < walk->count; i++) {
        const struct check_frame *frame = &walk->frame[i];
        const struct stack_copied *own = &shadow[walk->count - 1 - i], *callee = own + 1;
        enum agreement_call class;

        fp[class_of_fp(frame, own, walk->count - 1 - i)]++;
        if (!i)
            continue; /* the innermost called nobody who is hooked */
        class = callee->ret == frame->ip
                    ? AGREEMENT_CALL_EQUAL
                    : class_of(walk, callee->ret, frame->function, callee->sp == frame->sp);
        call[class]++;
        sp[class_of_sp(frame, own)]++;
    }
    for (unsigned i = 0; i < AGREEMENT_CALLS; i++)
        add_relaxed(&a->call[i], call[i]);
    for (unsigned i = 0; i < AGREEMENT_SPS; i++)
        add_relaxed(&a->sp[i], sp[i]);
    for (unsigned i = 0; i < AGREEMENT_FPS; i++)
        add_relaxed(&a->fp[i], fp[i]);
}
