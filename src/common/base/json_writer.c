#include "base/json_writer.h"

#include "base/clean.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>

#define HELD_MAX (64u << 10) /* bytes before the file is given some */

void jw_init(struct json_writer *w, FILE *out)
{
    *w = (struct json_writer){.text = BUFFER_INIT, .out = out, .indent = -1};
}

static void give(struct json_writer *w)
{
    if (!w->out)
        return;
    if (!w->text.failed)
        fwrite(w->text.data, 1, w->text.size, w->out);
    w->text.size = 0; /* failed stays */
}

static void begin_line(struct json_writer *w)
{
    buffer_char(&w->text, '\n');
    for (; w->indent > 0; w->indent--)
        buffer_char(&w->text, ' ');
    w->indent = -1;
}

/* What stands before each value. */
static void begin_value(struct json_writer *w, const char *key)
{
    if (w->text.size >= HELD_MAX)
        give(w);
    if (w->comma)
        buffer_char(&w->text, ',');
    w->comma = true;
    if (w->indent >= 0)
        begin_line(w);
    if (!key)
        return;
    buffer_json_string(&w->text, key);
    buffer_char(&w->text, ':');
}

static void open_level(struct json_writer *w, const char *key, bool object)
{
    begin_value(w, key);
    w->text.failed |= w->depth == JW_LEVELS;
    buffer_char(&w->text, object ? '{' : '[');
    w->objects = w->objects << 1 | object;
    w->depth++;
    w->comma = false;
}

void jw_object(struct json_writer *w, const char *key)
{
    open_level(w, key, true);
}

void jw_array(struct json_writer *w, const char *key)
{
    open_level(w, key, false);
}

void jw_end(struct json_writer *w)
{
    buffer_char(&w->text, w->objects & 1 ? '}' : ']');
    w->objects >>= 1;
    w->depth--;
    w->comma = true;
}

void jw_text(struct json_writer *w, const char *key, const char *text)
{
    begin_value(w, key);
    buffer_json_string(&w->text, text);
}

void jw_text_if(struct json_writer *w, const char *key, const char *text)
{
    if (text)
        jw_text(w, key, text);
}

void jw_unsigned(struct json_writer *w, const char *key, uint64_t value)
{
    begin_value(w, key);
    buffer_unsigned(&w->text, value);
}

void jw_counts(struct json_writer *w, const char *key, const uint64_t *values, size_t count)
{
    jw_array(w, key);
    for (size_t i = 0; i < count; i++)
        jw_unsigned(w, NULL, values[i]);
    jw_end(w);
}

void jw_number(struct json_writer *w, const char *key, const char *format, ...)
{
    char text[64];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    jw_raw(w, key, text);
}

void jw_real(struct json_writer *w, const char *key, double value)
{
    if (isfinite(value))
        jw_number(w, key, "%.15g", value);
    else
        jw_null(w, key);
}

void jw_bool(struct json_writer *w, const char *key, bool value)
{
    begin_value(w, key);
    buffer_text(&w->text, value ? "true" : "false");
}

void jw_null(struct json_writer *w, const char *key)
{
    begin_value(w, key);
    buffer_text(&w->text, "null");
}

/* Letters that need an escape stand in strings only; below DEL are line breaks between values. */
static void append_json(struct buffer *b, const char *json)
{
    const char *run = json;
    bool safe;

    while (*json) {
        size_t length = clean_letter(json, &safe);

        if (!safe && (unsigned char)*json >= 0x7f) {
            buffer_append(b, run, (size_t)(json - run));
            buffer_format(b, "\\u%04x", (unsigned)clean_number(json));
            run = json + length;
        }
        json += length;
    }
    buffer_append(b, run, (size_t)(json - run));
}

void jw_raw(struct json_writer *w, const char *key, const char *json)
{
    begin_value(w, key);
    if (json)
        append_json(&w->text, json);
    else
        jw_fail(w);
}

void jw_fail(struct json_writer *w)
{
    w->text.failed = 1;
}

void jw_line(struct json_writer *w, int indent)
{
    w->indent = indent;
}

void jw_line_object(struct json_writer *w, int indent, const char *key)
{
    jw_line(w, indent);
    jw_object(w, key);
}

void jw_line_array(struct json_writer *w, int indent, const char *key)
{
    jw_line(w, indent);
    jw_array(w, key);
}

int jw_finish(struct json_writer *w)
{
    int err;

    buffer_char(&w->text, '\n');
    give(w);
    err = w->text.failed ? -ENOMEM : 0;
    buffer_free(&w->text);
    return err;
}

char *jw_take(struct json_writer *w)
{
    return buffer_take(&w->text);
}
