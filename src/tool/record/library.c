#include "record/library.h"

#include "base/atomics.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/memory.h"
#include "command/command.h"
#include "record/elf.h"
#include "record/target.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libshadowtrace.so"
#define ENTRY   "DllGetClassObject" /* what the runtime asks a profiler for */

/* The library exports no version; it is in the text that it answers requests for its state with. */
#define VERSION_MARK "\"tracer\":\""
#define LIBRARY_MAX  ((size_t)256 << 20)

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
        " in %.*s, nor in lib or lib/shadowtrace next to it; set " RECORD_LIBRARY_VARIABLE
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
        if (!library)
            wrong = dlerror();
        else if (!dlsym(library, ENTRY))
            wrong = "it has no " ENTRY ", so it is not a profiler";
    }
    for (size_t i = 0; i < COUNT_OF(faults); i++)
        sigaction(faults[i], &old[i], NULL);
    return number ? strsignal(number) : wrong;
}

/* Where a version stands, of `length` characters; NULL: nothing in there says one. */
static const char *find_version(const char *data, size_t size, size_t *length)
{
    static const char letters[] =
        "0123456789.-+abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *end = data + size, *at = data;

    while ((at = memmem(at, (size_t)(end - at), VERSION_MARK, strlen(VERSION_MARK)))) {
        at += strlen(VERSION_MARK);
        *length = strspn(at, letters); /* file_load puts a NUL behind the file */
        if (*length && at[*length] == '"')
            return at;
    }
    return NULL;
}

/* Options, log and control socket are those of one version. Of what says none nothing is said. */
static int check_version(const char *path, struct record_why *why)
{
    const char *version;
    size_t size, length;
    char *data;
    int status = CLI_OK;
    int err = file_load(path, LIBRARY_MAX, &data, &size);

    if (err)
        return record_refuse(why, CLI_IO, "cannot read %s: %s", path, strerror(-err));
    version = find_version(data, size, &length);
    if (version && (length != strlen(SHADOWTRACE_VERSION) ||
                    memcmp(version, SHADOWTRACE_VERSION, length) != 0))
        status = record_refuse(why, CLI_IO,
                               "%s is of version %.*s, and this command of version %s; both must "
                               "be of one installation (" RECORD_LIBRARY_VARIABLE
                               " names another library)",
                               path, (int)length, version, SHADOWTRACE_VERSION);
    memory_free(data);
    return status;
}

int record_library_check(const char *path, struct record_why *why)
{
    size_t length = strlen(path);
    const char *wrong, *cpu;

    if (access(path, R_OK))
        return record_refuse(why, CLI_IO, "cannot read %s: %s", path, strerror(errno));
    cpu = record_elf_cpu(path);
    if (cpu && strcmp(cpu, CPU_NAME) != 0)
        return record_refuse(
            why, CLI_IO, "cannot load %s: it is for %s, and this command for " CPU_NAME, path, cpu);
    wrong = load(path);
    if (!wrong)
        return check_version(path, why);
    if (!strncmp(wrong, path, length) && !strncmp(wrong + length, ": ", 2))
        wrong += length + 2; /* dlerror names the file first; so do we */
    return record_refuse(why, CLI_IO, "cannot load %s: %s", path, wrong);
}

/* What a C library cannot load of the library that is in `folder`. */
struct misfit {
    enum record_libc libc;
    int folder_length;
    const char *library;
    char name[256];
};

/* Names that musl takes for itself. Source: musl's ldso/dynlink.c, load_library. */
static bool is_of_musl(const char *name)
{
    static const char *const own[] = {"libc.", "libpthread.", "libm.", "libdl.", "librt."};

    for (size_t i = 0; i < COUNT_OF(own); i++)
        if (!strncmp(name, own[i], strlen(own[i])))
            return true;
    return false;
}

static bool is_misfit(void *context, const char *name)
{
    struct misfit *m = context;
    char beside[PATH_MAX];
    bool fits = m->libc == RECORD_LIBC_MUSL ? is_of_musl(name) : strncmp(name, "libc.musl-", 10);

    if (!fits && m->libc == RECORD_LIBC_MUSL) {
        int size = snprintf(beside, sizeof(beside), "%.*s%s", m->folder_length, m->library, name);

        fits = size < (int)sizeof(beside) && !access(beside, R_OK);
    }
    if (!fits)
        snprintf(m->name, sizeof(m->name), "%s", name);
    return !fits;
}

static bool is_launcher(const char *program)
{
    enum record_target kind = record_target_kind(program);

    return kind == RECORD_TARGET_LAUNCHER || kind == RECORD_TARGET_SINGLE_FILE;
}

static int check_cpu(const char *library, const char *program, const char *name,
                     struct record_why *why)
{
    const char *cpu = record_target_cpu(program), *other = record_elf_cpu(library);

    if (!cpu || !other || !strcmp(cpu, other))
        return CLI_OK;
    return record_refuse(
        why, CLI_IO, "%s is a program for %s, and %s is for %s; use the shadowtrace of that CPU",
        name, cpu, library, other);
}

int record_library_fits(const char *library, const char *program, const char *name,
                        struct record_why *why)
{
    const char *slash = strrchr(library, '/');
    struct misfit m = {.libc = record_elf_libc(program),
                       .library = library,
                       .folder_length = slash ? (int)(slash + 1 - library) : 0};
    struct record_elf elf;
    int fd = m.libc == RECORD_LIBC_UNKNOWN ? -1 : open(library, O_RDONLY | O_CLOEXEC);
    bool found = !record_elf_open(&elf, fd) && record_elf_needs(&elf, is_misfit, &m);

    record_elf_close(&elf);
    if (!found || !is_launcher(program))
        return check_cpu(library, program, name, why);
    if (m.libc == RECORD_LIBC_GLIBC)
        return record_refuse(why, CLI_IO, "%s is a program for glibc, and %s is for musl (%s)",
                             name, library, m.name);
    return record_refuse(
        why, CLI_IO,
        "%s is a program for musl, and %s is for glibc: it needs %s; set " RECORD_LIBRARY_VARIABLE
        " to the library of the NuGet package",
        name, library, m.name);
}

int record_library_usable(char path[PATH_MAX], struct record_why *why)
{
    int status = record_library(path, why);

    return status == CLI_OK ? record_library_check(path, why) : status;
}
