#include "readers/marks.h"

#include "readers/index.h"
#include "readers/parts.h"

#include "base/buffer.h"
#include "base/near.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 40 /* bytes of each mark's text where they are listed */

static int add(struct log_marks *marks, const char *text, const struct log_moment *at)
{
    struct log_mark_record *mark;

    if (!array_reserve(&marks->marks, &marks->capacity, marks->count + 1))
        return -ENOMEM;
    mark = &marks->marks[marks->count];
    *mark = (struct log_mark_record){memory_strdup(text), *at};
    if (!mark->text)
        return -ENOMEM;
    marks->count++;
    return 0;
}

static enum sst_live_why live_why(const char *text)
{
#define WHY(name, word) word,
    static const char *const words[] = {"", SST_LIVE_WHYS(WHY)};
#undef WHY

    for (size_t i = 1; i < COUNT_OF(words); i++)
        if (strcmp(words[i], text) == 0)
            return (enum sst_live_why)i;
    return SST_LIVE_SESSION; /* of a later version: whatever it is, the sums are not exact */
}

void log_collection_of(const struct log_record *r, struct log_collection *out)
{
    uint64_t depth = 0;

    *out = (struct log_collection){.at.line = r->at.line};
    (void)log_member_count(r->json, "t", &out->at.t);
    (void)log_member_count(r->json, "gc", &out->gc);
    (void)log_member_count(r->json, "full", &out->full);
    (void)log_member_count(r->json, "allocs", &out->allocs);
    (void)log_member_count(r->json, "bytes", &out->bytes);
    (void)log_member_count(r->json, "pause", &out->pause);
    (void)log_member_count(r->json, "depth", &depth);
    out->depth = (unsigned)depth;
    out->opening = json_is_true(json_object_get(r->json, "opening"));
    if (!json_is_true(json_object_get(r->json, "exact")))
        out->why = live_why(log_text_in(r, "why"));
}

static int add_collection(struct log_marks *marks, const struct log_record *r,
                          const struct log_recording *recording)
{
    struct log_collection *c;

    if (!array_reserve(&marks->collections, &marks->collection_capacity,
                       marks->collection_count + 1))
        return -ENOMEM;
    c = &marks->collections[marks->collection_count++];
    log_collection_of(r, c);
    c->at.recording = recording->number;
    return 0;
}

/* How long the first recording is, by its allocations and its end. */
static void note_time(struct log_marks *marks, const struct log_recording *recording, uint64_t t)
{
    if (recording->number <= 1 && t > marks->length)
        marks->length = t;
}

static void note_site(struct log_marks *marks, const struct log_recording *recording)
{
    marks->untimed |= recording->number <= 1 && !marks->length;
}

/*
 * Whether the beginning of a line says all that is wanted of it, which is then noted: so it does
 * where it is written as the tracer writes it, for all but headers and marks.
 */
static bool told(struct log_marks *marks, const struct log_line *line,
                 const struct log_recording *recording)
{
    static const char plain[] = "{\"kind\":\"", time[] = "\",\"t\":";
    const char *kind = line->text + sizeof(plain) - 1, *at;
    size_t size = 0, digits = 0;
    uint64_t t = 0;

    if (line->too_long || line->size < sizeof(plain) ||
        memcmp(line->text, plain, sizeof(plain) - 1))
        return line->too_long;
    while ((kind[size] >= 'a' && kind[size] <= 'z') || kind[size] == '_')
        size++;
#define IS(word) (size == sizeof(word) - 1 && memcmp(kind, word, size) == 0)
    if (kind[size] != '"' || IS("header") || IS("mark") || IS("live_total"))
        return false;
    if (IS("site"))
        note_site(marks, recording);
    if (!IS("alloc") && !IS("end"))
        return true;
#undef IS
    at = kind + size + sizeof(time) - 1;
    if (strncmp(kind + size, time, sizeof(time) - 1) != 0)
        return false;
    for (; digits < 17 && at[digits] >= '0' && at[digits] <= '9'; digits++)
        t = t * 10 + (uint64_t)(at[digits] - '0');
    if (!digits || digits > 16 || (at[digits] != ',' && at[digits] != '}'))
        return false;
    note_time(marks, recording, t);
    return true;
}

static int one_line(struct log_marks *marks, struct log_parser *parser, const struct log_line *line,
                    struct log_recording *recording)
{
    struct log_moment at = {.line = line->at.line};
    struct log_record record;
    const char *text = NULL;
    int err = log_parse(parser, line, &record);

    if (err)
        return err == -EBADMSG ? 0 : err; /* noted when the log itself is read */
    if (record.kind == SST_KIND_HEADER) {
        log_recording_next(recording, record.json);
        marks->recordings = recording->number;
        if (marks->live_only && recording->number == 1 &&
            !json_is_true(json_object_get(json_object_get(record.json, "options"), "live")))
            return -ECANCELED;
    } else if (record.kind == SST_KIND_LIVE_TOTAL) {
        return add_collection(marks, &record, recording);
    } else if (record.kind == SST_KIND_ALLOC) {
        note_time(marks, recording, record.alloc.t);
    } else if (record.kind == SST_KIND_SITE) {
        note_site(marks, recording);
    } else if (record.kind == SST_KIND_END) {
        if (!log_member_count(record.json, "t", &at.t))
            note_time(marks, recording, at.t);
    } else if (record.kind == SST_KIND_MARK && !log_member_text(record.json, "text", &text) &&
               !log_member_count(record.json, "t", &at.t)) {
        at.recording = recording->number;
        return add(marks, text, &at);
    }
    return 0;
}

static int read_on(struct log_lines *lines, struct log_marks *marks,
                   struct log_recording *recording)
{
    struct log_parser parser;
    struct log_line line;
    int err = 0, more = 0;

    log_parser_init(&parser);
    while (!err && (more = log_lines_next(lines, &line)) > 0)
        if (UNLIKELY(!told(marks, &line, recording)))
            err = one_line(marks, &parser, &line, recording);
    log_parser_fini(&parser);
    return err ? err : more;
}

int log_marks_read_lines(struct log_lines *lines, struct log_marks *marks)
{
    struct log_recording recording = {0, 0, 0, 0};

    return read_on(lines, marks, &recording);
}

int log_marks_read(const char *path, struct log_marks *marks)
{
    struct log_recording recording = {0, 0, 0, 0};
    struct log_parts parts = {NULL, 0, 0, 0};
    int err = log_parts_find(path, &parts);

    for (size_t i = 0; !err && i < parts.count; i++) {
        struct log_lines *lines = NULL;

        err = log_lines_open(parts.paths[i], &lines);
        if (!err && !log_lines_size(lines))
            err = -ESPIPE; /* an empty file, too, has no marks */
        if (!err)
            err = read_on(lines, marks, &recording);
        log_lines_free(lines);
    }
    log_parts_fini(&parts);
    return err;
}

void log_marks_fini(struct log_marks *marks)
{
    for (size_t i = 0; i < marks->count; i++)
        memory_free(marks->marks[i].text);
    memory_free_all(marks->marks, marks->collections);
    *marks = (struct log_marks){.marks = NULL};
}

/* The index of the next mark with that text, or the count. */
static size_t find(const struct log_marks *marks, size_t from, const char *text)
{
    while (from < marks->count && strcmp(marks->marks[from].text, text) != 0)
        from++;
    return from;
}

/* As many bytes of a mark's text as are shown: whole letters. */
static int shown(const char *text)
{
    size_t size = strnlen(text, SHOWN);

    while (size && ((unsigned char)text[size] & 0xC0) == 0x80)
        size--;
    return (int)size;
}

/* The mark that was perhaps meant; NULL: none is near, or it is that very text. */
static const char *nearest(const struct log_marks *marks, const char *text)
{
    const char **texts = memory_alloc((marks->count + 1) * sizeof(*texts)), *found = NULL;

    if (texts) {
        for (size_t i = 0; i < marks->count; i++)
            texts[i] = marks->marks[i].text;
        texts[marks->count] = NULL;
        found = near_find(text, texts);
    }
    memory_free(texts);
    return found && strcmp(found, text) != 0 ? found : NULL;
}

static int missing(const struct log_marks *marks, const char *text, const char *behind, char *why,
                   size_t why_size)
{
    const char *near = nearest(marks, text);
    struct buffer b = BUFFER_INIT;

    buffer_format(&b, "no mark \"%.*s\"", shown(text), text);
    if (behind)
        buffer_format(&b, " behind \"%.*s\"", shown(behind), behind);
    if (near)
        buffer_format(&b, "; did you mean \"%.*s\"?", shown(near), near);
    buffer_text(&b, marks->count ? near ? " There are" : "; there are" : "; there are none");
    for (size_t i = 0; i < marks->count; i++)
        buffer_format(&b, "%s \"%.*s\"", i ? "," : "", shown(marks->marks[i].text),
                      marks->marks[i].text);
    snprintf(why, why_size, "%s", b.failed ? "no such mark" : b.data);
    buffer_free(&b);
    return -ENOENT;
}

int log_marks_window(const struct log_marks *marks, const char *from, const char *to,
                     struct log_window *out, char *why, size_t why_size)
{
    size_t first = 0, last;

    *out = (struct log_window){.has_from = from != NULL, .has_to = to != NULL};
    if (from) {
        first = find(marks, 0, from);
        if (first == marks->count)
            return missing(marks, from, NULL, why, why_size);
        out->from = marks->marks[first++].at;
    }
    if (to) {
        last = find(marks, first, to);
        if (last == marks->count)
            return missing(marks, to, from && find(marks, 0, to) < marks->count ? from : NULL, why,
                           why_size);
        out->to = marks->marks[last].at;
    }
    return 0;
}
