/* views/native_names.h - native frames as text, with the symbols of the files on this machine. */
#ifndef SHADOWTRACE_VIEWS_NATIVE_NAMES_H
#define SHADOWTRACE_VIEWS_NATIVE_NAMES_H

#include "readers/natives.h"

struct native_names;

/* native_names_new - NULL when memory runs out. `images` is borrowed. */
struct native_names *native_names_new(const struct log_native_images *images);
void native_names_free(struct native_names *names); /* NULL is fine */

/*
 * native_names_text - libfoo.so!function, else libfoo.so+0x1234: without symbols, or when the file
 * is not the one that was recorded. One line; valid until the next call. names may be NULL.
 */
const char *native_names_text(struct native_names *names, const struct log_native *frame);

#endif
