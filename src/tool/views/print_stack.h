/*
 * views/print_stack.h - call paths of a log with names, files and lines, as text and as JSON.
 * A stack is leaf first: each frame with the place in it of the next inner frame, or of the event.
 */
#ifndef SHADOWTRACE_VIEWS_PRINT_STACK_H
#define SHADOWTRACE_VIEWS_PRINT_STACK_H

#include "command/naming.h"
#include "report/source_lines.h"

#include "base/json_writer.h"
#include "report/async.h"
#include "report/stacks.h"

#include <stdio.h>

struct print_stack {
    const struct log_defs *defs;
    struct source_lines *lines;     /* NULL: no files and lines */
    struct report_async *async;     /* NULL: no callers of async methods */
    struct report_stacks *tables;   /* of JSON: stacks go there; NULL: whole ones stand in place */
    const struct print_stack *next; /* another log's, with the same tables */
    uint64_t depth;                 /* frames of each stack that is printed in place; 0 all */
    uint64_t begin;                 /* in JSON a stack begins this many frames out; 0: all frames */
    bool wide;                      /* names in full */
    struct naming naming;
    struct names *names; /* NULL: names are full, or the log's */
    bool urls;           /* addresses by Source Link */
};

/*
 * print_stack_choose - how many frames, and rows (top), are shown by a command's options: in JSON
 * all, unless they say; and which names: in JSON full ones. Returns: CLI_OK, or CLI_USAGE: a line
 * has said what does not go together.
 */
int print_stack_choose(struct print_stack *p, uint64_t *top, const struct cli_command *command,
                       const struct args *args, bool json, bool inline_stacks);

/* path: number in defs; il: in its leaf, or LOG_NO_IL. Each line begins with `indent`. */
void print_stack_text(const struct print_stack *p, uint32_t path, int32_t il, const char *indent,
                      FILE *out);

/*
 * The same as members of a JSON object that is open in w: stack, where known started_by, and
 * one_of_callers where the path ends because several may have called. In tables: their numbers.
 * Else arrays: stack, stack_il, where known stack_lines, and depth where stack is cut.
 * print_stack_tables_json: frames and stacks, once all stacks are in; nothing without tables.
 * print_stack_schema_json: before all, which of both it is.
 */
void print_stack_json(const struct print_stack *p, uint32_t path, int32_t il,
                      struct json_writer *w);
void print_stack_tables_json(const struct print_stack *p, struct json_writer *w);
void print_stack_schema_json(const struct print_stack *p, struct json_writer *w);

/* As members il and, of several, il_last of the object open in w; il is at least 0. */
void print_il_json(int32_t il, struct json_writer *w);

/* Below stacks of hooked methods only. */
#define PRINT_SOME_HOOKED \
    "Hooked methods only, as recorded: without --own and --only all methods have frames."

/* "+IL_0006", or "+IL_0006-0010" of several. */
#define PRINT_IL_SIZE 32
void print_il_text(int32_t il, char out[PRINT_IL_SIZE]);

/* As members method, module and, if known, file, line, url and il of the object open in w. */
void print_stack_method_json(const struct print_stack *p, uint32_t method, int32_t il,
                             struct json_writer *w);

/*
 * print_stack_names - makes the names of p->defs if the style needs them; they differ from those of
 * `first`, of another log, if that is not NULL. Returns: 0 or -ENOMEM.
 * Owns: names_free(p->names) is the caller's.
 */
int print_stack_names(struct print_stack *p, const struct print_stack *first);

/* The name of a method (number in defs): in b, the names', or the log's. Of a type, likewise. */
const char *print_stack_method(const struct print_stack *p, struct buffer *b, uint32_t method);
const char *print_stack_type(const struct print_stack *p, uint32_t class_number);

#define PRINT_LOST_FRAME "(callers not in the log)"
#define PRINT_WHERE_SIZE 160

#endif
