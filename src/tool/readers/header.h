/* readers/header.h - what a log's header says of the program. */
#ifndef SHADOWTRACE_READERS_HEADER_H
#define SHADOWTRACE_READERS_HEADER_H

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * log_program - the file that was run, without its folder: the assembly that `dotnet` ran, else
 * the process's image. Returns: NULL if the header does not say; else it belongs to the header.
 */
const char *log_program(const json_t *header);

#define LOG_HEADER_MAX ((uint64_t)1 << 20) /* bytes, unpacked: a header is shorter */

/*
 * log_header_of - the first line of the log at `path`, plain or packed. Returns: NULL: it is no
 * file, or no log; else the caller's, json_decref. Memory that runs out is no log, too.
 */
json_t *log_header_of(const char *path);

/* log_header_missing - the file at `path` begins with something else: no header will come. */
bool log_header_missing(const char *path);

/* log_started - in s since 1970; 0: not said. */
time_t log_started(const json_t *header);

/* log_attached - was the process running before? header may be NULL. */
bool log_attached(const json_t *header);

/* Who took the samples of a sampled log. Older logs do not say: they met all allocations. */
enum log_sampler_kind {
    LOG_SAMPLER_EXACT,   /* all allocations are met */
    LOG_SAMPLER_RUNTIME, /* the runtime, without bias */
    LOG_SAMPLER_TICKS,   /* the runtime, not at random: no interval holds */
};

/* log_sampler_kind - header may be NULL. log_sampler_word - as the log has it. */
enum log_sampler_kind log_sampler_kind(const json_t *header);
uint64_t log_sample_mean(const json_t *header); /* bytes a sample, at first; 0: not said */
/* Bytes a sample that is followed while it is alive; as of the end record, if there is one. */
uint64_t log_alive_mean(const json_t *header, const json_t *end);
const char *log_sampler_word(enum log_sampler_kind sampler);

#endif
