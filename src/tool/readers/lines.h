/*
 * readers/lines.h - a log as lines: from a file, a pipe or memory, plain or zstd (told by its magic
 * number). Memory is one chunk, or as much as the longest line needs, at most LOG_LINE_MAX. Read
 * with read(2), never mapped: a log may shrink while it is read.
 */
#ifndef SHADOWTRACE_READERS_LINES_H
#define SHADOWTRACE_READERS_LINES_H

#include "readers/problems.h"

#include <sys/types.h>

/* Bytes; a longer line is passed over, not read. The fuzzers' is short: they have many of them. */
#ifndef LOG_LINE_MAX
#define LOG_LINE_MAX ((size_t)64 << 20)
#endif
#define LOG_LINE_PADDING 16 /* bytes behind a line that may be read, the first a newline */

struct log_lines;

struct log_line {
    const char *text; /* valid until the next call; text[size] is a newline */
    size_t size;
    struct log_place at;
    bool cut;      /* no newline at its end: the log ends within it */
    bool too_long; /* longer than LOG_LINE_MAX: text is empty */
};

/* Where bytes come from, so that a test can pass a log held in memory. */
struct log_source {
    ssize_t (*read)(void *context, void *to, size_t size); /* bytes; 0 at the end; -errno */
    void (*close)(void *context);                          /* may be NULL */
    void *context;
};

/*
 * log_lines_open - open a log by its path; "-" is standard input, which stays open.
 * Returns: 0 and *out; -errno of opening; -ENOMEM.
 * Owns:    the caller, until log_lines_free.
 */
int log_lines_open(const char *path, struct log_lines **out);

/* log_lines_from - the same from any source; it is closed with the lines, and on failure too. */
int log_lines_from(const struct log_source *source, struct log_lines **out);
void log_lines_free(struct log_lines *l);

/*
 * log_lines_next - the next line.
 * Returns: 1 and *line; 0 at the end; -errno when reading fails; -ENOMEM.
 */
int log_lines_next(struct log_lines *l, struct log_line *line);

/* Whole lines, contiguous, in separate memory. */
struct log_block {
    const char *text; /* text[0, size): each line with its newline; padded as a line is */
    size_t size;
    uint64_t offset; /* of text[0], as in struct log_place */
    bool cut;        /* the last line has no newline: the log ends within it */
    bool too_long;   /* one line longer than LOG_LINE_MAX: text is empty */
    char *data;
    size_t capacity;
};

/*
 * log_lines_block - the next lines at once, as many as are there; not to be mixed with
 * log_lines_next.
 * Returns: 1; 0 at the end; -errno when reading fails; -ENOMEM.
 * Owns: block starts zeroed, is the caller's until log_block_fini, and may be given again.
 */
int log_lines_block(struct log_lines *l, struct log_block *block);
void log_block_fini(struct log_block *block);

/* Why a compressed log ended too soon: LOG_LINES_CUT, or what zstd says; NULL if it did not. */
#define LOG_LINES_CUT "compressed data is cut"
const char *log_lines_damage(const struct log_lines *l);

/*
 * How far it is: bytes of the file taken so far, and its size (0 where it is not known, as on a
 * pipe).
 */
uint64_t log_lines_taken(const struct log_lines *l);
uint64_t log_lines_size(const struct log_lines *l);

/*
 * log_lines_allow - add at most `bytes` more to what is unpacked, then return -EAGAIN until more
 * is allowed. A packed log of a few bytes can hold gigabytes.
 */
void log_lines_allow(struct log_lines *l, uint64_t bytes);

/* log_lines_packed - whether the log is compressed; false before its first bytes are read. */
bool log_lines_packed(const struct log_lines *l);

/*
 * Of a log that is read while it is written and may become shorter:
 *
 * log_lines_unfinished - bytes that were read of a line whose end was not.
 * log_lines_break - forget them: the next read is of something else. within: it begins in the
 *     middle of a line, which then counts as damaged. Not for a packed log.
 */
uint64_t log_lines_unfinished(const struct log_lines *l);
void log_lines_break(struct log_lines *l, bool within);

#endif
