#include "process/grows.h"

#include "base/il.h"
#include "base/memory.h"
#include "model/names.h"
#include "report/source_lines.h"
#include "symbols/symbols.h"
#include "terminal/text.h"

#include <inttypes.h>
#include <string.h>

#define MOST_PLACES 64 /* of a reply; a traced process says no more than that */

/* What grows at one place; several types can. */
struct place {
    struct buffer text;
    const char *type;
    uint64_t objects, collections, types;
};

struct places {
    struct place place[MOST_PLACES];
    size_t count;
    const char *methods[MOST_PLACES], *classes[MOST_PLACES];
    struct names *names;
};

static uint64_t number(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));

    return value > 0 ? (uint64_t)value : 0;
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* -1: not known. */
static int32_t il_of(const json_t *site)
{
    uint64_t il = number(site, "il");

    if (!json_object_get(site, "il") || il > IL_MOST)
        return -1;
    return json_object_get(site, "il_last")
               ? il_several((uint32_t)il, (uint32_t)number(site, "il_last"))
               : (int32_t)il;
}

/* "Coupons.cs:30". Returns: whether symbols tell. */
static bool put_line(const json_t *site, struct buffer *b)
{
    const char *path = text_in(site, "path"), *name;
    struct symbols *symbols = NULL;
    struct symbols_line line;
    int32_t il = il_of(site);
    bool found = false;

    if (*path != '/' || il < 0 || symbols_open(path, NULL, 0, NULL, &symbols, NULL))
        return false;
    if (!symbols_line_of(symbols, (uint32_t)number(site, "token"), il, &line)) {
        name = line.file + strlen(line.file);
        while (name > line.file && name[-1] != '/' && name[-1] != '\\')
            name--;
        buffer_clean(b, name);
        source_line_put(b, line.line, line.line_last);
        found = true;
    }
    symbols_free(symbols);
    return found;
}

static void add(struct places *all, size_t i, const json_t *site)
{
    struct place *place = &all->place[all->count], *same = all->place;

    *place = (struct place){.text = BUFFER_INIT,
                            .type = names_class(all->names, (uint32_t)i),
                            .objects = number(site, "objects"),
                            .collections = number(site, "collections"),
                            .types = 1};
    if (!put_line(site, &place->text))
        buffer_clean(&place->text, *text_in(site, "method") ? names_method(all->names, (uint32_t)i)
                                                            : "code outside of every method");
    if (place->text.failed) {
        buffer_free(&place->text);
        return;
    }
    while (strcmp(same->text.data, place->text.data) != 0)
        same++;
    if (same == place) {
        all->count++;
        return;
    }
    same->objects += place->objects;
    same->types += strcmp(same->type, place->type) != 0;
    if (same->collections > place->collections)
        same->collections = place->collections;
    buffer_free(&place->text);
}

static int read_names(struct places *all, const json_t *array, size_t count)
{
    const struct names_texts texts = {all->methods, all->classes, count, count};

    for (size_t i = 0; i < count; i++) {
        all->methods[i] = text_in(json_array_get(array, i), "method");
        all->classes[i] = text_in(json_array_get(array, i), "type");
    }
    return names_of_texts(&texts, NAMES_SHORT, &all->names);
}

static void put_place(const struct place *place, struct buffer *out)
{
    struct text_number objects;

    buffer_format(out, "grows at each of %" PRIu64 " full collections: %s, +%s object%s, ",
                  place->collections, place->text.data, text_count(&objects, place->objects),
                  text_plural(place->objects));
    buffer_clean(out, place->type);
    if (place->types > 1)
        buffer_format(out, " +%" PRIu64, place->types - 1);
    buffer_char(out, '\n');
}

void grows_text(const json_t *array, size_t most, struct buffer *out)
{
    size_t count = json_array_size(array) < MOST_PLACES ? json_array_size(array) : MOST_PLACES;
    struct places *all = count ? memory_zalloc(1, sizeof(*all)) : NULL;

    if (!all)
        return;
    if (!read_names(all, array, count))
        for (size_t i = 0; i < count; i++)
            add(all, i, json_array_get(array, i));
    for (size_t i = 0; i < all->count && i < most; i++)
        put_place(&all->place[i], out);
    if (all->count > most)
        buffer_format(out, "grows at each: %zu more place%s\n", all->count - most,
                      text_plural(all->count - most));
    for (size_t i = 0; i < all->count; i++)
        buffer_free(&all->place[i].text);
    names_free(all->names);
    memory_free(all);
}
