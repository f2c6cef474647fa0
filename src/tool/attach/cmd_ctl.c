/* shadowtrace ctl - change what a living process records. */
#include "attach/attach.h"

#include "process/client.h"
#include "terminal/text.h"

#include "base/atomics.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct action {
    const char *name;
    unsigned min, max;  /* arguments after it */
    const char *always; /* the request, or NULL */
    /* The request of its arguments. Returns: NULL: one of them is wrong, or no memory. */
    json_t *(*request)(char **arguments);
    void (*print)(const json_t *reply, FILE *out); /* NULL: there is nothing to print */
    const char *takes;                             /* in words */
};

static void print_settings(const json_t *r, FILE *out)
{
    const json_t *only = json_object_get(r, "only");
    long long sample = (long long)client_number(r, "sample");
    size_t i;
    json_t *pattern;

    fputs(json_is_true(json_object_get(r, "paused")) ? "paused" : "recording", out);
    if (sample)
        fprintf(out, ", one allocation per %lld bytes", sample);
    if (json_array_size(only))
        fputs(", allocations of", out);
    json_array_foreach(only, i, pattern)
    {
        text_part(out, " ", json_is_string(pattern) ? json_string_value(pattern) : "?", "");
    }
    fputc('\n', out);
}

static void print_lost(const json_t *r, FILE *out)
{
    const char *reason, *between = " (";
    struct text_number n;
    json_t *count;

    if (!client_number(r, "lost"))
        return;
    fprintf(out, "%s allocations are not in the log", text_count(&n, client_number(r, "lost")));
    json_object_foreach((json_t *)(uintptr_t)json_object_get(r, "lost_by"), reason, count)
    {
        fputs(between, out);
        text_print(out, reason);
        fprintf(out, " %s", text_count(&n, (uint64_t)json_integer_value(count)));
        between = ", ";
    }
    fputs(")\n", out);
}

static void print_status(const json_t *r, FILE *out)
{
    struct text_number a, b, c;

    text_part(out, "", client_text(r, "name"), ", .NET ");
    text_part(out, "", client_text(r, "runtime"), ", hooks ");
    text_print(out, client_text(r, "hooks"));
    fprintf(out, ", pid %lld: ", (long long)client_number(r, "pid"));
    print_settings(r, out);
    fprintf(out, "%s allocations of %s bytes in ", text_count(&a, client_number(r, "written")),
            text_count(&b, client_number(r, "bytes")));
    text_print(out, client_text(r, "log"));
    fprintf(out, ", part %lld, %s bytes so far\n", (long long)client_number(r, "part"),
            text_count(&c, client_number(r, "log_bytes")));
    print_lost(r, out);
}

static void print_rotated(const json_t *r, FILE *out)
{
    text_part(out, "the log until now is ", client_text(r, "log"), "\n");
}

/* Without what it found: the collection is made for what follows it in the log. */
static void print_collected(const json_t *r, FILE *out)
{
    if (json_object_get(r, "gc"))
        fprintf(out, "collection %lld: full, blocking; the program stood still for %.1f ms\n",
                (long long)client_number(r, "gc"), (double)client_number(r, "pause_ns") / 1e6);
}

static void print_heap(const json_t *r, FILE *out)
{
    struct text_number objects, references, roots, bytes;

    fprintf(out, "%s objects, %s references, %s roots in %s bytes\n",
            text_count(&objects, client_number(r, "objects")),
            text_count(&references, client_number(r, "references")),
            text_count(&roots, client_number(r, "roots")),
            text_count(&bytes, client_number(r, "file_bytes")));
    print_collected(r, out);
}

/* Of -o FILE, --output FILE or --output=FILE, or NULL. */
static const char *output_of(char **arguments)
{
    if (!arguments[1])
        return strncmp(arguments[0], "--output=", 9) == 0 && arguments[0][9] ? arguments[0] + 9
                                                                             : NULL;
    return strcmp(arguments[0], "-o") == 0 || strcmp(arguments[0], "--output") == 0 ? arguments[1]
                                                                                    : NULL;
}

/*
 * The process may have another current folder. It creates the file itself, with its own rights, so
 * root gains nothing for it by naming a file here.
 */
static json_t *ask_heap(char **arguments)
{
    const char *file = output_of(arguments);
    char *folder = file && *file != '/' ? realpath(".", NULL) : NULL;
    json_t *request = NULL;

    if (file && (*file == '/' || folder))
        request = json_pack("{s:s, s:s++}", "command", "heap", "file", folder ? folder : "",
                            folder ? "/" : "", file);
    free(folder);
    return request;
}

/* TEXT, --full TEXT, TEXT --full */
static json_t *ask_mark(char **arguments)
{
    bool first = strcmp(arguments[0], "--full") == 0;

    if (arguments[1] && !first && strcmp(arguments[1], "--full") != 0)
        return NULL;
    if (arguments[1])
        return json_pack("{s:s, s:s, s:b}", "command", "mark", "text", arguments[first], "full", 1);
    if (first)
        return NULL;
    return json_pack("{s:s, s:s}", "command", "mark", "text", arguments[0]);
}

static json_t *ask_only(char **arguments)
{
    json_t *only = json_array();

    if (arguments[1] || strcmp(arguments[0], "*") != 0)
        for (; *arguments; arguments++)
            json_array_append_new(only, json_string(*arguments));
    return json_pack("{s:s, s:o}", "command", "set", "only", only);
}

static json_t *ask_sample(char **arguments)
{
    uint64_t bytes;

    if (args_number(ARGS_BYTES, arguments[0], 1, (UINT64_C(1) << 53) - 1, &bytes))
        return NULL;
    return json_pack("{s:s, s:I}", "command", "set", "sample", (json_int_t)bytes);
}

#define SET(member) "{\"command\":\"set\"," member "}"
static const struct action actions[] = {
    {"start", 0, 0, SET("\"paused\":false"), NULL, print_settings, "no argument"},
    {"stop", 0, 0, SET("\"paused\":true"), NULL, print_settings, "no argument"},
    {"mark", 1, 2, NULL, ask_mark, print_collected, "a text, and perhaps --full"},
    {"gc", 0, 0, "{\"command\":\"gc\"}", NULL, print_collected, "no argument"},
    {"heap", 1, 2, NULL, ask_heap, print_heap, "a file: -o FILE"},
    {"only", 1, 256, NULL, ask_only, print_settings, "at least one pattern"},
    {"sample", 1, 1, NULL, ask_sample, print_settings, "one argument"},
    {"rotate", 0, 0, "{\"command\":\"rotate\"}", NULL, print_rotated, "no argument"},
    {"status", 0, 0, "{\"command\":\"status\"}", NULL, print_status, "no argument"},
};

static const struct action *action_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(actions); i++)
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    return NULL;
}

static int unknown_action(const char *name)
{
    const char *names[COUNT_OF(actions) + 1] = {NULL};

    for (size_t i = 0; i < COUNT_OF(actions); i++)
        names[i] = actions[i].name;
    return cli_unknown(&cmd_ctl, "action", name, names);
}

static int perform(long pid, const struct action *action, char **arguments, FILE *out)
{
    struct client client;
    json_t *reply = NULL, *request = action->always ? json_loads(action->always, 0, NULL)
                                                    : action->request(arguments);

    if (!request)
        return cli_usage_error(&cmd_ctl, "%s does not take \"%.100s\"", action->name,
                               arguments[0] ? arguments[0] : "");
    if (client_ask_once(&client, pid, request, &reply)) {
        cli_complain(&cmd_ctl, "%s", client.why);
        return client.unable ? CLI_CHECK : CLI_IO;
    }
    if (action->print)
        action->print(reply, out);
    json_decref(reply);
    return CLI_OK;
}

static int run(void *into, const struct args *args, FILE *out)
{
    const struct action *action = action_find(args->word[1]);
    unsigned given = (unsigned)args->count - 2;
    long pid;

    (void)into;
    if (!client_pid(args->word[0], &pid))
        return cli_usage_error(&cmd_ctl, "\"%.100s\" is not a process id", args->word[0]);
    if (!action)
        return unknown_action(args->word[1]);
    if (given < action->min || given > action->max)
        return cli_usage_error(&cmd_ctl, "%s takes %s", action->name, action->takes);
    return perform(pid, action, args->word + 2, out);
}

static const struct args_option options[] = {
    ARGS_EXPLAINED("start, stop",
                   "start or pause recording allocations; stacks are kept exact all the time",
                   .group = "Actions"),
    ARGS_EXPLAINED("mark",
                   "write a mark into the log, which reports can use as a limit; --full: after a "
                   "full collection",
                   .argument = "[--full] TEXT"),
    ARGS_EXPLAINED("gc", "run a full collection; the program is suspended for it"),
    ARGS_EXPLAINED("heap",
                   "run a full collection, and write all objects, their references and their roots "
                   "to a file for `shadowtrace retained`; with record --live, the file has the "
                   "lines that allocated them",
                   .argument = "-o FILE"),
    ARGS_EXPLAINED("only", "record only allocations of matching methods; *: of all again",
                   .argument = "PATTERN..."),
    ARGS_EXPLAINED("sample",
                   "sample one allocation per BYTES on average, with its weight; 0: record all",
                   .argument = "BYTES"),
    ARGS_EXPLAINED("rotate", "start a new part of the log; the old one becomes LOG.1, LOG.2, ..."),
    ARGS_EXPLAINED("status", "show what is recorded, and how much so far"),
    ARGS_END};

CLI_COMMAND(
    ctl, "PID ACTION [ARGUMENT...]", "change what a running process records",
    .syntax = {options, 2, UINT_MAX, "a process id and an action: PID ACTION", true},
    .notes = "A change takes effect in each thread at its next allocation, as a whole, and is "
             "written into the log (kind \"config\").\n\n"
             "Nothing else can be changed while the process runs. `only` filters allocations by "
             "the method that allocates; which methods are hooked (record --only), --hooks, "
             "--capture, --check, --types, --min-size and the format of the log are fixed at the "
             "start.",
    .manual = CLI_MANUAL(
            .description = "When the command ends, the action is done. Its result is printed.",
            .environment = manual_of_sockets, .files = manual_sockets,
            .examples = MANUAL_TERMS({"shadowtrace ctl 20265 mark warm",
                                      "write a mark, for `shadowtrace report --from warm`"},
                                     {"shadowtrace ctl 20265 mark --full warm",
                                      "do so after a full collection"},
                                     {"shadowtrace ctl 20265 heap -o app.heap",
                                      "write the heap, for `shadowtrace retained`"},
                                     {"shadowtrace ctl 20265 only 'Shop.*'",
                                      "record only allocations of methods of Shop"})));
