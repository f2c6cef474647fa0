/* shadowtrace attach - record a process that runs: the runtime's samples, until it is detached. */
#include "record/record.h"

#include "base/clock.h"
#include "base/memory.h"
#include "options/options_fields.h"
#include "process/client.h"
#include "process/deputy.h"
#include "process/status.h"
#include "process/status_folder.h"
#include "record/library.h"
#include "record/options.h"
#include "record/running.h"
#include "record/summary.h"
#include "terminal/text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS  1000      /* between looks at a process that has no socket */
#define STEP_NS  20000000l /* between looks at one that begins or ends */
#define PATIENCE 30000000000ull

struct attachment {
    struct record_args *args;
    struct dotnet_process process;
    struct deputy deputy;  /* works in the folders of a process that is foreign */
    int folder;            /* of its status, open and locked; -1: none */
    char inside[PATH_MAX]; /* and its path as the process has it */
    int signals;           /* a descriptor; -1: none */
    bool asked;            /* to detach */
};

/* ---- before ---- */

/* Where the log goes in a container: what is relative there is not known here. */
static int place_log(struct attachment *a, struct record_why *why)
{
    struct options *o = &a->args->options;

    if (!dotnet_is_foreign(&a->process))
        return record_options_check_output(o, why);
    if (!*a->process
              .root) /* no file is made for a trial in another user's folder; it will say why */
        return record_options_check_absent(o, why);
    if (a->args->output && *a->args->output != '/')
        return record_refuse(why, CLI_USAGE,
                             "process %ld has another root (a container), and -o names a file "
                             "there; give an absolute path",
                             a->process.pid);
    if (!a->args->output && options_field_text(o, options_field_find("directory"), "/tmp"))
        return record_refuse(why, CLI_IO, "out of memory");
    return CLI_OK;
}

static int signals_take(int *out, struct record_why *why)
{
    static const int taken[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
        if (sigaction(taken[i], NULL, &now) || now.sa_handler != SIG_IGN)
            sigaddset(&set, taken[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    *out = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return *out < 0 ? record_refuse(why, CLI_IO, "cannot wait for signals: %s", strerror(errno))
                    : CLI_OK;
}

static int hand_over(struct attachment *a, const char *library, struct record_why *why)
{
    char path[PATH_MAX], *options;
    int status = running_library(&a->process, &a->deputy, library, a->folder, a->inside, path, why);

    if (status != CLI_OK)
        return status;
    if (options_field_text(&a->args->options, options_field_find("status"), a->inside) ||
        !(options = options_write(&a->args->options)))
        return record_refuse(why, CLI_IO, "out of memory");
    status = dotnet_attach(&a->process, path, OPTIONS_CLSID, options, why);
    memory_free(options);
    return status;
}

/*
 * The deputy was opened before the process was asked, and the process still exists: it is the one
 * that answered, even if numbers are used again. Its user must be the one who was asked, too.
 */
static int check_deputy(const struct attachment *a, int err, struct record_why *why)
{
    if (!err && (!deputy_lives(&a->deputy) || a->deputy.uid != a->process.uid))
        err = -ESRCH;
    if (err == -ESRCH)
        return record_refuse(why, CLI_IO, "process %ld has ended, or changed its user",
                             a->process.pid);
    return err ? record_refuse(why, CLI_IO, "cannot look into the root of process %ld: %s",
                               a->process.pid, strerror(-err))
               : CLI_OK;
}

static int make_folder(struct attachment *a, struct record_why *why)
{
    int status = dotnet_is_foreign(&a->process)
                     ? status_folder_create_for(&a->deputy, a->process.pid, a->inside, why)
                     : status_folder_create(NULL, a->inside, why);

    a->folder = status_folder_held();
    return status;
}

/* Of the libraries of a process, musl does not tell where their unwind information lies. */
static int choose_stacks(struct attachment *a, struct record_why *why)
{
    struct options *o = &a->args->options;

    if (o->capture != OPTIONS_CAPTURE_WALK || !running_keeps(&a->process))
        return CLI_OK;
    if (o->check)
        return record_refuse(why, CLI_USAGE,
                             "process %ld is a program for musl, whose stacks are snapshots of the "
                             "runtime already; leave --check out",
                             a->process.pid);
    o->capture = OPTIONS_CAPTURE_SNAPSHOT;
    return CLI_OK;
}

static int begin(struct attachment *a, long pid, struct record_why *why)
{
    char library[PATH_MAX];
    int err = deputy_open(&a->deputy, pid), status = dotnet_find(pid, &a->process, why);

    if (status == CLI_OK && dotnet_is_foreign(&a->process))
        status = check_deputy(a, err, why);
    if (status == CLI_OK)
        status = running_check(&a->process, why);
    if (status == CLI_OK)
        status = choose_stacks(a, why);
    if (status == CLI_OK)
        status = place_log(a, why);
    if (status == CLI_OK)
        status = record_library_usable(library, why);
    if (status == CLI_OK)
        status = running_fits(&a->process, library, why);
    if (status == CLI_OK)
        status = signals_take(&a->signals, why);
    if (status == CLI_OK)
        status = make_folder(a, why);
    return status == CLI_OK ? hand_over(a, library, why) : status;
}

/* ---- meanwhile ---- */

static bool runs(const struct attachment *a)
{
    return deputy_lives(&a->deputy);
}

/* What the process says of the recording; RECORD_STATE_DAMAGED: nothing yet. */
static enum record_state state_of(const struct attachment *a)
{
    struct record_processes processes;
    enum record_state state = RECORD_STATE_DAMAGED;

    if (!record_status_read_at(a->folder, !*a->process.root, &processes) && processes.count)
        state = processes.process[0].state;
    record_status_free(&processes);
    return state;
}

static void rest(void)
{
    static const struct timespec step = {0, STEP_NS};

    nanosleep(&step, NULL);
}

static void ask_to_detach(struct attachment *a)
{
    struct client client;
    json_t *reply = NULL;

    a->asked = true;
    if (client_ask_once(&client, a->process.pid, json_pack("{s:s}", "command", "detach"), &reply) &&
        runs(a))
        cli_complain(&cmd_attach, "%s", client.why);
    json_decref(reply);
}

/* Until something happens to the process's socket, or a signal comes. */
static void wait_once(struct attachment *a, struct client *client)
{
    struct pollfd fd[] = {{a->signals, POLLIN, 0}, {client->fd, POLLIN, 0}};
    struct signalfd_siginfo info;

    if (poll(fd, client->fd < 0 ? 1 : 2, client->fd < 0 ? LOOK_MS : -1) < 0)
        return;
    if (fd[0].revents & POLLIN && read(a->signals, &info, sizeof(info)) == sizeof(info))
        ask_to_detach(a);
    if (client->fd >= 0 && fd[1].revents)
        client_close(client);
}

/* Its socket closes as the recording ends. One that asks nothing is let go now and then, too. */
static void wait_for_end(struct attachment *a)
{
    struct client client = {.fd = -1};

    while (runs(a) && state_of(a) == RECORD_STATE_RECORDING && !a->asked) {
        if (client.fd < 0 && client_open(&client, a->process.pid))
            client.fd = -1;
        wait_once(a, &client);
    }
    client_close(&client);
}

/* A process that keeps libraries has it mapped for good. */
static bool is_inside(const struct attachment *a, bool keeps)
{
    return keeps ? state_of(a) == RECORD_STATE_RECORDING
                 : dotnet_mapped(a->process.pid, RUNNING_LIBRARY);
}

/* The runtime unloads the library once no thread is in it any more. */
static void wait_for_unload(const struct attachment *a)
{
    uint64_t until = clock_ns() + PATIENCE;
    bool keeps = running_keeps(&a->process);

    while (runs(a) && is_inside(a, keeps)) {
        if (clock_ns() >= until) {
            cli_complain(&cmd_attach,
                         "process %ld still has the library loaded; it records "
                         "nothing any more",
                         a->process.pid);
            return;
        }
        rest();
    }
}

static void tell(const struct attachment *a)
{
    fprintf(stderr, "shadowtrace: attached to %s (.NET %s, pid %ld): ",
            *a->process.name ? a->process.name : "a program", a->process.runtime, a->process.pid);
    fprintf(stderr, "samples of allocations\nshadowtrace:     ");
    if (a->args->lasts)
        fprintf(stderr, "for %.6g s; sooner with ", (double)a->args->lasts / 1e9);
    else
        fputs("until ", stderr);
    fprintf(stderr, "Ctrl-C or `shadowtrace detach %ld`\n", a->process.pid);
}

static int attend(struct attachment *a)
{
    uint64_t until = clock_ns() + PATIENCE;

    while (runs(a) && state_of(a) == RECORD_STATE_DAMAGED && clock_ns() < until)
        rest();
    if (state_of(a) == RECORD_STATE_RECORDING && !a->args->quiet)
        tell(a);
    wait_for_end(a);
    wait_for_unload(a);
    return CLI_OK;
}

/* ---- afterwards ---- */

static int summarize(const struct attachment *a)
{
    struct record_processes processes;
    char *here = getcwd(NULL, 0);
    int err = record_status_read_at(a->folder, !*a->process.root, &processes);
    int status = CLI_OK;

    if (!err && !processes.count) {
        cli_complain(&cmd_attach,
                     runs(a) ? "process %ld said nothing within 30 s"
                             : "process %ld has ended before anything was recorded",
                     a->process.pid);
        status = CLI_IO;
    }
    for (size_t i = 0; i < processes.count; i++) {
        const struct record_process *p = &processes.process[i];

        if (p->state == RECORD_STATE_DECLINED || p->state == RECORD_STATE_FAILED)
            status = CLI_IO;
    }
    record_summary_print(stderr, &processes, here, a->args->quiet);
    if (*a->process.root && processes.count && processes.process[0].log && !a->args->quiet) {
        fprintf(stderr, "shadowtrace:     its log is below its root directory: %s",
                a->process.root);
        text_print(stderr, processes.process[0].log);
        putc('\n', stderr);
    }
    record_status_free(&processes);
    free(here);
    return status;
}

static int attach(struct record_args *r, long pid)
{
    struct attachment a = {.args = r, .folder = -1, .signals = -1, .deputy = DEPUTY_NONE};
    struct record_why why = {.text = ""};
    int status = begin(&a, pid, &why);

    if (*why.text)
        cli_complain(&cmd_attach, "%s", why.text);
    if (status == CLI_OK)
        status = attend(&a);
    if (status == CLI_OK)
        status = summarize(&a);
    if (a.signals >= 0)
        close(a.signals);
    if (dotnet_is_foreign(&a.process))
        status_folder_remove_for(&a.deputy);
    else
        status_folder_remove(a.inside);
    deputy_close(&a.deputy);
    return status;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct record_args *r = into;
    int status;
    long pid;

    (void)out;
    r->attaches = true;
    if (!client_pid(args->word[0], &pid))
        return cli_usage_error(&cmd_attach, "\"%s\" is not a process id", args->word[0]);
    status = record_options_settle(&cmd_attach, args, r);
    return status == CLI_OK ? attach(r, pid) : status;
}

#define NEEDS_HOOKS(name_, with) \
    { \
        .kind = ARGS_REFUSED, .name = (name_), \
        .help = "that needs hooks, which a process has from its start or not at all; use " \
                "`shadowtrace record " with "`" \
    }

#define ARGS_INTO                  struct record_args
#define FIELD(name, argument, ...) ARGS_ROW(FIELD, name, argument, options, __VA_ARGS__)
static const struct args_option options[] = {
    ARGS_ROW(DURATION, "for", "TIME", lasts, "detach after TIME: 30s, 500ms", .unit = 1000000000,
             .limit = UINT32_MAX * UINT64_C(1000000), .group = "What is recorded"),
    FIELD("sample", "BYTES", "one sample per BYTES on average, at least 100K (102,400)"),
    FIELD("types", "PATTERN", "only allocations of matching types"),
    FIELD("min-size", "BYTES", "only objects of at least this size"),
    FIELD("live", NULL, "also estimate live objects, from live samples"),
    ARGS_ROW(FLAG, "snapshots", NULL, snapshots,
             "take a snapshot of the runtime at each sample, instead of unwinding the stack; "
             "always so on musl and arm64"),
    ARGS_ROW(COUNT, "check", "N", check, "compare every N-th stack of a thread with a snapshot"),
    FIELD("budget", "PERCENT",
          "limit of sampling's share of the program's CPU: above it, fewer samples are taken, and "
          "the log says when; 0: no limit (default: 1)"),
    ARGS_ROW(TEXT, "output", "FILE", output,
             "the log, which the process writes itself; a folder: the default name in it "
             "(default: shadowtrace-NAME-PID.ndjson in the current folder)",
             .letter = 'o', .group = "The log"),
    FIELD("log", NULL, "a line for each sample, or sums for each call site"),
    FIELD("compress", NULL, "compress with zstd"),
    FIELD("sums-every", "TIME", "with --log sites: write the sums this often, 500ms, 10s",
          .unit = 1000000),
    FIELD("max-log", "BYTES", "limit the log, including all parts, to about this size"),
    FIELD("part-time", "TIME", "start a new part of the log this often: 3600s", .unit = 1000000000),
    FIELD("keep", "N", "with --max-log or --part-time: number of older parts to keep"),
    FIELD("max-nodes", "N", "keep at most N distinct call paths"),
    ARGS_ROW(FLAG, "quiet", NULL, quiet, "print errors only", .letter = 'q'),
    NEEDS_HOOKS("own", "--own"),
    NEEDS_HOOKS("only", "--only"),
    NEEDS_HOOKS("exclude", "--exclude"),
    NEEDS_HOOKS("args", "--args"),
    NEEDS_HOOKS("returns", "--returns"),
    NEEDS_HOOKS("exact-generics", "--exact-generics"),
    NEEDS_HOOKS("calls", "--events calls"),
    {.kind = ARGS_REFUSED,
     .name = "capture",
     .help = "stacks of a process that runs are unwound, or are snapshots (--snapshots)"},
    NEEDS_HOOKS("profile", "--profile"),
    NEEDS_HOOKS("framework-frames", "--framework-frames"),
    {.kind = ARGS_REFUSED,
     .name = "sampler",
     .help = "a process that runs can be sampled by its runtime only; to meet every allocation, "
             "use `shadowtrace record`"},
    ARGS_END};

CLI_COMMAND(
    attach, "[options] PID", "record samples of the allocations of a running process",
    CLI_TAKES(struct record_args, options, 1, 1, "a process id; `shadowtrace list` shows yours",
              false),
    .notes = "Ends with --for, Ctrl-C, `shadowtrace detach PID` or the process. " RECORD_PATTERNS,
    .manual = CLI_MANUAL(
            .description =
                "Records any process of yours (for root: of any user) that runs on .NET 8 or "
                "later. The command asks the process, over its diagnostics socket, to load the "
                "library. At the end the runtime unloads the library: nothing stays behind but the "
                "log.\n\nStacks are unwound from the machine's stack. The first one of each thread "
                "is compared with a snapshot of the runtime, and what cannot be unwound with "
                "certainty is a snapshot. Hooks can only be installed when a program starts. "
                "Shadow stacks, exact recording, arguments and calls therefore need `shadowtrace "
                "record`. Earlier allocations are unknown. On .NET 8 and 9 the runtime's samples "
                "are not random: figures are approximate, and the log says so.\n\nFor a process in "
                "a container, the library is copied there. The container needs liburcu and "
                "jansson, unless the library is that of the .NET tool. In directories of another "
                "user or container, root works with the ids of the process's user, so the process "
                "cannot redirect it to files of the host.",
            .files = MANUAL_TERMS({"shadowtrace-NAME-PID.ndjson",
                                   "the log in the current folder (without -o). The process writes "
                                   "it, with its own rights. A process in a container writes it to "
                                   "its /tmp, which is /proc/PID/root/tmp from outside"},
                                  MANUAL_SOCKET),
            .environment =
                MANUAL_TERMS({RECORD_LIBRARY_VARIABLE,
                              "the library to load, instead of the one installed with the command"},
                             MANUAL_RUNTIME_DIR),
            .examples = MANUAL_TERMS({"shadowtrace attach --for 30s -o shop.ndjson 4711",
                                      "record a server that was started without shadowtrace"},
                                     {"shadowtrace attach --live --for 600s 4711",
                                      "also estimate which objects stay alive"})),
    .free = record_options_free);
