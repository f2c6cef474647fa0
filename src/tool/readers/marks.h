/*
 * readers/marks.h - the marks that somebody set while a log was recorded, and the part of a log
 * between two of them.
 */
#ifndef SHADOWTRACE_READERS_MARKS_H
#define SHADOWTRACE_READERS_MARKS_H

#include "readers/record.h"

/* A moment of a log, which may hold several recordings. */
struct log_moment {
    uint64_t recording; /* 1, 2, ...; parts of one recording are one */
    uint64_t t;         /* ns of its clock */
    uint64_t line;      /* of the mark: a record without a time is before or after it */
};

struct log_mark_record {
    char *text;
    struct log_moment at;
};

/* What a live_total says: all that was alive after a collection. */
struct log_collection {
    struct log_moment at;
    uint64_t gc, full; /* numbers from 1; full: of the last one of generation 2 so far, 0 none */
    uint64_t allocs, bytes, pause;
    unsigned depth;
    enum sst_live_why why; /* why the sums up to here are not exact; SST_LIVE_EXACT: they are */
    bool opening;          /* of a part: the same again */
};

/* log_collection_of - of a live_total's record; but its moment has no recording. */
void log_collection_of(const struct log_record *r, struct log_collection *out);

struct log_marks {
    struct log_mark_record *marks; /* in the order of the log */
    size_t count, capacity;
    struct log_collection *collections; /* all live_total lines, in the order of the log */
    size_t collection_count, collection_capacity;
    uint64_t recordings;
    bool live_only;  /* set by the caller: read no further if the first header is without --live */
    uint64_t length; /* ns of the first recording, as its allocations and its end have it */
    bool untimed;    /* it has sums of call sites, and no allocation */
};

/* From its first moment to before its last. */
struct log_window {
    bool has_from, has_to;
    struct log_moment from, to;
};

/*
 * log_marks_read - all marks of the log at path, which is passed over otherwise.
 * Returns: 0; -ESPIPE: a pipe can be read only once; -errno of opening or reading; -ENOMEM.
 * Owns:    marks start zeroed and are the caller's until log_marks_fini.
 */
int log_marks_read(const char *path, struct log_marks *marks);
int log_marks_read_lines(struct log_lines *lines, struct log_marks *marks);
void log_marks_fini(struct log_marks *marks);

/*
 * log_marks_window - from the first mark with the text `from` (NULL: the beginning) to the next
 * with the text `to` (NULL: the end).
 * Returns: 0; -ENOENT: no such mark; why lists the marks.
 */
int log_marks_window(const struct log_marks *marks, const char *from, const char *to,
                     struct log_window *out, char *why, size_t why_size);

static inline bool log_moment_before(const struct log_moment *a, const struct log_moment *b)
{
    if (a->recording != b->recording)
        return a->recording < b->recording;
    return a->t && b->t ? a->t < b->t : a->line < b->line;
}

static inline bool log_window_has(const struct log_window *w, const struct log_moment *at)
{
    return !(w->has_from && log_moment_before(at, &w->from)) &&
           !(w->has_to && !log_moment_before(at, &w->to));
}

#endif
