#include "samples/alive.h"

#include "base/clock.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>

#define WALKED     (-1)
#define GONE_MOST  (2 * ALIVE_MOST)
#define LATE_MOST  1024 /* samples that come during one walk */
#define LATE_TRIES 16

struct sample {
    void **handle;
    double weight;            /* bytes that it stands for */
    struct live_weighed sums; /* key 0: no collection has come since it was made */
};

/* One that came while the others were walked: the next walk begins with it. */
enum { LATE_NONE, LATE_WRITTEN, LATE_READY };
struct late {
    _Atomic(uint32_t) state;
    uint64_t mean; /* as it was then */
    struct sample sample;
};

struct alive {
    struct alive_config config;
    struct sample *sample;
    struct late *late;
    void ***gone;  /* handles to be given back */
    void ***going; /* the same, while the resolver does it */
    _Atomic(uint32_t) count, gone_count;
    _Atomic(int32_t) users;      /* threads that add a sample; WALKED: none may */
    _Atomic(int32_t) late_users; /* the same of those that are late; WALKED: for good */
    _Atomic(uint32_t) late_next, late_ready;
    _Atomic(uint64_t) missed, mean;
    uint64_t random, began_ns;
    uint32_t deepest;
};

int alive_new(const struct alive_config *config, struct alive **out)
{
    struct alive *a = *out = NULL;

    if (!clr_runtime_has_handles(config->runtime))
        return -ENOTSUP;
    a = memory_zalloc(1, sizeof(*a));
    if (!a)
        return -ENOMEM;
    a->sample = memory_pages_map(ALIVE_MOST * sizeof(*a->sample));
    a->late = memory_pages_map(LATE_MOST * sizeof(*a->late));
    a->gone = memory_pages_map(GONE_MOST * sizeof(*a->gone));
    a->going = memory_pages_map(GONE_MOST * sizeof(*a->going));
    if (!a->sample || !a->late || !a->gone || !a->going) {
        memory_pages_unmap(a->sample, ALIVE_MOST * sizeof(*a->sample));
        memory_pages_unmap(a->late, LATE_MOST * sizeof(*a->late));
        memory_pages_unmap(a->gone, GONE_MOST * sizeof(*a->gone));
        memory_pages_unmap(a->going, GONE_MOST * sizeof(*a->going));
        memory_free(a);
        return -ENOMEM;
    }
    a->config = *config;
    a->random = clock_ticks() * 2 + 1;
    store_relaxed(&a->mean, config->mean);
    live_inexact(config->live, SST_LIVE_SAMPLED);
    *out = a;
    return 0;
}

void alive_class(struct alive *a, uint32_t id, uintptr_t class)
{
    live_class_set(a->config.live, id, class);
}

static double probability(double bytes, double mean)
{
    return -expm1(-bytes / mean);
}

/*
 * The probability with which a sample of one mean is kept at a higher mean; 1: it is not higher.
 * For a tick, whose weight does not depend on its size, it is the ratio of the means.
 */
static double kept_at(const struct sample *sample, uint64_t from, uint64_t to)
{
    double bytes = (double)sample->sums.what.size * 8, p;

    if (to <= from)
        return 1;
    p = probability(bytes, (double)from);
    if (fabs(sample->weight * p - bytes) <= 1e-6 * bytes)
        return probability(bytes, (double)to) / p;
    return (double)from / (double)to;
}

/* false: they are WALKED. */
static bool enter(_Atomic(int32_t) *users)
{
    int32_t now = load_relaxed(users);

    while (now != WALKED)
        if (cas_acq_rel(users, &now, now + 1))
            return true;
    return false;
}

static bool put(struct alive *a, const struct sample *sample)
{
    uint32_t at = add_relaxed(&a->count, 1);

    if (at < ALIVE_MOST) {
        a->sample[at] = *sample;
        return true;
    }
    add_relaxed(&a->count, -1u); /* others were faster */
    return false;
}

static bool put_late(struct alive *a, const struct sample *sample, uint64_t mean)
{
    for (unsigned i = 0; i < LATE_TRIES; i++) {
        struct late *late = &a->late[add_relaxed(&a->late_next, 1) % LATE_MOST];
        uint32_t none = LATE_NONE;

        if (!cas_acq_rel(&late->state, &none, LATE_WRITTEN))
            continue;
        late->mean = mean;
        late->sample = *sample;
        store_release(&late->state, LATE_READY); /* pairs with take_late */
        add_relaxed(&a->late_ready, 1);
        return true;
    }
    return false;
}

/* late: whether the others are walked just now. */
static void add(struct alive *a, uintptr_t object, struct sample *sample, uint64_t mean, bool late)
{
    struct clr_info *info = a->config.runtime->info;

    if (load_relaxed(&a->count) >= ALIVE_MOST ||
        info->vtbl->create_handle(info, object, COR_PRF_HANDLE_TYPE_WEAK, &sample->handle) !=
            S_OK) {
        add_relaxed(&a->missed, 1);
        return;
    }
    if (late ? put_late(a, sample, mean) : put(a, sample))
        return;
    add_relaxed(&a->missed, 1);
    info->vtbl->destroy_handle(info, sample->handle);
}

void alive_follow(struct alive *a, uintptr_t object, const struct live_entry *what, double weight,
                  double chance)
{
    struct sample sample = {.weight = weight, .sums = {.what = *what}};
    bool late = !enter(&a->users);
    uint64_t mean = load_relaxed(&a->mean);
    double kept = kept_at(&sample, a->config.mean, mean);

    if (late && !enter(&a->late_users)) {
        add_relaxed(&a->missed, 1);
        return;
    }
    sample.weight = weight / kept;
    if (chance < kept)
        add(a, object, &sample, mean, late);
    add_relaxed(late ? &a->late_users : &a->users, -1);
}

void alive_collection_started(struct alive *a, uint32_t deepest)
{
    a->began_ns = clock_ns();
    a->deepest = deepest;
}

static uint32_t objects_of(const struct sample *sample)
{
    double objects = sample->weight / ((double)sample->sums.what.size * 8);

    return objects < UINT32_MAX ? (uint32_t)(objects + 0.5) : UINT32_MAX;
}

/* As all sizes: a multiple of 8. */
static uint64_t bytes_of(const struct sample *sample)
{
    return (uint64_t)(sample->weight / 8 + 0.5) * 8;
}

/* Is it alive, and followed from here on? What had been before, and is dead, is summed. */
static bool look(struct alive *a, struct sample *sample)
{
    struct clr_info *info = a->config.runtime->info;
    uintptr_t object = 0;

    if (info->vtbl->get_object_id_from_handle(info, sample->handle, &object) != S_OK)
        object = 0;
    if (!object) {
        if (sample->sums.key)
            live_weigh_died(a->config.live, &sample->sums, a->deepest);
        return false;
    }
    if (sample->sums.key)
        return true;
    sample->sums.objects = objects_of(sample);
    sample->sums.bytes = bytes_of(sample);
    return live_weigh_survived(a->config.live, &sample->sums);
}

static void give_back(struct alive *a, void **handle)
{
    uint32_t at = load_relaxed(&a->gone_count);

    a->gone[at] = handle; /* there is room: alive_collection_finished has seen to it */
    store_relaxed(&a->gone_count, at + 1);
}

/* Those of which `keeps` holds move to the front. */
static void sift(struct alive *a, bool (*keeps)(struct alive *a, struct sample *sample))
{
    uint32_t count = load_relaxed(&a->count), kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct sample sample = a->sample[i];

        if (keeps(a, &sample))
            a->sample[kept++] = sample;
        else
            give_back(a, sample.handle);
    }
    store_relaxed(&a->count, kept);
}

static double uniform(struct alive *a)
{
    a->random ^= a->random >> 12;
    a->random ^= a->random << 25;
    a->random ^= a->random >> 27;
    return (double)((a->random * UINT64_C(0x2545f4914f6cdd1d)) >> 11) * 0x1p-53;
}

/* With room for all of them among those that are gone. */
static void take_late(struct alive *a)
{
    if (!load_relaxed(&a->late_ready)) /* as a rule: in a pause the places are not even read */
        return;
    for (uint32_t i = 0; i < LATE_MOST; i++) {
        struct late *late = &a->late[i];
        struct sample sample;
        double kept;

        if (load_acquire(&late->state) != LATE_READY)
            continue;
        sample = late->sample;
        kept = kept_at(&sample, late->mean, load_relaxed(&a->mean));
        store_release(&late->state, LATE_NONE);
        add_relaxed(&a->late_ready, -1u);
        sample.weight /= kept;
        if (uniform(a) < kept && put(a, &sample))
            continue;
        if (load_relaxed(&a->count) == ALIVE_MOST)
            add_relaxed(&a->missed, 1);
        give_back(a, sample.handle);
    }
}

/* To twice the mean: what goes leaves its part to what stays. */
static bool is_kept(struct alive *a, struct sample *sample)
{
    uint64_t mean = load_relaxed(&a->mean);
    double kept = kept_at(sample, mean, 2 * mean);

    if (uniform(a) >= kept) {
        live_weigh_died(a->config.live, &sample->sums, a->deepest);
        return false;
    }
    sample->weight /= kept;
    return live_weigh_more(a->config.live, &sample->sums, objects_of(sample), bytes_of(sample));
}

void alive_collection_finished(struct alive *a)
{
    struct live_collection collection = {
        .depth = a->deepest, .ticks = clock_ticks(), .began_ns = a->began_ns, .now_ns = clock_ns};
    uint64_t from = clock_ns();
    int32_t none = 0;

    live_hold(a->config.live); /* first: its holder may take long, and samples come meanwhile */
    if (!cas_acq_rel(&a->users, &none, WALKED)) {
        live_unhold(a->config.live);
        return; /* a background collection ends beside an allocation: the next one looks */
    }
    if (load_relaxed(&a->count) + load_relaxed(&a->gone_count) + LATE_MOST <= GONE_MOST) {
        live_weigh_begin(a->config.live);
        take_late(a);
        sift(a, look);
        while (load_relaxed(&a->count) > ALIVE_MOST / 2) {
            sift(a, is_kept);
            store_relaxed(&a->mean, 2 * load_relaxed(&a->mean));
        }
        live_weigh_end(a->config.live, &collection, clock_ns() - from);
    }
    store_release(&a->users, 0);
    live_unhold(a->config.live);
}

bool alive_poll(struct alive *a)
{
    struct clr_info *info = a->config.runtime->info;
    uint32_t count = load_relaxed(&a->gone_count);
    int32_t none = 0;

    if (!count || !cas_acq_rel(&a->users, &none, WALKED))
        return false;
    count = load_relaxed(&a->gone_count);
    memcpy(a->going, a->gone, count * sizeof(*a->gone));
    store_relaxed(&a->gone_count, 0);
    store_release(&a->users, 0);
    for (uint32_t i = 0; i < count; i++)
        info->vtbl->destroy_handle(info, a->going[i]);
    return true;
}

/* WALKED, and so it stays. */
static void end_use(_Atomic(int32_t) *users)
{
    for (int32_t none = 0; !cas_acq_rel(users, &none, WALKED); none = 0)
        sched_yield();
}

void alive_stop(struct alive *a)
{
    struct clr_info *info = a->config.runtime->info;

    end_use(&a->users);
    end_use(&a->late_users);
    for (uint32_t i = 0; i < LATE_MOST; i++)
        if (load_acquire(&a->late[i].state) == LATE_READY)
            info->vtbl->destroy_handle(info, a->late[i].sample.handle);
    for (uint32_t i = load_relaxed(&a->count); i-- > 0;)
        info->vtbl->destroy_handle(info, a->sample[i].handle);
    for (uint32_t i = load_relaxed(&a->gone_count); i-- > 0;)
        info->vtbl->destroy_handle(info, a->gone[i]);
    store_relaxed(&a->count, 0);
    store_relaxed(&a->gone_count, 0);
}

void alive_read(const struct alive *a, struct alive_state *out)
{
    *out = (struct alive_state){.followed = load_relaxed(&a->count),
                                .missed = load_relaxed(&a->missed),
                                .mean = load_relaxed(&a->mean)};
}
