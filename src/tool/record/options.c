#include "record/options.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "options/options_fields.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIELD(key) .name = key, .kind = ARGS_FIELD, ARGS_AT(struct record_args, options)

const struct args_option record_options[] = {
    {FIELD("only"), .group = "What is recorded", .argument = "PATTERN",
     .help = "hook only methods whose full name matches"},
    {FIELD("exclude"), .argument = "PATTERN", .help = "do not hook methods that match"},
    {FIELD("types"), .argument = "PATTERN", .help = "record allocations of matching types only"},
    {FIELD("process"), .argument = "PATTERN",
     .help = "record processes whose main assembly matches"},
    {FIELD("min-size"), .argument = "BYTES", .help = "record objects of this size and above only"},
    {FIELD("sample"), .argument = "BYTES",
     .help = "record one allocation per so many bytes, each with its weight"},
    {FIELD("paused"), .help = "do not record before being told to (`shadowtrace ctl PID start`)"},
    {FIELD("no-control"), .help = "no socket for `list`, `dump`, `ctl` and `top`"},
    {FIELD("events"), .argument = "LIST",
     .help = "which events, with commas: alloc (the default), calls (every enter and leave), "
             "threads, modules, classes, jit, exceptions, gc, suspend, transitions (managed to "
             "native and back: a callback at each, see README), finalizers (concurrent collection "
             "goes off), or all"},
    {FIELD("calls"), .argument = "PATTERN", .help = "trace calls of matching methods only"},
    {FIELD("max-depth"), .argument = "N",
     .help = "trace calls nested at most N deep in other traced ones"},
    {FIELD("min-duration"), .argument = "TIME", .unit = 1,
     .help = "trace calls that take so long and longer: 500 (ns), 20us, 1ms"},
    {FIELD("call-buffer"), .argument = "BYTES",
     .help = "memory for traced calls that are not written yet, for whichever threads need it; "
             "what finds no room is counted"},
    {FIELD("args"), .group = "What methods are called with (slower hooks: elt2)",
     .argument = "PATTERN",
     .help = "arguments of methods whose full name matches; with --only of the same methods at a "
             "fifth of the cost: no others are hooked"},
    {FIELD("returns"), .argument = "PATTERN", .help = "what they return"},
    {FIELD("value-length"), .argument = "N", .help = "characters of a text at most"},
    {FIELD("value-items"), .argument = "N", .help = "elements of an array or a span at most"},
    {FIELD("exact-generics"),
     .help = "Cache<Customer>, where code is shared and other stacks say Cache<T>"},
    {FIELD("profile"), .group = "Samples of stacks", .argument = "HZ",
     .help = "sample the stacks of all threads so many times a second, without stopping them (at "
             "most 1000); `report --profile` shows it"},
    {FIELD("profile-snapshot"),
     .help = "the same by suspending the runtime, beside it; see `compare`"},
    {FIELD("hooks"), .group = "How", .help = "hooks for method calls"},
    {FIELD("capture"), .help = "where stacks come from"},
    {FIELD("check"), .argument = "N",
     .help = "compare every N-th stack of a thread with the runtime's own; 0: never. Without it at "
             "most 2 % of a thread's time; with --capture both 1"},
    {FIELD("check-calls"), .argument = "N",
     .help = "compare in the hook of every N-th call of a thread"},
    {FIELD("check-threads"), .argument = "TIME", .unit = 1000000,
     .help = "so often suspend the runtime and compare the stacks of all threads: 50 (ms), 1s"},
    {FIELD("native"),
     .help = "native frames, where logged snapshots have a run of them (libunwind)"},
    {FIELD("no-lines"), .help = "call paths by method only: no IL offsets, no lines"},
    {FIELD("optimized"),
     .help = "compile everything optimised from its first call: no tiers, own code too"},
    {FIELD("no-inline"), .help = "keep the JIT from inlining, so that every call is seen"},
    {FIELD("max-nodes"), .argument = "N", .help = "distinct call paths to keep"},
    {.name = "output",
     .letter = 'o',
     .kind = ARGS_TEXT,
     .group = "The log",
     .argument = "FILE",
     .help = "the first process writes FILE, others FILE with their PID before the extension; a "
             "folder: default names in it (shadowtrace-NAME-PID.ndjson, here)",
     ARGS_AT(struct record_args, output)},
    {FIELD("log"), .help = "a line for each allocation, or sums for each call site"},
    {FIELD("stacks"), .help = "stacks by number, or in each line"},
    {FIELD("full"), .help = "when the log cannot keep up: threads wait a little, or not"},
    {FIELD("compress"), .help = "zstd"},
    {FIELD("max-log"), .argument = "BYTES", .help = "keep the log below this size"},
    {.name = NULL},
};

static int out_of_memory(const struct cli_command *command)
{
    cli_complain(command, "out of memory");
    return CLI_IO;
}

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
        cli_complain(command, "no current directory: %s", strerror(errno));
        return CLI_IO;
    }
    length = strlen(path);
    if (!text || path[length - 1] == '/' || is_directory(path))
        key = "directory";
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    err = options_field_text(o, options_field_find(key), path);
    if (err == -EINVAL)
        cli_complain(command,
                     "the path %s is not UTF-8, which a log cannot name; choose another with -o",
                     path);
    memory_free(path);
    if (err == -ENOMEM)
        return out_of_memory(command);
    return err ? CLI_USAGE : CLI_OK;
}

int record_options_settle(const struct cli_command *command, const struct args *args,
                          struct record_args *r)
{
    bool check_given = args_given(&command->syntax, args, "check");
    char why[OPTIONS_WHY_SIZE];
    int status = set_output(command, &r->options, r->output);

    if (status == CLI_OK && options_settle(&r->options, check_given, why, sizeof(why)))
        status = cli_usage_error(command, "%s", why);
    return status;
}

void record_options_free(void *r)
{
    options_fini(&((struct record_args *)r)->options);
}

/* Permission bits do not tell all (read-only file systems, full ones, /proc): a file is made and taken away again. */
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

int record_options_check_output(const struct options *o, struct record_why *why)
{
    char folder[PATH_MAX];
    const char *slash;
    struct stat st;
    int err;

    if (o->output) {
        if (!lstat(o->output, &st))
            return record_refuse(
                why, CLI_IO, "%s exists and will not be overwritten; choose another name with -o",
                o->output);
        slash = strrchr(o->output, '/');
        if ((size_t)(slash - o->output) >= sizeof(folder))
            return record_refuse(why, CLI_IO, "the name of the log is too long");
        memcpy(folder, o->output, (size_t)(slash - o->output));
        folder[slash - o->output] = '\0';
    } else {
        snprintf(folder, sizeof(folder), "%s", o->directory);
    }
    err = can_create_in(folder);
    if (err)
        return record_refuse(why, CLI_IO,
                             "cannot write a log in %s: %s; choose another place with -o",
                             *folder ? folder : "/", strerror(-err));
    return CLI_OK;
}
