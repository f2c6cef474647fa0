/*
 * report/live.h - what collections found of the objects of a log that was recorded with --live: by
 * site what was alive after a collection, what survived its first one, and what died when.
 *
 * Alive is what is not known to be dead: a collection looks at the generations that it collects
 * (large and pinned objects: with the oldest), and says nothing of others. Sums rest on live_total
 * lines, which stand behind what they sum up; a moment means the last of them up to it.
 */
#ifndef SHADOWTRACE_REPORT_LIVE_H
#define SHADOWTRACE_REPORT_LIVE_H

#include "readers/defs.h"
#include "readers/marks.h"

/* What is asked; struct report_live_sums says what of it goes where. */
enum report_live_question {
    REPORT_LIVE_NONE,      /* only what live_total lines say */
    REPORT_LIVE_AT,        /* alive at a moment */
    REPORT_LIVE_PEAK,      /* alive after the collection that left most */
    REPORT_LIVE_END,       /* the last one, and what was allocated after it */
    REPORT_LIVE_GROWN,     /* between two moments */
    REPORT_LIVE_TEMPORARY, /* dead at the first collection */
    REPORT_LIVE_LIFETIMES  /* when they died */
};

/*
 * Of a site or a cell, bytes and objects.
 *
 *              live                          beside
 *     AT, PEAK alive then
 *     END      alive after the last one      allocated after it
 *     GROWN    alive at the second moment    alive at the first
 *     TEMPORARY survived their first one     did not
 *     LIFETIMES alive at the end             dead at their first one
 */
struct report_live_sums {
    double bytes, allocs, beside_bytes, beside_allocs;
};

/*
 * Beside them, of estimates: variances of bytes, and of what END and GROWN have beside; and what is
 * asked for as a difference of two that are independent, with `less_bytes` taken off. GROWN: what
 * came and what went, or what there is and was, whichever is known better. TEMPORARY, LIFETIMES (of
 * what died young): what was allocated and what survived.
 */
struct report_live_spread {
    double variance, beside_variance, less_bytes, of_variance, less_variance;
};

/* The part of one recording that a question is about: between two of its live_total lines. */
struct report_live_span {
    uint64_t from, to; /* of all of the log, counted from 1; from 0: the beginning; to 0: none */
    struct log_collection first, last; /* those; of 0 all 0 */
    /*
     * The log has the sums of at most one collection a second, or behind a mark. Collections behind
     * `first` and `last` that it has no sums of, and that may have run before the moment asked for;
     * with PEAK all up to that moment.
     */
    uint64_t missed_first, missed;
};

struct report_live_spans {
    struct report_live_span *spans; /* by recording: 1 is the first */
    size_t count;
};

/* A bound: a moment, or the number of a collection. */
struct report_live_bound {
    bool given, is_gc;
    uint64_t gc;
    struct log_moment at;
};

/*
 * report_live_choose - which collections a question means, of a log whose marks were read.
 * Returns: 0 or -ENOMEM. Owns: *out is the caller's until report_live_spans_fini.
 */
int report_live_choose(const struct log_marks *marks, enum report_live_question question,
                       const struct report_live_bound *from, const struct report_live_bound *to,
                       struct report_live_spans *out);
void report_live_spans_fini(struct report_live_spans *spans); /* also of all 0 */

/* What is read goes by site, not by cell. */
struct report_live_site {
    uint32_t path, class_number;
    int32_t il;
    bool unoptimised;
    double bytes, allocs; /* alive, as far as was read, and at most up to the end of the span */
    /* GROWN: alive at its beginning; TEMPORARY, LIFETIMES: what survived within it. */
    double beside_bytes, beside_allocs;
};

/* The same of estimates. */
struct report_live_more {
    double came_bytes, came_allocs, went_bytes, went_allocs; /* GROWN: within the span */
    double mean; /* bytes a sample; 0: all objects were followed */
};

#define REPORT_LIVE_AGES        15 /* collections survived: at most this many, or more */
#define REPORT_LIVE_GENERATIONS 5  /* 0, 1, 2, large, pinned */

/* What died after it had survived; of a site, later of a cell. */
struct report_live_death {
    uint32_t number;
    uint16_t generation, age;
    double bytes, allocs, variance; /* variance: of bytes, in the end */
};

/*
 * What a line, not of an opening, says of the objects of a site. Of a live_total site is
 * UINT32_MAX, and survived all that is alive after it.
 */
struct report_live_change {
    uint32_t site;      /* later a cell */
    uint32_t recording; /* 1, 2, ... of those that have a live_total, of all logs */
    uint64_t t;         /* ns, of a live_total: the lines before it are as of then; else 0 */
    double survived_bytes, survived_allocs, died_bytes, died_allocs;
};

/* A site that grows, as the last live_total says: of GROWN up to the second moment. */
struct report_live_growing {
    uint32_t site; /* later a cell, of those before some went */
    uint32_t cell; /* UINT32_MAX: it went */
    double looks, allocs;
};

struct report_live {
    enum report_live_question question;
    bool keeps_changes; /* set by the caller: all, in the order of the log, and what grows */
    struct report_live_change *changes;
    size_t change_count, change_capacity;
    const struct report_live_spans *spans; /* of the log being read; NULL: all, to its end */
    struct report_live_site *sites;        /* of all recordings */
    struct report_live_more *more;         /* beside them; NULL: none is an estimate */
    size_t count, capacity, first;         /* first: of the recording being read */
    size_t more_capacity;
    struct log_id_map ids;
    struct report_live_death *deaths; /* LIFETIMES */
    size_t death_count, death_capacity;
    struct index death_index;
    struct report_live_growing *growing;
    size_t growing_count, growing_capacity, growing_first; /* first: of the recording being read */
    double bytes, allocs;                                  /* alive in the recording being read */
    uint64_t seen;                       /* live_total lines of the log being read */
    uint64_t lines;                      /* live and live_total lines, of all logs */
    uint64_t recording;                  /* being read */
    bool opened, wrong;                  /* an opening has begun; a sum was wrong */
    double first_mean, mean, most_bytes; /* of the recording being read, of estimates */
    bool over;                           /* its end record says what the mean came to */
    double most_mean;                    /* of all recordings; 0: no sum is an estimate */
    bool approximate;                    /* some were taken from ticks: nobody knows the error */
    struct log_collection last, peak;    /* of the recording being read, or of the newest */
    uint64_t totals;                     /* live_total lines of that recording */
    uint64_t ended;                      /* recordings that have some, and are over: */
    double ended_bytes, ended_allocs;    /* sums of their last ones */
    double peaked_bytes, peaked_allocs;
    uint64_t collections;       /* live_total lines of all logs, openings apart */
    enum sst_live_why why;      /* the first reason that any sum used is not exact */
    struct report_live_span at; /* of the first recording that was asked of */
    uint64_t asked;             /* recordings that have an `at` */
};

/* When an allocation was made, beside the span of its recording. */
enum report_live_when { REPORT_LIVE_BEFORE, REPORT_LIVE_WITHIN, REPORT_LIVE_BEHIND };

void report_live_init(struct report_live *l, enum report_live_question question);
void report_live_fini(struct report_live *l);

/* report_live_begin - a log is read next; spans are borrowed until this is called again. */
void report_live_begin(struct report_live *l, const struct report_live_spans *spans);

/*
 * report_live_recording - a header came: of which recording.
 * Returns: 0 or -ENOMEM.
 * report_live_mean      - a record came that may say how its samples are thinned: config or end.
 */
int report_live_recording(struct report_live *l, uint64_t recording, const json_t *header);
void report_live_mean(struct report_live *l, const struct log_record *r);

/*
 * report_live_take - a live_site, live or live_total line. Returns: 0; -EBADMSG: unusable, noted as
 * a problem; -ENOMEM.
 */
int report_live_take(struct report_live *l, struct log_defs *defs, const struct log_record *r);

enum report_live_when report_live_when(const struct report_live *l, const struct log_record *r);

/* report_live_end - nothing is read any more: sites have their sums. */
void report_live_end(struct report_live *l);
/* report_live_sums_of - as they go into a cell, beside what its allocations gave. */
struct report_live_sums report_live_sums_of(const struct report_live *l,
                                            const struct report_live_site *site);
/*
 * report_live_bound - an interval of a sum of bytes whose sites are not known, where they are
 * estimates: the widest that any could have. Returns: whether they are.
 */
struct report_amount;
bool report_live_bound(const struct report_live *l, double bytes, struct report_amount *out);
struct report_live_spread report_live_spread_of(const struct report_live *l, size_t site);
/* report_live_forget - the sites: cells have what is known of them. */
void report_live_forget(struct report_live *l);

/* In words: what the bytes of a question are called, what they are of, what nobody can know. */
struct report_live_words {
    const char *amount, *what, *unknown;
};
const struct report_live_words *report_live_words(enum report_live_question question);
const char *report_live_why(const struct report_live *l); /* it is not exact; NULL: it is */

#endif
