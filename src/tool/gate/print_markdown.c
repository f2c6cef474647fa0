/*
 * A summary for a job's page ($GITHUB_STEP_SUMMARY, a comment of a merge request): tables in
 * GitHub's Markdown. Whatever a name holds is shown, and is no markup.
 */
#include "gate/print.h"

#include "terminal/text.h"

#define ROWS 100 /* of each table, then the number of the rest: a page takes at most 1 MiB */

/* Text in a cell: HTML and Markdown would act on these letters. */
static void put_plain(struct buffer *b, const char *text)
{
    for (; *text; text++) {
        if (strchr("&<>\"'|`*_{}[]()#+-!~\\@", *text))
            buffer_format(b, "&#%d;", *text);
        else
            buffer_char(b, *text);
    }
}

static void put_cell(struct buffer *b, struct buffer *text)
{
    buffer_text(b, "| ");
    put_plain(b, text->data ? text->data : "");
    buffer_char(b, ' ');
    b->failed = b->failed || text->failed;
    buffer_clear(text);
}

static void put_more(struct buffer *b, size_t count)
{
    if (count > ROWS)
        buffer_format(b, "\n… and %zu more.\n", count - ROWS);
}

static void put_findings(const struct gate_print *p, struct buffer *scratch, struct buffer *out)
{
    const struct gate_judgement *j = p->j;
    size_t at = 0, rows = 0, all = j->verdicts[GATE_BROKEN] + j->verdicts[GATE_NOT_JUDGED];
    const struct gate_finding *f;

    if (all)
        buffer_text(out, "\n| | where | what |\n|---|---|---|\n");
    while (rows++ < ROWS && (f = print_next(j, &at))) {
        buffer_format(out, "| %s ",
                      f->verdict == GATE_BROKEN ? ":x: broken" : ":grey_question: not judged");
        print_subject(j, f, scratch);
        put_cell(out, scratch);
        print_statement(j, f, scratch);
        put_cell(out, scratch);
        buffer_text(out, "|\n");
    }
    put_more(out, all);
}

static void put_changes(const struct gate_print *p, struct buffer *scratch, struct buffer *out)
{
    const struct gate_changes *c = p->changes;

    buffer_format(out, "\n### The budget: %zu bound%s changed\n", c->count, text_plural(c->count));
    if (c->count)
        buffer_text(out, "\n| of | | was | is |\n|---|---|---:|---:|\n");
    for (size_t i = 0; i < c->count && i < ROWS; i++) {
        const struct gate_change *one = &c->changes[i];
        struct buffer words = BUFFER_INIT;

        budget_limit_words(one->is ? one->is : one->was, &words);
        buffer_clean(scratch, words.data ? words.data : "");
        out->failed = out->failed || words.failed;
        buffer_free(&words);
        put_cell(out, scratch);
        buffer_format(out, "| %s ", budget_measure_words[one->measure]);
        print_bound(one->was, one->measure, scratch);
        put_cell(out, scratch);
        print_bound(one->is, one->measure, scratch);
        put_cell(out, scratch);
        buffer_text(out, "|\n");
    }
    put_more(out, c->count);
}

static const char *verdict_of(const struct gate_judgement *j)
{
    if (j->verdicts[GATE_BROKEN])
        return "Broken";
    return j->verdicts[GATE_NOT_JUDGED] ? "Not judged" : "Held";
}

int print_markdown(const struct gate_print *p, FILE *out)
{
    struct buffer b = BUFFER_INIT, scratch = BUFFER_INIT;
    bool failed;

    buffer_clean(&scratch, p->path);
    buffer_text(&b, "## Allocations against ");
    put_plain(&b, scratch.data ? scratch.data : "");
    buffer_clear(&scratch);
    buffer_char(&b, '\n');
    if (p->j) {
        print_outcome(p->j, &scratch);
        buffer_format(&b, "\n**%s**: %s.\n", verdict_of(p->j), scratch.data ? scratch.data : "");
        buffer_clear(&scratch);
        put_findings(p, &scratch, &b);
    }
    if (p->changes)
        put_changes(p, &scratch, &b);
    fwrite(b.data ? b.data : "", 1, b.size, out);
    failed = b.failed || scratch.failed;
    buffer_free(&b);
    buffer_free(&scratch);
    return failed ? -ENOMEM : 0;
}
