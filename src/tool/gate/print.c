#include "gate/print.h"

#include "symbols/sha256.h"
#include "terminal/text.h"

#include <math.h>

const char *const gate_format_words[] = {"text",   "junit",    "sarif", "github",
                                         "gitlab", "markdown", NULL};

int print_gate(const struct gate_print *p, enum gate_format format, FILE *out)
{
    static int (*const forms[GATE_FORMATS])(const struct gate_print *, FILE *) = {
        print_text, print_junit, print_sarif, print_github, print_gitlab, print_markdown};

    return forms[format](p, out);
}

const char *print_verdict(enum gate_verdict verdict)
{
    static const char *const words[GATE_VERDICTS] = {"held", "not judged", "broken"};

    return words[verdict];
}

const char *print_rule(const struct gate_judgement *j, const struct gate_finding *finding)
{
    static const char *const rules[][BUDGET_MEASURES] = {
        [BUDGET_WHOLE] = {"whole-objects", "whole-bytes", "whole-live-objects", "whole-live-bytes"},
        [BUDGET_LINE] = {"line-objects", "line-bytes", "line-live-objects", "line-live-bytes"},
        [BUDGET_OTHER_LINES] = {"new-line-objects", "new-line-bytes", "new-line-live-objects",
                                "new-line-live-bytes"},
        [BUDGET_METHOD] = {"method-objects", "method-bytes", "method-live-objects",
                           "method-live-bytes"},
        [BUDGET_TYPE] = {"type-objects", "type-bytes", "type-live-objects", "type-live-bytes"}};

    return rules[j->budget->limits[finding->limit].of][finding->measure];
}

const struct gate_finding *print_next(const struct gate_judgement *j, size_t *at)
{
    while (*at < j->count && j->findings[*at].verdict == GATE_HELD)
        ++*at;
    return *at < j->count ? &j->findings[(*at)++] : NULL;
}

const char *print_file(const struct gate_print *p, const struct gate_finding *finding,
                       uint32_t *line)
{
    *line = finding->path && finding->line ? finding->line : 1;
    return finding->path ? finding->path : p->path;
}

/* What a finding is of; of a line that no limit names as its limit will be once it is learned. */
static struct budget_limit limit_of(const struct gate_judgement *j,
                                    const struct gate_finding *finding)
{
    struct budget_limit limit = j->budget->limits[finding->limit];

    if (finding->is_other) {
        limit.of = BUDGET_LINE;
        limit.method = finding->method;
        limit.file = finding->path;
        limit.text = finding->text;
        limit.line = finding->line;
        limit.line_last = finding->line_last;
    }
    if (limit.text)
        limit.line = limit.line_last = 0;
    return limit;
}

/* Findings before this one that have its key: lines of one method with the same text. */
static size_t alike_before(const struct gate_judgement *j, const struct gate_finding *finding)
{
    struct budget_limit limit = limit_of(j, finding);
    size_t count = 0;

    for (const struct gate_finding *one = j->findings; limit.text && one < finding; one++) {
        const struct budget_limit other = limit_of(j, one);

        count += one->measure == finding->measure && budget_same_text(other.text, limit.text) &&
                 budget_same(&other, &limit);
    }
    return count;
}

void print_fingerprint(const struct gate_judgement *j, const struct gate_finding *finding,
                       char out[PRINT_FINGERPRINT])
{
    struct budget_limit limit = limit_of(j, finding);
    struct buffer key = BUFFER_INIT;
    struct symbols_sha256 hash;
    uint8_t digest[SYMBOLS_SHA256_SIZE];

    budget_limit_key(&limit, &key);
    buffer_format(&key, "|%s|%zu", budget_measure_keys[finding->measure], alike_before(j, finding));
    symbols_sha256_init(&hash);
    symbols_sha256_add(&hash, key.data ? key.data : "", key.size);
    symbols_sha256_fini(&hash, digest);
    for (size_t i = 0; i < (PRINT_FINGERPRINT - 1) / 2; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    buffer_free(&key);
}

/* ---- words ---- */

/* What budget.h says in words, cleaned. */
static void clean_words(void (*words)(const struct budget_limit *, struct buffer *),
                        const struct budget_limit *limit, struct buffer *b)
{
    struct buffer text = BUFFER_INIT;

    words(limit, &text);
    buffer_clean(b, text.data ? text.data : "");
    b->failed = b->failed || text.failed;
    buffer_free(&text);
}

void print_subject(const struct gate_judgement *j, const struct gate_finding *finding,
                   struct buffer *out)
{
    const struct budget_limit *l = &j->budget->limits[finding->limit];

    if (l->of != BUDGET_LINE && !finding->is_other) {
        clean_words(budget_limit_words, l, out);
        return;
    }
    if (finding->path) {
        buffer_clean(out, finding->path);
        source_line_put(out, finding->line, finding->line_last);
        buffer_char(out, ' ');
    }
    buffer_clean(out, finding->method ? finding->method : "(a line that is not known)");
    if (l->type) {
        buffer_text(out, " of type ");
        buffer_clean(out, l->type);
    }
    clean_words(budget_part_words, l, out);
}

/* "1 object", "2,001 bytes", "about 5 (2 to 8) live objects". */
static void put_amount(const struct gate_finding *f, struct buffer *out)
{
    const char *word = budget_measure_words[f->measure];
    bool one = f->value >= 1 && f->value <= 1;

    if (isinf(f->high)) {
        buffer_text(out, "at least ");
        budget_number(ceil(f->low), out);
    } else if (f->sampled) {
        buffer_text(out, "about ");
        budget_number(floor(f->value + 0.5), out);
        buffer_text(out, " (");
        budget_number(floor(f->low), out);
        buffer_text(out, " to ");
        budget_number(ceil(f->high), out);
        buffer_text(out, ")");
    } else {
        budget_number(f->value, out);
    }
    buffer_char(out, ' ');
    buffer_append(out, word, strlen(word) - (one && !f->sampled));
}

static void put_broken(const struct gate_judgement *j, const struct gate_finding *finding,
                       struct buffer *out)
{
    const struct budget_limit *l = &j->budget->limits[finding->limit];

    put_amount(finding, out);
    if (finding->is_other && finding->max <= 0) {
        buffer_text(out, " at a line that the budget does not have");
        return;
    }
    buffer_text(out, ", the budget allows ");
    budget_number(finding->max, out);
    if (finding->is_other)
        buffer_text(out, " at a line that it does not have");
    if (l->bounds[finding->measure].over_baseline) {
        buffer_text(out, " (");
        print_bound(l, finding->measure, out);
        buffer_char(out, ')');
    }
}

void print_statement(const struct gate_judgement *j, const struct gate_finding *finding,
                     struct buffer *out)
{
    if (finding->verdict == GATE_NOT_JUDGED) {
        buffer_clean(out, finding->why ? finding->why : "");
    } else if (finding->verdict == GATE_BROKEN) {
        put_broken(j, finding, out);
    } else {
        put_amount(finding, out);
        buffer_text(out, " at most ");
        budget_number(finding->max, out);
    }
    if (j->logs > 1 && finding->verdict != GATE_HELD) {
        buffer_format(out, " (%zu of %zu logs, %s", finding->logs, j->logs,
                      finding->logs > 1 ? "most in " : "");
        buffer_clean(out, finding->log);
        buffer_char(out, ')');
    }
}

void print_description(const struct gate_judgement *j, const struct gate_finding *finding,
                       struct buffer *out)
{
    if (finding->verdict == GATE_NOT_JUDGED)
        buffer_text(out, "not judged, ");
    print_statement(j, finding, out);
    buffer_text(out, ": ");
    print_subject(j, finding, out);
}

void print_outcome(const struct gate_judgement *j, struct buffer *out)
{
    size_t broken = j->verdicts[GATE_BROKEN], open = j->verdicts[GATE_NOT_JUDGED];

    buffer_format(out, "%zu held", j->verdicts[GATE_HELD]);
    if (broken)
        buffer_format(out, ", %zu broken", broken);
    if (open)
        buffer_format(out, ", %zu not judged", open);
    buffer_format(out, "; %zu log%s", j->logs, text_plural(j->logs));
}

void print_bound(const struct budget_limit *limit, enum budget_measure measure, struct buffer *b)
{
    const struct budget_bound *bound = limit ? &limit->bounds[measure] : NULL;

    if (!bound || !bound->given) {
        buffer_char(b, '-');
    } else if (!bound->over_baseline) {
        budget_number(bound->max, b);
    } else {
        buffer_text(b, "baseline + ");
        budget_number(bound->over, b);
        buffer_text(b, bound->percent ? "%" : "");
    }
}
