#include "export/args.h"
#include "export/rows.h"

#include "command/loading.h"
#include "command/packed.h"
#include "command/print_complete.h"
#include "readers/header.h"
#include "terminal/text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A recording has to be told from all others, and one row of it from the next. */
static int check_header(const struct log_input *log, const char *path)
{
    if (!log->header || log_started(log->header) <= 0)
        cli_complain(&cmd_export,
                     "%s does not say when it was recorded: its rows could be confused with those "
                     "of other logs",
                     path);
    else if (log->recording.number > 1)
        cli_complain(&cmd_export,
                     "%s holds %llu recordings: write each to a separate file, from one line with "
                     "\"kind\":\"header\" to the next",
                     path, (unsigned long long)log->recording.number);
    else
        return CLI_OK;
    return CLI_IO;
}

/* The model has minutes; what is alive is asked for where nothing is left out. */
static struct loading_options how_of(const struct export_args *a)
{
    struct loading_options how = {
        LOADING_ASKED(a),
        .dimensions = {.threads = a->filters.thread != 0,
                       .slice_ns = EXPORT_ROWS_BUCKET,
                       .by_clock = true},
    };

    if (!a->filters.window.from && !a->filters.window.to && !a->filters.thread)
        how.live = (struct reading_live){.question = REPORT_LIVE_END};
    return how;
}

static int put_tree(const struct export_args *a, struct loading *read, struct export_rows *rows,
                    char *why, size_t why_size)
{
    const struct model_filter filter = filters_model(&a->filters);
    const struct model_shape shape = {.grain = MODEL_GRAIN_IL, .types = true};
    struct model_tree *tree = NULL;
    int err = model_tree_new(read->model, &filter, &shape, &tree, why, why_size);

    if (!err)
        err = export_rows_put(rows, tree, read->names);
    model_tree_free(tree);
    return err;
}

/* A line where the log is not complete, as of any other export. */
static void tell_gaps(const struct log_input *log)
{
    struct buffer gaps = BUFFER_INIT;

    if (print_complete_text(log, &gaps) && !gaps.failed)
        cli_complain(&cmd_export, "%s: %s", log->file, gaps.data);
    buffer_free(&gaps);
}

static int put_log(const struct export_args *a, char *path, struct export_rows *rows)
{
    const struct loading_options how = how_of(a);
    enum names_style style = a->naming.style;
    char *one[] = {path, NULL}, why[500] = "";
    struct loading read;
    int status = loading_read(&cmd_export, &how, one, 1, &read), err;

    if (!status)
        status = check_header(model_log(read.model), path);
    if (!status) {
        err = loading_know(&cmd_export, &how, &read, why, sizeof(why));
        if (!err)
            err = loading_name(&read, NULL, style, naming_other(style));
        if (!err) {
            loading_tell_own(&cmd_export, &how, &read);
            err = put_tree(a, &read, rows, why, sizeof(why));
        }
        status =
            err == -ENOENT ? cli_usage_error(&cmd_export, "%s", why) : cli_failed(&cmd_export, err);
    }
    if (!status) {
        tell_gaps(model_log(read.model));
        source_lines_missing(read.lines, NULL, NULL);
    }
    loading_end(&read);
    return status;
}

static int put_logs(const struct export_args *a, char **logs, FILE *out,
                    struct export_rows_sums *sums)
{
    char here[HOST_NAME_MAX + 1] = "";
    struct export_rows_options options = {.host = a->host,
                                          .container = a->container,
                                          .redact = a->redact,
                                          .dirs = a->symbols.item,
                                          .ndirs = a->symbols.count};
    struct export_rows *rows;
    int status;

    if (!options.host && gethostname(here, sizeof(here)))
        return cli_usage_error(&cmd_export, "this machine has no name: say --host NAME");
    if (!options.host)
        options.host = here;
    status = cli_failed(&cmd_export, export_rows_new(out, &options, &rows));
    for (; !status && *logs; logs++)
        status = put_log(a, *logs, rows);
    if (rows)
        *sums = *export_rows_sums(rows);
    export_rows_free(rows);
    return status;
}

void export_rows_tell(const char *path, const struct export_rows_sums *sums)
{
    struct text_number recordings, rows, bytes, allocs;

    fprintf(stderr, "%s: %s in %s objects, %s rows of %s recording%s\n", path,
            text_bytes(&bytes, sums->bytes), text_count(&allocs, sums->allocs),
            text_count(&rows, sums->rows), text_count(&recordings, sums->recordings),
            text_plural(sums->recordings));
}

int export_rows_run(const struct export_args *a, char **logs, const struct output *o,
                    struct export_rows_sums *sums)
{
    struct packed *packed;
    int status = cli_failed(&cmd_export, packed_open(o->path, o->file, &packed)), err;

    if (status)
        return status;
    status = put_logs(a, logs, packed_file(packed), sums);
    err = packed_close(packed);
    if (status || !err || ferror(o->file)) /* reported when the file is closed */
        return status;
    return cli_failed(&cmd_export, err);
}
