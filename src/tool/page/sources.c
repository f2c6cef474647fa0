#include "page/sources.h"

#include "base/order.h"

#include <stdlib.h>

#define LINES_AROUND  4
#define LINE_SIZE_MAX 400 /* bytes of one line; the rest is cut */

/* A line that something is known of. */
struct wanted {
    uint32_t file, line;
};

struct file_weight {
    uint32_t file;
    double bytes;
};

struct found {
    struct wanted *lines;
    struct file_weight *files;
    size_t line_count, file_count;
};

ORDERED_BY(by_line, struct wanted, ORDER(x->file, y->file), ORDER(x->line, y->line))

ORDERED_BY(by_bytes, struct file_weight, ORDER(y->bytes, x->bytes), ORDER(x->file, y->file))

static int find(const struct page_union *u, struct found *out)
{
    *out = (struct found){.lines = memory_alloc(sizeof(*out->lines) * (2 * u->places_count + 1)),
                          .files = memory_zalloc(u->files_count + 1, sizeof(*out->files))};
    if (!out->lines || !out->files)
        return -ENOMEM;
    for (size_t i = 0; i < u->files_count; i++)
        out->files[i].file = (uint32_t)i;
    for (size_t i = 0; i < u->places_count; i++) {
        const struct union_place *p = &u->places[i];

        if (!p->line || !p->file)
            continue;
        out->lines[out->line_count++] = (struct wanted){p->file, p->line};
        if (p->line_last)
            out->lines[out->line_count++] = (struct wanted){p->file, p->line_last};
        out->files[p->file].bytes += p->bytes;
    }
    out->file_count = u->files_count;
    qsort(out->lines, out->line_count, sizeof(*out->lines), by_line);
    qsort(out->files, out->file_count, sizeof(*out->files), by_bytes);
    return 0;
}

/* The text of a file, of whatever side knows it. Returns: 0; -ENOENT: nobody does; -ENOMEM. */
static int text_of(const char *path, const struct side *sides, size_t count, char **text,
                   size_t *size)
{
    for (size_t i = count; i-- > 0;) {
        struct source_line document = {.file = NULL};

        while (sides[i].read.lines && source_lines_document(sides[i].read.lines, path, &document)) {
            int err = strcmp(document.file, path) == 0
                          ? source_lines_text(sides[i].read.lines, &document, NULL, text, size)
                          : -ENOENT;

            if (!err || err == -ENOMEM)
                return err;
        }
    }
    return -ENOENT;
}

/* Lines of one file, from its first wanted one. */
struct range {
    const struct wanted *first, *end;
};

static struct range lines_of(const struct found *f, uint32_t file)
{
    struct range r = {f->lines, f->lines + f->line_count};

    while (r.first < r.end && r.first->file != file)
        r.first++;
    for (r.end = r.first; r.end < f->lines + f->line_count && r.end->file == file; r.end++)
        ;
    return r;
}

static void put_line(struct json_writer *w, uint32_t number, const char *text, size_t size)
{
    char line[LINE_SIZE_MAX + 1];

    if (size && text[size - 1] == '\r')
        size--;
    if (size > LINE_SIZE_MAX)
        size = LINE_SIZE_MAX;
    memcpy(line, text, size);
    line[size] = '\0';
    jw_array(w, NULL);
    jw_unsigned(w, NULL, number);
    jw_text(w, NULL, line);
    jw_end(w);
}

/* Returns: bytes of text. */
static size_t put_lines(struct json_writer *w, struct range r, const char *text, size_t size)
{
    const char *at = text, *end = text + size;
    size_t taken = 0;

    for (uint32_t number = 1; at < end && r.first < r.end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);

        while (r.first < r.end && number > r.first->line + LINES_AROUND)
            r.first++;
        if (r.first < r.end && number + LINES_AROUND >= r.first->line) {
            put_line(w, number, at, length);
            taken += length < LINE_SIZE_MAX ? length : LINE_SIZE_MAX;
        }
        at += length + 1;
    }
    return taken;
}

int page_sources(const struct page_union *u, const struct side *sides, size_t side_count,
                 struct json_writer *json)
{
    struct found f;
    size_t taken = 0;
    int err = find(u, &f);

    jw_array(json, "sources");
    for (size_t i = 0; !err && i < f.file_count && f.files[i].bytes > 0; i++) {
        uint32_t file = f.files[i].file;
        char *text;
        size_t size;

        if (taken >= SOURCES_BYTES_MAX)
            break;
        err = text_of(u->files[file].path, sides, side_count, &text, &size);
        if (err == -ENOENT)
            err = 0;
        else if (!err) {
            jw_object(json, NULL);
            jw_unsigned(json, "file", file);
            jw_array(json, "lines");
            taken += put_lines(json, lines_of(&f, file), text, size);
            jw_end(json);
            jw_end(json);
            memory_free(text);
        }
    }
    jw_end(json);
    memory_free_all(f.lines, f.files);
    return err;
}
