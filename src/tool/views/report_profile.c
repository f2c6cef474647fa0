#include "views/report_profile.h"

#include "command/print_complete.h"
#include "views/print_profile.h"
#include "command/print_json.h"
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

static void print(const struct cli_command *command, const struct report_args *a,
                  const struct reader *r, const struct report_problems *problems, FILE *out)
{
    json_t *json;

    if (a->format == READING_FOLDED) {
        print_profile_folded(&r->profile.source[a->source], &r->defs, out);
        print_complete_stderr(command, &r->log);
    } else if (a->format == READING_JSON) {
        json = print_profile_json(&r->profile, &r->defs, true);
        json_object_set_new(json, "log", reading_log_json(&r->log, problems));
        print_json_value(json, out, JSON_COMPACT | JSON_REAL_PRECISION(15));
        fputc('\n', out);
        json_decref(json);
    } else {
        print_profile_text(&r->profile, &r->defs, a->print.top, out);
        fputc('\n', out);
        reading_completeness(&r->log, out);
    }
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
        print(command, a, &r, &problems, out);
    report_profile_fini(&r.profile);
    report_defs_fini(&r.defs);
    report_log_fini(&r.log);
    report_problems_fini(&problems);
    return status;
}
