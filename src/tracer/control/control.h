/*
 * control/control.h - inspect the running process, and change what is recorded: a Unix socket with
 * a separate thread, and the in-process API (shadowtrace/shadowtrace.h).
 *
 * Requests and replies are JSON objects, one per line; include/shadowtrace/control_schema.json
 * describes them. The traced threads never wait: stacks are copied while they run (stack_copy_all),
 * settings are swapped (config/config.h), and the writer gets the lines for the log. Another thread
 * runs collections (collect/collect.h): the client that requested one waits, and all others are
 * served meanwhile.
 *
 *     socket.c    the folder, the socket, who may connect      dump.c      copied stacks as JSON
 *     server.c    the thread: clients, buffers, deadlines      frames.c    their frames
 *     request.c   one line in, one line out                    api.c       what the library exports
 */
#ifndef SHADOWTRACE_CONTROL_CONTROL_H
#define SHADOWTRACE_CONTROL_CONTROL_H

#include "base/buffer.h"
#include "collect/collect.h"
#include "metadata/metadata.h"

struct control;

struct control_config {
    struct metadata *metadata; /* borrowed, as is all below */
    struct collect *collect;
    const char *executable, *name, *runtime, *hooks;
    char *const *command;
    uint64_t zero_ns;      /* CLOCK_MONOTONIC at t = 0 */
    bool shadow;           /* there are shadow stacks */
    bool some_hooked;      /* of some methods only: --own, --only, --exclude */
    bool live;             /* --live: no allocation may be left out */
    uint64_t least_sample; /* bytes: the runtime takes the samples, and no more of them; 0: any */
    void *context;
    /* Name of the thread with that gettid(). Returns whether it has one. */
    bool (*thread_name)(void *context, uint32_t os, char *text, size_t size);
    uint32_t (*metadata_given)(
        void *context); /* changes whenever thread_name may say something else */
    /* 0 or -errno; what is given through a pointer is to be freed with memory_free. */
    int (*mark)(void *context, const char *text);
    int (*mark_behind)(void *context, const char *text); /* all before it and it are in the file */
    const char *(*log)(void *context);                   /* its path */
    long (*thread)(void *context); /* the calling one's id in the log, or -ENOMEM */
    int (*rotate)(void *context, char **older);
    int (*sites)(void *context, uint32_t most, char **members);
    int (*alive)(void *context, uint32_t most, char **members); /* -ENOENT: nobody knows it */
    int (*detach)(void *context); /* NULL: this process was started with the profiler */
    void (*status)(void *context,
                   struct buffer *out); /* appends JSON members, each with a comma before it */
};

/*
 * control_new - for this process, without a socket yet. control_listen - make the socket.
 * Returns: 0 or -errno, then with one line in why. Owns: *out is the process's, for good.
 */
int control_new(struct control **out);
int control_listen(struct control *control, char *why, size_t why_size);
const char *control_path(const struct control *control); /* of the socket; NULL: no socket */

/*
 * control_start - from here on the API answers. control_serve - the socket, too: its thread (all
 * signals blocked, named); until then who connects waits. Returns: 0, or -errno with one line in
 * why, then the socket is gone. Threads: any, once.
 * control_wake - a collection that somebody may wait for is over. Threads: any.
 * control_stop - no more answers; waits for the one under way at most timeout_ms; the socket is
 * gone after it.
 * control_abandon - in a child after fork: the socket is the parent's. Async-signal-safe.
 */
void control_start(struct control *control, const struct control_config *config);
int control_serve(struct control *control, char *why, size_t why_size);
void control_wake(struct control *control);
void control_stop(struct control *control, unsigned timeout_ms);
void control_abandon(struct control *control);

/* control_leave - its descriptors are closed; after control_stop, once its thread has ended. */
void control_leave(struct control *control);

#endif
