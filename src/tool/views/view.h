/*
 * views/view.h - the views of `report --view`: each is a walk over a model's tree, in text and in
 * JSON. What they share: the options, the logs as they were read, amounts, names, places.
 *
 *     view_load -> view_overview | view_flat | view_calls | ... -> view_unload
 */
#ifndef SHADOWTRACE_VIEWS_VIEW_H
#define SHADOWTRACE_VIEWS_VIEW_H

#include "command/loading.h"
#include "model/places.h"
#include "model/rows.h"
#include "terminal/fit.h"
#include "terminal/table.h"
#include "views/print_stack.h"

/*
 * All there is to a view whose rows are of one key; text, JSON, help and `browse` follow from it.
 * X(enumerator, word of --view, word of `by` in JSON, what a row is of, REPORT_LIVE_* asked,
 *   MODEL_BY_* of its rows, their form (view_flat.c), its key in `browse` or 0, its help)
 * Those from LIVE on ask of live objects (report/live.h): their rows are of any flat view, by --by;
 * lifetimes without it are by generation and age. VIEWS_MORE: a test's.
 */
#ifndef VIEWS_MORE
#define VIEWS_MORE(X)
#endif
#define VIEWS(X) \
    X(OVERVIEW, "overview", "own", "line", NONE, OWN, line, '1', \
      ": the largest rows of several views") \
    X(TREE, "tree", "frame", "frame", NONE, NOTHING, none, '2', \
      ": from the outermost callers down, with the hottest path open") \
    X(CALLERS, "callers", "frame", "frame", NONE, NOTHING, none, 0, \
      ": callers of METHOD, or what makes a type") \
    X(CALLEES, "callees", "frame", "frame", NONE, NOTHING, none, 0, ": of METHOD") \
    X(SITES, "sites", "site", "call site", NONE, SITE, site, 0, " (call paths)") \
    X(TYPES, "types", "type", "type", NONE, TYPE, type, '3', "") \
    X(METHODS, "methods", "method", "method", NONE, METHOD, method, '4', "") \
    X(LINES, "lines", "line", "line", NONE, LINE, line, '5', "") \
    X(MODULES, "modules", "module", "module", NONE, MODULE, module, '6', "") \
    X(NAMESPACES, "namespaces", "namespace", "namespace", NONE, NAMESPACE, namespace, '8', "") \
    X(THREADS, "threads", "thread", "thread", NONE, THREAD, thread, '7', "") \
    X(PROCESSES, "processes", "process", "process", NONE, PROCESS, process, 0, \
      " (of several logs or a directory)") \
    X(SIZES, "sizes", "size", "size", NONE, SIZE, size, '9', " of objects, by heap") \
    X(TIME, "time", "time", "slice", NONE, SLICE, none, '0', ": slices of equal length") \
    X(OWN, "own", "own", "line", NONE, OWN, line, 0, " (lines of own code)") \
    X(LINE_TYPES, "line-types", "line", "line", NONE, LINE_TYPE, line_type, 0, " (lines by type)") \
    X(LIVE, "live", "", "", AT, NOTHING, none, 0, \
      ": objects alive after the last collection, or that of --at") \
    X(PEAK, "peak", "", "", PEAK, NOTHING, none, 0, ": after the collection that left most") \
    X(END, "end", "", "", END, NOTHING, none, 0, \
      ": after the last one, plus, as new, later allocations") \
    X(GROWN, "grown", "", "", GROWN, NOTHING, none, 0, ": alive at --to less alive at --from") \
    X(TEMPORARY, "temporary", "", "", TEMPORARY, NOTHING, none, 0, \
      ": dead at their first collection") \
    X(LIFETIMES, "lifetimes", "lifetime", "lifetime", LIFETIMES, NOTHING, none, 0, \
      ": the generation in which objects died, and the collections that they survived") \
    VIEWS_MORE(X)

#define VIEW_ENUMERATOR(name, ...) VIEW_##name,
enum view_kind { VIEWS(VIEW_ENUMERATOR) VIEW_COUNT };
#undef VIEW_ENUMERATOR

extern const char *const view_words[];                        /* ends with NULL */
enum report_live_question view_question(enum view_kind kind); /* NONE: of allocations */
enum model_key view_key(enum view_kind kind); /* NOTHING: its rows are not of one key */
char view_browse_key(enum view_kind kind);    /* 0: none */
const char *view_by(enum view_kind kind);
const char *view_row_word(enum view_kind kind);
const char *view_row_words(enum view_kind kind, uint64_t count); /* "process", "processes" */

extern const char *const view_sorts[]; /* words of --sort, by enum model_sort */

struct view {
    /* Set by the caller. */
    const struct cli_command *command;
    enum view_kind kind;                /* what rows are of */
    enum view_kind live;                /* the view that asks of live objects; 0: none does */
    enum report_live_question question; /* its */
    const char *at;                     /* of VIEW_LIVE: --at; NULL: the last collection */
    enum reading_format format;         /* folded: of sites only */
    enum model_sort sort;
    const char *of;             /* of callers and callees: a method or type, maybe a glob */
    char **logs;                /* NULL ends them */
    char **typed;               /* the same, as one would type them; NULL: as they are */
    struct loading_options how; /* but its dimensions */
    struct model_filter filter;
    struct print_stack stack; /* of JSON; without tables whole stacks stand in the rows */
    bool all_frames, wide, links, urls, filtered, depth_given, top_given;
    bool compared; /* with other logs: rows have what they allocate themselves, and no calls */
    const struct loading *beside; /* another log: names must differ from its names; NULL: none */
    bool lenient; /* what the log does not have is no error: rows say that they do not know */
    enum names_style style;
    uint64_t top, depth, min_bytes; /* top and depth: 0 all */
    double min_share;               /* 0 to 1; below 0: not given */
    /* Made by view_load. */
    struct loading read;
    struct model_tree *tree;
    struct places *frames;       /* of sites */
    bool *of_methods, *of_types; /* by number: those that `of` means; NULL: none */
    double sum[MODEL_WEIGHTS];   /* of what the filter lets through */
    struct buffer own_modules;   /* names of the modules that count as own */
};

/*
 * view_load - reads the logs, and makes the tree that the view walks over. Returns: the exit
 * status; a line has said what is wrong.
 * view_unload - also after a failure.
 * view_tree - another tree, of the same filter. Returns: 0 or -ENOMEM.
 * view_steady - once loaded: from here on without what only unoptimised code makes. Returns: the
 * exit status.
 */
int view_load(struct view *v);
int view_steady(struct view *v);
void view_unload(struct view *v);
int view_tree(struct view *v, const struct model_shape *shape, struct model_tree **out);

/*
 * view_needs - whether the log has what the view is of. Returns: the exit status; a line has said
 * what is missing, and which option gives it.
 */
int view_needs(const struct view *v);

/* ---- amounts ---- */

/* view_amount - of a row's weights, as `report` has always told them: estimates with intervals. */
void view_amount(const struct view *v, const double *weights, struct model_amount *out);
void view_all(const struct view *v, struct model_amount *out); /* of all, whatever the filter */
void view_amounts_json(const struct model_amount *amount, struct json_writer *w);
void view_range_json(const char *key, const struct report_amount *range, struct json_writer *w);
void view_total_range_json(const struct model_amount *total, struct json_writer *w);
/* "1.2M-3.4M" in b; NULL where it is no estimate, or its error is not known. */
const char *view_range_text(const struct model_amount *amount, struct buffer *b);
/* view_total_json - the member total: of all and, with a filter, of what it left out, too. */
void view_total_json(const struct view *v, struct json_writer *w);
double view_share(const struct view *v, double bytes); /* of the filtered total */

/* ---- names ---- */

const char *view_class(const struct view *v, uint32_t class_number);
/* Of a place, whatever it is: "[System.Linq, 3 frames]". b: where a made one lies. */
const char *view_place(const struct view *v, const struct model_place *p, struct buffer *b);
/* "File.cs:12" in b, "" for no line; whole paths with wide. */
const char *view_where(const struct view *v, const struct model_place *p, struct buffer *b);
/* A link for terminals in b, or NULL: none is wanted or the file is not there. */
const char *view_link(const struct view *v, const struct model_place *p, struct buffer *b);
/* With --urls, the address of a place by Source Link, on a separate line, if it has one. */
void view_url(const struct view *v, const struct model_place *p, size_t indent, FILE *out);
/* As members method, module, own, file and line, or name and frames, of the object open in w. */
void view_place_json(const struct view *v, const struct model_place *p, struct json_writer *w);

/* view_quote - as a word of a shell, appended. view_logs - the logs, as one would type them. */
void view_quote(const char *text, struct buffer *b);
void view_logs(const struct view *v, struct buffer *b);

/* ---- what stands around the rows ---- */

/* view_head - total, selected, estimates, heaps; of a live question view_live_head.
 * view_foot - whether the log is complete. */
void view_head(const struct view *v, FILE *out);
void view_foot(const struct view *v, FILE *out);
const char *view_word(const struct view *v); /* of --view */
/* Why a log without allocations has none: a sentence. */
const char *view_empty(const struct view *v);
/* view_begin_json - an object, and all its members before the rows. */
void view_begin_json(const struct view *v, size_t row_count, struct json_writer *w);
struct table_look view_look(const struct view *v, FILE *out);

/* view_stack_text - the frames of a site, a line each; runs of others' code are one. */
void view_stack_text(const struct view *v, const struct model_row *site, const char *indent,
                     FILE *out);

/* ---- the views. Return: 0 or -ENOMEM ---- */

int view_overview(struct view *v, FILE *out);
int view_flat(struct view *v, FILE *out);
int view_paths(struct view *v, FILE *out); /* tree, callers, callees */
int view_time(struct view *v, FILE *out);
int view_lifetimes(struct view *v, FILE *out); /* of all objects, by generation and age */

/* ---- what a view of live objects says around its rows, trees of them, too ---- */

struct view_signed {
    char text[40];
};

/* view_live_amount - "1,234"; "+1,234" or "-1,234" of what has grown. */
const char *view_live_amount(const struct view *v, double value, struct view_signed *to);
const char *view_live_heading(const struct view *v); /* of the column of bytes */
/* view_live_range - of the bytes that the question is about. Returns: are they estimates? */
bool view_live_range(const struct view *v, const double *weights, struct report_amount *out);
const char *view_live_range_text(const struct view *v, const struct report_amount *range,
                                 struct view_signed *to);
/* view_live_head, view_live_total_json - as view_head and view_total_json, which call them. */
void view_live_head(const struct view *v, FILE *out);
void view_live_total_json(const struct view *v, struct json_writer *w);
/* view_live_amounts_json - what the question is of, in the words of report_schema.json. */
void view_live_amounts_json(const struct view *v, const double *weights, struct json_writer *w);

#endif
