#include "command/reading.h"

#include "command/print_complete.h"
#include "command/rows.h"
#include "readers/parts.h"
#include "terminal/terminal.h"
#include "terminal/text.h"

#include "base/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
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

int reading_once(const struct cli_command *command, char **logs, size_t *count)
{
    return cli_failed(command, log_parts_once(logs, count));
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
    struct text_number bytes;

    if (!size) {
        snprintf(to, room, "reading: %s", text_bytes(&bytes, taken));
        return;
    }
    for (size_t i = 0; i < BAR; i++)
        bar[i] = (double)i < share * BAR ? '#' : '.';
    bar[BAR] = '\0';
    if (share > 0.02)
        snprintf(left, sizeof(left), ", %.0f s left", seconds / share - seconds);
    snprintf(to, room, "reading [%s] %3.0f%% of %s%s", bar, 100 * share, text_bytes(&bytes, size),
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

static bool is_mark(const struct log_marks *marks, const char *text)
{
    for (size_t i = 0; i < marks->count; i++)
        if (strcmp(marks->marks[i].text, text) == 0)
            return true;
    return false;
}

/* "10s" or "50%" of `length`, in ns. Returns: whether it is either. */
static bool read_time(const char *text, uint64_t length, uint64_t *out)
{
    size_t digits = strspn(text, "0123456789.");
    char *end;
    double share;

    if (!digits)
        return false;
    if (strcmp(text + digits, "%") != 0)
        return text[digits] && !args_number(ARGS_DURATION, text, 0, SST_INTEGER_MAX, out);
    share = strtod(text, &end) / 100;
    *out = (uint64_t)(share * (double)length + 0.5);
    return end == text + digits && share >= 0 && share <= 1;
}

/* Either bound: a mark is left to the marks, a time goes to *moment. Returns: whether it is one. */
static bool take_time(const struct log_marks *marks, const char *text, struct log_moment *moment)
{
    *moment = (struct log_moment){.recording = 1};
    return text && !is_mark(marks, text) && read_time(text, marks->length, &moment->t);
}

static int find_window(const struct cli_command *command, const char *path,
                       const struct log_marks *marks, const struct reading_window *window,
                       struct log_window *out)
{
    struct log_moment from, to;
    bool from_time = take_time(marks, window->from, &from),
         to_time = take_time(marks, window->to, &to);
    char why[1000] = "";

    if (log_marks_window(marks, from_time ? NULL : window->from, to_time ? NULL : window->to, out,
                         why, sizeof(why))) {
        cli_complain(command, "%s: %s", path, why);
        return CLI_USAGE;
    }
    if ((from_time || to_time) && marks->untimed) {
        cli_complain(command,
                     "%s: sums of call sites have no times; give marks, or record without --log "
                     "sites",
                     path);
        return CLI_USAGE;
    }
    if (from_time) {
        out->has_from = true;
        out->from = from;
    }
    if (to_time) {
        out->has_to = true;
        out->to = to;
    }
    return CLI_OK;
}

int reading_window(const struct cli_command *command, const char *path,
                   const struct reading_window *window, struct log_window *out)
{
    struct log_marks marks = {.marks = NULL};
    int err, status = CLI_OK;

    *out = (struct log_window){.has_from = false};
    if (!window->from && !window->to)
        return CLI_OK;
    err = log_marks_read(path, &marks);
    if (err)
        status = cli_unreadable(
            command, path,
            err == -ESPIPE ? "it must be a file, because marks need two passes" : NULL, err);
    else
        status = find_window(command, path, &marks, window, out);
    log_marks_fini(&marks);
    return status;
}

/* The number of a collection, a time, or a mark (the first behind `from`, NULL: of all). */
static int live_bound(const struct cli_command *command, const char *path,
                      const struct log_marks *marks, const char *text, const char *from,
                      struct report_live_bound *out)
{
    struct log_window window;
    char why[1000] = "";

    *out = (struct report_live_bound){.given = text != NULL};
    if (!text || take_time(marks, text, &out->at))
        return CLI_OK;
    if (!is_mark(marks, text) && *text && !text[strspn(text, "0123456789")]) {
        out->is_gc = true;
        out->gc = strtoull(text, NULL, 10);
        return CLI_OK;
    }
    if (from && !is_mark(marks, from))
        from = NULL;
    if (log_marks_window(marks, from, text, &window, why, sizeof(why))) {
        cli_complain(command,
                     "%s: %s; a time such as 10s, or the number of a collection, will do, too",
                     path, why);
        return CLI_USAGE;
    }
    out->at = window.to;
    return CLI_OK;
}

/* An answer of another moment than was asked for is never silent. */
static void tell_missed(const struct cli_command *command, const char *path, const char *text,
                        const struct report_live_bound *bound, uint64_t missed,
                        const struct log_collection *answer)
{
    char of[60];

    if (!bound->given || (bound->is_gc ? answer->gc == bound->gc : !missed))
        return;
    if (answer->gc)
        snprintf(of, sizeof(of), "collection %llu", (unsigned long long)answer->gc);
    else
        snprintf(of, sizeof(of), "the beginning");
    if (bound->is_gc && !missed)
        cli_complain(command, "%s: collection %llu is not in the log: the answer is for %s", path,
                     (unsigned long long)bound->gc, of);
    else if (bound->is_gc)
        cli_complain(command,
                     "%s: collection %llu has no separate sums: the log has them at most once a "
                     "second, and at marks. The answer is for %s",
                     path, (unsigned long long)bound->gc, of);
    else
        cli_complain(
            command,
            "%s: the answer is for %s, and %llu after it, which may have run before \"%s\", "
            "%s no separate sums: the log has them at most once a second, and at marks",
            path, of, (unsigned long long)missed, text, missed == 1 ? "has" : "have");
}

static int choose_spans(const struct cli_command *command, const char *path,
                        const struct log_marks *marks, const struct reading_live *live,
                        const struct reading_window *window, struct report_live_spans *out)
{
    struct report_live_bound from, to;
    const char *end = live->at ? live->at : live->instead ? window->to : NULL;
    const char *begin = live->instead ? window->from : NULL;
    int status = live_bound(command, path, marks, begin, NULL, &from);

    if (!status)
        status = live_bound(command, path, marks, end, begin, &to);
    if (!status)
        status = cli_failed(command, report_live_choose(marks, live->question, &from, &to, out));
    for (size_t i = 1; !status && i <= out->count; i++) {
        const struct report_live_span *span = &out->spans[i];

        tell_missed(command, path, begin, &from, span->missed_first, &span->first);
        if (live->question != REPORT_LIVE_PEAK)
            tell_missed(command, path, end, &to, span->missed, &span->last);
    }
    return status;
}

int reading_spans(const struct cli_command *command, const char *path,
                  const struct reading_live *live, const struct reading_window *window,
                  struct report_live_spans *out, bool *known)
{
    struct log_marks marks = {.live_only = !live->instead};
    int err = 0, status = CLI_OK;

    *out = (struct report_live_spans){NULL, 0};
    *known = true;
    if (path)
        err = log_marks_read(path, &marks);
    else
        marks = (struct log_marks){.recordings = 1, .untimed = true};
    if (err == -ECANCELED || (err == -ESPIPE && !live->instead)) {
        *known = false;
    } else if (err) {
        status = cli_unreadable(
            command, path,
            err == -ESPIPE ? "it must be a file, because this needs two passes" : NULL, err);
    } else {
        status = choose_spans(command, path ? path : "rows", &marks, live, window, out);
    }
    log_marks_fini(&marks);
    return status;
}

static void print_bound(const char *before, const char *bound, bool is_mark, FILE *out)
{
    fprintf(out, "%s %s", before, is_mark ? "the mark \"" : "");
    text_elide(out, bound, terminal_width(out));
    fputs(is_mark ? "\"" : "", out);
}

void reading_bounds(const struct reading_window *bounds, const struct log_window *found, FILE *out)
{
    if (bounds->from)
        print_bound("From", bounds->from, found->from.line != 0, out);
    if (bounds->to)
        print_bound(bounds->from ? " to" : "Up to", bounds->to, found->to.line != 0, out);
    if (bounds->from || bounds->to)
        fputs(":\n", out);
}

const char *reading_error(const struct cli_command *command, int err)
{
    return err == -EISDIR && command->folders ? "no log is in this folder" : strerror(-err);
}

int reading_failed(const struct cli_command *command, const char *path, const struct log_input *log,
                   int err)
{
    if (err != -EPROTO && err != -EBADMSG)
        return cli_unreadable(command, path, reading_error(command, err), err);
    cli_complain(command, "%s: %s", path, log->why);
    return CLI_IO;
}

void reading_problems(const struct cli_command *command, const struct log_problems *problems)
{
    size_t shown = problems->kept_count < SHOWN_PROBLEMS ? problems->kept_count : SHOWN_PROBLEMS;

    for (size_t i = 0; i < shown; i++) {
        const struct log_problem *p = &problems->kept[i];

        cli_complain(command, "%s:%llu: offset %llu: %s", p->file ? p->file : "-",
                     (unsigned long long)p->place.line, (unsigned long long)p->place.offset,
                     p->text);
    }
    if (problems->count > shown)
        cli_complain(command, "%llu more problems of these kinds or others",
                     (unsigned long long)(problems->count - shown));
}

static void complain(const void *command, const char *line)
{
    cli_complain(command, "%s", line);
}

int reading_source_lines(const struct cli_command *command, const struct log_defs *defs,
                         const struct args_list *symbols, const struct log_input *log,
                         struct source_lines **out)
{
    return source_lines_new(defs, symbols->item, symbols->count, log->header, complain, command,
                            out);
}

bool reading_records(const struct log_input *log, const char *events)
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

void reading_completeness(const struct log_input *log, FILE *out)
{
    struct text_number n, m;

    print_complete(log, out);
    if (log->unknown_records || log->unknown_members)
        fprintf(out, "Of a later version, and skipped: records %s, members %s.\n",
                text_count(&n, log->unknown_records), text_count(&m, log->unknown_members));
}
