#include "record/progress.h"

#include "base/clock.h"
#include "process/status.h"
#include "terminal/text.h"

#include <sys/stat.h>

#define CLEAR_LINE "\r\033[K"

void record_progress_start(struct record_progress *p, const char *folder, FILE *out)
{
    p->folder = folder;
    p->out = out;
    p->started = clock_ns();
    p->shown = 0;
}

void record_progress_tick(void *progress)
{
    struct record_progress *p = progress;
    uint64_t seconds = (clock_ns() - p->started) / 1000000000, bytes = 0;
    struct text_number size;
    struct record_processes processes;

    if (!record_status_read(p->folder, &processes)) {
        for (size_t i = 0; i < processes.count; i++) {
            struct stat st;

            /* a path of the traced process: only its size is used */
            if (processes.process[i].log && !stat(processes.process[i].log, &st))
                bytes += (uint64_t)st.st_size;
        }
        fprintf(p->out, CLEAR_LINE "recording: %llu:%02llu, %zu of %zu process%s, %s logged",
                (unsigned long long)(seconds / 60), (unsigned long long)(seconds % 60),
                record_status_count(&processes, RECORD_STATE_RECORDING), processes.count,
                processes.count == 1 ? "" : "es", text_bytes(&size, bytes));
        fflush(p->out);
        p->shown = 1;
    }
    record_status_free(&processes);
}

void record_progress_clear(struct record_progress *p)
{
    if (p->shown)
        fputs(CLEAR_LINE, p->out);
    fflush(p->out);
}
