#include "walk/internal.h"

#include "code/code.h"
#include "code/cpu_code.h"
#include "stack/stack_hot.h"
#include "thread/machine.h"

#include <string.h>

#define BODIES     32 /* of one method */
#define RANGES     4  /* of one body */
#define PROLOG_MAX 64 /* bytes that are looked at of a body whose size is not known */

/* A frame pointer leads to the frame: above it the saved one, then the return address. */
static void framed(struct walk_rule *out, uint32_t above, uint32_t distance)
{
    out->by_fp = true;
    out->cfa = (int32_t)(above + 2 * sizeof(uintptr_t));
    out->fp = -out->cfa;
    out->framed = true;
    out->distance = distance;
}

enum walk_why walk_prolog(const uint8_t *code, size_t size, uintptr_t at, bool exact,
                          struct walk_rule *out)
{
    struct cpu_prolog prolog;

    if (!cpu_prolog(code, size, &prolog) || (prolog.leaf && !exact))
        return WALK_PROLOG;
    if (at - (uintptr_t)code < prolog.size)
        return WALK_PROLOG; /* within it: the frame is not whole */
    if (RULE(RULE_WALK_FRAMELESS) ? prolog.framed : true) {
        framed(out, 0, prolog.bytes);
        return WALK_CERTAIN;
    }
    out->by_fp = false;
    out->cfa = (int32_t)(prolog.bytes + sizeof(uintptr_t));
    out->keeps_fp = !prolog.saved;
    out->fp = -(int32_t)(prolog.saved + sizeof(uintptr_t));
    return WALK_CERTAIN;
}

/* An address in code, and what the runtime says of the method there. */
struct code {
    uintptr_t at; /* in an instruction */
    bool exact;   /* it stopped there */
    uint32_t count;
    uintptr_t start[BODIES];
};

/* Does the image's own table say the same of this function? */
static bool confirmed(const struct images_function *function, const struct walk_rule *rule)
{
    struct code_frame_info info;
    uint32_t total;

    if (!unwind_info_read(function->info, function->end, &info))
        return false;
    if (rule->framed)
        return info.saved == 8 && info.bytes == rule->distance + 8 &&
               (!info.framed || info.frame == rule->distance);
    total = (uint32_t)rule->cfa - 8;
    return !info.framed && info.bytes == total &&
           (rule->keeps_fp ? !info.saved : info.saved == (uint32_t)-rule->fp - 8);
}

/* Where the method's code begins that holds the address; NULL: not known. */
static const uint8_t *method_start(const struct code *code)
{
    uintptr_t best = 0;

    for (uint32_t i = 0; i < code->count; i++)
        if (code->start[i] <= code->at && code->start[i] > best)
            best = code->start[i];
    return (const uint8_t *)best;
}

/*
 * The rule of a piece of code, of a method that begins with this prolog. Where no prolog is left,
 * its return addresses have the same.
 */
static enum walk_why body_rule(const struct code *of, uintptr_t low, size_t piece,
                               const uint8_t *begins, size_t size, struct walk_rule *out,
                               struct walk_body *body)
{
    bool first = low == (uintptr_t)begins;
    struct cpu_prolog prolog = {0};

    if (!of->exact && cpu_prolog(begins, size, &prolog))
        *body = (struct walk_body){.low = low + (first ? prolog.size : 0), .high = low + piece};
    return walk_prolog(begins, size, first ? of->at : UINTPTR_MAX, of->exact, out);
}

/*
 * Precompiled code: the table has an entry for a method, and for each of its handlers, which run on
 * the frame pointer of the method.
 */
static enum walk_why precompiled(struct walk *walk, const struct images_function *function,
                                 const struct code *of, struct walk_rule *out,
                                 struct walk_body *body)
{
    const uint8_t *begins = method_start(of);
    struct images_function whole = *function;
    enum walk_why why;

    if (begins && begins != function->code &&
        (!images_find(walk->images, (uintptr_t)begins, &whole) || whole.code != begins))
        return WALK_IMAGE;
    why =
        body_rule(of, (uintptr_t)function->code, function->size, whole.code, whole.size, out, body);
    if (why == WALK_CERTAIN && RULE(RULE_WALK_FRAMELESS) && !confirmed(&whole, out))
        return WALK_IMAGE;
    return why;
}

/*
 * A body that replaced a running one uses that one's frame, and the caller's frame lies above both.
 * With several that it may have replaced, the registers that its prolog stores into the old frame
 * say which it was, or all must have a frame of one size.
 */
static enum walk_why replaced(const uint8_t *code, size_t size, const struct code *of,
                              struct walk_rule *out)
{
    uint32_t saved = cpu_osr_distance(code, size), known = 0;
    struct cpu_prolog own, old;

    if (!RULE(RULE_WALK_OSR)) {
        framed(out, 0, 0);
        return WALK_CERTAIN;
    }
    if (!cpu_prolog_osr(code, size, &own))
        return WALK_OSR;
    for (uint32_t i = 0; i < of->count; i++) {
        const uint8_t *other = (const uint8_t *)of->start[i];
        uint32_t total;

        if (other == code || cpu_is_osr(other, PROLOG_MAX) ||
            !cpu_prolog(other, PROLOG_MAX, &old) || !old.framed)
            continue;
        total = old.bytes + 8; /* of the old frame, up to the return address */
        if (saved && saved + old.pushed - 8 != own.bytes + 8 + 8 + total)
            continue;
        if (known && known != total)
            return WALK_OSR;
        known = total;
    }
    if (!known)
        return WALK_OSR;
    framed(out, known + 8, own.bytes);
    out->fp = -out->cfa;
    return WALK_CERTAIN;
}

/* The body that holds the address, among those of the method. */
static enum walk_why jitted(struct walk *walk, const struct code *of, struct walk_rule *out,
                            struct walk_body *body)
{
    struct clr_info *info = walk->runtime->info;

    for (uint32_t i = 0; i < of->count; i++) {
        struct clr_code_info range[RANGES];
        uint32_t ranges = 0;

        if (info->vtbl->get_code_info4(info, of->start[i], RANGES, &ranges, range) < 0)
            continue;
        for (uint32_t k = 0; k < ranges && k < RANGES; k++) {
            const uint8_t *code = (const uint8_t *)range[0].start_address;

            if (of->at - range[k].start_address >= range[k].size)
                continue;
            if (cpu_is_osr(code, range[0].size))
                return replaced(code, range[0].size, of, out);
            return body_rule(of, range[k].start_address, range[k].size, code, range[0].size, out,
                             body);
        }
    }
    return WALK_CODE;
}

/*
 * What the method is to a snapshot, and whether its code may be unloaded. unnamed: that of code
 * which has no method in a snapshot, where `function` is 0.
 */
static enum walk_why name(struct walk *walk, uintptr_t function, uintptr_t unnamed,
                          struct walk_rule *out, bool *unloads)
{
    struct metadata_method *method;

    *unloads = true;
    if (!function) {
        out->kind = code_is_stub(walk->metadata, unnamed) ? KIND_STUB : KIND_DYNAMIC;
        return WALK_CERTAIN;
    }
    if (metadata_method_map(walk->metadata, function, &method))
        return WALK_METHOD;
    *unloads = method->collectible;
    out->kind = KIND_HIDDEN;
    if ((method->hidden ||
         (walk->runtime->major >= 11 && metadata_method_thunk(walk->metadata, method))) &&
        RULE(RULE_WALK_HIDDEN))
        return WALK_CERTAIN;
    out->kind = KIND_MANAGED;
    out->of = method;
    return WALK_CERTAIN;
}

/* May the word be a return address? The runtime must not be asked about any other. */
static bool may_return_to(uintptr_t ip, bool readable, const struct images_function *image)
{
    if (readable || (image && ip - (uintptr_t)image->code >= CPU_CALL_BYTES))
        return cpu_returns((const uint8_t *)ip);
    return machine_may_return_to(ip);
}

enum walk_why walk_managed(struct walk *walk, uintptr_t ip, bool readable,
                           const struct images_function *image, uint32_t epoch,
                           struct walk_rule *out, struct walk_body *body)
{
    struct clr_info *info = walk->runtime->info;
    uintptr_t function = 0, rejit = 0;
    struct code of = {.exact = ip & WALK_EXACT};
    enum walk_why why;
    bool unloads;

    of.at = (ip & ~WALK_EXACT) - !of.exact;
    if (walk->runtime->info_version < 10)
        return WALK_CODE;
    if (!of.exact && !may_return_to(ip, readable, image))
        return WALK_CODE;
    if (info->vtbl->get_function_from_ip3(info, (const uint8_t *)of.at, &function, &rejit) < 0)
        return WALK_CODE;
    if (info->vtbl->get_native_code_start_addresses(info, function, rejit, BODIES, &of.count,
                                                    of.start) < 0)
        of.count = 0;
    of.count = of.count < BODIES ? of.count : BODIES;
    out->ret = -(int16_t)sizeof(uintptr_t);
    why = name(walk, machine_function_at(of.at), function, out, &unloads);
    if (why != WALK_CERTAIN)
        return why;
    why = image ? precompiled(walk, image, &of, out, body) : jitted(walk, &of, out, body);
    body->epoch = unloads ? epoch : 0;
    body->rule = *out;
    return why;
}
