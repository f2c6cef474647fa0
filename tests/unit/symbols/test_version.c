/* What of an informational version is the version, and what the commit. */
#include "symbols/version.h"

#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_split(const char *informational, const char *version, const char *commit)
{
    struct symbols_version v = {.commit = "?"};

    snprintf(v.informational, sizeof(v.informational), "%s", informational);
    symbols_version_split(&v);
    assert_string_equal(v.version, version);
    assert_string_equal(v.commit, commit);
}

TEST(a_commit_stands_behind_the_plus)
{
    expect_split("1.2.3+8d2c7f1e", "1.2.3", "8d2c7f1e");
    expect_split("1.2.3-rc.1+de403c15b76757726b2ada8357f9524d8163c987", "1.2.3-rc.1",
                 "de403c15b76757726b2ada8357f9524d8163c987");
    expect_split("1.2.3+build.7.8d2c7f1e", "1.2.3", "8d2c7f1e");
}

TEST(what_is_no_commit_is_not_taken_for_one)
{
    expect_split("1.2.3", "1.2.3", "");
    expect_split("", "", "");
    expect_split("1.2.3+", "1.2.3", "");
    expect_split("1.2.3+abc", "1.2.3", "");            /* too short */
    expect_split("1.2.3+8d2c7f1e.local", "1.2.3", ""); /* behind the last full stop */
    expect_split("1.2.3+not-hex-at-all", "1.2.3", "");
    expect_split("1+0123456789012345678901234567890123456789012345678901234567890123456789", "1",
                 "");
}

TEST(a_file_that_is_no_assembly_says_nothing)
{
    struct symbols_version v;

    assert_int_equal(symbols_version_read("tests/README.md", NULL, NULL, &v), -ENOEXEC);
    assert_string_equal(v.file, "");
    assert_int_equal(symbols_version_read("tests/no-such-file.dll", NULL, NULL, &v), -ENOENT);
}

/* Cut anywhere, and with any byte changed: an answer, whichever it is, and texts that end. */
TEST(a_damaged_assembly_is_read_without_harm)
{
    char path[] = "/tmp/shadowtrace-version-XXXXXX", *data = malloc(1 << 20);
    FILE *file = fopen("tests/fuzz/corpus/symbols/handmade.dll", "rb"), *made;
    size_t size = fread(data, 1, 1 << 20, file);
    struct symbols_version v;

    fclose(file);
    close(mkstemp(path));
    for (unsigned round = 0; round < 2000; round++) {
        size_t cut = round % 2 ? size : size * round / 2000, at = (size * 7 + 13 * round) % size;
        char before = data[at];

        data[at] = (char)(before ^ (round % 2 ? 1 << round % 7 : 0));
        made = fopen(path, "wb");
        assert_int_equal(fwrite(data, 1, cut, made), cut);
        fclose(made);
        (void)symbols_version_read(path, NULL, NULL, &v);
        assert_true(strlen(v.file) < sizeof(v.file));
        assert_true(strlen(v.informational) < sizeof(v.informational));
        assert_true(strlen(v.version) < sizeof(v.version) && strlen(v.commit) < sizeof(v.commit));
        data[at] = before;
    }
    unlink(path);
    free(data);
}
