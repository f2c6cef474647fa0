#include "process/parent.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

long process_parent(long pid)
{
    char path[64], text[1024];
    const char *rest;
    long parent = 0;

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    file_read_text(path, text, sizeof(text));
    rest = strrchr(text, ')'); /* behind its name, which may have some of its own */
    return rest && sscanf(rest + 1, " %*c %ld", &parent) == 1 && parent > 0 ? parent : 0;
}
