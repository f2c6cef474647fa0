/* args/value.h - the value of one option, for the parser and the help page. */
#ifndef SHADOWTRACE_ARGS_VALUE_H
#define SHADOWTRACE_ARGS_VALUE_H

#include "args/args.h"

#include "base/buffer.h"
#include "options/options_fields.h"

#define ARGS_NUMBER_SIZE 32

struct args_value {
    const struct args_option *row;
    const char *as, *text; /* how the option was written; its value */
    char *why;             /* ARGS_WHY_SIZE */
};

/* Returns: 0; -EINVAL with a line in why; -ENOMEM. */
int args_set(const struct args_value *v, void *into);

void args_default(const struct args_option *row, void *into);
const struct options_field *args_field(const struct args_option *row); /* NULL: none */
enum args_kind args_number_kind(const struct args_option *row); /* of a row that is a number */

/* In the largest unit that has it whole. Returns: text. */
const char *args_show_number(enum args_kind kind, uint64_t value, char text[ARGS_NUMBER_SIZE]);

/* Words what is wrong. Returns -EINVAL. */
int args_refuse(char why[ARGS_WHY_SIZE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
