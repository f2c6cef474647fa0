/*
 * browse/filter.h - what is typed to see only a part: words like type=string, method=Parse,
 * thread=3, from=10s, to=50%, and a word alone, which is a method. What has no * or ?, and is no
 * whole name, may be anywhere in one.
 */
#ifndef SHADOWTRACE_BROWSE_FILTER_H
#define SHADOWTRACE_BROWSE_FILTER_H

#include "browse/words.h"
#include "model/shape.h"
#include "terminal/prompt.h"

struct filter {
    char text[PROMPT_SIZE]; /* as typed; "" all */
    struct words words;
    char patterns[WORDS_MAX][PROMPT_SIZE];
    const char *globs[4][WORDS_MAX];
    struct model_filter model; /* borrows from the above: a filter does not move */
};

/*
 * filter_new - Returns: 0; -EINVAL with one line in why; -ENOMEM. Owns: *out is the caller's, to be
 * freed with memory_free.
 */
int filter_new(const struct model *m, const char *text, struct filter **out, char *why,
               size_t why_size);

#endif
