/* What of an informational version is the version, and what the commit. */
#include "symbols/version.h"

#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
    expect_split("1.2.3+abc", "1.2.3", "");          /* too short */
    expect_split("1.2.3+8d2c7f1e.local", "1.2.3", ""); /* behind the last full stop */
    expect_split("1.2.3+not-hex-at-all", "1.2.3", "");
    expect_split("1+0123456789012345678901234567890123456789012345678901234567890123456789", "1", "");
}

TEST(a_file_that_is_no_assembly_says_nothing)
{
    struct symbols_version v;

    assert_int_equal(symbols_version_read("tests/README.md", NULL, NULL, &v), -ENOEXEC);
    assert_string_equal(v.file, "");
    assert_int_equal(symbols_version_read("tests/no-such-file.dll", NULL, NULL, &v), -ENOENT);
}
