#include "command/why.h"

#include <stdarg.h>
#include <stdio.h>

int record_refuse(struct record_why *why, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why->text, sizeof(why->text), format, args);
    va_end(args);
    return status;
}
