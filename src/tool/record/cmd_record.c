/* shadowtrace record - start a program with the profiler, and report the result. */
#include "record/record.h"

#include "base/cpu.h"
#include "record/options.h"
#include "process/client.h"
#include "record/child.h"
#include "record/environment.h"
#include "record/library.h"
#include "record/progress.h"
#include "process/status.h"
#include "process/status_folder.h"
#include "record/summary.h"
#include "record/target.h"
#include "options/options_fields.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static int check_machine(struct record_why *why)
{
    struct utsname machine;

    if (!uname(&machine) && strcmp(machine.machine, CPU_MACHINE) != 0)
        return record_refuse(why, CLI_IO,
                             "this machine is %s, and this shadowtrace is for " CPU_MACHINE,
                             machine.machine);
    return CLI_OK;
}

/* All that can be known to go wrong, before anything but -o FOLDER/ is left behind or started. */
static int check_start(const struct record_args *r, const char *command, char path[PATH_MAX],
                       char library[PATH_MAX], struct record_why *why)
{
    int status = check_machine(why);

    if (status == CLI_OK)
        status = record_target_find(command, getenv("PATH"), path, why);
    if (status == CLI_OK)
        status = record_environment_check(why);
    if (status == CLI_OK)
        status = record_options_make_folder(&r->options, why);
    if (status == CLI_OK)
        status = record_options_check_output(&r->options, why);
    if (status == CLI_OK)
        status = record_library_usable(library, why);
    if (status == CLI_OK)
        status = record_library_fits(library, path, path, why);
    return status;
}

static void summarize(const struct record_args *r, const char *folder, const char *path)
{
    struct record_processes processes;
    char *here = getcwd(NULL, 0);
    int err = record_status_read(folder, &processes);

    if (err)
        cli_complain(&cmd_record, "cannot read what the processes reported in %s: %s", folder,
                     strerror(-err));
    else if (!processes.count)
        record_summary_why_none(stderr, path, record_target_kind(path),
                                r->options.process.count > 0);
    record_summary_print(stderr, &processes, here, r->quiet);
    record_status_free(&processes);
    free(here);
}

/*
 * Where processes report their state: in the log's folder, when no other place has room. Without it
 * only the summary is missing.
 */
static int prepare_status(struct record_args *r, char folder[PATH_MAX], struct record_why *why)
{
    char place[PATH_MAX];

    record_options_folder(&r->options, place);
    if (status_folder_create(place, folder, why) != CLI_OK) {
        cli_complain(&cmd_record, "note: there will be no summary: %s", why->text);
        *why->text = *folder = '\0';
        return CLI_OK;
    }
    if (options_field_text(&r->options, options_field_find("status"), folder))
        return record_refuse(why, CLI_IO, "out of memory");
    return CLI_OK;
}

/* What this recording leaves, and what others left that were killed. */
static void clean_up(const struct record_args *r, const char *folder)
{
    char place[PATH_MAX];

    if (*folder)
        status_folder_remove(folder);
    record_options_folder(&r->options, place);
    status_folder_sweep(*place ? place : NULL);
    client_sweep();
}

static int run_command(struct record_args *r, char **argv, const char *path, const char *library,
                       struct record_why *why)
{
    struct record_environment environment = {.count = 0};
    struct record_progress progress;
    struct record_child child = {.path = path, .argv = argv, .environment = &environment};
    char folder[PATH_MAX];
    int status = 0, err = prepare_status(r, folder, why);

    if (!err && r->progress && *folder && isatty(STDERR_FILENO)) {
        record_progress_start(&progress, folder, stderr);
        child.tick = record_progress_tick;
        child.context = &progress;
    }
    if (!err)
        err = record_environment_make(&environment, library, &r->options, why);
    if (!err)
        err = record_child_run(&child, &status, why);
    if (child.tick)
        record_progress_clear(&progress);
    if (!err && *folder)
        summarize(r, folder, path);
    clean_up(r, folder);
    record_environment_fini(&environment);
    return err ? err : status;
}

static int record(struct record_args *r, char **argv)
{
    struct record_why why = {.text = ""};
    char path[PATH_MAX], library[PATH_MAX];
    int status;

    record_child_ignore_pipe();
    status = check_start(r, argv[0], path, library, &why);

    if (status == CLI_OK && getenv(OPTIONS_VARIABLE) && !r->quiet)
        cli_complain(&cmd_record, "note: " OPTIONS_VARIABLE
                                  " of the environment is replaced by the options given here");
    if (status == CLI_OK)
        status = run_command(r, argv, path, library, &why);
    if (*why.text)
        cli_complain(&cmd_record, "%s", why.text);
    return status;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct record_args *r = into;
    int status = record_options_settle(&cmd_record, args, r);

    (void)out;
    return status == CLI_OK ? record(r, args->word) : status;
}

#define ARGS_INTO struct record_args
static const struct args_option options[] = {
    ARGS_ROW(FLAG, "progress", NULL, progress, "show progress on the terminal"),
    ARGS_ROW(FLAG, "quiet", NULL, quiet, "print no summary at the end", .letter = 'q'),
    {.kind = ARGS_REFUSED,
     .name = "attach",
     .letter = 'p',
     .aliases = "pid",
     .help = "to record a process that runs, use \"shadowtrace attach PID\""},
    {.more = record_options}};

CLI_COMMAND(
    record, "[options] [--] COMMAND [ARGUMENT...]",
    "start a program and record its allocations and their call paths",
    CLI_TAKES(struct record_args, options, 1, UINT_MAX,
              "a command to record, such as: shadowtrace record -- dotnet app.dll", true,
              record_usual),
    .notes = RECORD_PATTERNS,
    .manual = CLI_MANUAL(
            .description =
                "COMMAND is any command that starts .NET: `dotnet app.dll`, `dotnet test`, an "
                "executable, a script. It keeps its standard input, output and error, and signals "
                "are passed on to it. Each .NET process that it is or starts writes a separate "
                "log.\n\nWhile a program runs, `shadowtrace top` and `shadowtrace dump` inspect "
                "it, and `shadowtrace ctl` changes what is recorded. At its end, a summary on "
                "standard error shows how much was recorded, whether anything was lost, and how to "
                "view it: with `shadowtrace report`, `shadowtrace browse` or `shadowtrace "
                "html`.\n\nWithout --own or --only, all code has hooks and the runtime does not "
                "use precompiled code, so the program starts more slowly. For a server, or any "
                "large program, start with --own.",
            .status = MANUAL_TERMS(
                {"COMMAND's", "COMMAND has ended"}, {"128 + N", "signal N has killed COMMAND"},
                {"2", "wrong usage; COMMAND was not started"},
                {"3", "cannot write the log or load the library; COMMAND was not started"},
                {"126", "COMMAND cannot be executed"}, {"127", "COMMAND is not found"}),
            .environment = MANUAL_TERMS(
                {RECORD_LIBRARY_VARIABLE,
                 "the library to load, instead of the one installed with the command"},
                {"CORECLR_ENABLE_PROFILING, CORECLR_PROFILER, "
                 "CORECLR_PROFILER_PATH, " OPTIONS_VARIABLE,
                 "set for COMMAND: they make the runtime load the library, and say what to "
                 "record"},
                {"DOTNET_gcConcurrent",
                 "set to 0 for COMMAND by the options that turn concurrent collection off"},
                MANUAL_RUNTIME_DIR),
            .files = MANUAL_TERMS(
                {"shadowtrace-NAME-PID.ndjson", "the log of the process PID, whose main assembly "
                                                "is NAME, in the current folder (without -o)"},
                {"LOG.1, LOG.2, ...",
                 "older parts of a log, with --max-log or after `ctl PID rotate`"},
                MANUAL_SOCKET),
            .examples = MANUAL_TERMS(
                {"shadowtrace record -o app.ndjson -- dotnet app.dll", "record a program"},
                {"shadowtrace record --own -o shop.ndjson -- dotnet Shop.dll",
                 "record a server: only its own code has hooks"},
                {"shadowtrace record --live -o app.ndjson -- dotnet app.dll",
                 "track live objects, for `shadowtrace report --view live` and `grown`"},
                {"shadowtrace record -o logs/ --process Tests -- dotnet test",
                 "record the test host of `dotnet test`, not the processes that start it"},
                {"shadowtrace record --check 1 -o app.ndjson -- dotnet app.dll",
                 "compare each stack with the runtime's own, for `shadowtrace compare`"})),
    .free = record_options_free);
