#include "command/from_rows.h"

#include "terminal/text.h"

#include <string.h>

static int read_one(const struct cli_command *command, struct rows_log *log, const char *path)
{
    char why[ROWS_LOG_WHY];
    int err = rows_log_read(log, path, why);

    if (!err)
        return CLI_OK;
    if (err == -ENOMEM)
        return cli_failed(command, err);
    if (*why)
        cli_complain(command, "%s", why);
    else
        cli_complain(command, "cannot read %s: %s", path, strerror(-err));
    return CLI_IO;
}

/* What figures of a log would come with, and those of rows do not. */
static void tell(const struct cli_command *command, const struct rows_log_sums *sums)
{
    struct text_number some, all;

    if (sums->estimated)
        cli_complain(command,
                     "%s of %s recordings are samples: their sums are estimates, shown without "
                     "intervals",
                     text_count(&some, sums->estimated), text_count(&all, sums->recordings));
    if (sums->incomplete)
        cli_complain(command, "%s of %s recordings are not complete",
                     text_count(&some, sums->incomplete), text_count(&all, sums->recordings));
    if (sums->unknown)
        cli_complain(command, "%s rows of kinds that this version does not know",
                     text_count(&some, sums->unknown));
}

int from_rows_read(const struct cli_command *command, const struct reading_window *window,
                   char *const *files, size_t count, struct from_rows *out)
{
    int status;

    *out = (struct from_rows){.log = NULL};
    if (window->from || window->to)
        return cli_usage_error(command, "--from and --to do not go with --from-rows: rows are sums "
                                        "of minutes; choose those in the query");
    status = cli_failed(command, rows_log_new(&out->log));
    for (size_t i = 0; !status && i < count && files[i]; i++)
        status = read_one(command, out->log, files[i]);
    if (!status)
        status = cli_failed(command, rows_log_make(out->log, out->path));
    if (!status)
        tell(command, rows_log_sums(out->log));
    out->logs[0] = out->path;
    return status;
}

void from_rows_free(struct from_rows *f)
{
    rows_log_free(f->log);
    f->log = NULL;
}

int from_rows_give(const struct from_rows *f, const struct report_defs *defs,
                   struct source_lines *lines)
{
    return f->log && lines ? rows_log_give(f->log, defs, lines) : 0;
}
