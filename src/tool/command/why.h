/* command/why.h - why a recording cannot start: an exit status, and the line that says it. */
#ifndef SHADOWTRACE_COMMAND_WHY_H
#define SHADOWTRACE_COMMAND_WHY_H

#include <limits.h>

/* As the shell answers when it cannot start a command. */
#define RECORD_NOT_EXECUTABLE 126
#define RECORD_NOT_FOUND      127

struct record_why {
    char text[PATH_MAX + 512]; /* empty: nothing wrong, or no memory to say it */
};

/* record_refuse - word it. Returns: status, for `return record_refuse(...)`. */
int record_refuse(struct record_why *why, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
