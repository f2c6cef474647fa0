/*
 * attach/top.h - what `top` shows: call sites, types and threads of a living process as rows of
 * text, from the replies of its control socket. Knows no screen.
 */
#ifndef SHADOWTRACE_ATTACH_TOP_H
#define SHADOWTRACE_ATTACH_TOP_H

#include "process/client.h"
#include "attach/live_stacks.h"

#include <stdint.h>

enum top_view { TOP_SITES, TOP_TYPES, TOP_THREADS, TOP_VIEWS };
enum top_order {
    TOP_BY_RATE,
    TOP_BY_COUNT,
    TOP_BY_TOTAL,
    TOP_ORDERS
}; /* bytes/s, objects/s, bytes */

struct top_row {
    double rate, count_rate,
        total; /* bytes/s, objects/s, bytes since the first look; of a thread: its depth */
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
    json_t *status, *sites, *dump;
    json_t *before; /* key of a site: [bytes, allocs] as of the look before */
    double seconds; /* between the two */
    uint64_t looked_ns;
    struct live_stacks *stacks;
    enum names_style style;
    struct names *names;    /* of the sites' types, by row, and of all frames of their stacks */
    uint32_t *first_method; /* by row, of its stack */
    struct top_row *row;
    size_t rows, capacity;
};

int top_init(struct top *t, enum names_style style); /* 0 or -ENOMEM */
void top_fini(struct top *t);

/* top_look - ask again. Returns: 0 or -errno, then client->why. */
int top_look(struct top *t, struct client *client);

/* top_arrange - rows of the view from the last replies, filtered, sorted. Returns: 0 or -ENOMEM. */
int top_arrange(struct top *t);

/* top_open_type - from a type to its call sites. top_close_type - and back. */
void top_open_type(struct top *t, size_t row);
void top_close_type(struct top *t);

/* The line above the rows, and what the columns are; into text. */
void top_title(const struct top *t, char *text, size_t size);
const char *top_columns(const struct top *t);

/* top_line - a row as text. top_detail - line `index` of its details; false past the last. */
void top_line(const struct top *t, size_t row, char *text, size_t size);
bool top_detail(struct top *t, size_t row, size_t index, char *text, size_t size);

#endif
