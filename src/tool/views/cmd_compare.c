#include "views/views.h"

#include "views/print_compare.h"
#include "command/reading.h"
#include "command/rows.h"

#include <string.h>

struct compare_args {
    enum reading_format format;
    struct reading_options reading;
    struct naming naming;
};

#define ARGS_INTO struct compare_args
static const struct args_option options[] = {ROW_FORMAT, ROW_NAMES(naming), ROW_JOBS, ROW_QUIET,
                                             ARGS_END};

/* One of the logs. Its call sites are wanted only where there is another one. */
struct side {
    struct log_problems problems_of_cells; /* the same again, but for those of comparisons */
    struct report_cells cells;
    bool wanted;
    struct model *model;
    struct model_tree *tree;
    struct model_rows rows;
};

/* Call sites, once all records are in the cells. */
static int make_rows(struct side *s)
{
    static const struct model_filter all = {.thread = 0};
    static const struct model_shape no_frames = {.grain = MODEL_GRAIN_NONE};
    static const struct model_rows_options by_site = {.key = MODEL_BY_SITE};
    int err = report_cells_finish(&s->cells);

    if (!err)
        err = model_of_cells(&s->cells, &s->model);
    if (!err)
        err = model_tree_new(s->model, &all, &no_frames, &s->tree, NULL, 0);
    return err ? err : model_rows_init(&s->rows, s->tree, &by_site);
}

static int read_one(struct report_checks *c, struct log_problems *problems, struct side *side,
                    const char *path, const struct reading_options *how)
{
    struct reading_progress progress;
    int err = report_checks_init(c, problems), status = CLI_OK;

    reading_progress_init(&progress, how);
    c->log.jobs = reading_threads(how);
    c->consumer.progress = reading_progress;
    c->consumer.progress_context = &progress;
    c->attribution = side->wanted ? &side->cells : NULL;
    if (!err)
        err = report_checks_read(c, path);
    reading_progress_end(&progress);
    if (!err)
        err = report_checks_finish(c);
    if (!err && side->wanted)
        err = make_rows(side);
    if (err)
        status = reading_failed(&cmd_compare, path, &c->log, err);
    else
        reading_problems(&cmd_compare, problems);
    return status;
}

static int sides_init(struct side *sides, size_t count)
{
    static const struct report_cells_options by_site = {.paths = true, .ils = true, .types = true};
    int err = 0;

    for (size_t i = 0; i < PRINT_COMPARE_LOGS; i++) {
        sides[i] = (struct side){.wanted = count == DIFF_SIDES};
        log_problems_init(&sides[i].problems_of_cells);
        if (!err)
            err = report_cells_init(&sides[i].cells, &by_site, &sides[i].problems_of_cells);
    }
    return err;
}

static void sides_fini(struct side *sides)
{
    for (size_t i = 0; i < PRINT_COMPARE_LOGS; i++) {
        model_rows_fini(&sides[i].rows);
        model_tree_free(sides[i].tree);
        model_free(sides[i].model);
        report_cells_fini(&sides[i].cells);
        log_problems_fini(&sides[i].problems_of_cells);
    }
}

static int sum_of_sites(const struct side *sides, struct diff_sum *out)
{
    const struct model_rows *const rows[DIFF_SIDES] = {&sides[0].rows, &sides[1].rows};
    const struct diff_logs logs[DIFF_SIDES] = {{&rows[0], 1}, {&rows[1], 1}};
    struct diff *diff;
    int err = diff_new(logs, true, &diff);

    if (!err)
        diff_sum(diff, out);
    diff_free(diff);
    return err;
}

static int print_text(const struct report_checks *checks, char **logs, size_t count,
                      const struct diff_sum *sites, struct naming naming, FILE *out)
{
    struct print_stack stacks[PRINT_COMPARE_LOGS] = {{.defs = NULL}};
    int err = 0;

    for (size_t i = 0; i < count && !err; i++) {
        stacks[i].defs = &checks[i].defs;
        stacks[i].naming = naming;
        err = print_stack_names(&stacks[i], i ? &stacks[0] : NULL);
    }
    if (!err)
        print_compare_text(checks, stacks, logs, count, sites, out);
    for (size_t i = count; i-- > 0;) /* the first one is the other's, too */
        names_free(stacks[i].names);
    return err;
}

static int print(const struct compare_args *a, const struct report_checks *checks,
                 const struct log_problems *problems, const struct side *sides, char **logs,
                 size_t count, FILE *out)
{
    struct diff_sum sum, *sites = count == DIFF_SIDES ? &sum : NULL;
    int err = sites ? sum_of_sites(sides, sites) : 0;

    if (!err && a->format == READING_JSON)
        err = print_compare_json(checks, problems, count, sites, out);
    else if (!err)
        err = print_text(checks, logs, count, sites, a->naming, out);
    return err;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct compare_args *a = into;
    char **logs = args->word;
    size_t count = args->count;
    struct log_problems problems[PRINT_COMPARE_LOGS];
    struct report_checks checks[PRINT_COMPARE_LOGS];
    struct side sides[PRINT_COMPARE_LOGS];
    uint64_t mismatched = 0;
    size_t begun = 0;
    int status = CLI_OK, err = sides_init(sides, count);

    naming_choose(&a->naming, &cmd_compare, args, NAMES_SHORT);
    while (!err && begun < count && !status) {
        log_problems_init(&problems[begun]);
        status =
            read_one(&checks[begun], &problems[begun], &sides[begun], logs[begun], &a->reading);
        mismatched += checks[begun].mismatched +
                      report_checks_count(&checks[begun], "threads", "mismatched") +
                      report_checks_count(&checks[begun], "calls", "mismatched") +
                      report_checks_count(&checks[begun], "live", "missing") +
                      report_checks_count(&checks[begun], "live", "extra") +
                      report_checks_count(&checks[begun], "live", "other_class");
        begun++;
    }
    if (!err && !status)
        err = print(a, checks, problems, sides, logs, count, out);
    if (err)
        status = cli_failed(&cmd_compare, err);
    if (!status && mismatched)
        status = CLI_CHECK;
    while (begun-- > 0) {
        report_checks_fini(&checks[begun]);
        log_problems_fini(&problems[begun]);
    }
    sides_fini(sides);
    return status;
}

CLI_COMMAND(
    compare, "[options] LOG [LOG]",
    "compare the shadow stack with DoStackSnapshot: accuracy and cost",
    .about = "LOG is a log of `shadowtrace record --check N`, plain or compressed, complete or "
             "truncated; `-` is standard input. Two logs are shown side by side.\n\nShows "
             "differences by cause, with both stacks of the first of each; the cost of a capture "
             "by stack depth and by thread; and the repairs of shadow stacks.",
    CLI_TAKES(struct compare_args, options, 1, PRINT_COMPARE_LOGS, "a log: LOG", false),
    .manual = CLI_MANUAL(.status = MANUAL_TERMS({"0", "every stack was equal"},
                                                {"1", "a stack differed"}, MANUAL_STATUS_USAGE,
                                                MANUAL_STATUS_IO),
                         .environment = manual_of_terminal,
                         .examples = MANUAL_TERMS({"shadowtrace compare app.ndjson",
                                                   "see how exact a log recorded with `--check 1` "
                                                   "is, and what snapshots would have cost"},
                                                  {"shadowtrace compare elt3.ndjson elt2.ndjson",
                                                   "compare two recordings"})));
