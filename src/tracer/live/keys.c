#include "live/internal.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/memory.h"
#include "tree/tree.h" /* tree_uncut */

#include <errno.h>

#define KEYS_MOST (UINT32_MAX / 2)
#define AHEAD     4

uintptr_t live_class(const struct live *live, uint32_t id)
{
    return id < CLASSES ? load_acquire(&live->classes[id]) : 0;
}

bool live_class_set(struct live *live, uint32_t id, uintptr_t class)
{
    if (id >= CLASSES)
        return false;
    store_release(&live->classes[id], class);
    for (uint32_t most = load_relaxed(&live->class_most);
         most < id && !cas_acq_rel(&live->class_most, &most, id);)
        ;
    return true;
}

static bool is(const struct key *key, const struct live_entry *entry)
{
    return key->node == entry->node && key->site == entry->site && key->class == entry->class &&
           !key->forgotten;
}

static uint32_t slot_at(const struct live *live, const struct live_entry *entry)
{
    uint64_t hash = hash_mix((uint64_t)entry->node << 32 | entry->site, entry->class);

    return (uint32_t)(hash >> 32) & (live->slots - 1);
}

/* Each key on the way is another miss of the cache: at most half of the slots are taken. */
static uint32_t *slot_of(struct live *live, const struct live_entry *entry)
{
    uint32_t at = slot_at(live, entry);

    while (live->slot[at] && !is(&live->key[live->slot[at]], entry))
        at = (at + 1) & (live->slots - 1);
    return &live->slot[at];
}

static bool slots_grow(struct live *live)
{
    if (!slots_double(live, &live->slot_pages, &live->slot, &live->slots))
        return false;
    for (uint32_t i = 1; i <= live->keys; i++) {
        const struct key *key = &live->key[i];
        const struct live_entry entry = {key->node, key->site, key->class, 0};

        if (!key->forgotten)
            *slot_of(live, &entry) = i;
    }
    return true;
}

static uint32_t key_new(struct live *live, const struct live_entry *entry)
{
    size_t size = (live->keys + 2) * sizeof(*live->key);

    if (size > live->key_pages.size && !pages_room(live, &live->key_pages, size + size / 2))
        return 0;
    live->key = live->key_pages.data;
    if (live->keys >= live->slots / 2 && !slots_grow(live))
        return 0;
    if (live->keys == KEYS_MOST)
        return 0;
    live->keys++;
    live->key[live->keys] =
        (struct key){.node = entry->node, .site = entry->site, .class = entry->class};
    *slot_of(live, entry) = live->keys;
    return live->keys;
}

/* Of the entry that is farther ahead the slot, of the nearer one the key, which the slot names. */
void keys_ahead(const struct live *live, const struct live_entry *entries, size_t count)
{
    if (count <= 2 * AHEAD || !live->slots)
        return;
    __builtin_prefetch(&live->slot[slot_at(live, &entries[2 * AHEAD])]);
    __builtin_prefetch(&live->key[live->slot[slot_at(live, &entries[AHEAD])]], 1);
}

void rows_ahead(const struct live *live, const struct place *places, size_t count)
{
    const struct key *near;

    if (count <= 2 * AHEAD)
        return;
    __builtin_prefetch(&live->key[places[2 * AHEAD].key], 1);
    near = &live->key[places[AHEAD].key];
    if (near->stamp == live->stamp)
        __builtin_prefetch(&live->sums.row[near->row], 1);
}

uint32_t key_of(struct live *live, const struct live_entry *entry)
{
    uint32_t *slot;

    if (live->last && is(&live->key[live->last], entry))
        return live->last;
    slot = live->slots ? slot_of(live, entry) : NULL;
    live->last = slot && *slot ? *slot : key_new(live, entry);
    return live->last;
}

struct live_row *row_of(struct live *live, uint32_t number)
{
    struct key *key = &live->key[number];
    struct live_sums *sums = &live->sums;

    if (LIKELY(key->stamp == live->stamp))
        return &sums->row[key->row];
    if (!array_reserve(&sums->row, &sums->row_room, sums->rows + 1)) {
        live_inexact(live, SST_LIVE_MEMORY);
        return NULL;
    }
    key->stamp = live->stamp;
    key->row = (uint32_t)sums->rows;
    sums->row[sums->rows] =
        (struct live_row){.key = number, .node = key->node, .site = key->site, .class = key->class};
    return &sums->row[sums->rows++];
}

void survived(struct live *live, struct live_row *row, uint32_t size)
{
    live->key[row->key].alive++;
    row->survived++;
    row->survived_bytes += (uint64_t)size * 8;
    live->sums.total.objects++;
    live->sums.total.bytes += (uint64_t)size * 8;
}

struct live_died *live_died_cell(struct live *live, struct live_row *row, uint32_t generation,
                                 uint32_t age)
{
    struct live_sums *sums = &live->sums;

    for (uint32_t i = row->died; i; i = sums->died[i - 1].next)
        if (sums->died[i - 1].generation == generation && sums->died[i - 1].age == age)
            return &sums->died[i - 1];
    if (!array_reserve(&sums->died, &sums->dead_room, sums->dead + 1)) {
        live_inexact(live, SST_LIVE_MEMORY);
        return NULL;
    }
    sums->died[sums->dead] = (struct live_died){
        .next = row->died, .generation = (uint8_t)generation, .age = (uint8_t)age};
    row->died = (uint32_t)++sums->dead;
    return &sums->died[sums->dead - 1];
}

void died(struct live *live, const struct place *place, uint32_t generation)
{
    uint64_t age = load_relaxed(&live->collections) - place->born;
    struct live_row *row = row_of(live, place->key);
    struct live_died *cell;

    if (!age) /* dropped when out of memory, in the first collection that it survived */
        age = 1;
    if (age > LIVE_AGE_MOST)
        age = LIVE_AGE_MOST;
    cell = row ? live_died_cell(live, row, generation, (uint32_t)age) : NULL;
    if (!cell) /* totals are what lines come to: it counts on */
        return;
    live->key[place->key].alive--;
    live->key[place->key].went += place->born <= live->look;
    live->sums.total.objects--;
    live->sums.total.bytes -= (uint64_t)place->size * 8;
    cell->objects++;
    cell->bytes += (uint64_t)place->size * 8;
}

void sums_tell(struct live *live)
{
    live->fresh = true;
    live->is_behind = false;
    store_release(&live->ticks, live->sums.total.ticks);
}

/* The total of a collection that waited until others were taken. */
static void behind_told(struct live *live)
{
    live->sums.total = live->behind;
    sums_tell(live);
}

bool live_take(struct live *live, struct live_sums *sums)
{
    struct live_sums gathered;
    bool fresh;

    if (!load_relaxed(&live->started) || load_acquire(&live->stopped))
        live_settle(live);
    live_hold(live);
    fresh = live->fresh && !load_relaxed(&live->unsettled);
    if (fresh) {
        live->sums.total.memory = load_relaxed(&live->memory);
        live->sums.total.memory_most = load_relaxed(&live->memory_most);
        gathered = live->sums;
        live->sums = *sums;
        live->sums.total = gathered.total;
        live->sums.rows = live->sums.dead = 0;
        live->stamp++;
        live->fresh = false;
        *sums = gathered;
        if (live->is_behind)
            behind_told(live);
    }
    pthread_mutex_unlock(&live->lock);
    return fresh;
}

void live_sums_free(struct live_sums *sums)
{
    memory_free_all(sums->row, sums->died);
    *sums = (struct live_sums){0};
}

static bool is_in(const uint32_t *sorted, size_t count, uint32_t number)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (sorted[middle] == number)
            return true;
        if (sorted[middle] < number)
            low = middle + 1;
        else
            count = middle;
    }
    return false;
}

void live_forget(struct live *live, const struct live_gone *gone)
{
    live_hold(live);
    for (uint32_t i = 1; i <= live->keys; i++) {
        struct key *key = &live->key[i];
        uintptr_t class = live_class(live, key->class);

        if (key->forgotten)
            continue;
        key->class_gone = class && gone->class_gone(class);
        key->forgotten = key->class_gone ||
                         is_in(gone->nodes, gone->node_count, tree_uncut(key->node)) ||
                         is_in(gone->sites, gone->site_count, key->site);
    }
    live->last = 0;
    for (uint32_t id = 1; id <= load_acquire(&live->class_most); id++) {
        uintptr_t class = live_class(live, id);

        if (class && gone->class_gone(class))
            live_class_set(live, id, 0);
    }
    pthread_mutex_unlock(&live->lock);
}

void live_hold(struct live *live)
{
    add_relaxed(&live->wanted, 1);
    pthread_mutex_lock(&live->lock);
    add_relaxed(&live->wanted, -1u);
}

void live_unhold(struct live *live)
{
    pthread_mutex_unlock(&live->lock);
}

bool live_forgotten(const struct live *live, uint32_t key, bool *class_gone)
{
    *class_gone = live->key[key].class_gone;
    return live->key[key].forgotten;
}

void keys_look(struct live *live, uint64_t now_ns)
{
    if (live->look && now_ns - live->look_ns < LIVE_LOOK_NS)
        return;
    for (uint32_t i = 1; i <= live->keys; i++)
        live->key[i].looked = (struct live_looked){live->key[i].alive, live->key[i].went};
    live->look_ns = now_ns;
    live->look = load_relaxed(&live->collections);
    live->sums.total.looks++;
}

uint64_t live_looks(const struct live *live)
{
    return live->sums.total.looks;
}

struct live_looked live_looked(const struct live *live, uint32_t key)
{
    return live->key[key].looked;
}

void keys_free(struct live *live)
{
    pages_free(live, &live->key_pages);
    pages_free(live, &live->slot_pages);
    live_sums_free(&live->sums);
}
