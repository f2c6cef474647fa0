#include "gate/judge.h"

#include "base/order.h"

#include "command/sources.h"

#include <math.h>

/* A mean per call is a quotient of doubles. */
#define ROUNDING 1e-9

void judge_begin(struct gate_judgement *j, const struct budget *b, const char *root)
{
    *j = (struct gate_judgement){.budget = b, .root = root};
}

void judge_free(struct gate_judgement *j)
{
    for (size_t i = 0; i < j->text_count; i++)
        memory_free(j->texts[i]);
    memory_free_all(j->texts, j->findings);
    *j = (struct gate_judgement){.count = 0};
}

/* A copy; NULL of NULL, and without memory: then *failed. */
static const char *keep(struct gate_judgement *j, const char *text, bool *failed)
{
    char *copy;

    if (!text)
        return NULL;
    copy =
        array_reserve(&j->texts, &j->text_capacity, j->text_count + 1) ? memory_strdup(text) : NULL;
    *failed = *failed || !copy;
    return copy ? j->texts[j->text_count++] = copy : NULL;
}

/* ---- places ---- */

/* The path from the root, or as the compiler wrote it where the file is not here. */
static const char *tell_path(struct gate_judgement *j, const struct gate_run *run, const char *path,
                             bool *failed)
{
    const struct sources sources = {.lines = run->l.lines, .dirs = &j->root, .count = 1};
    size_t root = strlen(j->root);
    char here[PATH_MAX];

    if (!sources_path(&sources, path, here))
        path = here;
    else if (strncmp(path, "/_/", 3) == 0) /* of a build with a deterministic source root */
        path += 3;
    if (strncmp(path, "./", 2) == 0)
        path += 2;
    if (strncmp(path, j->root, root) == 0 && path[root] == '/')
        path += root + 1;
    return keep(j, path, failed);
}

/* Where a method begins, if one has exactly that name. */
static bool find_method(const struct gate_run *run, const char *name, struct source_line *line)
{
    const struct log_defs *d = run->l.defs;

    for (uint32_t i = 1; i < d->methods.count; i++)
        if (strcmp(names_method(run->l.names, i), name) == 0)
            return source_line_of(run->l.lines, i, 0, line);
    return false;
}

static void place(struct gate_judgement *j, const struct gate_run *run,
                  const struct gate_measured *measured, struct gate_finding *finding, bool *failed)
{
    const struct budget_limit *l = &j->budget->limits[finding->limit];
    struct source_line line;

    finding->method = keep(j, l->method, failed);
    finding->text = l->of == BUDGET_LINE ? keep(j, l->text, failed) : NULL;
    if (measured->line != GATE_NO_LINE &&
        finding->verdict != GATE_HELD) { /* to look for files takes time */
        const struct gate_line *at = &run->lines.lines[measured->line];

        finding->method = keep(j, at->method, failed);
        finding->path = tell_path(j, run, at->path, failed);
        finding->line = at->line;
        finding->line_last = at->line_last;
        finding->text = keep(j, at->text, failed);
    } else if (l->of == BUDGET_LINE) {
        finding->path = keep(j, l->file, failed);
        finding->line = l->line;
        finding->line_last = l->line_last;
    } else if (l->of == BUDGET_METHOD && finding->verdict != GATE_HELD &&
               find_method(run, l->method, &line)) {
        finding->path = tell_path(j, run, line.file, failed);
        finding->line = line.line;
    }
}

/* ---- verdicts ---- */

static const char *undecided(const struct gate_amount *a)
{
    return a->why ? a->why
                  : "the sample does not decide it; record without --sample, or more of them";
}

static bool bound_known(const struct budget_bound *bound)
{
    return !bound->over_baseline || bound->learned;
}

static enum gate_verdict decide(const struct budget_bound *bound, const struct gate_measured *m,
                                const struct gate_amount *amount, const char **why)
{
    double max = bound->max + ROUNDING * bound->max;

    *why = NULL;
    if (!bound_known(bound))
        *why = "it is about a baseline; name its logs with --baseline";
    else if (m->absent && !(bound->learned && bound->least <= 0) && !isinf(amount->high))
        *why = m->absent; /* renamed, inlined, or mended: nobody can tell */
    else if (amount->high <= max)
        return GATE_HELD;
    else if (amount->low > max)
        return GATE_BROKEN;
    else
        *why = undecided(amount);
    return GATE_NOT_JUDGED;
}

/* Whether it is of the same thing in another log. */
static bool is_same(const struct gate_finding *a, const struct gate_finding *finding)
{
    return a->limit == finding->limit && a->measure == finding->measure &&
           a->is_other == finding->is_other &&
           (!a->is_other || (a->line == finding->line && a->line_last == finding->line_last &&
                             budget_same_text(a->path, finding->path) &&
                             budget_same_text(a->method, finding->method)));
}

static int add(struct gate_judgement *j, const struct gate_finding *finding)
{
    for (size_t i = 0; i < j->count; i++) {
        struct gate_finding *known = &j->findings[i];

        if (!is_same(known, finding))
            continue;
        if (finding->verdict > known->verdict ||
            (finding->verdict == known->verdict && finding->value > known->value)) {
            size_t logs = finding->verdict == known->verdict ? known->logs : 0;

            *known = *finding;
            known->logs += logs;
        } else if (finding->verdict == known->verdict) {
            known->logs++;
        }
        return 0;
    }
    if (!array_reserve(&j->findings, &j->capacity, j->count + 1))
        return -ENOMEM;
    j->findings[j->count++] = *finding;
    return 0;
}

static int take(struct gate_judgement *j, const struct gate_run *run, uint32_t limit,
                const struct gate_measured *measured, bool is_other)
{
    bool failed = false;
    int err = 0;

    for (size_t i = 0; !err && i < BUDGET_MEASURES; i++) {
        const struct budget_bound *bound = &j->budget->limits[limit].bounds[i];
        const struct gate_amount *a = &measured->amounts[i];
        struct gate_finding f = {.limit = limit,
                                 .measure = (enum budget_measure)i,
                                 .max = bound->max,
                                 .value = a->value,
                                 .low = a->low,
                                 .high = a->high,
                                 .sampled = a->sampled,
                                 .logs = 1,
                                 .is_other = is_other};
        const char *why;

        if (!bound->given)
            continue;
        f.verdict = decide(bound, measured, a, &why);
        if (is_other && (f.verdict == GATE_HELD ||
                         (f.verdict != GATE_BROKEN && (isinf(a->high) || !bound_known(bound)))))
            continue; /* the limit's own finding says so */
        f.why = keep(j, why, &failed);
        f.log = keep(j, run->log, &failed);
        place(j, run, measured, &f, &failed);
        err = failed ? -ENOMEM : add(j, &f);
    }
    return err;
}

int judge_take(struct gate_judgement *j, const struct gate_run *run)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < j->budget->count; i++)
        err = take(j, run, i, &run->limits[i], false);
    for (size_t i = 0; !err && i < run->other_count; i++)
        err = take(j, run, run->others[i].limit, &run->others[i].measured, true);
    j->logs++;
    return err;
}

static int by_limit(const void *left, const void *right)
{
    const struct gate_finding *a = left, *b = right;
    int order = ORDERS(ORDER(a->limit, b->limit), ORDER(a->is_other, b->is_other),
                       ORDER(a->line, b->line), ORDER(a->line_last, b->line_last));

    if (!order && a->is_other && a->method && b->method) /* without a line there may be several */
        order = strcmp(a->method, b->method);
    return order ? order : ORDER(a->measure, b->measure);
}

enum gate_verdict judge_end(struct gate_judgement *j)
{
    enum gate_verdict worst = GATE_HELD;

    SORT(j->findings, j->count, by_limit);
    for (size_t i = 0; i < j->count; i++) {
        j->verdicts[j->findings[i].verdict]++;
        worst = j->findings[i].verdict > worst ? j->findings[i].verdict : worst;
    }
    return worst;
}
