/*
 * server/http.h - HTTP in front of the answers, by libmicrohttpd, on one thread of this program.
 * Only this file uses that library.
 *
 * Limits: HTTP_CONNECTIONS at once; further ones wait to be accepted. HTTP_STRANGERS of them may be
 * without an allowed request so far: a further one closes an old one. HTTP_TIMED may wait for an
 * answer that takes a given time. HTTP_REQUEST_SIZE bytes of a request's line and headers. A
 * connection is closed HTTP_FIRST_S after its start without an allowed request, after HTTP_IDLE_S
 * without a byte, and after HTTP_WHOLE_S for a whole request or answer. A client that has closed
 * its connection, or its half of it, frees its slot at the next http_run. Bodies are not read.
 */
#ifndef SHADOWTRACE_SERVER_HTTP_H
#define SHADOWTRACE_SERVER_HTTP_H

#include "server/listen.h"
#include "server/pending.h"
#include "server/token.h"

#define HTTP_CONNECTIONS  128
#define HTTP_STRANGERS    32
#define HTTP_TIMED        32
#define HTTP_REQUEST_SIZE ((size_t)16 << 10)
#define HTTP_FIRST_S      5u
#define HTTP_IDLE_S       15u
#define HTTP_WHOLE_S      60u

struct http;

/*
 * http_new - begin to accept. token NULL: on a Unix socket, where the peer's user is asked.
 * Returns: 0; -ENOMEM; -EIO. Owns: all is borrowed until http_free; the listener's descriptor goes
 * over, and listener->fd is -1 then. answers->done, release and context become its own.
 */
int http_new(struct listener *listener, const struct token *token, const struct args_list *hosts,
             struct pending_set *answers, struct http **out);

int http_descriptor(const struct http *h); /* becomes readable when there is something to do */
int http_timeout_ms(const struct http *h); /* until there is, without that; -1: never */
void http_run(struct http *h, uint64_t now_ns);

void http_quiesce(struct http *h); /* accepts no more */
unsigned http_connections(const struct http *h);

/* http_free - answers that are not done have been abandoned before. NULL is fine. */
void http_free(struct http *h);

#endif
