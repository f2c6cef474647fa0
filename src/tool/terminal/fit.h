/* terminal/fit.h - shortens names and places to a number of columns where it hurts least: "…". */
#ifndef SHADOWTRACE_TERMINAL_FIT_H
#define SHADOWTRACE_TERMINAL_FIT_H

#include "base/buffer.h"

#include <stddef.h>
#include <stdio.h>

/*
 * fit_name - the name of a type or method, short or full, in at most `width` columns. Parameters go
 * first, then type arguments, then the middle of the namespaces and outer types:
 * "System.…Builder.Add(…)". The method, or type, itself is cut only where nothing else is left.
 * fit_place - "/folder/File.cs:12": folders go from the front: "…/View/File.cs:12".
 * fit_text - any other text: its middle goes.
 *
 * Returns: text in b (cleared first); "" when memory is short. Not cleaned (base/clean.h).
 */
const char *fit_name(struct buffer *b, const char *name, size_t width);
const char *fit_place(struct buffer *b, const char *place, size_t width);
const char *fit_text(struct buffer *b, const char *text, size_t width);

/* fit_print_name - the same on `out`, cleaned. Returns: the columns used. */
size_t fit_print_name(FILE *out, const char *name, size_t width);

#endif
