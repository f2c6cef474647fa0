#include "cli/commands.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* A pipe whose reader went away (`| head`): no news to anybody. */
static bool reader_is_gone(void)
{
    struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};

    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* What was printed must have arrived. */
static int flush(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (!reader_is_gone())
        cli_complain(NULL, "cannot write to standard output%s%s", errno ? ": " : "",
                     errno ? strerror(errno) : "");
    return CLI_IO;
}

int main(int argc, char **argv)
{
    const struct cli_command *command = &cmd_help;
    const char *name = argc > 1 ? argv[1] : NULL;

    if (!name)
        return cli_usage_error(NULL, "expected a command");
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("shadowtrace %s\n", SHADOWTRACE_VERSION);
        return flush(CLI_OK);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return flush(cli_run(command, argc - 1, argv + 1, stdout));
    if (name[0] == '-')
        return cli_usage_error(NULL, "unknown option %.100s", name);
    command = cli_find(name);
    if (!command)
        return cli_unknown_command(NULL, name);
    return flush(cli_run(command, argc - 1, argv + 1, stdout));
}
