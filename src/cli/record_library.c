#include "cli/record_library.h"

#include "base/atomics.h"
#include "cli/commands.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY "libshadowtrace.so"
#define ENTRY   "DllGetClassObject" /* what the runtime asks a profiler for */

int record_library_find(const char *self, const char *override, char path[PATH_MAX],
                        struct record_why *why)
{
    static const char *const places[] = {"", "../lib/", "../lib/shadowtrace/"};
    const char *slash = strrchr(self, '/');
    int folder = slash ? (int)(slash - self) : 0;
    char candidate[PATH_MAX + 64];

    if (override && *override) {
        if (!realpath(override, path)) {
            if (*override != '/' || strlen(override) >= PATH_MAX)
                return record_refuse(
                    why, CLI_IO, "%s, which " RECORD_LIBRARY_VARIABLE " names, cannot be used: %s",
                    override, strerror(errno));
            memcpy(path, override, strlen(override) + 1);
        }
        return CLI_OK;
    }
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        snprintf(candidate, sizeof(candidate), "%.*s/%s%s", folder, self, places[i], LIBRARY);
        if (!access(candidate, F_OK) && realpath(candidate, path))
            return CLI_OK;
    }
    return record_refuse(
        why, CLI_IO,
        LIBRARY
        " is neither in %.*s nor in lib or lib/shadowtrace beside it; set " RECORD_LIBRARY_VARIABLE
        " to where it is",
        folder, self);
}

int record_library(char path[PATH_MAX], struct record_why *why)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[length < 0 ? 0 : length] = '\0';
    return record_library_find(self, getenv(RECORD_LIBRARY_VARIABLE), path, why);
}

/* In the child: the pipe says what is wrong, nothing on it that all is well. */
static void load_and_tell(const char *path, int fd)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *wrong = NULL;

    if (!library)
        wrong = dlerror();
    else if (!dlsym(library, ENTRY))
        wrong = "it has no " ENTRY ", so it is not this library";
    if (wrong && write(fd, wrong, strlen(wrong)) < 0)
        _exit(1);
    _exit(0);
}

/* Until the other end is closed. */
static void read_all(int fd, char *text, size_t size)
{
    size_t used = 0;
    ssize_t got;

    while (used < size - 1) {
        got = read(fd, text + used, size - 1 - used);
        if (got > 0)
            used += (size_t)got;
        else if (got == 0 || errno != EINTR)
            break;
    }
    text[used] = '\0';
}

int record_library_check(const char *path, struct record_why *why)
{
    char wrong[1024];
    const char *text = wrong;
    size_t length = strlen(path);
    int fds[2], status = 0;
    pid_t child;

    if (access(path, R_OK))
        return record_refuse(why, CLI_IO, "%s cannot be read: %s", path, strerror(errno));
    if (pipe2(fds, O_CLOEXEC))
        return record_refuse(why, CLI_IO, "no pipe: %s", strerror(errno));
    child = fork();
    if (child == 0) {
        close(fds[0]);
        load_and_tell(path, fds[1]);
    }
    close(fds[1]);
    if (child < 0) {
        close(fds[0]);
        return record_refuse(why, CLI_IO, "no process: %s", strerror(errno));
    }
    read_all(fds[0], wrong, sizeof(wrong));
    close(fds[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!strncmp(text, path, length) && !strncmp(text + length, ": ", 2))
        text += length + 2; /* dlerror names the file first; so do we */
    if (*text)
        return record_refuse(why, CLI_IO, "%s cannot be loaded: %s", path, text);
    if (WIFSIGNALED(status))
        return record_refuse(
            why, CLI_IO, "%s cannot be loaded: a process that tried was killed by signal %d (%s)",
            path, WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (status)
        return record_refuse(why, CLI_IO,
                             "%s cannot be loaded: a process that tried ended with status %d", path,
                             WEXITSTATUS(status));
    return CLI_OK;
}
