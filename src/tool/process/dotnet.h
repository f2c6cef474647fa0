/*
 * process/dotnet.h - a .NET process that runs, traced or not: its diagnostics socket, what it says
 * of itself there, and how a profiler is attached to it.
 *
 * The socket is dotnet-diagnostic-PID-START-socket in the process's own temporary folder; another
 * user's process of another root (a container) has it below /proc/PID/root. Anybody may make a
 * socket of that name: only those that belong to the process's user are connected to, and the
 * kernel says which process listens there. One process is waited for 10 s, all of a list 5 s and
 * 50 ms each.
 */
#ifndef SHADOWTRACE_PROCESS_DOTNET_H
#define SHADOWTRACE_PROCESS_DOTNET_H

#include "base/buffer.h"
#include "command/why.h"
#include "process/profiling.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DOTNET_MAJOR_OLDEST 8

struct dotnet_process {
    long pid;
    long inside; /* its number in its own PID namespace */
    uid_t uid;
    uid_t uid_inside; /* its number in its own user namespace */
    gid_t gid;
    char root[64]; /* "/proc/PID/root" where paths may mean others than ours; else "" */
    /* What it says of itself, as one line each; "" not known. */
    char name[256];   /* of the main assembly */
    char runtime[64]; /* "10.0.12" */
    char machine[32]; /* "x64" */
    unsigned major;   /* of the runtime; 0: not known */
};

/*
 * dotnet_find - finds the process and reads its description.
 * Returns: CLI_OK; otherwise CLI_IO with one line in why: no such process, it is another user's, it
 *          is not a .NET process, its diagnostics are switched off, it does not answer.
 */
int dotnet_find(long pid, struct dotnet_process *out, struct record_why *why);

/* dotnet_look - the first half: without asking it. Returns: 0; -ESRCH; -EPERM: another user's. */
int dotnet_look(long pid, struct dotnet_process *out);

/*
 * dotnet_is_foreign - whether its folders are another user's, or below another root. Then we touch
 * nothing there, except through a deputy (process/deputy.h) and the descriptors that it opens.
 */
bool dotnet_is_foreign(const struct dotnet_process *p);

/* dotnet_serves - whether it listens at the other end of a socket; the kernel knows. */
bool dotnet_serves(const struct dotnet_process *p, int fd);

/*
 * dotnet_environment - its variables as they were at its start; none where they cannot be read.
 * Owns: *text, released with buffer_free; *e points into it.
 */
void dotnet_environment(long pid, struct buffer *text, struct profiling_environment *e);

/*
 * dotnet_refused - whether one of them, found by profiling_off or profiling_no_diagnostics, does
 * `what` to the process: then one line in why says so.
 */
bool dotnet_refused(const struct dotnet_process *p,
                    const char *(*find)(const struct profiling_environment *), const char *what,
                    struct record_why *why);

/* dotnet_variable - one of them. Returns: NULL: it has none. Owns: memory_free. */
char *dotnet_variable(long pid, const char *name);

/*
 * dotnet_attach - has it load a profiler and hand it `options`. clsid: "{...}".
 * Returns: CLI_OK; CLI_IO with one line in why. Waits at most a minute.
 */
int dotnet_attach(const struct dotnet_process *p, const char *library, const char *clsid,
                  const char *options, struct record_why *why);

/* dotnet_each - of the sockets in this user's temporary folder: processes that this user runs. */
typedef void dotnet_found(void *context, const struct dotnet_process *process);
void dotnet_each(dotnet_found *found, void *context);

/*
 * dotnet_mapped - has it the file mapped whose base name is this? dotnet_each_file - every file
 * that it has mapped, by the name it was mapped by; until `found` returns true.
 * Returns: whether it did. false also where it cannot be read.
 */
typedef bool dotnet_file(void *context, const char *path);
bool dotnet_mapped(long pid, const char *name);
bool dotnet_each_file(long pid, dotnet_file *found, void *context);

/*
 * dotnet_answer - what an answer to the question for its state holds. Texts are cut to fit.
 * Returns: 0; -EPROTO: it is none. For dotnet.c, and tests.
 */
int dotnet_answer(const uint8_t *data, size_t size, struct dotnet_process *out);

#endif
