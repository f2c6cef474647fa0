/*
 * JUnit XML as Jenkins, GitLab, Azure and GitHub's reporters read it: a test case for each limit
 * and measure. Source: the schema of Jenkins' xunit plugin (junit-10.xsd).
 */
#include "gate/print.h"

#include "base/path.h"

#include "command/xml.h"

static void put_attribute(struct buffer *b, const char *name, const struct buffer *value)
{
    buffer_format(b, " %s=\"", name);
    xml_text(b, value->data ? value->data : "");
    buffer_char(b, '"');
}

/* <failure> for what is broken, <error> for what was not judged. */
static void put_outcome(const struct gate_print *p, const struct gate_finding *f,
                        struct buffer *message, struct buffer *b)
{
    const char *tag = f->verdict == GATE_BROKEN ? "failure" : "error";
    uint32_t line;
    const char *file = print_file(p, f, &line);

    buffer_clear(message);
    print_statement(p->j, f, message);
    buffer_format(b, ">\n   <%s", tag);
    put_attribute(b, "message", message);
    buffer_format(b, " type=\"%s\">", print_rule(p->j, f));
    buffer_clear(message);
    buffer_clean(message, file);
    xml_text(b, message->data ? message->data : "");
    buffer_format(b, ":%u", line);
    if (f->text && *f->text) {
        buffer_clear(message);
        buffer_clean(message, f->text);
        buffer_text(b, "\n| ");
        xml_text(b, message->data ? message->data : "");
    }
    buffer_format(b, "</%s>\n  </testcase>\n", tag);
}

static void put_case(const struct gate_print *p, const struct gate_finding *f,
                     struct buffer *scratch, struct buffer *b)
{
    buffer_clear(scratch);
    print_subject(p->j, f, scratch);
    buffer_format(scratch, ": %s", budget_measure_words[f->measure]);
    buffer_text(b, "  <testcase");
    put_attribute(b, "name", scratch);
    buffer_clear(scratch);
    buffer_text(scratch, "shadowtrace.gate.");
    buffer_text(scratch, print_rule(p->j, f));
    put_attribute(b, "classname", scratch);
    buffer_text(b, " time=\"0\"");
    if (f->verdict == GATE_HELD)
        buffer_text(b, "/>\n");
    else
        put_outcome(p, f, scratch, b);
    scratch->failed = scratch->failed || b->failed;
}

int print_junit(const struct gate_print *p, FILE *out)
{
    const struct gate_judgement *j = p->j;
    struct buffer b = BUFFER_INIT, scratch = BUFFER_INIT;
    bool failed = false;
    char counts[160];

    snprintf(counts, sizeof(counts), "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"0\"",
             j->count, j->verdicts[GATE_BROKEN], j->verdicts[GATE_NOT_JUDGED]);
    buffer_format(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites %s>\n <testsuite",
                  counts);
    buffer_clean(&scratch, p->path);
    put_attribute(&b, "name", &scratch);
    buffer_format(&b, " skipped=\"0\" %s>\n", counts);
    for (size_t i = 0; i < j->count; i++) {
        put_case(p, &j->findings[i], &scratch, &b);
        fwrite(b.data ? b.data : "", 1, b.size, out);
        failed = failed || b.failed || scratch.failed;
        buffer_clear(&b);
    }
    buffer_text(&b, " </testsuite>\n</testsuites>\n");
    fwrite(b.data ? b.data : "", 1, b.size, out);
    failed = failed || b.failed;
    buffer_free(&b);
    buffer_free(&scratch);
    return failed ? -ENOMEM : 0;
}
