/*
 * command/reading.h - what the commands that read logs have in common: a progress line on a
 * terminal, problems and failures in words.
 */
#ifndef SHADOWTRACE_COMMAND_READING_H
#define SHADOWTRACE_COMMAND_READING_H

#include "command/command.h"

#include "readers/log.h"
#include "readers/marks.h"
#include "report/live.h"
#include "report/source_lines.h"

enum reading_format { READING_TEXT, READING_JSON, READING_FOLDED };

/* How a log is read; both may be given on the command line. */
struct reading_options {
    unsigned jobs; /* threads that parse; 0: as many as there are processors, at most 8 */
    bool quiet;    /* no progress bar */
    bool rows;     /* --from-rows: what is read are rows of tables (command/from_rows.h) */
};

unsigned reading_threads(const struct reading_options *options);

/*
 * As struct log_consumer's progress: a bar on stderr, redrawn, if that is a terminal, the
 * reading takes a while, and the user did not ask for quiet.
 */
struct reading_progress {
    uint64_t started; /* ns */
    uint64_t drawn;   /* ns; when last */
    bool shown, wanted;
};
void reading_progress_init(struct reading_progress *p, const struct reading_options *options);
void reading_progress(void *progress, uint64_t taken, uint64_t size);
void reading_progress_end(struct reading_progress *p);

/* reading_bar - what the bar shows after `ns`, at most `room` - 1 bytes: size 0: not known. */
void reading_bar(char *to, size_t room, uint64_t taken, uint64_t size, uint64_t ns);

/*
 * --from and --to: texts of marks, or times: "10s", "500ms" since the recording began, "50%" of its
 * length; NULL: not given. A mark of that name wins.
 */
struct reading_window {
    const char *from, *to;
};

/* reading_window - that part of the log; all of it without either. Returns: the exit status. */
int reading_window(const struct cli_command *command, const char *path,
                   const struct reading_window *window, struct log_window *out);

/*
 * What is asked of live objects. at: of AT a mark, a time, or the number of a collection; with
 * `instead` those bounds are the window's, too. from and to of the others are the window's.
 */
struct reading_live {
    enum report_live_question question;
    bool instead, changes; /* of model_options */
    const char *at;
};

/*
 * reading_spans - the collections of a log that it means. *known: whether that could be told: it
 * cannot where the log is no file, and need not without `instead`. path: NULL: of sums without
 * times. Returns: the exit status.
 */
int reading_spans(const struct cli_command *command, const char *path,
                  const struct reading_live *live, const struct reading_window *window,
                  struct report_live_spans *out, bool *known);

/* reading_bounds - "From the mark "warm" to 10s:" and a newline; nothing without either. */
void reading_bounds(const struct reading_window *window, const struct log_window *found, FILE *out);

/*
 * reading_once - of the logs that are added up, those that are to be read: each file once, however
 * often it is named (log_parts_once). Returns: the exit status.
 */
int reading_once(const struct cli_command *command, char **logs, size_t *count);

/* reading_error - what -errno of reading a LOG means, without its name. */
const char *reading_error(const struct cli_command *command, int err);

/* reading_failed - one line for what log_input_read returned. Returns: the exit status. */
int reading_failed(const struct cli_command *command, const char *path, const struct log_input *log,
                   int err);

/* reading_problems - the first few on stderr, FILE:LINE: offset N: what; then how many more. */
void reading_problems(const struct cli_command *command, const struct log_problems *problems);

/*
 * reading_source_lines - of a log that was read, with --symbols; the command complains about
 * symbols that it cannot use. Returns: 0 or -ENOMEM.
 */
int reading_source_lines(const struct cli_command *command, const struct log_defs *defs,
                         const struct args_list *symbols, const struct log_input *log,
                         struct source_lines **out);

/* reading_records - was the log recorded with that event category? By its header's options. */
bool reading_records(const struct log_input *log, const char *events);

/* reading_completeness - the same in a sentence or two for people. */
void reading_completeness(const struct log_input *log, FILE *out);

#endif
