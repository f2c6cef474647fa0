#include "command/print_complete.h"

#include "command/reading.h"
#include "terminal/text.h"

#include "base/buffer.h"

#include <string.h>

/* Allocations, bytes and calls are counted for themselves, everything else in lines. */
static const char *unit(const struct report_gap *gap)
{
    static const char *const sums[] = {"allocations", "bytes", "calls"};

    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
        if (strcmp(gap->what, sums[i]) == 0)
            return "";
    return gap->count == 1 ? " line" : " lines";
}

static void put_file(struct buffer *b, const struct report_gap *gap)
{
    struct text_number n;

    if (strcmp(gap->what, "truncated") == 0)
        buffer_format(b, "somebody cut the file while it was written: %s bytes are gone",
                      text_count(&n, gap->count));
    else if (strcmp(gap->what, "removed") == 0)
        buffer_text(b, "somebody removed the file while it was written");
    else
        buffer_text(b, "somebody put another file in its place while it was written");
}

/* Gaps in what was read. */
static void put_read(struct buffer *b, const struct report_gap *gap, const char *count,
                     const char *of)
{
    const char *s = text_plural(gap->count);

    switch (gap->kind) {
    case REPORT_GAP_NO_HEADER:
        buffer_text(b, "it begins without a header");
        break;
    case REPORT_GAP_NO_END:
        buffer_text(b, "it has no end: the program was killed or still runs, or the file is cut");
        break;
    case REPORT_GAP_CUT:
        buffer_text(b, "it ends within a line, or within compressed data");
        break;
    case REPORT_GAP_DAMAGED:
        buffer_format(b, "%s damaged line%s skipped", count, s);
        break;
    case REPORT_GAP_HEADER_AGAIN:
        buffer_format(b, "%s header%s there twice", count, gap->count == 1 ? " is" : "s are");
        break;
    case REPORT_GAP_SEVERAL:
        buffer_format(b, "%s more recording%s in the same file", count,
                      gap->count == 1 ? " is" : "s are");
        break;
    case REPORT_GAP_AFTER_END:
        buffer_format(b, "%s line%s behind its end", count, gap->count == 1 ? " is" : "s are");
        break;
    case REPORT_GAP_PARTS:
        buffer_format(b, "%s part%s of the recording %s missing%s%s", count, s,
                      gap->count == 1 ? "is" : "are", *gap->what ? ": " : "", gap->what);
        break;
    case REPORT_GAP_MISSING:
        buffer_format(b, "%s of %s %s%s are missing", count, of, gap->what, unit(gap));
        break;
    case REPORT_GAP_EXTRA:
        buffer_format(b, "%s %s%s more than the %s that were written", count, gap->what, unit(gap),
                      of);
        break;
    default:
        buffer_format(b, "%s id%s that no line defines", count, s);
        break;
    }
}

/* Gaps that the recording tells itself. */
static void put_said(struct buffer *b, const struct report_gap *gap, const char *count,
                     const char *of)
{
    const char *s = text_plural(gap->count);

    switch (gap->kind) {
    case REPORT_GAP_ROTATED_OUT:
        buffer_format(b, "%s part%s gone, overwritten (--max-log) or removed, with %s allocation%s",
                      count, gap->count == 1 ? " is" : "s are", of, text_plural(gap->of));
        break;
    case REPORT_GAP_LOST:
        buffer_format(b, "lost while recording: %s %s", gap->what, count);
        if (*gap->by)
            buffer_format(b, " (%s)", gap->by);
        break;
    case REPORT_GAP_NOT_WRITTEN:
        buffer_format(b, "%s %s line%s could not be written", count, gap->what, s);
        break;
    case REPORT_GAP_PATHS:
        buffer_format(b,
                      "the call path of %s allocation%s was not kept: the table was full "
                      "(--max-nodes)",
                      count, s);
        break;
    case REPORT_GAP_NAMES:
        buffer_format(b, "%s name%s that the runtime did not give, or there was no memory for",
                      count, s);
        break;
    default:
        put_file(b, gap);
        break;
    }
}

static void put_gap(struct buffer *b, const struct report_gap *gap)
{
    struct text_number count, of;

    text_count(&count, gap->count);
    text_count(&of, gap->of);
    if (gap->kind == REPORT_GAP_ROTATED_OUT || gap->kind >= REPORT_GAP_LOST)
        put_said(b, gap, count.text, of.text);
    else
        put_read(b, gap, count.text, of.text);
}

void print_gaps(const struct report_completeness *c, FILE *out)
{
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < c->count; i++) {
        buffer_clear(&b);
        put_gap(&b, &c->gaps[i]);
        fputs("  ", out);
        text_elide(out, b.failed ? report_gap_word(c->gaps[i].kind) : b.data, SIZE_MAX);
        putc('\n', out);
    }
    if (c->more)
        fputs("  and more of these kinds\n", out);
    buffer_free(&b);
}

/* It is whole, at another place. */
static const char *moved_to(const struct report_log *log)
{
    return json_string_value(json_object_get(json_object_get(log->end, "file"), "moved"));
}

void print_complete(const struct report_log *log, FILE *out)
{
    struct report_completeness c;

    report_log_completeness(log, &c);
    fputs(report_complete(&c) ? "The log is complete to its end. No event was lost.\n"
                              : "The log is NOT COMPLETE:\n",
          out);
    print_gaps(&c, out);
    if (moved_to(log)) {
        fputs("It was moved while it was written, to ", out);
        text_elide(out, moved_to(log), SIZE_MAX);
        fputs(".\n", out);
    }
}

void print_complete_stderr(const struct cli_command *command, const struct report_log *log)
{
    struct report_completeness c;
    struct buffer b = BUFFER_INIT;

    report_log_completeness(log, &c);
    for (size_t i = 0; i < c.count; i++) {
        buffer_text(&b, i ? "; " : ": ");
        put_gap(&b, &c.gaps[i]);
    }
    if (!report_complete(&c))
        cli_complain(command, "the log is not complete%s", b.failed || !b.data ? "" : b.data);
    buffer_free(&b);
}

json_t *print_gaps_json(const struct report_completeness *c)
{
    json_t *gaps = json_array();

    for (size_t i = 0; i < c->count; i++) {
        const struct report_gap *gap = &c->gaps[i];
        json_t *one = json_pack("{s:s, s:I}", "reason", report_gap_word(gap->kind), "count",
                                (json_int_t)gap->count);

        if (*gap->what)
            json_object_set_new(one, "what", reading_text_json(gap->what));
        if (*gap->by)
            json_object_set_new(one, "by", reading_text_json(gap->by));
        if (gap->of)
            json_object_set_new(one, "of", json_integer((json_int_t)gap->of));
        json_array_append_new(gaps, one);
    }
    return json_pack("{s:b, s:o}", "complete", (int)report_complete(c), "gaps", gaps);
}

json_t *print_complete_json(const struct report_log *log)
{
    struct report_completeness c;

    report_log_completeness(log, &c);
    return print_gaps_json(&c);
}
