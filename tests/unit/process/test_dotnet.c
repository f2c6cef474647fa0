/* What a .NET process says of itself, whatever it says; and processes that are none. */
#include "process/dotnet.h"
#include "command/command.h"
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static uint8_t answer[4096];
static size_t size;

static void number(uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        answer[size++] = (uint8_t)(value >> 8 * i);
}

static void text(const uint16_t *units, uint32_t count)
{
    number(count, 4);
    for (uint32_t i = 0; i < count; i++)
        number(units[i], 2);
}

#define TEXT(u) text((const uint16_t *)(u), sizeof(u) / 2)

static void make(void)
{
    size = 0;
    number(4711, 8);
    number(1, 8);
    number(2, 8);
    TEXT(u"dotnet App.dll");
    TEXT(u"Linux");
    TEXT(u"x64");
    TEXT(u"B\u00fccher\u20ac");
    TEXT(u"10.0.12+abc");
}

TEST(name_version_and_machine_are_read)
{
    struct dotnet_process p = {.pid = 4711};

    make();
    assert_int_equal(dotnet_answer(answer, size, &p), 0);
    assert_string_equal(p.name, "B\xc3\xbc"
                                "cher\xe2\x82\xac");
    assert_string_equal(p.runtime, "10.0.12");
    assert_string_equal(p.machine, "x64");
    assert_int_equal(p.major, 10);
    assert_int_equal(p.pid, 4711);
}

TEST(an_answer_that_is_cut_anywhere_is_none)
{
    make();
    for (size_t cut = 0; cut < size; cut++) {
        struct dotnet_process p = {.pid = 1};

        assert_int_equal(dotnet_answer(answer, cut, &p), -EPROTO);
    }
}

TEST(texts_of_any_length_and_letters_become_one_line_that_fits)
{
    struct dotnet_process p = {.pid = 1};
    uint16_t longest[1000];

    for (size_t i = 0; i < 1000; i++)
        longest[i] = i % 3 ? 0x20ac : 0x1b;
    size = 0;
    for (unsigned i = 0; i < 3; i++)
        number(0, 8);
    TEXT(u"");
    text(NULL, 0);
    TEXT(u"x64");
    text(longest, 1000);
    text((const uint16_t[]){0xd800, '8', 0xdfff, '\n'}, 4);
    assert_int_equal(dotnet_answer(answer, size, &p), 0);
    assert_true(strlen(p.name) < sizeof(p.name));
    assert_null(strchr(p.name, 0x1b));
    assert_string_equal(p.runtime, "?8??");
    assert_int_equal(p.major, 0);
}

TEST(a_length_that_lies_is_not_believed)
{
    struct dotnet_process p = {.pid = 1};

    make();
    memset(answer + 24, 0xff, 4); /* of the command line */
    assert_int_equal(dotnet_answer(answer, size, &p), -EPROTO);
}

TEST(what_is_no_dotnet_process_is_refused_in_one_line)
{
    struct record_why why = {.text = ""};
    struct dotnet_process p;
    pid_t child = fork();

    if (!child) {
        pause();
        _exit(0);
    }
    assert_int_equal(dotnet_find(child, &p, &why), CLI_IO);
    assert_non_null(strstr(why.text, "is not a .NET process"));
    assert_int_equal(p.inside, child);
    assert_string_equal(p.root, "");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(dotnet_find(child, &p, &why), CLI_IO);
    assert_non_null(strstr(why.text, "does not exist"));
}

/* ---- sockets of others ---- */

static char folder[] = "/tmp/test-dotnet-XXXXXX";

/* A process that has the folder as its temporary one. */
static pid_t start(void)
{
    pid_t child = fork();
    char ready[64];

    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("TMPDIR", folder, 1);
        execlp("sleep", "sleep", "600", NULL);
        _exit(127);
    }
    snprintf(ready, sizeof(ready), "/proc/%d/exe", (int)child);
    for (char path[256] = ""; !strstr(path, "sleep") && !strstr(path, "coreutils");
         usleep(1000)) { /* until it is that program */
        ssize_t length = readlink(ready, path, sizeof(path) - 1);

        path[length > 0 ? length : 0] = '\0';
    }
    return child;
}

/* A socket called as that process's would be, which nobody answers on. */
static int pretend(long pid, unsigned number, uid_t owner)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s/dotnet-diagnostic-%ld-%u-socket", folder, pid,
             number);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(chown(at.sun_path, owner, (gid_t)-1), 0);
    return fd;
}

static void remove_sockets(void)
{
    char path[128];
    DIR *dir = opendir(folder);

    for (const struct dirent *entry; (entry = readdir(dir));)
        if (snprintf(path, sizeof(path), "%s/%.60s", folder, entry->d_name) > 0)
            unlink(path);
    closedir(dir);
    assert_int_equal(rmdir(folder), 0);
}

static bool was_called(int fd)
{
    int one = accept(fd, NULL, NULL);

    if (one >= 0)
        close(one);
    return one >= 0;
}

static void count_found(void *context, const struct dotnet_process *process)
{
    (void)process;
    ++*(unsigned *)context;
}

/* Who connects to one waits as long as its owner likes. */
TEST(sockets_of_other_users_are_not_connected_to)
{
    struct record_why why = {.text = ""};
    struct dotnet_process p;
    int fd[4], link_fd;
    char name[128], to[128];
    unsigned count = 0;
    pid_t child;

    if (geteuid())
        skip(); /* only root can make them */
    assert_non_null(mkdtemp(folder));
    child = start();
    for (unsigned i = 0; i < 4; i++)
        fd[i] = pretend(child, i, 4711 + i);
    /* A link of this user's to one of them. */
    link_fd = pretend(1, 5, 4711);
    snprintf(to, sizeof(to), "%s/dotnet-diagnostic-1-5-socket", folder);
    snprintf(name, sizeof(name), "%s/dotnet-diagnostic-%d-6-socket", folder, (int)child);
    assert_int_equal(symlink(to, name), 0);

    assert_int_equal(dotnet_find(child, &p, &why), CLI_IO);
    assert_non_null(strstr(why.text, "is not a .NET process"));
    setenv("TMPDIR", folder, 1);
    dotnet_each(count_found, &count);
    unsetenv("TMPDIR");
    assert_int_equal(count, 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_false(was_called(fd[i]));
        close(fd[i]);
    }
    assert_false(was_called(link_fd));
    close(link_fd);
    remove_sockets();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static bool is_libc(void *context, const char *path)
{
    ++*(unsigned *)context;
    return strstr(path, "/libc.so.6") || strstr(path, "/libc-");
}

TEST(files_that_a_process_has_mapped_are_known_by_name)
{
    unsigned count = 0;

    assert_true(dotnet_each_file(getpid(), is_libc, &count));
    assert_true(count > 0);
    assert_true(dotnet_mapped(getpid(), "test_dotnet"));
    assert_false(dotnet_mapped(getpid(), "test_dotne"));
    assert_false(dotnet_mapped(1L << 30, "test_dotnet"));
}
