/* Whether a running process can be attached to: here what of an earlier recording is still in it. */
#include "record/running.h"

#include "command/command.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/test-running-XXXXXX";

/* A process that has the library mapped, and unmaps it when the pipe says so. */
static pid_t start(int until, int ready)
{
    pid_t child = fork();
    char path[64];
    void *at;
    int fd;

    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(path, sizeof(path), "%s/libshadowtrace.so", folder);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096))
        _exit(1);
    at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    if (write(ready, "r", 1) != 1 || read(until, path, 1) < 0)
        _exit(1);
    munmap(at, 4096);
    pause();
    _exit(0);
}

/* So it is for a moment after `detach`: the runtime unloads it once no thread is in it. */
TEST(a_library_that_is_being_unloaded_is_waited_for)
{
    struct dotnet_process p = {.major = 10, .runtime = "10.0.12", .machine = "x64"};
    struct record_why why = {.text = ""};
    int until[2], ready[2];
    char path[64], one;
    pid_t waker;

    assert_non_null(mkdtemp(folder));
    assert_true(!pipe(until) && !pipe(ready));
    p.pid = p.inside = start(until[0], ready[1]);
    p.uid = geteuid();
    assert_int_equal(read(ready[0], &one, 1), 1);
    waker = fork();
    if (!waker) {
        usleep(200000);
        _exit(write(until[1], "u", 1) != 1);
    }
    assert_int_equal(running_check(&p, &why), CLI_OK);
    assert_string_equal(why.text, "");
    waitpid(waker, NULL, 0);
    kill((pid_t)p.pid, SIGKILL);
    waitpid((pid_t)p.pid, NULL, 0);
    snprintf(path, sizeof(path), "%s/libshadowtrace.so", folder);
    unlink(path);
    rmdir(folder);
}
