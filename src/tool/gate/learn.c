#include "gate/learn.h"

#include "base/order.h"

#include "report/frames.h"

#include <math.h>

/* Logs that a range is taken from; more make no bound tighter than twice the range. */
#define ROOM_LOGS 10.0

double learn_room(double range, double objects, uint64_t logs)
{
    /*
     * Five values of a normal distribution are 2.3 standard deviations apart on average: three
     * times that above the most is some eight above the mean. Two are 1.1 apart, and get six times
     * that. Now and then all are close together by chance: twice the root of a count is a floor.
     */
    double apart = range * (1 + ROOM_LOGS / (double)(logs ? logs : 1));

    return range > 0 ? ceil(fmax(apart, 2 * sqrt(objects))) : 0;
}

/* ---- a new budget ---- */

/* What is allocated and, with `live`, what is alive: in one limit, for no two are of the same. */
static void ask(struct budget_limit *l, bool live)
{
    for (size_t i = 0; i < BUDGET_MEASURES; i++)
        if (live || !budget_measure_live((enum budget_measure)i))
            l->bounds[i] = (struct budget_bound){.given = true, .learned = true};
}

/* A limit of the whole, and one of lines, of that part of a log. */
static int add_part(struct budget *b, unsigned of, const struct budget_limit *part, bool live)
{
    struct budget_limit whole = *part, lines = *part;
    int err = 0;

    whole.of = BUDGET_WHOLE;
    lines.of = BUDGET_OTHER_LINES;
    ask(&whole, live);
    ask(&lines, live);
    if (of & LEARN_WHOLE)
        err = budget_add(b, &whole);
    if (!err && (of & LEARN_LINES))
        err = budget_add(b, &lines);
    return err;
}

static int add_span(struct budget *b, unsigned of, const char *span, char *why, size_t why_size)
{
    const char *dots = strstr(span, "..");
    struct budget_limit part = {.per = BUDGET_SPAN};
    char *from;

    if (!dots || dots == span || !dots[2]) {
        snprintf(why, why_size, "--span wants two marks, FROM..TO, not \"%.100s\"", span);
        return -EINVAL;
    }
    from = memory_strdup(span);
    if (!from)
        return -ENOMEM;
    from[dots - span] = '\0';
    part.from = budget_text(b, from);
    part.to = budget_text(b, dots + 2);
    memory_free(from);
    return part.from && part.to ? add_part(b, of, &part, false) : -ENOMEM;
}

static int add_call(struct budget *b, const char *method)
{
    struct budget_limit limit = {.of = BUDGET_METHOD, .per = BUDGET_CALL, .method = method};

    ask(&limit, false);
    return budget_add(b, &limit);
}

static int fill(struct learn *learn, const struct learn_options *o, char *why, size_t why_size)
{
    const struct budget_limit all = {.per = BUDGET_RECORDING};
    int err = add_part(learn->b, o->of, &all, o->live);

    for (size_t i = 0; !err && i < o->spans.count; i++)
        err = add_span(learn->b, o->of, o->spans.item[i], why, why_size);
    for (size_t i = 0; !err && i < o->calls.count; i++)
        err = add_call(learn->b, o->calls.item[i]);
    return err;
}

int learn_begin(struct learn *learn, struct budget *b, enum learn_way way,
                const struct learn_options *options, char *why, size_t why_size)
{
    *learn = (struct learn){.b = b, .way = way, .of = options ? options->of : 0, .first = b->count};
    return options ? fill(learn, options, why, why_size) : 0;
}

void learn_free(struct learn *learn)
{
    memory_free_all(learn->ranges, learn->seen);
    *learn = (struct learn){.logs = 0};
}

/* ---- limits that a log adds ---- */

static bool learns(const struct learn *learn, const struct budget_bound *bound)
{
    return bound->given && (learn->way == LEARN_BASELINE ? bound->over_baseline
                                                         : bound->learned && !bound->over_baseline);
}

/* Whether lines that the limit stands for get limits of their own. */
static bool names_lines(const struct learn *learn, const struct budget_limit *other)
{
    for (size_t i = 0; i < BUDGET_MEASURES; i++)
        if (learns(learn, &other->bounds[i]))
            return true;
    return false;
}

static void name_line(struct budget_limit *limit, const struct gate_line *line)
{
    limit->of = BUDGET_LINE;
    limit->method = line->method;
    limit->file = line->file;
    limit->text = line->text;
    limit->line = line->line;
    limit->line_last = line->line_last;
}

/* Adds a limit for each line that no limit names, with the same bounds as the others. */
static int add_lines(struct learn *learn, const struct gate_run *run)
{
    int err = 0;

    for (size_t i = 0; !err && i < run->other_count; i++) {
        const struct gate_other *other = &run->others[i];
        struct budget_limit limit = learn->b->limits[other->limit];

        if (other->measured.line == GATE_NO_LINE || !names_lines(learn, &limit))
            continue;
        name_line(&limit, &run->lines.lines[other->measured.line]);
        limit.bounds[BUDGET_OBJECTS].least = limit.bounds[BUDGET_OBJECTS].most =
            run->lines.lines[other->measured.line].objects;
        err = budget_add(learn->b, &limit);
    }
    return err;
}

/* Unless it is there. It looks through all limits: asked once for each. */
static int add_once(struct budget *b, struct budget_limit *limit)
{
    ask(limit, false);
    for (size_t i = 0; i < b->count; i++)
        if (budget_same(&b->limits[i], limit))
            return 0;
    return budget_add(b, limit);
}

struct line_type {
    uint32_t line, class_number;
};
INDEX_OF_BYTES(line_type_kind, struct line_type, class_number);

static int add_line_type(struct learn *learn, const struct gate_run *run,
                         const struct line_type *of)
{
    struct budget_limit limit = {.type = names_class(run->l.names, of->class_number)};

    name_line(&limit, &run->lines.lines[of->line]);
    return add_once(learn->b, &limit);
}

/* What stands at a line, by type: kept where the line's sum varies. */
static int add_line_types(struct learn *learn, const struct gate_run *run)
{
    const struct model *m = run->l.model;
    struct line_type *all = NULL;
    struct index index = {NULL, 0, 0};
    size_t count = 0, capacity = 0;
    uint32_t number;
    int err = 0;

    for (size_t i = 0; err >= 0 && i < model_cell_count(m); i++) {
        const struct line_type one = {run->lines.of_cell[i], model_cell(m, i)->class_number};

        if (one.line != GATE_NO_LINE)
            err = index_add(&index, &line_type_kind, &all, &count, &capacity, &one, &number);
    }
    for (size_t i = 0; err >= 0 && i < count; i++)
        err = add_line_type(learn, run, &all[i]);
    index_free(&index);
    memory_free(all);
    return err < 0 ? err : 0;
}

/* Which methods of own code are on a path that allocates, and which types these make. */
static void mark_names(const struct gate_run *run, bool *methods, bool *types)
{
    const struct model *m = run->l.model;

    for (size_t i = 0; i < model_cell_count(m); i++) {
        const struct report_cell *cell = model_cell(m, i);
        struct report_frame f;

        if (!report_frame_first(run->l.defs, cell->path, cell->il, &f))
            continue;
        do
            if (model_own_of_method(run->l.own, f.method) == MODEL_OWN)
                methods[f.method] = types[cell->class_number] = true;
        while (report_frame_outer(run->l.defs, &f));
    }
}

static int add_names(struct learn *learn, const struct gate_run *run)
{
    const struct log_defs *d = run->l.defs;
    bool *methods = memory_zalloc(d->methods.count, sizeof(*methods));
    bool *types = memory_zalloc(d->classes.count, sizeof(*types));
    int err = methods && types ? 0 : -ENOMEM;

    if (!err)
        mark_names(run, methods, types);
    for (uint32_t i = 1; !err && (learn->of & LEARN_METHODS) && i < d->methods.count; i++) {
        struct budget_limit limit = {.of = BUDGET_METHOD, .method = names_method(run->l.names, i)};

        err = methods[i] ? add_once(learn->b, &limit) : 0;
    }
    for (uint32_t i = 1; !err && (learn->of & LEARN_TYPES) && i < d->classes.count; i++) {
        struct budget_limit limit = {.of = BUDGET_TYPE, .type = names_class(run->l.names, i)};

        err = types[i] ? add_once(learn->b, &limit) : 0;
    }
    memory_free_all(methods, types);
    return err;
}

/* The builds that lines are of; those of before are gone. */
static int add_builds(struct learn *learn, const struct gate_run *run)
{
    struct budget *b = learn->b;
    int err = 0;

    if (learn->way == LEARN_UPDATE && !learn->logs)
        b->build_count = 0;
    for (size_t i = 0; !err && i < run->lines.count; i++) {
        const struct log_def *module = log_module(run->l.defs, run->lines.lines[i].module);

        if (module->mvid)
            err = budget_build_add(b, module->name, module->mvid);
    }
    return err;
}

static int extend(struct learn *learn, const struct gate_run *run)
{
    int err = learn->way == LEARN_NEW ? add_builds(learn, run) : 0;

    if (!err)
        err = add_lines(learn, run);
    if (!err && learn->way == LEARN_NEW && (learn->of & LEARN_LINES))
        err = add_line_types(learn, run);
    if (!err && (learn->of & (LEARN_METHODS | LEARN_TYPES)))
        err = add_names(learn, run);
    return err;
}

/* ---- amounts ---- */

/* An updated limit is called as it is now. */
static int rename_line(struct learn *learn, struct budget_limit *limit,
                       const struct gate_line *line)
{
    if (learn->way != LEARN_UPDATE || limit->of != BUDGET_LINE)
        return 0;
    limit->line = line->line;
    if (line->text && !budget_same_text(line->text, limit->text) &&
        !(limit->text = budget_text(learn->b, line->text)))
        return -ENOMEM;
    return 0;
}

static int take_limit(struct learn *learn, const struct gate_run *run, size_t i)
{
    const struct gate_measured *m = &run->limits[i];
    struct budget_limit *limit = &learn->b->limits[i];

    for (size_t k = 0; k < BUDGET_MEASURES; k++) {
        const struct gate_amount *a = &m->amounts[k];
        struct learn_range *range = &learn->ranges[i][k];
        double low = a->low > 0 ? a->low : 0, high = a->high > 0 ? a->high : 0;

        if (!learns(learn, &limit->bounds[k]))
            continue;
        if (isinf(a->high)) {
            cli_complain(run->options->command, "%s: cannot learn from it: %s", run->log, a->why);
            return CLI_IO;
        }
        range->least = learn->logs == 0 || low < range->least ? low : range->least;
        range->most = high > range->most ? high : range->most;
    }
    if (limit->of == BUDGET_LINE ? m->line != GATE_NO_LINE : !m->absent)
        learn->seen[i] = true;
    if (m->line == GATE_NO_LINE)
        return CLI_OK;
    return cli_failed(run->options->command, rename_line(learn, limit, &run->lines.lines[m->line]));
}

int learn_take(struct learn *learn, struct gate_run *run)
{
    const struct cli_command *command = run->options->command;
    size_t before = learn->b->count;
    int status = gate_run_measure(run);

    if (!status)
        status = cli_failed(command, extend(learn, run));
    if (!status && learn->b->count != before) /* with the limits that it has added */
        status = gate_run_measure(run);
    if (!status && (!array_reserve_zeroed(&learn->ranges, &learn->capacity, learn->b->count) ||
                    !array_reserve_zeroed(&learn->seen, &learn->seen_capacity, learn->b->count)))
        status = cli_failed(command, -ENOMEM);
    for (size_t i = 0; !status && i < learn->b->count; i++)
        status = take_limit(learn, run, i);
    if (!status && learn->way == LEARN_UPDATE)
        status = cli_failed(command, add_builds(learn, run));
    learn->logs += !status;
    return status;
}

/* ---- bounds ---- */

/*
 * The room above a bound, from the most objects of the limit. The limit on the whole program gets
 * some even if all logs agree: what the runtime does next to the program's code always varies.
 */
static double room_of(const struct learn *learn, const struct budget_limit *limit, size_t measure,
                      double range, double most, double objects)
{
    bool bytes = measure == BUDGET_BYTES || measure == BUDGET_LIVE_BYTES;
    double each = bytes && objects > 0 ? most / objects : 1;
    uint64_t logs = learn->logs > learn->b->logs ? learn->logs : learn->b->logs;

    if (limit->per == BUDGET_CALL) /* a mean is no count: it is off by a part of one */
        return range * (1 + ROOM_LOGS / (double)logs);
    if (limit->of == BUDGET_WHOLE && range <= 0 && most > 0) {
        range = each;
        logs = UINT64_MAX;
    }
    return ceil(each * learn_room(range / each, objects, logs));
}

static void set_bound(const struct learn *learn, struct budget_limit *limit, size_t measure,
                      const struct learn_range *ranges, double slack)
{
    struct budget_bound *bound = &limit->bounds[measure];
    double least = ranges[measure].least, most = ranges[measure].most;
    double known = bound->most - bound->least;
    size_t objects =
        budget_measure_live((enum budget_measure)measure) ? BUDGET_LIVE_OBJECTS : BUDGET_OBJECTS;

    /* an update from one log does not forget how far the logs before were apart */
    if (learn->way == LEARN_UPDATE && known > most - least)
        least = most > known ? most - known : 0;
    if (bound->over_baseline)
        slack = bound->percent ? bound->over / 100 : 0;
    bound->max = most + slack * most +
                 room_of(learn, limit, measure, most - least, most, ranges[objects].most);
    bound->max += bound->over_baseline && !bound->percent ? bound->over : 0;
    if (limit->per != BUDGET_CALL)
        bound->max = floor(bound->max + 1e-9);
    bound->learned = true;
    bound->least = least;
    bound->most = most;
}

/* Whether the limit of all types of that line has one amount in all logs. */
static bool line_is_steady(const struct learn *learn, size_t typed)
{
    const struct budget_limit *l = &learn->b->limits[typed];

    for (size_t i = 0; i < learn->b->count; i++) {
        struct budget_limit all = *l;

        all.type = NULL;
        if (budget_same(&learn->b->limits[i], &all))
            return learn->ranges[i][BUDGET_OBJECTS].least ==
                       learn->ranges[i][BUDGET_OBJECTS].most &&
                   learn->ranges[i][BUDGET_BYTES].least == learn->ranges[i][BUDGET_BYTES].most;
    }
    return false;
}

/* Whether the limit has a place in the budget. */
static bool is_wanted(const struct learn *learn, size_t i)
{
    const struct budget_limit *l = &learn->b->limits[i];

    if (learn->way == LEARN_UPDATE && l->of != BUDGET_WHOLE && l->of != BUDGET_OTHER_LINES) {
        for (size_t k = 0; k < BUDGET_MEASURES; k++)
            if (l->bounds[k].given && !learns(learn, &l->bounds[k]))
                return true; /* somebody has written it */
        return learn->seen[i];
    }
    return learn->way != LEARN_NEW || l->of != BUDGET_LINE || !l->type || !line_is_steady(learn, i);
}

ORDERED_BY(by_place, struct budget_limit, budget_order(x, y))

void learn_end(struct learn *learn, double slack)
{
    struct budget *b = learn->b;
    bool *wanted = memory_alloc(b->count + 1);
    size_t kept = 0, first = 0; /* first: of those that are new */

    for (size_t i = 0; i < b->count; i++) {
        if (wanted)
            wanted[i] = is_wanted(learn, i);
        for (size_t k = 0; k < BUDGET_MEASURES; k++)
            if (learns(learn, &b->limits[i].bounds[k]))
                set_bound(learn, &b->limits[i], k, learn->ranges[i], slack);
    }
    for (size_t i = 0; i < b->count; i++) {
        if (wanted && !wanted[i])
            continue;
        first += i < learn->first;
        b->limits[kept++] = b->limits[i];
    }
    b->count = kept;
    if (first < kept)
        SORT(b->limits + first, kept - first, by_place);
    memory_free(wanted);
    if (learn->way == LEARN_NEW || learn->logs > b->logs)
        b->logs = learn->logs;
}
