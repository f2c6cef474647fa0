#include "command/reading.h"

#include "command/print_complete.h"
#include "command/print_json.h"
#include "command/rows.h"
#include "terminal/text.h"

#include "base/clock.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_NS    400000000u /* no progress bar for what is done sooner */
#define REDRAW_NS      100000000u
#define BAR            30 /* columns */
#define SHOWN_PROBLEMS 5

const char *const rows_formats[] = {"text", "json", NULL};

unsigned reading_threads(const struct reading_options *options)
{
    cpu_set_t mine;
    int count;

    if (options->jobs)
        return options->jobs;
    count = sched_getaffinity(0, sizeof(mine), &mine) ? 1 : CPU_COUNT(&mine);
    return count > 8 ? 8 : (unsigned)count;
}

void reading_progress_init(struct reading_progress *p, const struct reading_options *options)
{
    *p = (struct reading_progress){.started = clock_ns(),
                                   .wanted = !options->quiet && isatty(STDERR_FILENO) == 1};
}

void reading_bar(char *to, size_t room, uint64_t taken, uint64_t size, uint64_t ns)
{
    char bar[BAR + 1], left[32] = "";
    double share = taken < size ? (double)taken / (double)size : 1;
    double seconds = (double)ns / 1e9;

    if (!size) {
        snprintf(to, room, "reading: %.1f GB", (double)taken / 1e9);
        return;
    }
    for (size_t i = 0; i < BAR; i++)
        bar[i] = (double)i < share * BAR ? '#' : '.';
    bar[BAR] = '\0';
    if (share > 0.02)
        snprintf(left, sizeof(left), ", %.0f s left", seconds / share - seconds);
    snprintf(to, room, "reading [%s] %3.0f%% of %.1f GB%s", bar, 100 * share, (double)size / 1e9,
             left);
}

void reading_progress(void *progress, uint64_t taken, uint64_t size)
{
    struct reading_progress *p = progress;
    uint64_t now = p->wanted ? clock_ns() : 0;
    char text[120];

    if (!p->wanted || now - p->started < PATIENCE_NS || now - p->drawn < REDRAW_NS)
        return;
    reading_bar(text, sizeof(text), taken, size, now - p->started);
    fprintf(stderr, "\r\033[K%s", text);
    p->drawn = now;
    p->shown = true;
}

void reading_progress_end(struct reading_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

int reading_window(const struct cli_command *command, const char *path,
                   const struct reading_window *window, struct report_window *out)
{
    struct report_marks marks = {NULL, 0, 0};
    char why[1000] = "";
    int err, status = CLI_OK;

    *out = (struct report_window){.has_from = false};
    if (!window->from && !window->to)
        return CLI_OK;
    err = report_marks_read(path, &marks);
    if (err) {
        cli_complain(command, "cannot read %s: %s", path,
                     err == -ESPIPE ? "it must be a file, because marks need two passes"
                                    : strerror(-err));
        status = CLI_IO;
    } else if (report_marks_window(&marks, window->from, window->to, out, why, sizeof(why))) {
        cli_complain(command, "%s: %s", path, why);
        status = CLI_USAGE;
    }
    report_marks_fini(&marks);
    return status;
}

int reading_failed(const struct cli_command *command, const char *path,
                   const struct report_log *log, int err)
{
    if (err == -EPROTO || err == -EBADMSG)
        cli_complain(command, "%s: %s", path, log->why);
    else
        cli_complain(command, "cannot read %s: %s", path, strerror(-err));
    return CLI_IO;
}

void reading_problems(const struct cli_command *command, const struct report_problems *problems)
{
    size_t shown = problems->kept_count < SHOWN_PROBLEMS ? problems->kept_count : SHOWN_PROBLEMS;

    for (size_t i = 0; i < shown; i++) {
        const struct report_problem *p = &problems->kept[i];

        cli_complain(command, "%s:%llu: offset %llu: %s", p->file ? p->file : "-",
                     (unsigned long long)p->place.line, (unsigned long long)p->place.offset,
                     p->text);
    }
    if (problems->count > shown)
        cli_complain(command, "%llu more problems of these kinds or others",
                     (unsigned long long)(problems->count - shown));
}

/* What a log calls itself and what the file system calls it need not be UTF-8; JSON must be. */
json_t *reading_text_json(const char *text)
{
    json_t *json = json_string(text);
    char ascii[512];
    size_t i;

    if (json)
        return json;
    for (i = 0; text[i] && i < sizeof(ascii) - 1; i++)
        ascii[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    ascii[i] = '\0';
    return json_string(ascii);
}

json_t *reading_log_json(const struct report_log *log, const struct report_problems *problems)
{
    json_t *list = json_array(), *complete = print_complete_json(log), *json;

    for (size_t i = 0; list && i < problems->kept_count; i++) {
        const struct report_problem *p = &problems->kept[i];

        json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:o}", "file",
                                              reading_text_json(p->file ? p->file : "-"), "line",
                                              (json_int_t)p->place.line, "offset",
                                              (json_int_t)p->place.offset, "text",
                                              reading_text_json(p->text)));
    }
    json = json_pack("{s:o, s:b, s:b, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "file",
                     reading_text_json(log->file ? log->file : "-"), "ended",
                     (int)report_log_ended(log), "cut", (int)(log->cut > 0), "lost_others",
                     report_log_lost_others(log), "lines", (json_int_t)log->lines, "bytes",
                     (json_int_t)log->bytes, "skipped", (json_int_t)log->skipped, "unknown_records",
                     (json_int_t)log->unknown_records, "unknown_members",
                     (json_int_t)log->unknown_members, "problem_count", (json_int_t)problems->count,
                     "problems", list);
    if (json && complete)
        json_object_update(json, complete);
    json_decref(complete);
    return json;
}

void reading_log_write(const struct report_log *log, const struct report_problems *problems,
                       const char *key, struct json_writer *w)
{
    json_t *json = reading_log_json(log, problems);
    char *text = print_json_text(json, JSON_COMPACT);

    jw_raw(w, key, text);
    memory_free(text);
    json_decref(json);
}

bool reading_records(const struct report_log *log, const char *events)
{
    const json_t *list = json_object_get(json_object_get(log->header, "options"), "events"), *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *word = json_string_value(one);

        if (word && (strcmp(word, events) == 0 || strcmp(word, "all") == 0))
            return true;
    }
    return false;
}

void reading_completeness(const struct report_log *log, FILE *out)
{
    struct text_number n, m;

    print_complete(log, out);
    if (log->unknown_records || log->unknown_members)
        fprintf(out, "Of a later version, and skipped: records %s, members %s.\n",
                text_count(&n, log->unknown_records), text_count(&m, log->unknown_members));
}
