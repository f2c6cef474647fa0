#include "browse/editor.h"

#include "browse/search.h"
#include "support/test.h"

#include <errno.h>
#include <string.h>

static struct editor editor;

/* What would be executed, words in brackets. */
static const char *command(const char *visual, const char *other, const char *file, uint32_t line)
{
    static char text[PATH_MAX];

    assert_int_equal(editor_command(&editor, visual, other, file, line), 0);
    *text = '\0';
    for (char **word = editor.argv; *word; word++) {
        strcat(text, "[");
        strcat(text, *word);
        strcat(text, "]");
    }
    return text;
}

TEST(most_editors_take_a_line_with_a_plus)
{
    assert_string_equal(command(NULL, "vi", "/a/b.cs", 12), "[vi][+12][/a/b.cs]");
    assert_string_equal(command(NULL, "nano", "/a/b.cs", 12), "[nano][+12][/a/b.cs]");
    assert_string_equal(command("", "emacs -nw", "/a/b.cs", 12), "[emacs][-nw][+12][/a/b.cs]");
    assert_string_equal(command(NULL, "/usr/bin/micro", "/a/b.cs", 1),
                        "[/usr/bin/micro][+1][/a/b.cs]");
    assert_string_equal(command(NULL, "vi", "/a/b.cs", 0), "[vi][/a/b.cs]");
}

TEST(others_have_ways_of_their_own)
{
    assert_string_equal(command("code --wait", "vi", "/a/b.cs", 12),
                        "[code][--wait][--goto][/a/b.cs:12]");
    assert_string_equal(command("/opt/bin/codium", NULL, "/a/b.cs", 3),
                        "[/opt/bin/codium][--goto][/a/b.cs:3]");
    assert_string_equal(command("subl", NULL, "/a/b.cs", 12), "[subl][/a/b.cs:12]");
    assert_string_equal(command("hx", NULL, "/a/b.cs", 12), "[hx][/a/b.cs:12]");
    assert_string_equal(command("rider", NULL, "/a/b.cs", 12), "[rider][--line][12][/a/b.cs]");
    assert_string_equal(command("xdg-open", NULL, "/a/b.cs", 12), "[xdg-open][/a/b.cs]");
}

TEST(nothing_of_a_file_name_is_an_option_or_a_command)
{
    assert_string_equal(command(NULL, "vi", "-c:q!", 1), "[vi][+1][./-c:q!]");
    assert_string_equal(command(NULL, "vi", "+!rm", 1), "[vi][+1][./+!rm]");
    assert_string_equal(command(NULL, "vi", "a b;$(c)'\"\n", 1), "[vi][+1][./a b;$(c)'\"\n]");
    assert_string_equal(command("code", NULL, "--x", 2), "[code][--goto][./--x:2]");
}

TEST(words_of_the_editor_keep_their_blanks_and_mean_nothing_else)
{
    assert_string_equal(command("'/my dir/vi' \"a b\" c\\ d $(e) `f` *", NULL, "/x", 1),
                        "[/my dir/vi][a b][c d][$(e)][`f`][*][+1][/x]");
    assert_string_equal(command("  vi \t-p ", NULL, "/x", 1), "[vi][-p][+1][/x]");
    assert_string_equal(command("vi \"say \\\"hi\\\"\" ''", NULL, "/x", 1),
                        "[vi][say \"hi\"][][+1][/x]");
}

TEST(what_cannot_be_understood_is_refused)
{
    char name[PATH_MAX + 10];

    assert_int_equal(editor_command(&editor, NULL, NULL, "/x", 1), -ENOENT);
    assert_int_equal(editor_command(&editor, "", "", "/x", 1), -ENOENT);
    assert_int_equal(editor_command(&editor, "vi 'open", NULL, "/x", 1), -EINVAL);
    assert_int_equal(editor_command(&editor, "   ", NULL, "/x", 1), -EINVAL);
    assert_int_equal(editor_command(&editor, "''", NULL, "/x", 1), -EINVAL);
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(editor_command(&editor, "vi", NULL, name, 1), -ENAMETOOLONG);
    memset(name, ' ', 1);
    for (size_t i = 0; i < 90; i++)
        name[i] = i % 2 ? 'a' : ' ';
    name[90] = '\0';
    assert_int_equal(editor_command(&editor, name, NULL, "/x", 1), -EINVAL); /* 45 words */
    memset(name, 'a', WORDS_SIZE);
    name[WORDS_SIZE] = '\0';
    assert_int_equal(editor_command(&editor, name, NULL, "/x", 1), -EINVAL);
}

TEST(searches_find_names_without_their_parameters)
{
    struct search s = {.number = 0};

    assert_false(search_hits(&s, "anything"));
    search_set(&s, "string");
    assert_true(search_hits(&s, "A.String"));
    assert_true(search_hits_name(&s, "String.Concat(int)"));
    assert_false(search_hits_name(&s, "A.B(System.String)"));
    assert_false(search_hits_name(&s, NULL));
    search_set(&s, "(system");
    assert_true(search_hits_name(&s, "A.B(System.String)"));
    search_set(&s, "String");
    assert_false(search_hits(&s, "a.string"));
    assert_int_equal(s.number, 3);
}
