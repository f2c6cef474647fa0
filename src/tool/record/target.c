#include "record/target.h"

#include "base/cpu.h"
#include "base/file.h"
#include "base/path.h"
#include "command/command.h"
#include "record/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_process(const char *text)
{
    char path[64];

    if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 10)
        return false;
    snprintf(path, sizeof(path), "/proc/%s", text);
    return !access(path, F_OK);
}

static bool is_file(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Effective rights, as execve sees them. */
static bool is_executable(const char *path)
{
    return is_file(path) && !faccessat(AT_FDCWD, path, X_OK, AT_EACCESS);
}

/* Along search_path: the first executable, else the first file. Returns: 0 or -ENOENT. */
static int search(const char *command, const char *search_path, char path[PATH_MAX])
{
    char candidate[PATH_MAX];
    bool found = false, runs = false;

    while (search_path && !runs) {
        const char *end = strchrnul(search_path, ':');
        int length = (int)(end - search_path);
        int size = snprintf(candidate, sizeof(candidate), "%.*s%s%s", length, search_path,
                            length ? "/" : "./", command);

        runs = size < (int)sizeof(candidate) && is_executable(candidate);
        if (runs || (!found && size < (int)sizeof(candidate) && is_file(candidate))) {
            memcpy(path, candidate, strlen(candidate) + 1);
            found = true;
        }
        search_path = *end ? end + 1 : NULL;
    }
    return found ? 0 : -ENOENT;
}

static int refuse_unfound(const char *command, struct record_why *why)
{
    if (is_process(command))
        return record_refuse(why, CLI_USAGE,
                             "%s is a running process; \"shadowtrace attach %s\" records it",
                             command, command);
    if (!strchr(command, '/') && is_executable(command))
        return record_refuse(why, RECORD_NOT_FOUND, "%s: no such command; did you mean ./%s?",
                             command, command);
    return record_refuse(why, RECORD_NOT_FOUND, "%s: no such command", command);
}

static int refuse_unexecutable(const char *path, struct record_why *why)
{
    struct stat st;

    if (stat(path, &st))
        return record_refuse(
            why, errno == ENOENT || errno == ENOTDIR ? RECORD_NOT_FOUND : RECORD_NOT_EXECUTABLE,
            "%s: %s", path, errno == ENOENT ? "no such command" : strerror(errno));
    if (S_ISDIR(st.st_mode))
        return record_refuse(why, RECORD_NOT_EXECUTABLE, "%s is a folder", path);
    return record_refuse(why, RECORD_NOT_EXECUTABLE, "%s cannot be executed: %s", path,
                         S_ISREG(st.st_mode) ? strerror(EACCES) : "it is not a regular file");
}

int record_target_find(const char *command, const char *search_path, char path[PATH_MAX],
                       struct record_why *why)
{
    if (strlen(command) >= PATH_MAX)
        return record_refuse(why, RECORD_NOT_FOUND, "the name of COMMAND is too long");
    if (path_is_assembly(command) && is_file(command))
        return record_refuse(
            why, RECORD_NOT_EXECUTABLE,
            "%s is an assembly, not a command; start it as: shadowtrace record -- dotnet %s",
            command, command);
    if (!*command)
        return record_refuse(why, RECORD_NOT_FOUND, "COMMAND is empty");
    if (strchr(command, '/'))
        memcpy(path, command, strlen(command) + 1);
    else if (search(command, search_path, path))
        return refuse_unfound(command, why);
    return is_executable(path) ? CLI_OK : refuse_unexecutable(path, why);
}

/* Of any CPU. */
static enum record_target kind_of(const struct record_elf *elf)
{
    /* Exported for debuggers by native ahead-of-time and by single-file programs. */
    static const char *const native_aot[] = {"DotNetRuntimeDebugHeader", "RhpNewFast", NULL};
    static const char *const single_file[] = {"DotNetRuntimeInfo", NULL};

    if (record_elf_names(elf, native_aot))
        return RECORD_TARGET_NATIVE_AOT;
    if (record_elf_names(elf, single_file))
        return RECORD_TARGET_SINGLE_FILE;
    return record_elf_holds(elf, "libhostfxr.so") ? RECORD_TARGET_LAUNCHER : RECORD_TARGET_NATIVE;
}

enum record_target record_target_kind(const char *path)
{
    enum record_target kind = RECORD_TARGET_UNKNOWN;
    struct record_elf elf;
    char start[2];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = record_elf_open(&elf, fd);

    if (!err)
        kind = strcmp(elf.cpu, CPU_NAME) ? RECORD_TARGET_FOREIGN : kind_of(&elf);
    else if (fd >= 0 && file_read_whole(fd, start, sizeof(start), 0) && !memcmp(start, "#!", 2))
        kind = RECORD_TARGET_SCRIPT;
    record_elf_close(&elf);
    return kind;
}

const char *record_target_cpu(const char *path)
{
    const char *cpu = NULL;
    struct record_elf elf;

    if (!record_elf_open(&elf, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))) {
        /* The usual case needs no look at the whole file. */
        enum record_target kind =
            strcmp(elf.cpu, CPU_NAME) ? kind_of(&elf) : RECORD_TARGET_LAUNCHER;

        if (kind == RECORD_TARGET_LAUNCHER || kind == RECORD_TARGET_SINGLE_FILE)
            cpu = elf.cpu;
    }
    record_elf_close(&elf);
    return cpu;
}
