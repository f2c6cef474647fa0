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

TEST(a_stem_lacks_the_extension_of_an_assembly)
{
    assert_int_equal(path_stem("/app/App.dll"), 8);
    assert_int_equal(path_stem("App.EXE"), 3);
    assert_int_equal(path_stem("/app/.dll"), 9); /* nothing would be left */
    assert_int_equal(path_stem("dll"), 3);
    assert_int_equal(path_stem("App.so"), 6);
    assert_int_equal(path_stem(""), 0);
    assert_true(path_is_assembly("App.dll"));
    assert_false(path_is_assembly("dotnet"));
}
