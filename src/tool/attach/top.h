/*
 * attach/top.h - what `top` shows: call sites, types and threads of a living process as rows of
 * text, from the replies of its control socket. Knows no screen.
 */
#ifndef SHADOWTRACE_ATTACH_TOP_H
#define SHADOWTRACE_ATTACH_TOP_H

#include "process/client.h"
#include "attach/live_stacks.h"

#include <stdint.h>

enum top_view { TOP_SITES, TOP_TYPES, TOP_THREADS, TOP_ALIVE, TOP_ALIVE_TYPES, TOP_VIEWS };
enum top_order {
    TOP_BY_RATE,
    TOP_BY_COUNT,
    TOP_BY_TOTAL,
    TOP_ORDERS
}; /* bytes/s, objects/s, bytes; of what is alive: bytes grown, objects, bytes */

struct top_row {
    double rate, count_rate,
        total; /* as the orders, bytes since the first look; of a thread: its depth */
    char *text;
    const json_t *site;        /* of a call site: its reply; else NULL */
    size_t row;                /* of a call site: its place in the reply */
    const char *type, *method; /* the reply's full names; NULL: it has none */
    size_t thread;             /* of a thread: index in the dump */
};

struct top {
    enum top_view view;
    enum top_order order;
    char filter[80]; /* only rows that contain it; "" all */
    char *type;      /* of the call sites only those of this type; NULL: all */
    /* the last replies */
    json_t *status, *sites, *dump, *alive; /* alive: NULL: not asked for yet, or refused */
    char refused[CLIENT_WHY_SIZE];         /* why it was; "" it was not */
    json_t *before;    /* key of a site: [bytes, allocs] as of the look before */
    json_t *base;      /* the same of what was alive when top_begin() was called; NULL: not yet */
    json_t *growing;   /* `grows` of the last reply to `alive`; NULL: nothing grows */
    char *warning;     /* that as lines; NULL: none */
    bool dead_unknown; /* the process does not record with --live */
    double seconds;    /* between the two */
    uint64_t looked_ns;
    struct live_stacks *stacks;
    enum names_style style;
    struct names *names;    /* of the sites' types, by row, and of all frames of their stacks */
    const json_t *named;    /* the reply that they are of */
    uint32_t *first_method; /* by row, of its stack */
    struct top_row *row;
    size_t rows, capacity;
};

int top_init(struct top *t, enum names_style style); /* 0 or -ENOMEM */
void top_fini(struct top *t);

/* top_take - a reply becomes the last one of its kind; rows that look the same become one. */
void top_take(json_t **keep, json_t *reply);

/* top_look - ask again. Returns: 0 or -errno, then client->why. */
int top_look(struct top *t, struct client *client);

/* top_arrange - rows of the view from the last replies, filtered, sorted. Returns: 0 or -ENOMEM. */
int top_arrange(struct top *t);

/* top_begin - what is alive now is what growth is counted from. */
void top_begin(struct top *t);

/* top_open_type - from a type to its call sites. top_close_type - and back. */
void top_open_type(struct top *t, size_t row);
void top_close_type(struct top *t);

/* top_warning - line `index` of what grows; false past the last. */
bool top_warning(const struct top *t, size_t index, char *text, size_t size);

/* The line above the rows, and what the columns are; into text. */
void top_title(const struct top *t, char *text, size_t size);
const char *top_columns(const struct top *t);

/* top_line - a row as text. top_detail - line `index` of its details; false past the last. */
void top_line(const struct top *t, size_t row, char *text, size_t size);
bool top_detail(struct top *t, size_t row, size_t index, char *text, size_t size);

#endif
