/*
 * fuzz_follow - any bytes as what becomes of a log while it is followed, by itself, by `serve` and by `ship`. No step
 * takes more than its bounds, none is endless; each byte is read once; a log that only grows, in whatever pieces, is
 * read as a whole one is; arrays beside each other are as long as their cells.
 *
 * An input is pieces, parted by 0x1E: of all but the first the first letter says what is done with the rest.
 *
 *     a  it is appended           t  the file is truncated, then it is appended      r  a rotation: it is in a new file
 *     z  it is appended packed    s  the file is cut to as many bytes as it has      n  another file in its place
 *     w  it is appended in a      o  it is written over the file's beginning         c  a copy of the file in its place,
 *        line beyond the limit    d  the file is removed                                with more after it
 */
#include "must.h"

#include "readers/lines.h"
#include "server/answer.h"
#include "shipper/source.h"

#include "base/atomics.h"
#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern bool fuzz_mutated; /* driver.c, as is the next */
void fuzz_silence(void);

#define PIECE_END  0x1E
#define STEPS_MAX  100000
#define OLDER_MAX  4
#define MEMORY_MAX ((uint64_t)1 << 30)
#define WIDE       (LOG_LINE_MAX <= 1 << 20 ? LOG_LINE_MAX + 1000 : 70000)

static char folder[64], path[80], other[90], older[OLDER_MAX][90];
static uint64_t state;    /* of chance, which the input alone decides */
static uint64_t written;  /* bytes of files, whatever became of them */
static bool only_grew;    /* nothing but appending was done */
static ZSTD_CCtx *packer; /* of the frame that is being written; NULL: none */

static size_t chance(size_t end)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % end;
}

static void remove_files(void)
{
    unlink(path);
    unlink(other);
    for (int i = 0; i < OLDER_MAX; i++)
        unlink(older[i]);
}

static void forget(void)
{
    remove_files();
    rmdir(folder);
}

static void begin(void)
{
    if (*folder)
        return;
    must_make_folder(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/a.ndjson", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    for (int i = 0; i < OLDER_MAX; i++)
        snprintf(older[i], sizeof(older[i]), "%s.%d", path, i + 1);
    atexit(forget);
    fuzz_silence();
}

/* ---- what is done to the file ---- */

static void put(const char *to, int flags, const void *data, size_t size)
{
    int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

    MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    written += size;
}

static void put_packed(const uint8_t *data, size_t size)
{
    size_t room = ZSTD_compressBound(size) + 64;
    char *packed = malloc(room);
    ZSTD_outBuffer out = {packed, room, 0};
    ZSTD_inBuffer in = {data, size, 0};

    if (!packer)
        packer = ZSTD_createCCtx();
    MUST(packed && packer);
    while (ZSTD_compressStream2(packer, &out, &in, chance(4) ? ZSTD_e_flush : ZSTD_e_end))
        ;
    put(path, O_APPEND, packed, out.pos);
    free(packed);
}

static void put_wide(const uint8_t *data, size_t size)
{
    char *line = malloc(WIDE + 1);

    MUST(line);
    for (size_t i = 0; i < WIDE; i++)
        line[i] = size && data[i % size] != '\n' ? (char)data[i % size] : ' ';
    line[WIDE] = size % 2 ? '\n' : ' ';
    put(path, O_APPEND, line, WIDE + 1);
    free(line);
}

/* A later part takes its place: the first free name is its. */
static void rotate(void)
{
    for (int i = 0; i < OLDER_MAX; i++)
        if (!renameat2(AT_FDCWD, path, AT_FDCWD, older[i], RENAME_NOREPLACE))
            return;
}

static void copy(void)
{
    int from = open(path, O_RDONLY | O_CLOEXEC),
        to = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char some[65536];
    ssize_t got;

    while (from >= 0 && (got = read(from, some, sizeof(some))) > 0) {
        MUST(write(to, some, (size_t)got) == got);
        written += (uint64_t)got;
    }
    close(to);
    if (from >= 0)
        close(from);
    rename(other, path);
}

static size_t file_size(void)
{
    struct stat st;

    return stat(path, &st) ? 0 : (size_t)st.st_size;
}

static void shorten(size_t size)
{
    if (size < file_size())
        (void)!truncate(path, (off_t)size);
}

static void change(uint8_t what, const uint8_t *data, size_t size)
{
    int flags = O_APPEND;

    only_grew &= what == 'a' || what == 'z' || what == 'w';
    if (what == 'z') {
        put_packed(data, size);
        return;
    }
    if (what == 'w') {
        put_wide(data, size);
        return;
    }
    if (what == 't' || what == 's')
        shorten(what == 's' ? size : 0);
    else if (what == 'r')
        rotate();
    else if (what == 'n' || what == 'd')
        unlink(path);
    else if (what == 'c')
        copy();
    else if (what == 'o')
        flags = 0;
    if (what == 'o')
        written += file_size(); /* what it is not written over may be read once more */
    if (what != 's' && what != 'd')
        put(path, flags, data, size);
}

/* ---- who follows it ---- */

struct follower {
    struct follow *follow;
    struct report_cells *cells;
    struct traced_set set;
    struct source *source;
    struct report_cells own;
    struct log_problems problems;
    unsigned steps;
    int err;
};

static const struct report_cells_options options = {
    .paths = true, .ils = true, .types = true, .live = REPORT_LIVE_AT};

static void check_cells(struct report_cells *c)
{
    MUST(report_cells_flush(c) == 0);
    MUST(!c->sampled || c->sampled_capacity >= c->count);
    MUST(!c->lives || c->lives_capacity >= c->count);
    MUST(!c->spreads || c->spreads_capacity >= c->count);
}

static void begin_follower(struct follower *w, unsigned who)
{
    static const struct log_recording recording = {1, 4711, 5000, 1};

    *w = (struct follower){.err = 0};
    if (who == 1) {
        MUST(traced_add(&w->set, 0, path, clock_ns()) == 0);
    } else if (who == 2) {
        MUST(source_new(path, &recording, &w->source) == 0);
        w->cells = &w->source->cells;
    } else {
        log_problems_init(&w->problems);
        MUST(report_cells_init(&w->own, &options, &w->problems) == 0);
        w->cells = &w->own;
        MUST(follow_new(path, &w->own.defs, &w->own.consumer, &w->own.log, &w->follow) == 0);
    }
}

/* Returns: whether there is more. */
static bool step_source(struct source *s, size_t budget, uint64_t until_ns)
{
    char why[SOURCE_WHY];
    int more = s->follow ? source_step(s, budget, until_ns, why) : 0;

    if (more <= 0 && chance(2)) {
        int changed = source_changed(s);

        MUST(changed >= 0);
        if (changed)
            MUST(source_acknowledge(s) == 0);
    }
    return more > 0;
}

static bool step(struct follower *w)
{
    static const size_t budgets[] = {1, 7, 100, 4096, 1 << 20};
    size_t budget = budgets[chance(COUNT_OF(budgets))];
    uint64_t until_ns = chance(4) ? 0 : 1, lines = w->cells ? w->cells->log.lines : 0;
    int more;

    if (w->source)
        return step_source(w->source, budget, until_ns);
    if (!w->follow)
        return traced_step(&w->set, until_ns ? 0 : 1000000000, MEMORY_MAX);
    more = w->err ? w->err : follow_step(w->follow, budget, until_ns);
    MUST(more >= 0 || more == -EPROTO || more == -EBADMSG);
    MUST(!until_ns || w->cells->log.lines - lines <= 2 * 64);
    MUST(w->cells->log.recording.number < 2 || !only_grew || w->cells->log.headers > 1 ||
         w->cells->log.gaps.count);
    if (more < 0)
        w->err = more;
    return more > 0;
}

/* Until all that is there is read, or only a while. */
static void steps(struct follower *w, bool all)
{
    for (unsigned i = 0; step(w) && (all || i < 3); i++)
        MUST(w->steps++ < STEPS_MAX);
    if (w->cells)
        check_cells(w->cells);
    for (size_t i = 0; i < w->set.count; i++)
        check_cells(&w->set.all[i]->cells);
}

static void answer(struct follower *w)
{
    static const struct serve_options how = {.top = 5, .no_lines = true};
    struct answer_ask ask = {
        .kind = ANSWER_METRICS, .set = &w->set, .now_ns = clock_ns(), .options = &how};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    MUST(out);
    ask.of = traced_default(&w->set);
    MUST(answer_index(&ask, out) == 0);
    MUST(!fclose(out));
    free(text);
}

/* ---- the same at once ---- */

static int read_whole(struct report_cells *c)
{
    return log_input_read(path, &c->defs, &c->consumer, &c->log);
}

static void tell_cells(const char *whose, const struct report_cells *c)
{
    for (size_t i = 0; i < c->count; i++)
        printf("%s: path %u, il %d, class %u, heap %u, %d: %.0f bytes\n", whose, c->cells[i].path,
               c->cells[i].il, c->cells[i].class_number, c->cells[i].heap, c->cells[i].unoptimised,
               c->cells[i].bytes);
}

static void same_as_whole(struct follower *w)
{
    struct log_problems problems;
    struct report_cells whole;
    int err;

    log_problems_init(&problems);
    MUST(report_cells_init(&whole, &options, &problems) == 0);
    err = read_whole(&whole);
    check_cells(&whole);
    MUST(err == w->err);
    MUST(whole.log.lines == w->own.log.lines && whole.log.bytes == w->own.log.bytes);
    MUST(whole.log.used == w->own.log.used && whole.log.skipped == w->own.log.skipped);
    MUST(whole.log.cut == w->own.log.cut && whole.log.undefined == w->own.log.undefined);
    MUST(whole.log.tally.allocs == w->own.log.tally.allocs);
    MUST(whole.log.tally.bytes == w->own.log.tally.bytes);
    if (whole.count != w->own.count) {
        tell_cells("whole", &whole);
        tell_cells("followed", &w->own);
    }
    MUST(whole.count == w->own.count);
    MUST(whole.live.lines == w->own.live.lines && whole.live.count == w->own.live.count);
    report_cells_fini(&whole);
    log_problems_fini(&problems);
}

static void end_follower(struct follower *w)
{
    if (w->follow) {
        follow_end(w->follow);
        steps(w, true);
        MUST(w->err || follow_taken(w->follow) <= written);
        if (only_grew)
            same_as_whole(w);
        MUST(report_cells_finish(&w->own) == 0);
        follow_free(w->follow);
        report_cells_fini(&w->own);
        log_problems_fini(&w->problems);
    }
    if (w->set.count)
        answer(w);
    traced_free(&w->set);
    source_free(w->source);
}

/* In pieces of any size, and between them steps. */
static void play(struct follower *w, uint8_t what, const uint8_t *data, size_t size)
{
    bool whole = what != 'a' || chance(3) == 0;
    size_t done = 0;

    do {
        size_t some = whole || done == size ? size - done : 1 + chance(size - done);

        change(done ? 'a' : what, data + done, some);
        if (chance(64) == 0) /* lines beyond the limit hardly come about by mutation */
            change('w', data + done, some);
        steps(w, chance(3) != 0);
        done += some;
    } while (done < size);
}

static void run(unsigned who, const uint8_t *data, size_t size)
{
    struct follower w;
    uint8_t what = 'a';

    remove_files();
    written = 0;
    only_grew = true;
    put(path, 0, "", 0);
    begin_follower(&w, who);
    for (;;) {
        const uint8_t *mark = size ? memchr(data, PIECE_END, size) : NULL;
        size_t some = mark ? (size_t)(mark - data) : size;

        play(&w, what, data, some);
        if (!mark || size == some + 1)
            break;
        what = mark[1];
        data = mark + 2;
        size -= some + 2;
    }
    end_follower(&w);
    ZSTD_freeCCtx(packer);
    packer = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = 1469598103934665603u;

    begin();
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    for (unsigned who = 0; who < 3; who++) {
        state = hash;
        if (!fuzz_mutated || who == (hash >> 20) % 3)
            run(who, data, size);
    }
    return 0;
}
