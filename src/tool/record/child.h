/* record/child.h - runs COMMAND: its files, signals and exit status pass through. */
#ifndef SHADOWTRACE_RECORD_CHILD_H
#define SHADOWTRACE_RECORD_CHILD_H

#include "record/environment.h"
#include "command/why.h"

struct record_child {
    const char *path; /* the file to execute; argv[0] may differ */
    char **argv;
    const struct record_environment *environment;
    void (*tick)(void *context); /* each second while it runs; NULL none */
    void *context;
};

/*
 * record_child_ignore_pipe - nobody may read what this process prints: that must not end it, with
 * another status than COMMAND's. COMMAND gets SIGPIPE as it was.
 */
void record_child_ignore_pipe(void);

/*
 * record_child_run - start it and wait for its end. Signals sent to this process meanwhile are sent
 * on to it, once each; those it gets anyway, from the terminal of our common process group, are
 * not.
 * Returns: 0 with its exit status in *status, 128 + n when signal n killed it; RECORD_NOT_FOUND,
 *          RECORD_NOT_EXECUTABLE or CLI_IO if it could not be started.
 * Threads: the process has one.
 */
int record_child_run(const struct record_child *c, int *status, struct record_why *why);

#endif
