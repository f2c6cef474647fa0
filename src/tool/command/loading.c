#include "command/loading.h"

/*
 * What is asked of live objects. path: NULL: of rows, which have none: they are sums of one
 * recording, without times. Owns: *spans are the caller's, until the model has none of them.
 */
static int ask_live(const struct cli_command *command, const struct loading_options *o,
                    const char *path, struct loading *l, struct report_live_spans *spans)
{
    bool known = false;
    int status = CLI_OK;

    if (path ? o->live.question : o->live.instead)
        status = reading_spans(command, path, &o->live, &o->filters->window, spans, &known);
    if (!status && o->live.question && !known)
        model_ask_nothing(l->model); /* it would rest on the order of lines */
    model_spans(l->model, !status && known ? spans : NULL);
    return status;
}

static int read_one(const struct cli_command *command, const struct loading_options *o,
                    const char *log, struct loading *l)
{
    struct report_live_spans spans = {NULL, 0};
    int status =
        o->live.instead ? CLI_OK : reading_window(command, log, &o->filters->window, &l->found);
    int err = 0;

    if (!status)
        status = ask_live(command, o, log, l, &spans);
    if (!status)
        err = model_read(l->model, log, l->found.has_from || l->found.has_to ? &l->found : NULL);
    model_spans(l->model, NULL);
    report_live_spans_fini(&spans);
    return err ? reading_failed(command, log, model_log(l->model), err) : status;
}

static int read_rows(const struct cli_command *command, const struct loading_options *o,
                     char **files, size_t count, struct loading *l)
{
    const struct reading_window *window = &o->filters->window;
    struct report_live_spans spans = {NULL, 0};
    int status;

    if (window->from || window->to)
        return cli_usage_error(command, "--from and --to do not go with --from-rows: rows are sums "
                                        "of minutes; choose those in the query");
    status = ask_live(command, o, NULL, l, &spans);
    if (!status)
        status = from_rows_read(command, files, count, model_cells(l->model), &l->rows);
    model_spans(l->model, NULL);
    report_live_spans_fini(&spans);
    return status;
}

int loading_read(const struct cli_command *command, const struct loading_options *o, char **logs,
                 size_t count, struct loading *l)
{
    struct reading_progress progress;
    const struct model_options how = {.dimensions = o->dimensions,
                                      .physical = o->physical,
                                      .calls = o->calls,
                                      .calls_thread = o->calls_thread,
                                      .jobs = reading_threads(&o->reading),
                                      .progress = reading_progress,
                                      .progress_context = &progress,
                                      .live = o->live.question,
                                      .instead = o->live.instead,
                                      .changes = o->live.changes,
                                      .event = o->event,
                                      .event_context = o->context};
    int status;

    *l = (struct loading){.model = NULL};
    log_problems_init(&l->problems);
    reading_progress_init(&progress, &o->reading);
    status = cli_failed(command, model_new(&how, &l->problems, &l->model));
    if (!status && o->reading.rows)
        status = read_rows(command, o, logs, count, l);
    for (size_t i = 0; !status && !o->reading.rows && i < count && logs[i]; i++) {
        status = read_one(command, o, logs[i], l);
        reading_progress_end(&progress);
        if (!status && o->each)
            status = cli_failed(command, o->each(o->context, l->model, logs[i]));
    }
    if (status)
        return status;
    reading_problems(command, &l->problems);
    status = cli_failed(command, model_finish(l->model));
    l->defs = model_defs(l->model);
    return status;
}

/* Whether some frame of own code has a source line: then that is worth showing, little or much. */
static bool own_has_lines(const struct loading *l)
{
    for (uint32_t i = 1; i < l->defs->methods.count; i++)
        if (model_own_of_method(l->own, i) == MODEL_OWN && source_line_any(l->lines, i))
            return true;
    return false;
}

/* What is nearest to own code, and no framework, stands in for it. */
static int stand_in(struct loading *l, const uint32_t *modules, size_t count)
{
    const char *patterns[MODEL_OWN_NEAREST];
    struct model_own *own;
    char why[ARGS_WHY_SIZE];
    int err;

    for (size_t i = 0; i < count; i++)
        patterns[i] = log_module(l->defs, modules[i])->name;
    err = model_own_new(l->defs, model_log(l->model), l->lines, patterns, count, &own, why,
                        sizeof(why));
    if (err)
        return err == -ENOENT ? 0 : err;
    model_own_free(l->own);
    l->own = own;
    l->stand_in = true;
    return model_know(l->model, l->own, l->lines);
}

/* Own code was not named, and makes next to nothing. */
static int look_nearby(const struct loading_options *o, struct loading *l)
{
    const double *bytes = model_module_bytes(l->model);
    uint32_t near[MODEL_OWN_NEAREST];
    size_t count = o->filters->own_code.count ? 0 : model_own_nearest(l->own, bytes, near);

    if (!count)
        return 0;
    model_own_tell(l->own, bytes, &l->own_note);
    return (o->stands_in || o->filters->own) && !own_has_lines(l) ? stand_in(l, near, count) : 0;
}

int loading_know(const struct cli_command *command, const struct loading_options *o,
                 struct loading *l, char *why, size_t why_size)
{
    const struct log_input *log = model_log(l->model);
    const struct args_list *own = &o->filters->own_code;
    int err = o->no_lines ? 0 : reading_source_lines(command, l->defs, o->symbols, log, &l->lines);

    if (o->filters->generated)
        source_lines_show_generated(l->lines);
    if (!err && l->rows && l->lines)
        err = rows_log_give(l->rows, l->lines);
    if (!err)
        err = model_own_new(l->defs, log, l->lines, own->item, own->count, &l->own, why, why_size);
    if (!err)
        err = model_know(l->model, l->own, l->lines);
    return err ? err : look_nearby(o, l);
}

void loading_tell_own(const struct cli_command *command, const struct loading_options *o,
                      const struct loading *l)
{
    if (o->filters->own && l->own_note.size)
        cli_complain(command, "%s", l->own_note.data);
}

int loading_name(struct loading *l, const struct loading *first, enum names_style style,
                 enum names_style others)
{
    int err = first ? names_beside(first->names, l->defs, &l->names)
                    : names_new(l->defs, style, &l->names);

    if (!err)
        err = names_new(l->defs, others, &l->others);
    model_call(l->model, l->names, l->others);
    return err;
}

void loading_end(struct loading *l)
{
    buffer_free(&l->own_note);
    names_free(l->names);
    names_free(l->others);
    model_free(l->model);
    model_own_free(l->own);
    source_lines_free(l->lines);
    rows_log_free(l->rows);
    log_problems_fini(&l->problems);
}
