/*
 * options/socket_path.h - where control sockets lie: PID.sock in a folder that is this user's alone. The traced process
 * makes it, the command looks there.
 */
#ifndef SHADOWTRACE_OPTIONS_SOCKET_PATH_H
#define SHADOWTRACE_OPTIONS_SOCKET_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define SOCKET_PATH_SIZE 108 /* of sun_path */

/*
 * socket_folder - the index-th place: $XDG_RUNTIME_DIR/shadowtrace, if that is set; /tmp/shadowtrace-UID.
 * Returns: false past the last. An unusable one (no path, too long) gives an empty text.
 */
bool socket_folder(unsigned index, char out[SOCKET_PATH_SIZE]);

/*
 * socket_folder_check - is it a folder, not a link, owned by this user, closed to all others?
 * Returns: 0; -ENOENT when it is not there; else -errno with a line in why.
 */
int socket_folder_check(const char *folder, char *why, size_t why_size);

/* FOLDER/PID.sock. Returns: false when that is too long for a socket. */
bool socket_path(const char *folder, long pid, char out[SOCKET_PATH_SIZE]);

#endif
