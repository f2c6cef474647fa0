#include "cli/record_library.h"

#include "base/atomics.h"
#include "cli/commands.h"

#include <dlfcn.h>
#include <errno.h>
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

int record_library_check(const char *path, struct record_why *why)
{
    if (access(path, R_OK))
        return record_refuse(why, CLI_IO, "%s cannot be read: %s", path, strerror(errno));
    return CLI_OK;
}

const char *record_library_try(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    size_t length = strlen(path);
    const char *wrong;

    if (library)
        return dlsym(library, ENTRY) ? NULL : "it has no " ENTRY ", so it is not this library";
    wrong = dlerror();
    if (!strncmp(wrong, path, length) && !strncmp(wrong + length, ": ", 2))
        wrong += length + 2; /* dlerror names the file first; so do we */
    return wrong;
}

int record_library_refuse(const char *path, const char *wrong, int status, struct record_why *why)
{
    if (*wrong)
        return record_refuse(why, CLI_IO, "%s cannot be loaded: %s", path, wrong);
    if (WIFSIGNALED(status))
        return record_refuse(
            why, CLI_IO, "%s cannot be loaded: a process that tried was killed by signal %d (%s)",
            path, WTERMSIG(status), strsignal(WTERMSIG(status)));
    return record_refuse(why, CLI_IO,
                         "%s cannot be loaded: a process that tried ended with status %d", path,
                         WEXITSTATUS(status));
}
