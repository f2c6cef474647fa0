/*
 * readers/parts.h - the files that hold one recording: with --max-log, or after `ctl PID rotate`,
 * LOG is the last part and LOG.1, LOG.2, ... are earlier ones. The headers say which belong
 * together.
 */
#ifndef SHADOWTRACE_READERS_PARTS_H
#define SHADOWTRACE_READERS_PARTS_H

#include "readers/record.h"

#include <stddef.h>
#include <stdint.h>

struct log_parts {
    char **paths; /* in the order of the parts; the one asked for is the last */
    size_t count, capacity;
    uint64_t last; /* the latest existing part, read or not; 0: unknown */
};

/*
 * log_parts_find - the existing earlier parts of the recording at path, and path itself. Only
 * path if it is not a file, or not a log. Returns: 0 or -ENOMEM.
 * Owns:    out starts zeroed and is the caller's until log_parts_fini, also after a failure.
 */
int log_parts_find(const char *path, struct log_parts *out);

/* log_parts_before - likewise, those before `part` of the recording at path; not `path`. */
int log_parts_before(const char *path, const struct log_recording *part, struct log_parts *out);
void log_parts_fini(struct log_parts *parts);

/*
 * log_part_of - what the header of a file says of the part that it begins; its number is 0 where
 * there is no header (yet). log_part_follows - whether it is of the recording of `earlier`, and
 * a later part. log_part_again - whether both are the same part of one recording.
 */
struct log_recording log_part_of(const char *path);
bool log_part_follows(const struct log_recording *earlier, const struct log_recording *part);
bool log_part_again(const struct log_recording *one, const struct log_recording *part);

/*
 * log_parts_once - removes paths that must not be read, from paths of logs that are added up:
 * those whose file (device and inode) occurs before, and earlier parts of a recording that another
 * path includes. Call it before reading several logs as one.
 * Returns: 0 or -ENOMEM. paths has *count entries, and later fewer; then NULL.
 */
int log_parts_once(char **paths, size_t *count);

#endif
