/*
 * fuzz_live - any bytes as a log that was recorded with --live: each question is asked of it, with and without bounds,
 * in pieces and at once, and each view that tells of live objects prints it. Arrays beside the cells are as long as
 * these; what is summed up of all cells is what they come to.
 *
 * A mutated input answers one of the questions and one of the views, chosen by its content; the corpus all.
 */
#include "must.h"

#include "cli/commands.h"
#include "page/page.h"
#include "readers/marks.h"
#include "report/cells.h"
#include "views/views.h"

#include "base/atomics.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern bool fuzz_mutated; /* driver.c, as is the next */
void fuzz_silence(void);

/* A log in memory, a few bytes at once; waits: after each piece there is no more for now. */
struct pieces {
    const uint8_t *data;
    size_t size, at, piece;
    bool waits, waited;
};

static ssize_t pieces_read(void *context, void *to, size_t size)
{
    struct pieces *p = context;
    size_t some = p->size - p->at;

    p->waited = p->waits && !p->waited;
    if (p->waited && some)
        return -EAGAIN;
    some = some < p->piece ? some : p->piece;
    some = some < size ? some : size;
    memcpy(to, p->data + p->at, some);
    p->at += some;
    return (ssize_t)some;
}

static struct log_lines *lines_of(struct pieces *p)
{
    const struct log_source source = {pieces_read, NULL, p};
    struct log_lines *lines = NULL;

    p->at = 0;
    p->waited = false;
    MUST(log_lines_from(&source, &lines) == 0);
    return lines;
}

static void check_cells(const struct report_cells *c)
{
    MUST(!c->sampled || c->sampled_capacity >= c->count);
    MUST(!c->lives || c->lives_capacity >= c->count);
    MUST(!c->spreads || c->spreads_capacity >= c->count);
}

static int count_event(void *context, const struct report_cell_event *event)
{
    *(uint64_t *)context += event->cell;
    return 0;
}

/* Sums of all cells, before other amounts replace the allocated ones. */
static void check_sums(const struct report_cells *c)
{
    double bytes = 0;

    for (size_t i = 0; c->lives && i < c->count; i++)
        bytes += c->lives[i].bytes;
    MUST(!c->lives || c->options.instead || bytes == c->live_sum.bytes);
    for (size_t i = 0; i < c->live.death_count; i++)
        MUST(c->live.deaths[i].number < c->count);
}

static struct report_live_bound bound_of(uint64_t chance)
{
    return (struct report_live_bound){.given = chance & 1,
                                      .is_gc = chance & 2,
                                      .gc = chance >> 2 & 7,
                                      .at = {1, (chance >> 5 & 31) * 100, chance >> 10 & 31}};
}

static void spans_of(const uint8_t *data, size_t size, enum report_live_question question,
                     uint64_t chance, struct report_live_spans *out)
{
    const struct report_live_bound from = bound_of(chance), to = bound_of(chance >> 15);
    struct pieces p = {.data = data, .size = size, .piece = SIZE_MAX};
    struct log_marks marks = {.marks = NULL};
    struct log_lines *lines = lines_of(&p);

    (void)log_marks_read_lines(lines, &marks);
    log_lines_free(lines);
    MUST(report_live_choose(&marks, question, &from, &to, out) == 0);
    log_marks_fini(&marks);
}

static void ask(const uint8_t *data, size_t size, enum report_live_question question,
                uint64_t chance)
{
    uint64_t events = 0;
    const struct report_cells_options options = {
        .paths = true,
        .ils = chance & 1,
        .types = chance & 2,
        .sizes = chance & 4,
        .live = question,
        .instead = question && chance & 8,
        .slice_ns = chance & 16 ? 100 : 0,
        .slices_max = 8,
        .event = chance & 16 || !(chance & 32) ? NULL : count_event,
        .event_context = &events};
    struct pieces p = {.data = data, .size = size, .piece = 1 + (chance >> 6) % 200, .waits = true};
    struct report_live_spans spans = {NULL, 0};
    struct log_problems problems;
    struct log_reading *reading;
    struct log_lines *lines = lines_of(&p);
    struct report_cells c;
    int err;

    log_problems_init(&problems);
    MUST(report_cells_init(&c, &options, &problems) == 0);
    c.live.keeps_changes = chance & 64 && !options.instead;
    if (question && chance & 128) {
        spans_of(data, size, question, chance >> 8, &spans);
        report_cells_spans(&c, &spans);
    }
    MUST(log_reading_new(lines, "fuzz", &c.defs, &c.consumer, &c.log, &reading) == 0);
    while ((err = log_reading_more(reading)) == -EAGAIN)
        check_cells(&c);
    log_reading_free(reading);
    check_cells(&c);
    MUST(report_cells_flush(&c) == 0);
    check_cells(&c);
    if (chance & 256)
        MUST(report_cells_logical(&c) == 0);
    MUST(report_cells_finish(&c) == 0);
    check_cells(&c);
    check_sums(&c);
    report_cells_fini(&c);
    report_live_spans_fini(&spans);
    log_lines_free(lines);
    log_problems_fini(&problems);
}

/* ---- views ---- */

#define VIEW(...) \
    { \
        &cmd_report, \
        { \
            "report", "--no-lines", __VA_ARGS__ \
        } \
    }

static const struct {
    const struct cli_command *command;
    const char *words[8];
} views[] = {
    VIEW("--view=live"),
    VIEW("--view=live", "--format=json"),
    VIEW("--view=live", "--at=2", "--by=type"),
    VIEW("--view=live", "--at=warm", "--by=tree"),
    VIEW("--view=peak", "--by=site"),
    VIEW("--view=peak", "--by=line", "--format=json"),
    VIEW("--view=end", "--by=own"),
    VIEW("--view=end", "--by=type", "--format=json"),
    VIEW("--view=end", "--from=warm"),
    VIEW("--view=grown"),
    VIEW("--view=grown", "--from=1", "--format=json"),
    VIEW("--view=temporary", "--by=tree"),
    VIEW("--view=temporary", "--format=json"),
    VIEW("--view=lifetimes"),
    VIEW("--view=lifetimes", "--by=type", "--format=json"),
    VIEW("--view=overview"),
    VIEW("--view=overview", "--format=json"),
    {&cmd_html, {"html", "--no-lines", "--quiet", "-o-"}},
    {&cmd_diff, {"diff", "--no-lines", "--view=end"}},
    {&cmd_diff, {"diff", "--no-lines", "--view=temporary", "--format=json"}},
};

static void look(size_t which, char *path)
{
    char *argv[12] = {NULL}, *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int argc = 0, status;

    MUST(out);
    for (; views[which].words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)views[which].words[argc];
    argv[argc++] = path;
    if (views[which].command == &cmd_diff)
        argv[argc++] = path;
    status = cli_run(views[which].command, argc, argv, out);
    MUST(!fclose(out) && status >= CLI_OK && status <= CLI_IO);
    MUST(!strstr(text, "complete to its end") || !strstr(text, "\"complete\":false"));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = 1469598103934665603u;
    int fd = memfd_create("live", MFD_CLOEXEC);
    char path[40];

    fuzz_silence();
    opterr = 0;
    MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    for (unsigned i = REPORT_LIVE_NONE; i <= REPORT_LIVE_LIFETIMES; i++)
        if (!fuzz_mutated || i == (hash >> 20) % (REPORT_LIVE_LIFETIMES + 1))
            ask(data, size, (enum report_live_question)i, (hash >> 24) + i);
    for (size_t i = 0; i < COUNT_OF(views); i++)
        if (!fuzz_mutated || i == (hash >> 30) % COUNT_OF(views))
            look(i, path);
    close(fd);
    return 0;
}
