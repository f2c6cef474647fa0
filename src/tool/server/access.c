#include "server/access.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_SIZE 256

static bool is_address(const char *text)
{
    struct in6_addr room;

    return inet_pton(AF_INET, text, &room) == 1 || inet_pton(AF_INET6, text, &room) == 1;
}

/* "name", "name:80", "[::1]:80" without the port. Returns: whether it is of that form. */
static bool split_host(const char *host, char name[NAME_MAX_SIZE])
{
    const char *end = *host == '[' ? strchr(host, ']') : host + strcspn(host, ":");
    const char *begin = *host == '[' ? host + 1 : host, *port;

    if (!end || end == begin || end - begin >= NAME_MAX_SIZE)
        return false;
    memcpy(name, begin, (size_t)(end - begin));
    name[end - begin] = '\0';
    port = *host == '[' ? end + 1 : end;
    if (!*port)
        return true;
    return *port == ':' && port[1 + strspn(port + 1, "0123456789")] == '\0';
}

bool access_host(const char *host, const struct args_list *names)
{
    char name[NAME_MAX_SIZE];

    if (!host || !split_host(host, name))
        return false;
    if (is_address(name) || !strcasecmp(name, "localhost"))
        return true;
    for (size_t i = 0; i < names->count; i++)
        if (!strcasecmp(name, names->item[i]))
            return true;
    return false;
}

bool access_origin(const char *origin, const char *site, const char *host)
{
    static const char scheme[] = "http://";

    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return false;
    if (!origin)
        return true;
    return host && !strncasecmp(origin, scheme, sizeof(scheme) - 1) &&
           !strcasecmp(origin + sizeof(scheme) - 1, host);
}

const char *access_bearer(const char *authorization)
{
    static const char word[] = "Bearer ";

    if (!authorization || strncasecmp(authorization, word, sizeof(word) - 1) != 0)
        return NULL;
    authorization += sizeof(word) - 1;
    return authorization + strspn(authorization, " ");
}

/* ";q=0", ";q=0.0", ...: it is not taken. */
static bool is_refused(const char *parameters, size_t size)
{
    size_t at = strspn(parameters, "; \t");

    if (at >= size || tolower((unsigned char)parameters[at]) != 'q' || parameters[at + 1] != '=')
        return false;
    at += 2;
    return at < size && at + strspn(parameters + at, "0. \t") >= size;
}

bool access_gzip(const char *encodings)
{
    while (encodings && *encodings) {
        size_t size, name;

        encodings += strspn(encodings, ", \t");
        size = strcspn(encodings, ",");
        name = strcspn(encodings, ",; \t");
        if (name == 4 && !strncasecmp(encodings, "gzip", 4))
            return !is_refused(encodings + name, size - name);
        encodings += size;
    }
    return false;
}

bool access_number(const char *text, unsigned long most, unsigned long *out)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *out = strtoul(text, &end, 10);
    return !errno && !*end && *out >= 1 && *out <= most;
}
