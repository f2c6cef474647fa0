/*
 * readers/complete.h - whether what was read is all that was recorded and, if not, what is missing.
 * Decided here and nowhere else: log_input counts what it reads in a tally, a recording that is
 * over is held against what its end record says, and every command prints the same gaps
 * (command/print_complete.h). A log is complete without any.
 */
#ifndef SHADOWTRACE_READERS_COMPLETE_H
#define SHADOWTRACE_READERS_COMPLETE_H

#include "readers/record.h"

/* X(enumerator, word in JSON). What `what`, `count` and `of` of a gap mean stands behind each. */
#define LOG_GAPS(X) \
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

#define LOG_GAP_ENUMERATOR(name, word) LOG_GAP_##name,
enum log_gap_kind { LOG_GAPS(LOG_GAP_ENUMERATOR) LOG_GAP_COUNT };
#undef LOG_GAP_ENUMERATOR

const char *log_gap_word(enum log_gap_kind kind);

struct log_gap {
    enum log_gap_kind kind;
    char what[120], by[160]; /* "" none; as the log has them, cut to fit */
    uint64_t count, of;
};

/* Gaps of the same kind, `what` and `by` are one. */
#define LOG_GAPS_MAX 128
struct log_completeness {
    struct log_gap gaps[LOG_GAPS_MAX];
    size_t count;
    uint64_t more; /* that had no room: the log is as incomplete, they are not told one by one */
};

bool log_complete(const struct log_completeness *c);
const struct log_gap *log_gap_of(const struct log_completeness *c,
                                 enum log_gap_kind kind); /* the first one, or NULL */
/* what and by may be NULL. A count of 0 is no gap. */
void log_gap_add(struct log_completeness *c, enum log_gap_kind kind, const char *what,
                 const char *by, uint64_t count, uint64_t of);

/* What of a recording is gone from all its parts, as its latest header or its end record has it. */
struct log_rotated {
    uint64_t parts, allocs, bytes, records[SST_KIND_COUNT];
};

/* What was read of one recording, over all parts. */
struct log_record_tally {
    bool begun, ended;
    uint64_t records[SST_KIND_COUNT];
    uint64_t allocs, bytes; /* of alloc and site lines */
    uint64_t cut;           /* allocations whose path was not kept */
    uint64_t entered;       /* calls */
    uint64_t part, skipped; /* the latest part; parts between those that were read */
    uint64_t first, last;   /* the first part; the latest that there is, read or not */
    struct log_rotated rotated;
    bool followed; /* while it was written: parts were read that are gone since (follow/follow.h) */
};

/* log_record_tally_add - count a line that was used. Those of hot kinds cost three additions. */
void log_record_tally_slow(struct log_record_tally *t, const struct log_record *record);
static inline void log_record_tally_add(struct log_record_tally *t, const struct log_record *r)
{
    t->records[r->kind]++;
    if (r->kind == SST_KIND_ALLOC || r->kind == SST_KIND_SITE) {
        t->allocs += r->alloc.allocs;
        t->bytes += r->alloc.bytes;
        t->cut += r->alloc.cut ? r->alloc.allocs : 0;
    } else if (r->kind != SST_KIND_NODE) {
        log_record_tally_slow(t, r);
    }
}

/*
 * log_record_tally_settle - the recording is over, as far as it was read: its gaps are added to c.
 * end is its end record, or NULL; unhandled its last line of that kind, or NULL.
 */
void log_record_tally_settle(const struct log_record_tally *tally, const json_t *end,
                             const json_t *unhandled, struct log_completeness *c);

/*
 * What a recording says that it lost, each an object of counts or NULL: allocations by reason
 * (`lost` of them altogether, if that is more), other events by category, lines that were not
 * written by kind.
 */
struct log_losses {
    uint64_t lost;
    const json_t *lost_by, *others, *not_written;
};
void log_losses_settle(const struct log_losses *losses, struct log_completeness *completeness);

/* A feature that a runtime newer than this version of shadowtrace may turn off (`off`). */
struct log_feature {
    const char *name, *off; /* what its being off means, in a sentence */
};

#define LOG_FEATURES 3
extern const struct log_feature log_features[LOG_FEATURES];

/* Event families (`events` of the end record) whose lines are of one kind each. */
struct log_kind_of_family {
    const char *family;
    enum sst_kind kind;
};

#define LOG_KINDS_OF_FAMILIES 9
extern const struct log_kind_of_family log_kinds_of_families[LOG_KINDS_OF_FAMILIES];

#endif
