/*
 * gate/judge.h - logs held against a budget. Each limit has one verdict over all logs, for each of
 * its measures: broken if a log proves that it has more; else not judged if a log cannot prove that
 * it has no more; else held. What a log cannot tell is never held.
 */
#ifndef SHADOWTRACE_GATE_JUDGE_H
#define SHADOWTRACE_GATE_JUDGE_H

#include "gate/measure.h"

enum gate_verdict { GATE_HELD, GATE_NOT_JUDGED, GATE_BROKEN, GATE_VERDICTS };

/* A limit's measure, or that of a line which only the limit of other lines is about. */
struct gate_finding {
    uint32_t limit;
    enum budget_measure measure;
    enum gate_verdict verdict;
    double max;
    double value, low, high; /* of the log that decided: the one with most */
    bool sampled;
    size_t logs;     /* with that verdict */
    const char *log; /* that decided */
    const char *why; /* not judged: what the log lacks; else NULL */
    bool is_other;   /* a line that no limit names */
    /* Where it is, if it is a place; texts, NULL not known. */
    const char *method; /* full name */
    const char *path;   /* as people and tools find it: told from the root */
    uint32_t line;      /* 0 not known */
    uint32_t line_last; /* as in struct gate_line */
    const char *text;   /* of the line */
};

struct gate_judgement {
    const struct budget *budget;
    struct gate_finding *findings; /* by limit, as the budget has them, then measure */
    size_t count, capacity;
    size_t verdicts[GATE_VERDICTS];
    size_t logs;
    char **texts;
    size_t text_count, text_capacity;
    const char *root; /* paths are relative to it */
};

/* root: an absolute folder without a slash at its end, borrowed. */
void judge_begin(struct gate_judgement *j, const struct budget *b, const char *root);
void judge_free(struct gate_judgement *j);

/* judge_take - a log that was measured. Returns: 0 or -ENOMEM. Owns: nothing of the run is kept. */
int judge_take(struct gate_judgement *j, const struct gate_run *run);

/* judge_end - all logs were taken: findings are in order. Returns: the worst verdict. */
enum gate_verdict judge_end(struct gate_judgement *j);

#endif
