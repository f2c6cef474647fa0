/* retained/print.h - what a dump holds, as text and as JSON. */
#ifndef SHADOWTRACE_RETAINED_PRINT_H
#define SHADOWTRACE_RETAINED_PRINT_H

#include "retained/held.h"

struct retained_print {
    const struct held *held;
    const char *log, *dump; /* as given */
    uint64_t top;           /* rows; 0 all */
    bool paths, wide;       /* paths: what was asked for, instead of rows */
};

/* Return: 0 or -ENOMEM. */
int retained_text(const struct retained_print *p, FILE *out);
int retained_json(const struct retained_print *p, FILE *out);

#endif
