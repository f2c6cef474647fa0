#include "gate/measure.h"

#include "gate/select.h"
#include "gate/spans.h"

#include "command/print_complete.h"
#include "command/print_sampling.h"
#include "model/matches.h"
#include "report/estimate.h"

#include <math.h>
#include <stdarg.h>

/* A limit's part of the log: what is summed up in one go. */
#define OBJECT_LEAST 24 /* bytes, on 64 bits */

struct part {
    struct gate_run *run;
    const struct budget_limit *of; /* the first of its limits */
    bool live;
    bool *wanted; /* by limit */
};

const char *gate_run_text(struct gate_run *run, const char *format, ...)
{
    char text[600];
    va_list args;
    char *copy;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (!array_reserve(&run->texts, &run->text_capacity, run->text_count + 1) ||
        !(copy = memory_strdup(text)))
        return "unknown: out of memory";
    return run->texts[run->text_count++] = copy;
}

void gate_run_free(struct gate_run *run)
{
    for (size_t i = 0; i < run->text_count; i++)
        memory_free(run->texts[i]);
    memory_free_all(run->texts, run->matched, run->limits, run->others);
    gate_lines_free(&run->lines);
    gate_spans_free(run->spans);
    if (run->has_marks)
        log_marks_fini(&run->marks);
    buffer_free(&run->gaps);
    loading_end(&run->l);
    *run = (struct gate_run){.log = NULL};
}

/* ---- reading ---- */

static int read_marks(struct gate_run *run)
{
    bool asked = false;
    int err;

    for (size_t i = 0; i < run->budget->count; i++)
        asked = asked || run->budget->limits[i].from || run->budget->limits[i].at;
    if (!asked)
        return CLI_OK;
    run->has_marks = true;
    err = log_marks_read(run->log, &run->marks);
    if (err)
        return cli_unreadable(
            run->options->command, run->log,
            err == -ESPIPE ? "it must be a file, because this needs two passes" : NULL, err);
    return cli_failed(run->options->command, gate_spans_new(run->budget, &run->marks, &run->spans));
}

/* Lines, own code and names of what was read. */
static int know(const struct gate_options *o, const struct loading_options *how, struct loading *l)
{
    char why[ARGS_WHY_SIZE] = "";
    int err = loading_know(o->command, how, l, why, sizeof(why));

    if (!err)
        err = loading_name(l, NULL, NAMES_FULL, NAMES_SHORT);
    return err == -ENOENT ? cli_usage_error(o->command, "%s", why) : cli_failed(o->command, err);
}

/* Whether what was read may be there twice. */
static bool has_doubles(const struct log_completeness *c)
{
    static const enum log_gap_kind kinds[] = {LOG_GAP_HEADER_AGAIN, LOG_GAP_SEVERAL,
                                              LOG_GAP_AFTER_END, LOG_GAP_EXTRA};

    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (log_gap_of(c, kinds[i]))
            return true;
    return false;
}

static const json_t *option(const struct gate_run *run, const char *key)
{
    return json_object_get(json_object_get(model_log(run->l.model)->header, "options"), key);
}

/* Why lines of own code cannot be told; NULL: they can. */
static const char *lines_lack(struct gate_run *run)
{
    const struct log_defs *d = run->l.defs;
    uint32_t unlined = run->lines.unlined;

    if (!model_own_any(run->l.own))
        return "no own code is known in the log; --own-code PATTERN names it";
    if (json_is_true(option(run, "no_lines")))
        return "it has no IL offsets, so lines are unknown; record without --no-lines";
    if (!unlined)
        return NULL;
    return gate_run_text(run, "no source line is known of %.200s (no PDB?): --symbols DIR",
                         log_module(d, log_method(d, unlined)->module)->name);
}

/* Why there may be more than the log has; NULL: there is not. */
static const char *log_lacks(struct gate_run *run)
{
    if (run->incomplete)
        return run->gaps.data ? run->gaps.data : "the log is not complete";
    if (json_array_size(option(run, "types")) || json_integer_value(option(run, "min_size")))
        return "only some objects were recorded; record without --types and --min-size";
    return NULL;
}

/* What the log's samples leave out; NULL: nothing. */
static const char *sampled_late(struct gate_run *run)
{
    const struct log_input *log = model_log(run->l.model);
    struct buffer b = BUFFER_INIT;
    const char *text = NULL;

    if (print_sampling_late(log, NULL, &run->sampling)) {
        print_sampling_text(log, &run->sampling, &b);
        text = gate_run_text(run, "%s", b.data && !b.failed ? b.data : "sampling began late");
    }
    buffer_free(&b);
    return text;
}

static int settle(struct gate_run *run)
{
    struct log_completeness c;
    int err;

    log_input_completeness(model_log(run->l.model), &c);
    run->incomplete = print_complete_text(model_log(run->l.model), &run->gaps);
    run->doubtful = has_doubles(&c);
    run->lacks = log_lacks(run);
    run->late = sampled_late(run);
    if (run->spans) {
        for (size_t i = 0; i < run->spans->cell_count; i++)
            run->spans->cells[i].cell = model_event_cell(run->l.model, run->spans->cells[i].cell);
        gate_spans_sort(run->spans);
    }
    err = gate_lines_new(&run->l, run->budget->steady, run->options->texts, &run->lines);
    if (!err)
        run->no_lines = lines_lack(run);
    return cli_failed(run->options->command, err);
}

int gate_run_read(struct gate_run *run, const struct gate_options *options,
                  const struct budget *budget, const char *log)
{
    const struct filters filters = {.own_code = options->own_code};
    struct loading_options how = {
        .reading = options->reading, .filters = &filters, .symbols = &options->symbols};
    char *path = (char *)(uintptr_t)log;
    int status;

    *run = (struct gate_run){.options = options, .budget = budget, .log = log};
    status = read_marks(run);
    if (!status && run->spans && run->spans->pair_count) {
        how.event = gate_spans_take;
        how.context = run->spans;
    }
    if (!status)
        status = loading_read(options->command, &how, &path, 1, &run->l);
    if (!status)
        status = know(options, &how, &run->l);
    return status ? status : settle(run);
}

/* ---- amounts ---- */

static struct gate_amount open_amount(const char *why)
{
    return (struct gate_amount){.low = -INFINITY, .high = INFINITY, .why = why};
}

static void narrow(struct gate_amount *a, const struct gate_amount *open)
{
    a->low = open->low < a->low ? open->low : a->low;
    a->high = open->high > a->high ? open->high : a->high;
    a->why = a->why ? a->why : open->why;
}

static struct gate_amount amount_of(const struct gate_run *run, const struct gate_sum *sum,
                                    bool bytes)
{
    struct report_amount estimate =
        bytes ? report_estimate_interval(sum->bytes, sum->bytes_variance, sum->bytes_seen)
              : report_estimate_interval(sum->objects, sum->objects_variance, sum->objects_seen);
    struct gate_amount a = {estimate.value, estimate.low, estimate.high, NULL,
                            model_estimated(run->l.model)};

    if (run->lacks) {
        a.high = INFINITY;
        a.low = run->doubtful ? -INFINITY : a.low;
        a.why = run->lacks;
    }
    return a;
}

/* Did samples count by the time that the limit is about? */
static bool covers(const struct gate_run *run, const struct budget_limit *l)
{
    uint64_t first = UINT64_MAX;

    if (!run->late)
        return true;
    if (!l->from || run->sampling.unbegun)
        return false;
    for (size_t i = 0; i < run->marks.count; i++)
        if (!strcmp(run->marks.marks[i].text, l->from) && run->marks.marks[i].at.t < first)
            first = run->marks.marks[i].at.t;
    return first != UINT64_MAX && first >= run->sampling.since_ns;
}

/*
 * What was allocated before samples counted is of the whole, and may be of any line; no object is
 * smaller than OBJECT_LEAST.
 */
static void add_before(const struct part *p, const struct budget_limit *limit, bool bytes,
                       struct gate_amount *amount)
{
    const struct log_sampling *s = &p->run->sampling;
    double all = (double)s->bytes;

    if (covers(p->run, limit))
        return;
    amount->why = amount->why ? amount->why : p->run->late;
    if (s->how == LOG_BEFORE_UNKNOWN) {
        amount->high = INFINITY;
        return;
    }
    amount->high += bytes ? all : all / OBJECT_LEAST;
    if (!bytes || p->live || limit->of != BUDGET_WHOLE || limit->type || s->how != LOG_BEFORE_EXACT)
        return;
    amount->low += all;
    amount->value += all;
}

static void set(const struct part *p, uint32_t limit, struct gate_measured *measured,
                const struct gate_sum *sum)
{
    const struct gate_run *run = p->run;
    enum budget_of of = run->budget->limits[limit].of;
    size_t first = p->live ? BUDGET_LIVE_OBJECTS : BUDGET_OBJECTS;

    for (size_t i = 0; i < 2; i++) {
        struct gate_amount *a = &measured->amounts[first + i];

        *a = amount_of(run, sum, i == 1);
        add_before(p, &run->budget->limits[limit], i == 1, a);
        if (run->no_lines && (of == BUDGET_LINE || of == BUDGET_OTHER_LINES)) {
            a->high = INFINITY;
            a->why = a->why ? a->why : run->no_lines;
        }
    }
}

/* What the part cannot tell, of every limit of it. */
static void open_part(const struct part *p, const struct gate_amount *open)
{
    struct gate_run *run = p->run;
    size_t first = p->live ? BUDGET_LIVE_OBJECTS : BUDGET_OBJECTS;

    for (size_t i = 0; i < run->budget->count; i++)
        for (size_t m = 0; p->wanted[i] && m < 2; m++)
            narrow(&run->limits[i].amounts[first + m], open);
    for (size_t i = 0; i < run->other_count; i++)
        for (size_t m = 0; p->wanted[run->others[i].limit] && m < 2; m++)
            narrow(&run->others[i].measured.amounts[first + m], open);
}

/* Nothing of the part is known. */
static int open_all(const struct part *p, const char *why)
{
    const struct gate_amount open = open_amount(why);

    open_part(p, &open);
    return 0;
}

/* The row of a line that no limit names, created if needed. */
static struct gate_other *other_of(struct gate_run *run, uint32_t limit, uint32_t line)
{
    for (size_t i = run->other_count; i-- > 0;)
        if (run->others[i].limit == limit && run->others[i].measured.line == line)
            return &run->others[i];
    if (!array_reserve(&run->others, &run->other_capacity, run->other_count + 1))
        return NULL;
    run->others[run->other_count] = (struct gate_other){.limit = limit, .measured = {.line = line}};
    return &run->others[run->other_count++];
}

static const char *absence(struct gate_run *run, const struct budget_limit *l)
{
    bool type = l->of == BUDGET_TYPE || (l->of == BUDGET_WHOLE && l->type);
    const char *name = type ? l->type : l->method;
    const struct model_globs globs = {&name, 1};
    char why[400];

    matches_why(run->l.model, !type, type, &globs, why, sizeof(why));
    return gate_run_text(run, "%s", why);
}

/* Sums by slot become amounts. lines: those of the model summed, maybe not the run's own. */
static int set_all(const struct part *p, const struct gate_selection *selection,
                   const struct gate_lines *lines, const struct gate_sum *sums)
{
    struct gate_run *run = p->run;
    size_t limits = run->budget->count;

    for (uint32_t i = 0; i < limits; i++) {
        if (!p->wanted[i])
            continue;
        set(p, i, &run->limits[i], &sums[i]);
        if (selection->absent[i])
            run->limits[i].absent = absence(run, &run->budget->limits[i]);
    }
    for (uint32_t i = 0; i < lines->count && selection->other != GATE_NO_LIMIT; i++) {
        const struct gate_sum *sum = &sums[limits + i];
        struct gate_other *other;
        uint32_t line = lines == &run->lines ? i : gate_lines_same(&run->lines, &lines->lines[i]);

        if (!(sum->objects > 0 || sum->bytes > 0))
            continue;
        other = other_of(run, selection->other, line);
        if (!other)
            return -ENOMEM;
        set(p, selection->other, &other->measured, sum);
    }
    return 0;
}

static struct gate_sum sum_of_cell(const struct model *m, size_t i)
{
    return (struct gate_sum){.objects = model_cell_weight(m, i, MODEL_ALLOCS),
                             .bytes = model_cell_weight(m, i, MODEL_BYTES),
                             .objects_variance = model_cell_weight(m, i, MODEL_ALLOCS_VARIANCE),
                             .bytes_variance = model_cell_weight(m, i, MODEL_BYTES_VARIANCE),
                             .objects_seen = model_cell_weight(m, i, MODEL_SAMPLED),
                             .bytes_seen = model_cell_weight(m, i, MODEL_SEEN_BYTES)};
}

static void add_cell(const struct gate_selection *s, size_t cell, const struct gate_sum *sum,
                     struct gate_sum *sums)
{
    for (size_t at = s->first[cell]; at < s->first[cell + 1]; at++)
        gate_sum_add(&sums[s->slots[at]], sum);
}

static void sum_cells(const struct model *m, const struct gate_selection *selection,
                      struct gate_sum *sums)
{
    for (size_t i = 0; i < model_cell_count(m); i++) {
        const struct gate_sum sum = sum_of_cell(m, i);

        add_cell(selection, i, &sum, sums);
    }
}

/* ---- per span: the largest ---- */

/* Objects and bytes apart: the span with most objects need not have most bytes. */
static void raise(struct gate_sum *to, const struct gate_sum *sum)
{
    if (sum->objects > to->objects) {
        to->objects = sum->objects;
        to->objects_variance = sum->objects_variance;
        to->objects_seen = sum->objects_seen;
    }
    if (sum->bytes > to->bytes) {
        to->bytes = sum->bytes;
        to->bytes_variance = sum->bytes_variance;
        to->bytes_seen = sum->bytes_seen;
    }
}

static int sum_spans(const struct gate_spans *spans, const struct gate_pair *pair,
                     const struct gate_selection *s, struct gate_sum *sums)
{
    struct gate_sum *one = memory_alloc((s->slot_count + 1) * sizeof(*one));

    for (size_t span = pair->first; one && span < pair->end; span++) {
        size_t at, end;

        memset(one, 0, s->slot_count * sizeof(*one));
        for (gate_spans_cells(spans, span, &at, &end); at < end; at++)
            add_cell(s, spans->cells[at].cell, &spans->cells[at].sum, one);
        for (size_t i = 0; i < s->slot_count; i++)
            raise(&sums[i], &one[i]);
    }
    memory_free(one);
    return one ? 0 : -ENOMEM;
}

static const char *no_span(struct gate_run *run, const struct budget_limit *l)
{
    for (size_t i = 0; i < run->marks.count; i++)
        if (strcmp(run->marks.marks[i].text, l->from) == 0)
            return gate_run_text(run, "no mark \"%.200s\" after the mark \"%.200s\"", l->to,
                                 l->from);
    return gate_run_text(run, "no mark \"%.200s\" is in the log", l->from);
}

/* ---- per call ---- */

static void divide(struct gate_amount *a, uint64_t calls)
{
    a->value /= (double)calls;
    a->low /= (double)calls;
    a->high /= (double)calls;
}

static int divide_all(const struct part *p)
{
    struct gate_run *run = p->run;
    struct gate_calls calls;
    int status = gate_calls_read(run->options->command, &run->options->reading, run->log, &calls);
    const char *why = run->lacks ? run->lacks : calls.why;

    for (size_t i = 0; !status && i < run->budget->count; i++) {
        struct gate_amount *a = run->limits[i].amounts;
        uint64_t count = p->wanted[i] ? gate_calls_of(&calls, run->budget->limits[i].method) : 0;

        if (!p->wanted[i])
            continue;
        if (why || !count) /* of a part neither sum proves anything */
            a[0] = a[1] =
                open_amount(why ? why
                                : "no call of it is in the log: it may be inlined (record "
                                  "--no-inline) or not traced (--calls)");
        for (size_t m = 0; m < 2 && !isinf(a[m].low); m++)
            divide(&a[m], count);
        if (count) /* it is there, and may allocate nothing */
            run->limits[i].absent = NULL;
    }
    gate_calls_free(&calls);
    return status;
}

/* ---- live objects ---- */

static bool has_mark(const struct gate_run *run, const char *text)
{
    for (size_t i = 0; i < run->marks.count; i++)
        if (strcmp(run->marks.marks[i].text, text) == 0)
            return true;
    return false;
}

/* Why the log cannot tell; NULL: it may. */
static const char *live_lacks(struct gate_run *run, const struct budget_limit *l)
{
    if (!json_is_true(option(run, "live")))
        return "live objects were not recorded; record with --live";
    if (l->at && !has_mark(run, l->at))
        return gate_run_text(run, "no mark \"%.200s\" is in the log", l->at);
    if (l->from && (!has_mark(run, l->from) || !has_mark(run, l->to)))
        return no_span(run, l);
    return run->lacks;
}

static bool is_full(const struct log_collection *c)
{
    return c->gc && c->gc == c->full;
}

/* How sure a count of live objects is. */
static void doubt(const struct part *p, const struct report_live *live)
{
    struct gate_amount at_most = {.low = -INFINITY, .high = -INFINITY};
    bool grown = p->of->per == BUDGET_SPAN;
    const char *why = report_live_why(live);

    if (why || !live->lines || !live->asked) {
        open_all(p, why ? why : "no collection is in the log; mark with `ctl PID mark --full`");
    } else if (live->at.missed || (grown && live->at.missed_first)) {
        open_all(p, "collections after it have no separate sums; mark with `ctl PID mark "
                    "--full`");
    } else if (grown && !(is_full(&live->at.first) && is_full(&live->at.last))) {
        open_all(p, "the collections before both marks were not full ones; mark with `ctl PID "
                    "mark --full`");
    } else if (!is_full(&live->at.last)) { /* what died in older generations still counts */
        at_most.why = "the last collection before was not a full one, so this is at most what was "
                      "alive; mark with `ctl PID mark --full`";
        open_part(p, &at_most);
    }
}

/* Lines of the limits in another model of the log. */
static int match_again(const struct gate_run *run, const struct gate_lines *lines, uint32_t **out)
{
    *out = memory_alloc((run->budget->count + 1) * sizeof(**out));
    for (size_t i = 0; *out && i < run->budget->count; i++)
        (*out)[i] = run->matched[i] == GATE_NO_LINE
                        ? GATE_NO_LINE
                        : gate_lines_same(lines, &run->lines.lines[run->matched[i]]);
    return *out ? 0 : -ENOMEM;
}

static int measure_cells(const struct part *p, const struct loading *l,
                         const struct gate_lines *lines, const uint32_t *matched)
{
    struct gate_run *run = p->run;
    struct gate_selection s;
    struct gate_sum *sums = NULL;
    int err = gate_select(lines, run->budget, p->wanted, matched, &s);

    if (!err && !(sums = memory_zalloc(s.slot_count + 1, sizeof(*sums))))
        err = -ENOMEM;
    if (!err && p->of->per == BUDGET_SPAN && !p->live)
        err = sum_spans(run->spans, gate_spans_pair(run->spans, p->of->from, p->of->to), &s, sums);
    else if (!err)
        sum_cells(l->model, &s, sums);
    if (!err)
        err = set_all(p, &s, lines, sums);
    memory_free(sums);
    gate_selection_free(&s);
    return err;
}

static int measure_live(const struct part *p)
{
    struct gate_run *run = p->run;
    const struct budget_limit *l = p->of;
    const struct filters filters = {.own_code = run->options->own_code,
                                    .window = {.from = l->from, .to = l->to}};
    const struct loading_options how = {
        .reading = run->options->reading,
        .filters = &filters,
        .symbols = &run->options->symbols,
        .live = {.question = l->from ? REPORT_LIVE_GROWN : REPORT_LIVE_AT,
                 .instead = true,
                 .at = l->at}};
    char *path = (char *)(uintptr_t)run->log;
    const char *lacks = live_lacks(run, l);
    struct gate_lines lines = {.count = 0};
    uint32_t *matched = NULL;
    struct loading again;
    int status, err = 0;

    if (lacks)
        return open_all(p, lacks);
    status = loading_read(run->options->command, &how, &path, 1, &again);
    if (!status)
        status = know(run->options, &how, &again);
    if (!status)
        err = gate_lines_new(&again, run->budget->steady, false, &lines);
    if (!status && !err)
        err = match_again(run, &lines, &matched);
    if (!status && !err)
        err = measure_cells(p, &again, &lines, matched);
    if (!status && !err)
        doubt(p, model_live(again.model));
    memory_free(matched);
    gate_lines_free(&lines);
    loading_end(&again);
    return status ? status : cli_failed(run->options->command, err);
}

/* ---- all parts ---- */

/* Why allocations cannot be told; NULL: they can. */
static const char *allocs_lack(struct gate_run *run, const struct budget_limit *l)
{
    const struct log_input *log = model_log(run->l.model);
    const struct gate_pair *pair;

    if (option(run, "events") && !reading_records(log, "alloc"))
        return "allocations were not recorded: `record --events` has to name alloc, too";
    if (l->per != BUDGET_SPAN)
        return NULL;
    if (model_untimed(run->l.model) || run->spans->untimed)
        return "sums of call sites have no times; record without --log sites";
    pair = gate_spans_pair(run->spans, l->from, l->to);
    return !pair || pair->first == pair->end ? no_span(run, l) : NULL;
}

static int measure_allocs(const struct part *p)
{
    struct gate_run *run = p->run;
    const char *lacks = allocs_lack(run, p->of);
    int status;

    if (lacks)
        return open_all(p, lacks);
    status =
        cli_failed(run->options->command, measure_cells(p, &run->l, &run->lines, run->matched));
    return status || p->of->per != BUDGET_CALL ? status : divide_all(p);
}

static bool wants(const struct budget_limit *l, bool live)
{
    size_t first = live ? BUDGET_LIVE_OBJECTS : BUDGET_OBJECTS;

    return l->bounds[first].given || l->bounds[first + 1].given;
}

/* The limits from `first` on of its part; they are done then. */
static int measure_part(struct gate_run *run, size_t first, bool live, bool *done)
{
    const struct budget *b = run->budget;
    struct part p = {.run = run, .of = &b->limits[first], .live = live};
    int status;

    p.wanted = memory_zalloc(b->count, sizeof(*p.wanted));
    if (!p.wanted)
        return cli_failed(run->options->command, -ENOMEM);
    for (size_t i = first; i < b->count; i++)
        if (wants(&b->limits[i], live) && budget_same_part(&b->limits[i], p.of))
            p.wanted[i] = done[i] = true;
    status = live ? measure_live(&p) : measure_allocs(&p);
    memory_free(p.wanted);
    return status;
}

static int measure_kind(struct gate_run *run, bool live)
{
    bool *done = memory_zalloc(run->budget->count + 1, sizeof(*done));
    int status = cli_failed(run->options->command, done ? 0 : -ENOMEM);

    for (size_t i = 0; !status && i < run->budget->count; i++)
        if (!done[i] && wants(&run->budget->limits[i], live))
            status = measure_part(run, i, live, done);
    memory_free(done);
    return status;
}

int gate_run_measure(struct gate_run *run)
{
    int err, status;

    memory_free_all(run->matched, run->limits);
    run->matched = NULL;
    run->other_count = 0;
    run->limits = memory_zalloc(run->budget->count + 1, sizeof(*run->limits));
    err = run->limits ? gate_lines_match(&run->lines, run->budget, &run->matched) : -ENOMEM;
    status = cli_failed(run->options->command, err);
    for (size_t i = 0; !status && i < run->budget->count; i++)
        run->limits[i].line = run->matched[i];
    if (!status)
        status = measure_kind(run, false);
    return status ? status : measure_kind(run, true);
}
