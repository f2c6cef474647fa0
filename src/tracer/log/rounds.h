/*
 * log/rounds.h - the writer's rounds: what it takes from the rings, what waits, sums, and what
 * others want of it. The files are listed in the order in which they call each other, the callers
 * last.
 *
 * Threads: the writer.
 */
#ifndef SHADOWTRACE_LOG_ROUNDS_H
#define SHADOWTRACE_LOG_ROUNDS_H

#include "log/state.h"

/* deferred.c: log->deferred counts what is in all queues */
int log_deferred_push(struct log *log, struct log_deferred *queue, const struct event *event);
const struct event *log_deferred_oldest(const struct log_deferred *queue); /* NULL: none waits */
void log_deferred_pop(struct log *log, struct log_deferred *queue);
void log_deferred_free(struct log_deferred_block *blocks); /* log->spare */

/*
 * sites.c: --log sites
 * log_sites_swap  - starts to write the counts so far, unless the previous ones are being written.
 * log_sites_write - writes up to `limit` rows. Returns: whether all are written.
 * log_sites_swaps - the number of completed lots, except those with rows that were put back.
 * log_sites_flush - writes all. Returns: false: some wait for a name, or for the file.
 * log_sites_drop  - at the end: the rest is lost, and counted.
 */
int log_sites_new(struct log_sites **out);
void log_sites_free(struct log_sites *sites);
int log_sites_add(struct log *log, const struct log_thread *thread, const struct event *event,
                  double weight);
void log_sites_swap(struct log *log);
bool log_sites_write(struct log *log, size_t limit);
uint64_t log_sites_swaps(const struct log *log);
bool log_sites_flush(struct log *log);
void log_sites_drop(struct log *log);
/*
 * --live: log_sites_freeze - what became of objects up to the collection of these ticks is about to
 * be written; log_sites_write_past - what was allocated before it, first: whether all is;
 * log_sites_thaw - it is written.
 */
void log_sites_freeze(struct log *log, uint64_t ticks);
bool log_sites_write_past(struct log *log);
void log_sites_thaw(struct log *log);

/*
 * live.c: --live
 * log_live_write  - what the table has, at most once a second. Returns: false: some waits for a
 *                   name, for a ring that is new, or for the file. log_live_finish: all of it.
 * log_live_part   - a part begins: what is alive is written again. log_live_forget: as log_forget.
 */
int log_live_new(uint32_t grows_after, uint32_t max_nodes, struct log_live **out);
void log_live_free(struct log_live *live); /* NULL is fine */
bool log_live_write(struct log *log, uint64_t now);
bool log_live_finish(struct log *log);
void log_live_part(struct log *log);
void log_live_forget(struct log *log, const struct tree_list *nodes);
json_t *log_live_json(const struct log *log);

/* reports.c: check, lost, repair and the like, those that changed; log_lost returns their sum */
void log_write_reports(struct log *log, uint64_t t);
uint64_t log_lost(const struct log *log, uint64_t by[EVENT_LOST_REASONS], uint64_t *seen);

void log_lose(struct log *log,
              const struct log_tally *lost); /* put, but not in the file after all */

/* log.c: the first lines, to the file. Returns: 0; -ENOMEM, headless; or what the system says. */
int log_begin(struct log *log);

/* part.c: the next part begins; 0 or -errno, then the present one goes on */
int log_part_next(struct log *log, bool keep);
void log_part_begin(struct log *log); /* its header; everything must be defined again */

/*
 * fate.c: what others do to the file. log_fate_look - between rounds: checks the file, and starts
 * the log again if necessary. log_fate_end - at the end, for a file that was removed.
 */
void log_fate_look(struct log *log);
void log_fate_begin_anew(struct log *log);
void log_fate_end(struct log *log);
json_t *log_fate_json(const struct log *log); /* `file`; NULL: nothing happened */

/* message.c: log_messages_take - all that wait, oldest first */
void log_messages_take(struct log *log);
int log_ask(struct log *log, void (*answer)(struct log *log, struct log_message *message),
            uint32_t limit, char **out);

/* watch.c: log_watch_forget - what was unloaded */
void log_watch_add(struct log *log, const struct event *event, double weight);
void log_watch_expire(struct log *log, uint64_t now_ns);
void log_watch_forget(struct log *log);
void log_watch_free(struct log_watch *watch);

/* A call site in an answer, all of which has been named; log_put_row - as JSON. */
struct log_row {
    const struct metadata_class *class;
    uint32_t node, site;
    uint64_t allocs;
    double bytes; /* weighted */
};
void log_put_row(struct log *log, struct buffer *b, const struct log_row *row);
/*
 * log_answer_rows - a message with what b holds, which ends with the first of these rows; wanted
 * NULL: of all. Owns: b's text and order.
 */
void log_answer_rows(struct log *log, struct log_message *message, struct buffer *b,
                     struct log_row **order, size_t count,
                     bool (*wanted)(const struct log *log, const struct log_row *row));
int log_row_by_bytes(const void *a, const void *b); /* of two struct log_row *: most bytes first */

/* forget.c */
void log_grace_take(struct log *log);  /* begins what was asked for: after the rings were adopted */
void log_grace_check(struct log *log); /* at the end of a round */
static inline bool log_grace_waits(const struct log *log)
{
    return log->grace_begun != load_relaxed(&log->grace_over);
}

/* status.c: this process's file in the status folder. 0 or -ENOMEM */
int log_status_write(struct log *log, const char *state);
void log_status_unhandled(struct log *log, const json_t *line); /* what ends the process */

/* handle.c: one event. 0: it is done with, or lost and counted; -EAGAIN: it has to wait */
int log_handle(struct log *log, struct log_thread *thread, const struct event *event);

/* writer.c: the thread; log.c starts it */
void *log_writer(void *log);

#endif
