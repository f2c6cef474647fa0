#include "views/views.h"
#include "command/print_complete.h"
#include "command/reading.h"
#include "command/rows.h"
#include "terminal/text.h"

#include "base/buffer.h"
#include "validate/validate.h"

#include <limits.h>
#include <string.h>

struct validate_args {
    enum reading_format format;
    struct reading_options reading;
    const char *schema;
};

#define ARGS_INTO struct validate_args
static const struct args_option options[] = {
    ROW_FORMAT,
    ARGS_ROW(TEXT, "schema", "FILE", schema, "use this schema instead of the built-in one"),
    ROW_QUIET, ARGS_END};

/* What came of one log. */
struct verdict {
    const char *path;
    struct report_validation v;
    struct log_problems problems;
    struct log_parts parts;
};

static void print_text(const struct verdict *d, FILE *out)
{
    const struct report_validation *v = &d->v;
    uint64_t allocs = v->records[SST_KIND_ALLOC] + v->records[SST_KIND_SITE];
    struct text_number a, b, c;
    char path[PATH_MAX];

    text_clean(path, sizeof(path), d->path);
    for (size_t i = 0; i < d->problems.kept_count; i++) {
        const struct log_problem *p = &d->problems.kept[i];

        text_print(out, p->file);
        fprintf(out, ":%llu: offset %llu: ", (unsigned long long)p->place.line,
                (unsigned long long)p->place.offset);
        text_print(out, p->text);
        putc('\n', out);
    }
    if (d->problems.count > d->problems.kept_count)
        fprintf(out, "%s: %s more problems of these kinds or others\n", path,
                text_count(&a, d->problems.count - d->problems.kept_count));
    fprintf(out, "%s: %s: %s lines, %s of them allocation records", path,
            !d->problems.count ? "valid" : "NOT VALID", text_count(&a, v->lines),
            text_count(&b, allocs));
    if (d->problems.count)
        fprintf(out, ", %s problem%s", text_count(&c, d->problems.count),
                d->problems.count == 1 ? "" : "s");
    if (v->unknown_records)
        fprintf(out, ", %s of kinds unknown here", text_count(&c, v->unknown_records));
    if (v->ended && !v->cut)
        fputs("; ended\n", out);
    else
        fprintf(out, "; not ended%s\n", v->cut ? " (cut within its last line)" : "");
    if (!log_complete(&v->gaps))
        fprintf(out, "%s: NOT COMPLETE:\n", path);
    print_gaps(&v->gaps, out);
}

static void print_json(const struct verdict *d, struct json_writer *w)
{
    const struct report_validation *v = &d->v;

    jw_object(w, NULL);
    jw_text(w, "file", d->path);
    jw_bool(w, "valid", d->problems.count == 0);
    jw_bool(w, "ended", v->ended);
    jw_bool(w, "cut", v->cut);
    jw_unsigned(w, "lines", v->lines);
    jw_unsigned(w, "bytes", v->bytes);
    jw_object(w, "records");
    for (int kind = 1; kind < SST_KIND_COUNT; kind++)
        jw_unsigned(w, log_kind_name((enum sst_kind)kind), v->records[kind]);
    jw_end(w);
    jw_unsigned(w, "unknown_records", v->unknown_records);
    print_problems_json(&d->problems, w);
    print_gaps_json(&v->gaps, w);
    jw_end(w);
}

/* w: what the verdict is added to; NULL: it is text for out. */
static int validate_one(const char *path, const struct report_schema *schema,
                        const struct reading_options *how, struct json_writer *w, FILE *out)
{
    struct verdict d = {.path = path};
    struct reading_progress progress;
    struct log_consumer shown = {.progress = reading_progress, .progress_context = &progress};
    int err, status = CLI_OK;

    log_problems_init(&d.problems);
    reading_progress_init(&progress, how);
    err = log_parts_find(path, &d.parts);
    if (!err)
        err = report_validate_parts(&d.parts, schema, &shown, &d.problems, &d.v);
    reading_progress_end(&progress);
    if (err) {
        cli_complain(&cmd_validate, err == -EPROTO ? "%s: %s" : "cannot read %s: %s", path,
                     err == -EPROTO ? d.v.why : reading_error(&cmd_validate, err));
        status = CLI_IO;
    } else if (w) {
        print_json(&d, w);
    } else {
        print_text(&d, out);
    }
    if (!status && d.problems.count)
        status = CLI_CHECK;
    log_problems_fini(&d.problems);
    log_parts_fini(&d.parts);
    return status;
}

static int schema_from(const char *path, struct report_schema **out)
{
    struct buffer text = BUFFER_INIT;
    int err = buffer_file(&text, path);
    char why[200];

    if (text.failed)
        err = -ENOMEM;
    if (err) {
        cli_complain(&cmd_validate, "cannot read %s: %s", path, strerror(-err));
    } else if (report_schema_new(text.data ? text.data : "", text.size, out, why, sizeof(why))) {
        cli_complain(&cmd_validate, "cannot use %s as a schema: %s", path, why);
        err = -EINVAL;
    }
    buffer_free(&text);
    return err ? CLI_IO : CLI_OK;
}

static int run(void *into, const struct args *args, FILE *out)
{
    const struct validate_args *a = into;
    struct report_schema *schema = NULL;
    bool json = a->format == READING_JSON;
    struct json_writer w;
    int status = a->schema ? schema_from(a->schema, &schema) : CLI_OK;

    if (status)
        return status;
    if (json) {
        jw_init(&w, out);
        jw_object(&w, NULL);
        jw_array(&w, "logs");
    }
    for (char **log = args->word; *log; log++) {
        int one = validate_one(*log, schema, &a->reading, json ? &w : NULL, out);

        status = one > status ? one : status;
    }
    if (json) {
        jw_end(&w);
        jw_end(&w);
        if (jw_finish(&w))
            status = cli_failed(&cmd_validate, -ENOMEM);
    }
    report_schema_free(schema);
    return status;
}

CLI_COMMAND(
    validate, "[options] LOG...", "check logs against the schema and the rules of the format",
    .about = "Checks every record against log_schema.json, and the log against rules that a schema "
             "cannot express: ids are defined before use, times of a thread do not decrease, the "
             "totals at the end match the log. A truncated log is valid up to its end. `-` is "
             "standard input. In text, a problem is FILE:LINE: offset BYTE: TEXT.",
    CLI_TAKES_LOGS(struct validate_args, options),
    .manual =
        CLI_MANUAL(.status = MANUAL_TERMS({"0", "the logs are valid"}, {"1", "a log has a problem"},
                                          MANUAL_STATUS_USAGE, MANUAL_STATUS_IO),
                   .environment = manual_of_terminal,
                   .files = MANUAL_TERMS({"PREFIX/share/shadowtrace/log_schema.json",
                                          "the schema, which the command has in itself, too"}),
                   .examples = MANUAL_TERMS({"shadowtrace validate app.ndjson", "check a log"},
                                            {"shadowtrace validate --quiet logs/*.ndjson",
                                             "check many"})));
