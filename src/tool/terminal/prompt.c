#include "terminal/prompt.h"

#include "terminal/key.h"
#include "terminal/letter.h"

#include "base/clean.h"

#include <stdio.h>
#include <string.h>

static void set(struct prompt *p, const char *text)
{
    snprintf(p->text, sizeof(p->text), "%s", text);
    clean_in_place(p->text); /* a letter cut at the end, too */
    p->at = strlen(p->text);
}

void prompt_begin(struct prompt *p, const char *text)
{
    set(p, text);
    p->shown = p->kept_count;
}

/* The letter before a byte; letters are whole in here. */
static size_t before(const struct prompt *p, size_t at)
{
    if (at > 0)
        at--;
    while (at > 0 && ((unsigned char)p->text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

static size_t behind(const struct prompt *p, size_t at)
{
    return p->text[at] ? at + letter_at(p->text + at).bytes : at;
}

static void cut(struct prompt *p, size_t from, size_t to)
{
    memmove(p->text + from, p->text + to, strlen(p->text + to) + 1);
    p->at = from;
}

static void insert(struct prompt *p, uint32_t letter)
{
    char bytes[4];
    size_t size = letter_encode(bytes, letter), length = strlen(p->text);

    if (length + size >= sizeof(p->text))
        return;
    memmove(p->text + p->at + size, p->text + p->at, length - p->at + 1);
    memcpy(p->text + p->at, bytes, size);
    if (letter_at(p->text + p->at).safe)
        p->at += size;
    else
        cut(p, p->at, p->at + size);
}

static size_t word_before(const struct prompt *p)
{
    size_t at = p->at;

    while (at > 0 && p->text[at - 1] == ' ')
        at--;
    while (at > 0 && p->text[at - 1] != ' ')
        at--;
    return at;
}

static void recall(struct prompt *p, size_t which)
{
    if (which > p->kept_count)
        return;
    if (p->shown == p->kept_count)
        memcpy(p->typed, p->text, sizeof(p->typed));
    p->shown = which;
    set(p, which == p->kept_count ? p->typed : p->kept[which]);
}

static void keep(struct prompt *p)
{
    if (!*p->text || (p->kept_count && !strcmp(p->kept[p->kept_count - 1], p->text)))
        return;
    if (p->kept_count == PROMPT_KEPT)
        memmove(p->kept[0], p->kept[1], sizeof(p->kept[0]) * --p->kept_count);
    memcpy(p->kept[p->kept_count++], p->text, sizeof(p->text));
}

/* Keys that move or delete. */
static void edit(struct prompt *p, int key)
{
    switch (key) {
    case KEY_LEFT:
        p->at = before(p, p->at);
        break;
    case KEY_RIGHT:
        p->at = behind(p, p->at);
        break;
    case KEY_HOME:
    case KEY_CONTROL('a'):
        p->at = 0;
        break;
    case KEY_END:
    case KEY_CONTROL('e'):
        p->at = strlen(p->text);
        break;
    case KEY_BACKSPACE:
        cut(p, before(p, p->at), p->at);
        break;
    case KEY_DELETE:
        cut(p, p->at, behind(p, p->at));
        break;
    case KEY_CONTROL('u'):
        cut(p, 0, p->at);
        break;
    case KEY_CONTROL('k'):
        cut(p, p->at, strlen(p->text));
        break;
    case KEY_CONTROL('w'):
        cut(p, word_before(p), p->at);
        break;
    case KEY_UP:
        recall(p, p->shown - 1);
        break;
    case KEY_DOWN:
        recall(p, p->shown + 1);
        break;
    }
}

enum prompt_state prompt_key(struct prompt *p, int key)
{
    if (key == KEY_ENTER) {
        keep(p);
        return PROMPT_DONE;
    }
    if (key == KEY_ESCAPE)
        return PROMPT_LEFT;
    if (key >= ' ' && key < KEY_GONE && key != KEY_BACKSPACE)
        insert(p, (uint32_t)key);
    else
        edit(p, key);
    return PROMPT_GOES_ON;
}

void prompt_draw(const struct prompt *p, struct canvas *c, int row, const char *label)
{
    int column = canvas_put(c, row, 0, c->columns, CANVAS_BOLD, label), room, wide;
    const char *from = p->text;
    char until[PROMPT_SIZE];

    column = canvas_put(c, row, column, c->columns, CANVAS_BOLD, ": ");
    room = c->columns - column - 1;
    snprintf(until, sizeof(until), "%.*s", (int)p->at, p->text);
    for (wide = (int)letter_columns(until); wide > room && *from; from += letter_at(from).bytes)
        wide -= (int)letter_at(from).columns;
    canvas_put(c, row, column, room + 1, CANVAS_PLAIN, from);
    canvas_restyle(c, row, column + wide, column + wide + 1, CANVAS_REVERSE);
}
