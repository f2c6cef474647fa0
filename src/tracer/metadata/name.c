#include "metadata/internal.h"

#include "metadata/signature.h"
#include "metadata/state_machine.h"

#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#include <stdio.h>
#include <string.h>

/* What is cut ends in U+2026. */
#define ELLIPSIS "\xE2\x80\xA6"

/*
 * Ends a text, cut between characters if it is too long. It lives as long as its record: that of
 * one which can be unloaded is freed by itself.
 */
static char *finish(struct metadata *metadata, struct buffer *out, bool collectible)
{
    char *text;

    if (out->size > TEXT_MAX && !out->failed) {
        size_t at = TEXT_MAX - strlen(ELLIPSIS);

        while (((unsigned char)out->data[at] & 0xC0) == 0x80)
            at--;
        memcpy(out->data + at, ELLIPSIS, sizeof(ELLIPSIS));
        out->size = at + strlen(ELLIPSIS);
    }
    if (collectible)
        return buffer_take(out);
    text = out->failed ? NULL : memory_pool_zalloc(&metadata->pool, out->size + 1, 1);
    if (text)
        memcpy(text, out->data, out->size);
    buffer_free(out);
    return text;
}

static char *class_text(struct metadata *metadata, const struct metadata_class *class)
{
    char room[BUFFER_TEXT_ROOM];
    struct buffer out = BUFFER_ON(room);

    signature_append_class(&out, class);
    return finish(metadata, &out, class->collectible);
}

struct signature_names *metadata_names(struct metadata *metadata)
{
    if (!metadata_is_resolver(metadata))
        return NULL;
    if (!metadata->names)
        metadata->names = signature_names_new();
    return metadata->names;
}

void name_scope(const struct metadata_method *method, struct signature_names *names,
                struct signature_scope *out)
{
    const struct metadata_class *owner = method->owner;

    *out = (struct signature_scope){
        .import = method->module ? method->module->import : NULL,
        .method = method->token,
        .method_args = method->args,
        .method_arg = method->arg,
        .names = names,
    };
    if (owner && !owner->rank) {
        out->type = owner->token;
        out->type_args = owner->args;
        out->type_arg = owner->arg;
    } else if (out->import &&
               out->import->vtbl->get_method_props(out->import, method->token, &out->type, NULL, 0,
                                                   NULL, NULL, NULL, NULL, NULL, NULL) < 0) {
        out->type = 0;
    }
}

static char *method_text(struct metadata *metadata, const struct metadata_method *method)
{
    char room[BUFFER_TEXT_ROOM], name_room[BUFFER_TEXT_ROOM];
    struct buffer out = BUFFER_ON(room), name = BUFFER_ON(name_room);
    struct signature_scope scope;
    const uint8_t *blob;
    uint32_t size, type;

    name_scope(method, metadata_names(metadata), &scope);
    if (!scope.import ||
        !signature_append_member_name(&name, scope.import, method->token, &type, &blob, &size)) {
        buffer_free(&name);
        return NULL;
    }
    if (method->owner && !method->owner->rank)
        signature_append_class(&out, method->owner);
    else if (!signature_append_definition(&out, &scope, scope.type))
        buffer_text(&out, "<Module>"); /* global methods have no owner in the metadata interface */
    buffer_char(&out, '.');
    buffer_append(&out, name.data, name.size);
    if (size && blob[0] & IMAGE_CEE_CS_CALLCONV_GENERIC)
        signature_append_method_arguments(&out, &scope);
    signature_append_parameters(&out, &scope, blob, size);
    out.failed |= name.failed;
    buffer_free(&name);
    return finish(metadata, &out, method->collectible);
}

/* ---- once per record ---- */

/*
 * Publishes a text. Two threads may have made it: the first wins. Without memory the record's own
 * few bytes serve, which nobody reads before they are published here.
 */
static const char *publish(_Atomic(const char *) *at, char *text, bool collectible,
                           const char *fallback)
{
    const char *found = NULL;
    const char *mine = text ? text : fallback;

    if (cas_acq_rel(at, &found, mine))
        return mine;
    if (collectible)
        memory_free(text);
    return found;
}

const char *metadata_class_resolve(struct metadata *metadata, struct metadata_class *class)
{
    const char *text = metadata_class_text(class);

    if (text)
        return text;
    store_relaxed(&class->sort, (uint8_t)metadata_class_sort(class)); /* published by the text */
    return publish(&class->text, class_text(metadata, class), class->collectible,
                   metadata_class_entry(class)->fallback);
}

const char *metadata_method_resolve(struct metadata *metadata, struct metadata_method *method)
{
    const char *text = metadata_method_text(method);

    return text ? text
                : publish(&method->text, method_text(metadata, method), method->collectible,
                          metadata_method_entry(method)->fallback);
}

const char *metadata_class_text(const struct metadata_class *class)
{
    return load_acquire(&class->text);
}

const char *metadata_method_text(const struct metadata_method *method)
{
    return load_acquire(&method->text);
}
