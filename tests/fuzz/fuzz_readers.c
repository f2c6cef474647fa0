/*
 * fuzz_readers - any bytes as a log, in up to three parts (parted by 0x1E), for the commands themselves: report in all
 * its views, replay, compare, diff, annotate, validate, export, html. None crashes; each ends with a status it may have;
 * none says that a log is complete of which another one says that it is not; all views have the same bytes in all.
 *
 * A mutated input is read by one of the views, chosen by its content; the corpus by all.
 */
#include "must.h"

#include "cli/commands.h"
#include "export/export.h"
#include "page/page.h"
#include "views/views.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern bool fuzz_mutated; /* driver.c, as is the next */
void fuzz_silence(void);

#define PARTS 3

static char folder[64], parts[PARTS][80];

struct view {
    const struct cli_command *command;
    const char *words[8];
    unsigned how;
};

#define TWICE 1u /* the log, and the log again */
#define SUMS  2u /* JSON whose total is that of the other views */

#define TEXT_OF(view, ...) \
    { \
        &cmd_report, {"report", "--no-lines", "--view", view, __VA_ARGS__}, 0 \
    }
#define SUMS_OF(view, ...) \
    { \
        &cmd_report, {"report", "--no-lines", "--format=json", "--view", view, __VA_ARGS__}, SUMS \
    }
#define BOTH_OF(view, ...) TEXT_OF(view, __VA_ARGS__), SUMS_OF(view, __VA_ARGS__)

static const struct view views[] = {
    {&cmd_report, {"report", "--no-lines"}, 0},
    {&cmd_report, {"report", "--no-lines", "--format=json"}, 0},
    {&cmd_report, {"report", "--no-lines", "--by=line", "--format=json"}, 0},
    {&cmd_report, {"report", "--by=method"}, 0},
    {&cmd_report, {"report", "--format=folded"}, 0},
    {&cmd_report, {"report", "--no-lines", "--from=warm", "--by=type"}, 0},
    {&cmd_events, {"events", "--no-lines", "exceptions"}, 0},
    {&cmd_events, {"events", "--no-lines", "exceptions", "--format=json"}, 0},
    {&cmd_events, {"events", "--no-lines", "gc"}, 0},
    {&cmd_events, {"events", "--no-lines", "gc", "--format=json"}, 0},
    {&cmd_events, {"events", "--no-lines", "jit", "--format=json"}, 0},
    {&cmd_events, {"events", "--no-lines", "suspensions", "--format=json"}, 0},
    {&cmd_events, {"events", "--no-lines", "calls"}, 0},
    {&cmd_profile, {"profile"}, 0},
    {&cmd_profile, {"profile", "--format=json"}, 0},
    {&cmd_profile, {"profile", "--format=folded"}, 0},
    {&cmd_replay, {"replay"}, 0},
    {&cmd_replay, {"replay", "--format=json", "--interleaved"}, 0},
    {&cmd_compare, {"compare"}, 0},
    {&cmd_compare, {"compare", "--format=json"}, TWICE},
    {&cmd_diff, {"diff", "--no-lines"}, TWICE},
    {&cmd_diff, {"diff", "--no-lines", "--format=json", "--by=type"}, TWICE},
    {&cmd_annotate, {"annotate"}, 0},
    {&cmd_validate, {"validate", "--format=json"}, 0},
    {&cmd_export, {"export", "--no-lines", "--format=pprof", "-o-"}, 0},
    {&cmd_export, {"export", "--no-lines", "--format=otlp", "-o-"}, 0},
    {&cmd_export, {"export", "--each", "--format=speedscope", "-o-"}, 0},
    {&cmd_export, {"export", "--format=perfview", "--min-share=0", "-o-"}, 0},
    {&cmd_export, {"export", "--format=nettrace", "--each", "-o-"}, 0},
    {&cmd_export, {"export", "--format=collapsed", "--min-share=9", "-o-"}, 0},
    BOTH_OF("overview", NULL),
    BOTH_OF("tree", NULL),
    BOTH_OF("tree", "--all-frames"),
    BOTH_OF("callers", "*"),
    BOTH_OF("callees", "*a*"),
    BOTH_OF("sites", "--names=short"),
    BOTH_OF("types", "--names=raw"),
    BOTH_OF("methods", "--own-code=*"),
    BOTH_OF("lines", NULL),
    BOTH_OF("modules", NULL),
    BOTH_OF("namespaces", NULL),
    BOTH_OF("threads", NULL),
    BOTH_OF("sizes", NULL),
    BOTH_OF("time", NULL),
    TEXT_OF("tree", "--below=*a*", "--exclude=*b*"),
    TEXT_OF("overview", "--from=10%", "--to=1s"),
    TEXT_OF("types", "--own", "--steady"),
    {&cmd_html, {"html", "-o-"}, 0},
    {&cmd_html, {"html", "--no-lines", "--slice=1ms", "--names=full", "-o-"}, 0},
    {&cmd_html, {"html", "--no-lines", "--min-share=1", "--below=*a*", "-o-"}, 0},
    {&cmd_html, {"html", "--no-lines", "--diff", "--names=raw", "-o-"}, TWICE},
};
#define VIEWS (sizeof(views) / sizeof(views[0]))

static void forget(void)
{
    for (int i = 0; i < PARTS; i++)
        unlink(parts[i]);
    rmdir(folder);
}

/* Problems are printed on stderr: many, and always the same. */
static void begin(void)
{
    if (*folder)
        return;
    must_make_folder(folder, sizeof(folder));
    for (int i = 0; i < PARTS; i++)
        snprintf(parts[i], sizeof(parts[i]), i ? "%s/log.%d" : "%s/log", folder, i);
    atexit(forget);
    opterr = 0;
    fuzz_silence();
}

static void store(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    MUST(fd >= 0);
    MUST(write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static void store_parts(const uint8_t *data, size_t size)
{
    const uint8_t *mark;

    for (int i = 1; i < PARTS; i++) {
        mark = size ? memchr(data, 0x1E, size) : NULL;
        unlink(parts[i]);
        if (!mark)
            continue;
        store(parts[i], data, (size_t)(mark - data));
        size -= (size_t)(mark - data) + 1;
        data = mark + 1;
    }
    store(parts[0], data, size);
}

/* What a view prints, to be freed. */
static char *look(const struct view *view)
{
    char *argv[12] = {NULL};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int argc = 0, status;

    MUST(out);
    for (; view->words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)view->words[argc];
    argv[argc++] = parts[0];
    if (view->how & TWICE)
        argv[argc++] = parts[0];
    if (view->command == &cmd_annotate)
        argv[argc++] = (char *)(uintptr_t) "Program.cs";
    status = cli_run(view->command, argc, argv, out);
    fclose(out);
    MUST(status >= CLI_OK && status <= CLI_IO);
    MUST(!strstr(text, "complete to its end") || !strstr(text, "\"complete\":false"));
    return text;
}

/* The total in a view's JSON: how many objects and bytes, and whether they are estimates; "" if it was refused. */
static const char *total_of(char *text)
{
    char *total = strstr(text, "\"total\":{"), *end = total ? strchr(total, '}') : NULL;

    if (!end)
        return "";
    *end = 0;
    return total;
}

static void look_and_compare(const struct view *view)
{
    static const struct view by_type = {
        &cmd_report, {"report", "--no-lines", "--format=json", "--by=type"}, 0};
    char *text = look(view), *same;
    const char *total = view->how & SUMS ? total_of(text) : "", *expected;

    if (*total) {
        same = look(&by_type);
        expected = total_of(same);
        if (strcmp(total, expected) != 0) {
            printf("--view %s: %s\n--by type: %s\n", view->words[4], total, expected);
            must("all views have the same total", __FILE__, __LINE__);
        }
        free(same);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = 1469598103934665603u;

    begin();
    store_parts(data, size);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    for (size_t i = 0; i < VIEWS; i++)
        if (!fuzz_mutated || i == (hash >> 20) % VIEWS)
            look_and_compare(&views[i]);
    return 0;
}
