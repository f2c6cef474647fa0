/* export/rows_out.h - rows on their way out: one JSON object a line, each definition once. */
#ifndef SHADOWTRACE_EXPORT_ROWS_OUT_H
#define SHADOWTRACE_EXPORT_ROWS_OUT_H

#include "export/rows.h"

#include "base/json_writer.h"
#include "readers/index.h"

#define ROWS_ID_SIZE 37 /* 8-4-4-4-12 digits, as UUIDs are written, and a NUL */

enum rows_table { ROWS_METHODS, ROWS_TYPES, ROWS_FRAMES, ROWS_STACKS, ROWS_ANCESTORS, ROWS_TABLES };

/* Ids of one table that were defined. */
struct rows_known {
    uint64_t (*ids)[2];
    size_t count, capacity, before; /* before: those there were at export_rows_to */
    struct index index;
};

struct export_rows {
    FILE *out;
    struct export_rows_options options;
    struct rows_known known[ROWS_TABLES];
    struct export_rows_sums sums;
    int err; /* -ENOMEM: a row was left out */
};

/* rows_define - whether the id is new to the table, which has it now. Failure: r->err. */
bool rows_define(struct export_rows *r, enum rows_table table, const uint64_t id[2]);

/* A row of that kind is open in w until rows_end; rows_id is a member of it. */
void rows_begin(struct export_rows *r, struct json_writer *w, const char *kind);
void rows_end(struct export_rows *r, struct json_writer *w);
void rows_id(struct json_writer *w, const char *key, const uint64_t id[2]);
void rows_id_text(char to[ROWS_ID_SIZE], const uint64_t id[2]);

/*
 * rows_recording - the row of the recording that a tree is of. Returns: the minute in which it
 * began, in s since 1970; id: its id.
 */
uint64_t rows_recording(struct export_rows *r, const struct model_tree *tree,
                        char id[ROWS_ID_SIZE]);

#endif
