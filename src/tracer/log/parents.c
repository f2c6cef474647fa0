/* log/parents.c - who started this process, as the system has it when the recording begins. */
#include "log/records.h"

#include "base/process.h"

#include <stdio.h>
#include <unistd.h>

#define PARENTS_MOST 16

json_t *log_parents(uint64_t *born)
{
    struct process_stat one, parent;
    json_t *parents;
    char which[24];

    *born = 0;
    /* A /proc of another namespace has other numbers than the header. */
    if (!process_stat_read("self", &one) || one.pid != getpid())
        return NULL;
    *born = one.born;
    parents = json_array();
    while (json_array_size(parents) < PARENTS_MOST && one.parent > 0) {
        snprintf(which, sizeof(which), "%ld", one.parent);
        if (!process_stat_read(which, &parent) || parent.born > one.born)
            break;
        json_array_append_new(parents,
                              json_pack("{s:I, s:I, s:o}", "pid", (json_int_t)parent.pid, "born",
                                        (json_int_t)parent.born, "name", log_text(parent.name)));
        one = parent;
    }
    return parents;
}
