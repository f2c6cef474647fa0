#include "collect/heap_file.h"

#include "base/memory.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RECORDS   (256u << 10)          /* bytes of a chunk, at most */
#define AT_ONCE   1000u                 /* references of one record */
#define MOST_TEXT 4096u                 /* bytes of a name */
#define HEAD_MAX  (4 * SST_HEAP_NUMBER) /* bytes of a record without its list */

struct heap_file {
    char *path;
    char *part; /* its name until it is whole; NULL: it has none */
    int fd;
    int error; /* the first one: 0 or -errno */
    uint64_t written;
    struct heap_file_counts counts;
    unsigned char *at;           /* behind the last record */
    uint64_t expected;           /* units: where the next object, or site, is thought to begin */
    struct sst_heap_chunk chunk; /* its kind: 0 none; written together with the records */
    unsigned char records[RECORDS];
};

/* ---- a file that nobody sees ---- */

/* Without a name: who ends midway leaves nothing. Returns: a descriptor or -errno. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    char *folder = memory_alloc(length + 2);
    int fd;

    if (!folder)
        return -ENOMEM;
    snprintf(folder, length + 2, "%.*s", length ? (int)length : 1, length ? path : ".");
    fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    fd = fd < 0 ? -errno : fd;
    memory_free(folder);
    return fd;
}

/* Is it our own of a dump that ended midway, or new? Then it is locked, and empty. */
static int take_part(int fd, const char *name)
{
    char magic[sizeof(SST_HEAP_MAGIC) - 1];
    struct stat own, named;

    if (flock(fd, LOCK_EX | LOCK_NB))
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    if (fstat(fd, &own) || lstat(name, &named))
        return -errno;
    if (own.st_dev != named.st_dev || own.st_ino != named.st_ino)
        return -EBUSY; /* whose it was has given it its name meanwhile */
    if (!S_ISREG(own.st_mode) || own.st_uid != geteuid() || own.st_nlink != 1)
        return -EEXIST;
    if (own.st_size && (pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
                        memcmp(magic, SST_HEAP_MAGIC, sizeof(magic)) != 0))
        return -EEXIST;
    return ftruncate(fd, 0) ? -errno : 0;
}

/*
 * Where the file system has no files without names: always the same name, so that what one leaves
 * that is killed is what the next one begins with. Returns: a descriptor or -errno.
 */
static int open_part(const char *name)
{
    int fd = open(name, O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    int err = fd < 0 ? -errno : take_part(fd, name);

    if (!err)
        return fd;
    if (fd >= 0)
        close(fd);
    return err == -ELOOP ? -EEXIST : err;
}

static int open_unseen(struct heap_file *f)
{
    size_t size = strlen(f->path) + sizeof(".part");
    int fd = open_nameless(f->path);

    if (fd >= 0)
        return fd;
    f->part = memory_alloc(size);
    if (!f->part)
        return -ENOMEM;
    snprintf(f->part, size, "%s.part", f->path);
    return open_part(f->part);
}

static void release(struct heap_file *f)
{
    memory_free_all(f->path, f->part, f);
}

int heap_file_new(const char *path, struct heap_file **out)
{
    struct heap_file *f = memory_zalloc(1, sizeof(*f));
    int err = -ENOMEM;

    *out = NULL;
    if (!f)
        return err;
    f->path = memory_strdup(path);
    if (f->path)
        err = faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) ? open_unseen(f) : -EEXIST;
    if (err < 0) {
        release(f);
        return err;
    }
    f->fd = err;
    f->at = f->records;
    *out = f;
    return 0;
}

/* On threads of the runtime, too: the signal for a file that is too large would end the program. */
static ssize_t write_quietly(int fd, const void *data, size_t size)
{
    sigset_t limit, before;
    ssize_t n;
    int err;

    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    n = write(fd, data, size);
    err = errno;
    if (n < 0 && err == EFBIG && !sigismember(&before, SIGXFSZ))
        sigtimedwait(&limit, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return n;
}

static void put(struct heap_file *f, const void *data, size_t size)
{
    const char *at = data;

    while (size && !f->error) {
        ssize_t n = write_quietly(f->fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            f->error = n ? -errno : -EIO;
            break;
        }
        at += n;
        size -= (size_t)n;
        f->written += (uint64_t)n;
    }
}

static void flush(struct heap_file *f)
{
    size_t size = (size_t)(f->at - f->records);

    _Static_assert(offsetof(struct heap_file, records) ==
                       offsetof(struct heap_file, chunk) + sizeof(struct sst_heap_chunk),
                   "a chunk and its records are one piece");
    if (!size)
        return;
    f->chunk.bytes = (uint32_t)size;
    f->chunk.sum = sst_heap_sum(f->records, size);
    put(f, &f->chunk, sizeof(f->chunk) + size);
    f->at = f->records;
    f->expected = 0;
}

/* Room for a record of `size` bytes, in a chunk of its kind. */
static void make_room(struct heap_file *f, enum sst_heap_kind kind, size_t size)
{
    if (f->chunk.kind == kind && (size_t)(f->records + RECORDS - f->at) >= size)
        return;
    flush(f);
    f->chunk.kind = kind;
}

static void number(struct heap_file *f, uint64_t value)
{
    f->at = sst_heap_put(f->at, value);
}

static void difference(struct heap_file *f, uint64_t from, uint64_t to)
{
    number(f, sst_heap_fold((int64_t)(to - from)));
}

void heap_file_head(struct heap_file *f, const struct sst_heap_head *head)
{
    struct sst_heap_head own = *head;

    memcpy(own.magic, SST_HEAP_MAGIC, sizeof(own.magic));
    own.version = SST_HEAP_VERSION;
    own.bytes = sizeof(own);
    own.sum = sst_heap_sum(&own, offsetof(struct sst_heap_head, sum));
    put(f, &own, sizeof(own));
}

struct record {
    uint64_t unit, units;
    uint32_t class;
};

/* An object whose references are written: where each of them was found. */
struct slots {
    const uintptr_t *words; /* NULL: not looked for */
    size_t count, next;     /* words of the object; where the next one is expected */
};

/* The word that holds the reference, from the expected one on; 0: none. */
static size_t find_slot(const struct slots *s, uintptr_t reference)
{
    for (size_t at = s->next; at < s->count; at++)
        if (s->words[at] == reference)
            return at;
    for (size_t at = 1; at < s->next; at++)
        if (s->words[at] == reference)
            return at;
    return 0;
}

/* last: the slot after the one before in this record. */
static void put_slot(struct heap_file *f, struct slots *s, uintptr_t reference, uint64_t *last)
{
    size_t at = find_slot(s, reference);

    number(f, at ? 1 + sst_heap_fold((int64_t)(at - *last)) : 0);
    if (at)
        *last = s->next = at + 1;
}

/* One record: as many of the references as it may have. Returns: how many it took. */
static size_t put_object(struct heap_file *f, const struct record *o, struct slots *slots,
                         const uintptr_t *references, size_t count)
{
    size_t taken = count < AT_ONCE ? count : AT_ONCE, nulls = 0;
    uint64_t last = 1;

    make_room(f, SST_HEAP_OBJECTS, HEAD_MAX + taken * 2 * SST_HEAP_NUMBER);
    for (size_t i = 0; i < taken; i++)
        nulls += !references[i];
    difference(f, f->expected, o->unit);
    number(f, o->class);
    number(f, o->units);
    number(f, (taken - nulls) * 2 + (slots->words != NULL));
    for (size_t i = 0; i < taken; i++) {
        if (!references[i])
            continue;
        difference(f, o->unit, references[i] / SST_HEAP_UNIT);
        if (slots->words)
            put_slot(f, slots, references[i], &last);
    }
    f->expected = o->unit + o->units;
    f->counts.references += taken - nulls;
    return taken;
}

void heap_file_object(struct heap_file *f, uintptr_t object, uint32_t class, uint64_t bytes,
                      const uintptr_t *references, size_t count, const uintptr_t *words)
{
    const struct record o = {object / SST_HEAP_UNIT, (bytes + SST_HEAP_UNIT - 1) / SST_HEAP_UNIT,
                             class};
    struct slots slots = {count ? words : NULL, bytes / sizeof(*words), 1};
    size_t done = 0;

    if (f->error)
        return;
    do
        done += put_object(f, &o, &slots, references + done, count - done);
    while (done < count);
    f->counts.objects++;
}

void heap_file_root(struct heap_file *f, uintptr_t object, uint32_t kind, uint32_t flags,
                    uint32_t name)
{
    if (f->error || !object)
        return;
    make_room(f, SST_HEAP_ROOTS, HEAD_MAX);
    number(f, object);
    number(f, kind);
    number(f, flags);
    number(f, name);
    f->counts.roots++;
}

void heap_file_pair(struct heap_file *f, uintptr_t key, uintptr_t value)
{
    if (f->error || !key || !value)
        return;
    make_room(f, SST_HEAP_PAIRS, HEAD_MAX);
    number(f, key / SST_HEAP_UNIT);
    number(f, value / SST_HEAP_UNIT);
    f->counts.pairs++;
}

void heap_file_site(struct heap_file *f, uintptr_t object, uint32_t site)
{
    uint64_t unit = object / SST_HEAP_UNIT;

    if (f->error)
        return;
    make_room(f, SST_HEAP_SITES, HEAD_MAX);
    if (unit < f->expected)
        flush(f); /* a separate chunk: within a chunk they ascend */
    number(f, unit - f->expected);
    number(f, site);
    f->expected = unit;
    f->counts.sites++;
}

/* Bytes of a name that are written: not within a character. */
static size_t text_size(const char *text)
{
    size_t size = strnlen(text, MOST_TEXT);

    while (size && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    return size;
}

static void put_text(struct heap_file *f, const char *text, size_t size)
{
    number(f, size);
    memcpy(f->at, text, size);
    f->at += size;
}

void heap_file_field(struct heap_file *f, const struct heap_file_field *field, const char *name)
{
    size_t size = text_size(name);

    if (f->error)
        return;
    make_room(f, SST_HEAP_FIELDS, 5 * SST_HEAP_NUMBER + size);
    number(f, field->class);
    number(f, field->first);
    number(f, field->stride);
    number(f, field->slot);
    put_text(f, name, size);
}

void heap_file_static(struct heap_file *f, const struct heap_file_static *field, const char *name)
{
    size_t size = text_size(name);

    if (f->error || !field->object)
        return;
    make_room(f, SST_HEAP_STATICS, 5 * SST_HEAP_NUMBER + size);
    number(f, field->place);
    number(f, field->object / SST_HEAP_UNIT);
    number(f, field->class);
    number(f, field->flags);
    put_text(f, name, size);
    f->counts.statics++;
}

void heap_file_text(struct heap_file *f, enum sst_heap_kind kind, uint32_t at, uint32_t id,
                    const char *text)
{
    size_t size = text_size(text);

    if (f->error)
        return;
    make_room(f, kind, HEAD_MAX + size);
    number(f, at);
    number(f, id);
    put_text(f, text, size);
}

static void put_end(struct heap_file *f)
{
    const uint64_t sums[] = {f->counts.objects, f->counts.references, f->counts.roots,
                             f->counts.pairs,   f->counts.sites,      f->counts.statics};

    make_room(f, SST_HEAP_END, sizeof(sums) / sizeof(*sums) * SST_HEAP_NUMBER);
    for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
        number(f, sums[i]);
    flush(f);
}

/* What was made meanwhile stays, where the file system can tell. Returns: 0 or -errno. */
static int give_name(const struct heap_file *f)
{
    char own[40];

    snprintf(own, sizeof(own), "/proc/self/fd/%d", f->fd);
    if (!f->part)
        return linkat(AT_FDCWD, own, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW) ? -errno : 0;
    if (!rename_noreplace(f->part, f->path))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    return rename(f->part, f->path) ? -errno : 0;
}

/* What a network's disk has to say when a file is closed; it stays open, and locked. */
static int settle(const struct heap_file *f)
{
    int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

    return fd < 0 || close(fd) ? -errno : 0;
}

/* Names go while the file is locked: nobody else's has it then. */
static void discard(const struct heap_file *f, const char *name)
{
    if (name)
        unlink(name);
    close(f->fd);
}

int heap_file_end(struct heap_file *f, struct heap_file_counts *out)
{
    int err;

    put_end(f);
    if (!f->error)
        f->error = settle(f);
    if (!f->error)
        f->error = give_name(f);
    if (f->error)
        discard(f, f->part);
    else
        close(f->fd);
    err = f->error;
    *out = f->counts;
    out->bytes = f->written;
    release(f);
    return err;
}

void heap_file_drop(struct heap_file *f)
{
    discard(f, f->part);
    release(f);
}
