#include "profiler/process.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static char *file_read(const char *path, size_t *size)
{
    struct buffer b = BUFFER_INIT;

    buffer_file(&b, path);
    *size = b.size;
    return buffer_take(&b);
}

/* The main assembly as the host finds it: the first .dll or .exe after `dotnet`, or the image. */
static const char *main_find(const struct process *p)
{
    const char *file = p->executable[0] ? p->executable : p->command[0] ? p->command[0] : "process";

    if (strcmp(path_base_name(file), "dotnet") == 0)
        for (char **argument = p->command; *argument && argument[1]; argument++)
            if (path_is_assembly(argument[1]))
                return argument[1];
    return file;
}

static char *name_find(const struct process *p)
{
    const char *name = path_base_name(main_find(p));

    struct buffer b = BUFFER_INIT;

    buffer_append(&b, name, path_stem(name));
    return *name ? buffer_take(&b) : memory_strdup("process");
}

static char *config_find(const struct process *p)
{
    const char *path = main_find(p);
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
        p->name = name_find(p);
        p->config = config_find(p);
    }
    if (p->name && p->config)
        return 0;
    process_free(p);
    return -ENOMEM;
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
