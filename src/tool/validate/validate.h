/*
 * validate/validate.h - holds a log against its schema, and against what no schema can say: the
 * header is the first line and the end record the last; "kind" is every line's first member; ids
 * are defined before they are used, and mean one thing; times of one thread do not fall; cumulative
 * counts do not fall; totals of the end record are those of the log.
 *
 * A log that merely ends early is valid as far as it goes.
 */
#ifndef SHADOWTRACE_VALIDATE_VALIDATE_H
#define SHADOWTRACE_VALIDATE_VALIDATE_H

#include "readers/log.h"
#include "readers/parts.h"
#include "validate/schema.h"

struct report_validation {
    uint64_t lines, bytes;
    uint64_t records[SST_KIND_COUNT];
    uint64_t unknown_records; /* of kinds that this version does not know: no problem */
    bool ended;               /* there is an end record */
    bool cut; /* the last line has no newline, or compressed data stops early: no problem */
    /* What of the recording is not there, whether that is a problem or not. */
    struct log_completeness gaps;
    char why[200]; /* after -EPROTO */
};

/*
 * report_validate_parts - read all parts of a recording, as one; every breach is a problem.
 * schema:  NULL for the one that ships. With that one, common lines are checked faster and no less.
 * Returns: 0, whatever was found; -EPROTO: of a version that this program cannot read, or no log at
 *          all; -errno of opening or reading; -ENOMEM.
 * Owns:    all arguments stay the caller's; paths are kept in problems.
 */
int report_validate_parts(const struct log_parts *parts, const struct report_schema *schema,
                          const struct log_consumer *progress, struct log_problems *problems,
                          struct report_validation *out);

/* report_validate_lines - the same from lines already open; file names them in problems. */
int report_validate_lines(struct log_lines *lines, const char *file,
                          const struct report_schema *schema, const struct log_consumer *progress,
                          struct log_problems *problems, struct report_validation *out);

#endif
