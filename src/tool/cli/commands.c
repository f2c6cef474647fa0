#include "cli/commands.h"

#include "attach/attach.h"
#include "base/atomics.h"
#include "base/near.h"
#include "options/options_fields.h"
#include "record/record.h"
#include "views/views.h"

#include <string.h>

/* The order of the help page. */
static const struct cli_command *const commands[] = {
    &cmd_record, &cmd_report, &cmd_annotate, &cmd_replay, &cmd_compare, &cmd_diff, &cmd_validate,
    &cmd_env,    &cmd_list,   &cmd_dump,     &cmd_ctl,    &cmd_top,     &cmd_help,
};

const struct cli_command *cli_at(size_t index)
{
    return index < COUNT_OF(commands) ? commands[index] : NULL;
}

const struct cli_command *cli_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int cli_unknown_command(const struct cli_command *by, const char *name)
{
    const char *names[COUNT_OF(commands) + 1] = {NULL}, *near;

    for (size_t i = 0; i < COUNT_OF(commands); i++)
        names[i] = commands[i]->name;
    near = near_find(name, names);
    if (near)
        return cli_usage_error(by, "unknown command \"%.100s\"; did you mean \"%s\"?", name, near);
    return cli_usage_error(by, "unknown command \"%.100s\"", name);
}
