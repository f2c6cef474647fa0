/* symbols/lines.c - sequence points, state machines, documents: the look-ups. */
#include "symbols/pdb.h"

#include "base/il.h"
#include "base/memory.h"
#include "symbols/inflate.h"
#include "symbols/sha256.h"

#include <errno.h>
#include <string.h>

#define LINE_END       0x20000000
#define LINE_HIDDEN    0xFEEFEE
#define COLUMN_END     0x10000
#define IL_END         0x20000000
#define TOKEN_METHOD   0x06000000u
#define OWNER_DOCUMENT 22u /* tag of a coded owner */

static const uint8_t guid_embedded_source[16] = {0x1B, 0x57, 0x8A, 0x0E, 0x26, 0x69, 0x6E, 0x46,
                                                 0xB4, 0xAD, 0x8A, 0xB0, 0x46, 0x11, 0xF5, 0xFE};
static const uint8_t guid_sha1[16] = {0xEC, 0x16, 0x18, 0xFF, 0x5E, 0xAA, 0x10, 0x4D,
                                      0x87, 0xF7, 0x6F, 0x49, 0x63, 0x83, 0x34, 0x60};
static const uint8_t guid_sha256[16] = {0x0F, 0xD0, 0x29, 0x88, 0xB8, 0x11, 0x13, 0x42,
                                        0x87, 0x8B, 0x77, 0x0E, 0x85, 0x97, 0xAC, 0x16};

/* The points of one method, one by one: `point` is the last, `document` is for the next. */
struct points {
    struct cursor c;
    uint32_t documents; /* how many there are */
    uint32_t document;
    bool started; /* a point was read */
    bool visible; /* a visible one was: line and column are its start */
    uint32_t line, column;
    struct symbols_point point;
};

/* The row of a method token, or 0. */
static uint32_t lines_row(const struct symbols *s, uint32_t method)
{
    uint32_t row = method & 0xFFFFFF;

    return (method & 0xFF000000u) == TOKEN_METHOD && row <= s->methods ? row : 0;
}

/* value + delta, if that lies in [0, end). */
static bool lines_move(uint32_t value, int32_t delta, int64_t end, uint32_t *out)
{
    int64_t sum = (int64_t)value + delta;

    *out = (uint32_t)sum;
    return sum >= 0 && sum < end;
}

/* Returns 0, -EINVAL or -EBADMSG. A method without points leaves the cursor empty. */
static int points_init(struct points *p, const struct symbols *s, uint32_t method)
{
    const struct pdb_table *table = symbols_table(s, TABLE_METHOD_DEBUG);
    uint32_t row = lines_row(s, method);
    struct symbols_span blob;

    memset(p, 0, sizeof(*p));
    if (!row)
        return -EINVAL;
    if (!table->rows)
        return 0;
    p->documents = symbols_table(s, TABLE_DOCUMENT)->rows;
    p->document = symbols_column(table, row, 0, s->wide_document);
    if (!symbols_blob(s, symbols_column(table, row, s->wide_document, s->metadata.wide_blob),
                      &blob))
        return -EBADMSG;
    p->c = symbols_read(blob);
    if (!blob.size)
        return 0;
    symbols_read_unsigned(&p->c); /* local signature */
    if (!p->document)
        p->document = symbols_read_unsigned(&p->c);
    return p->c.failed || !p->document || p->document > p->documents ? -EBADMSG : 0;
}

/* Where the point begins, in which document. Returns false at the end; look at c.failed there. */
static bool points_offset(struct points *p)
{
    while (p->c.left) {
        uint32_t delta = symbols_read_unsigned(&p->c);

        if (delta || !p->started) {
            p->c.failed =
                p->c.failed || !lines_move(p->point.il, (int32_t)delta, IL_END, &p->point.il);
            return !p->c.failed;
        }
        p->document = symbols_read_unsigned(&p->c); /* a document record */
        if (!p->document || p->document > p->documents)
            p->c.failed = true;
        if (p->c.failed)
            return false;
    }
    return false;
}

/* The first visible point has its start, each later one the way from the last visible one's. */
static void points_start(struct points *p)
{
    bool good;

    if (p->visible) {
        good = lines_move(p->line, symbols_read_signed(&p->c), LINE_END, &p->line);
        good = lines_move(p->column, symbols_read_signed(&p->c), COLUMN_END, &p->column) && good;
    } else {
        p->line = symbols_read_unsigned(&p->c);
        p->column = symbols_read_unsigned(&p->c);
        good = p->line < LINE_END && p->column < COLUMN_END;
    }
    p->visible = true;
    p->point.line = p->line;
    p->point.column = p->column;
    p->c.failed = p->c.failed || !good;
}

/* Returns 1 and p->point, 0 at the end, -EBADMSG. */
static int points_next(struct points *p)
{
    uint32_t lines;
    int32_t columns;
    bool good;

    if (!points_offset(p))
        return p->c.failed ? -EBADMSG : 0;
    p->started = true;
    lines = symbols_read_unsigned(&p->c);
    columns = lines ? symbols_read_signed(&p->c) : (int32_t)symbols_read_unsigned(&p->c);
    p->point = (struct symbols_point){.il = p->point.il, .document = p->document};
    if (!lines && !columns) {
        p->point.hidden = true;
        return p->c.failed ? -EBADMSG : 1;
    }
    points_start(p);
    good = lines_move(p->point.line, (int32_t)lines, LINE_END, &p->point.end_line);
    good = lines_move(p->point.column, columns, COLUMN_END, &p->point.end_column) && good;
    if (!good || p->point.line == LINE_HIDDEN || p->point.end_line == LINE_HIDDEN)
        return -EBADMSG;
    return p->c.failed ? -EBADMSG : 1;
}

/* Whether a whole method can be decoded. */
static int points_check(const struct symbols *s, uint32_t method)
{
    struct points p;
    int more = points_init(&p, s, method);

    if (more)
        return more;
    do
        more = points_next(&p);
    while (more > 0);
    return more;
}

int symbols_points(const struct symbols *symbols, uint32_t method,
                   int (*each)(void *context, const struct symbols_point *point), void *context)
{
    struct points p;
    int result = points_check(symbols, method);

    if (result || points_init(&p, symbols, method))
        return result;
    while (!result && points_next(&p) > 0)
        result = each(context, &p.point);
    return result;
}

struct search {
    uint32_t il;
    bool hidden; /* the last point at or before il */
    bool begun;  /* a point at or before il */
    struct symbols_point best;
};

static bool is_visible(const struct symbols_point *point)
{
    return !point->hidden && point->line; /* line 0 is nowhere */
}

/*
 * Code that the compiler puts before the first statement belongs to that statement: a closure's
 * display class is allocated at a hidden point at offset 0.
 */
static int search_point(void *context, const struct symbols_point *point)
{
    struct search *search = context;

    if (point->il > search->il) { /* they only rise */
        if (search->best.line || !search->begun)
            return 1;
        if (is_visible(point))
            search->best = *point;
        return is_visible(point);
    }
    search->begun = true;
    search->hidden = !is_visible(point);
    if (!search->hidden)
        search->best = *point;
    return 0;
}

int symbols_line(const struct symbols *symbols, uint32_t method, uint32_t il,
                 struct symbols_line *out)
{
    struct search search = {.il = il};
    int result = symbols_points(symbols, method, search_point, &search);

    if (result < 0)
        return result;
    if (il >= IL_END ||
        !search.best.line) /* the JIT's prolog, epilog and "no mapping" lie beyond */
        return -ENODATA;
    *out = (struct symbols_line){
        .file = symbols->names + symbols->documents[search.best.document - 1],
        .document = search.best.document,
        .line = search.best.line,
        .column = search.best.column,
        .end_line = search.best.end_line,
        .end_column = search.best.end_column,
        .il = search.best.il,
        .hidden = search.hidden,
    };
    return 0;
}

struct several {
    uint32_t first, last; /* offsets */
    uint32_t document;    /* of the first */
    uint32_t line_min, line_max;
};

/* Returns: 1 for a statement of another document. */
static int add_line(void *context, const struct symbols_point *point)
{
    struct several *several = context;

    if (point->il <= several->first || point->il > several->last || !is_visible(point))
        return 0;
    if (point->line < several->line_min)
        several->line_min = point->line;
    if (point->line > several->line_max)
        several->line_max = point->line;
    return point->document != several->document;
}

int symbols_line_of(const struct symbols *symbols, uint32_t method, int32_t il,
                    struct symbols_line *out)
{
    struct several several = {.first = il < 0 ? 0 : il_first(il),
                              .last = il < 0 ? IL_END : il_last(il)};
    int result = symbols_line(symbols, method, several.first, out);

    if (result || several.last == several.first)
        return result;
    several.document = out->document;
    several.line_min = several.line_max = out->line;
    result = symbols_points(symbols, method, add_line, &several);
    out->line = several.line_min;
    out->line_last = several.line_max > several.line_min ? several.line_max : 0;
    return result > 0 || (il < 0 && out->line_last) ? -ENODATA : result;
}

uint32_t symbols_method_count(const struct symbols *symbols)
{
    return symbols->methods;
}

uint32_t symbols_document_count(const struct symbols *symbols)
{
    return symbols_table(symbols, TABLE_DOCUMENT)->rows;
}

static bool lines_source_blob(const struct symbols *s, uint32_t document, uint32_t *blob)
{
    return symbols_custom(s, document << 5 | OWNER_DOCUMENT, guid_embedded_source, blob);
}

int symbols_document(const struct symbols *symbols, uint32_t document, struct symbols_document *out)
{
    const struct pdb_table *table = symbols_table(symbols, TABLE_DOCUMENT);
    unsigned blob = symbols->metadata.wide_blob;
    struct symbols_span hash = {NULL, 0};
    const uint8_t *kind;
    uint32_t source;

    if (!document || document > table->rows)
        return -EINVAL;
    kind = symbols_metadata_guid(
        &symbols->metadata, symbols_column(table, document, blob, symbols->metadata.wide_guid));
    symbols_blob(symbols, symbols_column(table, document, blob + symbols->metadata.wide_guid, blob),
                 &hash);
    *out = (struct symbols_document){.file = symbols->names + symbols->documents[document - 1],
                                     .embedded = lines_source_blob(symbols, document, &source)};
    if (!kind || !hash.size)
        return 0;
    out->hash = hash.data;
    out->hash_size = hash.size;
    if (!memcmp(kind, guid_sha256, 16) && hash.size == SYMBOLS_SHA256_SIZE)
        out->hash_kind = SYMBOLS_HASH_SHA256;
    else
        out->hash_kind = !memcmp(kind, guid_sha1, 16) && hash.size == 20 ? SYMBOLS_HASH_SHA1
                                                                         : SYMBOLS_HASH_OTHER;
    return 0;
}

/* int32: 0 for the bytes as they are, or their count if they are deflated. */
int symbols_source(const struct symbols *symbols, uint32_t document, char **text, size_t *size)
{
    struct symbols_span span;
    struct cursor c;
    uint8_t *data;
    uint32_t format;
    uint32_t blob;
    int err;

    if (!document || document > symbols_document_count(symbols))
        return -EINVAL;
    if (!lines_source_blob(symbols, document, &blob))
        return -ENODATA;
    if (!symbols_blob(symbols, blob, &span))
        return -EBADMSG;
    c = symbols_read(span);
    format = symbols_read_u32(&c);
    if (c.failed || format > INT32_MAX)
        return -EBADMSG;
    *size = format ? format : c.left;
    if (*size > SYMBOLS_MAX_SOURCE)
        return -EFBIG;
    if (format) {
        err = symbols_inflate((struct symbols_span){c.at, c.left}, format, &data);
        if (err)
            return err == -ENODATA ? -EBADMSG : err;
    } else {
        data = memory_alloc(c.left + 1);
        if (!data)
            return -ENOMEM;
        memcpy(data, c.at, c.left);
        data[c.left] = '\0';
    }
    *text = (char *)data;
    return 0;
}

/* The document, if it has a hash that can be checked here. */
static int checkable(const struct symbols *symbols, uint32_t document, struct symbols_document *out)
{
    int err = symbols_document(symbols, document, out);

    if (err)
        return err;
    return out->hash_kind == SYMBOLS_HASH_SHA256 ? 0 : -ENOTSUP;
}

int symbols_source_checkable(const struct symbols *symbols, uint32_t document)
{
    struct symbols_document described;

    return checkable(symbols, document, &described);
}

int symbols_source_check(const struct symbols *symbols, uint32_t document, const void *data,
                         size_t size)
{
    uint8_t digest[SYMBOLS_SHA256_SIZE];
    struct symbols_document described;
    struct symbols_sha256 hash;
    int err = checkable(symbols, document, &described);

    if (err)
        return err;
    symbols_sha256_init(&hash);
    symbols_sha256_add(&hash, data, size);
    symbols_sha256_fini(&hash, digest);
    return memcmp(digest, described.hash, sizeof(digest)) ? -ESTALE : 0;
}

const char *symbols_source_link(const struct symbols *symbols, size_t *size)
{
    *size = symbols->source_link.size;
    return (const char *)symbols->source_link.data;
}

bool symbols_verified(const struct symbols *symbols)
{
    return symbols->verified;
}
