/* shadowtrace events - event categories other than allocations. */
#include "views/views.h"

#include "command/reading.h"
#include "command/rows.h"
#include "views/print_events.h"

#include <errno.h>
#include <string.h>

/* Frames of sites beside collections. */
#define GC_DEPTH 2

struct events_args {
    enum reading_format format;
    struct reading_options reading;
    struct print_stack stack;
    uint64_t top;
    struct args_list symbols;
    bool inline_stacks, no_lines;
};

/* By enum events_topic. */
static const char *const topics[] = {"exceptions", "gc", "jit", "suspensions", "calls", NULL};

#define ARGS_INTO struct events_args
static const struct args_option options[] = {
    ARGS_EXPLAINED("exceptions", "by throw site and by catcher", .group = "Topics"),
    ARGS_EXPLAINED("gc", "collections, with the allocations before each, and their sites"),
    ARGS_EXPLAINED("jit", "compilation by method"),
    ARGS_EXPLAINED("suspensions", "stops of the runtime by reason"),
    ARGS_EXPLAINED("calls", "calls, total and self time by method"),
    ARGS_ROW(WORD, "format", NULL, format, "json: one object, as described in report_schema.json",
             .words = rows_formats, .group = "Options"),
    ROW_TOP(top),
    ROW_INLINE_STACKS,
    ROW_DEPTH(stack.depth),
    ROWS_FRAMES(stack),
    ROW_JOBS,
    ROW_QUIET,
    ARGS_END};

static int print(const struct events_args *a, const struct events_report *f,
                 const struct log_problems *problems, FILE *out)
{
    struct print_events p = {.report = f, .problems = problems, .stack = a->stack, .top = a->top};
    struct report_stacks tables;
    int err = 0;

    report_stacks_init(&tables);
    p.stack.defs = &f->defs;
    p.stack.tables = a->inline_stacks ? NULL : &tables;
    if (!a->no_lines)
        err = reading_source_lines(&cmd_events, &f->defs, &a->symbols, &f->log, &p.stack.lines);
    if (!err)
        err = print_stack_names(&p.stack, NULL);
    if (!err && a->format == READING_TEXT)
        print_events_text(&p, out);
    else if (!err && print_events_json(&p, out))
        err = -ENOMEM;
    source_lines_missing(p.stack.lines, NULL, NULL);
    source_lines_free(p.stack.lines);
    names_free(p.stack.names);
    report_stacks_fini(&tables);
    return cli_failed(&cmd_events, err);
}

static int show(const struct events_args *a, enum events_topic topic, const char *path, FILE *out)
{
    struct reading_progress progress;
    struct log_problems problems;
    struct events_report f;
    int err, status;

    log_problems_init(&problems);
    err = events_report_init(&f, topic, &problems);
    if (!err) {
        reading_progress_init(&progress, &a->reading);
        f.log.jobs = reading_threads(&a->reading);
        err = events_report_read(&f, path, reading_progress, &progress);
        reading_progress_end(&progress);
    }
    if (err) {
        status = reading_failed(&cmd_events, path, &f.log, err);
    } else {
        reading_problems(&cmd_events, &problems);
        status = print(a, &f, &problems, out);
    }
    events_report_fini(&f);
    log_problems_fini(&problems);
    return status;
}

static int topic_find(const char *name)
{
    int i = 0;

    while (topics[i] && strcmp(topics[i], name) != 0)
        i++;
    return topics[i] ? i : -1;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct events_args *a = into;
    int topic = topic_find(args->word[0]);

    if (topic < 0)
        return cli_unknown(&cmd_events, "topic", args->word[0], topics);
    if (topic == EVENTS_GC && !args_given(&cmd_events.syntax, args, "depth"))
        a->stack.depth = GC_DEPTH;
    if (print_stack_choose(&a->stack, &a->top, &cmd_events, args, a->format == READING_JSON,
                           a->inline_stacks))
        return CLI_USAGE;
    return show(a, (enum events_topic)topic, args->word[1], out);
}

CLI_COMMAND(
    events, "[options] TOPIC LOG", "show other events: exceptions, gc, jit, suspensions or calls",
    .about = "LOG is a log of `shadowtrace record --events LIST`; `-` is standard input.",
    CLI_TAKES(struct events_args, options, 2, 2, "a topic and a log: TOPIC LOG", false),
    .manual = CLI_EXAMPLES({"shadowtrace events gc app.ndjson",
                            "show the collections of a log recorded with `--events alloc,gc`"},
                           {"shadowtrace events exceptions --top 5 app.ndjson",
                            "show where most exceptions were thrown and caught"}));
