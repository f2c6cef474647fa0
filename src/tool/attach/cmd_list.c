/* shadowtrace list - the traced processes of this user. */
#include "attach/attach.h"

#include "process/client.h"
#include "process/dotnet.h"
#include "command/json_tree.h"
#include "command/reading.h"
#include "process/status.h"
#include "command/rows.h"
#include "terminal/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct list_args {
    enum reading_format format;
};

#define ARGS_INTO struct list_args
static const struct args_option options[] = {ROW_FORMAT, ARGS_END};

struct listing {
    json_t *found;
    unsigned stale;
};

static void on_socket(void *context, long pid, const char *socket)
{
    struct listing *l = context;
    struct client client;
    json_t *status = NULL;
    int err = client_open(&client, pid);

    if (err && access(socket, F_OK)) { /* nobody listened: it has been removed */
        l->stale++;
        return;
    }
    if (err || client_ask(&client, json_pack("{s:s}", "command", "status"), &status))
        status = json_pack("{s:I, s:s}", "pid", (json_int_t)pid, "error", client.why);
    client_close(&client);
    json_array_append_new(l->found, status);
}

static void print_one(const json_t *s, FILE *out)
{
    const char *error = json_string_value(json_object_get(s, "error"));
    bool attachable = json_is_true(json_object_get(s, "attachable"));
    char called[300], version[40];
    struct text_number count;

    fprintf(out, "%8lld  ", (long long)client_number(s, "pid"));
    if (attachable) {
        fprintf(out, "%-20s .NET %-8s not traced; `shadowtrace attach %lld` records it\n",
                text_clean(called, sizeof(called), client_text(s, "name")),
                text_clean(version, sizeof(version), client_text(s, "runtime")),
                (long long)client_number(s, "pid"));
        return;
    }
    if (!error)
        fprintf(out, "%-20s .NET %-8s %-9s %14s events  ",
                text_clean(called, sizeof(called), client_text(s, "name")),
                text_clean(version, sizeof(version), client_text(s, "runtime")),
                json_is_true(json_object_get(s, "paused")) ? "paused" : "recording",
                text_count(&count, client_number(s, "written")));
    text_part(out, "", error ? error : client_text(s, "log"), "\n");
}

/* Is it among the traced ones? */
static bool is_listed(const json_t *found, long pid)
{
    const json_t *one;
    size_t i;

    json_array_foreach(found, i, one)
    {
        if (client_number(one, "pid") == (uint64_t)pid)
            return true;
    }
    return false;
}

static void on_dotnet(void *context, const struct dotnet_process *p)
{
    struct listing *l = context;

    if (p->major >= DOTNET_MAJOR_OLDEST && !is_listed(l->found, p->pid))
        json_array_append_new(l->found,
                              json_pack("{s:I, s:s, s:s, s:b}", "pid", (json_int_t)p->pid, "name",
                                        p->name, "runtime", p->runtime, "attachable", 1));
}

static int run(void *into, const struct args *args, FILE *out)
{
    const struct list_args *a = into;
    struct listing l = {json_array(), 0};
    char why[CLIENT_WHY_SIZE];
    int err = client_each(on_socket, &l, why);
    struct json_writer w;
    unsigned left;
    size_t i, traced;
    json_t *one;

    (void)args;
    traced = json_array_size(l.found);
    dotnet_each(on_dotnet, &l);
    if (a->format == READING_JSON) {
        jw_init(&w, out);
        jw_tree(&w, NULL, l.found);
        err = jw_finish(&w) ? -ENOMEM : err;
    } else {
        if (!traced && !err)
            fputs("no traced processes\n", out);
        json_array_foreach(l.found, i, one) print_one(one, out);
    }
    json_decref(l.found);
    left = record_status_sweep(NULL);
    if (left)
        cli_complain(&cmd_list, "removed %u folder%s left by killed recordings", left,
                     text_plural(left));
    if (l.stale)
        cli_complain(&cmd_list, "removed %u socket%s left by processes that are gone", l.stale,
                     text_plural(l.stale));
    if (err)
        cli_complain(&cmd_list, "%s", why);
    return err ? CLI_IO : CLI_OK;
}

CLI_COMMAND(
    list, "[options]", "list your traced processes, and those that can be attached to",
    CLI_TAKES(struct list_args, options),
    .notes =
        "Looks for sockets in $XDG_RUNTIME_DIR/shadowtrace and /tmp/shadowtrace-UID. Removes "
        "sockets of processes that are gone, and what killed recordings left behind. Processes "
        "recorded with --no-control are not listed.",
    .manual = CLI_MANUAL(
            .description =
                "A traced process is one that `shadowtrace record` or the variables of "
                "`shadowtrace env` have had load the library. A line says its process id, name and "
                "runtime, whether it is recording, how many events it has recorded, and where its "
                "log is. Behind them come processes that run on .NET 8 or later and are not "
                "traced: `shadowtrace attach` records those, too.",
            .environment = manual_of_sockets, .files = manual_sockets,
            .examples = MANUAL_TERMS({"shadowtrace list", "find the process to look into"},
                                     {"shadowtrace list --format json | jq -r '.[].log // empty'",
                                      "have the logs of all"}),
            .see_also = "jq(1)"));
