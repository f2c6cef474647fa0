#include "command/naming.h"

void naming_choose(struct naming *naming, const struct cli_command *command,
                   const struct args *args, enum names_style standard)
{
    if (!args_given(&command->syntax, args, "names"))
        naming->style = standard;
}
