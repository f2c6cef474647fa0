/*
 * readers/complete.h - whether what was read is all that was recorded and, if not, what is missing.
 * Decided here and nowhere else: report_log counts what it reads in a tally, a recording that is
 * over is held against what its end record says, and every command prints the same gaps
 * (command/print_complete.h). A log is complete without any.
 */
#ifndef SHADOWTRACE_READERS_COMPLETE_H
#define SHADOWTRACE_READERS_COMPLETE_H

#include "readers/record.h"

/* X(enumerator, word in JSON). What `what`, `count` and `of` of a gap mean stands behind each. */
#define REPORT_GAPS(X) \
    X(NO_HEADER, "no_header")        /* files whose first line is no header */ \
    X(NO_END, "no_end")              /* recordings without an end record; what: the exception */ \
                                     /* that ended it, by: its message */ \
    X(CUT, "cut")                    /* files that end within a line or within compressed data */ \
    X(DAMAGED, "damaged")            /* lines that could not be used */ \
    X(HEADER_AGAIN, "header_again")  /* headers of the same part behind a file's first line */ \
    X(SEVERAL, "several_recordings") /* recordings behind the first of a file */ \
    X(AFTER_END, "after_end")        /* lines behind the end record */ \
    X(PARTS, "parts_missing")        /* parts of the recording that were not read; what: which */ \
    X(ROTATED_OUT, "rotated_out")    /* parts that are gone; of: allocations in them */ \
    X(MISSING, "missing")            /* what: the kind; count of `of` are not there */ \
    X(EXTRA, "extra")                /* what: the kind; count beyond the `of` that were written */ \
    X(UNDEFINED, "undefined")        /* ids that lines name and nothing defines */ \
    X(LOST, "lost")                  /* what: alloc or an event category; by: the reason */ \
    X(NOT_WRITTEN, "not_written")    /* what: the kind of lines */ \
    X(PATHS, "paths_not_kept")       /* allocations without their call path; of: paths refused */ \
    X(NAMES, "names_failed")         /* names that the runtime did not give */ \
    X(OFF, "off")                    /* what: a feature that this runtime turned off */ \
    X(UNPATCHED, "unpatched")        /* parts of CoreLib's allocation path that are unknown */ \
    X(INLINED, "inlined_unknown")    /* bodies of own code whose inlined methods are unknown */ \
    X(SAMPLER, "no_sampler")         /* the runtime took no samples; what: why not */ \
    X(FILE, "file")                  /* what: removed, replaced, truncated; count: bytes */

#define REPORT_GAP_ENUMERATOR(name, word) REPORT_GAP_##name,
enum report_gap_kind { REPORT_GAPS(REPORT_GAP_ENUMERATOR) REPORT_GAP_COUNT };
#undef REPORT_GAP_ENUMERATOR

const char *report_gap_word(enum report_gap_kind kind);

struct report_gap {
    enum report_gap_kind kind;
    char what[120], by[160]; /* "" none; as the log has them, cut to fit */
    uint64_t count, of;
};

/* Gaps of the same kind, `what` and `by` are one. */
#define REPORT_GAPS_MAX 128
struct report_completeness {
    struct report_gap gaps[REPORT_GAPS_MAX];
    size_t count;
    uint64_t more; /* that had no room: the log is as incomplete, they are not told one by one */
};

bool report_complete(const struct report_completeness *c);
const struct report_gap *report_gap_of(const struct report_completeness *c,
                                       enum report_gap_kind kind); /* the first one, or NULL */
/* what and by may be NULL. A count of 0 is no gap. */
void report_gap_add(struct report_completeness *c, enum report_gap_kind kind, const char *what,
                    const char *by, uint64_t count, uint64_t of);

/* What of a recording is gone from all its parts, as its latest header or its end record has it. */
struct report_rotated {
    uint64_t parts, allocs, bytes, records[SST_KIND_COUNT];
};

/* What was read of one recording, over all parts. */
struct report_tally {
    bool begun, ended;
    uint64_t records[SST_KIND_COUNT];
    uint64_t allocs, bytes; /* of alloc and site lines */
    uint64_t cut;           /* allocations whose path was not kept */
    uint64_t entered;       /* calls */
    uint64_t part, skipped; /* the latest part; parts between those that were read */
    uint64_t first, last;   /* the first part; the latest that there is, read or not */
    struct report_rotated rotated;
    bool followed; /* while it was written: parts were read that are gone since (follow/follow.h) */
};

/* report_tally_record - count a line that was used. Those of hot kinds cost three additions. */
void report_tally_slow(struct report_tally *t, const struct report_record *record);
static inline void report_tally_record(struct report_tally *t, const struct report_record *r)
{
    t->records[r->kind]++;
    if (r->kind == SST_KIND_ALLOC || r->kind == SST_KIND_SITE) {
        t->allocs += r->alloc.allocs;
        t->bytes += r->alloc.bytes;
        t->cut += r->alloc.cut ? r->alloc.allocs : 0;
    } else if (r->kind != SST_KIND_NODE) {
        report_tally_slow(t, r);
    }
}

/*
 * report_tally_settle - the recording is over, as far as it was read: its gaps are added to c. end
 * is its end record, or NULL; unhandled its last line of that kind, or NULL.
 */
void report_tally_settle(const struct report_tally *tally, const json_t *end,
                         const json_t *unhandled, struct report_completeness *c);

/*
 * What a recording says that it lost, each an object of counts or NULL: allocations by reason
 * (`lost` of them altogether, if that is more), other events by category, lines that were not
 * written by kind.
 */
struct report_losses {
    uint64_t lost;
    const json_t *lost_by, *others, *not_written;
};
void report_losses_settle(const struct report_losses *losses,
                          struct report_completeness *completeness);

/* A feature that a runtime newer than this version of shadowtrace may turn off (`off`). */
struct report_feature {
    const char *name, *off; /* what its being off means, in a sentence */
};

#define REPORT_FEATURES 3
extern const struct report_feature report_features[REPORT_FEATURES];

/* Event families (`events` of the end record) whose lines are of one kind each. */
struct report_family_kind {
    const char *family;
    enum sst_kind kind;
};

#define REPORT_FAMILY_KINDS 9
extern const struct report_family_kind report_family_kinds[REPORT_FAMILY_KINDS];

#endif
