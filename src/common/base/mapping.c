#include "base/mapping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE 512

/* "START-END PERMISSIONS OFFSET DEVICE INODE    NAME" (proc(5)). */
static bool parse(const char *line, struct mapping *out)
{
    char permissions[5];
    int name = 0;

    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %*s %n", &out->start, &out->end,
               permissions, &name) < 3)
        return false;
    out->executable = strchr(permissions, 'x');
    (void)snprintf(out->name, sizeof(out->name), "%.*s", (int)strcspn(line + name, "\n"),
                   line + name);
    return true;
}

static bool find(FILE *maps, uintptr_t address, struct mapping *out)
{
    char line[LINE_SIZE];
    bool begins = true; /* a line longer than the buffer comes in pieces */

    while (fgets(line, sizeof(line), maps)) {
        bool first = begins;

        begins = strchr(line, '\n');
        if (first && parse(line, out) && address >= out->start && address < out->end)
            return true;
    }
    return false;
}

bool mapping_find(uintptr_t address, struct mapping *out)
{
    int saved = errno;
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = maps && find(maps, address, out);

    if (maps)
        (void)fclose(maps);
    errno = saved;
    return found;
}
