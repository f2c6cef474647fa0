#include "terminal/key.h"

#include <stdbool.h>
#include <stddef.h>

/* What follows the key itself within this time is the rest of a sequence. */
#define ESCAPE_MS 25

static int next_byte(struct key_source *from, int milliseconds)
{
    int c = from->pending;

    from->pending = KEY_NONE;
    return c != KEY_NONE ? c : from->next(from->context, milliseconds);
}

static void put_back(struct key_source *from, int c)
{
    from->pending = c;
}

/* The last byte of a sequence, and its first number. */
static const struct {
    char last;
    int number; /* 0: any */
    enum key key;
} sequences[] = {
    {'A', 0, KEY_UP},      {'B', 0, KEY_DOWN},      {'C', 0, KEY_RIGHT},    {'D', 0, KEY_LEFT},
    {'H', 0, KEY_HOME},    {'F', 0, KEY_END},       {'Z', 0, KEY_BACK_TAB}, {'P', 0, KEY_F1},
    {'~', 1, KEY_HOME},    {'~', 2, KEY_INSERT},    {'~', 3, KEY_DELETE},   {'~', 4, KEY_END},
    {'~', 5, KEY_PAGE_UP}, {'~', 6, KEY_PAGE_DOWN}, {'~', 7, KEY_HOME},     {'~', 8, KEY_END},
    {'~', 11, KEY_F1},
};

/* The rest of a sequence, whose first byte was an escape. Modifiers make no difference. */
static int sequence(struct key_source *from)
{
    int c = next_byte(from, ESCAPE_MS), number = 0;
    bool first = true;

    if (c != '[' && c != 'O') {
        put_back(from, c);
        return KEY_ESCAPE;
    }
    for (c = next_byte(from, ESCAPE_MS); c >= '0' && c <= '?'; c = next_byte(from, ESCAPE_MS)) {
        first = first && c <= '9';
        if (first && number < 100)
            number = number * 10 + c - '0';
    }
    for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
        if (c == sequences[i].last && (!sequences[i].number || sequences[i].number == number))
            return sequences[i].key;
    if (c > 0xff)
        put_back(from, c); /* no byte: it must not be lost */
    return KEY_NONE;
}

/* The rest of a letter, by its first byte; what is damaged is nothing. */
static int letter(struct key_source *from, int first)
{
    int more = 1 + (first >= 0xe0) + (first >= 0xf0), number = first & (0x3f >> more);

    if (first < 0xc2 || first > 0xf4)
        return KEY_NONE;
    for (; more > 0; more--) {
        int c = next_byte(from, ESCAPE_MS);

        if (c < 0x80 || c > 0xbf) {
            put_back(from, c);
            return KEY_NONE;
        }
        number = number << 6 | (c & 0x3f);
    }
    return number < KEY_GONE ? number : KEY_NONE;
}

int key_read(struct key_source *from, int milliseconds)
{
    int c = next_byte(from, milliseconds);

    if (c == KEY_ESCAPE)
        return sequence(from);
    if (c >= 0x80 && c <= 0xff)
        return letter(from, c);
    if (c == '\n')
        return KEY_ENTER;
    return c == 8 ? KEY_BACKSPACE : c;
}
