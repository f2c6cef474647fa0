/* shadowtrace list - the traced processes of this user. */
#include "attach/attach.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "process/client.h"
#include "process/dotnet.h"
#include "process/parent.h"
#include "command/json_tree.h"
#include "command/reading.h"
#include "process/status_folder.h"
#include "command/rows.h"
#include "terminal/forest.h"
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

#define NAME_COLUMNS 20

/* depth: how many of the listed ones it comes from. */
static void print_one(const json_t *s, unsigned depth, FILE *out)
{
    const char *error = json_string_value(json_object_get(s, "error"));
    const char *machine = json_string_value(json_object_get(s, "machine"));
    int indent = (int)(depth > NAME_COLUMNS / 4 ? NAME_COLUMNS / 4 : depth) * 2;
    int width = NAME_COLUMNS - indent;
    char called[300], version[40];
    struct text_number count;

    fprintf(out, "%8lld  %*s", (long long)client_number(s, "pid"), indent, "");
    if (machine) {
        fprintf(out, "%-*s .NET %-8s not traced; ", width,
                text_clean(called, sizeof(called), client_text(s, "name")),
                text_clean(version, sizeof(version), client_text(s, "runtime")));
        if (json_is_true(json_object_get(s, "attachable")))
            fprintf(out, "`shadowtrace attach %lld` records it\n",
                    (long long)client_number(s, "pid"));
        else
            text_part(out, "it is of ", machine, ", and this shadowtrace records " CPU_DOTNET "\n");
        return;
    }
    if (!error)
        fprintf(out, "%-*s .NET %-8s %-9s %14s events  ", width,
                text_clean(called, sizeof(called), client_text(s, "name")),
                text_clean(version, sizeof(version), client_text(s, "runtime")),
                json_is_true(json_object_get(s, "paused")) ? "paused" : "recording",
                text_count(&count, client_number(s, "written")));
    text_part(out, "", error ? error : client_text(s, "log"), "\n");
}

/* Its place among them; FOREST_NONE: it is none of them. */
static uint32_t place_of(const json_t *found, long pid)
{
    const json_t *one;
    size_t i;

    json_array_foreach(found, i, one)
    {
        if (client_number(one, "pid") == (uint64_t)pid)
            return (uint32_t)i;
    }
    return FOREST_NONE;
}

#define GENERATIONS 64

/* The nearest of them that it comes from. */
static uint32_t parent_of(const json_t *found, const json_t *one)
{
    long pid = process_parent((long)client_number(one, "pid"));
    uint32_t place = FOREST_NONE;

    for (int i = 0; i < GENERATIONS && pid > 1 && place == FOREST_NONE; i++) {
        place = place_of(found, pid);
        pid = process_parent(pid);
    }
    return place;
}

/* Who started whom: by place, and in JSON as `parent`. Returns: NULL without memory. */
static uint32_t *find_parents(const json_t *found)
{
    uint32_t *parents = memory_alloc((json_array_size(found) + 1) * sizeof(*parents));
    json_t *one;
    size_t i;

    json_array_foreach(found, i, one)
    {
        const json_t *parent;

        if (!parents)
            break;
        parents[i] = parent_of(found, one);
        parent = json_array_get(found, parents[i]);
        if (parent)
            json_object_set(one, "parent", json_object_get(parent, "pid"));
    }
    return parents;
}

static int print_tree(const json_t *found, const uint32_t *parents, FILE *out)
{
    uint32_t count = (uint32_t)json_array_size(found);
    uint32_t *order = memory_alloc((count + 1) * sizeof(*order));
    struct forest forest = {NULL, 0};
    int err = order ? 0 : -ENOMEM;

    for (uint32_t i = 0; order && i < count; i++)
        order[i] = i;
    if (!err)
        err = forest_make(&forest, parents, count, order, count);
    for (size_t i = 0; !err && i < forest.count; i++)
        print_one(json_array_get(found, forest.rows[i].item), forest.rows[i].depth, out);
    memory_free(order);
    forest_fini(&forest);
    return err;
}

static void on_dotnet(void *context, const struct dotnet_process *p)
{
    struct listing *l = context;

    if (p->major >= DOTNET_MAJOR_OLDEST && place_of(l->found, p->pid) == FOREST_NONE)
        json_array_append_new(l->found, json_pack("{s:I, s:s, s:s, s:s, s:b}", "pid",
                                                  (json_int_t)p->pid, "name", p->name, "runtime",
                                                  p->runtime, "machine", p->machine, "attachable",
                                                  strcmp(p->machine, CPU_DOTNET) == 0));
}

/* none: that there are no traced ones is to be said. */
static int print_all(enum reading_format format, const struct listing *l, bool none, FILE *out)
{
    uint32_t *parents = find_parents(l->found);
    int err = parents ? 0 : -ENOMEM;
    struct json_writer w;

    if (!err && format == READING_JSON) {
        jw_init(&w, out);
        jw_tree(&w, NULL, l->found);
        err = jw_finish(&w);
    } else if (!err) {
        if (none)
            fputs("no traced processes\n", out);
        err = print_tree(l->found, parents, out);
    }
    memory_free(parents);
    return err;
}

static int run(void *into, const struct args *args, FILE *out)
{
    const struct list_args *a = into;
    struct listing l = {json_array(), 0};
    char why[CLIENT_WHY_SIZE];
    int err = client_each(on_socket, &l, why), printed;
    size_t traced = json_array_size(l.found);
    unsigned left;

    (void)args;
    dotnet_each(on_dotnet, &l);
    printed = print_all(a->format, &l, !traced && !err, out);
    json_decref(l.found);
    left = status_folder_sweep(NULL);
    if (left)
        cli_complain(&cmd_list, "removed %u folder%s left by killed recordings", left,
                     text_plural(left));
    if (l.stale)
        cli_complain(&cmd_list, "removed %u socket%s left by processes that are gone", l.stale,
                     text_plural(l.stale));
    if (printed)
        cli_complain(&cmd_list, "out of memory");
    if (err)
        cli_complain(&cmd_list, "%s", why);
    return err || printed ? CLI_IO : CLI_OK;
}

CLI_COMMAND(
    list, "[options]", "list your traced processes, and those that can be attached to",
    CLI_TAKES(struct list_args, options),
    .notes =
        "Looks for sockets in $XDG_RUNTIME_DIR/shadowtrace and /tmp/shadowtrace-UID. Removes "
        "sockets of processes that are gone, and what killed recordings left behind. Processes "
        "recorded with --no-control are not listed.",
    .manual = CLI_MANUAL(
            .description = "A traced process has loaded the library, through `shadowtrace record` "
                           "or the variables of `shadowtrace env`. A line has its process id, name "
                           "and runtime, whether it is recording, the number of recorded events, "
                           "and the path of its log. Then follow processes on .NET 8 or later that "
                           "are not traced: `shadowtrace attach` can record them. A child process "
                           "is listed below its parent, even if a shell is between them.",
            .environment = manual_of_sockets, .files = manual_sockets,
            .examples = MANUAL_TERMS({"shadowtrace list", "find a process"},
                                     {"shadowtrace list --format json | jq -r '.[].log // empty'",
                                      "print the logs of all processes"}),
            .see_also = "jq(1)"));
