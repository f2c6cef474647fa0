/*
 * model/model.h - what the allocations of logs weigh, by call path, type, thread and time: the one
 * table that every view, page and export is a walk over.
 *
 *     model_new -> model_read (one or more logs) -> model_finish -> model_know ->
 *     model_tree_new (as often as is asked) -> model_free
 *
 * The model keeps cells: what was allocated on one path, at one instruction, of one type, and as
 * far as `dimensions` asks for by one thread, in one slice of time, in one heap and size class. A
 * tree is made from the cells that a filter lets through, in the shape that a view wants (tree.h).
 *
 * Weights are columns of doubles, which hold every integer of a log exactly (below 2^53).
 *
 * Threads: one at a time.
 */
#ifndef SHADOWTRACE_MODEL_MODEL_H
#define SHADOWTRACE_MODEL_MODEL_H

#include "report/call_times.h"
#include "report/cells.h"
#include "report/estimate.h"
#include "report/source_lines.h"

/*
 * Columns. Of a sampled log bytes and allocs are estimates; the columns from MODEL_BYTES_VARIANCE
 * on say how good, and are 0 for exact logs: see report/estimate.h. Those from MODEL_LIVE_BYTES on
 * are of the live question, if there is one: see struct report_live_sums.
 */
enum model_weight {
    MODEL_BYTES,
    MODEL_ALLOCS,
    MODEL_UNOPTIMISED, /* of the bytes: what only unoptimised code makes */
    MODEL_ONCE,        /* the same: what is made once, by model_path_once */
    MODEL_BYTES_VARIANCE,
    MODEL_ALLOCS_VARIANCE,
    MODEL_SEEN_BYTES, /* that the log has: what an estimate rests on */
    MODEL_SAMPLED,    /* the same of objects */
    MODEL_LIVE_BYTES,
    MODEL_LIVE_ALLOCS,
    MODEL_BESIDE_BYTES,
    MODEL_BESIDE_ALLOCS,
    MODEL_LIVE_VARIANCE, /* of estimates: as struct report_live_spread has them */
    MODEL_BESIDE_VARIANCE,
    MODEL_LESS_BYTES,
    MODEL_OF_VARIANCE,
    MODEL_LESS_VARIANCE,
    MODEL_WEIGHTS
};

/* The key of a cell, besides path, instruction and type. Each member costs memory. */
struct model_dimensions {
    bool threads;
    bool processes; /* not together with threads */
    bool sizes;     /* heap, and power of two of the size of one object */
    bool no_paths;  /* cells of all paths are one: nothing is asked of frames or own code */
    unsigned marks; /* reserved: 0 */
    /*
     * The length of a time slice (0: no slices), counted from the beginning of each recording.
     * Allocations of `--log sites` have no time: slice 0. If there would be more slices than
     * `slices_max` (0: 65,536), neighbors are joined; model_slice_ns() has the resulting length.
     */
    uint64_t slice_ns;
    unsigned slices_max;
    /* Slices are whole ones of the clock on the wall: the first began before the recording. */
    bool by_clock;
};

struct model_options {
    struct model_dimensions dimensions;
    enum report_live_question live; /* what is asked of live objects */
    bool changes;                   /* model_live() keeps them, one by one; not with `instead` */
    bool instead;  /* and that amount stands in MODEL_BYTES and MODEL_ALLOCS: report/cells.h */
    bool physical; /* the machine's stacks; by default they are logical ones (report/logical.h) */
    bool calls;    /* model_calls() has their times; not of a window of a log */
    uint32_t calls_thread; /* those of one thread: id in the log; 0: of all */
    unsigned jobs;         /* threads that parse ahead */
    void (*progress)(void *context, uint64_t taken, uint64_t size); /* NULL none */
    void *progress_context;
    /* Gets each allocation, in the log's order, while logs are read; not together with slices.
     * Returns: 0; anything else ends the reading. NULL: not needed. */
    int (*event)(void *context, const struct report_cell_event *event);
    void *event_context;
};

struct model;

/* model_new - Returns: 0 or -ENOMEM. Owns: problems and options->progress_context are borrowed. */
int model_new(const struct model_options *options, struct log_problems *problems,
              struct model **out);
void model_free(struct model *m); /* NULL is fine */

/*
 * model_of_cells - a model of cells that somebody else has read and finished, as it is after
 * model_finish: for what asks a model. Returns: 0 or -ENOMEM. Owns: cells are borrowed until
 * model_free.
 */
int model_of_cells(struct report_cells *cells, struct model **out);

/*
 * model_read - adds a log; of it only what lies in `window` (NULL: all; borrowed until it returns).
 * Returns: as log_input_read.
 * model_spans - of the log that is added next: what the live question is about; borrowed until it
 * is read. Without it: all of it.
 */
void model_spans(struct model *m, const struct report_live_spans *spans);
void model_ask_nothing(struct model *m); /* of live objects, from here on */
int model_read(struct model *m, const char *path, const struct log_window *window);
int model_read_lines(struct model *m, struct log_lines *lines, const char *file,
                     const struct log_window *window);

/* model_cells - the table itself, for who fills it with what no log has. Before model_finish. */
struct report_cells *model_cells(struct model *m);

/*
 * model_finish - no reading after it. Paths become logical ones.
 * model_know   - own and lines may be NULL, are borrowed until model_free, and are made from
 *                model_defs() after model_finish, which adds methods. Before the first tree.
 * Both return: 0 or -ENOMEM.
 */
struct model_own; /* model/own.h */
int model_finish(struct model *m);
int model_know(struct model *m, const struct model_own *own, struct source_lines *lines);

/*
 * model_call - names that globs of filters mean, besides those of the log: the ones that are shown,
 * and full ones. Either may be NULL; borrowed until model_free.
 */
struct names; /* model/names.h */
void model_call(struct model *m, struct names *shown, struct names *full);
struct names *model_names(const struct model *m, bool full);

const struct log_defs *model_defs(const struct model *m);
const struct log_input *model_log(const struct model *m);
const struct model_own *model_own_code(const struct model *m); /* what model_know had; or NULL */
struct source_lines *model_source_lines(const struct model *m);

/*
 * By module: bytes allocated under its methods with nothing but framework between, as
 * model_own_nearest wants them. NULL before model_know, or without own.
 */
const double *model_module_bytes(const struct model *m);

/*
 * Whether a method is what a person looks for first: own code, or, where that makes next to nothing
 * (model_own_nearest), all that is no framework. False without own.
 */
bool model_is_near(const struct model *m, uint32_t method);
/*
 * model_path_once - whether what is made on a path is made once a process: in or below a static
 * constructor, a module's initializer, or what the runtime calls before Main. False before
 * model_know.
 */
bool model_path_once(const struct model *m, uint32_t path);
bool model_estimated(const struct model *m); /* some log was sampled */

/* All cells of all logs (report/cells.h); the model's. */
size_t model_cell_count(const struct model *m);
const struct report_cell *model_cell(const struct model *m, size_t i);
double model_cell_weight(const struct model *m, size_t i, enum model_weight weight);
bool model_has_weight(const struct model *m, enum model_weight weight); /* not 0 for all cells */

/* The cell that an event's has become: model_finish joins some. */
uint32_t model_event_cell(const struct model *m, uint32_t cell);

/* What was read of live objects (report/live.h): never NULL. Its deaths are by cell. */
const struct report_live *model_live(const struct model *m);

/* Calls and their times by method, with model_options.calls; else NULL. */
const struct report_call_times *model_calls(const struct model *m);

/* Weights as they are shown; estimates have ranges. */
struct model_amount {
    uint64_t allocs, bytes; /* rounded */
    struct report_amount allocs_range, bytes_range;
    double share; /* of a total's bytes, 0 to 1; the caller's to set */
    double once;  /* share of its bytes that is made once (model_path_once) */
    double
        unoptimised;  /* share of its bytes that only unoptimised code allocates (il0 of the log) */
    uint64_t sampled; /* events this rests on, if it is an estimate; else 0 */
    bool approximate; /* of ticks, which are not random: there is no range */
    bool mixed; /* an estimate of objects of several sizes: their number is as good as unknown */
};
void model_amount_of(const struct model *m, const double weights[MODEL_WEIGHTS],
                     struct model_amount *out);

/* Sums over all cells; and over those of one heap (not of live weights). */
double model_weight_total(const struct model *m, enum model_weight weight);
double model_heap_weight(const struct model *m, enum sst_heap heap, enum model_weight weight);

/* Time: slices of the whole, whatever filter. Slice i begins at i * model_slice_ns. */
unsigned model_slice_count(const struct model *m);
uint64_t model_slice_ns(const struct model *m);
bool model_untimed(const struct model *m); /* it has sums of sites alone, which have no times */
const struct report_processes *model_processes(const struct model *m);
uint64_t model_duration_ns(const struct model *m); /* the longest recording's; 0: not said */
#endif
