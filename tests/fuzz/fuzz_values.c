/*
 * Fuzz target: src/tracer/values. The first 32 bytes of an input are memory that a value is copied from, references and
 * by-refs in it included; the rest is a method's signature blob. Whatever is made of it is copied and worded, whole
 * and cut short.
 */
#include "must.h"

#include "unit/values/world.h"

#include "base/memory.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define MEMORY 32
#define ROOM   512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void word(const struct capture *c, size_t cut)
{
    char *text = world_text(c, cut);
    json_t *json;

    MUST(text);
    json = json_loads(text, JSON_DECODE_ANY, NULL);
    MUST(json);
    json_decref(json);
    memory_free(text);
}

/* Nothing of this memory can be trusted: it is read as what a by-ref leads to. */
static void copy(const struct values_type *type, const uint8_t *memory)
{
    uint8_t room[ROOM];
    struct capture c = {.rules = &world_rules, .data = room, .room = sizeof(room)};

    capture_value(&c, type, (uintptr_t)memory, false);
    MUST(c.size <= c.room);
    for (size_t cut = 0; cut <= c.size; cut += 1 + c.size / 16)
        word(&c, cut);
    word(&c, SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct metadata_method method = {.token = mdtMethodDef | 1};
    uint8_t memory[4096] = {0};
    struct values_plan *plan;

    if (size < MEMORY)
        return 0;
    memcpy(memory, data, MEMORY);
    world_begin();
    method.module = world_scope().module;
    world.signature = data + MEMORY;
    world.signature_size = (uint32_t)(size - MEMORY);
    plan = values_plan_new(world.types, &method, true, true, VALUES_LOAD);
    if (plan) {
        copy(plan->result, memory);
        for (uint32_t i = 0; i < plan->count && i < 8; i++)
            copy(plan->parameter[i].type, memory);
    }
    values_plan_free(plan);
    world_forget();
    return 0;
}
