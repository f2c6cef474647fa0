/*
 * shipper/send.h - one sending: in a copy of the process (job/job.h) the minutes of a source
 * that have changed become rows and go to the server; the process itself goes on reading.
 */
#ifndef SHADOWTRACE_SHIPPER_SEND_H
#define SHADOWTRACE_SHIPPER_SEND_H

#include "export/rows.h"
#include "job/job.h"
#include "ship/options.h"
#include "shipper/http.h"
#include "shipper/source.h"

#define SEND_SCHEMA 3 /* version of examples/fleet/clickhouse/schema.sql */

struct sending {
    const struct ship_options *options;
    const struct http_target *target;
    struct export_rows *rows; /* knows what definitions the server has */
    struct source *source;
    bool check; /* the version of its tables first */
};

/* send_work - a job's work. It writes what the server knows now, for export_rows_learn. */
int send_work(void *sending, FILE *out, char why[JOB_WHY_SIZE]);

/* send_print - the rows to a file, in this process: what is left of the source is of no use. */
int send_print(const struct sending *s, FILE *out);

#endif
