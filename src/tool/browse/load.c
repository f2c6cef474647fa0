#include "browse/load.h"

#include "base/memory.h"

#include <errno.h>

/* Slices of time that are kept: enough to choose a hundredth. */
#define SLICE_NS   1000000u
#define SLICES_MAX 128

/* Each log's own sums are what the sums of all have grown by. */
static void weigh(struct loaded *l, struct data_log *log, double before[MODEL_WEIGHTS])
{
    for (int w = 0; w < MODEL_WEIGHTS; w++) {
        double now = model_weight_total(l->model, (enum model_weight)w);

        log->weight[w] = now - before[w];
        before[w] = now;
    }
}

static int read_logs(const struct cli_command *command, const struct load_options *options,
                     char **paths, size_t count, struct loaded *l)
{
    struct reading_progress progress;
    const struct model_options how = {
        .dimensions = {.threads = true, .slice_ns = SLICE_NS, .slices_max = SLICES_MAX},
        .physical = options->physical,
        .jobs = reading_threads(&options->reading),
        .progress = reading_progress,
        .progress_context = &progress};
    double before[MODEL_WEIGHTS] = {0};
    struct report_window window;
    int err = model_new(&how, &l->problems, &l->model);

    reading_progress_init(&progress, &options->reading);
    for (size_t i = 0; i < count && !err; i++) {
        int status = reading_window(command, paths[i], &options->window, &window);

        if (status)
            return status;
        err = model_read(l->model, paths[i], window.has_from || window.has_to ? &window : NULL);
        reading_progress_end(&progress);
        if (err)
            return reading_failed(command, paths[i], model_log(l->model), err);
        l->logs[i].path = paths[i];
        weigh(l, &l->logs[i], before);
    }
    if (!err)
        err = model_finish(l->model);
    return cli_failed(command, err);
}

/* What is looked at first, in a model that has been prepared. */
static int begin_with(const struct load_options *options, struct loaded *l, char *why,
                      size_t why_size)
{
    int err = data_style(&l->data, options->naming.style);

    if (!err && (options->filter || options->own))
        err = data_select(&l->data, options->filter ? options->filter : "", options->own, why,
                          why_size);
    return err;
}

/* Between reading and looking: lines, own code, trees. */
static int prepare(const struct cli_command *command, const struct load_options *options,
                   size_t count, struct loaded *l)
{
    char why[1000] = "";
    int err = 0;

    reading_problems(command, &l->problems);
    if (!options->no_lines)
        err = reading_source_lines(command, model_defs(l->model), &options->symbols,
                                   model_log(l->model), &l->lines);
    if (!err)
        err = model_own_new(model_defs(l->model), model_log(l->model), l->lines,
                            options->own_code.item, options->own_code.count, &l->own, why,
                            sizeof(why));
    if (err == -ENOENT)
        return cli_usage_error(command, "%s", why);
    if (!err)
        err = model_know(l->model, l->own, l->lines);
    if (!err)
        err = data_init(&l->data, l->model, l->logs, count);
    if (!err)
        err = begin_with(options, l, why, sizeof(why));
    if (err == -EINVAL || err == -ENOENT)
        return cli_usage_error(command, "%s", why);
    l->data.sources.dirs = options->sources.item;
    l->data.sources.count = options->sources.count;
    return cli_failed(command, err);
}

int load(const struct cli_command *command, const struct load_options *options, char **paths,
         size_t count, struct loaded *out)
{
    int status;

    *out = (struct loaded){.model = NULL};
    report_problems_init(&out->problems);
    out->logs = memory_zalloc(count, sizeof(*out->logs));
    status =
        out->logs ? read_logs(command, options, paths, count, out) : cli_failed(command, -ENOMEM);
    return status ? status : prepare(command, options, count, out);
}

void load_end(struct loaded *l)
{
    data_fini(&l->data);
    model_free(l->model);
    model_own_free(l->own);
    source_lines_free(l->lines);
    report_problems_fini(&l->problems);
    memory_free(l->logs);
}
