/*
 * base/json_writer.h - JSON written piece by piece: only what the file was not given yet is kept.
 *
 *     struct json_writer w;
 *
 *     jw_init(&w, out);
 *     jw_object(&w, NULL);
 *     jw_text(&w, "by", "site");
 *     jw_array(&w, "rows");
 *     jw_unsigned(&w, NULL, 5);
 *     jw_end(&w);
 *     jw_end(&w);
 *     failed = jw_finish(&w);                                  {"by":"site","rows":[5]}
 *
 * A value in an object comes with its key, in an array and as the whole with NULL; commas are the
 * writer's.
 */
#ifndef SHADOWTRACE_BASE_JSON_WRITER_H
#define SHADOWTRACE_BASE_JSON_WRITER_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stdio.h>

#define JW_LEVELS 64 /* of nesting; deeper ones fail */

struct json_writer {
    struct buffer text; /* what was not written to out; without out all there is */
    FILE *out;
    uint64_t objects; /* a bit for each open level: an object, else an array */
    unsigned depth;
    int indent; /* of the line that the next value begins; -1: it goes on in the same one */
    bool comma; /* the next value needs one */
};

/* out NULL: the text is for jw_take. */
void jw_init(struct json_writer *w, FILE *out);

void jw_object(struct json_writer *w, const char *key);
void jw_array(struct json_writer *w, const char *key);
void jw_end(struct json_writer *w); /* of the innermost that is open */

void jw_text(struct json_writer *w, const char *key, const char *text); /* as buffer_json_string */
void jw_text_if(struct json_writer *w, const char *key, const char *text); /* nothing for NULL */
void jw_unsigned(struct json_writer *w, const char *key, uint64_t value);
void jw_counts(struct json_writer *w, const char *key, const uint64_t *values, size_t count);
void jw_number(struct json_writer *w, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));                          /* any other, as JSON has it */
void jw_real(struct json_writer *w, const char *key, double value); /* null: it is no number */
void jw_bool(struct json_writer *w, const char *key, bool value);
void jw_null(struct json_writer *w, const char *key);
/* JSON already; what a terminal would act on leaves as \uXXXX (base/clean.h). NULL: as jw_fail. */
void jw_raw(struct json_writer *w, const char *key, const char *json);

void jw_fail(struct json_writer *w); /* a value is missing: out of memory */

/* Frees a buffer whose text was written; jw_fail if it was not all that it should be. */
static inline void jw_spent(struct json_writer *w, struct buffer *text)
{
    if (text->failed)
        jw_fail(w);
    buffer_free(text);
}

/* The next value begins a line, behind that many spaces. */
void jw_line(struct json_writer *w, int indent);
void jw_line_object(struct json_writer *w, int indent, const char *key);
void jw_line_array(struct json_writer *w, int indent, const char *key);

/*
 * jw_finish - a line break behind the whole, and what is left goes to the file; ask ferror()
 * whether it took it. Returns: 0; -ENOMEM: memory ran out, and the file has what was written
 * before.
 * jw_take - instead, without a file: the text, to be freed with memory_free; NULL: memory ran out.
 */
int jw_finish(struct json_writer *w);
char *jw_take(struct json_writer *w);

#endif
