/* views/print_profile.h - sampled stacks for people and for programs. */
#ifndef SHADOWTRACE_VIEWS_PRINT_PROFILE_H
#define SHADOWTRACE_VIEWS_PRINT_PROFILE_H

#include "views/print_stack.h"

#include "report/profile.h"

#include <stdio.h>

/*
 * Methods by samples, `top` of them (0 all), both sources side by side if both are there, and what
 * each cost.
 */
void print_profile_text(const struct report_profile *p, const struct print_stack *stack,
                        uint64_t top, FILE *out);

/* The same with the sampled stacks, as report_schema.json says. Returns: 0 or -ENOMEM. */
int print_profile_json(const struct report_profile *p, const struct print_stack *stack,
                       const struct log_input *log, const struct log_problems *problems, FILE *out);

/* Its members in an object that is open in w; without stacks if stack is NULL. */
void print_profile_members(const struct report_profile *p, const struct log_defs *defs,
                           const struct print_stack *stack, struct json_writer *w);

#endif
