/* shadowtrace profile - sampled stacks. */
#include "views/views.h"

#include "command/print_complete.h"
#include "command/reading.h"
#include "command/rows.h"
#include "views/print_folded.h"
#include "views/print_profile.h"

#include <errno.h>
#include <string.h>

struct profile_args {
    enum reading_format format;
    struct reading_options reading;
    enum report_profiler source;
    struct print_stack stack;
    uint64_t top;
    bool inline_stacks;
};

static const char *const formats[] = {"text", "json", "folded", NULL};
static const char *const sources[] = {"shadow", "snapshot", NULL};

#define ARGS_INTO struct profile_args
static const struct args_option options[] = {
    ARGS_ROW(WORD, "format", NULL, format,
             "folded: a line for each stack with its samples, for flamegraph.pl and speedscope",
             .words = formats),
    ARGS_ROW(WORD, "source", NULL, source, "with --format folded: which samples", .words = sources),
    ROW_TOP(top),
    ROW_INLINE_STACKS,
    ROW_DEPTH(stack.depth),
    ROW_NAMES(stack.naming),
    ROW_QUIET,
    ARGS_END};

struct reader {
    struct report_profile profile;
    struct log_defs defs;
    struct log_input log;
};

static int on_record(void *context, const struct log_record *record)
{
    struct reader *r = context;

    return report_profile_add(&r->profile, &r->defs, record);
}

static int read_all(struct reader *r, const struct reading_options *how, char **logs)
{
    struct reading_progress progress;
    struct log_consumer consumer = {.record = on_record,
                                    .progress = reading_progress,
                                    .context = r,
                                    .progress_context = &progress};

    for (; *logs; logs++) {
        int err;

        reading_progress_init(&progress, how);
        err = log_input_read(*logs, &r->defs, &consumer, &r->log);
        reading_progress_end(&progress);
        if (err)
            return reading_failed(&cmd_profile, *logs, &r->log, err);
    }
    return CLI_OK;
}

/* Returns: 0 or -ENOMEM. */
static int print_json(const struct profile_args *a, const struct reader *r,
                      struct print_stack stack, const struct log_problems *problems, FILE *out)
{
    struct report_stacks tables;
    int err;

    report_stacks_init(&tables);
    stack.tables = a->inline_stacks ? NULL : &tables;
    err = print_profile_json(&r->profile, &stack, &r->log, problems, out);
    report_stacks_fini(&tables);
    return err;
}

static int print(const struct profile_args *a, const struct reader *r,
                 const struct log_problems *problems, FILE *out)
{
    struct print_stack stack = a->stack;
    int err;

    stack.defs = &r->defs;
    err = a->format == READING_FOLDED ? 0 : print_stack_names(&stack, NULL);
    if (!err && a->format == READING_FOLDED) {
        err = print_folded_samples(&r->profile.source[a->source], &r->defs, out);
        print_complete_stderr(&cmd_profile, &r->log);
    } else if (!err && a->format == READING_JSON) {
        err = print_json(a, r, stack, problems, out);
    } else if (!err) {
        print_profile_text(&r->profile, &stack, a->top, out);
        fputc('\n', out);
        if (r->defs.some_hooked)
            fputs(PRINT_SOME_HOOKED "\n", out);
        reading_completeness(&r->log, out);
    }
    names_free(stack.names);
    return cli_failed(&cmd_profile, err);
}

/* Returns: CLI_OK: all that was given has a meaning. */
static int check(struct profile_args *a, const struct args *args)
{
    if (a->format != READING_FOLDED && args_given(&cmd_profile.syntax, args, "source"))
        return cli_usage_error(&cmd_profile, "--source needs --format folded");
    if (a->format == READING_FOLDED && args_given(&cmd_profile.syntax, args, "top"))
        return cli_usage_error(&cmd_profile, "--top does not apply to --format folded");
    if (a->format != READING_JSON && args_given(&cmd_profile.syntax, args, "depth"))
        return cli_usage_error(&cmd_profile, "--depth needs --format json");
    if (print_stack_choose(&a->stack, &a->top, &cmd_profile, args, a->format == READING_JSON,
                           a->inline_stacks))
        return CLI_USAGE;
    naming_choose(&a->stack.naming, &cmd_profile, args,
                  a->format == READING_JSON ? NAMES_RAW : NAMES_SHORT);
    return CLI_OK;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct profile_args *a = into;
    struct log_problems problems;
    struct reader r = {0};
    size_t count = args->count;
    int status = check(a, args);

    if (!status)
        status = reading_once(&cmd_profile, args->word, &count);
    if (status)
        return status;
    log_problems_init(&problems);
    log_input_init(&r.log);
    status = cli_failed(&cmd_profile, log_defs_init(&r.defs, &problems));
    if (status == CLI_OK)
        status = read_all(&r, &a->reading, args->word);
    if (status == CLI_OK)
        reading_problems(&cmd_profile, &problems);
    if (status == CLI_OK && !report_profile_any(&r.profile)) {
        cli_complain(&cmd_profile, "the log has no samples; record with --profile HZ");
        status = CLI_IO;
    }
    if (status == CLI_OK)
        status = print(a, &r, &problems, out);
    report_profile_fini(&r.profile);
    log_defs_fini(&r.defs);
    log_input_fini(&r.log);
    log_problems_fini(&problems);
    return status;
}

CLI_COMMAND(
    profile, "[options] LOG...",
    "show sampled stacks by method: its own samples and those below it",
    .about = "LOG is a log of `shadowtrace record --profile HZ`; `-` is standard input. "
             "Several logs are added up.",
    CLI_TAKES_LOGS(struct profile_args, options),
    .manual = CLI_EXAMPLES({"shadowtrace profile app.ndjson", "show the methods with most samples"},
                           {"shadowtrace profile --format folded app.ndjson | flamegraph.pl",
                            "make a flame graph"}));
