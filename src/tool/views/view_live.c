/* What is alive, was, has grown, or died: rows of any flat view, told as their question asks. */
#include "views/column.h"
#include "views/ranges.h"

#include "command/print_complete.h"
#include "readers/header.h"
#include "report/estimate.h"
#include "terminal/terminal.h"
#include "terminal/text.h"

#include <math.h>
#include <string.h>

/* ---- the collection that a view is of ---- */

static void collection_text(const struct log_collection *c, struct buffer *b)
{
    char at[32];

    buffer_format(b, "collection %llu (generation %u, at %s)", (unsigned long long)c->gc, c->depth,
                  range_time(c->at.t, at));
}

static const char *when_text(const struct view *v, struct buffer *b)
{
    const struct report_live *live = model_live(v->read.model);
    const struct log_input *log = model_log(v->read.model);

    if (!live->asked) {
        buffer_text(b, live->collections          ? "Before the first collection"
                       : log->ends < log->headers ? "No collection is in the log"
                                                  : "No collection ran");
        return b->failed ? "?" : b->data;
    }
    if (live->at.first.gc) {
        buffer_text(b, "From ");
        collection_text(&live->at.first, b);
        buffer_text(b, " to ");
    } else if (v->question == REPORT_LIVE_TEMPORARY || v->question == REPORT_LIVE_LIFETIMES) {
        buffer_text(b, "Up to ");
    } else {
        buffer_text(b, v->question == REPORT_LIVE_GROWN ? "From the beginning to " : "After ");
    }
    collection_text(&live->at.last, b);
    if (live->asked > 1)
        buffer_format(b, ", and so of %llu recordings", (unsigned long long)live->asked);
    return b->failed ? "?" : b->data;
}

/* Which collection looked at everything, last. */
static void rests_text(const struct view *v, struct buffer *b)
{
    const struct log_collection *last = &model_live(v->read.model)->at.last;
    bool counts = v->question != REPORT_LIVE_TEMPORARY && v->question != REPORT_LIVE_LIFETIMES;

    if (!model_live(v->read.model)->asked || !counts)
        return;
    if (last->depth >= 2)
        buffer_text(b, " This collection was a full one.");
    else if (last->full)
        buffer_format(b, " The last full collection before it was %llu.",
                      (unsigned long long)last->full);
    else
        buffer_text(b, " No full collection ran before it.");
}

static bool is_estimate(const struct view *v)
{
    const struct report_live *live = model_live(v->read.model);

    return v->question && live->most_mean > 0 && !live->approximate;
}

/* What nothing of was sampled, or is left of what was, is not nothing. */
static struct report_amount interval_of(const struct view *v, double bytes, double variance)
{
    struct report_amount out = report_estimate_interval(bytes, variance, 0);

    if (!(bytes > 0))
        out.high = report_estimate_none(model_live(v->read.model)->most_mean);
    return out;
}

/* Of what `less` is taken off: the amount of the question, or what died young. */
static struct report_amount difference_of(const struct view *v, const double *weights, double bytes)
{
    const struct report_estimate of = {.bytes = bytes + weights[MODEL_LESS_BYTES],
                                       .bytes_variance = weights[MODEL_OF_VARIANCE]},
                                 less = {.bytes = weights[MODEL_LESS_BYTES],
                                         .bytes_variance = weights[MODEL_LESS_VARIANCE]};
    struct report_amount out = report_estimate_difference(&of, &less);

    if (v->question != REPORT_LIVE_GROWN)
        out.low = out.low > 0 ? out.low : 0;
    return out;
}

/* Of the amount that is asked for, where it is an estimate. Returns: whether it is. */
bool view_live_range(const struct view *v, const double *weights, struct report_amount *out)
{
    if (!is_estimate(v))
        return false;
    switch (v->question) {
    case REPORT_LIVE_GROWN:
    case REPORT_LIVE_TEMPORARY:
        *out = difference_of(v, weights, weights[MODEL_BYTES]);
        break;
    case REPORT_LIVE_LIFETIMES:
        *out = report_estimate_interval(weights[MODEL_BYTES], weights[MODEL_BYTES_VARIANCE],
                                        weights[MODEL_SEEN_BYTES]);
        break;
    default:
        *out = interval_of(v, weights[MODEL_BYTES], weights[MODEL_OF_VARIANCE]);
        break;
    }
    return true;
}

const char *view_live_range_text(const struct view *v, const struct report_amount *range,
                                 struct view_signed *to)
{
    struct text_number low, high;

    if (v->question == REPORT_LIVE_GROWN)
        snprintf(to->text, sizeof(to->text), "%s%s..%s%s", range->low < 0 ? "-" : "+",
                 text_short(&low, fabs(range->low)), range->high < 0 ? "-" : "+",
                 text_short(&high, fabs(range->high)));
    else
        snprintf(to->text, sizeof(to->text), "%s-%s", text_short(&low, range->low),
                 text_short(&high, range->high));
    return to->text;
}

/* How far estimates can be trusted. */
static void range_words(const struct view *v, struct buffer *b)
{
    struct report_amount range;
    struct view_signed text;
    struct text_number most;

    if (model_live(v->read.model)->approximate)
        buffer_text(b, " Ticks of the runtime are not random, so there are no ranges.");
    if (!view_live_range(v, v->sum, &range))
        return;
    buffer_format(b,
                  " The exact bytes lie in %s, and in the range of each row, in 95 of 100 cases; "
                  "what has no row may be up to %s bytes. Numbers of objects, and what has no "
                  "range beside it, are estimates, too.",
                  view_live_range_text(v, &range, &text),
                  text_short(&most, report_estimate_none(model_live(v->read.model)->most_mean)));
}

static void print_words(const struct view *v, FILE *out)
{
    const struct report_live_words *words = report_live_words(v->question);
    const struct report_live *live = model_live(v->read.model);
    struct buffer b = BUFFER_INIT;

    buffer_format(&b, "%s%s %s", words->what,
                  v->question == REPORT_LIVE_TEMPORARY
                      ? " Share of site: of all that the row allocated in that time."
                      : "",
                  words->unknown);
    if (v->question == REPORT_LIVE_PEAK && live->at.missed)
        buffer_format(&b,
                      " The log has sums of at most one collection a second, and none of %llu "
                      "others: each may have left more.",
                      (unsigned long long)live->at.missed);
    if (v->question == REPORT_LIVE_GROWN && !live->at.first.gc)
        buffer_text(&b, " Without --from (a mark, 10s, the number of a collection) that is all.");
    rests_text(v, &b);
    if (report_live_why(live))
        buffer_format(&b, "\nNot exact: %s.", report_live_why(live));
    range_words(v, &b);
    if (!b.failed)
        args_print_text(out, b.data, terminal_width(out));
    buffer_free(&b);
}

/* ---- amounts ---- */

const char *view_live_amount(const struct view *v, double value, struct view_signed *to)
{
    struct text_number n;

    snprintf(to->text, sizeof(to->text), "%s%s",
             value < 0                                       ? "-"
             : value > 0 && v->question == REPORT_LIVE_GROWN ? "+"
                                                             : "",
             text_count(&n, report_whole(fabs(value))));
    return to->text;
}

static double all_of(const struct view *v, enum model_weight weight)
{
    return model_weight_total(v->read.model, weight);
}

void view_live_head(const struct view *v, FILE *out)
{
    struct view_signed bytes, allocs;
    struct buffer when = BUFFER_INIT;
    struct text_number n;

    fprintf(out, "%s: %s object%s, %s bytes", when_text(v, &when),
            view_live_amount(v, all_of(v, MODEL_ALLOCS), &allocs),
            text_plural((uint64_t)fabs(all_of(v, MODEL_ALLOCS))),
            view_live_amount(v, all_of(v, MODEL_BYTES), &bytes));
    if (v->question == REPORT_LIVE_END)
        fprintf(out, ", %s of them new",
                view_live_amount(v, all_of(v, MODEL_BESIDE_BYTES), &bytes));
    if (v->filtered)
        fprintf(out, "; selected: %s object%s, %s bytes",
                view_live_amount(v, v->sum[MODEL_ALLOCS], &allocs),
                text_plural((uint64_t)fabs(v->sum[MODEL_ALLOCS])),
                view_live_amount(v, v->sum[MODEL_BYTES], &bytes));
    if (v->filtered && all_of(v, MODEL_BYTES) > 0 && v->question != REPORT_LIVE_GROWN)
        fprintf(out, " (%s)", text_share(&n, v->sum[MODEL_BYTES] / all_of(v, MODEL_BYTES)));
    fputs(".\n", out);
    buffer_free(&when);
    print_words(v, out);
}

/* ---- deaths ---- */

static const char *const generations[REPORT_LIVE_GENERATIONS] = {"gen 0", "gen 1", "gen 2", "large",
                                                                 "pinned"};

/* Bytes and objects by generation and age, of the cells that the filter lets through. */
struct view_deaths {
    double bytes[REPORT_LIVE_GENERATIONS][REPORT_LIVE_AGES + 1];
    double allocs[REPORT_LIVE_GENERATIONS][REPORT_LIVE_AGES + 1];
    double variance[REPORT_LIVE_GENERATIONS][REPORT_LIVE_AGES + 1];
};

/* Of a log's cells those that the filter lets through. NULL: no memory. */
static bool *cells_in(const struct view *v)
{
    bool *in = memory_zalloc(model_cell_count(v->read.model) + 1, sizeof(*in));

    for (uint32_t i = 0; in && i < v->tree->cell_count; i++)
        in[v->tree->cells[i]] = true;
    return in;
}

/* Sums of `size` bytes for each row, all zero, and cells_in(). NULL: no memory. */
static bool *rows_begin(const struct view *v, size_t rows, size_t size, void **sums)
{
    bool *in = cells_in(v);

    *sums = memory_zalloc(rows + 1, size);
    if (*sums)
        return in;
    memory_free(in);
    return NULL;
}

/* By row, or all in one. of: rows by cell, NULL: each is of the first. */
static int count_deaths(const struct view *v, const uint32_t *of, size_t rows,
                        struct view_deaths **out)
{
    const struct report_live *live = model_live(v->read.model);
    bool *in = rows_begin(v, rows, sizeof(**out), (void **)out);

    if (!in)
        return -ENOMEM;
    for (size_t i = 0; i < live->death_count; i++) {
        const struct report_live_death *d = &live->deaths[i];
        struct view_deaths *to = &(*out)[of ? of[d->number] : 0];

        if (!in[d->number])
            continue;
        to->bytes[d->generation][d->age] += d->bytes;
        to->allocs[d->generation][d->age] += d->allocs;
        to->variance[d->generation][d->age] += d->variance;
    }
    memory_free(in);
    return 0;
}

static double died_in(const struct view_deaths *d, int generation)
{
    double bytes = 0;

    for (int age = 0; age <= REPORT_LIVE_AGES; age++)
        bytes += d->bytes[generation][age];
    return bytes;
}

const char *view_live_heading(const struct view *v)
{
    return report_live_words(v->question)->amount;
}

/* ---- what grows ---- */

struct view_grows {
    double looks, allocs; /* 0: it does not */
};

/* By row: objects of all its sites that grow, and the fewest looks of any. */
static int count_grows(const struct view *v, const uint32_t *of, size_t rows,
                       struct view_grows **out)
{
    const struct report_live *live = model_live(v->read.model);
    bool *in = rows_begin(v, rows, sizeof(**out), (void **)out);

    for (size_t i = 0; in && i < live->growing_count; i++) {
        const struct report_live_growing *g = &live->growing[i];
        struct view_grows *to;

        if (g->cell == UINT32_MAX || !in[g->cell])
            continue;
        to = &(*out)[of[g->cell]];
        to->looks = to->allocs > 0 && to->looks < g->looks ? to->looks : g->looks;
        to->allocs += g->allocs;
    }
    memory_free(in);
    return in ? 0 : -ENOMEM;
}

/* ---- columns ---- */

static bool is_grown(const struct view_rows *r)
{
    return r->view->question == REPORT_LIVE_GROWN;
}

static bool is_not_grown(const struct view_rows *r)
{
    return !is_grown(r);
}

static bool is_temporary(const struct view_rows *r)
{
    return r->view->question == REPORT_LIVE_TEMPORARY;
}

static bool has_deaths(const struct view_rows *r)
{
    return r->view->question == REPORT_LIVE_LIFETIMES;
}

static bool has_ranges(const struct view_rows *r)
{
    return is_estimate(r->view);
}

static bool has_beside(const struct view_rows *r)
{
    return r->view->question == REPORT_LIVE_END || is_grown(r) || has_deaths(r);
}

static bool has_alive(const struct view_rows *r)
{
    return is_grown(r) || has_deaths(r);
}

static const char *beside_heading(const struct view *v)
{
    if (v->question == REPORT_LIVE_GROWN)
        return "before";
    return v->question == REPORT_LIVE_END ? "of it new" : "died young";
}

/* The weight of the column's number. */
static bool weight_value(struct view_row *row, struct column_value *out)
{
    out->count = report_whole(row->self_weights[row->column->number]);
    return true;
}

static bool signed_value(struct view_row *row, struct column_value *out)
{
    struct view_signed text;

    return column_text(
        out, view_live_amount(row->of->view, row->self_weights[row->column->number], &text));
}

static bool live_range(struct view_row *row, struct column_value *out)
{
    struct report_amount range;
    struct view_signed text;

    if (!view_live_range(row->of->view, row->self_weights, &range))
        return false;
    return column_text(out, view_live_range_text(row->of->view, &range, &text));
}

/* Of all that was made, what died young. */
static bool beside_share(struct view_row *row, struct column_value *out)
{
    const double *self = row->self_weights;
    double made = self[MODEL_LIVE_BYTES] + self[MODEL_BESIDE_BYTES];

    out->number = made > 0 ? self[MODEL_BESIDE_BYTES] / made : 0;
    return true;
}

static bool died_value(struct view_row *row, struct column_value *out)
{
    if (!row->of->deaths)
        return false;
    out->count = report_whole(died_in(&row->of->deaths[row->number], (int)row->column->number));
    return true;
}

#define MOST_GROWING 5 /* rows that are warned of */

static void print_growing_row(const struct view_rows *r, size_t number, FILE *out)
{
    const struct model_row *row = &r->rows.rows[number];
    struct buffer b = BUFFER_INIT, line = BUFFER_INIT;
    struct text_number n;

    buffer_format(&line, "grows at each of %.0f full collections: ", r->grows[number].looks);
    if (row->place && row->place->file)
        buffer_format(&line, "%s, ", view_where(r->view, row->place, &b));
    buffer_format(&line, "+%s object%s, %s", text_count(&n, report_whole(r->grows[number].allocs)),
                  text_plural(report_whole(r->grows[number].allocs)), columns_name(r, number, &b));
    if (!line.failed)
        args_print_text(out, line.data, terminal_width(out));
    buffer_free(&b);
    buffer_free(&line);
}

/* Rows are warned of in their order; those that the rule of live.h, in the tracer, is true of. */
void view_live_growing(const struct view_rows *r, FILE *out)
{
    size_t said = 0, more = 0;

    for (size_t i = 0; r->grows && i < r->rows.count; i++) {
        if (r->grows[i].allocs <= 0)
            continue;
        if (said == MOST_GROWING) {
            more++;
            continue;
        }
        if (!said++)
            putc('\n', out);
        print_growing_row(r, i, out);
    }
    if (more)
        fprintf(out, "grows at each: %zu more\n", more);
}

/* ---- JSON ---- */

/* What only what has grown may be below, but for differences of estimates. */
static double at_least_0(double value)
{
    return value > 0 ? value : 0;
}

/* range: NULL: it is no estimate. What is nothing has none: see unsampled_most. */
static void pair_json(const char *word, double allocs, double bytes,
                      const struct report_amount *range, struct json_writer *w)
{
    char key[64];

    snprintf(key, sizeof(key), "%sallocs", word);
    jw_number(w, key, "%.0f", allocs + 0.0);
    snprintf(key, sizeof(key), "%sbytes", word);
    jw_number(w, key, "%.0f", bytes + 0.0);
    snprintf(key, sizeof(key), "%sbytes_range", word);
    if (range && (bytes != 0 || allocs != 0))
        view_range_json(key, range, w);
}

/* What stands beside what is alive. */
static void beside_json(const struct view *v, const double *weights, struct json_writer *w)
{
    static const char *const words[] = {[REPORT_LIVE_END] = "young_",
                                        [REPORT_LIVE_GROWN] = "before_",
                                        [REPORT_LIVE_LIFETIMES] = "died_young_"};
    double bytes = weights[MODEL_BESIDE_BYTES];
    struct report_amount range = v->question == REPORT_LIVE_LIFETIMES
                                     ? difference_of(v, weights, bytes)
                                     : interval_of(v, bytes, weights[MODEL_BESIDE_VARIANCE]);

    pair_json(words[v->question], at_least_0(weights[MODEL_BESIDE_ALLOCS]), at_least_0(bytes),
              is_estimate(v) ? &range : NULL, w);
}

void view_live_amounts_json(const struct view *v, const double *weights, struct json_writer *w)
{
    static const char *const asked[] = {[REPORT_LIVE_GROWN] = "grown_",
                                        [REPORT_LIVE_TEMPORARY] = "temporary_",
                                        [REPORT_LIVE_LIFETIMES] = ""};
    enum report_live_question q = v->question;
    struct report_amount range, live;
    bool estimate = view_live_range(v, weights, &range);

    live = interval_of(v, weights[MODEL_LIVE_BYTES], weights[MODEL_LIVE_VARIANCE]);
    if (q == REPORT_LIVE_GROWN)
        pair_json(asked[q], weights[MODEL_ALLOCS], weights[MODEL_BYTES], estimate ? &range : NULL,
                  w);
    else if (q > REPORT_LIVE_GROWN)
        pair_json(asked[q], at_least_0(weights[MODEL_ALLOCS]), at_least_0(weights[MODEL_BYTES]),
                  estimate ? &range : NULL, w);
    pair_json(q == REPORT_LIVE_TEMPORARY ? "survived_" : "live_", weights[MODEL_LIVE_ALLOCS],
              weights[MODEL_LIVE_BYTES], estimate ? &live : NULL, w);
    if (q == REPORT_LIVE_END || q == REPORT_LIVE_GROWN || q == REPORT_LIVE_LIFETIMES)
        beside_json(v, weights, w);
    if (estimate && q == REPORT_LIVE_END && weights[MODEL_BYTES] > 0)
        view_range_json("bytes_range", &range, w);
}

static void collection_json(const char *key, const struct log_collection *c, uint64_t missed,
                            struct json_writer *w)
{
    jw_object(w, key);
    print_collection_json(c, "t_ns", w);
    if (missed)
        jw_unsigned(w, "missed", missed);
    jw_end(w);
}

void view_live_total_json(const struct view *v, struct json_writer *w)
{
    const struct report_live *live = model_live(v->read.model);
    double all[MODEL_WEIGHTS];

    for (int i = 0; i < MODEL_WEIGHTS; i++)
        all[i] = all_of(v, (enum model_weight)i);
    jw_object(w, "total");
    view_live_amounts_json(v, v->sum, w);
    jw_unsigned(w, "lost", log_input_lost(model_log(v->read.model)));
    jw_bool(w, "exact", !report_live_why(live));
    jw_text_if(w, "why", report_live_why(live));
    if (is_estimate(v))
        jw_number(w, "unsampled_most", "%.0f", report_estimate_none(live->most_mean));
    if (v->filtered) {
        jw_object(w, "unfiltered");
        view_live_amounts_json(v, all, w);
        jw_end(w);
    }
    jw_end(w);
    if (live->asked && live->at.first.gc)
        collection_json("from_collection", &live->at.first, live->at.missed_first, w);
    if (live->asked)
        collection_json("collection", &live->at.last, live->at.missed, w);
    jw_unsigned(w, "recordings", live->asked);
}

static void deaths_json(const struct view_deaths *d, struct json_writer *w)
{
    jw_array(w, "died");
    for (int g = 0; g < REPORT_LIVE_GENERATIONS; g++)
        for (int age = 0; age <= REPORT_LIVE_AGES; age++) {
            if (!(d->allocs[g][age] > 0))
                continue;
            jw_array(w, NULL);
            jw_unsigned(w, NULL, (uint64_t)g);
            jw_unsigned(w, NULL, (uint64_t)age);
            jw_unsigned(w, NULL, report_whole(d->allocs[g][age]));
            jw_unsigned(w, NULL, report_whole(d->bytes[g][age]));
            jw_end(w);
        }
    jw_end(w);
}

static void live_members(struct view_row *row, struct json_writer *w)
{
    view_live_amounts_json(row->of->view, row->self_weights, w);
}

static void died_members(struct view_row *row, struct json_writer *w)
{
    if (row->of->deaths)
        deaths_json(&row->of->deaths[row->number], w);
}

static void grows_members(struct view_row *row, struct json_writer *w)
{
    const struct view_grows *grows = row->of->grows ? &row->of->grows[row->number] : NULL;

    if (!grows || grows->allocs <= 0)
        return;
    jw_number(w, "rises", "%.0f", grows->looks);
    jw_number(w, "risen_allocs", "%.0f", grows->allocs);
}

#define DIED(generation, title) \
    COLUMN(title, COUNT, died_value, .rank = 8 - (generation), .number = (generation), \
           .shown = has_deaths)

static const struct column live_columns[] = {
    {.json = live_members},
    COLUMN_TITLED(view_live_heading, COUNT, weight_value, .number = MODEL_BYTES,
                  .shown = is_not_grown),
    COLUMN_TITLED(view_live_heading, NUMBER_TEXT, signed_value, .number = MODEL_BYTES,
                  .shown = is_grown),
    COLUMN("share", SHARE, view_value_share, .key = "share", .rank = 2, .shown = is_not_grown),
    COLUMN("objects", COUNT, weight_value, .rank = 4, .number = MODEL_ALLOCS,
           .shown = is_not_grown),
    COLUMN("objects", NUMBER_TEXT, signed_value, .rank = 4, .number = MODEL_ALLOCS,
           .shown = is_grown),
    COLUMN("95% range", NUMBER_TEXT, live_range, .rank = 2, .shown = has_ranges),
    COLUMN_TITLED(beside_heading, COUNT, weight_value, .rank = 3, .number = MODEL_BESIDE_BYTES,
                  .shown = has_beside),
    COLUMN("of site", SHARE, beside_share, .rank = 1, .shown = is_temporary),
    DIED(0, "gen 0"),
    DIED(1, "gen 1"),
    DIED(2, "gen 2"),
    DIED(3, "large"),
    DIED(4, "pinned"),
    COLUMN("alive", COUNT, weight_value, .rank = 3, .number = MODEL_LIVE_BYTES, .shown = has_alive),
    {.json = died_members},
    {.json = grows_members},
};
const struct columns view_live_amount_columns = COLUMNS(live_columns);

int view_live_beside(struct view_rows *r)
{
    uint32_t *of = NULL;
    int err = 0;

    if (!is_grown(r) && !has_deaths(r))
        return 0;
    err = model_rows_of_cells(&r->rows, &of);
    if (!err && has_deaths(r))
        err = count_deaths(r->view, of, r->rows.count, &r->deaths);
    else if (!err)
        err = count_grows(r->view, of, r->rows.count, &r->grows);
    memory_free(of);
    return err;
}

/* ---- lifetimes of all ---- */

/* A row: dead young, dead in a generation at an age, alive. */
struct lifetime {
    const char *fate;
    int generation, age; /* -1: none */
    double bytes, allocs;
    struct report_amount range;
};

#define LIFETIMES (REPORT_LIVE_GENERATIONS * (REPORT_LIVE_AGES + 1) + 2)

static size_t list_lifetimes(const struct view *v, const struct view_deaths *d,
                             struct lifetime *rows)
{
    const double *sum = v->sum, young = sum[MODEL_BESIDE_BYTES], alive = sum[MODEL_LIVE_BYTES];
    size_t count = 0;

    rows[count++] = (struct lifetime){
        "died young", -1, 0, young, sum[MODEL_BESIDE_ALLOCS], difference_of(v, sum, young)};
    for (int g = 0; g < REPORT_LIVE_GENERATIONS; g++)
        for (int age = 0; age <= REPORT_LIVE_AGES; age++)
            if (d->allocs[g][age] > 0)
                rows[count++] =
                    (struct lifetime){"died",
                                      g,
                                      age,
                                      d->bytes[g][age],
                                      d->allocs[g][age],
                                      interval_of(v, d->bytes[g][age], d->variance[g][age])};
    rows[count++] = (struct lifetime){"alive",
                                      -1,
                                      -1,
                                      alive,
                                      sum[MODEL_LIVE_ALLOCS],
                                      interval_of(v, alive, sum[MODEL_LIVE_VARIANCE])};
    return count;
}

static int lifetimes_text(const struct view *v, const struct lifetime *rows, size_t count,
                          FILE *out)
{
    static const struct table_column columns[] = {
        {"bytes", TABLE_COUNT, 0, 0},   {"share", TABLE_SHARE, 2, 0},
        {"objects", TABLE_COUNT, 3, 0}, {"", TABLE_BAR, 4, 30},
        {"", TABLE_TEXT, 0, 0},         {"collections survived", TABLE_TEXT, 0, 0},
        {"95% range", TABLE_TEXT, 0, 0}};
    const struct table_look look = view_look(v, out);
    struct table *t = NULL;
    struct view_signed range;
    bool ranges = is_estimate(v);
    int err = table_new(columns, COUNT_OF(columns) - !ranges, &t);

    for (size_t i = 0; !err && i < count; i++) {
        const struct lifetime *row = &rows[i];
        char fate[40], age[20] = "";

        snprintf(fate, sizeof(fate), "%s%s%s", row->fate, row->generation < 0 ? "" : " in ",
                 row->generation < 0 ? "" : generations[row->generation]);
        if (row->age >= 0)
            snprintf(age, sizeof(age), "%d%s", row->age,
                     row->age == REPORT_LIVE_AGES ? " or more" : "");
        table_row(t);
        table_count(t, 0, report_whole(row->bytes));
        table_share(t, 1, view_share(v, row->bytes));
        table_count(t, 2, report_whole(row->allocs));
        table_share(t, 3, view_share(v, row->bytes));
        table_text(t, 4, fate);
        table_text(t, 5, age);
        if (ranges)
            table_text(t, 6, view_live_range_text(v, &row->range, &range));
    }
    if (!err)
        err = table_fit(t, &look);
    if (!err) {
        view_head(v, out);
        putc('\n', out);
        table_print(t, out);
        putc('\n', out);
        view_foot(v, out);
    }
    table_free(t);
    return err;
}

static int lifetimes_json(const struct view *v, const struct lifetime *rows, size_t count,
                          FILE *out)
{
    struct json_writer w;

    jw_init(&w, out);
    view_begin_json(v, count, &w);
    jw_line_array(&w, 1, "rows");
    for (size_t i = 0; i < count; i++) {
        jw_line_object(&w, 2, NULL);
        pair_json("", rows[i].allocs, rows[i].bytes, is_estimate(v) ? &rows[i].range : NULL, &w);
        jw_number(&w, "share", "%.6g", view_share(v, rows[i].bytes));
        jw_text(&w, "fate", rows[i].fate);
        if (rows[i].generation >= 0)
            jw_unsigned(&w, "generation", (uint64_t)rows[i].generation);
        if (rows[i].age >= 0)
            jw_unsigned(&w, "age", (uint64_t)rows[i].age);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
    return jw_finish(&w);
}

int view_lifetimes(struct view *v, FILE *out)
{
    struct lifetime *rows = memory_alloc(LIFETIMES * sizeof(*rows));
    struct view_deaths *deaths = NULL;
    int err = count_deaths(v, NULL, 1, &deaths);
    size_t count = 0;

    if (!rows)
        err = -ENOMEM;
    if (!err) {
        count = list_lifetimes(v, deaths, rows);
        err = v->format == READING_JSON ? lifetimes_json(v, rows, count, out)
                                        : lifetimes_text(v, rows, count, out);
    }
    memory_free_all(rows, deaths);
    return err;
}
