#include "base/process.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool process_stat_read(const char *which, struct process_stat *out)
{
    char path[40], text[1024];
    char *name, *rest;

    snprintf(path, sizeof(path), "/proc/%s/stat", which);
    file_read_text(path, text, sizeof(text));
    name = strchr(text, '(');
    rest = strrchr(text, ')'); /* the name may contain some */
    if (!name || !rest || rest < name)
        return false;
    *rest = '\0';
    snprintf(out->name, sizeof(out->name), "%s", name + 1);
    return sscanf(text, "%ld", &out->pid) == 1 &&
           sscanf(rest + 1,
                  " %c %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                  "%" SCNu64,
                  &out->state, &out->parent, &out->born) == 3;
}
