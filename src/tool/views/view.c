#include "views/view.h"

#include "model/matches.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NS_MS      1000000u
#define SLICES_MAX 64 /* of the time line */
#define WHY_SIZE   1000
#define LAST_IL    (1 << 28) /* behind the code of every method: its last line */

#define VIEW_WORD(name, word, by, row) word,
const char *const view_words[] = {VIEWS(VIEW_WORD) NULL};
#undef VIEW_WORD

const char *const view_sorts[] = {"bytes", "allocs", "total", NULL};

const char *view_by(enum view_kind kind)
{
#define VIEW_BY(name, word, by, row) by,
    static const char *const bys[] = {VIEWS(VIEW_BY)};
#undef VIEW_BY
    return bys[kind];
}

const char *view_row_word(enum view_kind kind)
{
#define VIEW_ROW(name, word, by, row) row,
    static const char *const rows[] = {VIEWS(VIEW_ROW)};
#undef VIEW_ROW
    return rows[kind];
}

/* ---- loading ---- */

static int read_one(struct view *v, const char *log)
{
    int status = reading_window(v->command, log, &v->window, &v->found), err;

    if (status)
        return status;
    err = model_read(v->model, log, v->found.has_from || v->found.has_to ? &v->found : NULL);
    return err ? reading_failed(v->command, log, model_log(v->model), err) : CLI_OK;
}

static int read_logs(struct view *v)
{
    bool timed = v->kind == VIEW_OVERVIEW || v->kind == VIEW_TIME;
    struct reading_progress progress;
    const struct model_options options = {
        .dimensions = {.threads = v->kind == VIEW_THREADS || v->filter.thread,
                       .sizes = v->kind == VIEW_SIZES,
                       .slice_ns = timed ? NS_MS : 0,
                       .slices_max = SLICES_MAX},
        .physical = v->physical,
        .jobs = reading_threads(&v->reading),
        .progress = reading_progress,
        .progress_context = &progress};
    int status;

    reading_progress_init(&progress, &v->reading);
    status = cli_failed(v->command, model_new(&options, &v->problems, &v->model));
    for (char **log = v->logs; !status && *log; log++) {
        status = read_one(v, *log);
        reading_progress_end(&progress);
    }
    if (!status)
        reading_problems(v->command, &v->problems);
    return status ? status : cli_failed(v->command, model_finish(v->model));
}

bool view_untimed(const struct view *v)
{
    const uint64_t *records = model_log(v->model)->tally.records;

    return records[SST_KIND_SITE] && !records[SST_KIND_ALLOC];
}

/* What a view is of has to be in the log. Returns: the exit status. */
static int check_needs(const struct view *v)
{
    const struct report_log *log = model_log(v->model);
    size_t count = model_cell_count(v->model);
    bool threads = false;

    for (size_t i = 0; i < count && !threads; i++)
        threads = model_cell(v->model, i)->thread != 0;
    if (!count)
        return CLI_OK;
    if (v->kind == VIEW_TIME && view_untimed(v)) {
        cli_complain(v->command,
                     "%s has sums of call sites, which have no times; record without --log sites",
                     log->file);
        return CLI_USAGE;
    }
    if (v->kind == VIEW_THREADS && !threads) {
        cli_complain(v->command,
                     "%s does not say which thread allocated; record without --log sites",
                     log->file);
        return CLI_USAGE;
    }
    return CLI_OK;
}

int view_tree(struct view *v, const struct model_shape *shape, struct model_tree **out)
{
    char why[WHY_SIZE] = "";

    return model_tree_new(v->model, &v->filter, shape, out, why, sizeof(why));
}

/* ---- own code ---- */

/* Whether some frame of own code has a source line: then that is worth showing, little or much. */
static bool own_has_lines(const struct view *v)
{
    struct source_line line;

    for (uint32_t i = 1; i < v->defs->methods.count; i++)
        if (model_own_of_method(v->own, i) == MODEL_OWN &&
            source_line_of(v->lines, i, LAST_IL, &line))
            return true;
    return false;
}

/* Own code makes next to nothing: what is nearest to it, and no framework, stands in for it. */
static int stand_in(struct view *v, const uint32_t *modules, size_t count)
{
    const char *patterns[MODEL_OWN_NEAREST];
    struct model_own *own;
    char why[WHY_SIZE];
    int err;

    for (size_t i = 0; i < count; i++)
        patterns[i] = report_module(v->defs, modules[i])->name;
    err = model_own_new(v->defs, model_log(v->model), v->lines, patterns, count, &own, why,
                        sizeof(why));
    if (err)
        return err == -ENOENT ? 0 : err;
    model_own_free(v->own);
    v->own = own;
    v->stand_in = true;
    return 0;
}

static int name_own(struct view *v)
{
    for (uint32_t i = 1; i < v->defs->modules.count; i++) {
        if (model_own_of_module(v->own, i) != MODEL_OWN)
            continue;
        if (v->own_modules.size)
            buffer_text(&v->own_modules, ", ");
        buffer_text(&v->own_modules, report_module(v->defs, i)->name);
    }
    return v->own_modules.failed ? -ENOMEM : 0;
}

static int find_own(struct view *v)
{
    uint32_t near[MODEL_OWN_NEAREST];
    char why[WHY_SIZE] = "";
    size_t count = 0;
    int err = model_own_new(v->defs, model_log(v->model), v->lines, v->own_code->item,
                            v->own_code->count, &v->own, why, sizeof(why));

    if (err == -ENOENT) {
        cli_complain(v->command, "%s", why);
        return CLI_USAGE;
    }
    if (!err)
        err = model_know(v->model, v->own, v->lines);
    if (!err && !v->own_code->count)
        count = model_own_nearest(v->own, model_module_bytes(v->model), near);
    if (count)
        model_own_tell(v->own, model_module_bytes(v->model), &v->own_note);
    if (count && !own_has_lines(v)) {
        err = stand_in(v, near, count);
        if (!err)
            err = model_know(v->model, v->own, v->lines);
    }
    return cli_failed(v->command, err ? err : name_own(v));
}

/* ---- the tree ---- */

/* What METHOD means: methods, or else types. Returns: the exit status. */
static int find_of(struct view *v)
{
    char behind[400], why[WHY_SIZE];
    const char *const globs[] = {v->of, behind};
    const struct model_globs of = {globs, COUNT_OF(globs)};
    int64_t methods, types = 0;

    snprintf(behind, sizeof(behind), "*.%s", v->of);
    methods = matches_of(v->model, MATCHES_METHODS, &of, &v->of_methods);
    if (!methods)
        types = matches_of(v->model, MATCHES_TYPES, &of, &v->of_types);
    if (methods < 0 || types < 0)
        return cli_failed(v->command, -ENOMEM);
    if (methods || (types && v->kind == VIEW_CALLERS))
        return CLI_OK;
    if (types) {
        cli_complain(v->command, "\"%s\" is a type, which calls nothing; --view callers", v->of);
        return CLI_USAGE;
    }
    matches_why(v->model, true, v->kind == VIEW_CALLERS, &of, why, sizeof(why));
    cli_complain(v->command, "%s", why);
    return CLI_USAGE;
}

static struct model_shape shape_of(const struct view *v)
{
    bool lines = v->kind == VIEW_OVERVIEW || v->kind == VIEW_LINES || v->kind == VIEW_OWN ||
                 v->kind == VIEW_TREE;
    struct model_shape shape = {.grain = MODEL_GRAIN_METHOD};

    if (v->kind == VIEW_SITES)
        shape.grain = MODEL_GRAIN_IL;
    else if (lines)
        shape.grain = MODEL_GRAIN_LINE;
    if (v->kind == VIEW_TREE) {
        shape.fold_recursion = true;
        shape.fold_framework = !v->all_frames && model_own_any(v->own);
    }
    shape.types = v->kind == VIEW_CALLERS && v->of_types;
    return shape;
}

static int first_tree(struct view *v)
{
    const struct model_shape shape = shape_of(v);
    char why[WHY_SIZE] = "";
    int err = model_tree_new(v->model, &v->filter, &shape, &v->tree, why, sizeof(why));

    if (err == -ENOENT) {
        cli_complain(v->command, "%s", why);
        return CLI_USAGE;
    }
    for (size_t w = 0; !err && w < MODEL_WEIGHTS; w++)
        v->sum[w] = v->tree->total[w] ? v->tree->total[w][0] : 0;
    return cli_failed(v->command, err);
}

/* Names to show; patterns may mean those of the other style as well. */
static int name(struct view *v)
{
    int err = names_new(v->defs, v->style, &v->names);

    if (!err)
        err =
            names_new(v->defs, v->style == NAMES_SHORT ? NAMES_FULL : NAMES_SHORT, &v->other_names);
    model_call(v->model, v->names, v->other_names);
    return cli_failed(v->command, err);
}

int view_load(struct view *v)
{
    int status;

    report_problems_init(&v->problems);
    status = read_logs(v);
    if (status)
        return status;
    v->defs = model_defs(v->model);
    if (!v->no_lines)
        status = cli_failed(v->command, reading_source_lines(v->command, v->defs, v->symbols,
                                                             model_log(v->model), &v->lines));
    if (!status)
        status = find_own(v);
    if (!status)
        status = name(v);
    if (!status)
        status = check_needs(v);
    if (!status && v->of)
        status = find_of(v);
    return status ? status : first_tree(v);
}

void view_unload(struct view *v)
{
    model_tree_free(v->tree);
    model_free(v->model);
    names_free(v->names);
    names_free(v->other_names);
    model_own_free(v->own);
    source_lines_free(v->lines);
    buffer_free(&v->own_modules);
    buffer_free(&v->own_note);
    memory_free_all(v->of_methods, v->of_types);
    report_problems_fini(&v->problems);
}

/* ---- amounts ---- */

static uint64_t rounded(double value)
{
    return value < SST_INTEGER_MAX ? (uint64_t)(value + 0.5) : SST_INTEGER_MAX;
}

double view_share(const struct view *v, double bytes)
{
    return v->sum[MODEL_BYTES] > 0 ? bytes / v->sum[MODEL_BYTES] : 0;
}

void view_amount(const struct view *v, const double *weights, struct report_row *out)
{
    *out = (struct report_row){.il = REPORT_NO_IL,
                               .bytes = rounded(weights[MODEL_BYTES]),
                               .allocs = rounded(weights[MODEL_ALLOCS]),
                               .share = view_share(v, weights[MODEL_BYTES])};
    if (weights[MODEL_BYTES] > 0)
        out->unoptimised = weights[MODEL_UNOPTIMISED] / weights[MODEL_BYTES];
    if (!model_estimated(v->model))
        return;
    out->sampled = rounded(weights[MODEL_SAMPLED]);
    out->bytes_range = report_estimate_interval(weights[MODEL_BYTES], weights[MODEL_BYTES_VARIANCE],
                                                weights[MODEL_SEEN_BYTES]);
    out->allocs_range = report_estimate_interval(
        weights[MODEL_ALLOCS], weights[MODEL_ALLOCS_VARIANCE], weights[MODEL_SAMPLED]);
}

static void range_json(const char *key, const struct report_amount *range, struct json_writer *w)
{
    jw_array(w, key);
    jw_number(w, NULL, "%.0f", range->low);
    jw_number(w, NULL, "%.0f", range->high);
    jw_end(w);
}

void view_amounts_json(const struct report_row *amount, struct json_writer *w)
{
    jw_unsigned(w, "allocs", amount->allocs);
    jw_unsigned(w, "bytes", amount->bytes);
    if (amount->unoptimised > 0)
        jw_number(w, "unoptimised", "%.4f", amount->unoptimised);
    if (amount->sampled) {
        jw_unsigned(w, "sampled", amount->sampled);
        range_json("bytes_range", &amount->bytes_range, w);
        range_json("allocs_range", &amount->allocs_range, w);
    }
}

void view_all(const struct view *v, struct report_row *out)
{
    double all[MODEL_WEIGHTS];

    for (int w = 0; w < MODEL_WEIGHTS; w++)
        all[w] = model_weight_total(v->model, (enum model_weight)w);
    view_amount(v, all, out);
}

void view_total_json(const struct view *v, struct json_writer *w)
{
    struct report_row total, all;

    view_amount(v, v->sum, &total);
    view_all(v, &all);
    jw_object(w, "total");
    view_amounts_json(&total, w);
    jw_unsigned(w, "lost", report_log_lost(model_log(v->model)));
    jw_unsigned(w, "threads", v->defs->thread_count);
    jw_bool(w, "estimated", model_estimated(v->model));
    if (v->filtered) {
        jw_object(w, "unfiltered");
        view_amounts_json(&all, w);
        jw_end(w);
    }
    jw_end(w);
}
