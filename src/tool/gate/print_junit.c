/*
 * JUnit XML as Jenkins, GitLab, Azure and GitHub's reporters read it: a test case for each limit
 * and measure. Source: the schema of Jenkins' xunit plugin (junit-10.xsd).
 */
#include "gate/print.h"

#include "command/xml.h"

static void put_attribute(struct buffer *b, const char *name, const struct buffer *value)
{
    buffer_format(b, " %s=\"", name);
    xml_text(b, value->data ? value->data : "");
    buffer_char(b, '"');
}

/* <failure> for what is broken, <error> for what was not judged. */
static void put_outcome(const struct gate_print *p, const struct gate_finding *finding,
                        struct buffer *message, struct buffer *out)
{
    const char *tag = finding->verdict == GATE_BROKEN ? "failure" : "error";
    uint32_t line;
    const char *file = print_file(p, finding, &line);

    buffer_clear(message);
    print_statement(p->j, finding, message);
    buffer_format(out, ">\n   <%s", tag);
    put_attribute(out, "message", message);
    buffer_format(out, " type=\"%s\">", print_rule(p->j, finding));
    buffer_clear(message);
    buffer_clean(message, file);
    xml_text(out, message->data ? message->data : "");
    buffer_format(out, ":%u", line);
    if (finding->text && *finding->text) {
        buffer_clear(message);
        buffer_clean(message, finding->text);
        buffer_text(out, "\n| ");
        xml_text(out, message->data ? message->data : "");
    }
    buffer_format(out, "</%s>\n  </testcase>\n", tag);
}

static void put_case(const struct gate_print *p, const struct gate_finding *finding,
                     struct buffer *scratch, struct buffer *out)
{
    buffer_clear(scratch);
    print_subject(p->j, finding, scratch);
    buffer_format(scratch, ": %s", budget_measure_words[finding->measure]);
    buffer_text(out, "  <testcase");
    put_attribute(out, "name", scratch);
    buffer_clear(scratch);
    buffer_text(scratch, "shadowtrace.gate.");
    buffer_text(scratch, print_rule(p->j, finding));
    put_attribute(out, "classname", scratch);
    buffer_text(out, " time=\"0\"");
    if (finding->verdict == GATE_HELD)
        buffer_text(out, "/>\n");
    else
        put_outcome(p, finding, scratch, out);
    scratch->failed = scratch->failed || out->failed;
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
