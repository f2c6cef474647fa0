#include "terminal/table.h"

#include "terminal/fit.h"
#include "terminal/text.h"

#include "base/array.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

#define GAP       2 /* blanks between columns */
#define LEAST     16
#define BAR_WIDTH 10
#define NO_TEXT   SIZE_MAX

typedef const char *fit_function(struct buffer *b, const char *text, size_t width);

struct cell {
    bool filled;
    fit_function *fits; /* of a text */
    union {
        uint64_t count;
        double number;
    };
    size_t before, text, link; /* in texts; NO_TEXT: none */
};

struct layout {
    bool shown;
    size_t natural, width, at;
};

struct table {
    const struct table_column *columns;
    size_t column_count;
    struct cell *cells; /* row by row */
    bool *strong;
    size_t row_count, cell_capacity, strong_capacity;
    struct buffer texts; /* each with its NUL */
    bool failed;
    struct table_look look;
    bool brief; /* numbers are short */
    struct layout layout[TABLE_COLUMNS];
};

int table_new(const struct table_column *columns, size_t count, struct table **out)
{
    struct table *t = memory_zalloc(1, sizeof(*t));

    *out = t;
    if (!t)
        return -ENOMEM;
    t->columns = columns;
    t->column_count = count < TABLE_COLUMNS ? count : TABLE_COLUMNS;
    return 0;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    buffer_free(&t->texts);
    memory_free_all(t->cells, t->strong, t);
}

void table_clear(struct table *t)
{
    buffer_clear(&t->texts);
    t->row_count = 0;
    t->failed = false;
}

size_t table_rows(const struct table *t)
{
    return t->row_count;
}

/* ---- cells ---- */

void table_row(struct table *t)
{
    size_t first = t->row_count * t->column_count;

    if (t->failed || !array_reserve(&t->cells, &t->cell_capacity, first + t->column_count) ||
        !array_reserve(&t->strong, &t->strong_capacity, t->row_count + 1)) {
        t->failed = true;
        return;
    }
    for (size_t i = 0; i < t->column_count; i++)
        t->cells[first + i] = (struct cell){.before = NO_TEXT, .text = NO_TEXT, .link = NO_TEXT};
    t->strong[t->row_count++] = false;
}

void table_strong(struct table *t)
{
    if (!t->failed && t->row_count)
        t->strong[t->row_count - 1] = true;
}

/* A cell of the newest row, to be filled; NULL: no row. */
static struct cell *cell_of(struct table *t, size_t column)
{
    struct cell *cell;

    if (t->failed || !t->row_count || column >= t->column_count)
        return NULL;
    cell = &t->cells[(t->row_count - 1) * t->column_count + column];
    cell->filled = true;
    return cell;
}

void table_count(struct table *t, size_t column, uint64_t value)
{
    struct cell *cell = cell_of(t, column);

    if (cell)
        cell->count = value;
}

static void set_number(struct table *t, size_t column, double number)
{
    struct cell *cell = cell_of(t, column);

    if (cell)
        cell->number = number;
}

void table_share(struct table *t, size_t column, double share)
{
    set_number(t, column, share);
}

void table_time(struct table *t, size_t column, double ns)
{
    set_number(t, column, ns);
}

static size_t keep(struct table *t, const char *text)
{
    size_t at = t->texts.size;

    if (!text)
        return NO_TEXT;
    buffer_append(&t->texts, text, strlen(text) + 1);
    t->failed |= t->texts.failed;
    return at;
}

static void set_text(struct table *t, size_t column, fit_function *fits, const char *before,
                     const char *text, const char *link)
{
    struct cell *cell = cell_of(t, column);

    if (!cell)
        return;
    cell->fits = fits;
    cell->before = keep(t, before);
    cell->text = keep(t, text);
    cell->link = keep(t, link);
}

void table_text(struct table *t, size_t column, const char *text)
{
    set_text(t, column, fit_text, NULL, text, NULL);
}

void table_name(struct table *t, size_t column, const char *before, const char *name)
{
    set_text(t, column, fit_name, before, name, NULL);
}

void table_place(struct table *t, size_t column, const char *place, const char *uri)
{
    set_text(t, column, fit_place, NULL, place, uri);
}

static const char *text_of(const struct table *t, size_t at)
{
    return at == NO_TEXT || !t->texts.data ? "" : t->texts.data + at;
}

static bool is_cut(enum table_kind kind)
{
    return kind == TABLE_TEXT || kind == TABLE_NAME || kind == TABLE_PLACE;
}

static bool is_right(enum table_kind kind)
{
    return kind == TABLE_COUNT || kind == TABLE_SHARE || kind == TABLE_TIME ||
           kind == TABLE_NUMBER_TEXT;
}

static size_t bar_width(const struct table_column *column)
{
    return column->least ? column->least : BAR_WIDTH;
}

/* A number as text, or the text that stands in its place; NULL: the cell has none. */
static const char *number_of(const struct table *t, enum table_kind kind, const struct cell *cell,
                             struct text_number *to)
{
    if (cell->text != NO_TEXT)
        return text_of(t, cell->text);
    switch (kind) {
    case TABLE_COUNT:
        return t->brief ? text_short(to, (double)cell->count) : text_count(to, cell->count);
    case TABLE_SHARE:
        return text_share(to, cell->number);
    case TABLE_TIME:
        return text_ns(to, cell->number);
    default:
        return NULL;
    }
}

/* ---- layout ---- */

static size_t cell_columns(const struct table *t, size_t column, const struct cell *cell)
{
    enum table_kind kind = t->columns[column].kind;
    struct text_number n;

    if (!cell->filled)
        return 0;
    if (kind == TABLE_BAR)
        return bar_width(&t->columns[column]);
    if (is_right(kind) && kind != TABLE_NUMBER_TEXT)
        return text_columns(number_of(t, kind, cell, &n));
    return text_columns(text_of(t, cell->before)) + text_columns(text_of(t, cell->text));
}

static void measure(struct table *t)
{
    for (size_t i = 0; i < t->column_count; i++)
        t->layout[i].natural = text_columns(t->columns[i].heading);
    for (size_t i = 0; i < t->row_count * t->column_count; i++) {
        struct layout *l = &t->layout[i % t->column_count];
        size_t columns = cell_columns(t, i % t->column_count, &t->cells[i]);

        l->natural = columns > l->natural ? columns : l->natural;
    }
}

/* The columns that one has to have. */
static size_t least_of(const struct table *t, size_t column)
{
    size_t least = t->columns[column].least ? t->columns[column].least : LEAST;

    if (!is_cut(t->columns[column].kind) || t->layout[column].natural < least)
        return t->layout[column].natural;
    return least;
}

static size_t least_in_all(const struct table *t)
{
    size_t columns = t->look.indent, shown = 0;

    for (size_t i = 0; i < t->column_count; i++)
        if (t->layout[i].shown)
            columns += least_of(t, i) + (shown++ ? GAP : 0);
    return columns;
}

static unsigned rank_of(const struct table *t, size_t column)
{
    return t->columns[column].rank % TABLE_IF_FILLED;
}

static bool is_wanted(const struct table *t, size_t column)
{
    bool filled = t->columns[column].rank < TABLE_IF_FILLED;

    for (size_t row = 0; !filled && row < t->row_count; row++)
        filled = t->cells[row * t->column_count + column].filled;
    return filled;
}

/* Leaves out the shown column of the highest rank. Returns: false if all have to stay. */
static bool leave_out(struct table *t)
{
    size_t last = t->column_count;

    for (size_t i = 0; i < t->column_count; i++)
        if (t->layout[i].shown && rank_of(t, i) > 0 &&
            (last == t->column_count || rank_of(t, i) >= rank_of(t, last)))
            last = i;
    if (last == t->column_count)
        return false;
    t->layout[last].shown = false;
    return true;
}

/* Which columns are shown, and whether numbers have to be short. */
static void choose(struct table *t)
{
    t->brief = false;
    measure(t);
    for (size_t i = 0; i < t->column_count; i++)
        t->layout[i].shown = is_wanted(t, i);
    while (least_in_all(t) > t->look.width && leave_out(t))
        ;
    if (least_in_all(t) > t->look.width) {
        t->brief = true;
        measure(t);
    }
}

/* The width that no column wants is shared by those that want more, the narrow ones first. */
static void share_out(struct table *t)
{
    size_t least = least_in_all(t), left = t->look.width > least ? t->look.width - least : 0;
    size_t wanting = 0;

    for (size_t i = 0; i < t->column_count; i++) {
        t->layout[i].width = t->layout[i].shown ? least_of(t, i) : 0;
        wanting += t->layout[i].shown && t->layout[i].width < t->layout[i].natural;
    }
    while (left > 0 && wanting > 0) {
        size_t part = left / wanting + (left < wanting), before = left;

        wanting = 0;
        for (size_t i = 0; i < t->column_count; i++) {
            struct layout *l = &t->layout[i];
            size_t more = l->shown ? l->natural - l->width : 0;

            more = more < part ? more : part;
            more = more < left ? more : left;
            l->width += more;
            left -= more;
            wanting += l->shown && l->width < l->natural;
        }
        if (left == before)
            break;
    }
}

static void place_columns(struct table *t)
{
    size_t at = t->look.indent;

    for (size_t i = 0; i < t->column_count; i++) {
        struct layout *l = &t->layout[i];

        l->at = at;
        if (!l->shown)
            continue;
        if (at >= t->look.width)
            l->width = 0;
        else if (l->width > t->look.width - at)
            l->width = t->look.width - at;
        at += l->width + GAP;
    }
}

int table_fit(struct table *t, const struct table_look *look)
{
    if (t->failed)
        return -ENOMEM;
    t->look = *look;
    choose(t);
    share_out(t);
    place_columns(t);
    return 0;
}

bool table_shows(const struct table *t, size_t column)
{
    return column < t->column_count && t->layout[column].shown;
}

size_t table_column_width(const struct table *t, size_t column)
{
    return table_shows(t, column) ? t->layout[column].width : 0;
}

size_t table_column_at(const struct table *t, size_t column)
{
    return column < t->column_count ? t->layout[column].at : 0;
}

/* ---- lines ---- */

static void put_blanks(struct buffer *b, size_t count)
{
    while (count--)
        buffer_char(b, ' ');
}

/* What stands before a name: at most half of its column, its front is cut. */
static size_t put_before(struct buffer *b, const char *before, size_t width)
{
    size_t columns = text_columns(before), letter, most = width / 2;
    bool safe;

    if (columns > most) {
        buffer_text(b, most ? "\xE2\x80\xA6" : "");
        for (; *before && columns + 1 > most; columns -= letter)
            before += text_letter(before, &safe, &letter);
        columns += most > 0;
    }
    buffer_clean(b, before);
    return columns;
}

static void put_link(struct buffer *b, const char *uri)
{
    buffer_text(b, "\033]8;;");
    for (; *uri; uri++)
        if (*uri > ' ' && *uri < 0x7f)
            buffer_char(b, *uri);
    buffer_text(b, "\033\\");
}

/* A text, name or place in its column. Returns: the columns used. */
static size_t put_text(const struct table *t, size_t column, const struct cell *cell,
                       struct buffer *out)
{
    size_t width = t->layout[column].width, used = 0;
    char room[BUFFER_TEXT_ROOM];
    struct buffer fitted = BUFFER_ON(room);
    const char *text;

    if (cell->before != NO_TEXT)
        used = put_before(out, text_of(t, cell->before), width);
    text = cell->fits(&fitted, text_of(t, cell->text), width - used);
    if (cell->link != NO_TEXT)
        put_link(out, text_of(t, cell->link));
    buffer_clean(out, text);
    if (cell->link != NO_TEXT)
        buffer_text(out, "\033]8;;\033\\");
    used += text_columns(text);
    buffer_free(&fitted);
    return used;
}

static size_t put_number(const struct table *t, size_t column, const struct cell *cell,
                         struct buffer *out)
{
    size_t width = t->layout[column].width, columns;
    struct text_number n;
    const char *text = number_of(t, t->columns[column].kind, cell, &n);

    if (!text)
        text = text_of(t, cell->text);
    columns = text_columns(text);
    if (columns > width) { /* no number is shown rather than a part of one */
        put_blanks(out, width);
        return width;
    }
    put_blanks(out, width - columns);
    buffer_clean(out, text);
    return width;
}

static size_t put_cell(const struct table *t, size_t column, const struct cell *cell,
                       struct buffer *out)
{
    enum table_kind kind = t->columns[column].kind;

    if (!cell->filled)
        return 0;
    if (is_right(kind))
        return put_number(t, column, cell, out);
    if (kind != TABLE_BAR)
        return put_text(t, column, cell, out);
    if (t->look.colour)
        buffer_text(out, "\033[36m");
    text_bar(out, cell->number, t->layout[column].width);
    if (t->look.colour)
        buffer_text(out, "\033[39m");
    return t->layout[column].width;
}

static const char *finished(struct buffer *b)
{
    while (b->size && b->data[b->size - 1] == ' ')
        b->data[--b->size] = '\0';
    return b->failed || !b->data ? "" : b->data;
}

const char *table_head(const struct table *t, struct buffer *out)
{
    size_t at = 0;

    buffer_clear(out);
    for (size_t i = 0; i < t->column_count; i++) {
        const struct layout *l = &t->layout[i];
        const char *heading = t->columns[i].heading;
        size_t columns = text_columns(heading);
        struct buffer fitted = BUFFER_INIT;

        if (!l->width)
            continue;
        put_blanks(out, l->at - at);
        at = l->at;
        if (columns > l->width) {
            heading = fit_text(&fitted, heading, l->width);
            columns = text_columns(heading);
        } else if (is_right(t->columns[i].kind)) {
            put_blanks(out, l->width - columns);
            columns = l->width;
        }
        buffer_text(out, heading);
        at += columns;
        buffer_free(&fitted);
    }
    return finished(out);
}

const char *table_line(const struct table *t, size_t row, struct buffer *out)
{
    bool strong = t->look.colour && t->strong[row];
    size_t at = 0;

    buffer_clear(out);
    for (size_t i = 0; i < t->column_count; i++) {
        const struct cell *cell = &t->cells[row * t->column_count + i];
        size_t blanks = t->layout[i].at - at;

        if (!t->layout[i].width || !cell->filled)
            continue;
        put_blanks(out, blanks);
        if (strong)
            buffer_text(out, "\033[1m");
        at = t->layout[i].at + put_cell(t, i, cell, out);
        if (strong)
            buffer_text(out, "\033[22m");
    }
    return finished(out);
}

void table_print(const struct table *t, FILE *out)
{
    char room[BUFFER_TEXT_ROOM];
    struct buffer line = BUFFER_ON(room);

    fprintf(out, "%s%s%s\n", t->look.colour ? "\033[2m" : "", table_head(t, &line),
            t->look.colour ? "\033[22m" : "");
    for (size_t i = 0; i < t->row_count; i++)
        fprintf(out, "%s\n", table_line(t, i, &line));
    buffer_free(&line);
}
