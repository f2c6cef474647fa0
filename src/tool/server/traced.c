#include "server/traced.h"

#include "base/clock.h"
#include "base/error.h"
#include "job/job.h"
#include "readers/header.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#define PIECE ((size_t)1 << 20) /* bytes of a log that are read at once */

static void fail(struct traced *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static struct traced_file file_at(const char *path)
{
    struct statx st;

    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_SIZE | STATX_BTIME, &st))
        return (struct traced_file){.inode = 0};
    return (struct traced_file){.device = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor,
                                .inode = st.stx_ino,
                                .born_s = st.stx_btime.tv_sec,
                                .born_ns = st.stx_btime.tv_nsec,
                                .size = st.stx_size};
}

/* Nothing more is read of it. */
static void stop(struct traced *t, enum traced_state state)
{
    t->state = state;
    t->over_ns = clock_ns();
    follow_free(t->follow);
    t->follow = NULL;
    if (t->given)
        t->seen = file_at(t->path);
}

/* What was read stays: it is what can be served. */
static void fail(struct traced *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(t->why, sizeof(t->why), format, args);
    va_end(args);
    stop(t, TRACED_FAILED);
}

static void forget_marks(struct traced *t)
{
    while (t->mark_count)
        mark_free(t->marks[--t->mark_count]);
}

static void free_one(struct traced *t)
{
    if (!t)
        return;
    follow_free(t->follow);
    forget_marks(t);
    report_cells_fini(&t->cells);
    log_problems_fini(&t->problems);
    memory_free_all(t->path, t);
}

static int new_one(long pid, const char *path, struct traced **out)
{
    static const struct report_cells_options options = {
        .paths = true, .ils = true, .types = true, .live = REPORT_LIVE_AT};
    struct traced *t = memory_zalloc(1, sizeof(*t));
    int err = -ENOMEM;

    *out = NULL;
    if (!t)
        return -ENOMEM;
    log_problems_init(&t->problems);
    if (!report_cells_init(&t->cells, &options, &t->problems) && (t->path = memory_strdup(path)))
        err = follow_new(path, &t->cells.defs, &t->cells.consumer, &t->cells.log, &t->follow);
    if (err == -ENOMEM) {
        free_one(t);
        return err;
    }
    t->pid = pid;
    t->given = !pid;
    if (err)
        fail(t, "cannot open %.200s: %s", path,
             err == -EINVAL ? "not a regular file" : strerror(-err));
    *out = t;
    return 0;
}

static void remove_at(struct traced_set *set, size_t i)
{
    free_one(set->all[i]);
    set->count--;
    memmove(&set->all[i], &set->all[i + 1], (set->count - i) * sizeof(*set->all));
}

/* Where there is no room those that are over go first, the oldest of them. */
static bool make_room(struct traced_set *set)
{
    size_t oldest = TRACED_MAX;

    if (set->count < TRACED_MAX)
        return true;
    for (size_t i = 0; i < set->count; i++)
        if (set->all[i]->state != TRACED_FOLLOWED && !set->all[i]->used &&
            (oldest == TRACED_MAX || set->all[i]->over_ns < set->all[oldest]->over_ns))
            oldest = i;
    if (oldest < TRACED_MAX)
        remove_at(set, oldest);
    return oldest < TRACED_MAX;
}

int traced_add(struct traced_set *set, long pid, const char *path, uint64_t now_ns)
{
    struct traced *t;
    int err = make_room(set) ? new_one(pid, path, &t) : -ENOSPC;

    if (err)
        return err;
    if (t->state == TRACED_FAILED)
        t->over_ns = now_ns;
    set->all[set->count++] = t;
    return 0;
}

/* ---- reading ---- */

/* A process that was found by its socket and is gone without an end record. */
static bool is_gone(const struct traced *t)
{
    return !t->given && kill((pid_t)t->pid, 0) && errno == ESRCH;
}

static void take_mark(struct traced *t, uint64_t now_ns)
{
    struct mark *m;

    if (t->mark_count && now_ns - t->marks[t->mark_count - 1]->at_ns < TRACED_MARK_NS)
        return;
    if (mark_new(&t->cells, now_ns, &m))
        return; /* out of memory: the previous mark continues */
    if (t->mark_count == TRACED_MARKS) {
        mark_free(t->marks[0]);
        t->mark_count--;
        memmove(t->marks, t->marks + 1, t->mark_count * sizeof(*t->marks));
    }
    t->marks[t->mark_count++] = m;
}

/* Whether no more comes. A log of the command line that has no name any more has no writer. */
static bool has_ended(const struct traced *t)
{
    return follow_ended(t->follow) ||
           (t->given && t->losses.replaced && follow_is_removed(t->follow));
}

/* All that was there is read. Of one that is over it is looked at once more. */
static void pass(struct traced *t, bool was_gone)
{
    bool over = t->closing;

    t->passed_ns = t->look_ns;
    t->look_ns = 0;
    if (t->given && !t->pid)
        t->pid = (long)t->cells.log.recording.pid;
    take_mark(t, clock_ns());
    t->closing = was_gone || has_ended(t);
    if (was_gone)
        follow_end(t->follow); /* a half line counts as cut */
    if (!over || !t->closing)
        return;
    stop(t, TRACED_ENDED);
    if (report_cells_flush(&t->cells))
        fail(t, "out of memory");
}

static void say_failed(struct traced *t, int err)
{
    if (err == -EPROTO || err == -EBADMSG)
        fail(t, "%.150s: %s", t->path, t->cells.log.why);
    else
        fail(t, "cannot read %.200s: %s", t->path, error_text(err));
}

static void tell_news(const struct traced_set *set, struct traced *t)
{
    char text[500];

    t->losses = *follow_losses(t->follow);
    while (follow_news(t->follow, text, sizeof(text)))
        if (set->say)
            set->say(set->context, text);
}

/* Returns: whether there is more. */
static bool step_one(const struct traced_set *set, struct traced *t, uint64_t until_ns)
{
    bool gone = is_gone(t); /* before the look: what it wrote last is there */
    int more;

    if (!t->look_ns)
        t->look_ns = clock_ns();
    more = follow_step(t->follow, PIECE, until_ns);
    tell_news(set, t);
    if (!more)
        pass(t, gone);
    else if (more < 0)
        say_failed(t, more);
    return more > 0 || (t->closing && t->state == TRACED_FOLLOWED);
}

/* ---- another recording at the path of a log of the command line ---- */

static bool was_replaced(const struct traced *t)
{
    const struct traced_file *seen = &t->seen;
    struct traced_file now;

    if (!t->given || t->replaced)
        return false;
    if (t->losses.replaced || t->state == TRACED_FOLLOWED)
        return t->losses.replaced;
    now = file_at(t->path);
    return now.inode &&
           (now.inode != seen->inode || now.device != seen->device || now.born_s != seen->born_s ||
            now.born_ns != seen->born_ns || now.size < seen->size);
}

/*
 * It is followed as one more; of those that it follows on only the last one stays. Returns: whether
 * there was room.
 */
static bool start_over(struct traced_set *set, struct traced *t)
{
    for (size_t i = set->count; i-- > 0;) {
        const struct traced *old = set->all[i];

        if (old != t && old->replaced && old->state != TRACED_FOLLOWED && !old->used &&
            !strcmp(old->path, t->path))
            remove_at(set, i);
    }
    t->replaced = true;
    t->used++; /* it makes no room for what follows it */
    if (traced_add(set, 0, t->path, clock_ns()))
        t->replaced = false; /* there is no room now: it is tried again */
    t->used--;
    return t->replaced;
}

bool traced_step(struct traced_set *set, uint64_t most_ns, uint64_t max_memory)
{
    uint64_t until_ns = clock_ns() + most_ns;
    bool more = false;

    for (size_t i = 0; i < set->count; i++) {
        struct traced *t = set->all[set->turn++ % set->count];

        if (was_replaced(t))
            more |= start_over(set, t);
        if (t->state != TRACED_FOLLOWED)
            continue;
        if (clock_ns() > until_ns)
            return true;
        more |= step_one(set, t, until_ns);
        if (t->state == TRACED_FOLLOWED && job_memory() > max_memory) {
            forget_marks(t);
            fail(t, "its sums need more than --max-memory allows; what was read is served");
        }
    }
    return more;
}

void traced_expire(struct traced_set *set, uint64_t keep_ns, uint64_t now_ns)
{
    for (size_t i = set->count; i-- > 0;) {
        const struct traced *t = set->all[i];

        if (t->state != TRACED_FOLLOWED && (!t->given || t->replaced) && !t->used &&
            now_ns > t->over_ns && now_ns - t->over_ns > keep_ns)
            remove_at(set, i);
    }
}

void traced_free(struct traced_set *set)
{
    while (set->count)
        remove_at(set, set->count - 1);
}

/* ---- what there is ---- */

struct traced *traced_default(const struct traced_set *set)
{
    struct traced *last = NULL;

    for (size_t i = 0; i < set->count; i++) {
        struct traced *t = set->all[i];

        if (t->state == TRACED_FOLLOWED)
            return t;
        if (!last || t->over_ns >= last->over_ns)
            last = t;
    }
    return last;
}

struct traced *traced_find(const struct traced_set *set, long pid)
{
    for (size_t i = set->count; i-- > 0;)
        if (set->all[i]->pid == pid)
            return set->all[i];
    return NULL;
}

struct traced *traced_find_log(const struct traced_set *set, const char *path)
{
    for (size_t i = set->count; i-- > 0;)
        if (!strcmp(set->all[i]->path, path))
            return set->all[i];
    return NULL;
}

bool traced_is_outdated(const struct traced_set *set, const struct traced *t)
{
    bool behind = false;

    for (size_t i = 0; i < set->count; i++) {
        const struct traced *other = set->all[i];

        if (behind && other->pid == t->pid && other->cells.log.header && traced_known(other) &&
            !strcmp(other->path, t->path))
            return true;
        behind |= other == t;
    }
    return false;
}

bool traced_known(const struct traced *t)
{
    return t->state != TRACED_FOLLOWED || t->passed_ns;
}

bool traced_passed(const struct traced *t, uint64_t since_ns)
{
    return t->state != TRACED_FOLLOWED || (t->passed_ns && t->passed_ns >= since_ns);
}

const char *traced_program(const struct traced *t)
{
    const char *name = log_program(t->cells.log.header);

    return name ? name : "(unknown)";
}

struct mark_sums traced_total(const struct traced *t)
{
    const struct report_cell_sum *heaps = t->cells.heaps;
    struct mark_sums total = {0, 0};

    for (size_t heap = 0; heap < SST_HEAP_COUNT; heap++) {
        total.bytes += heaps[heap].bytes;
        total.allocs += heaps[heap].allocs;
    }
    return total;
}

bool traced_live(const struct traced *t)
{
    const json_t *options = json_object_get(t->cells.log.header, "options");

    return t->cells.live.lines || json_is_true(json_object_get(options, "live"));
}

bool traced_live_settled(const struct traced *t)
{
    const struct report_live *live = &t->cells.live;

    return !live->totals ||
           (live->bytes == (double)live->last.bytes && live->allocs == (double)live->last.allocs);
}
