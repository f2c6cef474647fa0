#include "terminal/canvas.h"

#include "terminal/letter.h"

#include "base/clean.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

static const struct canvas_cell blank = {.text = " ", .size = 1};

int canvas_init(struct canvas *c, int rows, int columns)
{
    *c = (struct canvas){.rows = rows > 0 ? rows : 0, .columns = columns > 0 ? columns : 0};
    c->cells = memory_zalloc((size_t)c->rows * (size_t)c->columns + 1, sizeof(*c->cells));
    if (!c->cells) {
        c->rows = c->columns = 0;
        return -ENOMEM;
    }
    for (size_t i = 0; i < (size_t)c->rows * (size_t)c->columns; i++)
        c->cells[i] = blank;
    return 0;
}

void canvas_fini(struct canvas *c)
{
    memory_free(c->cells);
    *c = (struct canvas){.rows = 0};
}

static struct canvas_cell *cell_at(const struct canvas *c, int row, int column)
{
    if (row < 0 || row >= c->rows || column < 0 || column >= c->columns)
        return NULL;
    return &c->cells[(size_t)row * (size_t)c->columns + (size_t)column];
}

/* What combines with the letter before joins it, as far as there is room. */
static void combine(struct canvas *c, int row, int column, const char *text, size_t bytes)
{
    struct canvas_cell *cell = cell_at(c, row, column - 1);

    if (cell && !cell->size)
        cell = cell_at(c, row, column - 2);
    if (!cell || cell->size + bytes > CANVAS_LETTER)
        return;
    memcpy(cell->text + cell->size, text, bytes);
    cell->size = (unsigned char)(cell->size + bytes);
}

static void set(struct canvas_cell *cell, const char *text, size_t bytes, unsigned style)
{
    if (!cell)
        return;
    *cell = (struct canvas_cell){.size = (unsigned char)bytes, .style = style};
    memcpy(cell->text, text, bytes);
}

int canvas_put(struct canvas *c, int row, int column, int width, unsigned style, const char *text)
{
    static const char mark = CLEAN_MARK;
    int end = width < c->columns - column ? column + width : c->columns, begin = column;

    while (*text && row >= 0 && row < c->rows) {
        struct letter l = letter_at(text);

        if (column + (int)l.columns > end)
            break;
        if (l.columns)
            set(cell_at(c, row, column), l.safe ? text : &mark, l.safe ? l.bytes : 1, style);
        else if (column > begin)
            combine(c, row, column, text, l.bytes);
        if (l.columns == 2)
            set(cell_at(c, row, column + 1), "", 0, style);
        column += (int)l.columns;
        text += l.bytes;
    }
    return column;
}

int canvas_elide(struct canvas *c, int row, int column, int width, unsigned style, const char *text)
{
    int room = width < c->columns - column ? width : c->columns - column, head, skip, to;

    if (room <= 0)
        return column;
    skip = (int)letter_columns(text) - (room - 1);
    if (skip <= 1)
        return canvas_put(c, row, column, room, style, text);
    head = (room - 1) - (room - 1) / 2;
    to = canvas_put(c, row, column, head, style, text);
    for (skip += to - column; skip > 0 && *text;) { /* to where the tail begins */
        struct letter l = letter_at(text);

        skip -= (int)l.columns;
        text += l.bytes;
    }
    while (*text && !letter_at(text).columns)
        text += letter_at(text).bytes;
    to = canvas_put(c, row, to, 1, style, "\xE2\x80\xA6"); /* the ellipsis */
    return canvas_put(c, row, to, column + room - to, style, text);
}

int canvas_right(struct canvas *c, int row, int column, int width, unsigned style, const char *text)
{
    int columns = (int)letter_columns(text);

    return canvas_put(c, row, columns < width ? column + width - columns : column, width, style,
                      text);
}

void canvas_hints(struct canvas *c, int row, const char *hints)
{
    int end = (int)strlen(hints);

    if (end > c->columns) {
        end = 0;
        for (const char *gap = hints; (gap = strstr(gap, "  ")) && gap - hints <= c->columns;
             gap += 2)
            end = (int)(gap - hints);
    }
    canvas_put(c, row, 0, end ? end : c->columns, CANVAS_PLAIN, hints);
    canvas_restyle(c, row, 0, c->columns, CANVAS_REVERSE);
}

void canvas_restyle(struct canvas *c, int row, int from, int to, unsigned style)
{
    for (int column = from < 0 ? 0 : from; column < to; column++) {
        struct canvas_cell *cell = cell_at(c, row, column);

        if (!cell)
            return;
        if (style & CANVAS_COLOUR)
            cell->style &= ~(unsigned)CANVAS_COLOUR;
        cell->style |= style;
    }
}

/* Behind the last cell of a row that is not blank. */
static int row_end(const struct canvas *c, int row)
{
    int end = c->columns;

    while (end > 0) {
        const struct canvas_cell *cell = cell_at(c, row, end - 1);

        if (cell->style || cell->size != 1 || *cell->text != ' ')
            break;
        end--;
    }
    return end;
}

void canvas_text(const struct canvas *c, int row, struct buffer *out)
{
    size_t begin = out->size;

    for (int column = 0; column < c->columns; column++) {
        const struct canvas_cell *cell = cell_at(c, row, column);

        if (cell)
            buffer_append(out, cell->text, cell->size);
    }
    while (!out->failed && out->size > begin && out->data[out->size - 1] == ' ')
        out->data[--out->size] = '\0';
}

static void send_style(unsigned style, bool colour, struct buffer *out)
{
    static const char *const codes[] = {";1", ";2", ";4", ";7"};

    buffer_text(out, "\033[0");
    for (unsigned i = 0; i < 4; i++)
        if (style & 1u << i)
            buffer_text(out, codes[i]);
    if (colour && style & CANVAS_COLOUR)
        buffer_format(out, ";3%u", (style & CANVAS_COLOUR) >> 4);
    buffer_char(out, 'm');
}

static void send_row(const struct canvas *c, int row, bool colour, struct buffer *out)
{
    unsigned style = CANVAS_PLAIN;
    int end = row_end(c, row);

    buffer_format(out, "\033[%d;1H", row + 1);
    for (int column = 0; column < end; column++) {
        const struct canvas_cell *cell = cell_at(c, row, column);

        if (cell->style != style)
            send_style(cell->style, colour, out);
        style = cell->style;
        buffer_append(out, cell->text, cell->size);
    }
    if (style)
        send_style(CANVAS_PLAIN, colour, out);
    if (end < c->columns)
        buffer_text(out, "\033[K");
}

void canvas_send(const struct canvas *c, const struct canvas *before, bool colour,
                 struct buffer *out)
{
    size_t size = (size_t)c->columns * sizeof(*c->cells);

    for (int row = 0; row < c->rows; row++)
        if (!before || memcmp(cell_at(c, row, 0), cell_at(before, row, 0), size) != 0)
            send_row(c, row, colour, out);
}
