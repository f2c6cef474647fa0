/* browse/words.h - a line of words with blanks between; quotes and backslashes keep blanks. */
#ifndef SHADOWTRACE_BROWSE_WORDS_H
#define SHADOWTRACE_BROWSE_WORDS_H

#include <stddef.h>

#define WORDS_MAX  32
#define WORDS_SIZE 1024

struct words {
    char *word[WORDS_MAX + 1]; /* into text; NULL behind the last */
    size_t count;
    char text[WORDS_SIZE];
};

/*
 * words_split - 'as it is', "with \" in it", a\ b. Nothing else has a meaning: no variables, no
 * patterns, no commands. Returns: 0; -EINVAL: a quote is open, or there is too much.
 */
int words_split(const char *line, struct words *out);

#endif
