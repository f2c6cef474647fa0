#include "fields/fields.h"

#include "base/array.h"
#include "base/memory.h"
#include "clr/blob.h"
#include "clr/com.h"
#include "clr/utf16.h"

#include <shadowtrace/clr/constants.h>

#define NAME_UNITS 512
#define AT_ONCE    64

struct fields_static {
    const struct metadata_class *class;
    uint32_t token;
    bool thread, value; /* value: a struct, which the runtime keeps in a box */
    char *name;
};

/* ---- which there are ---- */

/* Returns: whether a field of that type holds an object; *value: in a box. */
static bool holds_object(const uint8_t *blob, uint32_t size, bool *value)
{
    struct clr_blob b = clr_blob_of(blob, size);
    uint32_t kind;

    clr_blob_byte(&b); /* that it is a field's */
    kind = clr_blob_byte(&b);
    while (kind == ELEMENT_TYPE_CMOD_REQD || kind == ELEMENT_TYPE_CMOD_OPT) {
        clr_blob_token(&b);
        kind = clr_blob_byte(&b);
    }
    if (kind == ELEMENT_TYPE_GENERICINST)
        kind = clr_blob_byte(&b);
    *value = kind == ELEMENT_TYPE_VALUETYPE;
    return !b.bad && (*value || kind == ELEMENT_TYPE_CLASS || kind == ELEMENT_TYPE_OBJECT ||
                      kind == ELEMENT_TYPE_STRING || kind == ELEMENT_TYPE_SZARRAY ||
                      kind == ELEMENT_TYPE_ARRAY);
}

static void add_field(struct fields *f, const struct metadata_class *class, uint32_t token)
{
    struct clr_metadata *import = class->module->import;
    struct fields_static found = {.class = class, .token = token};
    uint32_t length = 0, attributes = 0, size = 0;
    clr_wchar name[NAME_UNITS];
    const uint8_t *blob = NULL;
    int32_t kind = 0;

    if (import->vtbl->get_field_props(import, token, NULL, name, NAME_UNITS, &length, &attributes,
                                      &blob, &size, NULL, NULL, NULL) < 0 ||
        !(attributes & fdStatic) || (attributes & (fdLiteral | fdHasFieldRVA)) || !blob ||
        !holds_object(blob, size, &found.value) ||
        f->info->vtbl->get_static_field_info(f->info, class->class_id, token, &kind) < 0 ||
        !array_reserve(&f->statics, &f->capacity, f->count + 1))
        return;
    found.thread = kind & COR_PRF_FIELD_THREAD_STATIC;
    found.name = clr_utf16_copy(name, length < NAME_UNITS ? length : NAME_UNITS);
    if (found.name)
        f->statics[f->count++] = found;
}

/* Of a generic type the runtime says nothing: it looks at its definition, which has no statics. */
static void add_class(struct fields *f, const struct metadata_class *class)
{
    struct clr_metadata *import = class->module ? class->module->import : NULL;
    uint32_t fields[AT_ONCE], got = 0;
    void *enumerator = NULL;

    if (class->rank || class->args || !class->token || !import)
        return;
    while (import->vtbl->enum_fields(import, &enumerator, class->token, fields, AT_ONCE, &got) >=
               0 &&
           got && got <= AT_ONCE) {
        for (uint32_t i = 0; i < got; i++)
            add_field(f, class, fields[i]);
        got = 0;
    }
    if (enumerator)
        import->vtbl->close_enum(import, enumerator);
}

/* Types of compiled methods: some have no objects. */
static void meet_compiled(struct fields *f)
{
    struct clr_function_enum *functions = NULL;
    struct clr_info *info = f->info;
    struct metadata_class *class;
    struct clr_function function;
    uintptr_t class_id;
    uint32_t got;

    if (f->info_version < 4 || info->vtbl->enum_jited_functions2(info, &functions) != S_OK)
        return;
    while (functions->vtbl->next(functions, 1, &function, &got) == S_OK && got == 1)
        if (info->vtbl->get_function_info2(info, function.function_id, 0, &class_id, NULL, NULL, 0,
                                           NULL, NULL) >= 0 &&
            class_id && !metadata_class_find(f->metadata, class_id))
            metadata_class_get(f->metadata, class_id, &class);
    clr_release(functions);
}

/* .NET has one application domain. */
static void find_domain(struct fields *f, const struct metadata_class *class)
{
    uint32_t count = 0;

    if (!f->app_domain && class->module &&
        f->info->vtbl->get_app_domains_containing_module(f->info, class->module->module_id, 1,
                                                         &count, &f->app_domain) < 0)
        f->app_domain = 0;
}

void fields_open(struct fields *f)
{
    const struct metadata_class *class;
    bool listed;

    f->types = memory_zalloc(1, sizeof(*f->types));
    if (f->types) {
        f->types->info = f->info;
        f->types->metadata = f->metadata;
    }
    meet_compiled(f);
    for (uint32_t number = 1; (class = metadata_class_at(f->metadata, number, &listed)); number++) {
        if (!listed || metadata_class_find(f->metadata, class->class_id) != class)
            continue; /* it was unloaded */
        find_domain(f, class);
        if (!class->rank)
            (void)fields_base(f, class); /* it has statics, too: it gets a number, and its turn */
        add_class(f, class);
    }
}

void fields_close(struct fields *f)
{
    for (size_t i = 0; i < f->count; i++)
        memory_free(f->statics[i].name);
    memory_free_all(f->statics, f->thread);
    if (f->types)
        values_types_free(f->types);
    memory_free(f->types);
    *f = (struct fields){.info = f->info, .info_version = f->info_version, .metadata = f->metadata};
}

/* ---- what they hold ---- */

static void put_static(struct graph *graph, const struct fields_static *s, const void *address)
{
    uintptr_t place = (uintptr_t)address;
    struct heap_file_static field = {.place = place,
                                     .flags = s->thread ? SST_HEAP_STATIC_THREAD : 0};

    field.object = s->value ? place - sizeof(uintptr_t) : *(const uintptr_t *)address;
    graph_static(graph, s->class, &field, s->name);
}

/* Each thread has its own. All threads stand: none of them can end meanwhile. */
static void put_of_threads(struct fields *f, struct graph *graph, const struct fields_static *s)
{
    struct clr_info *info = f->info;

    for (size_t i = 0; i < f->threads; i++) {
        void *address = NULL;

        if (info->vtbl->get_thread_static_address2(info, s->class->class_id, s->token,
                                                   f->app_domain, f->thread[i], &address) == S_OK &&
            address)
            put_static(graph, s, address);
    }
}

static void put_of_all(struct fields *f, struct graph *graph, const struct fields_static *s)
{
    struct clr_info *info = f->info;
    void *address = NULL;

    if (info->vtbl->get_app_domain_static_address(info, s->class->class_id, s->token, f->app_domain,
                                                  &address) == S_OK &&
        address)
        put_static(graph, s, address);
}

static void list_threads(struct fields *f)
{
    struct clr_thread_enum *threads = NULL;
    uint32_t got = 0;

    if (f->info_version < 4 || f->info->vtbl->enum_threads(f->info, &threads) != S_OK)
        return;
    f->threads = 0;
    while (array_reserve(&f->thread, &f->thread_capacity, f->threads + 1) &&
           threads->vtbl->next(threads, 1, &f->thread[f->threads], &got) == S_OK && got == 1)
        f->threads++;
    clr_release(threads);
}

void fields_statics(struct fields *f, struct graph *graph)
{
    list_threads(f);
    for (size_t i = 0; i < f->count; i++) {
        const struct fields_static *s = &f->statics[i];

        if (s->class->collectible && !graph_met(graph, s->class->module))
            continue;
        if (s->thread)
            put_of_threads(f, graph, s);
        else
            put_of_all(f, graph, s);
    }
}
