#include "terminal/key.h"

#include "support/test.h"

/* Bytes, and 0 for a pause in which nothing is pressed; then the terminal is gone. */
static const char *bytes;
static const char *end_of_bytes;

static int next(void *context, int milliseconds)
{
    (void)context;
    (void)milliseconds;
    if (bytes == end_of_bytes)
        return KEY_GONE;
    return *bytes ? (unsigned char)*bytes++ : (bytes++, KEY_NONE);
}

static struct key_source source = {.next = next};

#define PRESS(text) (bytes = (text), end_of_bytes = (text) + sizeof(text) - 1, source.pending = -1)

static void expect(int key)
{
    assert_int_equal(key_read(&source, 100), key);
}

TEST(letters_are_themselves)
{
    PRESS("a \xC3\xA4\xE6\xBC\xA2\xF0\x9F\x8D\xB0~");
    expect('a');
    expect(' ');
    expect(0xe4);
    expect(0x6f22);
    expect(0x1f370);
    expect('~');
    expect(KEY_GONE);
}

TEST(keys_of_all_kinds_of_terminals)
{
    PRESS("\033[A\033OB\033[C\033OD\033[5~\033[6~\033[H\033OF\033[1~\033[4~\033[7~\033[8~\033[2~"
          "\033[3~\033[Z\033OP\033[11~\r\n\t\x7f\x08");
    expect(KEY_UP);
    expect(KEY_DOWN);
    expect(KEY_RIGHT);
    expect(KEY_LEFT);
    expect(KEY_PAGE_UP);
    expect(KEY_PAGE_DOWN);
    expect(KEY_HOME);
    expect(KEY_END);
    expect(KEY_HOME);
    expect(KEY_END);
    expect(KEY_HOME);
    expect(KEY_END);
    expect(KEY_INSERT);
    expect(KEY_DELETE);
    expect(KEY_BACK_TAB);
    expect(KEY_F1);
    expect(KEY_F1);
    expect(KEY_ENTER);
    expect(KEY_ENTER);
    expect(KEY_TAB);
    expect(KEY_BACKSPACE);
    expect(KEY_BACKSPACE);
}

TEST(modifiers_make_no_difference)
{
    PRESS("\033[1;5A\033[6;3~\033[1;2H");
    expect(KEY_UP);
    expect(KEY_PAGE_DOWN);
    expect(KEY_HOME);
}

TEST(escape_is_what_no_sequence_follows)
{
    PRESS("\033\0q\033q\033\033[A");
    expect(KEY_ESCAPE);
    expect('q');
    expect(KEY_ESCAPE);
    expect('q');
    expect(KEY_ESCAPE);
    expect(KEY_UP);
}

TEST(unknown_and_damaged_sequences_are_nothing)
{
    PRESS("\033[99;99x\033[?25ha\xff\xC3z\x80\xF8\033[");
    expect(KEY_NONE);
    expect(KEY_NONE);
    expect('a');
    expect(KEY_NONE);
    expect(KEY_NONE);
    expect('z');
    expect(KEY_NONE);
    expect(KEY_NONE);
    expect(KEY_NONE);
    expect(KEY_GONE);
}
