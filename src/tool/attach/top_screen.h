/*
 * attach/top_screen.h - top on a screen: its rows as a list, the details of a row, what is typed.
 * It draws on a canvas and gets keys; its caller has the terminal and queries the process.
 */
#ifndef SHADOWTRACE_ATTACH_TOP_SCREEN_H
#define SHADOWTRACE_ATTACH_TOP_SCREEN_H

#include "attach/top.h"

#include "terminal/canvas.h"
#include "terminal/list.h"
#include "terminal/prompt.h"

struct top_screen {
    struct top *top;
    struct list list, detail;
    struct prompt prompt;
    bool paused;
    bool drilled; /* the details of the row under the cursor are shown */
    bool typing;  /* the filter */
};

void top_screen_init(struct top_screen *s, struct top *top);
void top_screen_draw(struct top_screen *s, struct canvas *c);

/* top_screen_key - Returns: whether to go on. */
bool top_screen_key(struct top_screen *s, int key);

#endif
