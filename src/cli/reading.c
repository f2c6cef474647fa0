#include "cli/reading.h"

#include "cli/text.h"

#include "base/clock.h"

#include <string.h>
#include <unistd.h>

#define PATIENCE_NS 400000000u /* no progress line for what is done sooner */

bool reading_format(const char *word, enum reading_format *out)
{
    if (strcmp(word, "text") == 0)
        *out = READING_TEXT;
    else if (strcmp(word, "json") == 0)
        *out = READING_JSON;
    else
        return false;
    return true;
}

void reading_progress_init(struct reading_progress *p)
{
    *p = (struct reading_progress){.started = clock_ns(), .terminal = isatty(STDERR_FILENO) == 1};
}

void reading_progress(void *progress, uint64_t taken, uint64_t size)
{
    struct reading_progress *p = progress;

    if (!p->terminal || clock_ns() - p->started < PATIENCE_NS)
        return;
    if (size)
        fprintf(stderr, "\rreading: %3.0f%% of %.1f GB ", 100.0 * (double)taken / (double)size,
                (double)size / 1e9);
    else
        fprintf(stderr, "\rreading: %.1f GB ", (double)taken / 1e9);
    p->shown = true;
}

void reading_progress_end(struct reading_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
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

void reading_problems(const struct cli_command *command, const struct report_problems *problems,
                      size_t most)
{
    size_t shown = problems->kept_count < most ? problems->kept_count : most;

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
    json_t *list = json_array(), *json;

    for (size_t i = 0; list && i < problems->kept_count; i++) {
        const struct report_problem *p = &problems->kept[i];

        json_array_append_new(list, json_pack("{s:o, s:I, s:I, s:o}", "file",
                                              reading_text_json(p->file ? p->file : "-"), "line",
                                              (json_int_t)p->place.line, "offset",
                                              (json_int_t)p->place.offset, "text",
                                              reading_text_json(p->text)));
    }
    json = json_pack("{s:o, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "file",
                     reading_text_json(log->file ? log->file : "-"), "ended",
                     (int)report_log_ended(log), "cut", (int)(log->cut > 0), "lines",
                     (json_int_t)log->lines, "bytes", (json_int_t)log->bytes, "skipped",
                     (json_int_t)log->skipped, "unknown_records", (json_int_t)log->unknown_records,
                     "unknown_members", (json_int_t)log->unknown_members, "problem_count",
                     (json_int_t)problems->count, "problems", list);
    return json;
}

void reading_completeness(const struct report_log *log, FILE *out)
{
    uint64_t lost = report_log_lost(log);
    struct text_number n, m;

    if (report_log_ended(log))
        fputs("The log is complete to its end. ", out);
    else
        fputs("The log has no end: the program was killed or still runs, or the file is cut.\n"
              "This is what was recorded up to there. ",
              out);
    fprintf(out, lost ? "Lost while recording: %s.\n" : "No event was lost.\n",
            text_count(&n, lost));
    if (log->skipped)
        fprintf(out, "Damaged lines skipped: %s.\n", text_count(&n, log->skipped));
    if (log->unknown_records || log->unknown_members)
        fprintf(out, "Of a later version, and skipped: records %s, members %s.\n",
                text_count(&n, log->unknown_records), text_count(&m, log->unknown_members));
}
