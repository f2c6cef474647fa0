/*
 * report/checks.h - how the shadow stack compared with the snapshot, and what each capture cost:
 * from the check, mismatch, repair and end records of a log. Those are cumulative, so any prefix of
 * a log gives what held until then.
 */
#ifndef SHADOWTRACE_REPORT_CHECKS_H
#define SHADOWTRACE_REPORT_CHECKS_H

#include "readers/natives.h"
#include "report/profile.h"
#include "report/cells.h"

/*
 * Times of one capture: [ns, count] pairs as logged (ns is a bucket's middle), by rising ns once
 * finished.
 */
struct report_histogram {
    struct report_bucket {
        uint64_t ns, count;
    } * buckets;
    size_t size, capacity;
    uint64_t count;
    uint64_t sum; /* ns: exact where the log gives it, else from the buckets' middles */
};

struct report_depth {
    uint64_t from, to; /* frames */
    uint64_t count;
    uint64_t shadow_ns, snapshot_ns; /* sums */
};

#define REPORT_COUNTER(form, member, label) SST_NUMBER_##form(uint64_t member;)

/* One thread's share. shadow_ns and snapshot_ns are sums. */
struct report_thread_checks {
    SST_COUNTERS_CHECK_THREAD(REPORT_COUNTER)
};

/* The first mismatch of a cause. Stacks are method numbers, leaf first. */
struct report_mismatch {
    char cause[40];
    struct log_place at;
    uint32_t thread, class_number; /* numbers of log_defs; thread + 1, 0 not said */
    uint64_t first; /* index of the first frame that differs, counted from the root */
    uint32_t *shadow, *snapshot;
    size_t shadow_size, snapshot_size;
    struct log_native *natives; /* --native: of the snapshot, youngest first */
    size_t native_count;
    char refused[20];  /* HRESULT, or "" */
    char repairs[120]; /* rules that touched the stack, separated by ", " */
};

/* --native: a snapshot that was logged, with native frames. Leaf first. */
struct report_native_stack {
    struct log_place at;
    uint32_t *stack; /* numbers of methods */
    size_t size;
    struct log_native *natives;
    size_t native_count, runs;
};

#define REPORT_MISMATCHES 16

struct report_checks {
    bool any; /* the log has a check record, or an end record that says what was compared */
    SST_COUNTERS_SNAPSHOTS(REPORT_COUNTER)
    json_t *refused_by, *mismatched_by, *repairs; /* objects of name: count */
    /* Other counters of check records, as logged; once finished, snapshots and repairs too. */
    json_t *sections;
    struct report_histogram shadow, snapshot;
    struct report_depth *depths;
    size_t depth_count, depth_capacity;
    struct report_thread_checks *threads; /* by number of log_defs; all 0: it had none */
    size_t thread_count, thread_capacity;
    bool has_hooks;
    uint64_t hook_calls;
    double hook_ns_per_pair; /* 0: not measured */
    struct report_mismatch mismatches[REPORT_MISMATCHES];
    size_t mismatch_count;
    struct log_native_images images;
    struct report_native_stack native_stack; /* the first of those with the most native runs */
    uint64_t allocs;                         /* events of the log */
    struct report_profile profile;

    /* of the recording being read; the sums above get them when it is over */
    json_t *check, *end, *counts, *seen_by;
    uint64_t mismatch_records;
    struct log_recording recording;
    struct log_defs defs;
    struct log_input log;
    struct log_consumer consumer;
    struct report_cells *attribution; /* set by the caller, borrowed: gets every record too; NULL */
};

/* report_checks_init - Returns: 0 or -ENOMEM; then, too, report_checks_fini releases c. */
int report_checks_init(struct report_checks *c, struct log_problems *problems);
void report_checks_fini(struct report_checks *c);

/*
 * report_checks_read - add a log. Returns: as log_input_read. Then, once, report_checks_finish: 0
 * or -ENOMEM.
 */
int report_checks_read(struct report_checks *c, const char *path);
int report_checks_read_lines(struct report_checks *c, struct log_lines *lines, const char *file);
int report_checks_finish(struct report_checks *c);

/* report_checks_count - of a section; 0: the log has none, or it does not have that. */
uint64_t report_checks_count(const struct report_checks *c, const char *section, const char *key);

/* The time that `share` (0 to 1) of the captures do not exceed; 0 for an empty histogram. */
uint64_t report_quantile(const struct report_histogram *h, double share);
double report_mean(const struct report_histogram *h);

#endif
