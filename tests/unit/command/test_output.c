#include "command/output.h"

#include "support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct cli_command command = {.name = "export"};
static char folder[] = "/tmp/shadowtrace-output-XXXXXX", path[sizeof(folder) + 20];
static FILE *complaints;
static int usual;

/* In a separate directory, with stderr in a file. */
static int setup(void **state)
{
    (void)state;
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/made", folder);
    complaints = tmpfile();
    fflush(stderr);
    usual = dup(STDERR_FILENO);
    dup2(fileno(complaints), STDERR_FILENO);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fflush(stderr);
    dup2(usual, STDERR_FILENO);
    close(usual);
    fclose(complaints);
    unlink(path);
    return rmdir(folder); /* nothing else is in it */
}

TEST_EACH(setup, teardown);

static const char *complained(void)
{
    static char text[500];
    ssize_t size;

    fflush(stderr);
    size = pread(fileno(complaints), text, sizeof(text) - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    return text;
}

static off_t size_of(const char *file)
{
    struct stat st;

    return stat(file, &st) ? -1 : st.st_size;
}

TEST(a_file_is_there_when_it_is_whole)
{
    struct output o;

    assert_int_equal(output_open(&command, path, NULL, &o), CLI_OK);
    fputs("all", o.file);
    assert_int_equal(size_of(path), -1);
    assert_int_equal(output_close(&command, &o, CLI_OK), CLI_OK);
    assert_int_equal(size_of(path), 3);
}

TEST(a_file_of_what_failed_is_gone)
{
    struct output o;

    assert_int_equal(output_open(&command, path, NULL, &o), CLI_OK);
    fputs("half", o.file);
    assert_int_equal(output_close(&command, &o, CLI_IO), CLI_IO);
    assert_int_equal(size_of(path), -1);
    assert_string_equal(complained(), "");
}

TEST(what_exists_is_refused)
{
    struct output o;

    close(open(path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(output_open(&command, path, NULL, &o), CLI_USAGE);
    assert_non_null(strstr(complained(), "made exists: remove it"));
    assert_int_equal(output_open(&command, folder, NULL, &o), CLI_USAGE);
}

TEST(a_file_that_came_meanwhile_is_kept)
{
    struct output o;

    assert_int_equal(output_open(&command, path, NULL, &o), CLI_OK);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    fputs("later", o.file);
    assert_int_equal(output_close(&command, &o, CLI_OK), CLI_USAGE);
    assert_int_equal(size_of(path), 0);
    assert_non_null(strstr(complained(), "exists"));
}

TEST(a_folder_that_is_not_there_is_told)
{
    struct output o;

    assert_int_equal(output_open(&command, "/nowhere/file", NULL, &o), CLI_IO);
    assert_non_null(strstr(complained(), "cannot write /nowhere/file: No such file or directory"));
}

TEST(a_device_is_written_to_and_what_it_refuses_is_told)
{
    struct output o;

    assert_int_equal(output_open(&command, "/dev/null", NULL, &o), CLI_OK);
    fputs("x", o.file);
    assert_int_equal(output_close(&command, &o, CLI_OK), CLI_OK);
    assert_int_equal(output_open(&command, "/dev/full", NULL, &o), CLI_OK);
    fputs("x", o.file);
    assert_int_equal(output_close(&command, &o, CLI_OK), CLI_IO);
    assert_non_null(strstr(complained(), "cannot write /dev/full: No space left on device"));
}

TEST(a_hyphen_is_standard_output)
{
    struct output o;

    assert_int_equal(output_open(&command, "-", stdout, &o), CLI_OK);
    assert_ptr_equal(o.file, stdout);
    assert_int_equal(output_close(&command, &o, CLI_OK), CLI_OK);
}
