/* What the tests of `record` share: stderr as text, a folder of their own, files in it. */
#ifndef TESTS_UNIT_CLI_RECORD_SUPPORT_H
#define TESTS_UNIT_CLI_RECORD_SUPPORT_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ELEMENTS(array) (int)(sizeof(array) / sizeof((array)[0]))

struct capture {
    int saved, file;
    char text[8192];
};

static inline void capture_begin(struct capture *c)
{
    char name[] = "/tmp/shadowtrace-test-XXXXXX";

    fflush(stderr);
    c->saved = dup(STDERR_FILENO);
    c->file = mkostemp(name, O_CLOEXEC);
    assert_true(c->saved >= 0 && c->file >= 0);
    unlink(name);
    dup2(c->file, STDERR_FILENO);
}

static inline const char *capture_end(struct capture *c)
{
    ssize_t size;

    fflush(stderr);
    dup2(c->saved, STDERR_FILENO);
    close(c->saved);
    size = pread(c->file, c->text, sizeof(c->text) - 1, 0);
    close(c->file);
    c->text[size < 0 ? 0 : size] = '\0';
    return c->text;
}

static inline int lines_in(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static inline void assert_says(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" does not say \"%s\"", text, words);
}

/* A folder that is the current directory during a test, and goes with all in it. */
static char test_folder[PATH_MAX], test_origin[PATH_MAX];

static inline int folder_setup(void **state)
{
    (void)state;
    strcpy(test_folder, "/tmp/shadowtrace-test-XXXXXX");
    return !getcwd(test_origin, sizeof(test_origin)) || !mkdtemp(test_folder) || chdir(test_folder);
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static inline int folder_teardown(void **state)
{
    (void)state;
    return chdir(test_origin) || nftw(test_folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void write_file(const char *path, const void *data, size_t size, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static inline void write_text(const char *path, const char *text, mode_t mode)
{
    write_file(path, text, strlen(text), mode);
}

#endif
