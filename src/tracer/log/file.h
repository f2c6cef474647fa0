/*
 * log/file.h - the file of the log. Lines are put into its buffer, and go out from there, packed or
 * as they are. Also the parts of --max-log and --part-time. It knows lines only by what they stand
 * for (log/tally.h).
 *
 * Threads: the writer, but for what is said to be others'.
 */
#ifndef SHADOWTRACE_LOG_FILE_H
#define SHADOWTRACE_LOG_FILE_H

#include "base/atomics.h"
#include "base/buffer.h"
#include "log/tally.h"
#include "options/options.h"
#include "options/options_fields.h"

#include <stdbool.h>

#define LOG_KEEP_LIMIT  (8u << 20)  /* bytes kept while the file cannot be written */
#define LOG_FLUSH_BYTES (32u << 10) /* write when that much waits: it is in the cache still */

/* What others did to the file: see `file` of the end record. */
struct log_file_fate {
    bool removed, replaced;
    uint64_t truncated; /* bytes */
    char *moved;        /* where it is now, "": not known; NULL: where it was made */
};

/* An earlier part of this log, PATH.number: a later part may overwrite it. */
struct log_older {
    uint64_t inode;
    uint32_t number;
    struct log_tally tally; /* what is in it */
};

struct log_file {
    const struct options *options;      /* set by the caller, as is the next; borrowed */
    const char *name;                   /* for the default file name */
    bool ending;                        /* set by the caller: what waits is the last of the log */
    _Atomic(bool) abandoned;            /* by a forked child: nothing is written any more */
    _Atomic(const char *) uncompressed; /* why --compress packs nothing; NULL */
    int fd;
    struct buffer buffer; /* lines not yet written; of the first, `sent` bytes are */
    size_t sent;
    struct buffer packed;           /* --compress: what the system has not taken yet */
    const struct log_zstd *zstd;    /* NULL until lines are packed, as is the next */
    struct ZSTD_CCtx_s *compressor; /* --compress */
    bool in_frame;                  /* --compress: the frame is not ended */
    uint64_t bytes;                 /* written so far, to all parts */
    uint64_t part_bytes;            /* to this part */
    uint64_t share;                 /* of --max-log, for each part; UINT64_MAX without */
    uint32_t part;                  /* 1, 2, ...: --max-log */
    uint64_t oldest_ns;             /* when the first byte of the buffer came; 0: empty */
    struct log_tally put;  /* lines in the file, all its parts, or on their way there in buffers */
    struct log_tally gone; /* of these in parts that are gone: --max-log, a file that was cut */
    uint64_t gone_parts;
    struct log_tally part_began; /* `put` when this part did */
    /* --compress: `put` as of what is in the file for sure; as of `packed` */
    struct log_tally settled, packed_put;
    int error; /* errno of the last failure, 0 while writing works */
    char *path;
    char *older; /* what the part before is called now; NULL: there was none */
    struct log_older kept[OPTIONS_KEEP_MOST]; /* the oldest first */
    unsigned kept_count;
    uint64_t part_began_ns;
    struct log_file_fate fate;
    bool cut;      /* shorter than what was written: not written until the log starts again */
    bool unlinked; /* the file has no name any more, and no other could be created */
    uint64_t left; /* bytes of a file that was cut */
};

/*
 * log_file_open - creates the file, which must not exist, with mode 0600. Returns: 0; -errno, with
 * one line in why.
 */
int log_file_open(struct log_file *file, char *why, size_t why_size);

/* log_file_begin - what is in the buffer is to be there at once: the first lines. */
void log_file_begin(struct log_file *file);

/* log_file_flush - as much as the system takes goes out; the rest is kept. */
void log_file_flush(struct log_file *file);

/* log_file_pending - what of `put` is not in the file. */
void log_file_pending(const struct log_file *file, struct log_tally *out);

/* log_file_due - --max-log, --part-time: this part is full, or old enough. */
bool log_file_due(const struct log_file *file);

/* log_file_overwrites - the oldest part goes when there are too many. */
bool log_file_overwrites(const struct log_file *file);

/*
 * log_file_next - on to the next part; keep: the oldest part is not overwritten. Returns: 0;
 * -errno, then the present one goes on.
 */
int log_file_next(struct log_file *file, bool keep);

/* log_file_reopen - a new file at its path; aside: the present one is renamed. 0 or -errno. */
int log_file_reopen(struct log_file *file, bool aside);

/* log_file_restart - nothing waits to be written: a part begins. */
void log_file_restart(struct log_file *file);

/* log_file_close - the end: all goes out. lost: what did not. */
void log_file_close(struct log_file *file, struct log_tally *lost);

/* log_file_free - closes and releases; a file in which nothing was written is removed. */
void log_file_free(struct log_file *file);

/* Of the file as others may have left it: */
struct stat;
bool log_file_same(const struct stat *a, const struct stat *b);
bool log_file_is_cut(struct log_file *file);         /* somebody has made it shorter */
bool log_file_in_place(const struct log_file *file); /* its path is it still */

/* Of --max-log. Without it there is no end to that. */
static inline bool log_file_has_its_share(const struct log_file *file)
{
    return file->part_bytes >= file->share;
}

/* Between lines: before they take much memory. */
static inline void log_file_flush_large(struct log_file *file)
{
    if (UNLIKELY(file->buffer.size >= LOG_FLUSH_BYTES) && !file->error)
        log_file_flush(file);
}

/*
 * Writing fails, and as much waits as may: no line is put there any more but the end record. What
 * needs a line is dropped and counted; its definitions are tried again by the next that needs them.
 */
static inline bool log_file_full(const struct log_file *file)
{
    return UNLIKELY(file->error) && file->buffer.size >= LOG_KEEP_LIMIT;
}

static inline void log_file_hurry(struct log_file *file) /* what waits is written this round */
{
    file->oldest_ns = 1;
}

#endif
