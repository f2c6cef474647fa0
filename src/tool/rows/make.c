#include "rows/tables.h"

#include "base/file.h"

#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

int rows_log_new(struct report_cells *cells, struct rows_log **out)
{
    struct rows_log *r = memory_zalloc(1, sizeof(*r));

    *out = r;
    if (!r)
        return -ENOMEM;
    r->cells = cells;
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
    buffer_free(&r->program);
    buffer_free(&r->started);
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

static int open_lines(const char *path, struct log_lines **out)
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
    return log_lines_from(&(struct log_source){gz_read, gz_close, file}, out);
}

static int take_line(struct rows_log *r, const struct log_line *line, char why[ROWS_LOG_WHY])
{
    json_error_t error;
    json_t *row;
    int err;

    if (line->too_long) {
        snprintf(why, ROWS_LOG_WHY, "the line is longer than %zu MB", LOG_LINE_MAX >> 20);
        return -EBADMSG;
    }
    if (!line->size)
        return 0;
    row = json_loadb(line->text, line->size, 0, &error);
    if (!json_is_object(row)) {
        snprintf(why, ROWS_LOG_WHY, "the line is not a row%s",
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
    struct log_lines *lines;
    struct log_line line;
    char wrong[ROWS_LOG_WHY] = "";
    int err = open_lines(path, &lines), got;

    *why = '\0';
    if (err)
        return err;
    r->cells->log.file = r->cells->defs.problems->file = path;
    while (!err && (got = log_lines_next(lines, &line)) != 0)
        err = got < 0 ? got : take_line(r, &line, wrong);
    if (!err && log_lines_damage(lines)) {
        snprintf(wrong, sizeof(wrong), "%s", log_lines_damage(lines));
        err = -EBADMSG;
    }
    if (r->program.failed || r->started.failed)
        err = -ENOMEM;
    if (err == -EBADMSG || err == -EPROTO)
        snprintf(why, ROWS_LOG_WHY, "%.100s:%llu: %.170s", path, (unsigned long long)line.at.line,
                 *wrong ? wrong : "compressed data is damaged");
    log_lines_free(lines);
    return err;
}

/* ---- the cells ---- */

int rows_log_put(struct rows_log *r, enum sst_kind kind, json_t *json)
{
    int err = json ? report_cells_put(r->cells, &(struct log_record){.kind = kind, .json = json})
                   : -ENOMEM;

    json_decref(json);
    return err;
}

/* Of all recordings: the latest beginning, and the sum of what came before, if that is known. */
static void put_sampling(const struct rows_log *r, json_t *header)
{
    struct log_sampling all = {.bytes = 0};
    bool ticks = false;
    json_t *sampling;

    for (size_t i = 0; i < r->recordings.count; i++) {
        const struct rows_recording *one = &r->recordings.rows[i];

        ticks |= one->ticks;
        all.how = one->sampling.how > all.how ? one->sampling.how : all.how;
        all.bytes += one->sampling.bytes;
        if (one->sampling.since_ns > all.since_ns)
            all.since_ns = one->sampling.since_ns;
    }
    if (all.how == LOG_BEFORE_NONE)
        return;
    sampling = json_pack("{s:I}", "since", (json_int_t)all.since_ns);
    if (all.how != LOG_BEFORE_UNKNOWN)
        json_object_set_new(sampling, all.how == LOG_BEFORE_MOST ? "before_most" : "before",
                            json_integer((json_int_t)all.bytes));
    json_object_set_new(header, "sampler", json_string(ticks ? "ticks" : "runtime"));
    json_object_set_new(header, "sampling", sampling);
}

static int put_header(struct rows_log *r)
{
    const char *program = r->programs == 1 ? r->program.data : NULL;
    char several[60];
    json_t *header;

    snprintf(several, sizeof(several), "%llu recordings", (unsigned long long)r->sums.recordings);
    header = json_pack("{s:s, s:s, s:i, s:I, s:s*, s:[s], s:{s:s}, s:i, s:s*}", "kind", "header",
                       "format", SST_LOG_FORMAT, "version", SST_LOG_VERSION, "pid",
                       (json_int_t)(r->sums.recordings == 1 ? r->pid : 0), "executable", program,
                       "command", program ? program : several, "options", "log", "sites", "clock",
                       0, "started", r->started.size ? r->started.data : NULL);
    if (header)
        put_sampling(r, header);
    return rows_log_put(r, SST_KIND_HEADER, header);
}

static int put_amounts(struct rows_log *r)
{
    int err = 0;

    for (size_t i = 0; !err && i < r->amounts.count; i++) {
        const struct rows_amount *amount = &r->amounts.rows[i];
        const struct rows_stack *stack = &r->stacks.rows[amount->stack];
        const struct log_record site = {
            .kind = SST_KIND_SITE,
            .alloc = {.bytes = amount->bytes,
                      .allocs = amount->allocs,
                      .class_id = amount->type + 1,
                      .node = stack->node,
                      .il = stack->node ? r->frames.rows[stack->frame].il : LOG_NO_IL}};

        r->sums.bytes += amount->bytes;
        r->sums.allocs += amount->allocs;
        err = report_cells_put(r->cells, &site);
    }
    return err;
}

/* Of recordings that are not complete there is no end: nobody knows what is missing. */
static int put_end(struct rows_log *r)
{
    struct rows_log_sums *sums = &r->sums;

    for (size_t i = 0; i < r->recordings.count; i++) {
        sums->lost += r->recordings.rows[i].lost;
        sums->incomplete += r->recordings.rows[i].incomplete;
    }
    if (sums->incomplete && !sums->lost)
        return 0;
    return rows_log_put(r, SST_KIND_END,
                        json_pack("{s:s, s:i, s:I, s:I, s:I, s:{}, s:I}", "kind", "end", "t", 0,
                                  "seen", (json_int_t)(sums->allocs + sums->lost), "written",
                                  (json_int_t)sums->allocs, "lost", (json_int_t)sums->lost,
                                  "lost_by", "bytes", (json_int_t)sums->bytes));
}

int rows_log_end(struct rows_log *r)
{
    int err = put_header(r);

    if (!err)
        err = put_amounts(r);
    return err ? err : put_end(r);
}

int rows_log_give(const struct rows_log *r, struct source_lines *lines)
{
    const struct log_id_map *methods = &r->cells->defs.methods.ids;
    int err = 0;

    for (size_t i = 0; !err && i < r->places.count; i++) {
        const struct rows_place *place = &r->places.rows[i];
        uint32_t number = log_id_map_get(methods, place->method + 1);

        if (!place->line || !number)
            continue;
        err = source_lines_give(lines, number - 1, place->il, place->file, place->line);
        if (!err) /* it is known to have some */
            err = source_lines_give(lines, number - 1, SOURCE_LINE_LAST, place->file, place->line);
    }
    return err;
}
