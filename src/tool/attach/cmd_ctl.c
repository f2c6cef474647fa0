/* shadowtrace ctl - change what a living process records. */
#include "attach/attach.h"

#include "process/client.h"
#include "terminal/text.h"

#include "base/atomics.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

struct action {
    const char *name;
    unsigned min, max;                    /* arguments after it */
    json_t *(*request)(char **arguments); /* NULL: an argument is wrong, or no memory */
    void (*print)(const json_t *reply, FILE *out);
};

static void print_settings(const json_t *r, FILE *out)
{
    const json_t *only = json_object_get(r, "only");
    long long sample = (long long)json_integer_value(json_object_get(r, "sample"));
    size_t i;
    json_t *pattern;

    fputs(json_is_true(json_object_get(r, "paused")) ? "paused" : "recording", out);
    if (sample)
        fprintf(out, ", one allocation per %lld bytes", sample);
    if (json_array_size(only))
        fputs(", allocations of", out);
    json_array_foreach(only, i, pattern)
    {
        fputc(' ', out);
        text_print(out, json_string_value(pattern) ? json_string_value(pattern) : "?");
    }
    fputc('\n', out);
}

static void print_text(const json_t *r, const char *key, FILE *out)
{
    const char *text = json_string_value(json_object_get(r, key));

    text_print(out, text ? text : "?");
}

static void print_status(const json_t *r, FILE *out)
{
    struct text_number a, b, c;

    print_text(r, "name", out);
    fputs(", .NET ", out);
    print_text(r, "runtime", out);
    fputs(", hooks ", out);
    print_text(r, "hooks", out);
    fprintf(out, ", pid %lld: ", (long long)json_integer_value(json_object_get(r, "pid")));
    print_settings(r, out);
    fprintf(out, "%s allocations of %s bytes in ",
            text_count(&a, (uint64_t)json_integer_value(json_object_get(r, "written"))),
            text_count(&b, (uint64_t)json_integer_value(json_object_get(r, "bytes"))));
    print_text(r, "log", out);
    fprintf(out, ", part %lld, %s bytes so far\n",
            (long long)json_integer_value(json_object_get(r, "part")),
            text_count(&c, (uint64_t)json_integer_value(json_object_get(r, "log_bytes"))));
}

static void print_rotated(const json_t *r, FILE *out)
{
    fputs("the log until now is ", out);
    print_text(r, "log", out);
    fputc('\n', out);
}

static void print_nothing(const json_t *r, FILE *out)
{
    (void)r, (void)out;
}

static json_t *ask_start(char **arguments)
{
    (void)arguments;
    return json_pack("{s:s, s:b}", "command", "set", "paused", 0);
}

static json_t *ask_stop(char **arguments)
{
    (void)arguments;
    return json_pack("{s:s, s:b}", "command", "set", "paused", 1);
}

static json_t *ask_mark(char **arguments)
{
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

static json_t *ask_rotate(char **arguments)
{
    (void)arguments;
    return json_pack("{s:s}", "command", "rotate");
}

static json_t *ask_status(char **arguments)
{
    (void)arguments;
    return json_pack("{s:s}", "command", "status");
}

static const struct action actions[] = {
    {"start", 0, 0, ask_start, print_settings},   {"stop", 0, 0, ask_stop, print_settings},
    {"mark", 1, 1, ask_mark, print_nothing},      {"only", 1, 256, ask_only, print_settings},
    {"sample", 1, 1, ask_sample, print_settings}, {"rotate", 0, 0, ask_rotate, print_rotated},
    {"status", 0, 0, ask_status, print_status},
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
    json_t *request = action->request(arguments), *reply = NULL;

    if (!request)
        return cli_usage_error(&cmd_ctl, "%s does not take \"%.100s\"", action->name,
                               arguments[0] ? arguments[0] : "");
    if (client_open(&client, pid)) {
        json_decref(request);
        cli_complain(&cmd_ctl, "%s", client.why);
        return CLI_IO;
    }
    if (client_ask(&client, request, &reply)) {
        cli_complain(&cmd_ctl, "%s", client.why);
        client_close(&client);
        return CLI_IO;
    }
    action->print(reply, out);
    json_decref(reply);
    client_close(&client);
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
        return cli_usage_error(&cmd_ctl, "%s takes %s", action->name,
                               action->max == 0   ? "no argument"
                               : action->max == 1 ? "one argument"
                                                  : "at least one pattern");
    return perform(pid, action, args->word + 2, out);
}

static const struct args_option options[] = {
    ARGS_EXPLAINED("start, stop", NULL,
                   "start or pause recording allocations; stacks are kept exact all the time",
                   .group = "Actions"),
    ARGS_EXPLAINED("mark", "TEXT", "write a mark into the log, which reports can use as a limit"),
    ARGS_EXPLAINED("only", "PATTERN...",
                   "record only allocations made by matching methods; *: by all again"),
    ARGS_EXPLAINED("sample", "BYTES",
                   "record one allocation in so many bytes, each with its weight; 0: all"),
    ARGS_EXPLAINED("rotate", NULL,
                   "begin a new part of the log; the old one becomes LOG.1, LOG.2, ..."),
    ARGS_EXPLAINED("status", NULL, "show what is recorded, and how much so far"),
    ARGS_END};

CLI_COMMAND(
    ctl, "PID ACTION [ARGUMENT...]", "change what a running process records",
    .syntax = {options, 2, UINT_MAX, "a process id and an action: PID ACTION", true},
    .notes = "A change takes effect in each thread at its next allocation, as a whole, and is "
             "written into the log (kind \"config\").\n\n"
             "Nothing else can be changed while the process runs. `only` filters allocations by "
             "the method that allocates; which methods are hooked (record --only), --hooks, "
             "--capture, --check, --types, --min-size and the format of the log are fixed at the "
             "start.");
