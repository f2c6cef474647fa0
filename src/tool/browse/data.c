#include "browse/data.h"

#include "readers/header.h"
#include "report/estimate.h"
#include "terminal/text.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- trees ---- */

static const struct model_shape every_frame = {.grain = MODEL_GRAIN_LINE, .types = true};

/* Both trees of a filter. On failure none is made. */
static int make_trees(const struct data *d, const struct model_filter *filter,
                      struct model_tree *trees[2], char *why, size_t why_size)
{
    struct model_shape folded = every_frame;
    int err = model_tree_new(d->model, filter, &every_frame, &trees[0], why, why_size);

    trees[1] = trees[0];
    folded.fold_framework = d->fold;
    folded.fold_recursion = d->recursion;
    if (!err && (d->fold || d->recursion))
        err = model_tree_new(d->model, filter, &folded, &trees[1], why, why_size);
    if (err)
        model_tree_free(trees[0]);
    return err;
}

static void free_trees(struct data *d)
{
    if (d->shown != d->plain)
        model_tree_free(d->shown);
    model_tree_free(d->plain);
    d->plain = d->shown = NULL;
}

int data_select(struct data *d, const char *text, bool own, char *why, size_t why_size)
{
    struct model_tree *trees[2];
    struct filter *filter;
    int err = filter_new(d->model, text, &filter, why, why_size);

    if (err)
        return err;
    filter->model.own = own;
    err = make_trees(d, &filter->model, trees, why, why_size);
    if (err) {
        memory_free(filter);
        return err;
    }
    free_trees(d);
    memory_free(d->filter);
    d->filter = filter;
    d->own = own;
    d->plain = trees[0];
    d->shown = trees[1];
    return 0;
}

int data_shape(struct data *d, bool fold, bool recursion)
{
    struct model_shape shape = every_frame;
    struct model_tree *tree = d->plain;
    char why[200];
    int err = 0;

    shape.fold_framework = fold;
    shape.fold_recursion = recursion;
    if (fold || recursion)
        err = model_tree_new(d->model, &d->filter->model, &shape, &tree, why, sizeof(why));
    if (err)
        return err;
    if (d->shown != d->plain)
        model_tree_free(d->shown);
    d->shown = tree;
    d->fold = fold;
    d->recursion = recursion;
    return 0;
}

int data_style(struct data *d, enum names_style style)
{
    int err = d->names[style] ? 0 : names_new(model_defs(d->model), style, &d->names[style]);

    if (!err)
        d->style = style;
    return err;
}

int data_init(struct data *d, struct model *model, const struct data_log *logs, size_t log_count)
{
    struct log_completeness gaps;
    char why[200];
    int err;

    *d = (struct data){.model = model, .logs = logs, .log_count = log_count, .recursion = true};
    d->sources.lines = model_source_lines(model);
    d->fold = model_own_any(model_own_code(model));
    log_input_completeness(model_log(model), &gaps);
    d->incomplete = !log_complete(&gaps);
    err = data_style(d, NAMES_FULL);
    if (!err)
        err = data_style(d, NAMES_SHORT);
    model_call(model, d->names[NAMES_SHORT], d->names[NAMES_FULL]);
    return err ? err : data_select(d, "", false, why, sizeof(why));
}

void data_fini(struct data *d)
{
    free_trees(d);
    for (size_t i = 0; i <= NAMES_RAW; i++)
        names_free(d->names[i]);
    memory_free(d->filter);
    if (d->namespaces)
        namespaces_fini(d->namespaces);
    memory_free(d->namespaces);
}

int data_namespaces(struct data *d)
{
    int err;

    if (d->namespaces)
        return 0;
    d->namespaces = memory_zalloc(1, sizeof(*d->namespaces));
    err = d->namespaces ? namespaces_init(d->namespaces, model_defs(d->model)) : -ENOMEM;
    if (err && d->namespaces) {
        namespaces_fini(d->namespaces);
        memory_free(d->namespaces);
        d->namespaces = NULL;
    }
    return err;
}

/* ---- numbers ---- */

double data_total(const struct data *d, enum model_weight weight)
{
    return d->plain->total[weight][0];
}

const char *data_amount(const struct data *d, struct data_number *to, enum model_weight weight,
                        double amount)
{
    struct text_number n;
    uint64_t whole = amount > 0 ? (uint64_t)(amount + 0.5) : 0;

    snprintf(to->text, sizeof(to->text), "%s%s", model_estimated(d->model) ? "~" : "",
             weight == MODEL_BYTES ? text_bytes(&n, whole) : text_count(&n, whole));
    return to->text;
}

void data_add(double sums[DATA_SUMS], double *const columns[MODEL_WEIGHTS], uint32_t node)
{
    for (int weight = 0; weight < DATA_SUMS; weight++)
        if (columns[weight])
            sums[weight] += columns[weight][node];
}

void data_all(const struct data *d, double sums[DATA_SUMS])
{
    memset(sums, 0, DATA_SUMS * sizeof(*sums));
    data_add(sums, d->plain->total, 0);
}

bool data_mixes(const double sums[DATA_SUMS])
{
    return report_estimate_mixes(sums[MODEL_BYTES], sums[MODEL_BYTES_VARIANCE], sums[MODEL_ALLOCS],
                                 sums[MODEL_ALLOCS_VARIANCE]);
}

const char *data_sum(const struct data *d, struct data_number *to, enum model_weight weight,
                     const double sums[DATA_SUMS])
{
    if (weight == MODEL_ALLOCS && data_mixes(sums))
        return "-";
    return data_amount(d, to, weight, sums[weight]);
}

bool data_has_ranges(const struct data *d)
{
    return model_estimated(d->model) &&
           log_sampler_kind(model_log(d->model)->header) != LOG_SAMPLER_TICKS;
}

const char *data_range(const struct data *d, struct data_number *to, const double sums[DATA_SUMS])
{
    struct report_amount range = report_estimate_interval(
        sums[MODEL_BYTES], sums[MODEL_BYTES_VARIANCE], sums[MODEL_SEEN_BYTES]);
    struct text_number low, high;

    if (!data_has_ranges(d) || !(range.high > range.low))
        return "";
    snprintf(to->text, sizeof(to->text), "%s-%s", text_short(&low, range.low),
             text_short(&high, range.high));
    return to->text;
}

const char *data_share(const struct data *d, struct data_number *to, double amount)
{
    double total = data_total(d, d->sort);
    struct text_number n;

    snprintf(to->text, sizeof(to->text), "%s", text_share(&n, total > 0 ? amount / total : 0));
    return to->text;
}

/* ---- names ---- */

static const char *kept(struct buffer *b)
{
    return b->failed ? "?" : b->data;
}

const char *data_place(const struct data *d, const struct model_place *place, struct buffer *out)
{
    buffer_clear(out);
    if (place->kind == MODEL_PLACE_METHOD)
        buffer_text(out, names_method(d->names[d->style], place->method));
    else if (place->kind == MODEL_PLACE_TYPE)
        buffer_text(out, names_class(d->names[d->style], place->method));
    else if (place->kind == MODEL_PLACE_ROOT)
        buffer_text(out, "(all)");
    else if (place->kind == MODEL_PLACE_FOLDED)
        buffer_format(out, "[%s%s%u frame%s]", place->name ? place->name : "",
                      place->name && *place->name ? ", " : "", place->count,
                      text_plural(place->count));
    else
        buffer_text(out, place->name ? place->name : "?");
    return kept(out);
}

const char *data_file_line(const struct target *t, struct buffer *b)
{
    buffer_clear(b);
    buffer_text(b, "");
    if (t->file && t->line) {
        buffer_text(b, path_base_name_foreign(t->file));
        source_line_put(b, t->line, t->line_last);
    }
    return kept(b);
}

bool data_hits(const struct data *d, const struct model_place *place)
{
    const struct log_defs *defs = model_defs(d->model);
    struct buffer b = BUFFER_INIT;
    struct target target;
    bool hits;

    data_target(place, &target);
    hits = place->file && place->line && search_hits(&d->search, data_file_line(&target, &b));
    buffer_free(&b);
    if (hits)
        return true;
    if (place->kind == MODEL_PLACE_METHOD)
        return search_hits_name(&d->search, names_method(d->names[d->style], place->method)) ||
               search_hits_name(&d->search, log_method(defs, place->method)->name);
    if (place->kind == MODEL_PLACE_TYPE)
        return search_hits_name(&d->search, names_class(d->names[d->style], place->method)) ||
               search_hits_name(&d->search, log_class(defs, place->method)->name);
    return search_hits(&d->search, place->name);
}

/* ---- targets ---- */

void data_target(const struct model_place *p, struct target *out)
{
    static const enum target_kind kinds[MODEL_PLACE_NONE + 1] = {
        [MODEL_PLACE_METHOD] = TARGET_METHOD, [MODEL_PLACE_TYPE] = TARGET_TYPE};

    *out = (struct target){.kind = kinds[p->kind],
                           .number = p->method,
                           .file = p->file,
                           .line = p->line,
                           .line_last = p->line_last};
}

static bool is_meant(const struct model_place *p, const struct target *t)
{
    switch (t->kind) {
    case TARGET_METHOD:
        return p->kind == MODEL_PLACE_METHOD && p->method == t->number;
    case TARGET_TYPE:
        return p->kind == MODEL_PLACE_TYPE && p->method == t->number;
    case TARGET_LINE:
        return p->kind == MODEL_PLACE_METHOD && p->line == t->line &&
               p->line_last == t->line_last && p->file && !strcmp(p->file, t->file);
    default:
        return false;
    }
}

int data_places(const struct data *d, const struct target *t, uint32_t **out, size_t *count)
{
    size_t capacity = 0;

    *out = NULL;
    *count = 0;
    for (uint32_t i = 0; i < d->plain->place_count; i++) {
        if (!is_meant(&d->plain->places[i], t))
            continue;
        if (!array_reserve(out, &capacity, *count + 1)) {
            memory_free(*out);
            *out = NULL;
            return -ENOMEM;
        }
        (*out)[(*count)++] = i;
    }
    return 0;
}

const char *data_target_text(const struct data *d, const struct target *t, struct buffer *out)
{
    const char *name = "";

    if (t->kind == TARGET_LINE)
        return data_file_line(t, out);
    if (t->kind == TARGET_METHOD)
        name = names_method(d->names[d->style], t->number);
    else if (t->kind == TARGET_TYPE)
        name = names_class(d->names[d->style], t->number);
    buffer_clear(out);
    buffer_text(out, name);
    return kept(out);
}
