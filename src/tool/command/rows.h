/*
 * command/rows.h - options that several commands have, as the content of a row: the same word means the same everywhere.
 * Each takes the command's struct, whose member has the name that the row's ARGS_AT says, or the member itself.
 */
#ifndef SHADOWTRACE_COMMAND_ROWS_H
#define SHADOWTRACE_COMMAND_ROWS_H

#include "args/args.h"

extern const char *const rows_formats[]; /* as enum reading_format */

#define ROW_FORMAT(args) \
    .name = "format", .kind = ARGS_WORD, .words = rows_formats, .help = "how it is printed", \
    ARGS_AT(args, format)
#define ROW_JOBS(args) \
    .name = "jobs", .kind = ARGS_COUNT, .argument = "N", .least = 1, .limit = 64, \
    .help = "threads that read, 1 to 64; the result is the same with any number (one for each " \
            "processor, at most 8)", \
    ARGS_AT(args, reading.jobs)
#define ROW_QUIET(args) \
    .name = "quiet", .kind = ARGS_FLAG, \
    .help = "no progress bar; there is none anyway where stderr is no terminal", \
    ARGS_AT(args, reading.quiet)
#define ROW_SYMBOLS(args) \
    .name = "symbols", .kind = ARGS_LIST, .argument = "DIR", \
    .help = "look for PDBs there, too, besides the assemblies' own folders", \
    ARGS_AT(args, symbols)
#define ROW_NO_LINES(args) \
    .name = "no-lines", .kind = ARGS_FLAG, .help = "do not look for files and lines", \
    ARGS_AT(args, no_lines)
#define ROW_TOP(args, member) \
    .name = "top", .kind = ARGS_COUNT, .argument = "N", .standard = 20, \
    .help = "rows shown; 0: all, as in JSON", ARGS_AT(args, member)
#define ROW_DEPTH(args, member) \
    .name = "depth", .kind = ARGS_COUNT, .argument = "N", .standard = 8, \
    .help = "frames shown of each stack; 0: all, as in JSON", ARGS_AT(args, member)
#define ROW_MIN_BYTES(args, member) \
    .name = "min-bytes", .kind = ARGS_BYTES, .argument = "BYTES", ARGS_AT(args, member)
#define ROW_TYPE(args) \
    .name = "type", .kind = ARGS_TEXT, .argument = "PATTERN", \
    .help = "only types whose full name matches; * stands for any text, ? for one character", \
    ARGS_AT(args, filter.type)
#define ROW_METHOD(args) \
    .name = "method", .kind = ARGS_TEXT, .argument = "PATTERN", \
    .help = "only what was allocated in, or below, methods whose full name matches", \
    ARGS_AT(args, filter.method)
#define ROW_THREAD(args) \
    .name = "thread", .kind = ARGS_COUNT, .argument = "ID", .least = 1, .limit = UINT32_MAX - 1, \
    .help = "only the thread with that id in the log", ARGS_AT(args, filter.thread)
#define ROW_PHYSICAL(args) .name = "physical", .kind = ARGS_FLAG, ARGS_AT(args, physical)
#define ROW_WIDE(args, member) \
    .name = "wide", .kind = ARGS_FLAG, .help = "names in full, lines as long as they get", \
    ARGS_AT(args, member)

#endif
