/*
 * gate/budget.h - a budget: what recordings of a program may allocate, as data. The file is JSON,
 * as include/shadowtrace/budget_schema.json says.
 *
 *   budget.h   the file, read and written
 *   lines.h    lines of own code, and which of them a budget means in another build
 *   select.h   which limits an allocation counts for
 *   spans.h    what was allocated between marks; calls.h: how often methods were called
 *   measure.h  what one log has of each limit
 *   learn.h    bounds from logs, and how far they vary
 *   judge.h    logs held against a budget: verdicts
 *   change.h   the difference of two budgets; replace.h: a new one in the place of the old
 *   print.h    verdicts as text, JUnit XML, SARIF, annotations, GitLab code quality, Markdown
 *
 * Names are those that stay from build to build: full names of methods and types. The number of a
 * line does not: any line written above it moves it. So a limit names a line by its method and its
 * text; lines.h tells how it is found again.
 */
#ifndef SHADOWTRACE_GATE_BUDGET_H
#define SHADOWTRACE_GATE_BUDGET_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BUDGET_VERSION 1

enum budget_of {
    BUDGET_WHOLE,
    BUDGET_LINE,
    BUDGET_OTHER_LINES, /* each line of own code that no limit of the same kind names */
    BUDGET_METHOD,      /* in or below it */
    BUDGET_TYPE
};

enum budget_per { BUDGET_RECORDING, BUDGET_CALL, BUDGET_SPAN };

/* Live: after the last collection, or at a mark; per span: grown from its beginning to its end. */
enum budget_measure {
    BUDGET_OBJECTS,
    BUDGET_BYTES,
    BUDGET_LIVE_OBJECTS,
    BUDGET_LIVE_BYTES,
    BUDGET_MEASURES
};
extern const char *const budget_measure_keys[BUDGET_MEASURES];
extern const char *const budget_measure_words[BUDGET_MEASURES];

static inline bool budget_measure_live(enum budget_measure measure)
{
    return measure >= BUDGET_LIVE_OBJECTS;
}

struct budget_bound {
    bool given;
    bool
        over_baseline; /* then `over`, which may be a percentage, says by how much; max is unused */
    bool percent;
    bool learned; /* least and most are known */
    double max, over;
    double least, most; /* that the logs had which it was learned from */
};

struct budget_limit {
    enum budget_of of;
    enum budget_per per;
    const char *method;         /* of a line its full name, else a full name or a glob; NULL none */
    const char *type;           /* full name or glob; NULL all */
    const char *file;           /* of a line, without folders */
    const char *text;           /* of a line: its source; NULL not known */
    uint32_t line_last;         /* of several lines that it may be the last; else 0 */
    uint32_t line;              /* 0: of those allocations of the method whose line is not known */
    const char *from, *to, *at; /* texts of marks; NULL none */
    struct budget_bound bounds[BUDGET_MEASURES];
};

struct budget_build {
    const char *module, *mvid;
};

struct budget {
    bool steady;
    uint64_t logs; /* it was learned from; 0: it was written by hand */
    struct budget_build *builds;
    size_t build_count, build_capacity;
    struct budget_limit *limits;
    size_t count, capacity;
    char **texts; /* all the texts above */
    size_t text_count, text_capacity;
};

void budget_init(struct budget *b); /* steady, without a limit */
void budget_free(struct budget *b);

/* budget_text - a copy that lives as long as the budget. NULL: of NULL, or without memory. */
const char *budget_text(struct budget *b, const char *text);

/*
 * budget_add - a limit, whose texts are copied. budget_build_add - unless the module is known.
 * Return: 0 or -ENOMEM.
 */
int budget_add(struct budget *b, const struct budget_limit *limit);
int budget_build_add(struct budget *b, const char *module, const char *mvid);
const char *budget_build_of(const struct budget *b, const char *module); /* mvid; NULL not known */

/*
 * budget_read - the file at path ("-": standard input) into *b, which was initialised.
 * Returns: 0; -EINVAL: it is no budget that this version understands, why says where and what is
 *          wrong; -errno of reading; -ENOMEM.
 * budget_parse - the same of text.
 */
int budget_read(const char *path, struct budget *b, char *why, size_t why_size);
int budget_parse(const char *text, size_t size, struct budget *b, char *why, size_t why_size);

/* budget_write - a line for each limit. Returns: 0 or -ENOMEM; ask ferror() about the rest. */
int budget_write(const struct budget *b, FILE *out);

/* Whether two limits are of the same thing, whatever their bounds; of a line also by its number. */
bool budget_same(const struct budget_limit *a, const struct budget_limit *limit);
/* Their order in a budget that was learned: parts, then lines by file and number; as qsort's. */
int budget_order(const struct budget_limit *a, const struct budget_limit *limit);
/* Whether both are of the same kind of sum: per, from, to and at. */
bool budget_same_part(const struct budget_limit *a, const struct budget_limit *limit);
bool budget_same_text(const char *a, const char *b); /* either may be NULL */

/*
 * In words for people, cleaned neither: "Cart.cs:12  Shop.Cart.Add(System.String)", "type Order",
 * then "of type T", "from "a" to "b"", "for each call".
 */
void budget_limit_words(const struct budget_limit *limit, struct buffer *out);
void budget_part_words(const struct budget_limit *limit, struct buffer *out); /* only those last */

/* The same as a key that stays: no line number where there is a text. For fingerprints. */
void budget_limit_key(const struct budget_limit *limit, struct buffer *out);

/* A number of a measure: whole ones as such, means with up to 3 digits. */
void budget_number(double value, struct buffer *b);

/* The schema as it ships. */
extern const char budget_schema_text[];
size_t budget_schema_size(void);

#endif
