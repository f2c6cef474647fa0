/*
 * gate/print.h - what was judged, in the forms that people, runners and forges read. Every form has
 * the same words, made once (print_subject, print_statement), in which what a terminal, a page or a
 * parser would act on is a question mark; each form then escapes what is its own.
 *
 * A limit that was not judged is an error in all of them, never a pass.
 */
#ifndef SHADOWTRACE_GATE_PRINT_H
#define SHADOWTRACE_GATE_PRINT_H

#include "gate/change.h"
#include "gate/judge.h"

struct gate_print {
    const char *path;                   /* of the budget, as it was named */
    const struct gate_judgement *j;     /* NULL: only a change of the budget is printed */
    const struct gate_changes *changes; /* since another budget; NULL: nobody asked */
    const char *was;                    /* that one's path */
    size_t width;                       /* of text; SIZE_MAX: nothing is cut */
};

enum gate_format {
    GATE_TEXT,
    GATE_JUNIT,
    GATE_SARIF,
    GATE_GITHUB,
    GATE_GITLAB,
    GATE_MARKDOWN,
    GATE_FORMATS
};
extern const char *const gate_format_words[]; /* ends with NULL */

/* print_gate - in that form. Returns: 0 or -ENOMEM; ask ferror() about the rest. */
int print_gate(const struct gate_print *p, enum gate_format format, FILE *out);

int print_text(const struct gate_print *p, FILE *out);
int print_junit(const struct gate_print *p, FILE *out);
int print_sarif(const struct gate_print *p, FILE *out);
int print_github(const struct gate_print *p, FILE *out);
int print_gitlab(const struct gate_print *p, FILE *out);
int print_markdown(const struct gate_print *p, FILE *out);

/* ---- words, cleaned: appended to b ---- */

/* "src/Cart.cs:12 Shop.Cart.Add(System.String)", "type Order", "all of it". */
void print_subject(const struct gate_judgement *j, const struct gate_finding *finding,
                   struct buffer *out);
/* "2,001 objects, the budget allows 2,000"; what a log lacks. */
void print_statement(const struct gate_judgement *j, const struct gate_finding *finding,
                     struct buffer *out);
/* Both: "2,001 objects, the budget allows 2,000: src/Cart.cs:12 ...", "not judged, ...: ...". */
void print_description(const struct gate_judgement *j, const struct gate_finding *finding,
                       struct buffer *out);
/* "12 held, 1 broken, 2 not judged; 3 logs". */
void print_outcome(const struct gate_judgement *j, struct buffer *out);
/* A bound, "2,000" or "baseline + 5%", of a limit that has one; "-" of none. */
void print_bound(const struct budget_limit *limit, enum budget_measure measure, struct buffer *b);

const char *print_verdict(enum gate_verdict verdict); /* "held", "not judged", "broken" */
const char *print_rule(const struct gate_judgement *j, const struct gate_finding *finding);
/* "line-objects": one word for each kind of limit and measure */

/* A file and line for forges that want one: of the finding, or the budget's own. */
const char *print_file(const struct gate_print *p, const struct gate_finding *finding,
                       uint32_t *line);

/* 32 hex digits that stay from run to run, whatever the amounts, and from line to line. */
#define PRINT_FINGERPRINT 33
void print_fingerprint(const struct gate_judgement *j, const struct gate_finding *finding,
                       char out[PRINT_FINGERPRINT]);

/* The next limit that does not hold, from *at on; NULL: no more. */
const struct gate_finding *print_next(const struct gate_judgement *j, size_t *at);

#endif
