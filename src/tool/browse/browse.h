/*
 * browse/browse.h - logs on a terminal: pages (page.h) in a frame that has their names, a status
 * line and a line of keys. It draws on a canvas and gets keys; cmd_browse.c has the terminal.
 */
#ifndef SHADOWTRACE_BROWSE_BROWSE_H
#define SHADOWTRACE_BROWSE_BROWSE_H

#include "browse/page.h"
#include "terminal/prompt.h"

#define BROWSE_TABS  32 /* at most */
#define BROWSE_DEPTH 32 /* pages on a page */

enum browse_asks { BROWSE_NOTHING, BROWSE_SEARCH, BROWSE_FILTER };

struct browse_view {
    char key;
    const char *name;
    enum view_kind view; /* or RANKING_LOGS */
};

struct browse {
    struct data *data;
    size_t tab, tab_count;
    struct browse_view views[BROWSE_TABS]; /* by tab */
    struct page *tabs[BROWSE_TABS];        /* NULL: not made yet */
    struct page *above[BROWSE_DEPTH];
    size_t depth; /* pages above the tab's own */
    enum browse_asks asks;
    struct prompt search, filter;
    char message[300];  /* until the next key; "" none */
    struct target edit; /* what BROWSE_EDIT is to open */
};

/* browse_init - data is borrowed. Returns: 0 or -ENOMEM; browse_fini even then. */
int browse_init(struct browse *b, struct data *data);
void browse_fini(struct browse *b);

void browse_draw(struct browse *b, struct canvas *c);

enum browse_next { BROWSE_GOES_ON, BROWSE_ENDS, BROWSE_EDIT };
enum browse_next browse_key(struct browse *b, int key);

/* browse_say - in the status line, until the next key. */
void browse_say(struct browse *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* browse_source - shows the source of b->edit on a page. */
void browse_source(struct browse *b);

struct cli_command;
extern const struct cli_command cmd_browse;

#endif
