/* log/parents.c - who started this process, as the system has it when the recording begins. */
#include "log/internal.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PARENTS_MOST 16

struct process {
    long pid, parent;
    uint64_t born;
    char name[64];
};

/* "self" or a number. Returns: false: it is gone, or is not shown to this user. */
static bool look_at(const char *which, struct process *out)
{
    char path[40], text[1024];
    char *name, *rest;

    snprintf(path, sizeof(path), "/proc/%s/stat", which);
    file_read_text(path, text, sizeof(text));
    name = strchr(text, '(');
    rest = strrchr(text, ')'); /* the name may have some of its own */
    if (!name || !rest || rest < name)
        return false;
    *rest = '\0';
    snprintf(out->name, sizeof(out->name), "%s", name + 1);
    return sscanf(text, "%ld", &out->pid) == 1 &&
           sscanf(rest + 1,
                  " %*c %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                  "%" SCNu64,
                  &out->parent, &out->born) == 2;
}

json_t *log_parents(uint64_t *born)
{
    struct process one, parent;
    json_t *parents;
    char which[24];

    *born = 0;
    /* A /proc of another namespace has other numbers than the header. */
    if (!look_at("self", &one) || one.pid != getpid())
        return NULL;
    *born = one.born;
    parents = json_array();
    while (json_array_size(parents) < PARENTS_MOST && one.parent > 0) {
        snprintf(which, sizeof(which), "%ld", one.parent);
        if (!look_at(which, &parent) || parent.born > one.born)
            break;
        json_array_append_new(parents,
                              json_pack("{s:I, s:I, s:o}", "pid", (json_int_t)parent.pid, "born",
                                        (json_int_t)parent.born, "name", log_text(parent.name)));
        one = parent;
    }
    return parents;
}
