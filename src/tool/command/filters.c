#include "command/filters.h"

#include <stdlib.h>
#include <string.h>

static struct model_globs globs(const struct args_list *list)
{
    return (struct model_globs){list->item, list->count};
}

struct model_filter filters_model(const struct filters *f)
{
    return (struct model_filter){.types = globs(&f->types),
                                 .methods = globs(&f->methods),
                                 .exclude = globs(&f->exclude),
                                 .below = globs(&f->below),
                                 .thread = f->thread,
                                 .own = f->own,
                                 .steady = f->steady};
}

bool filters_any(const struct filters *f)
{
    return f->types.count || f->methods.count || f->exclude.count || f->below.count || f->thread ||
           f->own || f->steady;
}

int filters_share(const struct cli_command *command, const char *text, double *share)
{
    char *end;
    double value;

    if (!text)
        return CLI_OK;
    value = strtod(text, &end) / 100;
    end += end != text && *end == '%';
    if (!strchr("0123456789.", *text) || end == text || *end || !(value >= 0 && value <= 1))
        return cli_usage_error(
            command, "--min-share takes a percentage from 0 to 100, such as 0.5%%, not \"%s\"",
            text);
    *share = value;
    return CLI_OK;
}
