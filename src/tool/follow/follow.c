#include "follow/follow.h"

#include "base/clock.h"
#include "follow/part.h"
#include "readers/header.h"
#include "readers/parts.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define NEXT_TRIES 10       /* for the file at a log's path, which is absent between two parts */
#define NEXT_MS    10       /* from one to the next */
#define BY_FOLLOW  "follow" /* of gaps: who says so */

struct follow {
    char *path;
    struct log_defs *defs;
    const struct log_consumer *consumer;
    struct log_input *log;
    struct part *parts; /* being read, and those that wait for it, in their order */
    size_t count, capacity;
    struct part_id newest;             /* the last one that was opened, */
    struct log_recording newest_begun; /* and what its header says; number 0: not known yet */
    struct part foreign; /* of another recording: open, so that no other file gets its number */
    /* Of parts[0]; NULL before its first byte was read. */
    struct log_lines *lines;
    struct log_reading *reading;
    size_t budget;     /* bytes that this step may still take */
    uint64_t until_ns; /* when it is to end; 0: not by the clock */
    uint64_t headless; /* bytes of the first file without a header; UINT64_MAX: all may be taken */
    uint64_t taken;    /* bytes of all */
    uint64_t cut_to;   /* what was left of parts[0] when it was cut; UINT64_MAX: nobody knows */
    bool cut;          /* what was read of parts[0] is gone, and what is there instead not known */
    bool last;         /* parts[0] gets no more: its end is an end */
    bool reached_end;  /* of what it has now */
    bool over;         /* nobody writes any more */
    int err;           /* it cannot be read on */
    struct follow_losses losses;
    uint64_t told; /* losses that follow_news has reported */
    bool told_replaced;
};

/* ---- opening ---- */

/* Of a log: while its part gives way to the next, nothing is there for a moment. */
static int open_log(const char *path, struct part *p)
{
    const struct timespec pause = {.tv_nsec = NEXT_MS * 1000000L};
    int err = part_open(path, p);

    for (unsigned i = 0; err == -ENOENT && i < NEXT_TRIES; i++) {
        nanosleep(&pause, NULL);
        err = part_open(path, p);
    }
    return err;
}

/* By the descriptor: the name may be another file's by now. */
static struct log_recording begun_by(int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return log_part_of(path);
}

/* As the at-th of the parts, but not twice. part goes over, whatever is returned. */
static int insert(struct follow *f, size_t at, struct part *part)
{
    for (size_t i = 0; i < f->count; i++)
        if (part_is(&f->parts[i], &part->id)) {
            part_close(part);
            return 0;
        }
    if (f->count == FOLLOW_PARTS_MAX || !array_reserve(&f->parts, &f->capacity, f->count + 1)) {
        part_close(part);
        return f->count == FOLLOW_PARTS_MAX ? -EMFILE : -ENOMEM;
    }
    memmove(f->parts + at + 1, f->parts + at, (f->count - at) * sizeof(*f->parts));
    f->parts[at] = *part;
    f->count++;
    return 0;
}

static int push(struct follow *f, struct part *part)
{
    int err = insert(f, f->count, part);

    if (err)
        return err;
    f->newest = part->id;
    f->newest_begun = begun_by(part->fd);
    return 0;
}

/* What the newest file begins with: its header may not have been there when it was opened. */
static const struct log_recording *newest_begun(struct follow *f)
{
    const struct part *newest = f->count ? &f->parts[f->count - 1] : NULL;

    if (!f->newest_begun.number && (!newest || part_size(newest) < LOG_HEADER_MAX))
        f->newest_begun = newest ? begun_by(newest->fd) : f->log->recording;
    return &f->newest_begun;
}

/*
 * Inserts, from position `at` on, the existing parts of the log that come before `next`, and if
 * `after` is given only those after it.
 */
static int insert_between(struct follow *f, size_t at, const struct log_recording *after,
                          const struct log_recording *next)
{
    struct log_parts parts = {NULL, 0, 0, 0};
    int err = log_parts_before(f->path, next, &parts);

    for (size_t i = 0; !err && i < parts.count; i++) {
        struct log_recording begun;
        const size_t before = f->count;
        struct part part;

        if (part_open(parts.paths[i], &part))
            continue; /* gone meanwhile: the next header tells how much was in it */
        begun = begun_by(part.fd);
        if (log_part_follows(&begun, next) && (!after || log_part_follows(after, &begun)))
            err = insert(f, at, &part);
        else
            part_close(&part);
        at += f->count - before;
    }
    log_parts_fini(&parts);
    return err;
}

/* ---- what is at the log's path ---- */

static void keep_foreign(struct follow *f, const struct part *part)
{
    part_close(&f->foreign);
    f->foreign = *part;
}

/*
 * A copy of the very part that is read, as tools make that copy a file by another name and rename
 * it: where it has more than the one that is open, it is read on. As long as it has less, it is
 * looked at again.
 */
static void look_at_copy(struct follow *f, struct part *copy)
{
    struct part *p = &f->parts[0];

    if (f->cut || part_size(p) > p->at || part_size(copy) <= p->at) {
        part_close(copy);
    } else if (!part_intact(p, copy)) {
        keep_foreign(f, copy);
    } else {
        (void)part_seek(copy, p->at);
        part_close(p);
        *p = *copy;
        f->newest = p->id;
    }
}

/* Another file at the log's path: a later part? It goes over. */
static int look_at(struct follow *f, struct part *part)
{
    struct log_recording begun = begun_by(part->fd), before = *newest_begun(f);
    int err = 0;

    if (!begun.number || !before.number) {
        part_close(part); /* without a header yet: it is looked at again */
    } else if (log_part_follows(&before, &begun)) {
        if (begun.part > before.part + 1)
            err = insert_between(f, f->count, &before, &begun);
        if (err)
            part_close(part);
        else
            err = push(f, part);
    } else if (log_part_again(&before, &begun) && f->count == 1) {
        look_at_copy(f, part);
    } else {
        f->losses.replaced |= !log_part_again(&before, &begun);
        keep_foreign(f, part);
    }
    return err;
}

static int look(struct follow *f)
{
    struct part_id id;
    struct part part;

    (void)newest_begun(f); /* while it is there: the file may be cut */
    if (part_id_of(f->path, &id))
        return 0; /* moved, or removed: the one that is open goes on */
    if ((f->newest.device == id.device && f->newest.inode == id.inode) ||
        (f->foreign.fd >= 0 && part_is(&f->foreign, &id)) || part_open(f->path, &part))
        return 0;
    return look_at(f, &part);
}

static void end_reading(struct follow *f)
{
    log_reading_free(f->reading);
    log_lines_free(f->lines);
    f->reading = NULL;
    f->lines = NULL;
}

/* parts[0] is read from its beginning again: nothing of it was given to the consumer. */
static void rewind_first(struct follow *f)
{
    f->taken -= f->parts[0].at;
    end_reading(f);
    (void)part_seek(&f->parts[0], 0);
}

/*
 * What was there before the file that was opened first: its header says whether there was
 * anything, and may come later than the file. Until then no byte is read that could complete it.
 */
static int insert_before(struct follow *f)
{
    uint64_t size = part_size(&f->parts[0]);
    struct log_recording first = begun_by(f->parts[0].fd);

    f->headless = first.number || size >= LOG_HEADER_MAX ? UINT64_MAX : size;
    if (first.part <= 1)
        return 0;
    rewind_first(f);
    return insert_between(f, 0, NULL, &first);
}

static int open_first(struct follow *f)
{
    struct part part;
    int err = open_log(f->path, &part);

    if (!err)
        err = push(f, &part);
    return err ? err : insert_before(f);
}

int follow_new(const char *path, struct log_defs *defs, const struct log_consumer *consumer,
               struct log_input *log, struct follow **out)
{
    struct follow *f = memory_zalloc(1, sizeof(*f));
    int err = -ENOMEM;

    if (f)
        f->foreign.fd = -1;
    if (f)
        f->log = log;
    if (f && (f->path = memory_strdup(path)))
        err = open_first(f);
    *out = NULL;
    if (err) {
        follow_free(f);
        return err;
    }
    f->defs = defs;
    f->consumer = consumer;
    *out = f;
    return 0;
}

static void leave(struct follow *f)
{
    end_reading(f);
    f->last = f->cut = false;
    if (f->count) {
        part_close(&f->parts[0]);
        f->count--;
        memmove(f->parts, f->parts + 1, f->count * sizeof(*f->parts));
    }
}

/* ---- files that become shorter ---- */

static void lose(struct follow *f, const char *what, uint64_t bytes)
{
    f->losses.times++;
    f->losses.bytes += bytes;
    log_gap_add(&f->log->gaps, LOG_GAP_FILE, what, BY_FOLLOW, bytes, 0);
}

/* What was read of parts[0] is not in it any more, of which `gone` bytes were not read. */
static void begin_cut(struct follow *f, uint64_t gone)
{
    struct part *p = &f->parts[0];
    uint64_t size = part_size(p);

    if (f->lines && !log_lines_packed(f->lines))
        gone += log_lines_unfinished(f->lines);
    lose(f, "truncated", gone);
    f->cut = true;
    f->cut_to = size < p->at ? size : UINT64_MAX;
    p->seen = size;
    (void)part_seek(p, 0);
}

static void look_at_sizes(struct follow *f)
{
    for (size_t i = 0; i < f->count; i++) {
        struct part *p = &f->parts[i];
        uint64_t size = part_size(p), kept = size > p->at ? size : p->at;
        uint64_t gone = p->seen > kept ? p->seen - kept : 0;

        p->seen = size;
        if (size < p->at || (i == 0 && !part_intact(p, p)))
            begin_cut(f, gone);
        else if (gone)
            lose(f, "truncated", gone);
        if (gone && i && i + 1 == f->count)
            f->newest_begun.number = 0;
    }
}

/* It is of another recording now, or of what was read already: none of it is read. */
static void give_up_first(struct follow *f)
{
    f->losses.replaced = true;
    log_gap_add(&f->log->gaps, LOG_GAP_FILE, "replaced", BY_FOLLOW, 1, 0);
    leave(f);
}

/* The rest of parts[0] stayed, and may grow again. A packed one cannot be read on in its middle. */
static bool read_on(struct follow *f)
{
    struct part *p = &f->parts[0];

    if (!f->lines || log_lines_packed(f->lines) || part_size(p) < f->cut_to)
        return false;
    log_lines_break(f->lines, !part_seek(p, f->cut_to));
    return true;
}

/*
 * What is at the beginning of parts[0] since it was cut? Recorders begin with a header again, in
 * the same file or in another one at its path.
 */
static void settle_cut(struct follow *f)
{
    const struct log_recording *had = &f->log->recording;
    struct log_recording begun = begun_by(f->parts[0].fd);

    if (begun.number && ((!had->number && !f->log->lines) || log_part_follows(had, &begun))) {
        end_reading(f);
        f->cut = false;
        if (f->count == 1)
            f->newest_begun = begun;
    } else if (begun.number && log_part_again(had, &begun) && f->cut_to < UINT64_MAX) {
        f->cut = !read_on(f);
    } else if (begun.number || part_size(&f->parts[0]) >= LOG_HEADER_MAX) {
        give_up_first(f);
        return;
    }
    if (f->cut && (f->count > 1 || f->over))
        leave(f);
}

/* ---- reading ---- */

/* As log_source's read: what is not there yet is no end. */
static ssize_t take(void *context, void *to, size_t size)
{
    struct follow *f = context;
    struct part *p = &f->parts[0];
    uint64_t most = f->last ? UINT64_MAX : f->headless - p->at;
    ssize_t got;

    if (!f->budget || !most) {
        f->reached_end = !most;
        return -EAGAIN;
    }
    if (most > f->budget)
        most = f->budget;
    if (size > most)
        size = (size_t)most;
    got = part_read(p, to, size);
    if (got == -ESTALE) {
        begin_cut(f, 0);
        return -EAGAIN;
    }
    if (got < 0)
        return got;
    f->budget -= (size_t)got;
    f->taken += (uint64_t)got;
    f->reached_end = got == 0 && !f->last;
    return got == 0 && !f->last ? -EAGAIN : got;
}

/* Returns: -ESTALE: while it waited it became one of another recording. */
static int begin(struct follow *f)
{
    const struct log_source source = {.read = take, .context = f};
    struct log_recording begun = {.number = 0};
    int err;

    if (f->log->recording.number)
        begun = begun_by(f->parts[0].fd);
    if (begun.number && !log_part_follows(&f->log->recording, &begun))
        return -ESTALE;
    err = log_lines_from(&source, &f->lines);

    return err ? err
               : log_reading_new(f->lines, f->path, f->defs, f->consumer, f->log, &f->reading);
}

/*
 * Returns: 0: the file is done with; -EAGAIN: it has no more now, or the budget is spent; -errno.
 */
static int read_part(struct follow *f, size_t budget)
{
    int err = 0;

    /* Behind what follows it nothing is written any more: writers end a part before the next. */
    f->last = f->count > 1 || f->over;
    f->reached_end = false;
    if (!f->reading)
        err = begin(f);
    if (err)
        return err;
    log_lines_allow(f->lines, budget);
    log_reading_until(f->reading, f->until_ns);
    return log_reading_more(f->reading);
}

/* The files as they are now. Returns: as follow_step. */
static int look_around(struct follow *f)
{
    int err = f->err ? f->err : look(f);

    if (err)
        return err;
    look_at_sizes(f);
    if (f->cut)
        settle_cut(f);
    return f->count && !f->cut && f->headless < UINT64_MAX ? insert_before(f) : 0;
}

int follow_step(struct follow *f, size_t budget, uint64_t until_ns)
{
    int err = look_around(f);

    f->budget = budget ? budget : 1;
    f->until_ns = until_ns;
    f->log->tally.followed = true;
    while (!err && f->count && !f->cut) {
        err = read_part(f, budget ? budget : 1);
        if (err == -ESTALE)
            give_up_first(f);
        else if (!err)
            leave(f);
        err = err == -ESTALE ? 0 : err;
        if (!err && f->count && until_ns && clock_ns() >= until_ns)
            return 1;
    }
    if (!err)
        return 0; /* all are done with */
    if (err == -EAGAIN)
        return !f->reached_end;
    f->err = err;
    return err;
}

void follow_end(struct follow *f)
{
    f->over = true;
}

bool follow_ended(const struct follow *f)
{
    if (!f->count)
        return f->log->tally.ended || f->losses.replaced;
    return f->log->tally.ended && f->count == 1 && !follow_left(f);
}

uint64_t follow_taken(const struct follow *f)
{
    return f->taken;
}

uint64_t follow_left(const struct follow *f)
{
    uint64_t left = 0;

    for (size_t i = 0; i < f->count; i++) {
        uint64_t size = part_size(&f->parts[i]), at = f->parts[i].at;

        left += size > at ? size - at : 0;
    }
    return left;
}

const struct follow_losses *follow_losses(const struct follow *f)
{
    return &f->losses;
}

bool follow_is_removed(const struct follow *f)
{
    return !f->count || part_is_removed(&f->parts[f->count - 1]);
}

/* Of many losses a line each time they are twice as many. */
bool follow_news(struct follow *f, char *text, size_t size)
{
    const struct follow_losses *l = &f->losses;
    char times[60] = "";

    if (l->times >= (f->told ? 2 * f->told : 1)) {
        f->told = l->times;
        if (l->times > 1)
            snprintf(times, sizeof(times), ", %llu times by now", (unsigned long long)l->times);
        snprintf(text, size,
                 "%s was truncated or overwritten while it was read%s: %llu bytes were gone before "
                 "they were read; reading continues",
                 f->path, times, (unsigned long long)l->bytes);
        return true;
    }
    if (l->replaced && !f->told_replaced) {
        f->told_replaced = true;
        snprintf(text, size, "%s was replaced: its contents are now different", f->path);
        return true;
    }
    return false;
}

void follow_free(struct follow *f)
{
    if (!f)
        return;
    while (f->count)
        leave(f);
    part_close(&f->foreign);
    memory_free_all(f->parts, f->path, f);
}
