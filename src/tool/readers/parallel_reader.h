/*
 * readers/parallel_reader.h - separate threads read and parse the lines of a log, ahead of the
 * thread that uses them. That thread gets them in the log's order, whatever the number of threads.
 *
 * The threads take turns at reading (and unpacking) a block of whole lines, then parse their blocks
 * side by side. At most two blocks a thread wait to be used.
 */
#ifndef SHADOWTRACE_READERS_PARALLEL_READER_H
#define SHADOWTRACE_READERS_PARALLEL_READER_H

#include "readers/record.h"

struct parallel_reader;

/* One line as log_parse had it: err is 0 and record there, or err and why. */
struct log_parsed {
    struct log_line line;
    struct log_record record;
    int err;
    const char *why;
    uint64_t unknown_members;
};

/*
 * parallel_reader_new - begin to read. Returns: 0; -ENOMEM; -EAGAIN: no thread could be started.
 * Owns: lines are the caller's and not to be touched until parallel_reader_free.
 */
int parallel_reader_new(struct log_lines *lines, unsigned threads, struct parallel_reader **out);
void parallel_reader_free(
    struct parallel_reader *a); /* also before the end; no wait for a slow pipe */

/*
 * parallel_reader_next - the next line. Returns: 1 and *out, valid until the next call; 0 at the
 * end;
 * -errno when reading fails; -ENOMEM.
 * Threads: one.
 */
int parallel_reader_next(struct parallel_reader *a, const struct log_parsed **out);

/* Bytes of the file that were taken for the lines used so far. */
uint64_t parallel_reader_taken(const struct parallel_reader *a);

#endif
