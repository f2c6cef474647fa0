#include "process/parent.h"

#include "base/process.h"

#include <stdio.h>

long process_parent(long pid)
{
    struct process_stat one;
    char which[24];

    snprintf(which, sizeof(which), "%ld", pid);
    return process_stat_read(which, &one) && one.parent > 0 ? one.parent : 0;
}
