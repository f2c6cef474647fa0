#include "base/path.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>

TEST(a_base_name_is_what_follows_the_last_slash)
{
    assert_string_equal(path_base_name("/usr/bin/dotnet"), "dotnet");
    assert_string_equal(path_base_name("dotnet"), "dotnet");
    assert_string_equal(path_base_name("a/"), "");
    assert_string_equal(path_base_name(""), "");
    assert_string_equal(path_base_name("a\\b"), "a\\b");
}

TEST(a_foreign_path_has_either_slash)
{
    assert_string_equal(path_base_name_foreign("C:\\src\\Main.cs"), "Main.cs");
    assert_string_equal(path_base_name_foreign("C:\\src/Main.cs"), "Main.cs");
    assert_string_equal(path_base_name_foreign("/src/a\\Main.cs"), "Main.cs");
    assert_string_equal(path_base_name_foreign("Main.cs"), "Main.cs");
}

TEST(an_ending_is_compared_as_a_whole)
{
    assert_true(path_ends_with("App.dll", ".dll"));
    assert_true(path_ends_with(".dll", ".dll"));
    assert_true(path_ends_with("a", ""));
    assert_false(path_ends_with("dll", ".dll"));
    assert_false(path_ends_with("App.DLL", ".dll"));
    assert_true(path_ends_with_nocase("App.DLL", ".dll"));
    assert_false(path_ends_with_nocase("App.exe", ".dll"));
}
