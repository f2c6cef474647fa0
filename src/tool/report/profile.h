/*
 * report/profile.h - samples of stacks (record --profile), added up by call path, for each source
 * apart.
 */
#ifndef SHADOWTRACE_REPORT_PROFILE_H
#define SHADOWTRACE_REPORT_PROFILE_H

#include "readers/log.h"

enum report_profiler { REPORT_SHADOW, REPORT_SNAPSHOT, REPORT_SOURCES };
const char *report_profiler_name(enum report_profiler source);

struct report_profile_source {
    uint64_t samples, approximate; /* records of the log */
    uint64_t *by_path;             /* samples by number of log_defs' paths */
    size_t paths;
    json_t *figures; /* the last profile record of this source; NULL: none */
};

struct report_profile {
    struct report_profile_source source[REPORT_SOURCES];
};

/* One method's share of the samples of a source. */
struct report_profile_row {
    uint32_t method; /* number of log_defs; 0: no managed frame is certain */
    uint64_t self[REPORT_SOURCES], total[REPORT_SOURCES];
};

void report_profile_fini(struct report_profile *p); /* of one that was zeroed at first */
bool report_profile_any(const struct report_profile *p);

/* Takes sample and profile records. Returns: 0; -EBADMSG with a problem noted; -ENOMEM. */
int report_profile_add(struct report_profile *p, struct log_defs *defs,
                       const struct log_record *record);

/*
 * report_profile_rows - by method, most samples in it first (of the first source that has any).
 * Returns: 0 and *rows, to be freed with memory_free; -ENOMEM.
 */
int report_profile_rows(const struct report_profile *p, const struct log_defs *defs,
                        struct report_profile_row **rows, size_t *count);

/* What both profiles share: the sum over methods of the lesser share of self samples, 0 to 1. */
double report_profile_overlap(const struct report_profile *p, const struct report_profile_row *rows,
                              size_t count);

/* ns that `share` (0 to 1) of a source's moments did not exceed; 0 without figures. */
uint64_t report_profile_quantile(const struct report_profile_source *source, double share);
uint64_t report_profile_figure(const struct report_profile_source *source, const char *key);

#endif
