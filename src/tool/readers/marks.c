#include "readers/marks.h"

#include "readers/index.h"
#include "readers/parts.h"

#include "base/buffer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 40 /* bytes of each mark's text where they are listed */

static int add(struct report_marks *marks, const char *text, const struct report_moment *at)
{
    struct report_mark *mark;

    if (!array_reserve(&marks->marks, &marks->capacity, marks->count + 1))
        return -ENOMEM;
    mark = &marks->marks[marks->count];
    *mark = (struct report_mark){memory_strdup(text), *at};
    if (!mark->text)
        return -ENOMEM;
    marks->count++;
    return 0;
}

/* Most lines are neither: told by how they begin. */
static bool worth_reading(const struct report_line *line)
{
    static const char header[] = "{\"kind\":\"header\"", mark[] = "{\"kind\":\"mark\"";

    return !line->too_long && line->size > sizeof(header) &&
           (memcmp(line->text, header, sizeof(header) - 1) == 0 ||
            memcmp(line->text, mark, sizeof(mark) - 1) == 0);
}

static int one_line(struct report_marks *marks, struct report_parser *parser,
                    const struct report_line *line, struct report_recording *recording)
{
    struct report_moment at = {.line = line->at.line};
    struct report_record record;
    const char *text = NULL;
    int err = report_parse_any(parser, line, &record);

    if (err)
        return err == -EBADMSG ? 0 : err; /* noted when the log itself is read */
    if (record.kind == SST_KIND_HEADER) {
        report_recording_next(recording, record.json);
        return 0;
    }
    if (record.kind != SST_KIND_MARK || report_member_text(record.json, "text", &text) ||
        report_member_count(record.json, "t", &at.t))
        return 0;
    at.recording = recording->number;
    return add(marks, text, &at);
}

/* How long the first recording is, by its allocations and its end. */
static void note_time(struct report_marks *marks, const struct report_line *line,
                      const struct report_recording *recording)
{
    static const char alloc[] = "{\"kind\":\"alloc\",\"t\":", end[] = "{\"kind\":\"end\",\"t\":",
                      site[] = "{\"kind\":\"site\"";
    uint64_t t = 0;
    size_t at = 0;

    if (line->too_long || recording->number > 1 || line->size < sizeof(alloc))
        return;
    if (memcmp(line->text, alloc, sizeof(alloc) - 1) == 0)
        at = sizeof(alloc) - 1;
    else if (memcmp(line->text, end, sizeof(end) - 1) == 0)
        at = sizeof(end) - 1;
    else
        marks->untimed |= !marks->length && memcmp(line->text, site, sizeof(site) - 1) == 0;
    for (; at && at < line->size && line->text[at] >= '0' && line->text[at] <= '9'; at++)
        t = t * 10 + (uint64_t)(line->text[at] - '0');
    marks->length = t > marks->length ? t : marks->length;
}

static int read_on(struct report_lines *lines, struct report_marks *marks,
                   struct report_recording *recording)
{
    struct report_parser parser;
    struct report_line line;
    int err = 0, more = 0;

    report_parser_init(&parser);
    while (!err && (more = report_lines_next(lines, &line)) > 0)
        if (UNLIKELY(worth_reading(&line)))
            err = one_line(marks, &parser, &line, recording);
        else
            note_time(marks, &line, recording);
    report_parser_fini(&parser);
    return err ? err : more;
}

int report_marks_read_lines(struct report_lines *lines, struct report_marks *marks)
{
    struct report_recording recording = {0, 0, 0, 0};

    return read_on(lines, marks, &recording);
}

int report_marks_read(const char *path, struct report_marks *marks)
{
    struct report_recording recording = {0, 0, 0, 0};
    struct report_parts parts = {NULL, 0, 0, 0};
    int err = report_parts_find(path, &parts);

    for (size_t i = 0; !err && i < parts.count; i++) {
        struct report_lines *lines = NULL;

        err = report_lines_open(parts.paths[i], &lines);
        if (!err && !report_lines_size(lines))
            err = -ESPIPE; /* an empty file, too, has no marks */
        if (!err)
            err = read_on(lines, marks, &recording);
        report_lines_free(lines);
    }
    report_parts_fini(&parts);
    return err;
}

void report_marks_fini(struct report_marks *marks)
{
    for (size_t i = 0; i < marks->count; i++)
        memory_free(marks->marks[i].text);
    memory_free(marks->marks);
    *marks = (struct report_marks){.marks = NULL};
}

/* The index of the next mark with that text, or the count. */
static size_t find(const struct report_marks *marks, size_t from, const char *text)
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

static int missing(const struct report_marks *marks, const char *text, const char *behind,
                   char *why, size_t why_size)
{
    struct buffer b = BUFFER_INIT;

    buffer_format(&b, "no mark \"%.*s\"", shown(text), text);
    if (behind)
        buffer_format(&b, " behind \"%.*s\"", shown(behind), behind);
    buffer_text(&b, marks->count ? "; there are" : "; there are none");
    for (size_t i = 0; i < marks->count; i++)
        buffer_format(&b, "%s \"%.*s\"", i ? "," : "", shown(marks->marks[i].text),
                      marks->marks[i].text);
    snprintf(why, why_size, "%s", b.failed ? "no such mark" : b.data);
    buffer_free(&b);
    return -ENOENT;
}

int report_marks_window(const struct report_marks *marks, const char *from, const char *to,
                        struct report_window *out, char *why, size_t why_size)
{
    size_t first = 0, last;

    *out = (struct report_window){.has_from = from != NULL, .has_to = to != NULL};
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
