#include "views/report_profile.h"

#include "command/print_complete.h"
#include "views/print_folded.h"
#include "views/print_profile.h"
#include "command/reading.h"
#include "terminal/text.h"

#include <errno.h>
#include <string.h>

struct reader {
    struct report_profile profile;
    struct report_defs defs;
    struct report_log log;
};

static int on_record(void *context, const struct report_record *record)
{
    struct reader *r = context;

    return report_profile_add(&r->profile, &r->defs, record);
}

static int read_all(const struct cli_command *command, struct reader *r,
                    const struct reading_options *how, char **logs)
{
    struct reading_progress progress;
    struct report_consumer consumer = {.record = on_record,
                                       .progress = reading_progress,
                                       .context = r,
                                       .progress_context = &progress};

    for (; *logs; logs++) {
        int err;

        reading_progress_init(&progress, how);
        err = report_log_read(*logs, &r->defs, &consumer, &r->log);
        reading_progress_end(&progress);
        if (err)
            return reading_failed(command, *logs, &r->log, err);
    }
    return CLI_OK;
}

/* Returns: 0 or -ENOMEM. */
static int print_json(const struct report_args *a, const struct reader *r,
                      const struct report_problems *problems, FILE *out)
{
    struct print_stack stack = a->print.stack;
    struct report_stacks tables;
    int err;

    report_stacks_init(&tables);
    stack.defs = &r->defs;
    stack.raw = true;
    stack.tables = a->inline_stacks ? NULL : &tables;
    err = print_profile_json(&r->profile, &stack, &r->log, problems, out);
    report_stacks_fini(&tables);
    return err;
}

static int print(const struct cli_command *command, const struct report_args *a,
                 const struct reader *r, const struct report_problems *problems, FILE *out)
{
    int err = 0;

    if (a->format == READING_FOLDED) {
        err = print_folded_samples(&r->profile.source[a->source], &r->defs, out);
        print_complete_stderr(command, &r->log);
    } else if (a->format == READING_JSON) {
        err = print_json(a, r, problems, out);
    } else {
        print_profile_text(&r->profile, &r->defs, a->print.top, out);
        fputc('\n', out);
        reading_completeness(&r->log, out);
    }
    if (err)
        cli_complain(command, "%s", strerror(-err));
    return err ? CLI_IO : CLI_OK;
}

int report_profile_run(const struct cli_command *command, const struct report_args *a, char **logs,
                       FILE *out)
{
    struct report_problems problems;
    struct reader r = {0};
    int status = CLI_IO;

    report_problems_init(&problems);
    report_log_init(&r.log);
    if (report_defs_init(&r.defs, &problems))
        cli_complain(command, "%s", strerror(ENOMEM));
    else
        status = read_all(command, &r, &a->reading, logs);
    if (status == CLI_OK)
        reading_problems(command, &problems);
    if (status == CLI_OK && !report_profile_any(&r.profile)) {
        cli_complain(command, "the log holds no samples of stacks; record with --profile HZ");
        status = CLI_IO;
    }
    if (status == CLI_OK)
        status = print(command, a, &r, &problems, out);
    report_profile_fini(&r.profile);
    report_defs_fini(&r.defs);
    report_log_fini(&r.log);
    report_problems_fini(&problems);
    return status;
}
