/*
 * racer.c - a hostile process for `shadowtrace attach`: it answers like a .NET runtime, and puts another folder in the place
 * of the one that attach has just made in its /tmp.
 *
 *     unshare -Urm racer mount|link|closed VICTIM TMP
 *
 * mount: VICTIM is bind-mounted over the new folder. link: the folder is renamed, and its name becomes a symbolic link to
 * VICTIM. closed: its /tmp is read-only. TMP, a folder of mode 1777, becomes its /tmp. Prints "ready", then one "won" for each race that it wins. It runs until its input ends.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define HEADER 20

static atomic_bool racing; /* attach has asked who we are: a folder comes next */
static bool links;
static const char *victim;
static char source[64]; /* the victim, where /tmp hides its path */
static int watch;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Undoes the last try, in the private /tmp. */
static void clean(void)
{
    DIR *dir = opendir("/tmp");
    const struct dirent *entry;
    char path[512];

    while (dir && (entry = readdir(dir))) {
        if (!strstr(entry->d_name, "-run-"))
            continue;
        snprintf(path, sizeof(path), "/tmp/%s", entry->d_name);
        while (!umount2(path, MNT_DETACH)) {
        }
        if (unlink(path) && !rmdir(path))
            continue;
    }
    closedir(dir);
}

static bool race(const char *name)
{
    char path[512], gone[600];

    snprintf(path, sizeof(path), "/tmp/%s", name);
    if (!links)
        return !mount(source, path, NULL, MS_BIND, NULL);
    snprintf(gone, sizeof(gone), "/tmp/gone-%s", name + 12);
    while (rename(path, gone)) /* the sticky bit forbids it until the folder is ours */
        if (errno != EPERM && errno != EACCES)
            return false;
    return !symlink(victim, path);
}

static void *racer(void *unused)
{
    char events[4096] __attribute__((aligned(8)));

    while (!unused) {
        ssize_t got = read(watch, events, sizeof(events));

        if (got <= 0 && !atomic_load(&racing))
            poll(&(struct pollfd){watch, POLLIN, 0}, 1, 1);
        for (ssize_t at = 0; at < got;) {
            const struct inotify_event *e = (const void *)(events + at);

            if (e->len && !strncmp(e->name, "shadowtrace-", 12) && strstr(e->name, "-run-") && race(e->name)) {
                puts("won");
                fflush(stdout);
            }
            at += (ssize_t)(sizeof(*e) + e->len);
        }
    }
    return NULL;
}

static uint8_t *put_number(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

static uint8_t *put_text(uint8_t *to, const char *text)
{
    to = put_number(to, strlen(text) + 1, 4);
    do
        to = put_number(to, (uint8_t)*text, 2);
    while (*text++);
    return to;
}

/* Who we are, or that the library cannot be loaded. */
static void answer(int fd)
{
    static uint8_t question[65536];
    uint8_t reply[512] = "DOTNET_IPC_V1", *end = reply + HEADER;
    ssize_t got = recv(fd, question, HEADER, MSG_WAITALL);
    bool who;

    if (got != HEADER)
        return;
    got = (question[14] | question[15] << 8) - HEADER;
    if (got > 0)
        recv(fd, question + HEADER, (size_t)got, MSG_WAITALL);
    who = question[16] == 4;
    if (who) {
        clean();
        atomic_store(&racing, true);
        end = put_number(end, (uint64_t)getpid(), 8);
        end = put_number(put_number(end, 1, 8), 1, 8);
        end = put_text(put_text(put_text(end, "racer"), "linux"), "x64");
        end = put_text(put_text(end, "Racer"), "10.0.0");
    } else {
        atomic_store(&racing, false);
        end = put_number(end, 0x8007007e, 4);
    }
    put_number(reply + 14, (uint64_t)(end - reply), 2);
    reply[16] = 0xff;
    reply[17] = who ? 0 : 0xff;
    send(fd, reply, (size_t)(end - reply), MSG_NOSIGNAL);
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct pollfd ready[2] = {{0, POLLIN, 0}, {0, POLLIN, 0}};
    pthread_t thread;
    int at;

    if (argc != 4)
        return 2;
    links = !strcmp(argv[1], "link");
    victim = argv[2];
    at = open(victim, O_PATH | O_DIRECTORY);
    if (at < 0)
        die(victim);
    snprintf(source, sizeof(source), "/proc/self/fd/%d", at);
    if (mount(argv[3], "/tmp", NULL, MS_BIND, NULL))
        die("a private /tmp");
    watch = inotify_init1(IN_NONBLOCK);
    if (watch < 0 || inotify_add_watch(watch, "/tmp", IN_CREATE) < 0)
        die("inotify");
    ready[1].fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/dotnet-diagnostic-%d-1-socket", (int)getpid());
    if (bind(ready[1].fd, (const void *)&address, sizeof(address)) || listen(ready[1].fd, 16))
        die("the socket");
    if (!strcmp(argv[1], "closed") && mount(NULL, "/tmp", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL))
        die("a /tmp that is read-only");
    pthread_create(&thread, NULL, racer, NULL);
    puts("ready");
    fflush(stdout);
    while (poll(ready, 2, -1) > 0 && !ready[0].revents) {
        int fd = accept(ready[1].fd, NULL, NULL);

        if (fd < 0)
            continue;
        answer(fd);
        close(fd);
    }
    return 0;
}
