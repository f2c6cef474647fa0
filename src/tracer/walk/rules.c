#include "walk/internal.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/peek.h"
#include "code/cpu_code.h"
#include "stack/stack_hot.h"
#include "thread/machine.h"
#include "tree/numbers.h"

#include <errno.h>
#include <string.h>

#define RULES_MOST (1u << 19) /* beyond them, a rule is made each time */
#define OLD_MIN    1024       /* rules that may be void, before they are looked for */

/* The kernel's return from a signal handler: mov rax, 15 (rt_sigreturn); syscall. */
static const uint8_t sigreturn[] = {0x48, 0xC7, 0xC0, 15, 0, 0, 0, 0x0F, 0x05};

/*
 * A rule in the table. It may be written while it is read: `version` is odd meanwhile, and another
 * one afterwards. Its place may get another address: then `next` leads elsewhere, and a reader that
 * does not find its address looks again under the lock.
 */
struct slot {
    _Atomic(uint32_t) version;
    _Atomic(uint32_t) next;
    _Atomic(uint32_t) epoch; /* in which it was made; 0: it holds for good */
    _Atomic(uintptr_t) ip;   /* 0: free */
    _Atomic(uint64_t) frame, flags;
    _Atomic(uintptr_t) of;
};

struct walk_rules {
    struct tree_numbers slots;
    struct tree_buckets buckets;
    pthread_mutex_t lock; /* guards changes, and the next; the runtime is not called under it */
    struct walk_bodies *bodies;
    uint32_t mortal; /* rules of an epoch, since old ones were looked for */
};

int walk_rules_new(struct walk_rules **out)
{
    struct walk_rules *rules = memory_zalloc(1, sizeof(*rules));
    uint32_t none;

    *out = rules;
    if (!rules)
        return -ENOMEM;
    pthread_mutex_init(&rules->lock, NULL);
    rules->bodies = walk_bodies_new();
    if (!rules->bodies ||
        tree_numbers_init(&rules->slots, sizeof(struct slot), offsetof(struct slot, next),
                          RULES_MOST) ||
        tree_buckets_init(&rules->buckets, RULES_MOST / 4) ||
        !tree_numbers_next(&rules->slots, &none)) { /* 0 ends a chain */
        walk_rules_free(rules);
        *out = NULL;
        return -ENOMEM;
    }
    return 0;
}

void walk_rules_free(struct walk_rules *rules)
{
    if (!rules)
        return;
    walk_bodies_free(rules->bodies);
    tree_numbers_fini(&rules->slots);
    tree_buckets_fini(&rules->buckets);
    memory_free(rules);
}

/* ---- how a rule is made ---- */

static enum walk_why native(const struct natives_place *place, uintptr_t ip, struct walk_rule *out)
{
    bool exact = ip & WALK_EXACT;
    uint8_t code[sizeof(sigreturn)];
    struct cfi_rule rule;

    out->of = place->stays ? NULL : place->image;
    if (!exact && !machine_may_return_to(ip)) {
        if (peek(code, ip, sizeof(code)) && memcmp(code, sigreturn, sizeof(code)) == 0) {
            out->kind = KIND_SIGNAL;
            return WALK_CERTAIN;
        }
        /* To stop a thread, the runtime replaces a return address by one of its functions. */
        return WALK_HIJACKED;
    }
    if (!place->table.header || !cfi_find(&place->table, (ip & ~WALK_EXACT) - !exact, &rule) ||
        rule.ret != (int16_t)rule.ret)
        return WALK_NATIVE;
    out->kind = rule.ends ? KIND_END : KIND_NATIVE;
    out->by_fp = rule.by_fp;
    out->keeps_fp = rule.keeps_fp;
    out->cfa = rule.cfa;
    out->fp = rule.fp;
    out->ret = (int16_t)rule.ret;
    out->exact_caller =
        RULE(RULE_WALK_EXACT) && !rule.ends && rule.ret != -(int32_t)sizeof(uintptr_t);
    return WALK_CERTAIN;
}

/* The rule, and the epoch that it holds in; 0: for good. readable: as for walk_managed(). */
static uint32_t make(struct walk *walk, uintptr_t ip, bool readable, uint32_t epoch,
                     struct walk_rule *out)
{
    uintptr_t at = (ip & ~WALK_EXACT) - !(ip & WALK_EXACT);
    struct walk_body body = {.high = 0};
    struct images_function function;
    struct natives_place place = {.image = NULL};
    bool precompiled = images_find(walk->images, at, &function);
    enum walk_why why;
    uint32_t made;

    memset(out, 0, sizeof(*out));
    if (!precompiled)
        (void)natives_find(at, &place);
    if (place.image) {
        why = native(&place, ip, out);
        made = 0;
    } else {
        why = walk_managed(walk, ip, readable, precompiled ? &function : NULL, epoch, out, &body);
        made = why == WALK_CERTAIN ? body.epoch : epoch;
    }
    if (why == WALK_CERTAIN && body.high) {
        pthread_mutex_lock(&walk->rules->lock);
        walk_bodies_add(walk->rules->bodies, &body);
        pthread_mutex_unlock(&walk->rules->lock);
    }
    if (why != WALK_CERTAIN)
        *out = (struct walk_rule){.of = out->of, .kind = KIND_UNSURE, .why = (uint8_t)why};
    return made;
}

/* ---- the table ---- */

static struct slot *slot_at(const struct walk_rules *rules, uint32_t number)
{
    return (struct slot *)(void *)rules->slots.array + number;
}

static struct walk_words pack(const struct walk_rule *rule)
{
    uint64_t flags = (rule->by_fp ? WALK_BY_FP : 0u) | (rule->keeps_fp ? WALK_KEEPS_FP : 0u) |
                     (rule->framed ? WALK_FRAMED : 0u) |
                     (rule->exact_caller ? WALK_EXACT_CALLER : 0u);

    return (struct walk_words){.frame = (uint32_t)rule->cfa | (uint64_t)(uint32_t)rule->fp << 32,
                               .flags = rule->distance | (uint64_t)(uint16_t)rule->ret << 32 |
                                        (uint64_t)rule->why << 48 |
                                        (uint64_t)(rule->kind & 15) << 56 | flags << 60,
                               .of = rule->of};
}

static void slot_write(struct slot *slot, uintptr_t ip, uint32_t epoch,
                       const struct walk_words *words)
{
    uint32_t version = load_relaxed(&slot->version);

    store_relaxed(&slot->version, version + 1);
    fence_release();
    store_relaxed(&slot->epoch, epoch);
    store_relaxed(&slot->ip, ip);
    store_relaxed(&slot->frame, words->frame);
    store_relaxed(&slot->flags, words->flags);
    store_relaxed(&slot->of, (uintptr_t)words->of);
    store_release(&slot->version, version + 2);
}

/* Copies the rule, if it is the one for ip as of this epoch. */
static bool slot_read(const struct slot *slot, uintptr_t ip, uint32_t epoch, uint32_t *made,
                      struct walk_words *out)
{
    uint32_t version = load_acquire(&slot->version);

    *made = load_relaxed(&slot->epoch);
    if (load_relaxed(&slot->ip) != ip || (*made && *made != epoch) || version % 2)
        return false;
    out->frame = load_relaxed(&slot->frame);
    out->flags = load_relaxed(&slot->flags);
    out->of = (const void *)load_relaxed(&slot->of);
    fence_acquire(); /* pairs with slot_write's */
    return load_relaxed(&slot->version) == version && walk_words_hold(ip, out);
}

/* Takes the rules of older epochs off. Under the lock. */
static void forget_old(struct walk_rules *rules, uint32_t epoch)
{
    for (size_t i = 0; i < (size_t)1 << rules->buckets.bits; i++) {
        _Atomic(uint32_t) *link = &rules->buckets.first[i];

        for (uint32_t at = load_relaxed(link); at; at = load_relaxed(link)) {
            struct slot *slot = slot_at(rules, at);
            uint32_t made = load_relaxed(&slot->epoch);

            if (!made || made == epoch) {
                link = &slot->next;
                continue;
            }
            store_release(link, load_relaxed(&slot->next));
            slot_write(slot, 0, 0, &(struct walk_words){.of = NULL});
            tree_numbers_back(&rules->slots, at);
        }
    }
    walk_bodies_forget(rules->bodies, epoch);
    rules->mortal = 0;
}

/* Without room it is not kept. Under the lock. */
static void keep(struct walk *walk, uintptr_t ip, uint32_t epoch, const struct walk_words *words)
{
    struct walk_rules *rules = walk->rules;
    _Atomic(uint32_t) *first = tree_bucket(&rules->buckets, ip, 0, 0);
    uint32_t at;

    rules->mortal += epoch != 0;
    if (rules->mortal >= OLD_MIN)
        forget_old(rules, load_acquire(&walk->epoch));
    for (at = load_relaxed(first); at && load_relaxed(&slot_at(rules, at)->ip) != ip;)
        at = load_relaxed(&slot_at(rules, at)->next);
    if (at) {
        slot_write(slot_at(rules, at), ip, epoch, words);
    } else if (tree_numbers_next(&rules->slots, &at)) {
        tree_buckets_made(&rules->buckets, at);
        slot_write(slot_at(rules, at), ip, epoch, words);
        store_relaxed(&slot_at(rules, at)->next, load_relaxed(first));
        store_release(first, at);
    }
}

/*
 * What the code that was met there before says of a return address. Returns: whether it says all.
 * *readable: is the code before the address known to be?
 */
static bool known(struct walk *walk, uintptr_t ip, uint32_t epoch, bool *readable, uint32_t *made,
                  struct walk_words *out)
{
    struct walk_rules *rules = walk->rules;
    const struct walk_body *body;

    pthread_mutex_lock(&rules->lock);
    *readable = walk_bodies_page(rules->bodies, ip - CPU_CALL_BYTES, epoch) &&
                walk_bodies_page(rules->bodies, ip - 1, epoch);
    body = *readable ? walk_bodies_find(rules->bodies, ip - 1, epoch) : NULL;
    if (body && cpu_returns((const uint8_t *)ip)) {
        *made = body->epoch;
        *out = pack(&body->rule);
        keep(walk, ip, *made, out);
    } else {
        body = NULL;
    }
    pthread_mutex_unlock(&rules->lock);
    return body;
}

__attribute__((noinline)) uint32_t walk_rule_find(struct walk *walk, uintptr_t ip, uint32_t epoch,
                                                  struct walk_words *out)
{
    const struct walk_rules *rules = walk->rules;
    uint32_t at = load_acquire(tree_bucket(&rules->buckets, ip, 0, 0)), made;
    struct walk_rule rule;
    bool readable = false;

    /* A chain that is changed meanwhile may lead on through others, but ends. */
    for (; at; at = load_acquire(&slot_at(rules, at)->next))
        if (slot_read(slot_at(rules, at), ip, epoch, &made, out))
            return made;
    if (!(ip & WALK_EXACT) && known(walk, ip, epoch, &readable, &made, out))
        return made;
    made = make(walk, ip, readable, epoch, &rule);
    *out = pack(&rule);
    pthread_mutex_lock(&walk->rules->lock);
    keep(walk, ip, made, out);
    pthread_mutex_unlock(&walk->rules->lock);
    return made;
}
