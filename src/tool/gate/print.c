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

const char *print_rule(const struct gate_judgement *j, const struct gate_finding *f)
{
    static const char *const rules[][BUDGET_MEASURES] = {
        [BUDGET_WHOLE] = {"whole-objects", "whole-bytes", "whole-live-objects", "whole-live-bytes"},
        [BUDGET_LINE] = {"line-objects", "line-bytes", "line-live-objects", "line-live-bytes"},
        [BUDGET_OTHER_LINES] = {"new-line-objects", "new-line-bytes", "new-line-live-objects",
                                "new-line-live-bytes"},
        [BUDGET_METHOD] = {"method-objects", "method-bytes", "method-live-objects",
                           "method-live-bytes"},
        [BUDGET_TYPE] = {"type-objects", "type-bytes", "type-live-objects", "type-live-bytes"}};

    return rules[j->budget->limits[f->limit].of][f->measure];
}

const struct gate_finding *print_next(const struct gate_judgement *j, size_t *at)
{
    while (*at < j->count && j->findings[*at].verdict == GATE_HELD)
        ++*at;
    return *at < j->count ? &j->findings[(*at)++] : NULL;
}

const char *print_file(const struct gate_print *p, const struct gate_finding *f, uint32_t *line)
{
    *line = f->path && f->line ? f->line : 1;
    return f->path ? f->path : p->path;
}

/* What a finding is of; of a line that no limit names as its limit will be once it is learned. */
static struct budget_limit limit_of(const struct gate_judgement *j, const struct gate_finding *f)
{
    struct budget_limit limit = j->budget->limits[f->limit];

    if (f->is_other) {
        limit.of = BUDGET_LINE;
        limit.method = f->method;
        limit.file = f->path;
        limit.text = f->text;
        limit.line = f->line;
    }
    if (limit.text)
        limit.line = 0;
    return limit;
}

/* Findings before this one that have its key: lines of one method with the same text. */
static size_t alike_before(const struct gate_judgement *j, const struct gate_finding *f)
{
    struct budget_limit limit = limit_of(j, f);
    size_t count = 0;

    for (const struct gate_finding *one = j->findings; limit.text && one < f; one++) {
        const struct budget_limit other = limit_of(j, one);

        count += one->measure == f->measure && budget_same_text(other.text, limit.text) &&
                 budget_same(&other, &limit);
    }
    return count;
}

void print_fingerprint(const struct gate_judgement *j, const struct gate_finding *f,
                       char out[PRINT_FINGERPRINT])
{
    struct budget_limit limit = limit_of(j, f);
    struct buffer key = BUFFER_INIT;
    struct symbols_sha256 hash;
    uint8_t digest[SYMBOLS_SHA256_SIZE];

    budget_limit_key(&limit, &key);
    buffer_format(&key, "|%s|%zu", budget_measure_keys[f->measure], alike_before(j, f));
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

void print_subject(const struct gate_judgement *j, const struct gate_finding *f, struct buffer *b)
{
    const struct budget_limit *l = &j->budget->limits[f->limit];

    if (l->of != BUDGET_LINE && !f->is_other) {
        clean_words(budget_limit_words, l, b);
        return;
    }
    if (f->path) {
        buffer_clean(b, f->path);
        if (f->line)
            buffer_format(b, ":%u", f->line);
        buffer_char(b, ' ');
    }
    buffer_clean(b, f->method ? f->method : "(a line that is not known)");
    if (l->type) {
        buffer_text(b, " of type ");
        buffer_clean(b, l->type);
    }
    clean_words(budget_part_words, l, b);
}

/* "1 object", "2,001 bytes", "about 5 (2 to 8) live objects". */
static void put_amount(const struct gate_finding *f, struct buffer *b)
{
    const char *word = budget_measure_words[f->measure];
    bool one = f->value >= 1 && f->value <= 1;

    if (isinf(f->high)) {
        buffer_text(b, "at least ");
        budget_number(ceil(f->low), b);
    } else if (f->sampled) {
        buffer_text(b, "about ");
        budget_number(floor(f->value + 0.5), b);
        buffer_text(b, " (");
        budget_number(floor(f->low), b);
        buffer_text(b, " to ");
        budget_number(ceil(f->high), b);
        buffer_text(b, ")");
    } else {
        budget_number(f->value, b);
    }
    buffer_char(b, ' ');
    buffer_append(b, word, strlen(word) - (one && !f->sampled));
}

static void put_broken(const struct gate_judgement *j, const struct gate_finding *f,
                       struct buffer *b)
{
    const struct budget_limit *l = &j->budget->limits[f->limit];

    put_amount(f, b);
    if (f->is_other && f->max <= 0) {
        buffer_text(b, " at a line that the budget does not have");
        return;
    }
    buffer_text(b, ", the budget allows ");
    budget_number(f->max, b);
    if (f->is_other)
        buffer_text(b, " at a line that it does not have");
    if (l->bounds[f->measure].over_baseline) {
        buffer_text(b, " (");
        print_bound(l, f->measure, b);
        buffer_char(b, ')');
    }
}

void print_statement(const struct gate_judgement *j, const struct gate_finding *f, struct buffer *b)
{
    if (f->verdict == GATE_NOT_JUDGED) {
        buffer_clean(b, f->why ? f->why : "");
    } else if (f->verdict == GATE_BROKEN) {
        put_broken(j, f, b);
    } else {
        put_amount(f, b);
        buffer_text(b, " at most ");
        budget_number(f->max, b);
    }
    if (j->logs > 1 && f->verdict != GATE_HELD) {
        buffer_format(b, " (%zu of %zu logs, %s", f->logs, j->logs, f->logs > 1 ? "most in " : "");
        buffer_clean(b, f->log);
        buffer_char(b, ')');
    }
}

void print_description(const struct gate_judgement *j, const struct gate_finding *f,
                       struct buffer *b)
{
    if (f->verdict == GATE_NOT_JUDGED)
        buffer_text(b, "not judged, ");
    print_statement(j, f, b);
    buffer_text(b, ": ");
    print_subject(j, f, b);
}

void print_outcome(const struct gate_judgement *j, struct buffer *b)
{
    size_t broken = j->verdicts[GATE_BROKEN], open = j->verdicts[GATE_NOT_JUDGED];

    buffer_format(b, "%zu held", j->verdicts[GATE_HELD]);
    if (broken)
        buffer_format(b, ", %zu broken", broken);
    if (open)
        buffer_format(b, ", %zu not judged", open);
    buffer_format(b, "; %zu log%s", j->logs, text_plural(j->logs));
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
