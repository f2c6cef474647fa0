/* Names of roots, fields and ways. */
#include "retained/held.h"

#include <ctype.h>
#include <string.h>

/* ---- names ---- */

static bool follows_name(const char *text, const char *at)
{
    return at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == ']');
}

/* "Dictionary<string, Coupon>.Entry" as "Dictionary<,>.Entry"; "<>c" is a name. */
static void put_elided(struct buffer *b, const char *text)
{
    unsigned depth = 0;

    for (const char *at = text; *at; at++) {
        if (*at == '<' && (depth || follows_name(text, at)) && depth++)
            continue;
        if (!depth || (depth == 1 && (*at == '<' || *at == ',' || *at == '>')))
            buffer_char(b, *at);
        if (*at == '>' && depth)
            depth--;
    }
}

/*
 * What the compiler made of a property ("<Items>k__BackingField"), of a variable in an async method
 * ("<order>5__2") or of `this` in it, as the source has it.
 */
static void put_part(struct buffer *b, const char *text, size_t size)
{
    static const char property[] = ">k__BackingField";
    const char *end = memchr(text, '>', size);
    size_t named = end ? (size_t)(end - text) - 1 : 0, left = end ? size - named - 1 : 0;

    if (*text == '<' && named && left == sizeof(property) - 1 && !memcmp(end, property, left))
        buffer_append(b, text + 1, named);
    else if (*text == '<' && named && left > 4 && !memcmp(end, ">5__", 4) &&
             isdigit((unsigned char)end[4]))
        buffer_append(b, text + 1, named);
    else if (size == 9 && !memcmp(text, "<>4__this", 9))
        buffer_text(b, "this");
    else
        buffer_append(b, text, size);
}

static void put_field(const struct held *h, struct buffer *out, const char *name)
{
    while (*name) {
        size_t size = strcspn(name, ".");

        if (h->raw)
            buffer_append(out, name, size);
        else
            put_part(out, name, size);
        name += size;
        if (*name)
            buffer_char(out, *name++);
    }
}

/* ---- roots ---- */

static uint32_t static_class(const struct held *h, const struct heap_static *field)
{
    return field->class_number < h->g.class_names.count ? h->class_of[field->class_number] : 0;
}

static void put_static(const struct held *h, const struct heap_root *root, struct buffer *out,
                       bool elided)
{
    const struct heap_static *field = &h->g.statics[root->field - 1];
    const char *type = held_type(h, static_class(h, field));

    if (elided)
        put_elided(out, type);
    else
        buffer_text(out, type);
    buffer_char(out, '.');
    put_field(h, out, h->g.field_text + field->at);
}

const char *held_static(const struct held *h, const struct heap_root *root, struct buffer *out)
{
    buffer_clear(out);
    if (!root || !root->field)
        return NULL;
    put_static(h, root, out, false);
    return out->failed ? NULL : out->data;
}

/* The runtime pins what overlapped input and output uses by handles of a kind of their own. */
static bool is_overlapped(const struct held *h, uint32_t object)
{
    uint32_t class_number = held_class(h, object);

    return class_number &&
           !strcmp(log_class(&h->defs, class_number)->name, "System.Threading.OverlappedData");
}

const char *held_handle(const struct held *h, const struct heap_root *root)
{
    if (!root || root->kind != SST_HEAP_ROOT_HANDLE)
        return NULL;
    if (root->flags & SST_HEAP_ROOT_REFCOUNTED)
        return "reference-counted";
    if (root->flags & SST_HEAP_ROOT_PINNING)
        return is_overlapped(h, root->object) ? "async pinned" : "pinned";
    return "strong";
}

static const char *root_words(const struct held *h, const struct heap_root *root,
                              struct buffer *out, bool elided)
{
    uint32_t method = root && root->name < h->g.names.count ? h->named[root->name] : 0;
    const char *handle = held_handle(h, root);

    buffer_clear(out);
    if (!root)
        return heap_root_kinds[SST_HEAP_ROOT_OTHER].words;
    if (root->field) {
        bool thread = h->g.statics[root->field - 1].flags & SST_HEAP_STATIC_THREAD;

        buffer_text(out, thread ? "thread static " : "static ");
        put_static(h, root, out, elided);
    } else if (handle) {
        buffer_format(out, "%s %s handle", *handle == 'a' ? "an" : "a", handle);
    } else {
        buffer_text(out, root->kind == SST_HEAP_ROOT_STATIC && method
                             ? "static"
                             : heap_root_kinds[root->kind].words);
    }
    if (method)
        buffer_format(out, root->kind == SST_HEAP_ROOT_STACK ? ", of %s" : " %s",
                      names_method(h->names, method));
    return out->failed ? heap_root_kinds[root->kind].words : out->data;
}

const char *held_root(const struct held *h, const struct heap_root *root, struct buffer *out)
{
    return root_words(h, root, out, false);
}

/* ---- steps ---- */

const char *held_object(const struct held *h, uint32_t object, struct buffer *out)
{
    const char *type = held_type(h, held_class(h, object));

    if (!heap_graph_keeps(&h->g, object))
        return type;
    buffer_clear(out);
    buffer_format(out, "%s (static fields)", type);
    return out->failed ? type : out->data;
}

static bool is_array(const struct held *h, uint32_t object)
{
    const char *type = held_type(h, held_class(h, object));
    size_t size = strlen(type);

    return size && type[size - 1] == ']';
}

const char *held_link(const struct held *h, uint32_t from, uint32_t to, struct buffer *out)
{
    const char *name =
        heap_field_name(&h->g, h->g.classes[from], heap_slot_of(h->slots, h->slot_count, from, to));
    bool array = is_array(h, from);

    buffer_clear(out);
    if (heap_graph_pair(&h->g, from, to) || (!name && !array))
        return NULL;
    if (array)
        buffer_text(out, "[i]");
    if (array && name)
        buffer_char(out, '.');
    if (name)
        put_field(h, out, name);
    return out->failed ? NULL : out->data;
}

size_t held_repeats(const struct held *h, const struct heap_path *path, size_t step)
{
    size_t end = step;

    for (size_t period = 1; period <= 2 && period <= step && end - step < 2; period++) {
        end = step;
        while (end < path->step_count &&
               held_class(h, path->steps[end]) == held_class(h, path->steps[end - period]))
            end++;
    }
    if (end == path->step_count && end > step)
        end--; /* the last one is shown: it is what was asked for */
    return end - step < 2 ? 0 : end - step;
}

/* An object of the chain, and what of it leads on; an array is its element. */
static void put_step(const struct held *h, const struct heap_path *path, size_t i,
                     struct buffer *part, struct buffer *out)
{
    uint32_t node = path->steps[i], next = i + 1 < path->step_count ? path->steps[i + 1] : 0;
    const char *link = next ? held_link(h, node, next, part) : NULL;

    buffer_text(out, " -> ");
    if (link && *link == '[' && !heap_graph_keeps(&h->g, node)) {
        buffer_text(out, link);
        return;
    }
    /* Before a field the type's name: "closure of Program.items" would name a method. */
    put_elided(out, link && *link != '[' && held_class(h, node)
                        ? names_type(h->names, held_class(h, node))
                        : held_type(h, held_class(h, node)));
    if (heap_graph_keeps(&h->g, node))
        buffer_text(out, " (static fields)");
    if (link)
        buffer_format(out, "%s%s", *link == '[' ? "" : ".", link);
    if (next && heap_graph_pair(&h->g, node, next))
        buffer_text(out, " -> (attached)");
}

const char *held_chain(const struct held *h, const struct heap_path *path, struct buffer *out)
{
    struct buffer part = BUFFER_INIT;

    buffer_clear(out);
    buffer_text(out, root_words(h, heap_graph_root(&h->g, path->steps[0]), &part, true));
    for (size_t i = 0; i < path->step_count; i++) {
        size_t repeats = held_repeats(h, path, i);
        bool skips =
            path->skipped && i <= path->skipped_before && path->skipped_before < i + repeats + 1;

        if (repeats || skips)
            buffer_text(out, " -> …");
        i += repeats;
        put_step(h, path, i, &part, out);
    }
    buffer_free(&part);
    return out->failed ? "?" : out->data;
}
