/*
 * report/processes.h - the processes that logs are of: one for each recording, in the order in
 * which they were read, with what its header and its end say of it, and which started which.
 */
#ifndef SHADOWTRACE_REPORT_PROCESSES_H
#define SHADOWTRACE_REPORT_PROCESSES_H

#include "readers/index.h"
#include "terminal/forest.h"

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process is named by its number and its birth, in ticks since the machine started. */
struct report_process_key {
    uint64_t pid, born;
};

/* One that another comes from, with a log or without. */
struct report_process_parent {
    struct report_process_key key;
    char *name; /* as the system calls it; NULL: not said */
};

struct report_process {
    uint64_t pid;
    uint64_t born;  /* 0: not said, as in older logs, and then it has no parents */
    uint64_t clock; /* ns of the machine's monotonic clock when the recording began; 0: not said */
    uint64_t ran;   /* ns that it was recorded for; 0: its log has no end */
    char *name;     /* of the program, without .dll; NULL: not said */
    char *command;  /* its command line, words with blanks between; NULL: not said */
    char *started;  /* by the wall clock, RFC 3339; NULL: not said */
    struct report_process_parent *parents; /* who started it, then who started that one, ... */
    size_t parent_count;
};

struct report_processes {
    struct report_process *process;
    size_t count, capacity;
    /* By key the first of its logs: a process that was attached to twice has two. */
    struct report_process_known *known;
    size_t known_count, known_capacity;
    struct index index;
};

#define REPORT_PROCESS_NONE SIZE_MAX

/*
 * report_processes_begin - another one, by its header. Returns: 0 or -ENOMEM.
 * report_processes_end - the last one ended in order, `t` ns after its recording began.
 */
int report_processes_begin(struct report_processes *p, const json_t *header);
void report_processes_end(struct report_processes *p, uint64_t t);
void report_processes_fini(struct report_processes *p);

/*
 * report_process_parent - the nearest of those that `number` comes from that has a log here.
 * Numbers are places in `process`.
 * Returns: its number; *between is how many without a log, the first ones of `parents`, came in
 *          between. REPORT_PROCESS_NONE: none of them has one, or the log does not say.
 */
size_t report_process_parent(const struct report_processes *p, size_t number, size_t *between);
const char *report_process_between(const struct report_process *p, size_t which); /* its name */

/*
 * report_processes_forest - each below the one that started it: those that `order` names by their
 * places, and those that they come from; order NULL: all, as they were read.
 * Returns: 0 or -ENOMEM. Owns: forest_fini, also after a failure.
 */
int report_processes_forest(const struct report_processes *p, const uint32_t *order, size_t asked,
                            struct forest *out);

/* report_processes_first - clock of the one that began first; 0: not said. */
uint64_t report_processes_first(const struct report_processes *p);

/*
 * report_process_name - "MSBuild" of "MSBuild.dll". Returns: NULL: the header has none, or there is
 * no memory. Owns: memory_free.
 */
char *report_process_name(const json_t *header);

/* Which of them called themselves PATTERN: whether the name of a header's program matches. */
bool report_process_is(const json_t *header, const char *pattern);

#endif
