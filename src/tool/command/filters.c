#include "command/filters.h"

#include "base/buffer.h"
#include "readers/header.h"
#include "report/processes.h"

#include <errno.h>
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
                                 .no_own = f->no_own,
                                 .once = f->once,
                                 .no_once = f->no_once,
                                 .steady = f->steady};
}

bool filters_any(const struct filters *f)
{
    return f->types.count || f->methods.count || f->exclude.count || f->below.count || f->thread ||
           f->own || f->no_own || f->once || f->no_once || f->steady;
}

static bool is_wanted(const struct args_list *processes, const json_t *header)
{
    bool wanted = false;

    for (size_t i = 0; !wanted && i < processes->count; i++)
        wanted = report_process_is(header, processes->item[i]);
    return wanted;
}

/* "MSBuild.dll, VBCSCompiler.dll", each once. */
static void add_name(struct buffer *names, const json_t *header)
{
    const char *name = log_program(header);

    if (!name || (names->data && strstr(names->data, name)))
        return;
    buffer_format(names, "%s%s", names->size ? ", " : "", name);
}

int filters_processes(const struct cli_command *command, const struct args_list *processes,
                      char **logs, size_t *count)
{
    int status = reading_once(command, logs, count);
    struct buffer names = BUFFER_INIT;
    size_t kept = 0;

    if (status || !processes->count)
        return status;
    for (size_t i = 0; i < *count; i++) {
        json_t *header = log_header_of(logs[i]);

        if (is_wanted(processes, header))
            logs[kept++] = logs[i];
        else
            add_name(&names, header);
        json_decref(header);
    }
    if (kept < *count)
        logs[kept] = NULL;
    *count = kept;
    if (names.failed) {
        status = cli_failed(command, -ENOMEM);
    } else if (!kept) {
        cli_complain(command, "no log is of a process \"%s\"%s%s", processes->item[0],
                     names.size ? "; they are of " : "", names.size ? names.data : "");
        status = CLI_USAGE;
    }
    buffer_free(&names);
    return status;
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
