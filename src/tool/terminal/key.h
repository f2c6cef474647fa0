/*
 * terminal/key.h - keys, from the bytes that a terminal sends for them. All other keys are letters,
 * as Unicode code points; control keys are below 32.
 */
#ifndef SHADOWTRACE_TERMINAL_KEY_H
#define SHADOWTRACE_TERMINAL_KEY_H

enum key {
    KEY_NONE = -1, /* nothing was pressed in time */
    KEY_CONTROL_D = 4,
    KEY_TAB = 9,
    KEY_ENTER = 13, /* line feed, too */
    KEY_ESCAPE = 27,
    KEY_BACKSPACE = 127, /* control-H, too */
    KEY_GONE = 0x110000, /* there is no terminal any more */
    KEY_RESIZED,
    KEY_UP,
    KEY_DOWN,
    KEY_RIGHT,
    KEY_LEFT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_INSERT,
    KEY_DELETE,
    KEY_BACK_TAB,
    KEY_F1
};
#define KEY_CONTROL(letter) ((letter)&0x1f)

/* Where the bytes come from: the next one; KEY_NONE after that time, KEY_RESIZED or KEY_GONE. */
struct key_source {
    int (*next)(void *context, int milliseconds);
    void *context;
    int pending; /* a byte read too far; KEY_NONE: none */
};

/*
 * key_read - waits for a key, for at most `milliseconds` (below 0: for ever). Returns: an enum key.
 */
int key_read(struct key_source *from, int milliseconds);

#endif
