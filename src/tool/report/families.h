/*
 * report/families.h - what a log tells of event families (--events): exceptions by where they are thrown and by who
 * catches them, collections with what was allocated between them, compilations by method, suspensions by reason,
 * calls by method.
 */
#ifndef SHADOWTRACE_REPORT_FAMILIES_H
#define SHADOWTRACE_REPORT_FAMILIES_H

#include "report/call_times.h"
#include "report/collections.h"
#include "readers/log.h"

enum families_topic {
    FAMILIES_EXCEPTIONS,
    FAMILIES_GC,
    FAMILIES_JIT,
    FAMILIES_SUSPENSIONS,
    FAMILIES_CALLS,
};

/* One row of a table; which members mean something the table says. */
struct families_row {
    uint32_t a, b; /* numbers: see the table */
    char *name;    /* or NULL */
    uint64_t count;
    uint64_t ns, max; /* sum and longest */
    uint64_t more[4];
};

struct families_table {
    struct families_row *rows;
    size_t count, capacity;
    size_t named;       /* rows that have a name */
    struct index index; /* over the key */
};

struct families_report {
    enum families_topic topic;
    struct report_defs defs;
    struct report_log log;
    /*
     * exceptions: a class, b path of the throw; more: caught, native, swallowed, superseded; ns until the end
     * jit:        a method, or name; more: first, tier1 or again, rejit, failed
     * suspend:    name; more[0]: ns until all had stopped
     * calls:      a method; ns in it and what it called, more[0]: ns in it alone, more[1]: unwound
     */
    struct families_table table;
    struct families_table catchers; /* exceptions: a class, b method */
    struct collections collections; /* gc */
    uint64_t missing;               /* calls that are not in the log */
    /* while reading */
    struct report_ids thrown; /* row by id of the exception */
    bool second;              /* gc: the pass over the allocations */
    struct report_call_times calls;
    int (*record)(struct families_report *f, const struct report_record *record);
};

int families_report_init(struct families_report *f, enum families_topic topic,
                         struct report_problems *problems); /* 0 or -ENOMEM */
void families_report_fini(struct families_report *f);       /* also after a failed init */

/*
 * families_report_read - read one log; for FAMILIES_GC twice. Returns: as report_log_read. Tables are sorted then, the
 * largest first: by ns, exceptions by count.
 */
int families_report_read(struct families_report *f, const char *path,
                         void (*progress)(void *, uint64_t, uint64_t), void *progress_context);

#endif
