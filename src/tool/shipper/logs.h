/*
 * shipper/logs.h - which logs there are: those named, and those in the folders named, each
 * recording once. A file is looked into once, and again when it has become shorter; what takes its
 * place later is another file.
 */
#ifndef SHADOWTRACE_SHIPPER_LOGS_H
#define SHADOWTRACE_SHIPPER_LOGS_H

#include "shipper/source.h"

/* A file that was looked into: what tells it from all others, and of which recording it is. */
struct logs_file {
    uint64_t device, inode, born_s, born_ns; /* all zeros before the first look */
    uint64_t size;
    bool doubtful; /* it may have become another recording's: its header is read again */
    uint64_t pid, clock;
    uint64_t round; /* the last look at which it was there */
};

struct logs {
    struct logs_file *files;
    size_t count, capacity;
    uint64_t round;
};

/*
 * logs_look - calls `found` for each recording that was not there at an earlier look, with the path
 * of its latest part. For a file that does not begin with a header `found` is called once, with
 * NULL as its recording. One that is still too short for a header is left for later.
 * Returns: 0; what `found` returns, if that is not 0; -ENOMEM.
 */
typedef int logs_found(void *context, const char *path, const struct log_recording *recording);
int logs_look(struct logs *f, char *const *words, size_t count, logs_found *found, void *context);
void logs_fini(struct logs *f);

/* logs_doubt - files of that recording may have been overwritten with another one. */
void logs_doubt(struct logs *f, uint64_t pid, uint64_t clock);

#endif
