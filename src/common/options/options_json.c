/* The JSON form of struct options, both ways: options_read and options_write. */
#include "options/options.h"

#include "base/atomics.h"
#include "base/buffer.h"
#include "base/clean.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/near.h"
#include "options/json.h"
#include "options/options_fields.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HINT "; \"shadowtrace env\" prints a valid one"

struct reader {
    struct options *options;
    char *why;
    size_t why_size;
};

__attribute__((format(printf, 2, 3))) static int complain(struct reader *r, const char *format, ...)
{
    static const char prefix[] = OPTIONS_VARIABLE ": ";
    va_list args;

    snprintf(r->why, r->why_size, "%s", prefix);
    if (r->why_size > sizeof(prefix)) {
        va_start(args, format);
        vsnprintf(r->why + sizeof(prefix) - 1, r->why_size - sizeof(prefix) + 1, format, args);
        va_end(args);
    }
    if (r->why_size)
        clean_in_place(r->why); /* it goes into a log and onto a terminal, as one line */
    return -EINVAL;
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",  [JSON_STRING] = "a text",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a fraction", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };

    return names[json_typeof(value)];
}

static int wrong_type(struct reader *r, const struct options_field *f, const char *wanted,
                      const json_t *value)
{
    return complain(r, "\"%s\" must be %s, not %s" HINT, f->key, wanted, type_name(value));
}

static int read_number(struct reader *r, const struct options_field *f, const json_t *value)
{
    json_int_t number = json_integer_value(value);

    if (!json_is_integer(value))
        return wrong_type(r, f, "a whole number", value);
    if (number < 0 || options_field_set(r->options, f, (uint64_t)number))
        return complain(r, "\"%s\" is %lld, which is not between 0 and %llu", f->key,
                        (long long)number, (unsigned long long)f->max);
    return 0;
}

static int read_word(struct reader *r, const struct options_field *f, const json_t *value)
{
    const char *text = json_string_value(value);
    struct buffer words = BUFFER_INIT;
    int index, err = -ENOMEM;

    if (!text)
        return wrong_type(r, f, "a text", value);
    index = options_field_word(f, text);
    if (index >= 0)
        return options_field_set(r->options, f, (uint64_t)index);
    for (size_t i = 0; f->words[i]; i++)
        buffer_format(&words, "%s%s", i ? ", " : "", f->words[i]);
    if (!words.failed)
        err = complain(r, "\"%s\" is \"%.40s\", which is none of %s", f->key, text, words.data);
    buffer_free(&words);
    return err;
}

/* An array of words, as options_write makes it. */
static int read_set(struct reader *r, const struct options_field *f, const json_t *value)
{
    uint64_t set = 0;

    if (!json_is_array(value))
        return wrong_type(r, f, "an array of words", value);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *text = json_string_value(json_array_get(value, i)), *wrong;
        size_t length;

        if (!text)
            return wrong_type(r, f, "an array of words", json_array_get(value, i));
        if (options_field_set_words(r->options, f, text, &wrong, &length))
            return complain(r, "\"%s\" names \"%.*s\", which is not an event category", f->key,
                            (int)(length < 40 ? length : 40), wrong);
        set |= options_field_get(r->options, f);
    }
    return options_field_set(r->options, f, set);
}

static int read_flag(struct reader *r, const struct options_field *f, const json_t *value)
{
    if (!json_is_boolean(value))
        return wrong_type(r, f, "true or false", value);
    return options_field_set(r->options, f, json_is_true(value));
}

static int read_path(struct reader *r, const struct options_field *f, const json_t *value)
{
    const char *text = json_string_value(value);
    int err;

    if (!text)
        return wrong_type(r, f, "a text", value);
    err = options_field_text(r->options, f, text);
    if (err == -EINVAL)
        return complain(r, "\"%s\" must be an absolute path, not \"%.100s\"", f->key, text);
    return err;
}

static int read_list(struct reader *r, const struct options_field *f, const json_t *value)
{
    if (!json_is_array(value))
        return wrong_type(r, f, "an array of patterns", value);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *text = json_string_value(json_array_get(value, i));
        int err = text ? options_field_text(r->options, f, text) : -EINVAL;

        if (err == -EINVAL)
            return complain(r, "\"%s\" holds a pattern, number %zu, that is %s" HINT, f->key, i + 1,
                            text ? "empty" : "not a text");
        if (err)
            return err;
    }
    return 0;
}

static int (*const read_field[])(struct reader *, const struct options_field *, const json_t *) = {
    [OPTIONS_KIND_WORD] = read_word,    [OPTIONS_KIND_FLAG] = read_flag,
    [OPTIONS_KIND_COUNT] = read_number, [OPTIONS_KIND_BYTES] = read_number,
    [OPTIONS_KIND_SET] = read_set,      [OPTIONS_KIND_LIST] = read_list,
    [OPTIONS_KIND_PATH] = read_path,
};

static int unknown_key(struct reader *r, const char *key)
{
    const char *names[64] = {NULL};
    const char *near;

    for (size_t i = 0; i < options_field_count && i < COUNT_OF(names) - 1; i++)
        names[i] = options_fields[i].key;
    near = near_find(key, names);
    if (near)
        return complain(r, "unknown option \"%.60s\"; did you mean \"%s\"?", key, near);
    return complain(r, "unknown option \"%.60s\"" HINT, key);
}

/* First of all: in another version every other word may mean something else. */
static int read_version(struct reader *r, const json_t *root)
{
    const json_t *version = json_object_get(root, "version");

    if (!version)
        return complain(r, "\"version\" is missing" HINT);
    if (!json_is_integer(version))
        return complain(r, "\"version\" must be a whole number, not %s" HINT, type_name(version));
    if (json_integer_value(version) != OPTIONS_VERSION)
        return complain(r,
                        "version %lld, but this library reads version %d: use the command and the "
                        "library of one release",
                        (long long)json_integer_value(version), OPTIONS_VERSION);
    return 0;
}

/* Whatever else is wrong: it is where that can be told. */
static int read_status(struct reader *r, const json_t *root)
{
    const struct options_field *f = options_field_find("status");
    const char *text = json_string_value(json_object_get(root, f->key));

    return text && options_field_text(r->options, f, text) == -ENOMEM ? -ENOMEM : 0;
}

static int read_object(struct reader *r, json_t *root)
{
    const char *key;
    json_t *value;
    int err;

    if (!json_is_object(root))
        return complain(r, "must be an object, not %s" HINT, type_name(root));
    err = read_status(r, root);
    if (!err)
        err = read_version(r, root);
    json_object_foreach(root, key, value)
    {
        const struct options_field *f = options_field_find(key);

        if (err)
            break;
        if (f)
            err = read_field[f->kind](r, f, value);
        else if (strcmp(key, "version") != 0)
            err = unknown_key(r, key);
    }
    return err;
}

/* jansson says nothing at all when it runs out of memory. */
static int damaged(struct reader *r, const json_error_t *error)
{
    if (!*error->text)
        return -ENOMEM;
    return complain(r, "damaged at byte %d: %s" HINT, error->position, error->text);
}

int options_read(const char *json, struct options *o, char *why, size_t why_size)
{
    struct reader r = {.options = o, .why = why, .why_size = why_size};
    char contradiction[OPTIONS_WHY_SIZE];
    json_error_t error = {.position = 0};
    json_t *root;
    int err;

    if (why_size)
        *why = '\0';
    options_init(o);
    if (!json)
        return complain(&r, "not set" HINT);
    root = json_read(json, strlen(json), JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!root)
        return damaged(&r, &error);
    err = read_object(&r, root);
    if (!err && options_settle(o, json_object_get(root, "check") != NULL, OPTIONS_NAMES_KEYS,
                               contradiction, sizeof(contradiction)))
        err = complain(&r, "%s", contradiction);
    json_decref(root);
    return err;
}

static bool is_default(const struct options *o, const struct options_field *f,
                       const struct options *standard)
{
    const void *at = (const char *)o + f->offset;

    if (f->kind == OPTIONS_KIND_LIST)
        return ((const struct options_patterns *)at)->count == 0;
    if (f->kind == OPTIONS_KIND_PATH)
        return !*(char *const *)at;
    return options_field_get(o, f) == options_field_get(standard, f);
}

static void write_field(struct json_writer *w, const struct options *o,
                        const struct options_field *f)
{
    const void *at = (const char *)o + f->offset;
    const struct options_patterns *list = at;
    uint64_t value = options_field_get(o, f);

    switch (f->kind) {
    case OPTIONS_KIND_WORD:
        jw_text(w, f->key, f->words[value]);
        break;
    case OPTIONS_KIND_FLAG:
        jw_bool(w, f->key, value);
        break;
    case OPTIONS_KIND_COUNT:
    case OPTIONS_KIND_BYTES:
        jw_unsigned(w, f->key, value);
        break;
    case OPTIONS_KIND_SET:
        jw_array(w, f->key);
        for (int i = 0; f->words[i]; i++)
            if (value >> i & 1)
                jw_text(w, NULL, f->words[i]);
        jw_end(w);
        break;
    case OPTIONS_KIND_LIST:
        jw_array(w, f->key);
        for (size_t i = 0; i < list->count; i++)
            jw_text(w, NULL, list->pattern[i]);
        jw_end(w);
        break;
    case OPTIONS_KIND_PATH:
        jw_text(w, f->key, *(char *const *)at);
        break;
    }
}

char *options_write(const struct options *o)
{
    struct json_writer w;
    struct options standard;
    char unused[OPTIONS_WHY_SIZE];

    options_init(&standard);
    standard.capture = o->capture; /* the default of check depends on it */
    options_settle(&standard, false, OPTIONS_NAMES_KEYS, unused, sizeof(unused));
    standard.capture = OPTIONS_CAPTURE_SHADOW;
    if (standard.check_bounded && !o->check_bounded)
        standard.check = o->check + 1; /* given: it is written whatever it is */
    jw_init(&w, NULL);
    jw_object(&w, NULL);
    jw_unsigned(&w, "version", OPTIONS_VERSION);
    for (size_t i = 0; i < options_field_count; i++)
        if (!is_default(o, &options_fields[i], &standard))
            write_field(&w, o, &options_fields[i]);
    jw_end(&w);
    return jw_take(&w);
}
