#include "record/options.h"

#include "args/value.h"
#include "base/atomics.h"
#include "base/buffer.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "options/options_fields.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGS_INTO                  struct record_args
#define FIELD(name, argument, ...) ARGS_ROW(FIELD, name, argument, options, __VA_ARGS__)

const struct args_option record_options[] = {
    ARGS_ROW(FLAG, "always-on", NULL, always_on,
             "for production: --own, samples of the runtime, sums of call sites, a log that is "
             "compressed and bounded, at most 1 % of the CPU; each of these can be overridden",
             .group = "What is recorded"),
    FIELD("own", NULL,
          "hook own code only: the projects in the program's deps.json, and in that of plugins and "
          "tests; the framework's precompiled code stays in use"),
    FIELD("own-code", "PATTERN",
          "modules and methods that are own code; overrides deps.json, also in reports"),
    FIELD("only", "PATTERN", "hook only methods whose full name matches"),
    FIELD("exclude", "PATTERN", "do not hook methods that match"),
    FIELD("types", "PATTERN", "record only allocations of matching types"),
    FIELD("process", "PATTERN", "record only processes whose main assembly matches"),
    FIELD("min-size", "BYTES", "record only objects of at least this size"),
    FIELD("sample", "BYTES|auto",
          "sample one allocation per BYTES on average, with its weight; auto: 102,400"),
    FIELD("sampler", NULL,
          "which sampler to use. runtime: .NET's own, almost free, one sample per 100K or more "
          "(approximate on 8 and 9); exact: the tracer's, with a callback for each allocation; "
          "auto: the runtime's, if it is available and not approximate"),
    FIELD("budget", "PERCENT",
          "limit of sampling's share of the program's CPU: above it, fewer samples are taken, and "
          "the log says when; 0: no limit"),
    FIELD("paused", NULL, "record nothing until `shadowtrace ctl PID start`"),
    FIELD("no-control", NULL, "no socket for `list`, `dump`, `ctl` and `top`"),
    FIELD("events", "LIST",
          "events to record, separated by commas: alloc (the default), calls (every enter and "
          "leave), threads, modules, classes, jit, exceptions, gc, suspend, transitions (managed "
          "to native and back, with a callback for each), finalizers (turns concurrent "
          "collection off), or all"),
    FIELD("calls", "PATTERN", "trace only calls of matching methods"),
    FIELD("max-depth", "N", "trace calls nested at most N deep in other traced calls"),
    FIELD("min-duration", "TIME",
          "trace only calls that take at least this long: 500 (ns), 20us, 1ms", .unit = 1),
    FIELD("call-buffer", "BYTES",
          "memory for traced calls, arguments and results that are not written yet, shared by all "
          "threads; those that find no room are counted"),
    FIELD("live", NULL,
          "track which objects are alive, through every collection, by the call path that "
          "allocated them (turns concurrent collection off); with --sample of 100K or more an "
          "estimate, from samples, with concurrent collection on",
          .group = "Live objects"),
    FIELD("check-live", "N",
          "after every N-th collection, compare live objects with the runtime's own walk of the "
          "heap; `shadowtrace compare` shows the sums"),
    FIELD("live-memory", "BYTES",
          "memory for the table of live objects, about 20 bytes each; when it is full, the log is "
          "marked as inexact"),
    FIELD("live-grows", "N",
          "report a line as growing if its live objects grew at each of the last N full "
          "collections, a second or more apart; 0: never"),
    ARGS_ROW(TEXT, "heap-at-exit", "FILE", heap,
             "when the program ends, write its heap for `shadowtrace retained`: all objects, their "
             "references and their roots (turns concurrent collection off); if FILE exists, the "
             "PID is added before the extension"),
    FIELD("args", "PATTERN",
          "record arguments of methods whose full name matches; --only with the same patterns "
          "reduces the cost to a fifth, because no other methods are hooked",
          .group = "Arguments and results (slower hooks: elt2)"),
    FIELD("returns", "PATTERN", "record return values of methods whose full name matches"),
    FIELD("value-length", "N", "keep at most N characters of a text"),
    FIELD("value-items", "N", "keep at most N elements of an array or span"),
    FIELD("exact-generics", NULL, "show Cache<Customer> where shared code would show Cache<T>"),
    FIELD("profile", "HZ",
          "sample the stacks of all threads HZ times a second (at most 1000) without stopping "
          "them; `shadowtrace profile` shows them",
          .group = "Sampling profiler"),
    FIELD("profile-snapshot", NULL,
          "sample by suspending the runtime, too; `shadowtrace compare` compares both"),
    FIELD("hooks", NULL, "hooks for method calls", .group = "How it is recorded"),
    FIELD("capture", NULL,
          "source of stacks; walk: the machine's stack, without hooks, and with the precompiled "
          "code that the program would use"),
    FIELD(
        "framework-frames", NULL,
        "with --own or --only: frames without hooks. walk: unwind the machine's stack between "
        "those with hooks, for complete paths; none: leave them out, which is faster; snapshot: "
        "with --sample, from a snapshot at each sample, and the log marks them; auto: walk, where "
        "the machine and its C library allow it"),
    FIELD("check", "N",
          "compare every N-th stack of a thread with the runtime's own; 0: never. The default "
          "takes at most 2 % of a thread's time; with --capture both it is 1"),
    FIELD("check-calls", "N", "compare in the hook of every N-th call of a thread"),
    FIELD("check-threads", "TIME",
          "suspend the runtime this often and compare the stacks of all threads: 50 (ms), 1s",
          .unit = 1000000),
    FIELD("native", NULL, "show native frames in logged snapshots (libunwind)"),
    FIELD("no-lines", NULL, "record call paths by method only: no IL offsets, no lines"),
    FIELD("rich", NULL,
          "the default: ask the JIT which methods it inlined, so that what they allocate has its "
          "own line, in optimised code too"),
    FIELD("no-rich", NULL,
          "do not ask: no frames of inlined methods, more allocations without a line"),
    FIELD("optimized", NULL,
          "compile everything, your own code too, optimised from its first call: no tiers"),
    FIELD("keep-tail-calls", NULL,
          "keep callers on the stack that optimised code would leave by a tail call. Recursion may "
          "use more stack. Not in precompiled code, nor for explicit tail calls (F#)"),
    FIELD("no-inline", NULL,
          "keep the JIT from inlining and from making tail calls (--keep-tail-calls), so that "
          "every call is seen; not in precompiled code"),
    FIELD("max-nodes", "N", "keep at most N distinct call paths"),
    ARGS_ROW(TEXT, "output", "FILE", output,
             "the first process writes FILE, others FILE with their PID before the extension; a "
             "folder: default names in it; FOLDER/ is created (default: "
             "shadowtrace-NAME-PID.ndjson in the current folder)",
             .letter = 'o', .group = "The log"),
    FIELD("log", NULL, "a line for each allocation, or sums for each call site"),
    FIELD("stacks", NULL, "stacks by number, or in full in each line"),
    FIELD("full", NULL, "if the log cannot keep up: let threads wait briefly, or drop records"),
    FIELD("compress", NULL, "compress with zstd"),
    FIELD("sums-every", "TIME",
          "with --log sites: write the sums this often, 500ms, 10s; 0: within half a second",
          .unit = 1000000),
    FIELD("max-log", "BYTES", "limit the log, including all parts, to about this size"),
    FIELD("part-time", "TIME", "start a new part of the log this often: 3600s", .unit = 1000000000),
    FIELD("keep", "N",
          "with --max-log or --part-time: number of older parts to keep; the contents of removed "
          "parts are counted"),
    ARGS_END};

#define USUAL \
    "always-on", "own", "only", "types", "process", "sample", "paused", "events", "live", \
        "heap-at-exit", "args", "returns", "profile", "check", "optimized", "output", "log", \
        "compress", "max-log", NULL

const char *const record_usual[] = {"quiet", USUAL};
const char *const record_env_usual[] = {"format", USUAL};

static bool is_directory(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* `text` from here if it is not absolute. NULL: no memory, or no current directory. */
static char *absolute(const char *text)
{
    struct buffer b = BUFFER_INIT;
    char *here;

    if (*text != '/') {
        here = getcwd(NULL, 0);
        if (!here)
            return NULL;
        buffer_text(&b, here);
        free(here);
        while (text[0] == '.' && text[1] == '/')
            for (text += 2; *text == '/';)
                text++;
        if (*text && strcmp(text, ".") != 0)
            buffer_char(&b, '/');
        else
            text = "";
    }
    buffer_text(&b, text);
    return buffer_take(&b);
}

/* Where the log goes: a file, or a folder for the default names. */
static int set_output(const struct cli_command *command, struct options *o, const char *text)
{
    const char *key = "output";
    char *path;
    size_t length;
    int err;

    if (text && !strcmp(text, "-"))
        return cli_usage_error(
            command, "the log cannot go to standard output, which is COMMAND's; give -o a file");
    path = absolute(text ? text : ".");
    if (!path) {
        cli_complain(command, "cannot find the current directory: %s", strerror(errno));
        return CLI_IO;
    }
    length = strlen(path);
    if (!text || path[length - 1] == '/' || is_directory(path))
        key = "directory";
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    err = options_field_text(o, options_field_find(key), path);
    if (err == -EINVAL)
        cli_complain(command, "the path %s is not UTF-8; choose another with -o", path);
    memory_free(path);
    if (err == -ENOMEM)
        return cli_failed(command, -ENOMEM);
    return err ? CLI_USAGE : CLI_OK;
}

static int set_heap(const struct cli_command *command, struct options *o, const char *text)
{
    char *path = text ? absolute(text) : NULL;
    int err = path ? options_field_text(o, options_field_find("heap_at_exit"), path) : 0;

    memory_free(path);
    if (!text || (path && !err))
        return CLI_OK;
    if (err == -ENOMEM)
        return cli_failed(command, -ENOMEM);
    cli_complain(command, path ? "the path of --heap-at-exit is not UTF-8; choose another"
                               : "cannot find the current directory");
    return CLI_IO;
}

/* What --always-on means, where nothing else was given. */
static const struct preset {
    const char *name; /* of the argument */
    uint64_t value;
} always_on[] = {
    {"sample", OPTIONS_SAMPLE_RUNTIME},
    {"sampler", OPTIONS_SAMPLER_RUNTIME},
    {"log", OPTIONS_LOG_SITES},
    {"compress", 1},
    {"max-log", 64u << 20},
    {"part-time", 3600}, /* s */
    {"keep", 4},
    {"max-nodes", 200000},
    {"full", OPTIONS_FULL_DROP},
    {"budget", 1}, /* % */
    {"check", 0},
};

static const struct options_field *field_of(const char *argument)
{
    const struct args_option row = {.kind = ARGS_FIELD, .name = argument};

    return args_field(&row);
}

static void set_always_on(const struct cli_command *command, const struct args *args,
                          struct options *o)
{
    const struct args_syntax *syntax = &command->syntax;

    for (size_t i = 0; i < COUNT_OF(always_on); i++) {
        const struct preset *p = &always_on[i];

        if (args_given(syntax, args, p->name))
            continue;
        options_field_set(o, field_of(p->name), p->value);
    }
    if (o->log == OPTIONS_LOG_SITES && !args_given(syntax, args, "sums-every"))
        o->sums_every = 10000; /* ms */
    if (!o->only.count && !o->exclude.count && options_hooked(o))
        o->own = true;
}

/* Fields that the command has no option for are at their defaults. */
static void set_others(const struct args_option *options, struct options *o)
{
    for (size_t i = 0; i < options_field_count; i++) {
        const struct args_option *row = args_row(options);

        while (row && (row->kind != ARGS_FIELD || args_field(row) != &options_fields[i]))
            row = args_row(row + 1);
        if (!row)
            options_field_set(o, &options_fields[i], options_fields[i].standard);
    }
}

/* What a running process can record: samples of the runtime. It has no hooks. */
static int set_attached(const struct cli_command *command, const struct args *args,
                        struct record_args *r)
{
    struct options *o = &r->options;

    set_others(command->syntax.options, o);
    if (o->sample && o->sample < OPTIONS_SAMPLE_RUNTIME)
        return cli_usage_error(command,
                               "the runtime samples one in 102,400 bytes at the most; give "
                               "--sample 100K or more, or start the program with "
                               "`shadowtrace record`");
    if (!o->sample)
        o->sample = OPTIONS_SAMPLE_RUNTIME;
    o->sampler = OPTIONS_SAMPLER_RUNTIME;
    o->capture = CPU_WALKS && !r->snapshots ? OPTIONS_CAPTURE_WALK : OPTIONS_CAPTURE_SNAPSHOT;
    o->check = r->check;
    if (!args_given(&command->syntax, args, "budget"))
        o->budget = 1; /* % */
    o->detach_after = (uint32_t)((r->lasts + 999999) / 1000000);
    return CLI_OK;
}

int record_options_settle(const struct cli_command *command, const struct args *args,
                          struct record_args *r)
{
    bool check_given = r->always_on || r->attaches || args_given(&command->syntax, args, "check");
    char why[OPTIONS_WHY_SIZE];
    int status = set_output(command, &r->options, r->output);

    if (status == CLI_OK && r->attaches)
        status = set_attached(command, args, r);
    if (r->always_on)
        set_always_on(command, args, &r->options);
    if (status == CLI_OK)
        status = set_heap(command, &r->options, r->heap);
    if (status == CLI_OK &&
        options_settle(&r->options, check_given, OPTIONS_NAMES_ARGUMENTS, why, sizeof(why)))
        status = cli_usage_error(command, "%s", why);
    return status;
}

void record_options_free(void *r)
{
    options_fini(&((struct record_args *)r)->options);
}

/*
 * Permission bits do not tell all (read-only or full disks, /proc): a file is made and removed.
 * It is empty, new (O_EXCL) and private, in the folder where the log would be created with the same
 * rights. `attach` does not do this in a folder of another user's process.
 */
static int can_create_in(const char *directory)
{
    char probe[PATH_MAX];
    int fd;

    if (snprintf(probe, sizeof(probe), "%s/.shadowtrace-XXXXXX", directory) >= (int)sizeof(probe))
        return -ENAMETOOLONG;
    fd = mkostemp(probe, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    unlink(probe);
    close(fd);
    return 0;
}

void record_options_folder(const struct options *o, char folder[PATH_MAX])
{
    const char *slash = o->output ? strrchr(o->output, '/') : NULL;

    if (slash)
        snprintf(folder, PATH_MAX, "%.*s", (int)(slash > o->output ? slash - o->output : 1),
                 o->output);
    else
        snprintf(folder, PATH_MAX, "%s", !o->output && o->directory ? o->directory : "");
}

int record_options_make_folder(const struct options *o, struct record_why *why)
{
    char path[PATH_MAX];
    size_t at = 0;
    int err;

    if (o->output || !o->directory)
        return CLI_OK;
    if (snprintf(path, sizeof(path), "%s", o->directory) >= (int)sizeof(path))
        return record_refuse(why, CLI_IO, "the name of the folder is too long");
    while (path[at]) {
        char next;

        at += strspn(path + at, "/");
        at += strcspn(path + at, "/");
        next = path[at];
        path[at] = '\0';
        err = mkdir(path, 0777) ? errno : 0;
        if (err && access(path, F_OK))
            return record_refuse(why, CLI_IO,
                                 "cannot make the folder %s: %s; choose another place with -o",
                                 path, strerror(err));
        path[at] = next;
    }
    return CLI_OK;
}

int record_options_check_absent(const struct options *o, struct record_why *why)
{
    struct stat st;

    if (o->output && !lstat(o->output, &st))
        return record_refuse(why, CLI_IO,
                             "%s exists and will not be overwritten; choose another name with -o",
                             o->output);
    if (o->output && strrchr(o->output, '/') - o->output >= PATH_MAX)
        return record_refuse(why, CLI_IO, "the name of the log is too long");
    return CLI_OK;
}

int record_options_check_output(const struct options *o, struct record_why *why)
{
    char folder[PATH_MAX];
    int err = record_options_check_absent(o, why);

    if (err)
        return err;
    record_options_folder(o, folder);
    err = can_create_in(folder);
    if (err)
        return record_refuse(why, CLI_IO,
                             "cannot write a log in %s: %s; choose another place with -o", folder,
                             strerror(-err));
    return CLI_OK;
}
