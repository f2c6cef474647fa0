#include "events/message.h"

#include "base/atomics.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <string.h>

#define FIELDS 64 /* of System.Exception: it has some 15 */

/* Where in an object of the class the field called _message lies; 0: it has none. */
static uint32_t message_field(const struct messages *m, uintptr_t class_id,
                              const struct clr_field_offset *field, uint32_t count)
{
    static const clr_wchar wanted[] = u"_message";
    struct metadata_class *class;
    struct clr_metadata *import;
    uint32_t offset = 0;

    if (metadata_class_get(m->metadata, class_id, &class) || !class->module ||
        !(import = class->module->import))
        return 0;
    for (uint32_t i = 0; i < count && i < FIELDS && !offset; i++) {
        clr_wchar name[16];
        uint32_t length = 0;

        if (import->vtbl->get_field_props(import, field[i].field, NULL, name, COUNT_OF(name),
                                          &length, NULL, NULL, NULL, NULL, NULL, NULL) >= 0 &&
            length == COUNT_OF(wanted) && !memcmp(name, wanted, sizeof(wanted)))
            offset = field[i].offset;
    }
    return offset;
}

/* The base next to System.Object: System.Exception. 0: the runtime does not say. */
static uintptr_t base_exception(const struct messages *m, uintptr_t class_id)
{
    struct clr_info *info = m->runtime->info;
    uintptr_t base = class_id, last = 0;

    for (unsigned i = 0; i < 64 && base; i++) {
        uintptr_t parent = 0;

        if (info->vtbl->get_class_id_info2(info, base, NULL, NULL, &parent, 0, NULL, NULL) < 0)
            return 0;
        if (!parent)
            return last;
        last = base;
        base = parent;
    }
    return 0;
}

/* Where System.Exception keeps its message; 0: not known. Found at the first exception. */
static uint32_t message_offset(struct messages *m, uintptr_t class_id)
{
    struct clr_info *info = m->runtime->info;
    struct clr_field_offset field[FIELDS];
    uint32_t offset = load_acquire(&m->offset), count = 0, size = 0;
    uintptr_t base;

    if (offset)
        return offset;
    base = base_exception(m, class_id);
    if (!base || info->vtbl->get_string_layout2(info, &m->string_length, &m->string_text) != S_OK ||
        info->vtbl->get_class_layout(info, base, field, FIELDS, &count, &size) != S_OK)
        return 0;
    offset = message_field(m, base, field, count);
    store_release(&m->offset, offset); /* after the string's layout, the same for all */
    return offset;
}

const clr_wchar *message_of(struct messages *m, uintptr_t object, uintptr_t class_id,
                            size_t *length)
{
    uint32_t offset = message_offset(m, class_id), units;
    uintptr_t string = offset ? *(const uintptr_t *)(object + offset) : 0;

    if (!string)
        return NULL;
    units = *(const uint32_t *)(string + m->string_length);
    *length = units < MESSAGE_UNITS ? units : MESSAGE_UNITS;
    return (const clr_wchar *)(string + m->string_text);
}
