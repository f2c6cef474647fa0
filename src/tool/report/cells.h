/*
 * report/cells.h - the allocations of logs added up as they come, into cells: what was allocated on
 * one path, at one instruction, of one type, and so on as far as is asked for. The model of views
 * (model/model.h) is made of them.
 *
 *     report_cells_init -> report_cells_read (one or more logs) -> report_cells_logical (or not) ->
 *     report_cells_finish -> report_cells_fini
 *
 * Sums are doubles, which hold every integer of a log exactly (below 2^53).
 */
#ifndef SHADOWTRACE_REPORT_CELLS_H
#define SHADOWTRACE_REPORT_CELLS_H

#include "readers/log.h"
#include "readers/marks.h"
#include "report/live.h"
#include "report/logical.h"
#include "report/processes.h"

/* 40 bytes. Members that were not asked for are 0 (il: LOG_NO_IL) in all cells. */
struct report_cell {
    uint32_t path; /* of log_defs */
    int32_t il;    /* in the path's leaf, or LOG_NO_IL */
    uint32_t class_number;
    union {
        uint32_t thread;  /* number of log_defs + 1; 0: not said */
        uint32_t process; /* the same of report_processes; never asked for together */
    };
    uint32_t slice;
    uint8_t heap, size;   /* enum sst_heap; power of two at or below the size of one object */
    bool unoptimised;     /* made by unoptimised code only */
    double bytes, allocs; /* of sampled logs: estimates */
};

/* Beside each cell once a log proves sampled: variances (report/estimate.h), and what was seen. */
struct report_cell_sampled {
    double bytes_variance, allocs_variance, bytes, allocs;
};

static inline void report_cell_sampled_add(struct report_cell_sampled *to,
                                           const struct report_cell_sampled *more)
{
    to->bytes_variance += more->bytes_variance;
    to->allocs_variance += more->allocs_variance;
    to->bytes += more->bytes;
    to->allocs += more->allocs;
}

/* Of all that was read, whatever the cells are kept of. */
struct report_cell_sum {
    double bytes, allocs, unoptimised;
    struct report_cell_sampled sampled; /* all 0 if nothing was */
};

/* One allocation. cell: an index of `joined`; thread: the system's id, 0 not known. */
struct report_cell_event {
    uint64_t t; /* ns */
    double bytes, allocs;
    uint32_t cell, thread;
    bool large, site; /* site: it stands for all of a site (--log sites), which have no time */
};

struct report_cells_options {
    bool paths, ils, types, threads, processes, sizes; /* the key of cells */
    uint64_t slice_ns;                                 /* 0: time does not */
    unsigned slices_max; /* where there would be more, neighbours are joined; 0: 65,536 */
    /* Slices, of whole seconds, are those of the clock on the wall: the first began earlier. */
    bool by_clock;
    /*
     * The question about live objects; then cells have `lives`. instead: its amount replaces the
     * allocated amounts in bytes and allocs of the cells:
     *     AT, PEAK live; END live + beside; GROWN live - beside; TEMPORARY beside;
     *     LIFETIMES what was allocated up to the last collection
     */
    enum report_live_question live;
    bool instead;
    bool physical; /* inlined methods have no frames */
    /*
     * Called for each allocation that has a cell, in the log's order, while logs are read; not
     * together with slices. Returns: 0; anything else ends the reading. NULL: not needed.
     */
    int (*event)(void *context, const struct report_cell_event *event);
    void *event_context;
};

struct report_cells {
    struct report_cells_options options;
    struct log_defs defs;
    struct log_input log;
    struct log_consumer consumer; /* its progress is the caller's to set */
    struct report_logical_basis basis;
    struct report_processes processes;
    struct log_recording recording;  /* of the log being read */
    const struct log_window *window; /* NULL: all of the log */
    bool windowed;                   /* some log had one */
    struct report_cell *cells;
    struct report_cell_sampled *sampled; /* NULL until the first weight */
    struct report_live_sums *lives;      /* NULL unless asked for */
    struct report_live_spread *spreads;  /* the same, of estimates */
    size_t count, capacity, sampled_capacity, lives_capacity, spreads_capacity;
    struct index index;
    struct report_live live; /* its deaths are by cell once all is read */
    bool live_settled;
    uint32_t *joined; /* by cell as events have it: its number when all is read; NULL: not needed */
    struct report_cell_pending *batch;
    size_t batched;
    uint64_t slice_ns, duration; /* ns of a slice; of the longest recording, 0 not said */
    uint64_t ahead;              /* ns of slice 0 before the recording being read began */
    struct report_cell_sum heaps[SST_HEAP_COUNT];
    struct report_live_sums live_sum; /* of all cells, once all is read */
    struct report_live_spread live_spread;
};

/* report_cells_init - Returns: 0 or -ENOMEM. Owns: problems are borrowed. */
int report_cells_init(struct report_cells *c, const struct report_cells_options *options,
                      struct log_problems *problems);
void report_cells_fini(struct report_cells *c); /* also after a failed init */

/* report_cells_ask - before anything is read: that question, instead of what was allocated. */
void report_cells_ask(struct report_cells *c, enum report_live_question question);

/* report_cells_take - one record, whose definitions are taken. Returns: as a consumer's record. */
int report_cells_take(struct report_cells *c, const struct log_record *record);

/* report_cells_flush - all that was taken so far is in the cells. Returns: 0 or -ENOMEM. */
int report_cells_flush(struct report_cells *c);

/*
 * report_cells_forget - removes the cells of slices before that one; sums over all that was read
 * stay. Not together with events or live objects. Returns: 0 or -ENOMEM.
 */
int report_cells_forget(struct report_cells *c, uint32_t slice);

/*
 * report_cells_window - of the logs read next only what lies within (borrowed); NULL: all.
 * report_cells_spans  - of the log read next: what the question is about (borrowed); NULL: all, and
 * what was allocated behind the last collection goes by the order of lines.
 * report_cells_read   - Returns: as log_input_read.
 */
void report_cells_window(struct report_cells *c, const struct log_window *window);
void report_cells_spans(struct report_cells *c, const struct report_live_spans *spans);
int report_cells_read(struct report_cells *c, const char *path);
int report_cells_read_lines(struct report_cells *c, struct log_lines *lines, const char *file);

/* report_cells_put - one record that no file has: log_input_take. */
int report_cells_put(struct report_cells *c, const struct log_record *record);

/*
 * report_cells_logical - paths become logical ones (report/logical.h).
 * report_cells_finish  - none comes any more: each key is one cell. Both return: 0 or -ENOMEM.
 */
int report_cells_logical(struct report_cells *c);
int report_cells_finish(struct report_cells *c);

#endif
