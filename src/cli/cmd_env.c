/* shadowtrace env - the environment that `record` gives to its COMMAND, for other launchers. */
#include "cli/cli_options.h"
#include "cli/commands.h"
#include "cli/record_environment.h"
#include "cli/record_library.h"

static int print(const struct cli_recording *r, FILE *out, struct record_why *why)
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

static int run(int argc, char **argv, FILE *out)
{
    struct record_why why = {.text = ""};
    struct cli_recording r;
    int status = cli_options_parse(&cmd_env, argc, argv, &r);

    if (status == CLI_OK && r.help)
        cli_help(&cmd_env, out);
    else if (status == CLI_OK && r.command < argc)
        status = cli_usage_error(
            &cmd_env, "\"%s\" is no option; env starts no command, record does", argv[r.command]);
    else if (status == CLI_OK)
        status = print(&r, out, &why);
    if (*why.text)
        cli_complain(&cmd_env, "%s", why.text);
    cli_options_fini(&r);
    return status;
}

const struct cli_command cmd_env = {
    .name = "env",
    .args = "[OPTIONS] [--format shell|json|docker|systemd]",
    .help = "print the environment that makes any launcher record a program",
    .options =
        CLI_OPTIONS_HELP "The form:\n"
                         "  --format shell      for eval \"$(shadowtrace env ...)\" (the default)\n"
                         "  --format docker     for docker run --env-file; json; systemd, for the "
                         "[Service] part of a unit\n"
                         "  --status FOLDER     where processes report why they were not recorded "
                         "(PID.json); it must exist\n"
                         "SHADOWTRACE_LIBRARY names the library where the program will run, if it "
                         "is not where it is here.\n",
    .main = run,
};
