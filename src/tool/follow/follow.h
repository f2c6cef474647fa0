/*
 * follow/follow.h - a log read while it is written: what `readers/` reads in one go comes here
 * piece by piece, in the same order, to the same consumer, and nothing of it twice.
 *
 *     follow_new -> follow_step (again and again) -> follow_end (it is over) -> follow_free
 *
 * A file that is open stays so until it is read to its end, whatever becomes of its name: one that
 * is moved, removed or overwritten by a rotation is read anyway. A later part (--max-log,
 * `ctl PID rotate`, a log that started again because its file was removed or cut) is opened as soon
 * as it stands at the log's path, and read when the one before is at its end; parts in between are
 * looked for beside it. What stands at the path and is of another recording is left alone.
 *
 * A file that becomes shorter, or has something else where it was read before, was truncated or
 * overwritten: that is noticed, what was not read of it is counted, and it goes on with what is
 * there now. That is the next part of the recording, from its header on; or, where only its end was
 * cut off, what is written behind the rest. Of another recording nothing is read: it is `replaced`,
 * and its user starts again with the current content. A copy of the log in its place that has more
 * is read on in the log's stead.
 *
 * What cannot be read is counted where readers/ counts it: parts that were gone before they were
 * opened, and lines that were cut away from a file before they were read, are gaps
 * (log_input_completeness) once the recording's end record, or its next header, tells of them.
 *
 * Threads: one at a time. Memory: one chunk, or the longest line; a descriptor for each part that
 * waits, at most FOLLOW_PARTS_MAX.
 */
#ifndef SHADOWTRACE_FOLLOW_FOLLOW_H
#define SHADOWTRACE_FOLLOW_FOLLOW_H

#include "readers/log.h"

#define FOLLOW_PARTS_MAX 256

struct follow;

/*
 * follow_new - open the log at `path`, and the earlier parts of its recording that lie beside it;
 * where its header is not there yet, those are opened as soon as it is. Where nothing is at `path`,
 * as there is not between two parts, it waits for a tenth of a second.
 * Returns: 0; -EINVAL: not a regular file; -errno of opening; -ENOMEM. *out is NULL then.
 * Owns:    path is copied; defs, consumer and log are borrowed until follow_free. log->jobs is 0.
 */
int follow_new(const char *path, struct log_defs *defs, const struct log_consumer *consumer,
               struct log_input *log, struct follow **out);
void follow_free(struct follow *f); /* NULL is fine */

/*
 * follow_step - read about `budget` bytes of what has come since, and of packed logs as much as
 * that when it is unpacked; no more than a line beyond until_ns of clock_ns(), 0: it is not bounded
 * by time.
 * Returns: 1: there is more to read already; 0: all that was there at some moment since the call is
 *          read; else as log_input_read, and nothing is read any more.
 */
int follow_step(struct follow *f, size_t budget, uint64_t until_ns);

/*
 * follow_end - nobody writes the log any more: after the next step that returns 0 a line, or packed
 * data, that is not whole counts as cut, as in any log.
 */
void follow_end(struct follow *f);

/*
 * Whether the recording's end record was read and nothing after it waits, or the file was replaced
 * by something else.
 */
bool follow_ended(const struct follow *f);

/* Bytes of files that were read so far; and that are there and not read yet. */
uint64_t follow_taken(const struct follow *f);
uint64_t follow_left(const struct follow *f);

/* What happened to the files beside growing. The same is among the gaps of the log. */
struct follow_losses {
    uint64_t times; /* that one was truncated or overwritten */
    uint64_t bytes; /* that were seen in a file and gone before they were read */
    bool replaced;  /* another recording is at the log's path */
};
const struct follow_losses *follow_losses(const struct follow *f);

/* Whether the file that is read, or was read last, has no name any more. */
bool follow_is_removed(const struct follow *f);

/* follow_news - Returns: whether `text` has a new line about what happened to the files. */
bool follow_news(struct follow *f, char *text, size_t size);

#endif
