/*
 * shipper/http.h - one insertion over HTTP: what is written to a FILE goes to the server as it
 * comes, so that no row is kept. Only this file knows libcurl.
 */
#ifndef SHADOWTRACE_SHIPPER_HTTP_H
#define SHADOWTRACE_SHIPPER_HTTP_H

#include <stdint.h>
#include <stdio.h>

#define HTTP_WHY_SIZE 200

struct http_target {
    const char *url, *database;
    const char *user; /* user:password; NULL: none */
    const char *ca;   /* NULL: the system's */
    uint64_t timeout_ns;
};

/*
 * A server on this machine is reached directly, one elsewhere by the proxy that the environment
 * names (https_proxy, http_proxy, all_proxy, no_proxy). Credentials leave the machine in TLS only,
 * which goes through a proxy as a tunnel.
 *
 * http_check - whether a target can be used at all. Returns: 0; -EINVAL with a line in why.
 * http_is_clickhouse - whether rows go into ClickHouse's tables; otherwise the URL is used as it
 * is.
 */
int http_check(const struct http_target *target, char why[HTTP_WHY_SIZE]);
int http_is_clickhouse(const struct http_target *target);

/* Writes the body. Runs in a separate thread. Returns: 0 or -errno. */
typedef int http_body(void *context, FILE *out);

/*
 * http_send - Returns: 0: the server has taken all of it; -errno, with a line in why where the
 * number says little. Some of it may be there nevertheless.
 */
int http_send(const struct http_target *target, http_body *body, void *context,
              char why[HTTP_WHY_SIZE]);

/* http_version - the version of the schema that the server has. Returns: as http_send. */
int http_version(const struct http_target *target, unsigned *version, char why[HTTP_WHY_SIZE]);

#endif
