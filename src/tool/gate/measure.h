/*
 * gate/measure.h - what one log has of each limit of a budget, and how sure that is.
 *
 * An amount is an interval: what the log proves to be at least there, and at most. Exact ones have
 * both alike. A sampled log gives estimates; one that is cut or lost something has what was read
 * and more; live objects of a moment without a full collection are at most what was counted. A log
 * that cannot answer at all leaves both ends open, and why says what it lacks.
 */
#ifndef SHADOWTRACE_GATE_MEASURE_H
#define SHADOWTRACE_GATE_MEASURE_H

#include "gate/calls.h"
#include "gate/lines.h"

struct gate_options {
    const struct cli_command *command;
    struct reading_options reading;
    struct args_list symbols, own_code;
    bool texts; /* with the source of lines: always but where only sums are wanted */
};

struct gate_amount {
    double value, low, high; /* INFINITY: not known */
    const char *why;         /* the interval is open; NULL: it is not, or sampling made it */
    bool sampled;
};

/* What a log has of a limit, or of one of its other lines. */
struct gate_measured {
    struct gate_amount amounts[BUDGET_MEASURES];
    uint32_t line;      /* of the limit: index in lines; GATE_NO_LINE */
    const char *absent; /* the method or type is not in the log; NULL: it is, or is none */
};
struct gate_other {
    uint32_t limit;
    struct gate_measured measured;
};

struct gate_run {
    const struct gate_options *options;
    const struct budget *budget;
    const char *log;
    struct loading l;
    struct gate_lines lines;
    uint32_t *matched;            /* by limit: its line, or GATE_NO_LINE */
    struct gate_measured *limits; /* by limit */
    struct gate_other *others;    /* lines that no limit names, each with something */
    size_t other_count, other_capacity;
    bool incomplete, doubtful;    /* doubtful: what was read may be in the log twice */
    struct buffer gaps;           /* if incomplete: what is missing */
    const char *lacks;            /* why there may be more than it has; NULL: there is not */
    struct log_sampling sampling; /* what came before samples counted may be of any line */
    const char *late;             /* in words; NULL: nothing came before */
    const char *no_lines;         /* why lines cannot be told; NULL: they can */
    char **texts;                 /* reasons */
    size_t text_count, text_capacity;
    struct log_marks marks; /* read if a limit asks */
    bool has_marks;
    struct gate_spans *spans;
};

/*
 * gate_run_read - reads the log; gate_run_measure - holds it against the limits of a budget, which
 * may have grown since by limits that gate_run knows how to name (learn.h).
 * Return: CLI_OK; else a line has said why. Owns: *run must not move; gate_run_free in any case.
 */
int gate_run_read(struct gate_run *run, const struct gate_options *options,
                  const struct budget *budget, const char *log);
int gate_run_measure(struct gate_run *run);
void gate_run_free(struct gate_run *run);

/* A text that lives as long as the run; without memory a shorter one. */
const char *gate_run_text(struct gate_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
