#include "server/listen.h"

#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[] = "/tmp/test-listen-XXXXXX", path[100], why[LISTEN_WHY_SIZE];
static struct listener l, other;

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || setenv("XDG_RUNTIME_DIR", folder, 1))
        return -1;
    snprintf(path, sizeof(path), "%s/s", folder);
    return 0;
}

static int remove_folder(void **state)
{
    char inner[120];

    (void)state;
    snprintf(inner, sizeof(inner), "%s/shadowtrace", folder);
    rmdir(inner);
    return rmdir(folder);
}

static int setup(void **state)
{
    (void)state;
    l = other = (struct listener){.fd = -1, .folder = -1};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    listen_close(&l);
    listen_close(&other);
    unlink(path);
    return 0;
}

TEST_GROUP(make_folder, remove_folder);
TEST_EACH(setup, teardown);

static int connect_to(const char *to)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

    snprintf(at.sun_path, sizeof(at.sun_path), "%.100s", to);
    err = connect(fd, (const struct sockaddr *)&at, sizeof(at)) ? -errno : 0;
    close(fd);
    return err;
}

TEST(the_default_socket_lies_in_the_users_folder_and_goes_with_the_server)
{
    char expected[120];
    struct stat st;

    assert_int_equal(listen_unix(NULL, &l, why), 0);
    snprintf(expected, sizeof(expected), "%s/shadowtrace/serve.sock", folder);
    assert_string_equal(l.where, expected);
    assert_int_equal(stat(expected, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(connect_to(expected), 0);
    listen_close(&l);
    assert_int_equal(stat(expected, &st), -1);
}

TEST(a_socket_that_is_served_is_not_taken)
{
    assert_int_equal(listen_unix(path, &l, why), 0);
    assert_int_equal(listen_unix(path, &other, why), -EADDRINUSE);
    assert_non_null(strstr(why, path));
    assert_int_equal(connect_to(path), 0);
}

TEST(a_socket_that_nobody_serves_is_replaced)
{
    assert_int_equal(listen_unix(path, &l, why), 0);
    close(l.fd); /* as after kill -9 */
    l.fd = -1;
    assert_int_equal(connect_to(path), -ECONNREFUSED);
    assert_int_equal(listen_unix(path, &other, why), 0);
    assert_int_equal(connect_to(path), 0);
    listen_close(&l); /* the file is not its any more */
    assert_int_equal(connect_to(path), 0);
}

TEST(a_file_in_its_place_is_left_there)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    close(fd);
    assert_int_equal(listen_unix(path, &l, why), -EEXIST);
    assert_int_equal(access(path, F_OK), 0);
}

TEST(a_folder_that_is_not_there_is_named)
{
    assert_int_equal(listen_unix("/nowhere/s", &l, why), -ENOENT);
    assert_non_null(strstr(why, "/nowhere/"));
    assert_int_equal(listen_unix("/tmp/", &l, why), -EINVAL);
}

TEST(a_free_port_is_told_and_a_port_in_use_is_refused)
{
    assert_int_equal(listen_tcp("127.0.0.1:0", &l, why), 0);
    assert_int_equal(strncmp(l.where, "http://127.0.0.1:", 17), 0);
    assert_true(atoi(l.where + 17) > 0);
    assert_false(l.beyond);
    assert_int_equal(listen_tcp(l.where + 7, &other, why), -EADDRINUSE);
    assert_non_null(strstr(why, "in use"));
}

TEST(an_address_is_a_number_and_a_port)
{
    static const char *const wrong[] = {"",         "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                                        "a.b.c:80", ":99999",    "1.2.3.4:-1", "[::1:80"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(listen_tcp(wrong[i], &l, why), -EINVAL);
    assert_int_equal(listen_tcp(":0", &l, why), 0);
    assert_false(l.beyond);
    listen_close(&l);
    assert_int_equal(listen_tcp("localhost:0", &l, why), 0);
    listen_close(&l);
    assert_int_equal(listen_tcp("0.0.0.0:0", &l, why), 0);
    assert_true(l.beyond);
}
