/*
 * unit/cli/command_support.h - runs a command as main() does, with what it prints caught, and holds
 * that against the expectation next to a fixture. SHADOWTRACE_UPDATE=1 writes the
 * expectations anew: read the difference.
 */
#ifndef SHADOWTRACE_TESTS_UNIT_CLI_COMMAND_SUPPORT_H
#define SHADOWTRACE_TESTS_UNIT_CLI_COMMAND_SUPPORT_H

#include "attach/attach.h"
#include "cli/commands.h"
#include "export/export.h"
#include "record/record.h"
#include "views/views.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#define FIXTURES "tests/fixtures/logs/"

struct ran {
    int status;
    char *out; /* to be freed */
    char err[8192];
};

/* words: NULL-terminated, the command's name first; command NULL: as main() gets them. */
static inline struct ran run_command(const struct cli_command *command, const char *const *words)
{
    struct ran ran = {.status = -1};
    char path[] = "/tmp/shadowtrace-test-XXXXXX";
    int caught = mkstemp(path), before = dup(STDERR_FILENO), count = 0;
    char *argv[16];
    size_t size = 0;
    ssize_t got;
    FILE *out = open_memstream(&ran.out, &size);

    assert_true(caught >= 0 && before >= 0 && out);
    for (; words[count]; count++)
        argv[count] = (char *)(uintptr_t)words[count];
    argv[count] = NULL;
    fflush(stderr);
    dup2(caught, STDERR_FILENO);
    ran.status = command ? cli_run(command, count, argv, out) : cli_start(count, argv, out);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    fclose(out);
    got = pread(caught, ran.err, sizeof(ran.err) - 1, 0);
    ran.err[got > 0 ? got : 0] = '\0';
    close(caught);
    close(before);
    unlink(path);
    return ran;
}

#define RUN(command, ...) run_command(command, (const char *const[]){__VA_ARGS__, NULL})

/* The JSON that it printed, all having gone well. Owns: the caller's; what it printed is freed. */
static inline json_t *printed(struct ran ran)
{
    json_error_t error;
    json_t *json;

    assert_int_equal(ran.status, CLI_OK);
    json = json_loads(ran.out, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("%s: %.2000s", error.text, ran.out);
    free(ran.out);
    return json;
}

static inline json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static inline void expect_file(const char *text, const char *path)
{
    static char expected[1 << 20];
    FILE *file;
    size_t size;

    if (getenv("SHADOWTRACE_UPDATE")) {
        file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
        return;
    }
    file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing; it should hold:\n%s", path, text);
    size = fread(expected, 1, sizeof(expected) - 1, file);
    expected[size] = '\0';
    fclose(file);
    if (strcmp(text, expected) != 0)
        fail_msg("%s should hold:\n%s\nbut holds:\n%s", path, text, expected);
}

/* Standard output and error as the fixture's expectation has them. */
static inline void expect_ran(struct ran ran, int status, const char *path)
{
    size_t size = strlen(ran.out) + strlen(ran.err) + 64;
    char *both = malloc(size);

    assert_non_null(both);
    assert_int_equal(ran.status, status);
    snprintf(both, size, "%s%s%s", ran.out, *ran.err ? "---- standard error ----\n" : "", ran.err);
    expect_file(both, path);
    free(both);
    free(ran.out);
}

/* One line on stderr that holds these words, and nothing on stdout. */
static inline void expect_complaint(struct ran ran, int status, const char *words)
{
    size_t length = strlen(ran.err);

    assert_int_equal(ran.status, status);
    assert_string_equal(ran.out, "");
    if (!strstr(ran.err, words))
        fail_msg("\"%s\" is not in: %s", words, ran.err);
    assert_true(length > 0 && ran.err[length - 1] == '\n');
    assert_ptr_equal(strchr(ran.err, '\n'), ran.err + length - 1);
    free(ran.out);
}

#endif
