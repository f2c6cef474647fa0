/* The thread of the socket, from its first moment on. */
#include "control/internal.h"

#include "base/clock.h"
#include "support/test.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 10000

static char folder[] = "/tmp/shadowtrace-test-server-XXXXXX";
static int client = -1;

/* Whether a reply has come. */
static bool answered(int timeout_ms)
{
    return poll(&(struct pollfd){.fd = client, .events = POLLIN}, 1, timeout_ms) == 1;
}

/*
 * In place of libc's: the new thread runs, and the one that made it does not, until the client has its reply. So it may be
 * on a busy machine.
 */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *),
                   void *context)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int err;

    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    err = create(thread, attributes, main, context);
    if (!err && client >= 0)
        answered(PATIENCE_MS);
    return err;
}

static void connect_client(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    assert_true(strlen(path) < sizeof(address.sun_path));
    memcpy(address.sun_path, path, strlen(path));
    client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(client >= 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
}

TEST(who_connects_before_there_is_a_thread_is_answered)
{
    static const char request[] = "{\"command\":\"nonsense\"}\n";
    char path[sizeof(folder) + 16], reply[400], why[200];
    struct control *control;

    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("XDG_RUNTIME_DIR", folder, 1), 0);
    assert_int_equal(control_new(&control), 0);
    assert_int_equal(control_listen(control, why, sizeof(why)), 0);
    control_start(control, &(struct control_config){.name = "test"});
    connect_client(control_path(control));
    assert_int_equal(write(client, request, strlen(request)), strlen(request));
    assert_int_equal(control_serve(control, why, sizeof(why)), 0);
    assert_true(answered(PATIENCE_MS));
    assert_true(read(client, reply, sizeof(reply)) > 0);
    assert_non_null(strstr(reply, "\"ok\":false"));
    control_stop(control, PATIENCE_MS);
    assert_int_not_equal(access(control_path(control) ? control_path(control) : "", F_OK), 0);
    close(client);
    snprintf(path, sizeof(path), "%s/shadowtrace", folder);
    rmdir(path);
    rmdir(folder);
}
