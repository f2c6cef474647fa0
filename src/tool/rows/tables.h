/* rows/tables.h - what rows define: each thing once, by its id, in the order in which it came. */
#ifndef SHADOWTRACE_ROWS_TABLES_H
#define SHADOWTRACE_ROWS_TABLES_H

#include "readers/sampling.h"
#include "rows/rows_log.h"

#include "base/buffer.h"
#include "readers/index.h"

/* Ids in the cells' definitions are the numbers in these tables, + 1. */
struct rows_text {
    const char *text;
};

struct rows_module {
    const char *name;
};

struct rows_method {
    uint64_t id[2];
    bool none; /* it stands for no frame at all */
};

struct rows_type {
    uint64_t id[2];
};

struct rows_frame {
    uint64_t id[2];
    uint32_t method; /* number */
    int32_t il;      /* as the cells have it; LOG_NO_IL */
    bool filter;
};

struct rows_stack {
    uint64_t id[2];
    uint32_t frame, node; /* node: id; 0: the empty stack */
};

struct rows_recording {
    uint64_t id[2];
    bool incomplete, estimated, ticks;
    uint64_t lost;
    struct log_sampling sampling;
};

/* A line of the source: a method (number), and the offset that means it in the cells. */
struct rows_place {
    uint32_t method;
    int32_t il;
    uint32_t line;    /* 0: not known */
    const char *file; /* one text for each name */
};

/* A line without an offset. */
struct rows_other {
    const char *file;
    uint32_t method, line;
    int32_t il;
};
#define ROWS_IL_MOST (IL_MOST / 2) /* offsets above are invented */

/* The key is a minute, a recording (number + 1; 0: rows do not say), a node and a type. */
struct rows_amount {
    uint64_t minute;
    uint32_t recording, stack, type;
    uint64_t bytes, allocs;
};

#define ROWS_TABLE(type) \
    struct { \
        type *rows; \
        size_t count, capacity; \
        struct index index; \
    }

struct rows_log {
    struct report_cells *cells;
    ROWS_TABLE(struct rows_text) texts;
    ROWS_TABLE(struct rows_module) modules;
    ROWS_TABLE(struct rows_method) methods;
    ROWS_TABLE(struct rows_type) types;
    ROWS_TABLE(struct rows_frame) frames;
    ROWS_TABLE(struct rows_stack) stacks;
    ROWS_TABLE(struct rows_recording) recordings;
    ROWS_TABLE(struct rows_place) places;
    ROWS_TABLE(struct rows_other) others;
    ROWS_TABLE(struct rows_amount) amounts;
    int32_t invented;       /* offsets that no method has: the next one */
    struct buffer program;  /* of all recordings, "" none yet; of several, how many */
    struct buffer started;  /* of the earliest */
    uint64_t programs, pid; /* the number of different programs; the pid of the first */
    struct rows_log_sums sums;
};

/* rows_log_put - what a line of that kind says; json goes over. Returns: 0 or -errno. */
int rows_log_put(struct rows_log *r, enum sst_kind kind, json_t *json);

/*
 * rows_log_take - one row. Returns: 0; -EPROTO; -EBADMSG: why says what is wrong; -ENOMEM.
 */
int rows_log_take(struct rows_log *r, const json_t *row, char why[ROWS_LOG_WHY]);

#endif
