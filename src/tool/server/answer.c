#include "server/answer.h"

#include "command/gzip.h"
#include "command/loading.h"

#include <string.h>

/* What complains of symbols, which nobody would read: answers are made again and again. */
static const struct cli_command nobody = {.name = "serve"};

static int know(const struct answer_ask *ask, struct loading *l)
{
    const struct loading_options how = {.filters = &ask->options->filters,
                                        .symbols = &ask->options->symbols,
                                        .no_lines = ask->options->no_lines,
                                        .stands_in = ask->kind == ANSWER_METRICS};
    char why[ARGS_WHY_SIZE];
    int err = loading_know(&nobody, &how, l, why, sizeof(why));

    return err == -ENOENT ? 0 : err; /* what is to be own code has not run yet */
}

int answer_load(const struct answer_ask *ask, struct traced *t, struct loading *l)
{
    const bool page = ask->kind == ANSWER_FLAME;
    int err = report_cells_logical(&t->cells);

    *l = (struct loading){.model = NULL};
    log_problems_init(&l->problems);
    if (!err)
        err = report_cells_finish(&t->cells);
    if (!err)
        err = model_of_cells(&t->cells, &l->model);
    if (err)
        return err;
    l->defs = model_defs(l->model);
    err = know(ask, l);
    return err ? err
               : loading_name(l, NULL, page ? NAMES_SHORT : NAMES_FULL,
                              page ? NAMES_FULL : NAMES_SHORT);
}

static int make(const struct answer_ask *ask, FILE *out)
{
    static int (*const kinds[])(const struct answer_ask *, FILE *) = {
        [ANSWER_ALLOCS] = answer_profile,  [ANSWER_HEAP] = answer_profile,
        [ANSWER_METRICS] = answer_metrics, [ANSWER_INDEX] = answer_index,
        [ANSWER_FLAME] = answer_flame,
    };

    return kinds[ask->kind](ask, out);
}

static int make_packed(const struct answer_ask *ask, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *plain = open_memstream(&text, &size);
    struct gzip *g;
    int err = plain ? make(ask, plain) : -ENOMEM;

    if (plain && fclose(plain) && !err)
        err = -ENOMEM;
    if (!err)
        err = gzip_new(GZIP_FRAME, GZIP_USUAL, gzip_to_file, out, &g);
    if (err)
        return err;
    gzip_write(g, text, size);
    return gzip_finish(g);
}

int answer_make(void *context, FILE *out, char why[JOB_WHY_SIZE])
{
    const struct answer_ask *ask = context;

    (void)why; /* what -errno means says it all */
    return ask->gzip ? make_packed(ask, out) : make(ask, out);
}
