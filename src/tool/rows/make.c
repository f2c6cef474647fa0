#include "rows/tables.h"

#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define FLUSH ((size_t)256 << 10)

int rows_log_new(struct rows_log **out)
{
    struct rows_log *r = memory_zalloc(1, sizeof(*r));

    *out = r;
    if (!r)
        return -ENOMEM;
    r->fd = -1;
    r->invented = IL_MOST - 1; /* SOURCE_LINE_LAST means something */
    return 0;
}

void rows_log_free(struct rows_log *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->texts.count; i++)
        memory_free((void *)(uintptr_t)r->texts.rows[i].text);
    for (size_t i = 0; i < 10; i++)
        index_free((struct index *[]){&r->texts.index, &r->modules.index, &r->methods.index,
                                      &r->types.index, &r->frames.index, &r->stacks.index,
                                      &r->recordings.index, &r->places.index, &r->others.index,
                                      &r->amounts.index}[i]);
    memory_free_all(r->texts.rows, r->modules.rows, r->methods.rows, r->types.rows, r->frames.rows,
                    r->stacks.rows, r->recordings.rows, r->places.rows, r->others.rows,
                    r->amounts.rows);
    buffer_free(&r->defined);
    buffer_free(&r->program);
    buffer_free(&r->started);
    if (r->fd >= 0)
        close(r->fd);
    memory_free(r);
}

const struct rows_log_sums *rows_log_sums(const struct rows_log *r)
{
    return &r->sums;
}

/* ---- reading ---- */

/* What is not packed by gzip comes as it is. */
static ssize_t gz_read(void *file, void *to, size_t size)
{
    int got = gzread(file, to, size > INT32_MAX ? INT32_MAX : (unsigned)size), why;

    if (got >= 0)
        return got;
    (void)gzerror(file, &why);
    return why == Z_ERRNO ? -errno : why == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

static void gz_close(void *file)
{
    (void)gzclose_r(file); /* it was read only */
}

static int open_lines(const char *path, struct report_lines **out)
{
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : file_open(path);
    gzFile file;

    *out = NULL;
    if (fd < 0)
        return path[0] == '-' && !path[1] ? -errno : fd;
    file = gzdopen(fd, "rb");
    if (!file) {
        close(fd);
        return -ENOMEM;
    }
    return report_lines_from(&(struct report_source){gz_read, gz_close, file}, out);
}

static int take_line(struct rows_log *r, const struct report_line *line, char why[ROWS_LOG_WHY])
{
    json_error_t error;
    json_t *row;
    int err;

    if (line->too_long) {
        snprintf(why, ROWS_LOG_WHY, "the line is longer than %zu MB", REPORT_LINE_MAX >> 20);
        return -EBADMSG;
    }
    if (!line->size)
        return 0;
    row = json_loadb(line->text, line->size, 0, &error);
    if (!json_is_object(row)) {
        snprintf(why, ROWS_LOG_WHY, "the line is no row%s",
                 line->cut ? ": the file ends within it" : "");
        err = -EBADMSG;
    } else {
        err = rows_log_take(r, row, why);
    }
    json_decref(row);
    return err;
}

int rows_log_read(struct rows_log *r, const char *path, char why[ROWS_LOG_WHY])
{
    struct report_lines *lines;
    struct report_line line;
    char wrong[ROWS_LOG_WHY] = "";
    int err = open_lines(path, &lines), got;

    *why = '\0';
    if (err)
        return err;
    while (!err && (got = report_lines_next(lines, &line)) != 0)
        err = got < 0 ? got : take_line(r, &line, wrong);
    if (!err && report_lines_damage(lines)) {
        snprintf(wrong, sizeof(wrong), "%s", report_lines_damage(lines));
        err = -EBADMSG;
    }
    if (r->defined.failed || r->program.failed || r->started.failed)
        err = -ENOMEM;
    if (err == -EBADMSG || err == -EPROTO)
        snprintf(why, ROWS_LOG_WHY, "%.100s:%llu: %.170s", path, (unsigned long long)line.at.line,
                 *wrong ? wrong : "compressed data is damaged");
    report_lines_free(lines);
    return err;
}

/* ---- the log ---- */

static int flush(struct buffer *b, int fd)
{
    size_t done = 0;

    while (!b->failed && done < b->size) {
        ssize_t wrote = write(fd, b->data + done, b->size - done);

        if (wrote < 0 && errno != EINTR)
            return -errno;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (b->failed)
        return -ENOMEM;
    buffer_clear(b);
    return 0;
}

/* Of all recordings: the latest beginning, and the sum of what came before, if that is known. */
static void put_sampling(const struct rows_log *r, struct buffer *b)
{
    struct report_sampling all = {.bytes = 0};
    bool ticks = false;

    for (size_t i = 0; i < r->recordings.count; i++) {
        const struct rows_recording *one = &r->recordings.rows[i];

        ticks |= one->ticks;
        all.how = one->sampling.how > all.how ? one->sampling.how : all.how;
        all.bytes += one->sampling.bytes;
        if (one->sampling.since_ns > all.since_ns)
            all.since_ns = one->sampling.since_ns;
    }
    if (all.how == REPORT_BEFORE_NONE)
        return;
    buffer_format(b, ",\"sampler\":\"%s\",\"sampling\":{\"since\":%llu",
                  ticks ? "ticks" : "runtime", (unsigned long long)all.since_ns);
    if (all.how != REPORT_BEFORE_UNKNOWN)
        buffer_format(b, ",\"before%s\":%llu", all.how == REPORT_BEFORE_MOST ? "_most" : "",
                      (unsigned long long)all.bytes);
    buffer_char(b, '}');
}

static void put_header(const struct rows_log *r, struct buffer *b)
{
    buffer_format(b, "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":%llu",
                  (unsigned long long)(r->sums.recordings == 1 ? r->pid : 0));
    if (r->programs == 1) {
        buffer_text(b, ",\"executable\":");
        buffer_json_string(b, r->program.data);
    }
    buffer_text(b, ",\"command\":[");
    if (r->programs == 1)
        buffer_json_string(b, r->program.data);
    else
        buffer_format(b, "\"%llu recordings\"", (unsigned long long)r->sums.recordings);
    buffer_text(b, "],\"options\":{\"log\":\"sites\"},\"clock\":0");
    if (r->started.size) {
        buffer_text(b, ",\"started\":");
        buffer_json_string(b, r->started.data);
    }
    put_sampling(r, b);
    buffer_text(b, "}\n");
}

static int put_amounts(struct rows_log *r, struct buffer *b)
{
    int err = 0;

    for (size_t i = 0; !err && i < r->amounts.count; i++) {
        const struct rows_amount *a = &r->amounts.rows[i];
        const struct rows_stack *stack = &r->stacks.rows[a->stack];
        int32_t il = stack->node ? r->frames.rows[stack->frame].il : REPORT_NO_IL;

        r->sums.bytes += a->bytes;
        r->sums.allocs += a->allocs;
        buffer_format(b,
                      "{\"kind\":\"site\",\"node\":%u,\"class\":%u,\"allocs\":%llu,"
                      "\"bytes\":%llu",
                      stack->node, a->type + 1, (unsigned long long)a->allocs,
                      (unsigned long long)a->bytes);
        if (il != REPORT_NO_IL)
            buffer_format(b, ",\"il\":%d", il);
        buffer_text(b, "}\n");
        if (b->size > FLUSH)
            err = flush(b, r->fd);
    }
    return err;
}

/* Of recordings that are not complete the log has no end: nobody knows what is missing. */
static void put_end(struct rows_log *r, struct buffer *b)
{
    for (size_t i = 0; i < r->recordings.count; i++) {
        r->sums.lost += r->recordings.rows[i].lost;
        r->sums.incomplete += r->recordings.rows[i].incomplete;
    }
    if (r->sums.incomplete && !r->sums.lost)
        return;
    buffer_format(b,
                  "{\"kind\":\"end\",\"t\":0,\"seen\":%llu,\"written\":%llu,\"lost\":%llu,"
                  "\"lost_by\":{},\"bytes\":%llu}\n",
                  (unsigned long long)(r->sums.allocs + r->sums.lost),
                  (unsigned long long)r->sums.allocs, (unsigned long long)r->sums.lost,
                  (unsigned long long)r->sums.bytes);
}

int rows_log_make(struct rows_log *r, char path[ROWS_LOG_PATH])
{
    struct buffer b = BUFFER_INIT;
    int err;

    r->fd = memfd_create("rows", MFD_CLOEXEC);
    if (r->fd < 0)
        return -errno;
    snprintf(path, ROWS_LOG_PATH, "/proc/self/fd/%d", r->fd);
    put_header(r, &b);
    err = flush(&b, r->fd);
    if (!err)
        err = flush(&r->defined, r->fd);
    if (!err)
        err = put_amounts(r, &b);
    if (!err) {
        put_end(r, &b);
        err = flush(&b, r->fd);
    }
    buffer_free(&b);
    return err;
}

int rows_log_give(const struct rows_log *r, const struct report_defs *defs,
                  struct source_lines *lines)
{
    int err = 0;

    for (size_t i = 0; !err && i < r->places.count; i++) {
        const struct rows_place *place = &r->places.rows[i];
        uint32_t number = report_ids_get(&defs->methods.ids, place->method + 1);

        if (!place->line || !number)
            continue;
        err = source_lines_give(lines, number - 1, place->il, place->file, place->line);
        if (!err) /* it is known to have some */
            err = source_lines_give(lines, number - 1, SOURCE_LINE_LAST, place->file, place->line);
    }
    return err;
}
