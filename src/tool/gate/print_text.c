/* For a person: what is broken and what was not judged, then the outcome in a line. */
#include "gate/print.h"

#include "args/args.h"
#include "terminal/text.h"

static void put_wrapped(struct buffer *b, size_t width, FILE *out)
{
    args_print_below(out, b->data ? b->data : "", 4, width);
    buffer_clear(b);
}

static void put_source(const struct gate_finding *f, size_t width, FILE *out)
{
    if (!f->text || !*f->text)
        return;
    fputs("  | ", out);
    text_elide(out, f->text, width > 24 ? width - 4 : 20);
    putc('\n', out);
}

/* What is said of one subject: once what is the same of its objects and bytes. */
struct said {
    struct buffer subject, message;
    enum gate_verdict verdict;
};

static bool say(struct buffer *before, const struct buffer *now)
{
    bool same = before->data && now->data && strcmp(before->data, now->data) == 0;

    if (!same) {
        buffer_clear(before);
        buffer_append(before, now->data ? now->data : "", now->size);
    }
    return !same;
}

static void put_finding(const struct gate_print *p, const struct gate_finding *finding,
                        struct said *said, struct buffer *b, FILE *out)
{
    const char *verdict = print_verdict(finding->verdict);
    bool begins;

    buffer_clear(b);
    print_subject(p->j, finding, b);
    begins = say(&said->subject, b) || finding->verdict != said->verdict;
    if (begins) {
        fprintf(out, "%s: ", verdict);
        args_print_text(out, b->data ? b->data : "", p->width - strlen(verdict) - 2);
        put_source(finding, p->width, out);
        buffer_clear(&said->message);
        said->verdict = finding->verdict;
    }
    buffer_clear(b);
    print_statement(p->j, finding, b);
    if (say(&said->message, b))
        put_wrapped(b, p->width, out);
}

static void put_change(const struct gate_change *c, size_t width, struct buffer *b, FILE *out)
{
    struct buffer subject = BUFFER_INIT;

    buffer_clear(b);
    budget_limit_words(c->is ? c->is : c->was, &subject);
    buffer_text(b, "  ");
    buffer_clean(b, subject.data ? subject.data : "");
    buffer_format(b, ": %s ", budget_measure_words[c->measure]);
    print_bound(c->was, c->measure, b);
    buffer_text(b, " -> ");
    print_bound(c->is, c->measure, b);
    text_elide(out, b->data ? b->data : "", width);
    putc('\n', out);
    b->failed = b->failed || subject.failed;
    buffer_free(&subject);
}

static void put_changes(const struct gate_print *p, struct buffer *b, FILE *out)
{
    struct text_number n;

    text_part(out, "", p->path, ": ");
    fprintf(out, "%s bound%s changed", text_count(&n, p->changes->count),
            text_plural(p->changes->count));
    text_part(out, " since ", p->was, "");
    fputs(p->changes->count ? ":\n" : ".\n", out);
    for (size_t i = 0; i < p->changes->count; i++)
        put_change(&p->changes->changes[i], p->width, b, out);
}

int print_text(const struct gate_print *p, FILE *out)
{
    struct said said = {BUFFER_INIT, BUFFER_INIT, GATE_HELD};
    struct buffer b = BUFFER_INIT;
    const struct gate_finding *f;
    size_t at = 0;
    int failed;

    while (p->j && (f = print_next(p->j, &at)))
        put_finding(p, f, &said, &b, out);
    if (p->j) {
        buffer_clear(&b);
        print_outcome(p->j, &b);
        text_part(out, "", p->path, ": ");
        fprintf(out, "%s.\n", b.data ? b.data : "");
    }
    if (p->changes)
        put_changes(p, &b, out);
    failed = b.failed || said.subject.failed || said.message.failed;
    buffer_free(&b);
    buffer_free(&said.subject);
    buffer_free(&said.message);
    return failed ? -ENOMEM : 0;
}
