#include "record/library.h"

#include "base/atomics.h"
#include "command/command.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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
                return record_refuse(why, CLI_IO,
                                     "cannot use %s, which " RECORD_LIBRARY_VARIABLE " names: %s",
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
        "cannot find " LIBRARY
        " in %.*s, nor in lib or lib/shadowtrace beside it; set " RECORD_LIBRARY_VARIABLE
        " to its path",
        folder, self);
}

int record_library(char path[PATH_MAX], struct record_why *why)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[length < 0 ? 0 : length] = '\0';
    return record_library_find(self, getenv(RECORD_LIBRARY_VARIABLE), path, why);
}

static sigjmp_buf before_loading;

static void on_fault(int number)
{
    siglongjmp(before_loading, number);
}

/* A damaged file can map and not run. Returns: the dynamic linker's words, or NULL. */
static const char *load(const char *path)
{
    static const int faults[] = {SIGBUS, SIGSEGV, SIGILL, SIGFPE};
    const struct sigaction caught = {.sa_handler = on_fault};
    struct sigaction old[COUNT_OF(faults)];
    const char *wrong = NULL;
    void *library;
    int number;

    for (size_t i = 0; i < COUNT_OF(faults); i++)
        sigaction(faults[i], &caught, &old[i]);
    number = sigsetjmp(before_loading, 1);
    if (!number) {
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        wrong = !library                 ? dlerror()
                : !dlsym(library, ENTRY) ? "it has no " ENTRY ", so it is not a profiler"
                                         : NULL;
    }
    for (size_t i = 0; i < COUNT_OF(faults); i++)
        sigaction(faults[i], &old[i], NULL);
    return number ? strsignal(number) : wrong;
}

int record_library_check(const char *path, struct record_why *why)
{
    size_t length = strlen(path);
    const char *wrong;

    if (access(path, R_OK))
        return record_refuse(why, CLI_IO, "cannot read %s: %s", path, strerror(errno));
    wrong = load(path);
    if (!wrong)
        return CLI_OK;
    if (!strncmp(wrong, path, length) && !strncmp(wrong + length, ": ", 2))
        wrong += length + 2; /* dlerror names the file first; so do we */
    return record_refuse(why, CLI_IO, "cannot load %s: %s", path, wrong);
}
