/*
 * log/tally.h - what lines stand for, by kind: of those put into the log, and of a run of bytes
 * that are lines. With it, what never reaches the file can be taken back, whatever it is.
 *
 * Threads: the writer.
 */
#ifndef SHADOWTRACE_LOG_TALLY_H
#define SHADOWTRACE_LOG_TALLY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include <shadowtrace/log_reader.h>

/* All of it are 64-bit counters. */
struct log_tally {
    uint64_t lines[SST_KIND_COUNT];
    uint64_t allocs, bytes;  /* of alloc and site lines */
    uint64_t cut;            /* of these allocs: without all of their path */
    uint64_t entered, ended; /* of calls lines */
};

void log_tally_add(struct log_tally *to, const struct log_tally *more);
void log_tally_take(struct log_tally *from, const struct log_tally *less);

/* log_tally_lines - adds whole lines. Returns: how many bytes they are. */
size_t log_tally_lines(struct log_tally *t, const char *data, size_t size);

/* Of which kind the lines of a family (enum options_family) are. */
enum sst_kind log_family_kind(uint32_t family);

uint64_t log_kinds_sum(const uint64_t lines[SST_KIND_COUNT]);

/* log_kinds_json - {kind: lines}, of those that have any. NULL: no memory. */
json_t *log_kinds_json(const uint64_t lines[SST_KIND_COUNT]);

#endif
