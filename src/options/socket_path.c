#include "options/socket_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_ROOM 16 /* "/4194304.sock" */

static void put(char out[SOCKET_PATH_SIZE], int length)
{
    if (length < 0 || length >= SOCKET_PATH_SIZE - NAME_ROOM)
        *out = '\0';
}

bool socket_folder(unsigned index, char out[SOCKET_PATH_SIZE])
{
    const char *own = getenv("XDG_RUNTIME_DIR");

    if (own && *own == '/' && index-- == 0) {
        put(out, snprintf(out, SOCKET_PATH_SIZE, "%s/shadowtrace", own));
        return true;
    }
    if (index == 0) {
        put(out, snprintf(out, SOCKET_PATH_SIZE, "/tmp/shadowtrace-%u", (unsigned)geteuid()));
        return true;
    }
    return false;
}

int socket_folder_check(const char *folder, char *why, size_t why_size)
{
    struct stat st;

    if (lstat(folder, &st)) {
        int err = -errno;

        snprintf(why, why_size, "%s: %s", folder, strerror(-err));
        return err;
    }
    if (!S_ISDIR(st.st_mode)) {
        snprintf(why, why_size, "%s is no folder; remove it", folder);
        return -ENOTDIR;
    }
    if (st.st_uid != geteuid()) {
        snprintf(why, why_size, "%s belongs to another user (%u); have it removed", folder,
                 (unsigned)st.st_uid);
        return -EPERM;
    }
    if (st.st_mode & 077) {
        snprintf(why, why_size, "%s is open to other users (mode %03o); chmod 700 it", folder,
                 (unsigned)st.st_mode & 0777);
        return -EPERM;
    }
    return 0;
}

bool socket_path(const char *folder, long pid, char out[SOCKET_PATH_SIZE])
{
    int length = snprintf(out, SOCKET_PATH_SIZE, "%s/%ld.sock", folder, pid);

    return length > 0 && length < SOCKET_PATH_SIZE;
}
