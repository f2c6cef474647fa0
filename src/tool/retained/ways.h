/* retained/ways.h - what a dump holds, and the ways from a root to it, as data for a page. */
#ifndef SHADOWTRACE_RETAINED_WAYS_H
#define SHADOWTRACE_RETAINED_WAYS_H

#include "retained/held.h"

#include "base/json_writer.h"

#define WAYS_ROWS 20 /* of types, and of lines, that have ways: those that retain most */
#define WAYS_EACH 3

/*
 * ways_json - a member "heap": total, rows of types and of lines. Ways are as `retained --type` and
 * `--line` show them. h: joined; what it had found is gone. Returns: 0 or -ENOMEM.
 */
int ways_json(struct held *h, struct json_writer *json);

#endif
