#include "shipper/http.h"

#include "base/buffer.h"
#include "base/clean.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <curl/curl.h>

#define ANSWER_MAX 4096 /* bytes that are kept of what the server says */
#define HTTPS      "https://"
#define HOST_SIZE  256

/* One request: what goes out comes out of a pipe, which a thread fills. */
struct request {
    CURL *curl;
    struct buffer url, answer;
    int from; /* of the pipe; -1: there is no body */
    http_body *body;
    void *context;
    FILE *to;
    int err; /* of the body */
    char why[CURL_ERROR_SIZE];
};

int http_is_clickhouse(const struct http_target *target)
{
    return !strchr(target->url, '?');
}

/* The host of an address without its port, or false. */
static bool host_of(const char *url, char host[HOST_SIZE])
{
    const char *begin = strstr(url, "://"), *end;

    if (!begin)
        return false;
    begin += 3;
    end = *begin == '[' ? strchr(begin, ']') : begin + strcspn(begin, ":/?#");
    if (*begin == '[')
        begin++;
    if (!end || end - begin >= HOST_SIZE)
        return false;
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = '\0';
    end += *end == ']';
    return !*end || strchr(":/?", *end);
}

/* Passwords cross no network in the clear, but may reach a server on this machine. */
static bool is_here(const char *url)
{
    char host[HOST_SIZE];
    struct in6_addr six;
    struct in_addr four;

    if (!host_of(url, host))
        return false;
    return !strcasecmp(host, "localhost") ||
           (inet_pton(AF_INET, host, &four) == 1 && ntohl(four.s_addr) >> 24 == 127) ||
           (inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six));
}

int http_check(const struct http_target *target, char why[HTTP_WHY_SIZE])
{
    bool https = strncmp(target->url, HTTPS, strlen(HTTPS)) == 0;

    *why = '\0';
    if (!https && strncmp(target->url, "http://", 7) != 0)
        snprintf(why, HTTP_WHY_SIZE, "--to wants an address that begins with https:// or http://");
    else if (strchr(target->url, '@'))
        snprintf(why, HTTP_WHY_SIZE,
                 "--to wants no user in the address: --credentials FILE has it, which others "
                 "cannot read");
    else if (target->user && !https && !is_here(target->url))
        snprintf(why, HTTP_WHY_SIZE,
                 "--credentials would cross the network in the clear: use https://");
    return *why ? -EINVAL : 0;
}

/* ---- bodies ---- */

static void *write_body(void *request)
{
    struct request *r = request;

    r->err = r->body(r->context, r->to);
    if (fclose(r->to) && !r->err)
        r->err = -EPIPE;
    return NULL;
}

static size_t read_body(char *to, size_t size, size_t count, void *request)
{
    struct request *r = request;
    ssize_t got;

    do
        got = read(r->from, to, size * count);
    while (got < 0 && errno == EINTR);
    return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

static size_t take_answer(char *text, size_t size, size_t count, void *request)
{
    struct request *r = request;
    size_t room = ANSWER_MAX - r->answer.size;

    buffer_append(&r->answer, text, size * count < room ? size * count : room);
    return size * count;
}

/* ---- requests ---- */

/* query NULL: the URL as it is. */
static int make_url(struct request *r, const struct http_target *target, const char *query)
{
    char *database = curl_easy_escape(r->curl, target->database, 0);
    char *text = query ? curl_easy_escape(r->curl, query, 0) : NULL;

    buffer_text(&r->url, target->url);
    if (query && database && text)
        buffer_format(&r->url, "%s?database=%s&query=%s&input_format_skip_unknown_fields=1",
                      target->url[strlen(target->url) - 1] == '/' ? "" : "/", database, text);
    r->url.failed |= query && !(database && text);
    curl_free(database);
    curl_free(text);
    return r->url.failed ? -ENOMEM : 0;
}

/* An option; *ok says whether all were taken. */
#define SET(option, value) (ok = curl_easy_setopt(c, (option), (value)) == CURLE_OK && ok)

static bool set_options(struct request *r, const struct http_target *target)
{
    CURL *c = r->curl;
    long ms = (long)(target->timeout_ns / 1000000);
    bool ok = true;

    SET(CURLOPT_URL, r->url.data);
#if LIBCURL_VERSION_NUM >= 0x075500
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
#else
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_ERRORBUFFER, r->why);
    SET(CURLOPT_TIMEOUT_MS, ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, ms < 10000 ? ms : 10000L);
    SET(CURLOPT_WRITEFUNCTION, take_answer);
    SET(CURLOPT_WRITEDATA, r);
    SET(CURLOPT_USERAGENT, "shadowtrace/" SHADOWTRACE_VERSION);
    if (target->user) {
        SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        SET(CURLOPT_USERPWD, target->user);
    }
    if (target->ca)
        SET(CURLOPT_CAINFO, target->ca);
    if (is_here(target->url)) /* http_proxy and others would have it all, the password too */
        SET(CURLOPT_NOPROXY, "*");
    return ok;
}

static int request_init(struct request *r, const struct http_target *target, const char *query)
{
    int err;

    *r = (struct request){.from = -1};
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return -ENOMEM;
    r->curl = curl_easy_init();
    err = r->curl ? make_url(r, target, query) : -ENOMEM;
    if (!err && !set_options(r, target))
        err = -ENOMEM;
    return err;
}

static void request_fini(struct request *r)
{
    curl_easy_cleanup(r->curl);
    curl_global_cleanup();
    buffer_free(&r->url);
    buffer_free(&r->answer);
}

/* What went wrong, as a line. */
static int perform(struct request *r, char why[HTTP_WHY_SIZE])
{
    CURLcode code = curl_easy_perform(r->curl);
    long status = 0;

    if (code == CURLE_OUT_OF_MEMORY)
        return -ENOMEM;
    if (code) {
        snprintf(why, HTTP_WHY_SIZE, "%.199s", *r->why ? r->why : curl_easy_strerror(code));
        clean_in_place(why);
        return -EIO;
    }
    (void)curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 300)
        return 0;
    buffer_char(&r->answer, '\0');
    snprintf(why, HTTP_WHY_SIZE, "the server answers %ld: %.150s", status,
             r->answer.failed ? "" : r->answer.data);
    clean_in_place(why);
    return -EIO;
}

/* The body's own failure says more than that the server got half of it. */
static int perform_with_body(struct request *r, char why[HTTP_WHY_SIZE])
{
    pthread_t thread;
    int err, failed = pthread_create(&thread, NULL, write_body, r);

    if (failed) {
        fclose(r->to);
        return -failed;
    }
    err = perform(r, why);
    close(r->from); /* the thread, if it still writes, fails */
    r->from = -1;
    pthread_join(thread, NULL);
    if (r->err && r->err != -EPIPE) {
        *why = '\0';
        return r->err;
    }
    return err;
}

static int add_header(struct curl_slist **headers, const char *header)
{
    struct curl_slist *more = curl_slist_append(*headers, header);

    if (!more)
        return -ENOMEM;
    *headers = more;
    return 0;
}

static bool set_body(struct request *r, struct curl_slist *headers)
{
    CURL *c = r->curl;
    bool ok = true;

    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_READFUNCTION, read_body);
    SET(CURLOPT_READDATA, r);
    SET(CURLOPT_HTTPHEADER, headers);
    return ok;
}

static int open_pipe(struct request *r)
{
    int ends[2], err;

    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    r->from = ends[0];
    r->to = fdopen(ends[1], "w");
    if (r->to)
        return 0;
    err = -errno;
    close(ends[1]);
    return err;
}

int http_send(const struct http_target *target, http_body *body, void *context,
              char why[HTTP_WHY_SIZE])
{
    const char *query = http_is_clickhouse(target) ? "insert into row format JSONEachRow" : NULL;
    struct curl_slist *headers = NULL;
    struct request r;
    int err = request_init(&r, target, query);

    *why = '\0';
    r.body = body;
    r.context = context;
    if (!err && (add_header(&headers, "Content-Type: application/x-ndjson") ||
                 add_header(&headers, "Transfer-Encoding: chunked") ||
                 add_header(&headers, "Expect:") || !set_body(&r, headers)))
        err = -ENOMEM;
    if (!err)
        err = open_pipe(&r);
    if (!err)
        err = perform_with_body(&r, why);
    if (r.from >= 0)
        close(r.from);
    curl_slist_free_all(headers);
    request_fini(&r);
    return err;
}

int http_version(const struct http_target *target, unsigned *version, char why[HTTP_WHY_SIZE])
{
    struct request r;
    int err = request_init(&r, target, "select max(version) from version");

    *why = '\0';
    if (!err)
        err = perform(&r, why);
    if (!err) {
        buffer_char(&r.answer, '\0');
        *version = r.answer.failed ? 0 : (unsigned)strtoul(r.answer.data, NULL, 10);
    }
    request_fini(&r);
    return err;
}
