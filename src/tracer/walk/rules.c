#include "walk/internal.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/peek.h"
#include "stack/stack_hot.h"
#include "thread/machine.h"

#include <string.h>

#define RULES_FIRST 512 /* of a thread */

/* The kernel's return from a signal handler: mov rax, 15 (rt_sigreturn); syscall. */
static const uint8_t sigreturn[] = {0x48, 0xC7, 0xC0, 15, 0, 0, 0, 0x0F, 0x05};

static enum walk_why native(const struct natives_place *place, uintptr_t at, bool exact,
                            struct walk_rule *out)
{
    uint8_t code[sizeof(sigreturn)];
    struct cfi_rule rule;

    if (!exact && !machine_may_return_to(out->ip)) {
        if (peek(code, out->ip, sizeof(code)) && memcmp(code, sigreturn, sizeof(code)) == 0) {
            out->kind = KIND_SIGNAL;
            return WALK_CERTAIN;
        }
        /* To stop a thread, the runtime replaces a return address by one of its functions. */
        return WALK_HIJACKED;
    }
    if (!place->table.header || !cfi_find(&place->table, at, &rule))
        return WALK_NATIVE;
    out->kind = rule.ends ? KIND_END : KIND_NATIVE;
    out->image = place->stays ? NULL : place->image;
    out->by_fp = rule.by_fp;
    out->keeps_fp = rule.keeps_fp;
    out->cfa = rule.cfa;
    out->fp = rule.fp;
    out->ret = rule.ret;
    out->exact_caller =
        RULE(RULE_WALK_EXACT) && !rule.ends && rule.ret != -(int32_t)sizeof(uintptr_t);
    return WALK_CERTAIN;
}

static void make(struct walk *walk, uintptr_t ip, struct walk_rule *out)
{
    bool exact = ip & WALK_EXACT;
    uintptr_t at = (ip & ~WALK_EXACT) - !exact;
    struct natives_place place;
    enum walk_why why;

    *out = (struct walk_rule){.ip = ip};
    (void)natives_find(at, &place);
    why = place.image ? native(&place, at, exact, out) : walk_managed(walk, at, out);
    if (why == WALK_CERTAIN)
        return;
    *out = (struct walk_rule){.ip = ip, .kind = KIND_UNSURE, .why = (uint8_t)why};
}

static uint32_t *place_of(const struct walk_rules *rules, uintptr_t ip)
{
    uint32_t mask = 2 * rules->capacity - 1, at = (uint32_t)(hash_word(ip) >> 32) & mask;

    while (rules->place[at] && rules->rule[rules->place[at]].ip != ip)
        at = (at + 1) & mask;
    return &rules->place[at];
}

static bool grow(struct walk_rules *rules)
{
    uint32_t capacity = rules->capacity ? 2 * rules->capacity : RULES_FIRST;
    size_t size = sizeof(*rules->rule), used = rules->capacity * size;
    uint32_t *place = memory_pages_map(2 * (size_t)capacity * sizeof(*place));
    struct walk_rule *rule = place ? memory_pages_grow(rules->rule, used, capacity * size) : NULL;

    if (!rule) {
        memory_pages_unmap(place, 2 * (size_t)capacity * sizeof(*place));
        return false;
    }
    memory_pages_unmap(rules->place, 2 * (size_t)rules->capacity * sizeof(*place));
    rules->rule = rule;
    rules->place = place;
    rules->capacity = capacity;
    rules->count = rules->count ? rules->count : 1;
    for (uint32_t i = 1; i < rules->count; i++)
        *place_of(rules, rule[i].ip) = i;
    return true;
}

/* Is a rule for native code still of the image that it was made for? */
static bool holds(const struct walk_rule *rule)
{
    return LIKELY(!rule->image) || natives_same((rule->ip & ~WALK_EXACT) - 1, rule->image);
}

static __attribute__((noinline)) uint32_t find(struct walk *walk, struct walk_rules *rules,
                                               uintptr_t ip)
{
    struct walk_rule made;
    uint32_t *place;

    if (rules->count >= rules->capacity && !grow(rules))
        return 0;
    place = place_of(rules, ip);
    if (*place && holds(&rules->rule[*place]))
        return *place;
    make(walk, ip, &made);
    if (!*place)
        *place = rules->count++;
    rules->rule[*place] = made;
    return *place;
}

uint32_t walk_rule_of(struct walk *walk, struct walk_rules *rules, uintptr_t ip, uint32_t from)
{
    uint32_t at = rules->capacity ? rules->rule[from].caller : 0;

    if (LIKELY(at && rules->rule[at].ip == ip && holds(&rules->rule[at])))
        return at;
    at = find(walk, rules, ip);
    if (at)
        rules->rule[from].caller = at;
    return at;
}

void walk_rules_forget(struct walk_rules *rules, uint32_t epoch)
{
    if (rules->capacity) {
        memory_pages_clear(rules->place, 2 * (size_t)rules->capacity * sizeof(*rules->place));
        rules->rule[0] = (struct walk_rule){.ip = 0};
        rules->count = 1;
    }
    rules->epoch = epoch;
}

void walk_rules_fini(struct walk_rules *rules)
{
    memory_pages_unmap(rules->place, 2 * (size_t)rules->capacity * sizeof(*rules->place));
    memory_pages_unmap(rules->rule, rules->capacity * sizeof(*rules->rule));
    *rules = (struct walk_rules){0};
}
