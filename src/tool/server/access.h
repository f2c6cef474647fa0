/*
 * server/access.h - what a request's own words may be: which name it calls this machine by, where
 * it comes from, what it takes. A page that another site shows in the user's browser can send
 * requests here; a name that it chose (DNS rebinding) or its own origin gives it away.
 */
#ifndef SHADOWTRACE_SERVER_ACCESS_H
#define SHADOWTRACE_SERVER_ACCESS_H

#include "args/args.h"

/* Header Host: an address as a number, localhost, or one of `names`; NULL: not given, refused. */
bool access_host(const char *host, const struct args_list *names);

/*
 * Headers Origin and Sec-Fetch-Site, NULL: not given. An origin has to be this one, http://HOST;
 * what a browser says to be cross-site or same-site is refused.
 */
bool access_origin(const char *origin, const char *site, const char *host);

/* Header Authorization. Returns: what follows "Bearer "; NULL: it is none. */
const char *access_bearer(const char *authorization);

/* Header Accept-Encoding: whether gzip is taken. */
bool access_gzip(const char *encodings);

/* A number from 1 to `most` and no other letter. Returns: whether it is one. */
bool access_number(const char *text, unsigned long most, unsigned long *out);

#endif
