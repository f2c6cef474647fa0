#include "browse/load.h"

#include "base/memory.h"

#include <errno.h>

/* Slices of time that are kept: enough to choose a hundredth. */
#define SLICE_NS   1000000u
#define SLICES_MAX 128

/* A log's own sums are what the sums of all have grown by. */
static int weigh(void *loaded, const struct model *m, const char *path)
{
    struct loaded *l = loaded;
    struct data_log *log = &l->logs[l->count++];

    log->path = path;
    for (int w = 0; w < MODEL_WEIGHTS; w++) {
        double now = model_weight_total(m, (enum model_weight)w);

        log->weight[w] = now - l->before[w];
        l->before[w] = now;
    }
    return 0;
}

/* What is looked at first, in a model that has been prepared. */
static int begin_with(const struct load_options *options, struct loaded *l, char *why,
                      size_t why_size)
{
    int err = data_style(&l->data, options->naming.style);

    if (!err && (options->filter || options->filters.own))
        err = data_select(&l->data, options->filter ? options->filter : "", options->filters.own,
                          why, why_size);
    return err;
}

/* Between reading and looking: lines, own code, trees. */
static int prepare(const struct cli_command *command, const struct load_options *options,
                   const struct loading_options *how, struct loaded *l)
{
    char why[1000] = "";
    int err = loading_know(command, how, &l->read, why, sizeof(why));

    if (!err)
        err = data_init(&l->data, l->read.model, l->logs, l->count);
    if (!err)
        err = begin_with(options, l, why, sizeof(why));
    if (err == -EINVAL || err == -ENOENT)
        return cli_usage_error(command, "%s", why);
    l->data.sources.dirs = options->sources.item;
    l->data.sources.count = options->sources.count;
    return cli_failed(command, err);
}

int browse_load(const struct cli_command *command, const struct load_options *options, char **paths,
                size_t count, struct loaded *out)
{
    const struct loading_options how = {LOADING_ASKED(options),
                                        .dimensions = {.threads = true,
                                                       .sizes = true,
                                                       .slice_ns = SLICE_NS,
                                                       .slices_max = SLICES_MAX},
                                        .stands_in = true, .each = weigh, .context = out};
    int status;

    *out = (struct loaded){.count = 0};
    out->logs = memory_zalloc(count, sizeof(*out->logs));
    if (!out->logs)
        return cli_failed(command, -ENOMEM);
    status = loading_read(command, &how, paths, count, &out->read);
    return status ? status : prepare(command, options, &how, out);
}

void browse_load_end(struct loaded *l)
{
    data_fini(&l->data);
    loading_end(&l->read);
    memory_free(l->logs);
}
