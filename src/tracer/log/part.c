#include "log/records.h"
#include "log/rounds.h"

#include <errno.h>
#include <string.h>

void log_part_begin(struct log *log)
{
    log->file.part_began = log->file.put;
    log_calls_part(log);
    log->part++;
    memset(log->calls_of, 0, sizeof(log->calls_of));
    log_ids_clear(&log->defined_threads);
    log_images_clear(&log->images);
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        thread->defined = false;
    if (++log->generation == 0) {
        log->generation = 1;
        tree_marks_clear(log->config.tree);
    }
    log_live_part(log);
    log->headless = log_write_header(log) != 0;
}

int log_part_next(struct log *log, bool keep)
{
    int err;

    if (log->live)
        log_live_finish(log);
    if (log->sites && !log_sites_flush(log))
        return -EAGAIN; /* their threads may have ended: they belong to this part */
    log_calls_flush_all(log);
    err = log_file_next(&log->file, keep);
    if (err)
        return err; /* the present one goes on */
    log_part_begin(log);
    return 0;
}
