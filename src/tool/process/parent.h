/* process/parent.h - which process started one that runs. */
#ifndef SHADOWTRACE_PROCESS_PARENT_H
#define SHADOWTRACE_PROCESS_PARENT_H

/* process_parent - the number of its parent as it is now. Returns: 0: it is gone, or has none. */
long process_parent(long pid);

#endif
