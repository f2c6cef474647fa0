/*
 * command/print_sampling.h - from when the estimates of a sampled log hold, and what was allocated
 * before (readers/sampling.h): the same words and members for every command, page and export.
 */
#ifndef SHADOWTRACE_COMMAND_PRINT_SAMPLING_H
#define SHADOWTRACE_COMMAND_PRINT_SAMPLING_H

#include "base/buffer.h"
#include "base/json_writer.h"
#include "readers/log.h"
#include "readers/marks.h"

/*
 * print_sampling_late - do sums of that part of the log leave something out that was allocated
 * before samples counted? window: NULL: all of it. *out is filled in any case.
 */
bool print_sampling_late(const struct log_input *log, const struct log_window *window,
                         struct log_sampling *out);

/* print_sampling_lead - "Since sampling began:", a line above sums; "" where they are of all. */
const char *print_sampling_lead(const struct log_sampling *s);

/* print_sampling_text - a sentence or two; nothing where sums are of all. */
void print_sampling_text(const struct log_input *log, const struct log_sampling *s,
                         struct buffer *out);

/* print_sampling_part - "12,345 bytes before sampling began"; nothing where sums are of all. */
void print_sampling_part(const struct log_sampling *s, struct buffer *out);

/* print_sampling_json - member before_sampling of an open object; none where sums are of all. */
void print_sampling_json(const struct log_input *log, struct json_writer *w);

#endif
