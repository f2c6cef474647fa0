#include "command/print_complete.h"

#include "command/json_tree.h"
#include "terminal/text.h"

#include "base/buffer.h"

#include <string.h>

/* Allocations, bytes and calls are counted for themselves, everything else in lines. */
static const char *unit(const struct log_gap *gap)
{
    static const char *const sums[] = {"allocations", "bytes", "calls"};

    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
        if (strcmp(gap->what, sums[i]) == 0)
            return "";
    return gap->count == 1 ? " line" : " lines";
}

static void put_file(struct buffer *b, const struct log_gap *gap)
{
    struct text_number n;

    if (*gap->by && strcmp(gap->what, "truncated") == 0)
        buffer_format(b, "the file was truncated while it was read: %s bytes were gone before",
                      text_count(&n, gap->count));
    else if (strcmp(gap->what, "truncated") == 0)
        buffer_format(b, "the file was truncated while it was written: %s bytes are gone",
                      text_count(&n, gap->count));
    else if (strcmp(gap->what, "removed") == 0)
        buffer_text(b, "the file was removed while it was written");
    else
        buffer_text(b, "the file was replaced while it was written");
}

static void put_no_end(struct buffer *b, const struct log_gap *gap)
{
    if (!*gap->what) {
        buffer_text(
            b, "it has no end: the program was killed or is still running, or the file was cut");
        return;
    }
    buffer_format(b, "it has no end: an unhandled exception ended the program, %s", gap->what);
    if (*gap->by)
        buffer_format(b, ": %s", gap->by);
}

static void put_off(struct buffer *b, const struct log_gap *gap)
{
    for (size_t i = 0; i < LOG_FEATURES; i++)
        if (strcmp(gap->what, log_features[i].name) == 0)
            buffer_text(b, log_features[i].off);
}

/* What one, and what several of a kind are said to be, behind their count. */
static const char *const counted[LOG_GAP_COUNT][2] = {
    [LOG_GAP_DAMAGED] = {"damaged line skipped", "damaged lines skipped"},
    [LOG_GAP_HEADER_AGAIN] = {"header is repeated", "headers are repeated"},
    [LOG_GAP_SEVERAL] = {"more recording is in the same file",
                         "more recordings are in the same file"},
    [LOG_GAP_AFTER_END] = {"line is after its end", "lines are after its end"},
    [LOG_GAP_UNDEFINED] = {"id that no line defines", "ids that no line defines"},
    [LOG_GAP_UNPATCHED] = {"part of CoreLib's allocation path is unknown: some boxes, delegates "
                           "and continuations may be missing",
                           "parts of CoreLib's allocation path are unknown: some boxes, "
                           "delegates and continuations may be missing"},
    [LOG_GAP_NAMES] = {"name missing: the runtime did not give them, or memory ran out",
                       "names missing: the runtime did not give them, or memory ran out"},
    [LOG_GAP_INLINED] = {"body of own code has no lines: it is not known what was inlined",
                         "bodies of own code have no lines: it is not known what was inlined"},
};

static void put_kind(struct buffer *b, const struct log_gap *gap, const char *count, const char *of)
{
    const char *s = text_plural(gap->count), *are = gap->count == 1 ? "is" : "are";

    switch (gap->kind) {
    case LOG_GAP_NO_HEADER:
        buffer_text(b, "it begins without a header");
        break;
    case LOG_GAP_NO_END:
        put_no_end(b, gap);
        break;
    case LOG_GAP_CUT:
        buffer_text(b, "it ends within a line, or within compressed data");
        break;
    case LOG_GAP_PARTS:
        buffer_format(b, "%s part%s of the recording %s missing%s%s", count, s, are,
                      *gap->what ? ": " : "", gap->what);
        break;
    case LOG_GAP_MISSING:
        buffer_format(b, "%s of %s %s%s are missing", count, of, gap->what, unit(gap));
        break;
    case LOG_GAP_EXTRA:
        buffer_format(b, "%s %s%s more than the %s that were written", count, gap->what, unit(gap),
                      of);
        break;
    case LOG_GAP_ROTATED_OUT:
        buffer_format(b,
                      "%s part%s %s gone, overwritten (--max-log) or removed, with %s allocation%s",
                      count, s, are, of, text_plural(gap->of));
        break;
    case LOG_GAP_LOST:
        buffer_format(b, "lost while recording: %s %s", gap->what, count);
        if (*gap->by)
            buffer_format(b, " (%s)", gap->by);
        break;
    case LOG_GAP_NOT_WRITTEN:
        buffer_format(b, "%s %s line%s could not be written", count, gap->what, s);
        break;
    case LOG_GAP_OFF:
        put_off(b, gap);
        break;
    case LOG_GAP_SAMPLER:
        buffer_format(b,
                      "no samples were taken: the runtime began no session for them (%s); it may "
                      "have no more, because other tools have them",
                      gap->what);
        break;
    case LOG_GAP_PATHS:
        buffer_format(b,
                      "the call path of %s allocation%s was not kept: the table was full "
                      "(--max-nodes)",
                      count, s);
        break;
    default:
        put_file(b, gap);
        break;
    }
}

void print_gap(struct buffer *b, const struct log_gap *gap)
{
    struct text_number count, of;

    text_count(&count, gap->count);
    text_count(&of, gap->of);
    if (counted[gap->kind][0])
        buffer_format(b, "%s %s", count.text, counted[gap->kind][gap->count != 1]);
    else
        put_kind(b, gap, count.text, of.text);
}

void print_gaps(const struct log_completeness *c, FILE *out)
{
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < c->count; i++) {
        buffer_clear(&b);
        print_gap(&b, &c->gaps[i]);
        text_part(out, "  ", b.failed ? log_gap_word(c->gaps[i].kind) : b.data, "\n");
    }
    if (c->more)
        fputs("  and more of these kinds\n", out);
    buffer_free(&b);
}

void print_complete(const struct log_input *log, FILE *out)
{
    const json_t *file = json_object_get(log->end, "file");
    const char *moved = json_string_value(json_object_get(file, "moved")); /* it is whole */
    struct log_completeness c;

    log_input_completeness(log, &c);
    fputs(log_complete(&c) ? "The log is complete to its end. No event was lost.\n"
                           : "The log is NOT COMPLETE:\n",
          out);
    print_gaps(&c, out);
    text_part(out, "It was moved while it was written, to ", moved, ".\n");
}

bool print_complete_text(const struct log_input *log, struct buffer *b)
{
    struct log_completeness c;

    log_input_completeness(log, &c);
    if (log_complete(&c))
        return false;
    buffer_text(b, "the log is not complete");
    for (size_t i = 0; i < c.count; i++) {
        buffer_text(b, i ? "; " : ": ");
        print_gap(b, &c.gaps[i]);
    }
    return true;
}

void print_complete_stderr(const struct cli_command *command, const struct log_input *log)
{
    struct buffer b = BUFFER_INIT;

    if (print_complete_text(log, &b))
        cli_complain(command, "%s", b.failed || !b.data ? "the log is not complete" : b.data);
    buffer_free(&b);
}

void print_gaps_json(const struct log_completeness *c, struct json_writer *json)
{
    jw_bool(json, "complete", log_complete(c));
    jw_array(json, "gaps");
    for (size_t i = 0; i < c->count; i++) {
        const struct log_gap *gap = &c->gaps[i];

        jw_object(json, NULL);
        jw_text(json, "reason", log_gap_word(gap->kind));
        jw_unsigned(json, "count", gap->count);
        if (*gap->what)
            jw_text(json, "what", gap->what);
        if (*gap->by)
            jw_text(json, "by", gap->by);
        if (gap->of)
            jw_unsigned(json, "of", gap->of);
        jw_end(json);
    }
    jw_end(json);
}

void print_problems_json(const struct log_problems *problems, struct json_writer *w)
{
    jw_unsigned(w, "problem_count", problems->count);
    jw_array(w, "problems");
    for (size_t i = 0; i < problems->kept_count; i++) {
        const struct log_problem *p = &problems->kept[i];

        jw_object(w, NULL);
        jw_text(w, "file", p->file ? p->file : "-");
        jw_unsigned(w, "line", p->place.line);
        jw_unsigned(w, "offset", p->place.offset);
        jw_text(w, "text", p->text);
        jw_end(w);
    }
    jw_end(w);
}

void print_log_json(const struct log_input *log, const struct log_problems *problems,
                    const char *key, struct json_writer *w)
{
    json_t *lost_others = log_input_lost_others(log);
    struct log_completeness c;

    log_input_completeness(log, &c);
    jw_object(w, key);
    jw_text(w, "file", log->file ? log->file : "-");
    jw_bool(w, "ended", log_input_ended(log));
    jw_bool(w, "cut", log->cut > 0);
    jw_tree(w, "lost_others", lost_others);
    jw_unsigned(w, "lines", log->lines);
    jw_unsigned(w, "bytes", log->bytes);
    jw_unsigned(w, "skipped", log->skipped);
    jw_unsigned(w, "unknown_records", log->unknown_records);
    jw_unsigned(w, "unknown_members", log->unknown_members);
    print_problems_json(problems, w);
    print_gaps_json(&c, w);
    jw_end(w);
    json_decref(lost_others);
}

void print_collection_json(const struct log_collection *c, const char *time,
                           struct json_writer *json)
{
    jw_unsigned(json, "gc", c->gc);
    jw_unsigned(json, time, c->at.t);
    jw_unsigned(json, "depth", c->depth);
    if (c->full)
        jw_unsigned(json, "full", c->full);
}
