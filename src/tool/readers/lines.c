#include "readers/lines.h"

#include "base/atomics.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

/* Bits of a packed log's window. zstd uses 23 up to level 19; --ultra and --long use more. */
#define WINDOW_MAX 24

/* Asked of the source at once: stays in the second-level cache until it is parsed. */
#define CHUNK ((size_t)256 << 10)

#define PACKED ((size_t)128 << 10)

#define FRAME_BEGIN  5 /* bytes of a frame that say how long its header is */
#define BLOCK_HEADER 3 /* bytes; zstd asks for that of the next block, too */

/*
 * data[begin, end) is read but not handed out; LOG_LINE_PADDING newlines follow it.
 * scanned <= end - begin: no newline in data[begin, begin + scanned).
 * dropped: bytes before data[begin] of a line that is too long and goes on there; 0: it is none.
 * A read may say -EAGAIN at any byte: all that is known of a line stands here, not in a function.
 */
struct log_lines {
    struct log_source source;
    uint64_t taken, size;
    uint64_t allowed;    /* bytes that may be added to data */
    struct log_place at; /* of data[begin - dropped] */
    char *data;
    size_t begin, end, capacity, scanned;
    uint64_t dropped;
    bool ended, started;
    const char *damage;
    /* zstd: the source's bytes wait in packed.src[packed.pos, packed.size) */
    ZSTD_DStream *zstd;
    ZSTD_inBuffer packed;
    size_t wanted; /* bytes that zstd takes next: up to the end of a block */
    char *packed_data;
    bool in_frame; /* a frame has begun and not ended */
    bool unpacks;  /* zstd holds bytes that had no room yet */
};

static void drop_all(struct log_lines *l)
{
    l->begin = l->end = l->scanned = 0;
}

static ssize_t fd_read(void *context, void *to, size_t size)
{
    ssize_t got;

    do
        got = read((int)(intptr_t)context, to, size);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

static void fd_close(void *context)
{
    if ((int)(intptr_t)context != STDIN_FILENO)
        close((int)(intptr_t)context);
}

int log_lines_open(const char *path, struct log_lines **out)
{
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct log_source source = {fd_read, fd_close, (void *)(intptr_t)fd};
    struct stat st;
    int err;

    *out = NULL;
    if (fd < 0)
        return -errno;
    err = log_lines_from(&source, out);
    if (!err && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        (*out)->size = (uint64_t)st.st_size;
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* only a hint */
    }
    return err;
}

int log_lines_from(const struct log_source *source, struct log_lines **out)
{
    struct log_lines *l = memory_zalloc(1, sizeof(*l));

    *out = NULL;
    if (l)
        l->data = memory_alloc(CHUNK + LOG_LINE_PADDING);
    if (!l || !l->data) {
        if (source->close)
            source->close(source->context);
        memory_free(l);
        return -ENOMEM;
    }
    l->source = *source;
    l->capacity = CHUNK;
    l->allowed = UINT64_MAX;
    l->at.line = 1;
    *out = l;
    return 0;
}

void log_lines_free(struct log_lines *l)
{
    if (!l)
        return;
    if (l->source.close)
        l->source.close(l->source.context);
    ZSTD_freeDStream(l->zstd);
    memory_free_all(l->packed_data, l->data, l);
}

const char *log_lines_damage(const struct log_lines *l)
{
    return l->damage;
}

uint64_t log_lines_taken(const struct log_lines *l)
{
    return l->taken;
}

uint64_t log_lines_size(const struct log_lines *l)
{
    return l->size;
}

void log_lines_allow(struct log_lines *l, uint64_t bytes)
{
    l->allowed = bytes;
}

bool log_lines_packed(const struct log_lines *l)
{
    return l->zstd != NULL;
}

uint64_t log_lines_unfinished(const struct log_lines *l)
{
    return l->dropped + (l->end - l->begin);
}

void log_lines_break(struct log_lines *l, bool within)
{
    l->dropped = 0;
    l->ended = false;
    drop_all(l);
    if (within)
        l->data[l->end++] = '\0'; /* no line of a log has one */
    memset(l->data + l->end, '\n', LOG_LINE_PADDING);
}

static ssize_t take(struct log_lines *l, void *to, size_t size)
{
    ssize_t got = l->source.read(l->source.context, to, size);

    if (got > 0)
        l->taken += (uint64_t)got;
    return got;
}

static int start_unpacking(struct log_lines *l)
{
    l->zstd = ZSTD_createDStream();
    l->packed_data = memory_alloc(l->end > PACKED ? l->end : PACKED);
    if (!l->zstd || !l->packed_data) {
        ZSTD_freeDStream(l->zstd);
        memory_free(l->packed_data);
        l->zstd = NULL;
        l->packed_data = NULL;
        return -ENOMEM;
    }
    ZSTD_DCtx_setParameter(l->zstd, ZSTD_d_windowLogMax, WINDOW_MAX);
    memcpy(l->packed_data, l->data, l->end);
    l->packed = (ZSTD_inBuffer){l->packed_data, l->end, 0};
    l->wanted = FRAME_BEGIN;
    drop_all(l);
    return 0;
}

/* The first bytes say whether the log is compressed; then they are the first packed ones. */
static int start(struct log_lines *l)
{
    static const unsigned char magic[4] = {0x28, 0xB5, 0x2F, 0xFD};
    size_t known = l->end;
    int err = 0;

    while (known < sizeof(magic) && memcmp(l->data, magic, known) == 0) {
        ssize_t got = take(l, l->data + l->end, l->capacity - l->end);

        if (got < 0 && (!l->end || got == -EAGAIN))
            return (int)got; /* the first bytes, as far as they are there, are kept */
        if (got <= 0)
            break; /* after a failure: what came before it first, the next read fails again */
        l->end += (size_t)got;
        known = l->end < sizeof(magic) ? l->end : sizeof(magic);
    }
    if (known == sizeof(magic) && memcmp(l->data, magic, known) == 0)
        err = start_unpacking(l);
    l->started = !err;
    return err;
}

/* Returns: whether there was anything to do; with nothing zstd fails in the end. */
static bool unpack_some(struct log_lines *l, ZSTD_outBuffer *out)
{
    size_t rest = l->packed.size - l->packed.pos, left;
    ZSTD_inBuffer in = l->packed;

    if (!rest && !l->unpacks)
        return false;
    /* No more than a block: in the call that meets damage all is lost that came before it. */
    if (rest > l->wanted)
        in.size = in.pos + l->wanted;
    left = ZSTD_decompressStream(l->zstd, out, &in);
    if (ZSTD_isError(left)) {
        l->damage = ZSTD_getErrorName(left);
        return true;
    }
    if (in.pos != l->packed.pos || out->pos)
        l->in_frame = left != 0;
    l->packed.pos = in.pos;
    l->unpacks = out->pos == out->size;
    l->wanted = !left ? FRAME_BEGIN : left > BLOCK_HEADER ? left - BLOCK_HEADER : left;
    return true;
}

/*
 * As a source's read: unpack until there is something. Damage is an end of the log, with its reason
 * kept.
 */
static ssize_t unpack(struct log_lines *l, char *to, size_t size)
{
    ZSTD_outBuffer out = {to, size, 0};

    while (out.pos == 0 && !l->damage) {
        ssize_t got;

        if (unpack_some(l, &out))
            continue;
        got = take(l, l->packed_data, PACKED);
        if (got < 0)
            return got;
        l->packed = (ZSTD_inBuffer){l->packed_data, (size_t)got, 0};
        if (got == 0) {
            if (l->in_frame)
                l->damage = LOG_LINES_CUT;
            break;
        }
    }
    return (ssize_t)out.pos;
}

/*
 * More bytes behind end. The rest of an unfinished line moves to the front first, and the chunk
 * grows with it.
 */
static int fill(struct log_lines *l)
{
    size_t rest = l->end - l->begin, room;
    ssize_t got;

    if (!l->allowed)
        return -EAGAIN;
    if (l->begin) {
        memmove(l->data, l->data + l->begin, rest);
        l->begin = 0;
        l->end = rest;
    }
    if (l->capacity - rest < CHUNK / 2 && l->capacity < LOG_LINE_MAX + CHUNK) {
        char *data = memory_realloc(l->data, l->capacity * 2 + LOG_LINE_PADDING);

        if (!data)
            return -ENOMEM;
        l->data = data;
        l->capacity *= 2;
    }
    if (UNLIKELY(!l->started)) {
        int err = start(l);

        if (err)
            return err;
        rest = 0;
        if (l->end)
            goto out;
    }
    room = l->capacity - l->end < CHUNK ? l->capacity - l->end : CHUNK;
    if (room > l->allowed)
        room = (size_t)l->allowed;
    got = l->zstd ? unpack(l, l->data + l->end, room) : take(l, l->data + l->end, room);
    if (got < 0)
        return (int)got;
    l->ended = got == 0;
    l->end += (size_t)got;
out:
    l->allowed -= l->end - rest < l->allowed ? l->end - rest : l->allowed;
    memset(l->data + l->end, '\n', LOG_LINE_PADDING);
    return 0;
}

static void hand_out(struct log_lines *l, struct log_line *line, size_t size, bool cut)
{
    line->text = l->data + l->begin;
    line->size = size;
    line->at = l->at;
    line->cut = cut;
    line->too_long = false;
    l->begin += size + !cut;
    l->at.line++;
    l->at.offset += size + !cut;
    l->scanned = 0;
}

/* What has not been searched yet for the end of a line. */
static char *unsearched(const struct log_lines *l, size_t *size)
{
    *size = l->end - l->begin - l->scanned;
    return l->data + l->begin + l->scanned;
}

/* The line is longer than we keep: drop it as it comes, up to its newline. */
static int pass_over(struct log_lines *l, struct log_line *line)
{
    size_t size, rest;
    char *newline;

    for (;;) {
        char *from = unsearched(l, &size);
        int err;

        newline = memchr(from, '\n', size);
        if (newline || l->ended)
            break;
        l->dropped += l->end - l->begin;
        drop_all(l);
        err = fill(l);
        if (err)
            return err;
    }
    rest = newline ? (size_t)(newline + 1 - l->data) - l->begin : l->end - l->begin;
    *line = (struct log_line){.text = "", .at = l->at, .cut = newline == NULL, .too_long = true};
    l->begin += rest;
    l->scanned = 0;
    l->at.line++;
    l->at.offset += l->dropped + rest;
    l->dropped = 0;
    return 1;
}

int log_lines_next(struct log_lines *l, struct log_line *line)
{
    if (UNLIKELY(l->dropped))
        return pass_over(l, line);
    for (;;) {
        size_t size;
        char *from = unsearched(l, &size), *newline = memchr(from, '\n', size);
        int err;

        size = (size_t)((newline ? newline : l->data + l->end) - l->data) - l->begin;
        if (UNLIKELY(size > LOG_LINE_MAX))
            return pass_over(l, line);
        if (LIKELY(newline != NULL) || (l->ended && size)) {
            hand_out(l, line, size, newline == NULL);
            return 1;
        }
        if (l->ended)
            return 0;
        l->scanned = size;
        err = fill(l);
        if (err)
            return err;
    }
}

/* The block gets the buffer with the lines in it, the block's own gets what follows them. */
static int trade(struct log_lines *l, struct log_block *block, size_t size, bool cut)
{
    size_t rest = l->end - l->begin - size, capacity = rest > CHUNK ? rest : CHUNK;
    char *spare = block->data;

    if (block->capacity < capacity || block->capacity > 4 * capacity) {
        memory_free(spare);
        *block = (struct log_block){.data = NULL};
        spare = memory_alloc(capacity + LOG_LINE_PADDING);
        if (!spare)
            return -ENOMEM;
        block->capacity = capacity;
    }
    memcpy(spare, l->data + l->begin + size, rest);
    memset(spare + rest, '\n', LOG_LINE_PADDING);
    capacity = block->capacity;
    *block = (struct log_block){.text = l->data + l->begin,
                                .size = size,
                                .offset = l->at.offset,
                                .cut = cut,
                                .data = l->data,
                                .capacity = l->capacity};
    l->data = spare;
    l->capacity = capacity;
    l->begin = l->scanned = 0;
    l->end = rest;
    l->at.offset += size;
    return 1;
}

static int block_too_long(struct log_lines *l, struct log_block *block)
{
    struct log_line line = {.text = ""};
    int err = pass_over(l, &line);

    block->text = line.text;
    block->size = 0;
    block->offset = line.at.offset;
    block->cut = line.cut;
    block->too_long = true;
    return err;
}

int log_lines_block(struct log_lines *l, struct log_block *block)
{
    if (UNLIKELY(l->dropped))
        return block_too_long(l, block);
    for (;;) {
        size_t size;
        char *from = unsearched(l, &size), *newline = memrchr(from, '\n', size);
        int err;

        if (LIKELY(newline != NULL))
            return trade(l, block, (size_t)(newline + 1 - l->data) - l->begin, false);
        l->scanned = l->end - l->begin;
        if (l->ended)
            return l->begin == l->end ? 0 : trade(l, block, l->end - l->begin, true);
        if (l->scanned > LOG_LINE_MAX)
            return block_too_long(l, block);
        err = fill(l);
        if (err)
            return err;
    }
}

void log_block_fini(struct log_block *block)
{
    memory_free(block->data);
    *block = (struct log_block){.data = NULL};
}
