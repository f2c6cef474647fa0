#include "command/output.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse_existing(const struct cli_command *command, const char *path)
{
    cli_complain(command, "%s exists: remove it, or name another file with -o", path);
    return CLI_USAGE;
}

static int cannot_write(const struct cli_command *command, const char *path, int error)
{
    cli_complain(command, "cannot write %s%s%s", path, error ? ": " : "",
                 error ? strerror(error) : "");
    return CLI_IO;
}

/*
 * A separate file beside the one it is to become: new ("x"), and renamed without replacing
 * anything, so in a folder that others can write to neither their links nor their files are
 * written through.
 * Returns: 0 or an errno.
 */
static int open_temporary(struct output *o)
{
    struct buffer name = BUFFER_INIT;
    int error;

    buffer_format(&name, "%s.%ld.part", o->path, (long)getpid());
    o->temporary = buffer_take(&name);
    if (!o->temporary)
        return ENOMEM;
    o->file = fopen(o->temporary, "wxe");
    error = errno;
    if (o->file)
        return 0;
    memory_free(o->temporary);
    o->temporary = NULL;
    return error;
}

int output_open(const struct cli_command *command, const char *path, FILE *standard,
                struct output *o)
{
    struct stat there;
    int error;

    *o = (struct output){.path = path};
    if (strcmp(path, "-") == 0) {
        o->file = standard;
        return CLI_OK;
    }
    if (lstat(path, &there) != 0) {
        error = open_temporary(o);
    } else if (stat(path, &there) != 0 || S_ISREG(there.st_mode) || S_ISDIR(there.st_mode)) {
        return refuse_existing(command, path);
    } else {
        o->file = fopen(path, "we");
        error = o->file ? 0 : errno;
    }
    return error ? cannot_write(command, path, error) : CLI_OK;
}

/* Returns: 0 or an errno; EEXIST: somebody else made a file of that name meanwhile. */
static int give_name(const struct output *o)
{
    if (!rename_noreplace(o->temporary, o->path))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    /* The file system has no such renaming. */
    if (!access(o->path, F_OK))
        return EEXIST;
    return rename(o->temporary, o->path) ? errno : 0;
}

int output_close(const struct cli_command *command, struct output *o, int status)
{
    bool standard = strcmp(o->path, "-") == 0;
    int error = 0;

    errno = 0;
    if (standard) /* whether all was written is main()'s to say */
        return status;
    if (ferror(o->file))
        error = EIO;
    if (fclose(o->file))
        error = errno ? errno : EIO;
    if (status == CLI_OK && !error && o->temporary)
        error = give_name(o);
    if (o->temporary && (status != CLI_OK || error))
        unlink(o->temporary);
    memory_free(o->temporary);
    if (status != CLI_OK || !error)
        return status;
    return error == EEXIST ? refuse_existing(command, o->path)
                           : cannot_write(command, o->path, error);
}
