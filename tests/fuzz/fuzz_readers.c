/*
 * fuzz_readers - any bytes as a log, in up to three parts (parted by 0x1E), for the commands themselves: report in all
 * its views, replay, compare, diff, annotate, validate, export. None crashes; each ends with a status it may have; none
 * says that a log is complete of which another one says that it is not.
 *
 * A mutated input is read by one of the views, chosen by its content; the corpus by all.
 */
#include "cli/commands.h"
#include "export/export.h"
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

#define MUST(condition) ((condition) ? (void)0 : must(#condition, __LINE__))

static void must(const char *condition, int line)
{
    printf("fuzz_readers.c:%d: does not hold: %s\n", line, condition);
    fflush(stdout);
    abort();
}

#define PARTS 3

static char folder[64], parts[PARTS][80];

struct view {
    const struct cli_command *command;
    const char *words[5];
    bool twice;
};

static const struct view views[] = {
    {&cmd_report, {"report", "--no-lines"}, false},
    {&cmd_report, {"report", "--no-lines", "--format=json"}, false},
    {&cmd_report, {"report", "--no-lines", "--by=line", "--format=json"}, false},
    {&cmd_report, {"report", "--by=method"}, false},
    {&cmd_report, {"report", "--format=folded"}, false},
    {&cmd_report, {"report", "--no-lines", "--from=warm", "--by=type"}, false},
    {&cmd_events, {"events", "--no-lines", "exceptions"}, false},
    {&cmd_events, {"events", "--no-lines", "exceptions", "--format=json"}, false},
    {&cmd_events, {"events", "--no-lines", "gc"}, false},
    {&cmd_events, {"events", "--no-lines", "gc", "--format=json"}, false},
    {&cmd_events, {"events", "--no-lines", "jit", "--format=json"}, false},
    {&cmd_events, {"events", "--no-lines", "suspensions", "--format=json"}, false},
    {&cmd_events, {"events", "--no-lines", "calls"}, false},
    {&cmd_profile, {"profile"}, false},
    {&cmd_profile, {"profile", "--format=json"}, false},
    {&cmd_profile, {"profile", "--format=folded"}, false},
    {&cmd_replay, {"replay"}, false},
    {&cmd_replay, {"replay", "--format=json", "--interleaved"}, false},
    {&cmd_compare, {"compare"}, false},
    {&cmd_compare, {"compare", "--format=json"}, true},
    {&cmd_diff, {"diff", "--no-lines"}, true},
    {&cmd_diff, {"diff", "--no-lines", "--format=json", "--by=type"}, true},
    {&cmd_annotate, {"annotate"}, false},
    {&cmd_validate, {"validate", "--format=json"}, false},
    {&cmd_export, {"export", "--no-lines", "--format=pprof", "-o-"}, false},
    {&cmd_export, {"export", "--each", "--format=speedscope", "-o-"}, false},
    {&cmd_export, {"export", "--format=perfview", "--min-share=0", "-o-"}, false},
    {&cmd_export, {"export", "--format=nettrace", "--each", "-o-"}, false},
    {&cmd_export, {"export", "--format=collapsed", "--min-share=9", "-o-"}, false},
};
#define VIEWS (sizeof(views) / sizeof(views[0]))

static void forget(void)
{
    for (int i = 0; i < PARTS; i++)
        unlink(parts[i]);
    rmdir(folder);
}

/* Problems are told on stderr: many, and the same for ever. */
static void begin(void)
{
    if (*folder)
        return;
    snprintf(folder, sizeof(folder), "%s/shadowtrace-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    MUST(mkdtemp(folder));
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

static void look(const struct view *view)
{
    char *argv[10] = {NULL};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int argc = 0, status;

    MUST(out);
    for (; view->words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)view->words[argc];
    argv[argc++] = parts[0];
    if (view->twice)
        argv[argc++] = parts[0];
    if (view->command == &cmd_annotate)
        argv[argc++] = (char *)(uintptr_t) "Program.cs";
    status = cli_run(view->command, argc, argv, out);
    fclose(out);
    MUST(status >= CLI_OK && status <= CLI_IO);
    MUST(!strstr(text, "complete to its end") || !strstr(text, "\"complete\":false"));
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
            look(&views[i]);
    return 0;
}
