/* shadowtrace detach - end what `attach` began. */
#include "attach/attach.h"

#include "base/clock.h"
#include "process/client.h"
#include "process/dotnet.h"
#include "terminal/text.h"

#include <string.h>
#include <time.h>

#define LIBRARY  "libshadowtrace.so"
#define STEP_NS  20000000l
#define PATIENCE 30000000000ull

/* The runtime unloads the library once no thread is in it any more. Returns: whether it has. */
static bool unloaded(long pid)
{
    static const struct timespec step = {0, STEP_NS};
    uint64_t until = clock_ns() + PATIENCE;

    while (dotnet_mapped(pid, LIBRARY)) {
        if (clock_ns() >= until)
            return false;
        nanosleep(&step, NULL);
    }
    return true;
}

static int detach(long pid, FILE *out)
{
    struct client client;
    json_t *status = NULL, *reply = NULL;
    int err = client_open(&client, pid);

    if (!err)
        err = client_ask(&client, json_pack("{s:s}", "command", "status"), &status);
    if (!err)
        err = client_ask(&client, json_pack("{s:s}", "command", "detach"), &reply);
    client_close(&client);
    if (err)
        cli_complain(&cmd_detach, "%s", client.why);
    else if (!unloaded(pid))
        cli_complain(&cmd_detach,
                     "process %ld records nothing any more, but still has the library loaded", pid);
    if (!err)
        text_part(out, "detached; the log is ", client_text(status, "log"), "\n");
    json_decref(status);
    json_decref(reply);
    return err ? CLI_IO : CLI_OK;
}

static int run(void *into, const struct args *args, FILE *out)
{
    long pid;

    (void)into;
    if (!client_pid(args->word[0], &pid))
        return cli_usage_error(&cmd_detach, "\"%s\" is not a process id", args->word[0]);
    return detach(pid, out);
}

CLI_COMMAND(
    detach, "PID", "stop recording an attached process",
    .syntax = {NULL, 1, 1, "a process id; `shadowtrace list` shows those that are traced", false},
    .manual =
        CLI_MANUAL(.description = "The process completes its log, and the runtime unloads the "
                                  "library. A process that was started with the profiler keeps it "
                                  "until it exits; `shadowtrace ctl PID stop` stops its recording.",
                   .environment = manual_of_sockets, .files = manual_sockets,
                   .examples = MANUAL_TERMS(
                       {"shadowtrace detach 4711",
                        "end a recording that `attach` started in another terminal"})));
