#include "cli/report_profile.h"

#include "cli/print_complete.h"
#include "cli/print_profile.h"
#include "cli/print_json.h"
#include "cli/reading.h"
#include "cli/text.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

enum { OPT_PROFILE = 256, OPT_FORMAT, OPT_TOP, OPT_SOURCE };

static const struct option options[] = {
    {"profile", no_argument, NULL, OPT_PROFILE},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"top", required_argument, NULL, OPT_TOP},
    {"source", required_argument, NULL, OPT_SOURCE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct profile_args {
    enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_FOLDED } format;
    enum report_sampler source;
    uint64_t top;
};

struct reader {
    struct report_profile profile;
    struct report_defs defs;
    struct report_log log;
};

bool report_profile_asked(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--profile") == 0)
            return true;
    return false;
}

static bool word(const char *value, const char *const *words, unsigned *out)
{
    for (unsigned i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static bool take(struct profile_args *a, int option, const char *value)
{
    static const char *const formats[] = {"text", "json", "folded", NULL};
    static const char *const sources[] = {"shadow", "snapshot", NULL};
    unsigned index = 0;

    switch (option) {
    case OPT_FORMAT:
        if (!word(value, formats, &index))
            return false;
        a->format = index;
        return true;
    case OPT_SOURCE:
        if (!word(value, sources, &index))
            return false;
        a->source = (enum report_sampler)index;
        return true;
    case OPT_TOP:
        return text_parse(value, UINT64_MAX, &a->top);
    default:
        return true;
    }
}

static int on_record(void *context, const struct report_record *record)
{
    struct reader *r = context;

    return report_profile_add(&r->profile, &r->defs, record);
}

static int read_all(const struct cli_command *command, struct reader *r, char **logs)
{
    struct reading_progress progress;
    struct report_consumer consumer = {.record = on_record,
                                       .progress = reading_progress,
                                       .context = r,
                                       .progress_context = &progress};

    for (; *logs; logs++) {
        int err;

        reading_progress_init(&progress, &(const struct reading_options){.quiet = false});
        err = report_log_read(*logs, &r->defs, &consumer, &r->log);
        reading_progress_end(&progress);
        if (err)
            return reading_failed(command, *logs, &r->log, err);
    }
    return CLI_OK;
}

static void print(const struct cli_command *command, const struct profile_args *a,
                  const struct reader *r, const struct report_problems *problems, FILE *out)
{
    json_t *json;

    if (a->format == FORMAT_FOLDED) {
        print_profile_folded(&r->profile.source[a->source], &r->defs, out);
        print_complete_stderr(command, &r->log);
    } else if (a->format == FORMAT_JSON) {
        json = print_profile_json(&r->profile, &r->defs, true);
        json_object_set_new(json, "log", reading_log_json(&r->log, problems));
        print_json_value(json, out, JSON_COMPACT | JSON_REAL_PRECISION(15));
        fputc('\n', out);
        json_decref(json);
    } else {
        print_profile_text(&r->profile, &r->defs, a->top, out);
        fputc('\n', out);
        reading_completeness(&r->log, out);
    }
}

static int report(const struct cli_command *command, const struct profile_args *a, char **logs,
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
        status = read_all(command, &r, logs);
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

int report_profile_run(const struct cli_command *command, int argc, char **argv, FILE *out)
{
    struct profile_args a = {.top = 20};
    int option;

    optind = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == '?' || option == ':')
            return cli_option_error(command, argv, option);
        if (option == 'h') {
            cli_help(command, out);
            return CLI_OK;
        }
        if (!take(&a, option, optarg))
            return cli_usage_error(command, "--%s cannot be \"%.100s\"",
                                   options[option - OPT_PROFILE].name, optarg);
    }
    if (optind == argc)
        return cli_usage_error(command, "a log is missing");
    return report(command, &a, argv + optind, out);
}
