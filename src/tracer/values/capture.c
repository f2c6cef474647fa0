#include "values/capture.h"

#include "base/peek.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

#define DEPTH_MAX 6 /* of values in values: what is cyclic ends here */
#define HEADER    8 /* of an object: what it is; then its fields, or its value if boxed */
#define ARRAY_DATA \
    16 /* of a T[]: class, length, padding; other arrays have their bounds before the data */
#define OBJECT_BITS 7 /* the collector's marks in the word that says what an object is */

static bool put(struct capture *c, const void *data, size_t size)
{
    if (c->full || size > c->room - c->size) {
        c->full = true;
        return false;
    }
    memcpy(c->data + c->size, data, size);
    c->size += size;
    return true;
}

void capture_tag(struct capture *c, enum capture_tag tag)
{
    uint8_t byte = (uint8_t)tag;

    put(c, &byte, 1);
}

static void put_word(struct capture *c, enum capture_tag tag, uint64_t word)
{
    uint8_t item[9] = {(uint8_t)tag};

    memcpy(item + 1, &word, sizeof(word));
    put(c, item, sizeof(item));
}

static bool read_memory(void *to, uintptr_t from, size_t size, bool sure)
{
    if (!sure)
        return peek(to, from, size);
    memcpy(to, (const void *)from, size);
    return true;
}

/* ---- parts ---- */

static void put_bits(struct capture *c, const struct values_type *type, const void *at)
{
    uint64_t bits = values_bits(at, type->element);
    uint8_t item[17];

    if (type->kind == VALUES_ENUM) {
        item[0] = CAPTURE_ENUM;
        memcpy(item + 1, &type, 8);
        memcpy(item + 9, &bits, 8);
        put(c, item, 17);
    } else {
        item[0] = CAPTURE_PRIMITIVE;
        item[1] = type->element;
        memcpy(item + 2, &bits, 8);
        put(c, item, 10);
    }
}

/* Up to max_items elements. The count before them is of those that were begun. */
static void put_items(struct capture *c, const struct values_type *type, uintptr_t at,
                      uint64_t length, bool sure)
{
    uint32_t limit = length < c->rules->max_items ? (uint32_t)length : c->rules->max_items;
    uint32_t taken = 0;
    size_t count_at = c->size;

    if (!put(c, &taken, sizeof(taken)) || !type || !type->size)
        return;
    for (; taken < limit && !c->full; taken++)
        capture_value(c, type, at + (uintptr_t)taken * type->size, sure);
    memcpy(c->data + count_at, &taken, sizeof(taken));
}

/* What puts a whole value returns whether it could be read; if not, nothing was put. */

/* ---- objects ---- */

static bool put_string(struct capture *c, uintptr_t object, bool sure)
{
    uint32_t counts[2];
    uint8_t head[9] = {CAPTURE_STRING};
    size_t before = c->size;

    if (!read_memory(counts, object + c->rules->string_length, 4, sure) || counts[0] > INT32_MAX)
        return false;
    counts[1] = counts[0] < c->rules->max_text ? counts[0] : c->rules->max_text;
    memcpy(head + 1, counts, 8);
    if (!put(c, head, sizeof(head)))
        return true;
    if (c->room - c->size < counts[1] * 2u) {
        c->size = before;
        c->full = true;
        return true;
    }
    if (!read_memory(c->data + c->size, object + c->rules->string_text, counts[1] * 2u, sure)) {
        c->size = before;
        return false;
    }
    c->size += counts[1] * 2u;
    return true;
}

static bool put_array(struct capture *c, const struct metadata_class *class, uintptr_t object,
                      bool sure)
{
    const struct values_type *element =
        class->element ? c->rules->layout(c->rules->context, class->element) : NULL;
    uint32_t rank = class->rank, total = 0, dimension[32];
    bool bounds = rank > 1 || class->bounded;
    uintptr_t data = object + ARRAY_DATA + (bounds ? rank * 8u : 0);

    if (rank > 32 || !read_memory(&total, object + HEADER, sizeof(total), sure) ||
        (bounds && !read_memory(dimension, object + ARRAY_DATA, rank * sizeof(dimension[0]), sure)))
        return false;
    if (!bounds)
        dimension[0] = total;
    if (element && element->object)
        element = &values_reference;
    put_word(c, CAPTURE_ARRAY, (uintptr_t) class);
    put(c, &rank, sizeof(rank));
    if (put(c, dimension, rank * sizeof(dimension[0])))
        put_items(c, element, data, total, sure);
    return true;
}

static bool is_value(const struct values_type *type)
{
    return type && type->kind != VALUES_REFERENCE && type->kind != VALUES_UNKNOWN;
}

static bool put_object(struct capture *c, uintptr_t object, bool sure)
{
    const struct values_type *layout;
    struct metadata_class *class;
    uintptr_t class_id = 0;

    if (object % sizeof(uintptr_t) || !read_memory(&class_id, object, sizeof(class_id), sure))
        return false;
    class = c->rules->class_find(c->rules->context, class_id & ~(uintptr_t)OBJECT_BITS);
    if (!class) {
        if (sure)
            put_word(c, CAPTURE_OBJECT, 0);
        return sure;
    }
    if (class->rank)
        return put_array(c, class, object, sure);
    if (class->variable_size)
        return put_string(c, object, sure);
    layout = c->rules->layout(c->rules->context, class);
    put_word(c, is_value(layout) ? CAPTURE_BOXED : CAPTURE_OBJECT, (uintptr_t) class);
    if (is_value(layout))
        capture_value(c, layout, object + (layout->object ? 0 : HEADER), sure);
    return true;
}

static bool put_reference(struct capture *c, uintptr_t at, bool sure)
{
    uintptr_t object;

    if (!read_memory(&object, at, sizeof(object), sure))
        return false;
    if (object)
        return put_object(c, object, sure);
    capture_tag(c, CAPTURE_NULL);
    return true;
}

/* ---- structs and what leads elsewhere ---- */

static bool put_struct(struct capture *c, const struct values_type *type, uintptr_t at, bool sure)
{
    put_word(c, CAPTURE_STRUCT, (uintptr_t)type);
    for (uint32_t i = 0; i < type->fields && !c->full; i++)
        capture_value(c, type->field[i].type, at + type->field[i].offset, sure);
    return true;
}

static bool put_nullable(struct capture *c, const struct values_type *type, uintptr_t at, bool sure)
{
    uint8_t has = 0;

    if (!read_memory(&has, at + type->field[0].offset, 1, sure))
        return false;
    if (has)
        capture_value(c, type->field[1].type, at + type->field[1].offset, sure);
    else
        capture_tag(c, CAPTURE_NULL);
    return true;
}

static bool put_span(struct capture *c, const struct values_type *type, uintptr_t at, bool sure)
{
    uint8_t head[5] = {CAPTURE_SPAN};
    uintptr_t data;
    int32_t length;

    if (!read_memory(&data, at + type->field[0].offset, sizeof(data), sure) ||
        !read_memory(&length, at + type->field[1].offset, sizeof(length), sure) || length < 0)
        return false;
    memcpy(head + 1, &length, sizeof(length));
    if (put(c, head, sizeof(head)))
        put_items(c, type->field[0].type->target, data, (uint64_t)length, false);
    return true;
}

static bool put_target(struct capture *c, const struct values_type *type, uintptr_t at, bool sure)
{
    uintptr_t address;

    if (!read_memory(&address, at, sizeof(address), sure))
        return false;
    if (type->kind == VALUES_POINTER)
        put_word(c, CAPTURE_POINTER, address);
    else
        capture_tag(c, CAPTURE_REF);
    if (!address)
        capture_tag(c, CAPTURE_NULL);
    else if (type->target->kind == VALUES_VOID)
        capture_tag(c, CAPTURE_MISSING);
    else
        capture_value(c, type->target, address, false);
    return true;
}

static bool put_known(struct capture *c, const struct values_type *type, uintptr_t at, bool sure)
{
    uint8_t copy[17] = {CAPTURE_DECIMAL};

    switch (type->kind) {
    case VALUES_PRIMITIVE:
    case VALUES_ENUM:
        if (!read_memory(copy, at, type->size, sure))
            return false;
        put_bits(c, type, copy);
        return true;
    case VALUES_DECIMAL:
        if (!read_memory(copy + 1, at, sizeof(copy) - 1, sure))
            return false;
        put(c, copy, sizeof(copy));
        return true;
    case VALUES_REFERENCE:
        return put_reference(c, at, sure);
    case VALUES_STRUCT:
        return put_struct(c, type, at, sure);
    case VALUES_NULLABLE:
        return put_nullable(c, type, at, sure);
    case VALUES_SPAN:
        return put_span(c, type, at, sure);
    case VALUES_BYREF:
    case VALUES_POINTER:
        return put_target(c, type, at, sure);
    case VALUES_VOID:
    case VALUES_UNKNOWN:
        break;
    }
    return false;
}

void capture_value(struct capture *c, const struct values_type *type, uintptr_t at, bool sure)
{
    if (c->depth >= DEPTH_MAX) {
        capture_tag(c, CAPTURE_CUT);
        return;
    }
    c->depth++;
    if (!put_known(c, type, at, sure))
        capture_tag(c, CAPTURE_UNREADABLE);
    c->depth--;
}

/* The runtime's length is the value's; small ones may be given as a register. */
static bool fits(const struct values_type *type, uint32_t length)
{
    return type->kind == VALUES_PRIMITIVE || type->kind == VALUES_ENUM ? length >= type->size
                                                                       : length == type->size;
}

/* Where the i-th argument lies; NULL: the runtime does not say. */
static const struct clr_function_argument_range *
range_of(const struct clr_function_argument_info *arguments, uint32_t i)
{
    return i < arguments->num_ranges && arguments->ranges[i].start_address ? &arguments->ranges[i]
                                                                           : NULL;
}

void capture_arguments(struct capture *c, const struct values_plan *plan,
                       const struct clr_function_argument_info *arguments)
{
    for (uint32_t i = 0; i < plan->count && !c->full; i++) {
        const struct values_parameter *p = &plan->parameter[i];
        const struct clr_function_argument_range *range = range_of(arguments, i);

        if (!range || !fits(p->type, range->length))
            capture_tag(c, CAPTURE_UNREADABLE);
        else if (p->out)
            capture_tag(c, CAPTURE_MISSING);
        else
            capture_value(c, p->type, range->start_address, true);
    }
}

void capture_where(const struct values_plan *plan,
                   const struct clr_function_argument_info *arguments,
                   uintptr_t where[CAPTURE_TARGETS])
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < plan->count && found < CAPTURE_TARGETS; i++) {
        const struct clr_function_argument_range *range = range_of(arguments, i);

        if (!plan->parameter[i].back)
            continue;
        if (range && range->length == sizeof(where[0]))
            memcpy(&where[found], (const void *)range->start_address, sizeof(where[0]));
        found++;
    }
}

void capture_targets(struct capture *c, const struct values_plan *plan,
                     const uintptr_t where[CAPTURE_TARGETS], uintptr_t low, uintptr_t high)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < plan->count && !c->full; i++) {
        const struct values_type *type = plan->parameter[i].type;

        if (!plan->parameter[i].back)
            continue;
        if (found == CAPTURE_TARGETS)
            capture_tag(c, CAPTURE_CUT);
        else if (!where[found] || type->kind != VALUES_BYREF)
            capture_tag(c, CAPTURE_UNREADABLE);
        else if (where[found] < low || where[found] >= high ||
                 type->target->size > high - where[found])
            capture_tag(c, CAPTURE_MOVED);
        else
            capture_value(c, type->target, where[found], false);
        found += found < CAPTURE_TARGETS;
    }
}
