/* server/token.h - the token that TCP clients show: in a file that only this user can read. */
#ifndef SHADOWTRACE_SERVER_TOKEN_H
#define SHADOWTRACE_SERVER_TOKEN_H

#include "symbols/sha256.h"

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_LEAST 16 /* letters */

struct token {
    unsigned char digest[SYMBOLS_SHA256_SIZE]; /* of the text, which is not kept */
};

/*
 * token_load - from a file. If it does not exist, creates it, 0600, with a new token.
 * Returns: 0; -errno with a line in why: it cannot be read or created, others can read it, it is
 * too short.
 */
int token_load(const char *path, struct token *out, char *why, size_t why_size);

/* token_is - takes as long whatever is wrong with the text. */
bool token_is(const struct token *token, const char *text);

#endif
