#include "gate/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(const struct cli_command *command, const char *path, int error)
{
    cli_complain(command, "cannot write %s: %s", path, strerror(error));
    return CLI_IO;
}

/* All of it is in the file. Returns: 0 or an errno. */
static int fill(FILE *file, const struct budget *b)
{
    int error = budget_write(b, file) ? ENOMEM : 0;

    if (!error && ferror(file))
        error = EIO;
    if (fflush(file) && !error)
        error = errno;
    if (!error && fsync(fileno(file)) && errno != EINVAL)
        error = errno;
    if (fclose(file) && !error)
        error = errno;
    return error;
}

int replace_budget(const struct cli_command *command, const char *path, const struct budget *b)
{
    char real[PATH_MAX], temporary[PATH_MAX + 8];
    struct stat was;
    FILE *file;
    int fd, error;

    /*
     * The user named the file. A new one takes its place by rename, so no link is written
     * through.
     */
    if (!realpath(path, real) || stat(real, &was)) /* a link stays one */
        return failed(command, path, errno);
    snprintf(temporary, sizeof(temporary), "%s.XXXXXX", real);
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return failed(command, path, errno);
    file = fdopen(fd, "w");
    error = file ? 0 : errno;
    if (!file)
        close(fd);
    if (file && fchmod(fd, was.st_mode & 0777))
        error = errno;
    if (file) {
        int filled = fill(file, b);

        error = error ? error : filled;
    }
    if (!error && rename(temporary, real))
        error = errno;
    if (error)
        unlink(temporary);
    return error ? failed(command, path, error) : CLI_OK;
}
