/*
 * options/socket_path.h - where control sockets lie: PID.sock in a folder that is this user's
 * alone. The traced process makes it, the command looks there.
 */
#ifndef SHADOWTRACE_OPTIONS_SOCKET_PATH_H
#define SHADOWTRACE_OPTIONS_SOCKET_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SOCKET_PATH_SIZE 108 /* of sun_path */

/* $XDG_RUNTIME_DIR if it is this user's alone (0700), not inherited through sudo or su; or NULL. */
const char *socket_runtime_folder(void);

/*
 * socket_folder - the index-th place: shadowtrace in socket_runtime_folder(); /tmp/shadowtrace-UID.
 * Returns: false past the last. An unusable one (no path, too long) gives an empty text.
 */
bool socket_folder(unsigned index, char out[SOCKET_PATH_SIZE]);

/*
 * socket_folder_open - a folder, not a link, owned by this user, closed to all others. What is done
 * in it goes through this descriptor, so that nobody can put another folder in its place.
 * Returns: a descriptor; -ENOENT when it is not there; else -errno with a line in why.
 */
int socket_folder_open(const char *folder, char *why, size_t why_size);

/* The address of a socket in an open folder. */
void socket_at(int folder, const char *name, struct sockaddr_un *out);

/* Whether the process at the other end belongs to this user; or to root, where that may be. */
bool socket_peer(int fd, bool root_too);

/*
 * socket_folder_lock - held while creating a socket there, or removing one without a server. It
 * prevents a socket from being taken for stale between bind and listen. Retries every millisecond.
 * Returns: whether it is held.
 */
bool socket_folder_lock(int folder, unsigned tries);
void socket_folder_unlock(int folder);

/* FOLDER/PID.sock. Returns: false when that is too long for a socket. */
bool socket_path(const char *folder, long pid, char out[SOCKET_PATH_SIZE]);

#endif
