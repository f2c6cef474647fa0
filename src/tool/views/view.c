#include "views/view.h"

#include "command/print_sampling.h"
#include "model/matches.h"
#include "readers/header.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NS_MS      1000000u
#define SLICES_MAX 64 /* of the time line */
#define WHY_SIZE   1000

#define VIEW_WORD(name, word, ...) word,
const char *const view_words[] = {VIEWS(VIEW_WORD) NULL};
#undef VIEW_WORD

const char *const view_sorts[] = {"bytes", "allocs", "total", NULL};

#define VIEW_TRAITS(name, word, by, row, question, key, form, letter, help) \
    {by, row, row "s", REPORT_LIVE_##question, MODEL_BY_##key, letter},
static const struct {
    const char *by, *row, *rows;
    enum report_live_question question;
    enum model_key key;
    char letter;
} traits[] = {VIEWS(VIEW_TRAITS)};
#undef VIEW_TRAITS

enum report_live_question view_question(enum view_kind kind)
{
    return traits[kind].question;
}

enum model_key view_key(enum view_kind kind)
{
    return traits[kind].key;
}

char view_browse_key(enum view_kind kind)
{
    return traits[kind].letter;
}

const char *view_word(const struct view *v)
{
    return view_words[v->live ? v->live : v->kind];
}

const char *view_by(enum view_kind kind)
{
    return traits[kind].by;
}

const char *view_row_word(enum view_kind kind)
{
    return traits[kind].row;
}

const char *view_row_words(enum view_kind kind, uint64_t count)
{
    if (count == 1)
        return traits[kind].row;
    return kind == VIEW_PROCESSES ? view_words[kind] : traits[kind].rows;
}

/* ---- loading ---- */

/* Rows are of frames, or trees of them. */
static bool is_on_paths(const struct view *v)
{
    switch (view_key(v->kind)) {
    case MODEL_BY_TYPE:
    case MODEL_BY_THREAD:
    case MODEL_BY_PROCESS:
    case MODEL_BY_SIZE:
    case MODEL_BY_SLICE:
        return false;
    default:
        return v->kind != VIEW_LIFETIMES;
    }
}

/* Neither rows nor filters nor what stands around them. (JSON says whose code is whose.) */
static bool asks_no_paths(const struct view *v)
{
    const struct model_filter *f = &v->filter;

    return !is_on_paths(v) && v->format == READING_TEXT && !v->question && !f->methods.count &&
           !f->exclude.count && !f->below.count && !f->own && !f->no_own && !f->once && !f->no_once;
}

static int read_logs(struct view *v)
{
    const enum model_key key = view_key(v->kind);
    bool timed = v->kind == VIEW_OVERVIEW || key == MODEL_BY_SLICE;

    v->how.stands_in = true;
    v->how.calls = v->kind == VIEW_METHODS && !v->question && !v->compared;
    v->how.calls_thread = v->filter.thread;
    v->how.live = (struct reading_live){
        .question = v->question, .instead = v->question != REPORT_LIVE_NONE, .at = v->at};
    v->how.dimensions = (struct model_dimensions){
        .threads = key == MODEL_BY_THREAD || v->filter.thread,
        .processes = key == MODEL_BY_PROCESS || (v->kind == VIEW_OVERVIEW && !v->filter.thread),
        .sizes = key == MODEL_BY_SIZE,
        .no_paths = asks_no_paths(v),
        .slice_ns = timed ? NS_MS : 0,
        .slices_max = SLICES_MAX};
    return loading_read(v->command, &v->how, v->logs, SIZE_MAX, &v->read);
}

int view_tree(struct view *v, const struct model_shape *shape, struct model_tree **out)
{
    char why[WHY_SIZE] = "";

    return model_tree_new(v->read.model, &v->filter, shape, out, why, sizeof(why));
}

static int name_own(struct view *v)
{
    for (uint32_t i = 1; i < v->read.defs->modules.count; i++) {
        if (model_own_of_module(v->read.own, i) != MODEL_OWN)
            continue;
        if (v->own_modules.size)
            buffer_text(&v->own_modules, ", ");
        buffer_text(&v->own_modules, log_module(v->read.defs, i)->name);
    }
    return v->own_modules.failed ? -ENOMEM : 0;
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
    methods = matches_of(v->read.model, MATCHES_METHODS, &of, &v->of_methods);
    if (!methods)
        types = matches_of(v->read.model, MATCHES_TYPES, &of, &v->of_types);
    if (methods < 0 || types < 0)
        return cli_failed(v->command, -ENOMEM);
    if (methods || (types && v->kind == VIEW_CALLERS))
        return CLI_OK;
    if (types) {
        cli_complain(v->command, "\"%s\" is a type, which calls nothing; --view callers", v->of);
        return CLI_USAGE;
    }
    matches_why(v->read.model, true, v->kind == VIEW_CALLERS, &of, why, sizeof(why));
    cli_complain(v->command, "%s", why);
    return CLI_USAGE;
}

static struct model_shape shape_of(const struct view *v)
{
    const enum model_key key = view_key(v->kind);
    bool lines = key == MODEL_BY_OWN || key == MODEL_BY_LINE || key == MODEL_BY_LINE_TYPE ||
                 v->kind == VIEW_TREE;
    struct model_shape shape = {.grain = MODEL_GRAIN_METHOD};

    if (lines)
        shape.grain = MODEL_GRAIN_LINE;
    else if (key == MODEL_BY_SITE && v->filter.below.count)
        shape.grain = MODEL_GRAIN_IL;
    else if (key == MODEL_BY_SITE || !is_on_paths(v))
        shape.grain = MODEL_GRAIN_NONE;
    if (v->kind == VIEW_TREE) {
        shape.fold_recursion = true;
        shape.fold_framework = !v->all_frames && !v->filter.no_own && model_own_any(v->read.own);
    }
    shape.types = v->kind == VIEW_CALLERS && v->of_types;
    return shape;
}

static int first_tree(struct view *v)
{
    static const struct model_filter nothing = {.has_slices = true};
    const struct model_shape shape = shape_of(v);
    char why[WHY_SIZE] = "";
    int err = model_tree_new(v->read.model, &v->filter, &shape, &v->tree, why, sizeof(why));

    if (err == -ENOENT) {
        cli_complain(v->command, "%s", why);
        if (!v->lenient || v->filter.exclude.count || v->filter.below.count)
            return CLI_USAGE;
        v->filter = nothing; /* types and methods that nothing matches leave no row */
        err = model_tree_new(v->read.model, &v->filter, &shape, &v->tree, why, sizeof(why));
    }
    for (size_t w = 0; !err && w < MODEL_WEIGHTS; w++)
        v->sum[w] = v->tree->total[w] ? v->tree->total[w][0] : 0;
    return cli_failed(v->command, err);
}

/* Whose code is whose, and names. Returns: the exit status. */
static int know(struct view *v)
{
    char why[WHY_SIZE] = "";
    int err = loading_know(v->command, &v->how, &v->read, why, sizeof(why));

    if (!err)
        err = name_own(v);
    if (!err)
        err = loading_name(&v->read, v->beside, v->style, naming_other(v->style));
    if (err != -ENOENT)
        return cli_failed(v->command, err);
    cli_complain(v->command, "%s", why);
    return CLI_USAGE;
}

static int make_frames(struct view *v)
{
    v->frames = memory_zalloc(1, sizeof(*v->frames));
    return v->frames ? places_init(v->frames, v->read.model, MODEL_GRAIN_IL) : -ENOMEM;
}

int view_load(struct view *v)
{
    int status = read_logs(v);

    if (!status)
        status = know(v);
    if (!status && v->of)
        status = find_of(v);
    if (!status)
        status = first_tree(v);
    if (!status && view_key(v->kind) == MODEL_BY_SITE)
        status = cli_failed(v->command, make_frames(v));
    return status ? status : view_needs(v);
}

int view_steady(struct view *v)
{
    model_tree_free(v->tree);
    v->tree = NULL;
    v->filter.steady = true;
    return first_tree(v);
}

void view_unload(struct view *v)
{
    model_tree_free(v->tree);
    if (v->frames)
        places_fini(v->frames);
    memory_free(v->frames);
    loading_end(&v->read);
    buffer_free(&v->own_modules);
    memory_free_all(v->of_methods, v->of_types);
}

/* ---- amounts ---- */

double view_share(const struct view *v, double bytes)
{
    return v->sum[MODEL_BYTES] > 0 ? bytes / v->sum[MODEL_BYTES] : 0;
}

void view_amount(const struct view *v, const double *weights, struct model_amount *out)
{
    model_amount_of(v->read.model, weights, out);
    out->share = view_share(v, weights[MODEL_BYTES]);
}

void view_range_json(const char *key, const struct report_amount *range, struct json_writer *w)
{
    jw_array(w, key);
    jw_number(w, NULL, "%.0f", range->low);
    jw_number(w, NULL, "%.0f", range->high);
    jw_end(w);
}

void view_amounts_json(const struct model_amount *amount, struct json_writer *w)
{
    jw_unsigned(w, "allocs", amount->allocs);
    jw_unsigned(w, "bytes", amount->bytes);
    if (amount->unoptimised > 0)
        jw_number(w, "unoptimised", "%.4f", amount->unoptimised);
    if (amount->once > 0)
        jw_number(w, "once", "%.4f", amount->once);
    if (amount->sampled) {
        jw_unsigned(w, "sampled", amount->sampled);
        if (amount->mixed)
            jw_bool(w, "mixed", true);
        if (amount->approximate) {
            jw_bool(w, "approximate", true);
            return;
        }
        view_range_json("bytes_range", &amount->bytes_range, w);
        if (!amount->mixed)
            view_range_json("allocs_range", &amount->allocs_range, w);
    }
}

void view_total_range_json(const struct model_amount *total, struct json_writer *w)
{
    if (total->sampled && !total->approximate)
        view_range_json("total_bytes_range", &total->bytes_range, w);
}

/* Who took the samples, if there are any. */
static void sampler_json(const struct log_input *log, const struct model_amount *all,
                         struct json_writer *w)
{
    uint64_t mean = log_sample_mean(log->header);

    print_sampling_json(log, w);
    if (!all->sampled)
        return;
    jw_text(w, "sampler", log_sampler_word(log_sampler_kind(log->header)));
    if (mean && !all->approximate)
        jw_number(w, "unsampled_most", "%.0f", report_estimate_none((double)mean));
}

void view_all(const struct view *v, struct model_amount *out)
{
    double all[MODEL_WEIGHTS];

    for (int w = 0; w < MODEL_WEIGHTS; w++)
        all[w] = model_weight_total(v->read.model, (enum model_weight)w);
    view_amount(v, all, out);
}

void view_total_json(const struct view *v, struct json_writer *w)
{
    struct model_amount total, all;

    view_amount(v, v->sum, &total);
    view_all(v, &all);
    jw_object(w, "total");
    view_amounts_json(&total, w);
    jw_unsigned(w, "lost", log_input_lost(model_log(v->read.model)));
    jw_unsigned(w, "threads", v->read.defs->thread_count);
    jw_bool(w, "estimated", model_estimated(v->read.model));
    sampler_json(model_log(v->read.model), &all, w);
    if (v->filtered) {
        jw_object(w, "unfiltered");
        view_amounts_json(&all, w);
        jw_end(w);
    }
    jw_end(w);
}
