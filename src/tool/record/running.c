#include "record/running.h"

#include "base/atomics.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "command/command.h"
#include "process/client.h"
#include "process/profiling.h"
#include "record/elf.h"
#include "record/library.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ENTRY     "DllGetClassObject" /* what the runtime asks a profiler for */
#define STEP_NS   20000000
#define SETTLE_NS UINT64_C(10000000000) /* for a library that is being loaded or unloaded */

/* ---- whether ---- */

static int check_version(const struct dotnet_process *p, struct record_why *why)
{
    if (p->major < DOTNET_MAJOR_OLDEST)
        return record_refuse(why, CLI_IO,
                             "process %ld runs on .NET %s; %d or later can be attached to", p->pid,
                             p->runtime, DOTNET_MAJOR_OLDEST);
    if (strcmp(p->machine, CPU_DOTNET) != 0)
        return record_refuse(
            why, CLI_IO, "process %ld is of %s, and this shadowtrace records " CPU_DOTNET " only",
            p->pid, p->machine);
    return CLI_OK;
}

static void executable_of(const struct dotnet_process *p, char path[64])
{
    snprintf(path, 64, "/proc/%ld/exe", p->pid);
}

int running_fits(const struct dotnet_process *p, const char *library, struct record_why *why)
{
    char program[64], name[64];

    executable_of(p, program);
    snprintf(name, sizeof(name), "process %ld", p->pid);
    return record_library_fits(library, program, name, why);
}

bool running_keeps(const struct dotnet_process *p)
{
    char program[64];

    executable_of(p, program);
    return record_elf_libc(program) == RECORD_LIBC_MUSL;
}

/*
 * Has it the library? One that does not answer is being unloaded, or has just been loaded: soon it
 * is gone, or answers. status: what it answers; NULL if it does not.
 */
static bool is_traced(const struct dotnet_process *p, struct client *client, json_t **status)
{
    static const struct timespec step = {0, STEP_NS};
    uint64_t until_ns = clock_ns() + SETTLE_NS;

    for (*status = NULL; dotnet_mapped(p->pid, RUNNING_LIBRARY); nanosleep(&step, NULL)) {
        if (!client_ask_once(client, p->pid, json_pack("{s:s}", "command", "status"), status))
            return true;
        if (running_keeps(p))
            return false; /* of a recording that has ended */
        if (clock_ns() >= until_ns)
            return true;
    }
    return false;
}

/* Refuses a process that has loaded the library. */
static int check_traced(const struct dotnet_process *p, struct record_why *why)
{
    struct client client;
    json_t *status = NULL;
    bool attached;

    if (!is_traced(p, &client, &status))
        return CLI_OK;
    if (!status)
        return record_refuse(why, CLI_IO,
                             "process %ld has loaded " RUNNING_LIBRARY
                             " already, and does not respond; restart it",
                             p->pid);
    attached = json_is_true(json_object_get(status, "attached"));
    record_refuse(why, CLI_IO,
                  attached ? "process %ld is attached to already, and writes %s; `shadowtrace "
                             "detach %ld` ends that"
                           : "process %ld is recorded already, and writes %s; `shadowtrace ctl "
                             "%ld` changes what is recorded",
                  p->pid, client_text(status, "log"), p->pid);
    json_decref(status);
    return CLI_IO;
}

static int check_environment(const struct dotnet_process *p, struct record_why *why)
{
    struct buffer text = BUFFER_INIT;
    struct profiling_environment e;
    struct profiling_other other;

    if (dotnet_refused(p, profiling_off, "forbids profilers", why))
        return CLI_IO;
    dotnet_environment(p->pid, &text, &e);
    if (profiling_another(&e, &other))
        record_refuse(why, CLI_IO,
                      "process %ld was started with another profiler, %s=%s%s%s%s; a process can "
                      "have only one",
                      p->pid, other.profiler, other.clsid, other.library ? " (" : "",
                      other.library ? other.library : "", other.library ? ")" : "");
    buffer_free(&text);
    return *why->text ? CLI_IO : CLI_OK;
}

/* What is mapped, searched for a profiler that was attached. */
struct search {
    const struct dotnet_process *process;
    char runtime[PATH_MAX]; /* the runtime's folder, with its slash: profilers lie elsewhere */
    char found[PATH_MAX];
};

static bool take_runtime(void *context, const char *path)
{
    struct search *s = context;
    const char *name = path_base_name(path);

    if (strcmp(name, "libcoreclr.so") != 0)
        return false;
    snprintf(s->runtime, sizeof(s->runtime), "%.*s", (int)(name - path), path);
    return true;
}

static bool is_profiler(void *context, const char *path)
{
    static const char *const names[] = {ENTRY, NULL};
    struct search *s = context;
    char whole[PATH_MAX];
    struct record_elf elf;
    bool found;
    int fd;

    if (!strstr(path_base_name(path), ".so") ||
        (*s->runtime && !strncmp(path, s->runtime, strlen(s->runtime))) ||
        snprintf(whole, sizeof(whole), "%s%s", s->process->root, path) >= (int)sizeof(whole))
        return false;
    /* Its user may have put anything there: the caller learns only whether a regular file is. */
    fd = file_open_regular(AT_FDCWD, whole, O_RDONLY, FILE_ANY_OWNER);
    found = !record_elf_open(&elf, fd) && record_elf_names(&elf, names);
    record_elf_close(&elf);
    if (found)
        snprintf(s->found, sizeof(s->found), "%s", path);
    return found;
}

static int check_profiler(const struct dotnet_process *p, struct record_why *why)
{
    struct search s = {.process = p};

    dotnet_each_file(p->pid, take_runtime, &s);
    if (!dotnet_each_file(p->pid, is_profiler, &s))
        return CLI_OK;
    return record_refuse(why, CLI_IO,
                         "process %ld has another profiler loaded, %s; a process can have only one",
                         p->pid, s.found);
}

int running_check(const struct dotnet_process *p, struct record_why *why)
{
    static int (*const checks[])(const struct dotnet_process *p, struct record_why *why) = {
        check_version, check_traced, check_environment, check_profiler};
    int status = CLI_OK;

    for (size_t i = 0; status == CLI_OK && i < COUNT_OF(checks); i++)
        status = checks[i](p, why);
    return status;
}

/* ---- with what ---- */

#define COPY_S 60 /* a disk may be slow */

/* A library, in memory, on its way into a folder of the process's user. */
struct copying {
    const char *name;
    int folder;
    struct buffer file;
};

/* In the deputy: the name is new, and no link, or nothing is written. */
static int write_copy(const struct deputy *d, void *context, int *out)
{
    const struct copying *c = context;
    int fd = openat(c->folder, c->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
    int err = fd < 0 ? -errno : 0;

    (void)d;
    (void)out;
    for (size_t done = 0; !err && done < c->file.size;) {
        ssize_t n = write(fd, c->file.data + done, c->file.size - done);

        err = n <= 0 && errno != EINTR ? -errno : 0;
        done += n > 0 ? (size_t)n : 0;
    }
    if (!err && fchmod(fd, 0700)) /* whatever the umask says */
        err = -errno;
    if (fd >= 0 && close(fd) && !err)
        err = -errno;
    return err;
}

/*
 * Libraries that ours needs. One beside it comes first, as its run path says; this process may have
 * loaded another of the same name. Else as this process has it: it has loaded ours, as a check.
 */
struct copies {
    const char *library;
    const struct dotnet_process *process;
    const struct deputy *deputy;
    int folder;
    const char *inside;
    struct record_why *why;
    int status;
};

static int copy(const struct copies *c, const char *from)
{
    struct copying copying = {path_base_name(from), c->folder, BUFFER_INIT};
    int err = buffer_file(&copying.file, from);

    if (!err)
        err = deputy_run(c->deputy, COPY_S, write_copy, &copying, NULL);
    buffer_free(&copying.file);
    return err ? record_refuse(c->why, CLI_IO, "cannot copy %s to %s of process %ld: %s", from,
                               c->inside, c->process->pid, strerror(-err))
               : CLI_OK;
}

static bool beside(const char *file, const char *name, char path[PATH_MAX])
{
    int folder = (int)(path_base_name(file) - file);

    return snprintf(path, PATH_MAX, "%.*s%s", folder, file, name) < PATH_MAX;
}

static int copy_needed(struct dl_phdr_info *info, size_t size, void *context)
{
    static const char *const needed[] = {"liburcu-memb.so", "libjansson.so"};
    struct copies *c = context;
    const char *name = path_base_name(info->dlpi_name);
    char path[PATH_MAX];

    (void)size;
    for (size_t i = 0; c->status == CLI_OK && i < COUNT_OF(needed); i++)
        if (!strncmp(name, needed[i], strlen(needed[i])))
            c->status = copy(
                c, beside(c->library, name, path) && !access(path, R_OK) ? path : info->dlpi_name);
    return c->status != CLI_OK;
}

int running_library(const struct dotnet_process *p, const struct deputy *d, const char *library,
                    int folder, const char *inside, char path[PATH_MAX], struct record_why *why)
{
    struct copies copies = {library, p, d, folder, inside, why, CLI_OK};

    if (!*p->root && !running_keeps(p)) {
        snprintf(path, PATH_MAX, "%s", library);
        return CLI_OK;
    }
    copies.status = copy(&copies, library);
    dl_iterate_phdr(copy_needed, &copies);
    if (copies.status == CLI_OK &&
        snprintf(path, PATH_MAX, "%s/%s", inside, path_base_name(library)) >= PATH_MAX)
        return record_refuse(why, CLI_IO, "the path of the library is too long");
    return copies.status;
}
