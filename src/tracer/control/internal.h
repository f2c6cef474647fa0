/* control/internal.h - what the files of src/tracer/control/ share. */
#ifndef SHADOWTRACE_CONTROL_INTERNAL_H
#define SHADOWTRACE_CONTROL_INTERNAL_H

#include "control/control.h"

#include "base/gate.h"
#include "options/socket_path.h"
#include "stack/stack.h"

#include <jansson.h>
#include <pthread.h>

#define CONTROL_VERSION 1

struct control {
    struct control_config config;
    char path[SOCKET_PATH_SIZE]; /* "" without a socket */
    char name[32];               /* of the socket, in its folder; "" when it is gone */
    int listener, folder, wake;  /* -1: none */
    pthread_t thread;
    bool threaded; /* it serves, or will */
    _Atomic(bool) running;
    struct gate starting;          /* of the thread that starts it */
    struct gate gate;              /* the thread's, while it answers */
    struct dump *dump;             /* the thread's */
    struct control_client *client; /* the thread's; NULL-ended by count */
    size_t clients;
    uint64_t crowded_until_ns; /* the thread's: until then nobody is let in */
};

/* socket.c: 0 or -errno with why. */
int control_socket_open(struct control *control, char *why, size_t why_size);
void control_socket_close(struct control *control);
void control_socket_remove(struct control *control); /* its name only: the thread still polls */

/* server.c */
void *control_main(void *context);

/*
 * request.c
 * control_answer - the reply to one line of `size` bytes, with its newline, into out (empty
 * before). Or out stays empty: the reply is to come when *job, now the caller's, is over.
 * control_collected - that reply, at once: if it is not over, that it takes long. Takes the job.
 */
void control_answer(struct control *control, const char *line, size_t size, struct buffer *out,
                    struct collect_job **job);
void control_collected(struct collect_job *job, struct buffer *out);
void control_refuse(struct buffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* dump.c */
struct dump_request {
    uint32_t most; /* frames of one thread */
    bool lines;    /* IL offsets, too */
};
struct dump *dump_new(struct metadata *metadata); /* NULL: no memory */
void dump_free(struct dump *dump);
void dump_forget(struct dump *dump); /* free what is kept for a repeated request */

/*
 * dump_all - all threads, as JSON members (each with a comma before it). dump_self - the calling
 * thread, as an object.
 * Returns: 0 or -ENOMEM. Threads: dump_all the one that owns `dump`; dump_self any.
 */
int dump_all(struct dump *dump, const struct control_config *config,
             const struct dump_request *request, struct buffer *out);
int dump_self(const struct control_config *config, struct buffer *out);

/* api.c: who answers; NULL: nobody. */
void api_serve(struct control *control);

#endif
