/* shadowtrace env - the environment that `record` gives to its COMMAND, for other launchers. */
#include "record/record.h"

#include "record/options.h"
#include "record/environment.h"
#include "record/library.h"

#include <unistd.h>

static int print(const struct record_args *r, FILE *out, struct record_why *why)
{
    struct record_environment environment;
    char library[PATH_MAX];
    int status = record_library(library, why);

    if (status != CLI_OK)
        return status;
    status = record_environment_make(&environment, library, &r->options, why);
    if (status == CLI_OK)
        status = record_environment_print(&environment, r->format, out, why);
    record_environment_fini(&environment);
    return status;
}

/* Only for shells: formats for containers and units start the program elsewhere. */
static void note_folder(const struct record_args *r)
{
    char folder[PATH_MAX];

    record_options_folder(&r->options, folder);
    if (*folder && access(folder, F_OK) && (r->format == ENV_SHELL || r->format == ENV_RUNSETTINGS))
        cli_complain(&cmd_env,
                     "note: %s does not exist; if it is missing when the program starts, "
                     "nothing is recorded",
                     folder);
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct record_why why = {.text = ""};
    struct record_args *r = into;
    int status = record_options_settle(&cmd_env, args, r);

    if (status == CLI_OK)
        status = print(r, out, &why);
    if (status == CLI_OK)
        note_folder(r);
    if (*why.text)
        cli_complain(&cmd_env, "%s", why.text);
    return status;
}

static const char *const formats[] = {"shell", "json", "docker", "systemd", "runsettings", NULL};

#define ARGS_INTO struct record_args
static const struct args_option options[] = {
    ARGS_ROW(WORD, "format", NULL, format,
             "shell: for eval \"$(shadowtrace env ...)\"; docker: for docker run --env-file; "
             "systemd: for the [Service] section of a unit; runsettings: for dotnet test "
             "--settings FILE",
             .words = formats),
    ARGS_ROW(FIELD, "status", "FOLDER", options,
             "folder, which must exist, where processes report why they were not recorded "
             "(PID.json)"),
    {.more = record_options}};

CLI_COMMAND(
    env, "[options]", "print the environment that makes another launcher record a program",
    CLI_TAKES(struct record_args, options, .usual = record_env_usual),
    .notes = RECORD_PATTERNS
    "\n\nSHADOWTRACE_LIBRARY names the library on the machine where the program will run, if its "
    "path is different there.",
    .free = record_options_free,
    .manual = CLI_MANUAL(
            .description =
                "Prints the environment that `shadowtrace record` sets for a program. If a "
                "container, a service manager or a test runner starts the program with it, the "
                "program is recorded in the same way, but without a summary.",
            .environment = MANUAL_TERMS(
                {RECORD_LIBRARY_VARIABLE,
                 "the library to load, instead of the one installed with the command"}),
            .examples =
                MANUAL_TERMS({"eval \"$(shadowtrace env -o /tmp/app.ndjson)\"; dotnet app.dll",
                              "record everything that a shell starts from now on"},
                             {"shadowtrace env --format docker -o /logs/ >app.env",
                              "make a file for `docker run --env-file`"},
                             {"shadowtrace env --format systemd --own -o /var/log/shop/",
                              "print lines for the [Service] section of a unit"})));
