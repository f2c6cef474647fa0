#include "views/report_families.h"

#include "views/print_families.h"
#include "command/reading.h"
#include "terminal/text.h"

#include <errno.h>
#include <string.h>

static int print(const struct cli_command *command, const struct report_args *a,
                 const struct families_report *f, const struct report_problems *problems, FILE *out)
{
    struct print_families p = {
        .report = f, .problems = problems, .stack = a->print.stack, .top = a->print.top};
    struct report_stacks tables;
    int err = 0;

    report_stacks_init(&tables);
    p.stack.defs = &f->defs;
    p.stack.tables = a->inline_stacks ? NULL : &tables;
    if (!a->no_lines)
        err = reading_source_lines(command, &f->defs, &a->symbols, &f->log, &p.stack.lines);
    if (!err && a->format == READING_TEXT)
        print_families_text(&p, out);
    else if (!err && print_families_json(&p, out))
        err = -ENOMEM;
    source_lines_missing(p.stack.lines);
    source_lines_free(p.stack.lines);
    report_stacks_fini(&tables);
    if (err)
        cli_complain(command, "%s", strerror(-err));
    return err ? CLI_IO : CLI_OK;
}

int report_families_run(const struct cli_command *command, const struct report_args *a,
                        const char *path, FILE *out)
{
    struct reading_progress progress;
    struct report_problems problems;
    struct families_report f;
    int err, status;

    report_problems_init(&problems);
    err = families_report_init(&f, (enum families_topic)(a->topic - REPORT_FAMILIES), &problems);
    if (!err) {
        reading_progress_init(&progress, &a->reading);
        f.log.jobs = reading_threads(&a->reading);
        err = families_report_read(&f, path, reading_progress, &progress);
        reading_progress_end(&progress);
    }
    if (err) {
        status = reading_failed(command, path, &f.log, err);
    } else {
        reading_problems(command, &problems);
        status = print(command, a, &f, &problems, out);
    }
    families_report_fini(&f);
    report_problems_fini(&problems);
    return status;
}
