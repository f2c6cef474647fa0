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
    if (!*why)
        return cli_unreadable(command, path, NULL, err);
    cli_complain(command, "%s", why);
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

int from_rows_read(const struct cli_command *command, char *const *files, size_t count,
                   struct report_cells *cells, struct rows_log **out)
{
    int status = cli_failed(command, rows_log_new(cells, out));

    for (size_t i = 0; !status && i < count && files[i]; i++)
        status = read_one(command, *out, files[i]);
    if (!status)
        status = cli_failed(command, rows_log_end(*out));
    if (!status)
        tell(command, rows_log_sums(*out));
    return status;
}
