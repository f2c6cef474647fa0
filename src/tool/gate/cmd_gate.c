/* shadowtrace gate - logs held against a budget, or a budget made of logs. */
#include "gate/gate.h"

#include "base/memory.h"
#include "command/filters.h"
#include "command/output.h"
#include "command/rows.h"
#include "gate/learn.h"
#include "gate/print.h"
#include "gate/replace.h"
#include "readers/header.h"
#include "report/processes.h"
#include "terminal/terminal.h"
#include "terminal/text.h"

#include <limits.h>
#include <unistd.h>

struct gate_args {
    struct reading_options reading;
    struct args_list symbols, own_code, by, calls, spans, baseline, also, processes;
    const char *slack, *was, *root;
    enum gate_format format;
    bool learn, update, live;
};

static const char *const by_words[] = {"whole", "lines", "methods", "types", NULL};

#define ARGS_INTO struct gate_args
static const struct args_option options[] = {
    ARGS_ROW(LIST, "baseline", "LOG", baseline,
             "a log of the earlier program, for limits relative to a baseline",
             .group = "Check logs against a budget"),
    ARGS_ROW(WORD, "format", NULL, format,
             "what to print: text; JUnit XML; SARIF 2.1.0; annotations of GitHub Actions; GitLab's "
             "code quality report; Markdown for a job's page",
             .words = gate_format_words),
    ARGS_ROW(LIST, "also", "FORMAT=FILE", also,
             "write that format to FILE, too (- is standard output)"),
    ARGS_ROW(TEXT, "was", "BUDGET", was,
             "an earlier budget: text and markdown show what has changed since"),
    ARGS_ROW(TEXT, "root", "DIR", root,
             "print source paths relative to DIR (default: the current folder)"),
    ARGS_ROW(FLAG, "learn", NULL, learn, "write BUDGET, from one log or better from several runs",
             .group = "Make a budget"),
    ARGS_ROW(FLAG, "update", NULL, update,
             "update the learned bounds in BUDGET, and show what has changed"),
    ARGS_ROW(LIST, "by", "WHAT", by,
             "learn limits of the whole, of lines of own code, of methods, of types (whole, lines, "
             "methods, types; default: whole and lines)"),
    ARGS_ROW(LIST, "per-call", "METHOD", calls,
             "learn the allocations in or below METHOD, per call; logs need `record --events "
             "alloc,calls`"),
    ARGS_ROW(
        LIST, "span", "FROM..TO", spans,
        "learn the allocations from each mark FROM to the next mark TO; the largest span counts"),
    ARGS_ROW(FLAG, "live", NULL, live,
             "learn the live objects after the last collection; logs need `record --live`"),
    ARGS_ROW(TEXT, "slack", "PERCENT", slack,
             "allow PERCENT more than was learned: 5% (default: 0%)"),
    ROW_PROCESS(processes, "Options"),
    ARGS_ROW(LIST, "own-code", "PATTERN", own_code, ROW_OWN_CODE_HELP),
    ROW_SYMBOLS,
    ROW_JOBS,
    ROW_QUIET,
    ARGS_END};

/* ---- arguments ---- */

static int slack_of(const struct gate_args *a, double *slack)
{
    char *end;

    *slack = 0;
    if (!a->slack)
        return CLI_OK;
    *slack = strtod(a->slack, &end) / 100;
    if (a->slack[0] < '0' || a->slack[0] > '9' || strcmp(end, "%") != 0 || !(*slack <= 100))
        return cli_usage_error(&cmd_gate, "--slack wants a percentage, like 5%%, not \"%.100s\"",
                               a->slack);
    return CLI_OK;
}

static int learn_of(const struct gate_args *a, unsigned *of)
{
    *of = a->by.count ? 0 : LEARN_WHOLE | LEARN_LINES;
    for (size_t i = 0; i < a->by.count; i++) {
        size_t word = 0;

        while (by_words[word] && strcmp(by_words[word], a->by.item[i]) != 0)
            word++;
        if (!by_words[word])
            return cli_unknown(&cmd_gate, "value of --by", a->by.item[i], by_words);
        *of |= 1u << word;
    }
    return CLI_OK;
}

/* Options of one way to run do not go with another. */
static int check(const struct gate_args *a)
{
    bool learns = a->by.count || a->calls.count || a->spans.count || a->live;

    if (a->learn && a->update)
        return cli_usage_error(&cmd_gate, "--learn and --update do not go together");
    if (learns && !a->learn)
        return cli_usage_error(&cmd_gate, "--by, --per-call, --span and --live need --learn");
    if (a->slack && !a->learn && !a->update)
        return cli_usage_error(&cmd_gate, "--slack needs --learn or --update");
    if ((a->learn || a->update) && (a->baseline.count || a->also.count || a->was))
        return cli_usage_error(
            &cmd_gate,
            "--baseline, --also and --was are for checking logs, not for --learn and --update");
    if ((a->update && a->format != GATE_TEXT && a->format != GATE_MARKDOWN) ||
        (a->learn && a->format != GATE_TEXT))
        return cli_usage_error(&cmd_gate, "%s",
                               a->learn ? "--learn writes a budget, in no other format"
                                        : "--update prints text or markdown");
    return CLI_OK;
}

static int read_budget(const char *path, struct budget *b)
{
    char why[ARGS_WHY_SIZE] = "";
    int err = budget_read(path, b, why, sizeof(why));

    if (!err && !b->count)
        return cli_usage_error(&cmd_gate, "%s: the budget has no limit", path);
    if (err == -EINVAL)
        return cli_usage_error(&cmd_gate, "%s: %s", path, why);
    return err ? cli_unreadable(&cmd_gate, path, err == -EISDIR ? "it is not a regular file" : NULL,
                                err)
               : CLI_OK;
}

static struct gate_options options_of(const struct gate_args *a)
{
    return (struct gate_options){.command = &cmd_gate,
                                 .reading = a->reading,
                                 .symbols = a->symbols,
                                 .own_code = a->own_code,
                                 .texts = true};
}

/* ---- logs ---- */

/*
 * A budget is of one program. Of another one all that the budget names is gone, and so held: a
 * folder of a tree of processes must not pass by that.
 */
static int check_program(char **logs, size_t count)
{
    char *first = NULL;
    int status = CLI_OK;

    for (size_t i = 0; !status && i < count; i++) {
        json_t *header = log_header_of(logs[i]);
        char *name = report_process_name(header);

        if (first && name && strcmp(first, name) != 0)
            status = cli_usage_error(
                &cmd_gate,
                "a budget is of one program, and the logs are of %s and %s, if not more; "
                "--process NAME takes those of one",
                first, name);
        if (first) {
            memory_free(name);
        } else {
            first = name;
        }
        json_decref(header);
    }
    memory_free(first);
    return status;
}

/* Those that are meant, each once. */
static int choose_logs(const struct gate_args *a, char **logs, size_t *count)
{
    int status = filters_processes(&cmd_gate, &a->processes, logs, count);

    return status ? status : check_program(logs, *count);
}

/* ---- learning ---- */

static int learn_logs(const struct gate_args *a, struct learn *learn, char **logs, size_t count)
{
    const struct gate_options o = options_of(a);
    int status = choose_logs(a, logs, &count);

    for (size_t i = 0; !status && i < count; i++) {
        struct gate_run run;

        status = gate_run_read(&run, &o, learn->b, logs[i]);
        if (!status)
            status = learn_take(learn, &run);
        gate_run_free(&run);
    }
    return status;
}

static int learn_new(const struct gate_args *a, struct budget *b, char **logs, size_t count)
{
    struct learn_options o = {.calls = a->calls, .spans = a->spans, .live = a->live};
    char why[ARGS_WHY_SIZE] = "";
    struct learn learn;
    double slack;
    int err, status = slack_of(a, &slack);

    if (!status)
        status = learn_of(a, &o.of);
    if (status)
        return status;
    err = learn_begin(&learn, b, LEARN_NEW, &o, why, sizeof(why));
    status = err == -EINVAL ? cli_usage_error(&cmd_gate, "%s", why) : cli_failed(&cmd_gate, err);
    if (!status)
        status = learn_logs(a, &learn, logs, count);
    if (!status)
        learn_end(&learn, slack);
    learn_free(&learn);
    return status;
}

static void tell_learned(const struct budget *b, const char *path, FILE *out)
{
    struct text_number n, m;
    size_t vary = 0;

    for (size_t i = 0; i < b->count; i++)
        vary +=
            b->limits[i].bounds[BUDGET_OBJECTS].least < b->limits[i].bounds[BUDGET_OBJECTS].most;
    text_part(out, "", path, ": ");
    fprintf(out, "%s limits, learned from %llu log%s; ", text_count(&n, b->count),
            (unsigned long long)b->logs, text_plural(b->logs));
    if (b->logs > 1)
        fprintf(out, "objects of %s vary from run to run.\n", text_count(&m, vary));
    else
        fputs("variation is unknown; learn from several runs.\n", out);
}

static int run_learn(const struct gate_args *a, const char *path, char **logs, size_t count,
                     FILE *out)
{
    struct output to;
    struct budget b;
    int status;

    if (strcmp(path, "-") != 0 && !access(path, F_OK))
        return cli_usage_error(&cmd_gate, "%s exists: remove it, or --update it", path);
    status = output_open(&cmd_gate, path, out, &to);
    if (status)
        return status;
    budget_init(&b);
    status = learn_new(a, &b, logs, count);
    if (!status)
        status = cli_failed(&cmd_gate, budget_write(&b, to.file));
    status = output_close(&cmd_gate, &to, status);
    if (!status && strcmp(path, "-") != 0)
        tell_learned(&b, path, out);
    budget_free(&b);
    return status;
}

static int learn_again(const struct gate_args *a, struct budget *b, enum learn_way way, char **logs,
                       size_t count)
{
    struct learn learn;
    double slack;
    int status = slack_of(a, &slack);

    if (status)
        return status;
    learn_begin(&learn, b, way, NULL, NULL, 0);
    status = learn_logs(a, &learn, logs, count);
    if (!status)
        learn_end(&learn, slack);
    learn_free(&learn);
    return status;
}

static int print_changes(const struct gate_args *a, const char *path, const struct budget *was,
                         const struct budget *is, FILE *out)
{
    struct gate_changes changes;
    struct gate_print p = {.path = path, .changes = &changes, .width = terminal_width(out)};
    int err = gate_changes_new(was, is, &changes);

    if (!err)
        err = print_gate(&p, a->format, out);
    gate_changes_free(&changes);
    return cli_failed(&cmd_gate, err);
}

static int run_update(const struct gate_args *a, const char *path, char **logs, size_t count,
                      FILE *out)
{
    struct budget was, is;
    int status;

    budget_init(&was);
    budget_init(&is);
    status = read_budget(path, &was);
    if (!status)
        status = read_budget(path, &is);
    if (!status)
        status = learn_again(a, &is, LEARN_UPDATE, logs, count);
    if (!status)
        status = replace_budget(&cmd_gate, path, &is);
    if (!status)
        status = print_changes(a, path, &was, &is, out);
    budget_free(&was);
    budget_free(&is);
    return status;
}

/* ---- judging ---- */

static int judge_logs(const struct gate_args *a, const struct budget *b, char **logs, size_t count,
                      struct gate_judgement *judgement)
{
    const struct gate_options o = options_of(a);
    int status = choose_logs(a, logs, &count);

    for (size_t i = 0; !status && i < count; i++) {
        struct gate_run run;

        status = gate_run_read(&run, &o, b, logs[i]);
        if (!status)
            status = gate_run_measure(&run);
        if (!status)
            status = cli_failed(&cmd_gate, judge_take(judgement, &run));
        gate_run_free(&run);
    }
    return status;
}

/* FORMAT=FILE. Returns: the file, and *format; NULL: it is not of that form. */
static const char *also_of(const char *text, enum gate_format *format)
{
    const char *file = strchr(text, '=');

    for (size_t i = 0; file && file[1] && gate_format_words[i]; i++)
        if (strlen(gate_format_words[i]) == (size_t)(file - text) &&
            strncmp(gate_format_words[i], text, (size_t)(file - text)) == 0) {
            *format = (enum gate_format)i;
            return file + 1;
        }
    return NULL;
}

static int check_also(const struct gate_args *a)
{
    enum gate_format format;

    for (size_t i = 0; i < a->also.count; i++)
        if (!also_of(a->also.item[i], &format))
            return cli_usage_error(
                &cmd_gate, "--also wants FORMAT=FILE, like sarif=gate.sarif, not \"%.100s\"",
                a->also.item[i]);
    return CLI_OK;
}

static int print_one(struct gate_print *p, enum gate_format format, FILE *out)
{
    p->width = terminal_width(out);
    return cli_failed(&cmd_gate, print_gate(p, format, out));
}

static int print_also(struct gate_print *p, const char *text, FILE *out)
{
    enum gate_format format = GATE_TEXT;
    const char *path = also_of(text, &format);
    struct output to;
    int status = output_open(&cmd_gate, path, out, &to);

    if (status)
        return status;
    status = print_one(p, format, to.file);
    return output_close(&cmd_gate, &to, status);
}

static int print_all(const struct gate_args *a, const char *path,
                     const struct gate_judgement *judgement, FILE *out)
{
    struct gate_changes changes = {.count = 0};
    struct gate_print p = {.path = path, .j = judgement, .was = a->was};
    struct budget was;
    int status;

    budget_init(&was);
    status = a->was ? read_budget(a->was, &was) : CLI_OK;
    if (!status && a->was) {
        p.changes = &changes;
        status = cli_failed(&cmd_gate, gate_changes_new(&was, judgement->budget, &changes));
    }
    if (!status)
        status = print_one(&p, a->format, out);
    for (size_t i = 0; !status && i < a->also.count; i++)
        status = print_also(&p, a->also.item[i], out);
    gate_changes_free(&changes);
    budget_free(&was);
    return status;
}

static int root_of(const struct gate_args *a, char root[PATH_MAX])
{
    if (realpath(a->root ? a->root : ".", root))
        return CLI_OK;
    cli_complain(&cmd_gate, "cannot use %s: %s", a->root ? a->root : "the current folder",
                 strerror(errno));
    return CLI_IO;
}

static int run_judge(const struct gate_args *a, const char *path, char **logs, size_t count,
                     FILE *out)
{
    static const int statuses[GATE_VERDICTS] = {CLI_OK, CLI_IO, CLI_CHECK};
    char root[PATH_MAX], *baseline[COUNT_OF(a->baseline.item)];
    struct gate_judgement j;
    struct budget b;
    int status;

    budget_init(&b);
    judge_begin(&j, &b, root);
    for (size_t i = 0; i < a->baseline.count; i++)
        baseline[i] = (char *)(uintptr_t)a->baseline.item[i];
    status = check_also(a);
    if (!status)
        status = root_of(a, root);
    if (!status)
        status = read_budget(path, &b);
    if (!status && a->baseline.count)
        status = learn_again(a, &b, LEARN_BASELINE, baseline, a->baseline.count);
    if (!status)
        status = judge_logs(a, &b, logs, count, &j);
    if (!status) {
        int verdict = statuses[judge_end(&j)];

        status = print_all(a, path, &j, out);
        status = status ? status : verdict;
    }
    judge_free(&j);
    budget_free(&b);
    return status;
}

static int run(void *into, const struct args *args, FILE *out)
{
    const struct gate_args *a = into;
    int status = check(a);

    if (status)
        return status;
    return (a->learn    ? run_learn
            : a->update ? run_update
                        : run_judge)(a, args->word[0], args->word + 1, args->count - 1, out);
}

CLI_COMMAND(
    gate, "[options] BUDGET LOG...", "check recordings against a budget, or learn one from them",
    .about = "BUDGET is a file: what may be allocated, by the whole program, by lines of own code, "
             "methods or types, in objects and bytes, in a recording, for each call, or between "
             "marks; include/shadowtrace/budget_schema.json describes it. Each LOG is a separate "
             "run, all of one program. With --learn, values that all logs share become exact "
             "limits; values that vary get headroom.",
    CLI_TAKES(struct gate_args, options, 2, UINT_MAX, "a budget and a log: BUDGET LOG", false),
    .folders = 2,
    .manual = CLI_MANUAL(
            .status = MANUAL_TERMS(
                {"0", "every limit holds"}, {"1", "a limit is broken"},
                {"2", "wrong arguments, or an invalid budget"},
                {"3", "no limit is broken, but some were not judged: a log is truncated or lost "
                      "records, lacks data that a limit needs, or is a sample that does not decide "
                      "it; or a file cannot be read or written"}),
            .environment = manual_of_terminal,
            .examples = MANUAL_TERMS(
                {"shadowtrace gate --learn budget.json run1.ndjson run2.ndjson", "make a budget"},
                {"shadowtrace gate budget.json run.ndjson", "check a run against it"},
                {"shadowtrace gate --also junit=gate.xml budget.json run.ndjson",
                 "also for a CI server"})));
