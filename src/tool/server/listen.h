/* server/listen.h - where clients connect: a Unix socket in a folder, or a TCP port. */
#ifndef SHADOWTRACE_SERVER_LISTEN_H
#define SHADOWTRACE_SERVER_LISTEN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#define LISTEN_WHY_SIZE 400

struct listener {
    int fd;                    /* -1: none */
    int folder;                /* of a Unix socket; -1: TCP */
    char name[108];            /* of the socket in it */
    struct stat made;          /* the file of the socket: another one of that name is not ours */
    char where[PATH_MAX + 16]; /* for a person: its path, or http://ADDRESS:PORT */
    bool beyond;               /* TCP, and not only for this machine */
};

/*
 * listen_unix - path NULL: serve.sock in the user's folder, which is made if it is not there. The
 * socket is 0600. One that nobody serves any more is replaced.
 * listen_tcp  - "ADDRESS:PORT", "[ADDRESS]:PORT", "localhost:PORT" or ":PORT"; the address is a
 * number. Return: 0; -EINVAL: `text` is no such address; else -errno; a line in why.
 */
int listen_unix(const char *path, struct listener *out, char why[LISTEN_WHY_SIZE]);
int listen_tcp(const char *text, struct listener *out, char why[LISTEN_WHY_SIZE]);

void listen_close(
    struct listener *l); /* and the socket's file is removed, if it is ours; also of fd -1 */

/* The folder of the default socket, where the token lies, too. Returns: 0 or -errno with why. */
int listen_folder(char path[PATH_MAX], char why[LISTEN_WHY_SIZE]);

#endif
