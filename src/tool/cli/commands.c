#include "cli/commands.h"

#include "attach/attach.h"
#include "base/atomics.h"
#include "browse/browse.h"
#include "export/export.h"
#include "gate/gate.h"
#include "page/page.h"
#include "record/record.h"
#include "retained/retained.h"
#include "serve/serve.h"
#include "ship/ship.h"
#include "views/views.h"

#include <string.h>

/* The order of the help page. */
static const struct {
    const struct cli_command *command;
    const char *group;
} commands[] = {
    {&cmd_record, "Record a program"},
    {&cmd_env, "Record a program"},
    {&cmd_attach, "Record a program"},
    {&cmd_detach, "Record a program"},
    {&cmd_list, "Look at a traced process"},
    {&cmd_dump, "Look at a traced process"},
    {&cmd_top, "Look at a traced process"},
    {&cmd_ctl, "Look at a traced process"},
    {&cmd_serve, "Look at a traced process"},
    {&cmd_ship, "Look at a traced process"},
    {&cmd_report, "Look at a log"},
    {&cmd_browse, "Look at a log"},
    {&cmd_annotate, "Look at a log"},
    {&cmd_diff, "Look at a log"},
    {&cmd_html, "Look at a log"},
    {&cmd_events, "Look at a log"},
    {&cmd_profile, "Look at a log"},
    {&cmd_retained, "Look at a log"},
    {&cmd_replay, "Look at a log"},
    {&cmd_export, "Look at a log"},
    {&cmd_compare, "Check a log"},
    {&cmd_validate, "Check a log"},
    {&cmd_gate, "Check a log"},
    {&cmd_help, "Help"},
};

/* Commands that once were an option of another: `report --gc LOG` is `events gc LOG`. */
static const struct {
    const char *command, *option, *now, *first; /* first: argument of `now`, or NULL */
} moved[] = {
    {"report", "--exceptions", "events", "exceptions"},
    {"report", "--gc", "events", "gc"},
    {"report", "--jit", "events", "jit"},
    {"report", "--suspensions", "events", "suspensions"},
    {"report", "--calls", "events", "calls"},
    {"report", "--profile", "profile", NULL},
};

const struct cli_command *cli_at(size_t index, const char **group)
{
    if (index >= COUNT_OF(commands))
        return NULL;
    *group = commands[index].group;
    return commands[index].command;
}

const struct cli_command *cli_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        if (strcmp(commands[i].command->name, name) == 0)
            return commands[i].command;
    return NULL;
}

int cli_unknown_command(const struct cli_command *by, const char *name)
{
    const char *names[COUNT_OF(commands) + 1] = {NULL};

    for (size_t i = 0; i < COUNT_OF(commands); i++)
        names[i] = commands[i].command->name;
    return cli_unknown(by, "command", name, names);
}

/* argv from the command's name on. Returns: argc now. */
static int move_to(size_t m, int argc, char **argv, int option)
{
    argv[0] = (char *)(uintptr_t)moved[m].now;
    if (moved[m].first) {
        memmove(argv + 2, argv + 1, sizeof(*argv) * (size_t)(option - 1));
        argv[1] = (char *)(uintptr_t)moved[m].first;
        return argc;
    }
    memmove(argv + option, argv + option + 1, sizeof(*argv) * (size_t)(argc - option));
    return argc - 1;
}

static int take_old_form(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        for (size_t m = 0; m < COUNT_OF(moved); m++)
            if (!strcmp(argv[0], moved[m].command) && !strcmp(argv[i], moved[m].option))
                return move_to(m, argc, argv, i);
    return argc;
}

int cli_start(int argc, char **argv, FILE *out)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    const struct cli_command *command;

    if (!name)
        return cli_usage_error(NULL, "expected a command");
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        fprintf(out, "shadowtrace %s\n", SHADOWTRACE_VERSION);
        return CLI_OK;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return cli_run(&cmd_help, argc - 1, argv + 1, out);
    if (name[0] == '-')
        return cli_usage_error(NULL, "unknown option %.100s", name);
    argc = take_old_form(argc - 1, argv + 1);
    command = cli_find(argv[1]);
    return command ? cli_run(command, argc, argv + 1, out) : cli_unknown_command(NULL, name);
}
