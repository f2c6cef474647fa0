#include "follow/follow.h"

#include "readers/parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEADER_MAX ((uint64_t)1 << 20) /* a file of so many bytes has its header, or none */
#define NEXT_TRIES 10 /* for the file at a log's path: between two parts there is none */
#define NEXT_MS    10 /* from one to the next */
#define MAGIC_SIZE 4  /* bytes that tell a packed log from a plain one: readers/lines.c asks once */

struct file_id {
    dev_t device;
    ino_t inode;
};

struct part {
    int fd;
    struct file_id id;
};

struct follow {
    char *path;
    struct report_defs *defs;
    const struct report_consumer *consumer;
    struct report_log *log;
    struct part *parts; /* being read, and those that wait for it, in their order */
    size_t count, capacity;
    struct file_id newest;                /* the last one that was opened, */
    struct report_recording newest_begun; /* and what its header says; number 0: not known yet */
    struct part foreign; /* of another recording: open, so that no other file gets its number */
    /* Of parts[0]; NULL before its first byte was read. */
    struct report_lines *lines;
    struct report_reading *reading;
    size_t budget;     /* bytes that this step may still take */
    uint64_t at;       /* bytes of parts[0] that were taken */
    uint64_t headless; /* so many of the first file hold no header; UINT64_MAX: all may be taken */
    uint64_t taken;    /* bytes of all */
    bool last;         /* parts[0] gets no more: its end is an end */
    bool reached_end;  /* of what it has now */
    bool over;         /* nobody writes any more */
    int err;           /* it cannot be read on */
};

static struct file_id id_of(const struct stat *st)
{
    return (struct file_id){st->st_dev, st->st_ino};
}

static bool same_file(const struct file_id *a, const struct file_id *b)
{
    return a->device == b->device && a->inode == b->inode;
}

static uint64_t size_of(const struct part *part)
{
    struct stat st;

    return fstat(part->fd, &st) ? 0 : (uint64_t)st.st_size;
}

/* ---- opening ---- */

/*
 * Returns: a descriptor of a regular file; -EINVAL: it is none; -errno. A FIFO is not waited for.
 */
static int open_file(const char *path, struct file_id *id)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err = 0;
    struct stat st;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st))
        err = -errno;
    else if (!S_ISREG(st.st_mode))
        err = -EINVAL;
    if (err) {
        close(fd);
        return err;
    }
    *id = id_of(&st);
    return fd;
}

/* As open_file, of a log: while its part gives way to the next, nothing is there for a moment. */
static int open_log(const char *path, struct file_id *id)
{
    const struct timespec pause = {.tv_nsec = NEXT_MS * 1000000L};
    int fd = open_file(path, id);

    for (unsigned i = 0; fd == -ENOENT && i < NEXT_TRIES; i++) {
        nanosleep(&pause, NULL);
        fd = open_file(path, id);
    }
    return fd;
}

/* By the descriptor: the name may be another file's by now. */
static struct report_recording begun_by(int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return report_part_of(path);
}

/* As the at-th of the parts. fd goes over, whatever is returned. */
static int insert(struct follow *f, size_t at, int fd, const struct file_id *id)
{
    if (f->count == FOLLOW_PARTS_MAX || !array_reserve(&f->parts, &f->capacity, f->count + 1)) {
        close(fd);
        return f->count == FOLLOW_PARTS_MAX ? -EMFILE : -ENOMEM;
    }
    memmove(f->parts + at + 1, f->parts + at, (f->count - at) * sizeof(*f->parts));
    f->parts[at] = (struct part){fd, *id};
    f->count++;
    return 0;
}

static int push(struct follow *f, int fd, const struct file_id *id)
{
    int err = insert(f, f->count, fd, id);

    if (err)
        return err;
    f->newest = *id;
    f->newest_begun = begun_by(fd);
    return 0;
}

/* What the newest file begins with: its header may not have been there when it was opened. */
static const struct report_recording *newest_begun(struct follow *f)
{
    const struct part *newest = f->count ? &f->parts[f->count - 1] : NULL;

    if (!f->newest_begun.number && (!newest || size_of(newest) < HEADER_MAX))
        f->newest_begun = newest ? begun_by(newest->fd) : f->log->recording;
    return &f->newest_begun;
}

/*
 * As the at-th of the parts and behind it: those beside the log that come before `next`, as far as
 * they are there, and with `after` only those behind that.
 */
static int insert_between(struct follow *f, size_t at, const struct report_recording *after,
                          const struct report_recording *next)
{
    struct report_parts parts = {NULL, 0, 0, 0};
    struct file_id id;
    int err = report_parts_before(f->path, next, &parts);

    for (size_t i = 0; !err && i < parts.count; i++) {
        int fd = open_file(parts.paths[i], &id);
        struct report_recording part;

        if (fd < 0)
            continue; /* gone meanwhile: the next header tells how much was in it */
        part = begun_by(fd);
        if (report_part_follows(&part, next) && (!after || report_part_follows(after, &part)))
            err = insert(f, at++, fd, &id);
        else
            close(fd);
    }
    report_parts_fini(&parts);
    return err;
}

/* Another file at the log's path: a later part? */
static int look_at(struct follow *f, int fd, const struct file_id *id)
{
    struct report_recording part = begun_by(fd), before = *newest_begun(f);
    int err = 0;

    if (part.number && before.number && report_part_follows(&before, &part)) {
        if (part.part > before.part + 1)
            err = insert_between(f, f->count, &before, &part);
        return err ? (close(fd), err) : push(f, fd, id);
    }
    if (!part.number || !before.number) {
        close(fd); /* without a header yet: it is looked at again */
        return 0;
    }
    if (f->foreign.fd >= 0)
        close(f->foreign.fd);
    f->foreign = (struct part){fd, *id};
    return 0;
}

static int look(struct follow *f)
{
    struct stat st;
    struct file_id id;
    int fd;

    (void)newest_begun(f); /* while it is there: the file may be cut */
    if (stat(f->path, &st))
        return 0; /* moved, or removed: the one that is open goes on */
    id = id_of(&st);
    if (same_file(&id, &f->newest) || (f->foreign.fd >= 0 && same_file(&id, &f->foreign.id)))
        return 0;
    fd = open_file(f->path, &id);
    if (fd < 0)
        return 0;
    return look_at(f, fd, &id);
}

static void end_reading(struct follow *f)
{
    report_reading_free(f->reading);
    report_lines_free(f->lines);
    f->reading = NULL;
    f->lines = NULL;
    f->at = 0;
}

/* parts[0] is read from its beginning again: nothing of it was given to the consumer. */
static int rewind_first(struct follow *f)
{
    f->taken -= f->at;
    end_reading(f);
    return lseek(f->parts[0].fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

/*
 * What was there before the file that was opened first: its header says whether there was
 * anything, and may come later than the file. Until then no byte is read that could complete it.
 */
static int insert_before(struct follow *f)
{
    uint64_t size = size_of(&f->parts[0]);
    struct report_recording first = begun_by(f->parts[0].fd);
    int err;

    f->headless = first.number || size >= HEADER_MAX ? UINT64_MAX : size;
    if (first.part <= 1)
        return 0;
    err = rewind_first(f);
    return err ? err : insert_between(f, 0, NULL, &first);
}

static int open_first(struct follow *f)
{
    struct file_id id;
    int fd = open_log(f->path, &id), err;

    if (fd < 0)
        return fd;
    err = push(f, fd, &id);
    return err ? err : insert_before(f);
}

int follow_new(const char *path, struct report_defs *defs, const struct report_consumer *consumer,
               struct report_log *log, struct follow **out)
{
    struct follow *f = memory_zalloc(1, sizeof(*f));
    int err = -ENOMEM;

    if (f)
        f->foreign.fd = -1;
    if (f && (f->path = memory_strdup(path)))
        err = open_first(f);
    *out = NULL;
    if (err) {
        follow_free(f);
        return err;
    }
    f->defs = defs;
    f->consumer = consumer;
    f->log = log;
    *out = f;
    return 0;
}

/* ---- reading ---- */

/* As report_source's read: what is not there yet is no end. */
static ssize_t take(void *context, void *to, size_t size)
{
    struct follow *f = context;
    uint64_t most = f->last ? UINT64_MAX : f->headless - f->at;
    ssize_t got;

    if (!f->budget || !most) {
        f->reached_end = !most;
        return -EAGAIN;
    }
    if (most > f->budget)
        most = f->budget;
    if (size > most)
        size = (size_t)most;
    do
        got = read(f->parts[0].fd, to, size);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    f->budget -= (size_t)got;
    f->at += (uint64_t)got;
    f->taken += (uint64_t)got;
    f->reached_end = got == 0;
    return got == 0 && !f->last ? -EAGAIN : got;
}

static int begin(struct follow *f)
{
    const struct report_source source = {.read = take, .context = f};
    int err = report_lines_from(&source, &f->lines);

    return err ? err
               : report_reading_new(f->lines, f->path, f->defs, f->consumer, f->log, &f->reading);
}

static void leave(struct follow *f)
{
    end_reading(f);
    f->last = false;
    if (f->count) {
        close(f->parts[0].fd);
        f->count--;
        memmove(f->parts, f->parts + 1, f->count * sizeof(*f->parts));
    }
}

/*
 * Returns: 0: the file is done with; -EAGAIN: it has no more now, or the budget is spent; -errno.
 */
static int read_part(struct follow *f)
{
    int err = 0;

    /* Behind what follows it nothing is written any more: writers end a part before the next. */
    f->last = f->count > 1 || f->over;
    f->reached_end = false;
    if (!f->reading) {
        if (!f->last && size_of(&f->parts[0]) < MAGIC_SIZE) {
            f->reached_end = true;
            return -EAGAIN;
        }
        err = begin(f);
    }
    return err ? err : report_reading_more(f->reading);
}

int follow_step(struct follow *f, size_t budget)
{
    int err = f->err ? f->err : look(f);

    if (!err && f->count && f->headless < UINT64_MAX)
        err = insert_before(f);
    f->budget = budget ? budget : 1;
    f->log->tally.followed = true;
    while (!err && f->count) {
        err = read_part(f);
        if (!err)
            leave(f);
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
    return f->log->tally.ended && f->count <= 1 && !follow_left(f);
}

uint64_t follow_taken(const struct follow *f)
{
    return f->taken;
}

uint64_t follow_left(const struct follow *f)
{
    uint64_t left = 0;

    for (size_t i = 0; i < f->count; i++) {
        uint64_t size = size_of(&f->parts[i]), at = i ? 0 : f->at;

        left += size > at ? size - at : 0;
    }
    return left;
}

void follow_free(struct follow *f)
{
    if (!f)
        return;
    while (f->count)
        leave(f);
    if (f->foreign.fd >= 0)
        close(f->foreign.fd);
    memory_free_all(f->parts, f->path, f);
}
