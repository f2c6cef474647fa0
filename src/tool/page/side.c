#include "page/side.h"

#include <errno.h>
#include <string.h>

#define SLICES_MAX 300 /* of a time line whose slices are not given; so many can be told apart */
#define SLICE_NS   UINT64_C(10000000)

static int read_logs(const struct cli_command *command, const struct side_options *o,
                     struct side *s, struct reading_progress *progress)
{
    struct report_window window;
    int status, err;

    for (size_t i = 0; i < s->count; i++) {
        status = reading_window(command, s->logs[i], &o->window, &window);
        if (status)
            return status;
        err = model_read(s->model, s->logs[i], window.has_from || window.has_to ? &window : NULL);
        reading_progress_end(progress);
        if (err)
            return reading_failed(command, s->logs[i], model_log(s->model), err);
        err = report_marks_read(s->logs[i], &s->marks);
        if (err == -ENOMEM)
            return cli_failed(command, err);
    }
    reading_problems(command, &s->problems);
    return CLI_OK;
}

static int read_model(const struct cli_command *command, const struct side_options *o,
                      struct side *s)
{
    struct reading_progress progress;
    struct model_options options = {.dimensions = {.threads = true,
                                                   .sizes = true,
                                                   .slice_ns = o->no_time    ? 0
                                                               : o->slice_ns ? o->slice_ns
                                                                             : SLICE_NS,
                                                   .slices_max = o->slice_ns ? 0 : SLICES_MAX},
                                    .physical = o->physical,
                                    .jobs = reading_threads(&o->reading),
                                    .progress = reading_progress,
                                    .progress_context = &progress};
    int status;

    reading_progress_init(&progress, &o->reading);
    status = cli_failed(command, model_new(&options, &s->problems, &s->model));
    if (!status)
        status = read_logs(command, o, s, &progress);
    return status ? status : cli_failed(command, model_finish(s->model));
}

/* Lines, whose code, and names. */
static int look_up(const struct cli_command *command, const struct side_options *o,
                   const struct side *first, struct side *s)
{
    const struct report_defs *defs = model_defs(s->model);
    const struct report_log *log = model_log(s->model);
    char why[ARGS_WHY_SIZE];
    int err = o->no_lines ? 0 : reading_source_lines(command, defs, &o->symbols, log, &s->lines);

    if (err)
        return cli_failed(command, err);
    err = model_own_new(defs, log, s->lines, o->own_code.item, o->own_code.count, &s->own, why,
                        sizeof(why));
    if (err == -ENOENT)
        return cli_usage_error(command, "%s", why);
    if (err)
        return cli_failed(command, err);
    err = model_know(s->model, s->own, s->lines);
    if (err)
        return cli_failed(command, err);
    err =
        first ? names_beside(first->shown, defs, &s->shown) : names_new(defs, o->names, &s->shown);
    if (!err)
        err = names_new(defs, NAMES_FULL, &s->full);
    model_call(s->model, s->shown, s->full);
    return cli_failed(command, err);
}

int side_read(const struct cli_command *command, const struct side_options *o, char **logs,
              size_t count, const struct side *first, struct side *s)
{
    const struct model_shape shape = {
        .grain = MODEL_GRAIN_LINE, .types = true, .min_share = o->min_share};
    char why[ARGS_WHY_SIZE];
    int status, err;

    *s = (struct side){.logs = logs, .count = count};
    report_problems_init(&s->problems);
    status = read_model(command, o, s);
    if (!status)
        status = look_up(command, o, first, s);
    if (status)
        return status;
    err = model_tree_new(s->model, &o->filter, &shape, &s->tree, why, sizeof(why));
    if (err == -ENOENT)
        return cli_usage_error(command, "%s", why);
    return cli_failed(command, err);
}

void side_fini(struct side *s)
{
    model_tree_free(s->tree);
    names_free(s->shown);
    names_free(s->full);
    model_free(s->model);
    model_own_free(s->own);
    source_lines_free(s->lines);
    report_marks_fini(&s->marks);
    report_problems_fini(&s->problems);
}
