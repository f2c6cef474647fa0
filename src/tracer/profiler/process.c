#include "profiler/process.h"

#include "base/buffer.h"
#include "base/bundle.h"
#include "base/memory.h"
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *file_read(const char *path, size_t *size)
{
    struct buffer b = BUFFER_INIT;

    buffer_file(&b, path);
    *size = b.size;
    return buffer_take(&b);
}

/*
 * The main assembly as the host finds it: the first .dll or .exe after `dotnet`, or the image. On
 * the way there: the deps.json that the host is given. Without one `dotnet` is the SDK, which tells
 * whom it starts by a variable.
 */
static void main_find(struct process *p)
{
    bool host;

    p->main = p->executable[0] ? p->executable : p->command[0] ? p->command[0] : "process";
    host = strcmp(path_base_name(p->main), "dotnet") == 0;
    p->sdk = host || getenv("DOTNET_HOST_PATH");
    if (!host)
        return;
    for (char **argument = p->command; *argument && argument[1]; argument++) {
        if (strcmp(argument[0], "--depsfile") == 0)
            p->deps = argument[1];
        else if (path_is_assembly(argument[1])) {
            p->main = argument[1];
            p->sdk = getenv("DOTNET_HOST_PATH");
            return;
        }
    }
    p->deps = NULL;
}

static char *name_find(const struct process *p)
{
    const char *name = path_base_name(p->main);

    struct buffer b = BUFFER_INIT;

    buffer_append(&b, name, path_stem(name));
    return *name ? buffer_take(&b) : memory_strdup("process");
}

static char *config_find(const struct process *p)
{
    const char *path = p->main;
    struct buffer b = BUFFER_INIT;

    buffer_append(&b, path, path_stem(path));
    buffer_text(&b, ".runtimeconfig.json");
    return buffer_take(&b);
}

static void process_free(struct process *p)
{
    memory_free(p->executable);
    memory_free(p->arguments);
    memory_free(p->command);
    memory_free(p->name);
    memory_free(p->config);
    memset(p, 0, sizeof(*p));
}

int process_read(struct process *p)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    size_t size, count = 0, at;

    memset(p, 0, sizeof(*p));
    path[length > 0 ? length : 0] = '\0';
    p->executable = memory_strdup(path);
    p->arguments = file_read("/proc/self/cmdline", &size);
    for (at = 0; p->arguments && at < size; at += strlen(p->arguments + at) + 1)
        count++;
    p->command = memory_zalloc(count + 1, sizeof(*p->command));
    if (p->executable && p->arguments && p->command) {
        for (at = 0, count = 0; at < size; at += strlen(p->arguments + at) + 1)
            p->command[count++] = p->arguments + at;
        main_find(p);
        p->name = name_find(p);
        p->config = config_find(p);
    }
    if (p->name && p->config)
        return 0;
    process_free(p);
    return -ENOMEM;
}

/* In what the program may write: the host's mark is there, with the number that publishing set. */
static int bundle_match(struct dl_phdr_info *info, size_t size, void *context)
{
    static const uint8_t mark[BUNDLE_MARK_SIZE] = BUNDLE_MARK;
    uint64_t *header = context;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uint8_t *bytes = (const uint8_t *)(info->dlpi_addr + segment->p_vaddr); /* NOLINT */
        const uint8_t *found = segment->p_type == PT_LOAD && segment->p_flags & PF_W
                                   ? memmem(bytes, segment->p_filesz, mark, sizeof(mark))
                                   : NULL;

        if (found && found - bytes >= BUNDLE_BEFORE_MARK)
            memcpy(header, found - BUNDLE_BEFORE_MARK, sizeof(*header));
    }
    return 1; /* the program is the first */
}

uint64_t process_bundle(void)
{
    uint64_t header = 0;

    dl_iterate_phdr(bundle_match, &header);
    return header;
}

struct image_search {
    uintptr_t address, low, high;
};

static int image_match(struct dl_phdr_info *info, size_t size, void *context)
{
    struct image_search *search = context;
    uintptr_t low = UINTPTR_MAX, high = 0;
    int found = 0;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;

        if (segment->p_type != PT_LOAD)
            continue;
        low = from < low ? from : low;
        high = to > high ? to : high;
        found |= search->address >= from && search->address < to;
    }
    if (found) {
        search->low = low;
        search->high = high;
    }
    return found;
}

int process_image(const void *address, uintptr_t *low, uintptr_t *high)
{
    struct image_search search = {.address = (uintptr_t)address};

    if (!dl_iterate_phdr(image_match, &search))
        return -ENOENT;
    *low = search.low;
    *high = search.high;
    return 0;
}
