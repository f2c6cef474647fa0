#include "model/name_types.h"

#include "base/hash.h"

#define START UINT64_C(0x736861646f77)

INDEX_OF_BYTES(types_kind, struct name_type, id);
INDEX_OF_BYTES(suffixes_kind, struct name_suffix, id);

void name_types_free(struct name_types *t)
{
    index_free(&t->index);
    index_free(&t->suffix_index);
    memory_free_all(t->types, t->segments, t->suffixes);
    *t = (struct name_types){.types = NULL};
}

bool name_is_type(const struct parts_segment *segment)
{
    return segment->argument_count > 0 || *segment->name.at == '<';
}

static uint64_t segment_hash(const struct parts_segment *s)
{
    return hash_mix(hash_bytes(s->name.at, s->name.size), s->argument_count);
}

uint64_t name_path_id(const struct name_parts *p, const struct parts_type *type, unsigned from,
                      unsigned to)
{
    uint64_t id = START;
    uint16_t at = type->segment;

    for (unsigned i = 0; i < to; i++, at = p->segments[at].next)
        if (i >= from)
            id = hash_mix(id, segment_hash(&p->segments[at]));
    return id;
}

int name_types_add(struct name_types *t, const struct name_parts *p, const struct parts_type *type,
                   unsigned from, unsigned to, unsigned evidence)
{
    struct name_type key = {
        .id = START,
        .first = (uint32_t)t->segment_count,
        .outer = (uint8_t)(to - from - 1),
    };
    uint16_t at = type->segment;
    uint32_t number;
    int added;

    if (!array_reserve(&t->segments, &t->segment_capacity, t->segment_count + (to - from)))
        return -ENOMEM;
    for (unsigned i = 0; i < to; i++, at = p->segments[at].next) {
        if (i < from)
            continue;
        if (key.outer > key.count && name_is_type(&p->segments[at]))
            key.outer = key.count;
        t->segments[key.first + key.count] = segment_hash(&p->segments[at]);
        key.id = hash_mix(key.id, t->segments[key.first + key.count++]);
    }
    added = index_add(&t->index, &types_kind, &t->types, &t->type_count, &t->type_capacity, &key,
                      &number);
    if (added < 0)
        return added;
    if (added)
        t->segment_count += key.count;
    t->types[number].sure |= (evidence & NAME_SURE) != 0;
    t->types[number].seen |= (evidence & NAME_SEEN) != 0;
    return 0;
}

const struct name_type *name_types_find(const struct name_types *t, uint64_t id)
{
    struct name_type key = {.id = id};
    size_t slot;
    uint32_t number =
        index_find(&t->index, &types_kind, t->types, types_kind_hash(&key), &key, &slot);

    return number == INDEX_NONE ? NULL : &t->types[number];
}

/* The outermost of the types that a path goes through. */
static unsigned outermost(const struct name_types *t, const struct name_type *type)
{
    uint64_t id = START;

    for (unsigned i = 0; i < type->outer; i++) {
        id = hash_mix(id, t->segments[type->first + i]);
        if (name_types_find(t, id))
            return i;
    }
    return type->outer;
}

/* The id of the last `size` segments; *id is that of one less. */
static void longer_suffix(const struct name_types *t, const struct name_type *type, unsigned size,
                          uint64_t *id)
{
    *id = hash_mix(*id, t->segments[type->first + type->count - size]);
}

static int count_suffixes(struct name_types *t, const struct name_type *type)
{
    struct name_suffix key = {START, 0};
    uint32_t number;

    for (unsigned size = 1; size <= type->count; size++) {
        longer_suffix(t, type, size, &key.id);
        if (size + type->outer < type->count)
            continue; /* begins within the outermost type */
        if (index_add(&t->suffix_index, &suffixes_kind, &t->suffixes, &t->suffix_count,
                      &t->suffix_capacity, &key, &number) < 0)
            return -ENOMEM;
        t->suffixes[number].count++;
    }
    return 0;
}

/* The shortest suffix that is this type's alone; all of it if none is. */
static unsigned begin_of(const struct name_types *t, const struct name_type *type)
{
    struct name_suffix key = {START, 0};
    size_t slot;

    for (unsigned size = 1; size < type->count; size++) {
        uint32_t number;

        longer_suffix(t, type, size, &key.id);
        if (size + type->outer < type->count)
            continue;
        number = index_find(&t->suffix_index, &suffixes_kind, t->suffixes, suffixes_kind_hash(&key),
                            &key, &slot);
        if (number == INDEX_NONE || t->suffixes[number].count < 2)
            return type->count - size;
    }
    return 0;
}

int name_types_finish(struct name_types *t)
{
    for (size_t i = 0; i < t->type_count; i++)
        t->types[i].outer = (uint8_t)outermost(t, &t->types[i]);
    for (size_t i = 0; i < t->type_count; i++)
        if (t->types[i].seen && count_suffixes(t, &t->types[i]))
            return -ENOMEM;
    for (size_t i = 0; i < t->type_count; i++)
        t->types[i].from = (uint8_t)begin_of(t, &t->types[i]);
    return 0;
}
