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
    return flush(cli_start(argc, argv, stdout));
}
