#include "metadata/state_machine.h"

#include "clr/utf16.h"
#include "clr/type.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <string.h>

#define NAME   256 /* characters of a name that are looked at */
#define FIELDS 8   /* of a box; it has three */

static const char services[] = "System.Runtime.CompilerServices.";

/*
 * A machine's type as compilers name it: <Work>d__3, and <<Work>b__0>d of a lambda (C#), work@12
 * (F#), VB$StateMachine_3_Work. C#'s closures, of which there are more, are <>c and the like.
 */
static bool machine_named(const char *name)
{
    return (*name == '<' && strstr(name, ">d")) || strchr(name, '@') ||
           strncmp(name, "VB$StateMachine_", 16) == 0;
}

/* Not by find_field: before its first answer that reads the names of all members of the module. */
static bool field_named(struct clr_metadata *import, uint32_t type, const clr_wchar *name,
                        uint32_t *field)
{
    void *enumerator = NULL;
    uint32_t count = 0;
    hresult hr =
        import->vtbl->enum_fields_with_name(import, &enumerator, type, name, field, 1, &count);

    import->vtbl->close_enum(import, enumerator);
    return hr >= 0 && count;
}

static bool has_field(struct clr_metadata *import, uint32_t type, const clr_wchar *name)
{
    uint32_t field;

    return field_named(import, type, name, &field);
}

/* An async method's: iterators have no builder, async iterators have a current element. */
static bool is_method_machine(struct clr_metadata *import, uint32_t type)
{
    return (has_field(import, type, u"<>t__builder") || has_field(import, type, u"$Builder")) &&
           !has_field(import, type, u"<>2__current");
}

static bool read_name(char *text, size_t size, const clr_wchar *wide, hresult hr, uint32_t length)
{
    if (hr < 0 || length < 2 || length > NAME)
        return false;
    clr_utf16_to_utf8(text, size, wide, length - 1); /* it counts the NUL */
    return true;
}

static void find(struct metadata_method *method, struct clr_metadata *import)
{
    static const clr_wchar move_next[] = u"MoveNext";
    clr_wchar wide[NAME];
    char name[CLR_UTF8_SIZE(NAME)];
    uint32_t type = 0, base = 0, length = 0;
    hresult hr = import->vtbl->get_method_props(import, method->token, &type, wide, NAME, &length,
                                                NULL, NULL, NULL, NULL, NULL);

    if (hr < 0 || length != COUNT_OF(move_next) || memcmp(wide, move_next, sizeof(move_next)) != 0)
        return;
    hr = import->vtbl->get_type_def_props(import, type, wide, NAME, &length, NULL, &base);
    if (read_name(name, sizeof(name), wide, hr, length) && machine_named(name)) {
        bool value = clr_type_is_value_base(import, base);

        if (value || is_method_machine(import, type))
            method->machine = type;
        store_relaxed(&method->machine_at, value ? METADATA_MACHINE_OPEN : 0);
    }
}

void metadata_machine_find(struct metadata_method *method)
{
    struct clr_metadata *import = method->module ? method->module->import : NULL;

    if (method->machine_asked || !import)
        return;
    find(method, import);
    method->machine_asked = true; /* last: another thread may be compiling it, too */
}

/* A box, or a continuation: a class of the runtime's. That of a box is nested. */
static enum metadata_waits box_kind(const char *name)
{
    size_t size = sizeof(services) - 1;

    if (!name || strncmp(name, services, size) != 0)
        return METADATA_WAITS_NOT;
    if (strcmp(name + size, "Continuation") == 0)
        return METADATA_WAITS_CONTINUATION;
    if (!strstr(name, "StateMachineBox<"))
        return METADATA_WAITS_NOT;
    return strstr(name, ".Pooling") ? METADATA_WAITS_ELSE : METADATA_WAITS_BOX;
}

bool metadata_class_is_value(const struct metadata_class *class)
{
    static const clr_wchar *const base_of_enums[] = {u"System.Enum"};
    struct clr_metadata *import = class->module ? class->module->import : NULL;
    uint32_t base = 0;

    return import && !class->rank && class->token &&
           import->vtbl->get_type_def_props(import, class->token, NULL, 0, NULL, NULL, &base) >=
               0 &&
           clr_type_is_value_base(import, base) &&
           !clr_type_is(import, class->token, base_of_enums, COUNT_OF(base_of_enums));
}

enum sst_sort metadata_class_sort(const struct metadata_class *class)
{
    struct clr_metadata *import = class->module ? class->module->import : NULL;
    clr_wchar wide[NAME];
    char own[CLR_UTF8_SIZE(NAME)];
    uint32_t length = 0;
    hresult hr;

    if (!import || class->rank || !class->token)
        return SST_SORT_NONE;
    hr = import->vtbl->get_type_def_props(import, class->token, wide, NAME, &length, NULL, NULL);
    if (read_name(own, sizeof(own), wide, hr, length) && machine_named(own)) {
        if (is_method_machine(import, class->token))
            return SST_SORT_ASYNC;
        if (has_field(import, class->token, u"<>2__current"))
            return SST_SORT_ITERATOR;
    }
    return metadata_class_is_value(class) ? SST_SORT_VALUE : SST_SORT_NONE;
}

enum metadata_waits metadata_class_waits(struct metadata *metadata, struct metadata_class *class)
{
    struct clr_metadata *import = class->module ? class->module->import : NULL;
    clr_wchar wide[NAME];
    char own[CLR_UTF8_SIZE(NAME)];
    uint32_t length = 0;
    hresult hr;

    if (!import || class->element)
        return METADATA_WAITS_NOT;
    hr = import->vtbl->get_type_def_props(import, class->token, wide, NAME, &length, NULL, NULL);
    if (!read_name(own, sizeof(own), wide, hr, length))
        return METADATA_WAITS_NOT;
    if (machine_named(own))
        return is_method_machine(import, class->token) ? METADATA_WAITS_MACHINE
                                                       : METADATA_WAITS_NOT;
    /* Only of these the whole name is made here, on the program's thread. */
    return strstr(own, "StateMachineBox`") || strstr(own, ".Continuation")
               ? box_kind(metadata_class_resolve(metadata, class))
               : METADATA_WAITS_NOT;
}

static uint32_t machine_field(struct clr_metadata *import, uint32_t box,
                              const struct clr_field_offset *field, uint32_t count)
{
    uint32_t token;

    if (!field_named(import, box, u"StateMachine", &token))
        return METADATA_MACHINE_NOWHERE;
    for (uint32_t i = 0; i < count; i++)
        if (field[i].field == token)
            return field[i].offset;
    return METADATA_MACHINE_NOWHERE;
}

bool metadata_machine_of(const struct metadata_method *method, const struct metadata_class *box)
{
    const struct metadata_class *machine = box->args ? box->arg[box->args - 1] : NULL;

    return machine && machine->module == method->module && machine->token == method->machine;
}

void metadata_machine_place(struct clr_info *info, struct metadata_method *method,
                            const struct metadata_class *box)
{
    struct clr_metadata *import = box->module ? box->module->import : NULL;
    struct clr_field_offset field[FIELDS];
    uint32_t count = 0, size = 0, at = METADATA_MACHINE_NOWHERE;

    if (load_relaxed(&method->machine_at) != METADATA_MACHINE_OPEN || !import ||
        !metadata_machine_of(method, box))
        return;
    if (info->vtbl->get_class_layout(info, box->class_id, field, FIELDS, &count, &size) == S_OK &&
        count <= FIELDS)
        at = machine_field(import, box->token, field, count);
    store_relaxed(&method->machine_at, at);
}
