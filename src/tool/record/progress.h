/* record/progress.h - one line on a terminal, rewritten each second. */
#ifndef SHADOWTRACE_RECORD_PROGRESS_H
#define SHADOWTRACE_RECORD_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

struct record_progress {
    const char *folder; /* of status files; the caller's */
    FILE *out;
    uint64_t started; /* ns */
    int shown;
};

void record_progress_start(struct record_progress *p, const char *folder, FILE *out);
void record_progress_tick(void *progress); /* a struct record_progress */
void record_progress_clear(struct record_progress *p);

#endif
