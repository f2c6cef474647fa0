/*
 * report/events.h - what a log tells of events by category (--events): exceptions by where they are
 * thrown and by who catches them, collections with what was allocated between them, compilations by
 * method, suspensions by reason, calls by method.
 */
#ifndef SHADOWTRACE_REPORT_EVENTS_H
#define SHADOWTRACE_REPORT_EVENTS_H

#include "report/call_times.h"
#include "report/collections.h"
#include "readers/log.h"

enum events_topic {
    EVENTS_EXCEPTIONS,
    EVENTS_GC,
    EVENTS_JIT,
    EVENTS_SUSPENSIONS,
    EVENTS_CALLS,
};

/* One row of a table; which members mean something the table says. */
struct events_row {
    uint32_t a, b; /* numbers: see the table */
    char *name;    /* or NULL */
    uint64_t count;
    uint64_t ns, max; /* sum and longest */
    uint64_t more[4];
};

struct events_table {
    struct events_row *rows;
    size_t count, capacity;
    size_t named;       /* rows that have a name */
    struct index index; /* over the key */
};

struct events_report {
    enum events_topic topic;
    struct log_defs defs;
    struct log_input log;
    /*
     * exceptions: a class, b path of the throw; ns until the end;
     *             more: caught, native, swallowed, superseded
     * jit:        a method, or name; more: first, tier1 or again, rejit, failed
     * suspend:    name; more[0]: ns until all had stopped
     * calls:      a method; ns in it and what it called, more[0]: ns in it alone, more[1]: unwound
     */
    struct events_table table;
    struct events_table catchers;   /* exceptions: a class, b method */
    struct collections collections; /* gc */
    uint64_t missing;               /* calls that are not in the log */
    /* while reading */
    struct log_id_map thrown; /* row by id of the exception */
    bool second;              /* gc: the pass over the allocations */
    struct report_call_times calls;
    int (*record)(struct events_report *f, const struct log_record *record);
};

int events_report_init(struct events_report *f, enum events_topic topic,
                       struct log_problems *problems); /* 0 or -ENOMEM */
void events_report_fini(struct events_report *f);      /* also after a failed init */

/*
 * events_report_read - read one log; for EVENTS_GC twice. Returns: as log_input_read. Tables are
 * sorted then, the largest first: by ns, exceptions by count.
 */
int events_report_read(struct events_report *f, const char *path,
                       void (*progress)(void *, uint64_t, uint64_t), void *progress_context);

#endif
