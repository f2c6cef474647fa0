#include "shipper/send.h"

#include "command/loading.h"

#include <signal.h>
#include <unistd.h>

#define GRACE_S 30 /* beyond --timeout, for making rows */

/* What complains of symbols, which nobody would read: rows are made again and again. */
static const struct cli_command nobody = {.name = "ship"};

/* A source as a tree, while its rows are made. */
struct shipment {
    const struct sending *sending;
    struct loading loading;
    struct model_tree *tree;
};

static int load(struct shipment *s)
{
    static const struct model_filter all;
    static const struct model_shape shape = {.grain = MODEL_GRAIN_IL, .types = true};
    const struct ship_options *o = s->sending->options;
    const struct loading_options how = {
        .filters = &o->filters, .symbols = &o->symbols, .no_lines = !o->lines};
    struct report_cells *cells = &s->sending->source->cells;
    struct loading *l = &s->loading;
    char why[ARGS_WHY_SIZE];
    int err = report_cells_finish(cells);

    *l = (struct loading){.model = NULL};
    log_problems_init(&l->problems);
    if (!err)
        err = model_of_cells(cells, &l->model);
    if (err)
        return err;
    l->defs = model_defs(l->model);
    err = loading_know(&nobody, &how, l, why, sizeof(why));
    if (err == -ENOENT)
        err = 0; /* what is to be own code has not run yet */
    if (!err)
        err = loading_name(l, NULL, NAMES_FULL, NAMES_SHORT);
    return err ? err : model_tree_new(l->model, &all, &shape, &s->tree, why, sizeof(why));
}

static int write_rows(void *shipment, FILE *out)
{
    struct shipment *s = shipment;
    int err;

    export_rows_to(s->sending->rows, out);
    err = export_rows_put(s->sending->rows, s->tree, s->loading.names);
    return err ? err : ferror(out) ? -EPIPE : 0;
}

static int check_version(const struct sending *s, char why[JOB_WHY_SIZE])
{
    unsigned version = 0;
    int err;

    if (!s->check || !http_is_clickhouse(s->target))
        return 0;
    err = http_version(s->target, &version, why);
    if (err || version == SEND_SCHEMA)
        return err;
    snprintf(why, JOB_WHY_SIZE,
             "the tables there are of version %u, this program needs version %d: load them with "
             "examples/fleet/clickhouse/load --migrate",
             version, SEND_SCHEMA);
    return -EPROTO;
}

int send_work(void *sending, FILE *out, char why[JOB_WHY_SIZE])
{
    struct shipment s = {.sending = sending};
    int err;

    signal(SIGPIPE, SIG_IGN); /* a server that goes away is an error of write */
    alarm((unsigned)(s.sending->target->timeout_ns / 1000000000) + GRACE_S);
    err = check_version(s.sending, why);
    if (err)
        return err;
    source_select(s.sending->source);
    err = load(&s);
    if (!err)
        err = http_send(s.sending->target, write_rows, &s, why);
    return err ? err : export_rows_told(s.sending->rows, out);
}

int send_print(const struct sending *sending, FILE *out)
{
    struct shipment s = {.sending = sending};
    int err = load(&s);

    if (!err)
        err = write_rows(&s, out);
    model_tree_free(s.tree);
    loading_end(&s.loading);
    return err;
}
