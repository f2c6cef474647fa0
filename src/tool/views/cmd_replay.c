#include "views/views.h"
#include "command/print_complete.h"
#include "command/reading.h"
#include "command/rows.h"
#include "views/print_stack.h"
#include "terminal/text.h"

#include "readers/marks.h"
#include "report/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct replay_args {
    struct replay_filter filter;
    enum reading_format format;
    struct reading_options reading;
    struct reading_window window;
    struct print_stack stack; /* how names are shown */
};

#define ARGS_INTO struct replay_args
static const struct args_option options[] = {
    ROW_THREAD,
    ARGS_ROW(TEXT, "from", "T", window.from,
             "only calls open at or after T: a time in the log (1500000, 20us, 1.5ms, 2s) or "
             "the text of a mark"),
    ARGS_ROW(TEXT, "to", "T", window.to, "only calls that began before T"),
    ARGS_ROW(TEXT, "method", "PATTERN", filter.method,
             "only calls of matching methods, and their callees"),
    ARGS_ROW(COUNT, "depth", "N", filter.depth, "show N levels", .limit = UINT32_MAX),
    ARGS_ROW(FLAG, "interleaved", NULL, filter.interleaved,
             "all threads in time order, not one thread after the other"),
    ARGS_ROW(COUNT, "limit", "N", filter.limit, "show at most the first N rows; 0: all",
             .standard = 10000, .limit = UINT32_MAX - 2),
    ROW_FORMAT,
    ROW_NAMES(stack.naming),
    ROW_JOBS,
    ROW_QUIET,
    ARGS_END};

/* A time of the log, in nanoseconds where it has no unit. */
static bool time_parse(const char *text, uint64_t *out)
{
    return !args_number(ARGS_DURATION, text, 1, INT64_MAX, out);
}

/* --from and --to: a time, or else the text of a mark. */
static int range(struct replay_args *a, const char *path)
{
    const struct reading_window *w = &a->window;
    struct reading_window marks = {
        .from = w->from && !time_parse(w->from, &a->filter.from) ? w->from : NULL,
        .to = w->to && !time_parse(w->to, &a->filter.to) ? w->to : NULL};
    struct log_window window;
    int status = reading_window(&cmd_replay, path, &marks, &window);

    if (status == CLI_OK && window.has_from)
        a->filter.from = window.from.t;
    if (status == CLI_OK && window.has_to)
        a->filter.to = window.to.t;
    return status;
}

static const char *thread_name(struct log_defs *defs, uint32_t id)
{
    uint32_t known = log_id_map_get(&defs->thread_ids, id);

    return known ? defs->threads[known - 1].name : NULL;
}

static void text_call(const struct replay_row *row, const struct print_stack *stack, FILE *out)
{
    struct buffer name = BUFFER_INIT;
    static const char *const ends[] = {[REPORT_CALL_TAIL] = " (tail call)",
                                       [REPORT_CALL_UNWOUND] = " (unwound)",
                                       [REPORT_CALL_UNKNOWN] = " (its end is not in the log)",
                                       [REPORT_CALL_OPEN] = " (not ended)"};

    text_print(out, print_stack_method(stack, &name, row->method));
    buffer_free(&name);
    text_part(out, " ", row->args, "");
    text_part(out, " = ", row->returns, "");
    text_part(out, " out ", row->out, "");
    if ((size_t)row->end < COUNT_OF(ends) && ends[row->end])
        fputs(ends[row->end], out);
}

#define MAX_SHOWN 60 /* levels that a row is shifted by */

static void text_row(const struct replay_row *row, const struct print_stack *stack,
                     bool interleaved, FILE *out)
{
    struct text_number ns, bytes;

    fprintf(out, "%14.6f", (double)row->t / 1e6);
    if (interleaved)
        fprintf(out, " %7" PRIu32, row->thread);
    if (row->kind == REPLAY_CALL)
        fprintf(out, " %10s %12s  ", text_ns(&ns, (double)row->ns),
                row->bytes ? text_count(&bytes, row->bytes) : "");
    else
        fprintf(out, " %10s %12s  ", "", "");
    fprintf(out, "%*s", 2 * (int)(row->level < MAX_SHOWN ? row->level : MAX_SHOWN), "");
    if (row->kind == REPLAY_CALL)
        text_call(row, stack, out);
    else if (row->kind == REPLAY_EXCEPTION) {
        text_part(out, "! ", print_stack_type(stack, row->method), "");
        text_part(out, ": ", row->args, "");
    } else
        fprintf(out, "... %" PRIu64 " call%s not in the log: the buffer was full", row->missing,
                text_plural(row->missing));
    fputc('\n', out);
}

static void head(bool interleaved, FILE *out)
{
    fprintf(out, "%14s%s %10s %12s  %s\n", "ms", interleaved ? "  thread" : "", "took", "bytes",
            "call");
}

static void text(const struct replay_args *a, struct replay *r, FILE *out)
{
    size_t count;
    const struct replay_row *rows = replay_rows(r, &count);
    struct log_defs *defs = replay_defs(r);
    struct text_number shown, calls, more;

    for (size_t i = 0; i < count; i++) {
        if (!a->filter.interleaved && (!i || rows[i].thread != rows[i - 1].thread)) {
            fprintf(out, "%sThread %" PRIu32, i ? "\n" : "", rows[i].thread);
            text_part(out, " ", thread_name(defs, rows[i].thread), "");
            fputc('\n', out);
            head(false, out);
        } else if (!i) {
            head(true, out);
        }
        text_row(&rows[i], &a->stack, a->filter.interleaved, out);
    }
    if (!replay_calls(r))
        fputs("The log has no calls; record with --events alloc,calls.\n", out);
    else
        fprintf(out, "%s%s row%s, of a trace of %s calls.", count ? "\n" : "",
                text_count(&shown, count), text_plural(count), text_count(&calls, replay_calls(r)));
    if (replay_more(r))
        fprintf(out, " %s more rows; `--limit 0` shows all.", text_count(&more, replay_more(r)));
    fputs(replay_calls(r) ? "\n" : "", out);
    if (replay_missing(r))
        fprintf(out,
                "%s calls are missing, with all that they called: the buffer was full; trace fewer "
                "(--calls, --max-depth,\n--min-duration).\n",
                text_count(&more, replay_missing(r)));
    reading_completeness(replay_log(r), out);
}

/* A value of the log, which is JSON; nothing if it is missing. */
static void json_value(const char *key, const char *value, struct json_writer *w)
{
    if (value)
        jw_raw(w, key, value);
}

static void json_row(const struct replay_row *row, const struct print_stack *stack,
                     struct json_writer *w)
{
    struct buffer name = BUFFER_INIT;

    jw_unsigned(w, "thread", row->thread);
    jw_unsigned(w, "depth", row->level);
    jw_unsigned(w, "t", row->t);
    if (row->kind == REPLAY_EXCEPTION) {
        jw_text(w, "exception", print_stack_type(stack, row->method));
        json_value("message", row->args, w);
    } else if (row->kind == REPLAY_MISSING) {
        jw_unsigned(w, "missing", row->missing);
    } else {
        jw_unsigned(w, "ns", row->ns);
        jw_text(w, "end", report_call_end_name(row->end));
        jw_text(w, "method", print_stack_method(stack, &name, row->method));
        jw_unsigned(w, "bytes", row->bytes);
        jw_unsigned(w, "allocs", row->allocs);
        json_value("args", row->args, w);
        json_value("returns", row->returns, w);
        json_value("out", row->out, w);
    }
    buffer_free(&name);
}

static int json(const struct replay_args *a, struct replay *r, const struct log_problems *problems,
                FILE *out)
{
    size_t count;
    const struct replay_row *rows = replay_rows(r, &count);
    struct json_writer w;

    jw_init(&w, out);
    jw_object(&w, NULL);
    jw_array(&w, "rows");
    for (size_t i = 0; i < count; i++) {
        jw_line_object(&w, 1, NULL);
        json_row(&rows[i], &a->stack, &w);
        jw_end(&w);
    }
    jw_end(&w);
    jw_line(&w, 1);
    jw_unsigned(&w, "calls", replay_calls(r));
    jw_unsigned(&w, "missing", replay_missing(r));
    jw_unsigned(&w, "more", replay_more(r));
    print_log_json(replay_log(r), problems, "log", &w);
    jw_end(&w);
    return jw_finish(&w);
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct replay_args *a = into;
    const char *path = args->word[0];
    struct reading_progress progress;
    struct log_problems problems;
    struct replay *r = NULL;
    int err, status;

    naming_choose(&a->stack.naming, &cmd_replay, args,
                  a->format == READING_JSON ? NAMES_RAW : NAMES_SHORT);
    a->filter.to = UINT64_MAX;
    status = range(a, path);
    if (status)
        return status;
    log_problems_init(&problems);
    err = replay_new(&a->filter, &problems, &r);
    if (!err) {
        reading_progress_init(&progress, &a->reading);
        replay_log(r)->jobs = reading_threads(&a->reading);
        err = replay_read(r, path, reading_progress, &progress);
        reading_progress_end(&progress);
        if (err)
            status = reading_failed(&cmd_replay, path, replay_log(r), err);
    }
    if (!err) {
        reading_problems(&cmd_replay, &problems);
        a->stack.defs = replay_defs(r);
        err = print_stack_names(&a->stack, NULL);
        if (!err && a->format == READING_TEXT)
            text(a, r, out);
        else if (!err)
            err = json(a, r, &problems, out);
    }
    if (err && !status)
        status = cli_failed(&cmd_replay, err);
    names_free(a->stack.names);
    replay_free(r);
    log_problems_fini(&problems);
    return status;
}

CLI_COMMAND(
    replay, "[options] LOG", "show the calls of a log as a tree, with times and allocations",
    .about =
        "LOG needs `record --events calls`; alloc, exceptions, --args and --returns add details.",
    CLI_TAKES(struct replay_args, options, 1, 1, "a log: LOG", false),
    .notes = "bytes: allocated by the call and all nested calls. unwound: left by an exception. "
             "Calls that the tracer had no room for are noted where they are missing.",
    .manual = CLI_EXAMPLES({"shadowtrace replay --depth 3 app.ndjson",
                            "see the outer calls of a log recorded with `--events alloc,calls`"},
                           {"shadowtrace replay --method 'Shop.*' --from 1s --to 2s app.ndjson",
                            "show calls of some methods within a second"}));
