#include "fields/fields.h"

#include "base/buffer.h"
#include "base/memory.h"

#include <inttypes.h>

#define WORD       sizeof(uintptr_t)
#define ARRAY_DATA 2  /* words before the elements of a T[] */
#define BASES_MAX  64 /* more is a damaged chain */
#define REPEATS    256

struct layout {
    struct graph *graph;
    struct heap_file_field field; /* class, first, stride */
    struct buffer name;
    uint32_t fields; /* still to be written */
};

static void put_type(struct layout *l, const struct values_type *type, uint32_t offset);

static void cut(struct buffer *b, size_t size)
{
    if (b->failed || b->size <= size)
        return;
    b->size = size;
    b->data[size] = '\0';
}

static void put_value(struct layout *l, const struct values_type *type, uint32_t offset)
{
    if (type->kind == VALUES_REFERENCE && offset % WORD == 0 && l->fields) {
        l->fields--;
        l->field.slot = offset / (uint32_t)WORD;
        if (!l->name.failed)
            graph_field(l->graph, &l->field, l->name.data);
    } else if (type->fields) {
        put_type(l, type, offset);
    }
}

/* How many values lie in its only field: more than one where it is an inline array. */
static uint32_t repeats_of(const struct values_type *type)
{
    uint32_t size = type->fields == 1 && !type->object ? type->field[0].type->size : 0;
    uint32_t count = size && !type->field[0].offset ? type->size / size : 1;

    return count < 1 ? 1 : count < REPEATS ? count : REPEATS;
}

/* "a.b": fields of a struct, after the name of the field that it is. */
static void put_type(struct layout *l, const struct values_type *type, uint32_t offset)
{
    uint32_t repeats = repeats_of(type);
    size_t before = l->name.size;

    for (uint32_t i = 0; i < type->fields; i++)
        for (uint32_t n = 0; n < repeats && l->fields; n++) {
            const struct values_field *field = &type->field[i];

            buffer_format(&l->name, "%s%s", before ? "." : "", field->name);
            if (repeats > 1)
                buffer_format(&l->name, "[%" PRIu32 "]", n);
            put_value(l, field->type, offset + field->offset + n * field->type->size);
            cut(&l->name, before);
        }
}

struct metadata_class *fields_base(const struct fields *f, const struct metadata_class *class)
{
    struct metadata_class *base = NULL;
    uintptr_t parent = 0;

    if (f->info->vtbl->get_class_id_info2(f->info, class->class_id, NULL, NULL, &parent, 0, NULL,
                                          NULL) < 0 ||
        !parent || metadata_class_get(f->metadata, parent, &base))
        return NULL;
    return base;
}

/* Its own fields, and those of the classes that it is derived from. */
static void put_object(struct fields *f, struct layout *l, const struct metadata_class *class)
{
    const struct values_type *type;

    for (unsigned bases = 0; class && bases < BASES_MAX; bases++) {
        type = values_type_of_fields(f->types, class, VALUES_LOAD);
        if (type)
            put_type(l, type, 0);
        class = fields_base(f, class);
    }
}

static void put_array(struct fields *f, struct layout *l, const struct metadata_class *class)
{
    const struct values_type *type = values_type_of(f->types, class->element, VALUES_LOAD);

    if (!type || !type->fields || type->size % WORD)
        return;
    l->field.first = ARRAY_DATA + (class->rank > 1 || class->bounded ? class->rank : 0);
    l->field.stride = type->size / (uint32_t)WORD;
    put_type(l, type, 0);
}

void fields_of(struct fields *f, struct graph *graph, const struct metadata_class *class,
               uint32_t number)
{
    struct layout l = {.graph = graph, .field = {.class = number}, .name = BUFFER_INIT};
    const struct values_type *type;

    l.fields = REPEATS * 4;
    if (!f->types || class->canon)
        return;
    if (class->rank && class->element) {
        put_array(f, &l, class);
    } else if (!class->rank && class->module && class->module->import) {
        type = values_type_of(f->types, class, VALUES_LOAD);
        if (type && type->kind == VALUES_REFERENCE)
            put_object(f, &l, class);
        else if (type && type->fields)
            put_type(&l, type, WORD); /* a box */
    }
    buffer_free(&l.name);
}
