/*
 * terminal/list.h - a list of which a part is seen: where the cursor is, and what lies above the
 * window. Who has the rows draws those of [first, first + height) that there are.
 */
#ifndef SHADOWTRACE_TERMINAL_LIST_H
#define SHADOWTRACE_TERMINAL_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    size_t count, cursor, first;
    size_t height; /* rows of the window; as it was drawn last */
};

/* list_show - of `count` rows, `height` are visible: moves the window to the cursor. */
void list_show(struct list *l, size_t count, size_t height);

/* list_key - moves by arrows, j and k, pages, g and G. Returns: whether the key is one of these. */
bool list_key(struct list *l, int key);

/* list_text_key - the same of a text that has no cursor: the window itself moves. */
bool list_text_key(struct list *l, int key);

/* list_at - the cursor goes to a row, which is seen with some of those before it. */
void list_at(struct list *l, size_t row);

#endif
