#include "server/token.h"

#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test-token-XXXXXX", path[100], why[400];
static struct token token;

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/token", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

TEST_GROUP(make_folder, remove_folder);
TEST_EACH(remove_file, remove_file);

static void write_token(const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void read_text(char text[200])
{
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    assert_non_null(fgets(text, 200, file));
    fclose(file);
    text[strcspn(text, "\n")] = '\0';
}

TEST(a_token_is_made_where_there_is_none_and_kept)
{
    char first[200], second[200];
    struct stat st;

    assert_int_equal(token_load(path, &token, why, sizeof(why)), 0);
    read_text(first);
    assert_int_equal(strlen(first), 64);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(token_is(&token, first));
    assert_int_equal(token_load(path, &token, why, sizeof(why)), 0);
    read_text(second);
    assert_string_equal(first, second);
    assert_true(token_is(&token, second));
}

TEST(two_tokens_that_are_made_differ)
{
    char first[200], second[200];

    assert_int_equal(token_load(path, &token, why, sizeof(why)), 0);
    read_text(first);
    unlink(path);
    assert_int_equal(token_load(path, &token, why, sizeof(why)), 0);
    read_text(second);
    assert_string_not_equal(first, second);
    assert_false(token_is(&token, first));
}

TEST(only_the_whole_token_is_the_token)
{
    write_token("0123456789abcdef\r\n", 0600);
    assert_int_equal(token_load(path, &token, why, sizeof(why)), 0);
    assert_true(token_is(&token, "0123456789abcdef"));
    assert_false(token_is(&token, "0123456789abcde"));
    assert_false(token_is(&token, "0123456789abcdef0"));
    assert_false(token_is(&token, "0123456789ABCDEF"));
    assert_false(token_is(&token, ""));
}

TEST(a_file_that_others_can_read_is_refused)
{
    write_token("0123456789abcdef", 0640);
    assert_int_equal(token_load(path, &token, why, sizeof(why)), -EPERM);
    assert_non_null(strstr(why, "chmod 600"));
}

TEST(what_is_too_short_is_refused)
{
    write_token("0123456789abcde\n", 0600);
    assert_int_equal(token_load(path, &token, why, sizeof(why)), -EINVAL);
    write_token("\n", 0600);
    assert_int_equal(token_load(path, &token, why, sizeof(why)), -EINVAL);
    assert_non_null(strstr(why, path));
}

TEST(a_link_and_a_folder_are_refused)
{
    assert_int_equal(symlink("/etc/hostname", path), 0);
    assert_int_not_equal(token_load(path, &token, why, sizeof(why)), 0);
    unlink(path);
    assert_int_not_equal(token_load(folder, &token, why, sizeof(why)), 0);
    assert_int_equal(token_load("/nowhere/token", &token, why, sizeof(why)), -ENOENT);
    assert_non_null(strstr(why, "cannot make"));
}
