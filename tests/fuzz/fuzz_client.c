/*
 * fuzz_client - any bytes as the reply of a traced process: ctl, dump, list and top, asking it through a real socket, print
 * what it says or one line of why not.
 */
#include "must.h"

#include "attach/attach.h"
#include "cli/commands.h"

#include "options/socket_path.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern bool fuzz_mutated; /* driver.c, as is the next */
void fuzz_silence(void);

static char runtime[64], sockets[SOCKET_PATH_SIZE], path[SOCKET_PATH_SIZE], pid[16];
static const uint8_t *reply; /* set between two requests: the server sends what stands there */
static size_t reply_size;
static bool reply_ends;

static void forget(void)
{
    unlink(path);
    rmdir(sockets);
    rmdir(runtime);
}

/* To each request the same reply, whatever it is; of some inputs its end is the connection's. */
static void answer(int fd)
{
    char request[65536];
    size_t sent = 0;
    ssize_t got;

    while ((got = recv(fd, request, sizeof(request), 0)) > 0) {
        if (request[got - 1] != '\n')
            continue; /* it comes in two pieces */
        for (sent = 0; sent < reply_size;) {
            ssize_t n = send(fd, reply + sent, reply_size - sent, MSG_NOSIGNAL);

            if (n <= 0)
                return;
            sent += (size_t)n;
        }
        if (reply_ends || send(fd, "\n", 1, MSG_NOSIGNAL) != 1)
            return;
    }
}

static void *serve(void *context)
{
    int listener = *(int *)context;

    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0)
            continue;
        answer(fd);
        close(fd);
    }
    return NULL;
}

static void begin(void)
{
    static int listener = -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_t thread;

    if (listener >= 0)
        return;
    snprintf(runtime, sizeof(runtime), "/tmp/shadowtrace-fuzz-XXXXXX");
    MUST(mkdtemp(runtime));
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    MUST(socket_folder(0, sockets) && *sockets);
    MUST(!mkdir(sockets, 0700));
    MUST(socket_path(sockets, getpid(), path));
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    atexit(forget);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    MUST(listener >= 0 && !bind(listener, (struct sockaddr *)&address, sizeof(address)));
    MUST(!listen(listener, 8) && !pthread_create(&thread, NULL, serve, &listener));
    opterr = 0;
    fuzz_silence();
}

/* Returns: the exit status. */
static int ask(const struct cli_command *command, const char *const *words)
{
    char *argv[8] = {NULL}, *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int argc = 0, status;

    MUST(out);
    for (; words[argc]; argc++)
        argv[argc] = strcmp(words[argc], "PID") ? (char *)(uintptr_t)words[argc] : pid;
    status = cli_run(command, argc, argv, out);
    fclose(out);
    MUST(status >= CLI_OK && status <= CLI_IO);
    free(text);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const struct cli_command *command;
        const char *words[6];
    } requests[] = {
        {&cmd_ctl, {"ctl", "PID", "status"}},
        {&cmd_ctl, {"ctl", "PID", "rotate"}},
        {&cmd_ctl, {"ctl", "PID", "mark", "here"}},
        {&cmd_dump, {"dump", "--no-lines", "PID"}},
        {&cmd_dump, {"dump", "--no-lines", "--format=json", "PID"}},
        {&cmd_dump, {"dump", "PID"}},
        {&cmd_list, {"list"}},
        {&cmd_list, {"list", "--format=json"}},
        {&cmd_top, {"top", "--once", "--view=sites", "PID"}},
        {&cmd_top, {"top", "--once", "--view=types", "PID"}},
        {&cmd_top, {"top", "--once", "--view=threads", "PID"}},
    };
    static const char right[] = "{\"ok\":true,\"version\":1,";
    bool good = size > sizeof(right) && memcmp(data, right, sizeof(right) - 1) == 0;
    size_t count = sizeof(requests) / sizeof(requests[0]), which = size;
    int status;

    begin();
    reply = data;
    reply_size = size;
    for (size_t i = 0; i < size; i++)
        which = which * 31 + data[i];
    reply_ends = fuzz_mutated && which >> 20 & 1;
    for (size_t i = 0; i < count; i++) {
        if (fuzz_mutated && i != which % count)
            continue;
        status = ask(requests[i].command, requests[i].words);
        MUST(fuzz_mutated || !good || i >= 3 || status == CLI_OK); /* it was asked, and was told */
    }
    return 0;
}
