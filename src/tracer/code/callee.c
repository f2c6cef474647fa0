/*
 * Whom a call goes to that has no hooks to say so. Most calls of the JIT have a fixed target: code,
 * or a stub that jumps there once the code is made, perhaps by way of another that counts.
 */
#include "code/internal.h"
#include "code/cpu_code.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/peek.h"

#include <string.h>

#define STUBS      8 /* one after the other, at the most */
#define STUB_SIZE  64
#define KNOWN_BITS 14
#define PAGE_BITS  12 /* of the smallest: pages may be larger */
#define PAGES_BITS 8

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
    /* Pages of images, and of stubs, that stay: numbers, by hash; 0: free. */
    uintptr_t page[1 << PAGES_BITS];
};

/* Whose call it is. */
struct caller {
    struct metadata *metadata;
    const struct metadata_method *method;
    struct callees *callees; /* NULL: nothing is kept */
    uintptr_t stub, owner;   /* a method's stub that led on, and where its FunctionID lies; or 0 */
};

static uintptr_t *page_place(const struct caller *caller, uintptr_t at)
{
    return &caller->callees->page[hash_word(at >> PAGE_BITS) >> (64 - PAGES_BITS)];
}

static bool page_stays(const struct caller *caller, uintptr_t at)
{
    return caller->callees && at >> PAGE_BITS && *page_place(caller, at) == at >> PAGE_BITS;
}

static void page_know(const struct caller *caller, uintptr_t at)
{
    if (caller->callees)
        *page_place(caller, at) = at >> PAGE_BITS;
}

/* The word at an address. What lies in the method's own image is read through the kernel once. */
static bool word_read(const struct caller *caller, uintptr_t at, uintptr_t *out)
{
    if (at % sizeof(*out) == 0 && page_stays(caller, at)) {
        *out = load_relaxed((const _Atomic(uintptr_t) *)at); /* NOLINT: an address */
        return true;
    }
    if (!peek(out, at, sizeof(*out)))
        return false;
    if (at % sizeof(*out) == 0 && code_image_holds(caller->metadata, caller->method, at))
        page_know(caller, at);
    return true;
}

static size_t stub_read(const struct caller *caller, uint8_t stub[STUB_SIZE], uintptr_t at)
{
    size_t size;

    if (page_stays(caller, at) && page_stays(caller, at + STUB_SIZE - 1)) {
        memcpy(stub, (const void *)at, STUB_SIZE); /* NOLINT: an address */
        return STUB_SIZE;
    }
    size = peek_some(stub, at, STUB_SIZE);
    if (size && code_image_holds(caller->metadata, caller->method, at))
        page_know(caller, at);
    return size;
}

/* The stubs of methods that stay, and the words that they go by, lie where only such ones do. */
static void stub_know(const struct caller *caller, const struct metadata_method *method)
{
    uintptr_t owner;

    if (!caller->stub || (page_stays(caller, caller->stub) && page_stays(caller, caller->owner)) ||
        metadata_method_entry(method)->recheck || !peek(&owner, caller->owner, sizeof(owner)) ||
        owner != method->function_id)
        return;
    page_know(caller, caller->stub);
    page_know(caller, caller->owner);
}

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
 * runtime, by a stub that calls a helper, or to code that is no stub: helpers that were copied.
 */
static uintptr_t function_of(struct caller *caller, struct cpu_target target, bool *helper)
{
    const struct metadata_config *config = &caller->metadata->config;
    struct clr_info *info = config->info;
    uint8_t stub[STUB_SIZE];
    uintptr_t function = 0, rejit, at = 0;
    size_t size = 0;

    for (unsigned i = 0; i < STUBS; i++) {
        uintptr_t through = target.way == CPU_THROUGH ? target.at : 0;

        if ((target.way != CPU_TO && target.way != CPU_THROUGH) ||
            (target.way == CPU_THROUGH && !word_read(caller, target.at, &target.at)))
            break;
        if (target.at - config->native_low < config->native_high - config->native_low) {
            *helper = !i || (i == 1 && cpu_stub_helps(stub, size));
            if (i && *helper && !metadata_method_entry(caller->method)->recheck)
                page_know(caller, at); /* such stubs are of the module */
            break;
        }
        if (info->vtbl->get_function_from_ip3(info, (const uint8_t *)target.at, &function,
                                              &rejit) >= 0)
            return unless_dynamic(info, function);
        at = target.at;
        size = stub_read(caller, stub, at);
        if (!caller->owner && (caller->owner = cpu_stub_owner(stub, size, at, through)))
            caller->stub = at;
        target = cpu_jump_target(stub, size, at);
        *helper = !i && size == sizeof(stub) && target.way == CPU_UNREAD;
    }
    if (!caller->owner || !word_read(caller, caller->owner, &function) || !function)
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
    if (!metadata->callees && (metadata->callees = memory_zalloc(1, sizeof(*callees))))
        memory_pages_fill(metadata->callees, sizeof(*callees)); /* all over, and read first */
    callees = metadata->callees;
    if (callees && callees->epoch != epoch)
        *callees = (struct callees){.epoch = epoch};
    return callees;
}

struct metadata_method *code_callee(struct metadata *metadata, const struct metadata_method *method,
                                    const uint8_t *code, size_t size, uintptr_t address)
{
    struct caller caller = {metadata, method, callees_of(metadata), 0, 0};
    struct cpu_target target = cpu_call_target(code, size, address);
    uintptr_t named = target.at << 1 | (target.way == CPU_THROUGH), function;
    size_t at = hash_word(named) >> (64 - KNOWN_BITS);
    struct callees *callees = caller.callees;
    struct metadata_method *callee;
    enum code_cell cell = CODE_CELL_NONE;
    bool helper = false;

    if (target.way != CPU_TO && target.way != CPU_THROUGH)
        return NULL;
    if (callees && callees->known[at].named == named) {
        function = callees->known[at].function;
    } else {
        if (target.way == CPU_THROUGH)
            cell = code_cell(metadata, method, target.at, &callee);
        if (cell == CODE_CELL_METHOD)
            return callee;
        helper = cell == CODE_CELL_HELPER;
        function = helper ? 0 : function_of(&caller, target, &helper);
        if (callees && (function || helper)) {
            callees->known[at].named = named;
            callees->known[at].function = function;
        }
    }
    if (!function || metadata_method_map(metadata, function, &callee))
        return NULL;
    stub_know(&caller, callee);
    return callee;
}
