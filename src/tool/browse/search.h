/*
 * browse/search.h - a text that is looked for in names. In small letters it means large ones as
 * well; of methods it is looked for before the parameters, unless it has a parenthesis.
 */
#ifndef SHADOWTRACE_BROWSE_SEARCH_H
#define SHADOWTRACE_BROWSE_SEARCH_H

#include "terminal/prompt.h"

struct search {
    char text[PROMPT_SIZE]; /* "": none */
    bool caseless, parameters;
    unsigned number; /* of searches so far: tells what was found for an older one */
};

void search_set(struct search *s, const char *text);

/* search_hits - in a text; search_hits_name - in a name of a method or type, which may be NULL. */
bool search_hits(const struct search *s, const char *text);
bool search_hits_name(const struct search *s, const char *name);

#endif
