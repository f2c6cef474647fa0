#include "unit/heap/made_heap.h"

#include "support/test.h"

#include "heap/graph.h"

#include <stdio.h>
#include <string.h>

void made_begin(struct made_heap *m, size_t chunk)
{
    struct sst_heap_head head = {.version = SST_HEAP_VERSION,
                                 .bytes = sizeof(head),
                                 .pid = 7,
                                 .clock = 1000,
                                 .t = 5000000,
                                 .collection = 3};

    *m = (struct made_heap){.chunk = chunk};
    memcpy(head.magic, SST_HEAP_MAGIC, sizeof(head.magic));
    head.sum = sst_heap_sum(&head, offsetof(struct sst_heap_head, sum));
    buffer_append(&m->file, &head, sizeof(head));
}

void made_flush(struct made_heap *m)
{
    struct sst_heap_chunk head = {m->kind, (uint32_t)m->records.size,
                                  sst_heap_sum(m->records.data, m->records.size)};

    if (!m->records.size)
        return;
    buffer_append(&m->file, &head, sizeof(head));
    buffer_append(&m->file, m->records.data, m->records.size);
    buffer_clear(&m->records);
    m->base = 0;
}

/* Room for a record of that kind. */
static void record(struct made_heap *m, uint32_t kind)
{
    if (m->kind != kind || m->records.size >= m->chunk)
        made_flush(m);
    m->kind = kind;
}

static void number(struct made_heap *m, uint64_t value)
{
    unsigned char bytes[SST_HEAP_NUMBER];

    buffer_append(&m->records, bytes, (size_t)(sst_heap_put(bytes, value) - bytes));
}

static void units_from(struct made_heap *m, uint64_t base, uint64_t address)
{
    number(m, sst_heap_fold((int64_t)(address - base) / SST_HEAP_UNIT));
}

static void some_references(struct made_heap *m, uint64_t address, uint32_t class_number,
                            uint64_t units, const uint64_t *references, size_t count,
                            const uint64_t *slots)
{
    uint64_t last = 1;

    record(m, SST_HEAP_OBJECTS);
    units_from(m, m->base, address);
    number(m, class_number);
    number(m, units);
    number(m, count * 2 + (slots != NULL));
    for (size_t i = 0; i < count; i++) {
        units_from(m, address, references[i]);
        if (slots)
            number(m, slots[i] ? 1 + sst_heap_fold((int64_t)slots[i] - (int64_t)last) : 0);
        last = slots && slots[i] ? slots[i] + 1 : last;
    }
    m->base = address + units * SST_HEAP_UNIT;
    m->references += count;
}

void made_object(struct made_heap *m, uint64_t address, uint32_t class_number, uint64_t units,
                 const uint64_t *references, size_t count)
{
    size_t most = m->chunk / 4 + 1;

    for (size_t from = 0; from == 0 || from < count; from += most)
        some_references(m, address, from ? 0 : class_number, from ? 0 : units, references + from,
                        count - from < most ? count - from : most, NULL);
    m->objects++;
}

void made_slotted(struct made_heap *m, uint64_t address, uint32_t class_number, uint64_t units,
                  const uint64_t *references, size_t count, const uint64_t *slots)
{
    some_references(m, address, class_number, units, references, count, slots);
    m->objects++;
}

static void text(struct made_heap *m, const char *name)
{
    number(m, strlen(name));
    buffer_append(&m->records, name, strlen(name));
}

void made_field(struct made_heap *m, uint32_t class_number, uint32_t first, uint32_t stride,
                uint32_t slot, const char *name)
{
    record(m, SST_HEAP_FIELDS);
    number(m, class_number);
    number(m, first);
    number(m, stride);
    number(m, slot);
    text(m, name);
}

void made_static(struct made_heap *m, uint64_t place, uint64_t object, uint32_t class_number,
                 uint32_t flags, const char *name)
{
    record(m, SST_HEAP_STATICS);
    number(m, place);
    number(m, object / SST_HEAP_UNIT);
    number(m, class_number);
    number(m, flags);
    text(m, name);
    m->statics++;
}

void made_root(struct made_heap *m, uint64_t address, uint32_t kind, uint32_t flags, uint32_t name)
{
    record(m, SST_HEAP_ROOTS);
    number(m, address);
    number(m, kind);
    number(m, flags);
    number(m, name);
    m->roots++;
}

void made_pair(struct made_heap *m, uint64_t key, uint64_t value)
{
    record(m, SST_HEAP_PAIRS);
    number(m, key / SST_HEAP_UNIT);
    number(m, value / SST_HEAP_UNIT);
    m->pairs++;
}

void made_site(struct made_heap *m, uint64_t address, uint32_t site)
{
    record(m, SST_HEAP_SITES);
    number(m, (address - m->base) / SST_HEAP_UNIT);
    number(m, site);
    m->base = address;
    m->sites++;
}

void made_name(struct made_heap *m, uint32_t kind, uint32_t number_, uint32_t id, const char *name)
{
    record(m, kind);
    number(m, number_);
    number(m, id);
    number(m, strlen(name));
    buffer_append(&m->records, name, strlen(name));
}

void made_end(struct made_heap *m)
{
    record(m, SST_HEAP_END);
    number(m, m->objects);
    number(m, m->references);
    number(m, m->roots);
    number(m, m->pairs);
    number(m, m->sites);
    number(m, m->statics);
    made_flush(m);
}

void made_write(struct made_heap *m, const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_false(m->file.failed || m->records.failed);
    assert_int_equal(fwrite(m->file.data, 1, m->file.size, file), m->file.size);
    assert_int_equal(fclose(file), 0);
}

void made_free(struct made_heap *m)
{
    buffer_free(&m->file);
    buffer_free(&m->records);
}

void made_read(const char *path, struct heap_graph *g)
{
    struct heap_dump d;
    int err = heap_dump_open(path, &d);

    if (!err)
        err = heap_graph_read(&d, g);
    if (err)
        print_error("%d: %s\n", err, d.why);
    assert_int_equal(err, 0);
    heap_dump_close(&d);
}

uint32_t made_random(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % below);
}
