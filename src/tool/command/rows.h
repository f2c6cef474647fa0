/*
 * command/rows.h - rows of options that several commands have: the same word means the same
 * everywhere. ARGS_INTO, the command's struct, has members of these names, or the member is the
 * macro's argument.
 */
#ifndef SHADOWTRACE_COMMAND_ROWS_H
#define SHADOWTRACE_COMMAND_ROWS_H

#include "args/args.h"
#include "command/naming.h"

extern const char *const rows_formats[]; /* as enum reading_format */

#define ROW_FORMAT ARGS_ROW(WORD, "format", NULL, format, "output format", .words = rows_formats)
#define ROW_JOBS \
    ARGS_ROW( \
        COUNT, "jobs", "N", reading.jobs, \
        "number of reading threads, 1 to 64; it does not change the result (default: one for " \
        "each processor, at most 8)", \
        .least = 1, .limit = 64)
#define ROW_QUIET \
    ARGS_ROW(FLAG, "quiet", NULL, reading.quiet, "show no progress bar (shown only on a terminal)")
#define ROW_SYMBOLS \
    ARGS_ROW(LIST, "symbols", "DIR", symbols, \
             "look for PDBs in DIR as well as next to the assemblies")
#define ROW_NO_LINES \
    ARGS_ROW(FLAG, "no-lines", NULL, no_lines, "do not look up source files and lines")
#define ROW_MAX_MEMORY(standard_, help) \
    ARGS_ROW(BYTES, "max-memory", "BYTES", max_memory, help, .standard = (standard_), \
             .least = 1 << 20, .limit = (uint64_t)1 << 40)
#define ROW_TOP(member) \
    ARGS_ROW(COUNT, "top", "N", member, "show the first N rows; 0: all, as in JSON", .standard = 20)
#define ROW_DEPTH(member) \
    ARGS_ROW(COUNT, "depth", "N", member, "show N frames of each stack; 0: all, as in JSON", \
             .standard = 8)
#define ROW_MIN_BYTES(member, help) ARGS_ROW(BYTES, "min-bytes", "BYTES", member, help)
#define ROW_TYPE \
    ARGS_ROW(LIST, "type", "PATTERN", filters.types, \
             "only types whose full name matches; * stands for any text, ? for one character")
#define ROW_METHOD \
    ARGS_ROW(LIST, "method", "PATTERN", filters.methods, \
             "only allocations in or below methods whose full name matches")
#define ROW_OWN(member) \
    ARGS_ROW(FLAG, "own", NULL, member, "only allocations of own code and of its callees")
#define ROW_ALL_FRAMES(member) \
    ARGS_ROW( \
        FLAG, "all-frames", NULL, member, \
        "show every frame; by default consecutive frames outside of own code are folded into one")
#define ROW_THREAD \
    ARGS_ROW(COUNT, "thread", "ID", filter.thread, "only the thread with this id in the log", \
             .least = 1, .limit = UINT32_MAX - 1)
#define ROW_PHYSICAL(help) ARGS_ROW(FLAG, "physical", NULL, physical, help)
#define ROW_NAMES(naming, ...) \
    ARGS_ROW(WORD, "names", NULL, naming.style, \
             "short: string, List<int>; namespaces and parameters only if names would be equal " \
             "without them. full: System.String, with all namespaces and parameters, as in JSON. " \
             "raw: as in the log: <BarAsync>d__3.MoveNext, not BarAsync", \
             .words = names_styles, __VA_ARGS__), \
    { \
        .kind = ARGS_OLD, .name = "raw", .help = "names=raw" \
    }
#define ROW_WIDE(member) \
    ARGS_ROW(FLAG, "wide", NULL, member, "do not shorten names; lines may be long")
/* How frames are shown: `frames` has the members of names and width. */
#define ROWS_FRAMES(frames) \
    ROW_SYMBOLS, ROW_NO_LINES, ROW_NAMES(frames.naming), ROW_WIDE(frames.wide)
#define ROW_INLINE_STACKS \
    ARGS_ROW( \
        FLAG, "inline-stacks", NULL, inline_stacks, \
        "in JSON, write each row's stack as an array, innermost frame first; the output grows " \
        "with rows times depth")
#define ROW_OWN_CODE_HELP    "modules and methods that are own code; overrides the log"
#define ROW_OWN_CODE(member) ARGS_ROW(LIST, "own-code", "PATTERN", member, ROW_OWN_CODE_HELP)

#endif
