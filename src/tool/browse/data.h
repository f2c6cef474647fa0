/*
 * browse/data.h - the shown data: the model, its filtered part as trees, and the form of names,
 * amounts and files.
 *
 * Two trees: `plain` has every frame, and types as leaves; tables, callers and callees are computed
 * from it. `shown` is the tree that the user walks, with runs of framework code and recursion
 * folded on request; without folding it is the same tree.
 */
#ifndef SHADOWTRACE_BROWSE_DATA_H
#define SHADOWTRACE_BROWSE_DATA_H

#include "browse/filter.h"
#include "browse/search.h"
#include "command/sources.h"
#include "model/merged.h"
#include "model/names.h"
#include "model/own.h"
#include "model/tree.h"
#include "model/method_namespaces.h"

struct data_log { /* of several */
    const char *path;
    double weight[MODEL_WEIGHTS];
};

struct data {
    struct model *model; /* borrowed, with what model_know had */
    const struct data_log *logs;
    size_t log_count;
    struct sources sources; /* set by the command, from its options */
    enum names_style style;
    struct names *names[NAMES_RAW + 1]; /* short and full ones always: filters mean both */
    struct namespaces *namespaces;      /* NULL until data_namespaces */
    struct filter *filter;
    bool own, fold, recursion; /* only own code; framework folded; recursion folded */
    enum model_weight sort;    /* MODEL_BYTES or MODEL_ALLOCS */
    struct search search;
    struct model_tree *plain, *shown;
    bool incomplete; /* something is missing of the logs */
};

/* data_init - nothing filtered. Returns: 0 or -ENOMEM; data_fini even then. */
int data_init(struct data *d, struct model *model, const struct data_log *logs, size_t log_count);
void data_fini(struct data *d);

/*
 * data_select - by what is typed and whether only own code; data_shape - how `shown` is folded.
 * Returns: 0; -EINVAL, -ENOENT: one line in why; -ENOMEM. On failure all is as it was.
 */
int data_select(struct data *d, const char *filter, bool own, char *why, size_t why_size);
int data_shape(struct data *d, bool fold, bool recursion);

/* data_style - other names. Returns: 0 or -ENOMEM. */
int data_style(struct data *d, enum names_style style);

/* data_namespaces - before namespaces are asked for. Returns: 0 or -ENOMEM. */
int data_namespaces(struct data *d);

double data_total(const struct data *d, enum model_weight weight); /* of what is let through */

/*
 * Sums of what a row is of, by enum model_weight: bytes, objects, and of estimates their variances
 * and what they rest on. data_add - a node's, of the columns that its tree has. data_all - of what
 * is let through. data_mixes - estimated objects of several sizes: how many is as good as unknown.
 */
#define DATA_SUMS (MODEL_SEEN_BYTES + 1)
void data_add(double sums[DATA_SUMS], double *const columns[MODEL_WEIGHTS], uint32_t node);
void data_all(const struct data *d, double sums[DATA_SUMS]);
bool data_mixes(const double sums[DATA_SUMS]);

/*
 * data_amount - "21.1 MB", "213,197"; an estimate with a tilde. data_sum - the same of sums; "-":
 * of objects that mix. data_range - in which the exact bytes lie, "20.1M-22.3M"; "" where there is
 * no range. data_share - of the total.
 */
struct data_number {
    char text[48];
};
const char *data_sum(const struct data *d, struct data_number *to, enum model_weight weight,
                     const double sums[DATA_SUMS]);
const char *data_range(const struct data *d, struct data_number *to, const double sums[DATA_SUMS]);
bool data_has_ranges(const struct data *d);
const char *data_amount(const struct data *d, struct data_number *to, enum model_weight weight,
                        double amount);
const char *data_share(const struct data *d, struct data_number *to, double amount);

/* data_place - what a place is called, of a type its name. Text in *b. */
const char *data_place(const struct data *d, const struct model_place *place, struct buffer *out);

/* data_hits - whether the search finds a place. */
bool data_hits(const struct data *d, const struct model_place *place);

/* What is under the cursor. */
enum target_kind {
    TARGET_NONE,
    TARGET_METHOD,
    TARGET_TYPE,
    TARGET_LINE,
    TARGET_THREAD,
    TARGET_MODULE,
    TARGET_NAMESPACE,
    TARGET_SLICE /* of time */
};
struct target {
    enum target_kind kind;
    uint32_t number;          /* of a method, class, thread + 1, module, namespace, slice */
    const char *file;         /* of a line, and of a method if it is known */
    uint32_t line, line_last; /* as in struct model_place */
};

void data_target(const struct model_place *p, struct target *out);
/* data_file_line - "File.cs:12", or "". Text in *b. */
const char *data_file_line(const struct target *t, struct buffer *b);

/* data_places - those of `plain` that a target means. Returns: 0 or -ENOMEM; *out to be freed. */
int data_places(const struct data *d, const struct target *t, uint32_t **out, size_t *count);

/* data_target_text - "string", "Program.Main", "Program.cs:12"; text in *b. */
const char *data_target_text(const struct data *d, const struct target *t, struct buffer *out);

#endif
