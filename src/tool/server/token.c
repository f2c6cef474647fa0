#include "server/token.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_BYTES 32 /* of chance */
#define TOKEN_MOST  4096

static void digest_of(const char *text, size_t size, unsigned char out[SYMBOLS_SHA256_SIZE])
{
    struct symbols_sha256 hash;

    symbols_sha256_init(&hash);
    symbols_sha256_add(&hash, text, size);
    symbols_sha256_fini(&hash, out);
}

static int write_new(int fd)
{
    uint8_t chance[TOKEN_BYTES];
    char text[2 * TOKEN_BYTES + 2];

    if (getrandom(chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
        return -EIO;
    for (size_t i = 0; i < sizeof(chance); i++)
        snprintf(text + 2 * i, 3, "%02x", chance[i]);
    text[2 * TOKEN_BYTES] = '\n';
    errno = 0;
    if (write(fd, text, 2 * TOKEN_BYTES + 1) == 2 * TOKEN_BYTES + 1)
        return 0;
    return errno ? -errno : -EIO;
}

/*
 * Nobody sees it half written: it gets its name when it is whole. Both files are new (O_EXCL,
 * link), so no link that another user made is followed. What is read is checked by its
 * descriptor: a regular file of this user that only this user can read.
 */
static int make(const char *path)
{
    char temporary[4096];
    int fd, err;

    if (snprintf(temporary, sizeof(temporary), "%s.%ld.new", path, (long)getpid()) >=
        (int)sizeof(temporary))
        return -ENAMETOOLONG;
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    err = write_new(fd);
    if (close(fd) && !err)
        err = -errno;
    if (!err && link(temporary, path) && errno != EEXIST)
        err = -errno;
    unlink(temporary);
    return err;
}

static int check(int fd, const char *path, char *why, size_t why_size)
{
    struct stat st;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        snprintf(why, why_size, "%s is not a regular file", path);
    else if (st.st_uid != geteuid())
        snprintf(why, why_size, "%s belongs to another user (%u): name another --token-file", path,
                 (unsigned)st.st_uid);
    else if (st.st_mode & 077)
        snprintf(why, why_size, "%s can be read by others (mode %03o): chmod 600 it", path,
                 (unsigned)st.st_mode & 0777);
    else
        return 0;
    return -EPERM;
}

static int read_it(int fd, const char *path, struct token *out, char *why, size_t why_size)
{
    char text[TOKEN_MOST];
    ssize_t got = file_read_at(fd, text, sizeof(text), 0);
    size_t size = got > 0 ? (size_t)got : 0;

    while (size && strchr(" \t\r\n", text[size - 1]))
        size--;
    if (got < 0) {
        snprintf(why, why_size, "cannot read %s: %s", path, strerror((int)-got));
        return (int)got;
    }
    if (size < TOKEN_LEAST || size == sizeof(text) || memchr(text, '\0', size)) {
        snprintf(why, why_size,
                 "%s contains no valid token (at least %d characters); remove it to get a new one",
                 path, TOKEN_LEAST);
        return -EINVAL;
    }
    digest_of(text, size, out->digest);
    return 0;
}

int token_load(const char *path, struct token *out, char *why, size_t why_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW), err = 0;

    if (fd < 0 && errno == ENOENT) {
        err = make(path);
        fd = err ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    }
    if (fd < 0) {
        err = err ? err : -errno;
        snprintf(why, why_size, "cannot %s %s: %s", err == -ENOENT ? "make" : "open", path,
                 strerror(-err));
        return err;
    }
    err = check(fd, path, why, why_size);
    if (!err)
        err = read_it(fd, path, out, why, why_size);
    close(fd);
    return err;
}

bool token_is(const struct token *token, const char *text)
{
    unsigned char digest[SYMBOLS_SHA256_SIZE];
    volatile unsigned char differs = 0;

    digest_of(text, strlen(text), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        differs = (unsigned char)(differs | (digest[i] ^ token->digest[i]));
    return differs == 0;
}
