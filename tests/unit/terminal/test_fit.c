#include "terminal/fit.h"

#include "terminal/text.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#define DOTS "\xE2\x80\xA6"

typedef const char *fit(struct buffer *b, const char *text, size_t width);

static void expect(fit *how, const char *text, size_t width, const char *expected)
{
    struct buffer b = BUFFER_INIT;

    assert_string_equal(how(&b, text, width), expected);
    assert_true(text_columns(expected) <= width);
    buffer_free(&b);
}

TEST(a_name_that_fits_stays)
{
    expect(fit_name, "Ns.Type.Method(int, string)", 27, "Ns.Type.Method(int, string)");
    expect(fit_name, "", 0, "");
}

TEST(parameters_go_first)
{
    expect(fit_name, "Ns.Type.Method(System.Int32, System.String)", 26,
           "Ns.Type.Method(Syste" DOTS "ring)");
    expect(fit_name, "Ns.Type.Method(System.Int32, System.String)", 17, "Ns.Type.Method(" DOTS ")");
    expect(fit_name, "Ns.Type.Method()", 14, DOTS "Type.Method()");
}

TEST(then_type_arguments)
{
    expect(fit_name, "Dictionary<string, Whatever>.Add(string, Whatever)", 26,
           "Dictionary<str" DOTS "ver>.Add(" DOTS ")");
    expect(fit_name, "Dictionary<string, Whatever>.Add(string, Whatever)", 20,
           "Dictionary<" DOTS ">.Add(" DOTS ")");
    expect(fit_name, "Outer<First>.Inner<Second>.Map<Third>", 31,
           "Outer<First>.Inner<Se" DOTS "d>.Map<" DOTS ">");
}

TEST(then_the_middle_of_namespaces)
{
    const char *name = "Microsoft.CodeAnalysis.CSharp.Syntax.LanguageParser.ParseNamespaceBody";

    expect(fit_name, name, 58, "Microsoft." DOTS "CSharp.Syntax.LanguageParser.ParseNamespaceBody");
    expect(fit_name, name, 48, "Microsoft." DOTS "LanguageParser.ParseNamespaceBody");
    expect(fit_name, name, 40, DOTS "LanguageParser.ParseNamespaceBody");
    expect(fit_name, name, 28, DOTS "Lang" DOTS "ser.ParseNamespaceBody");
    expect(fit_name, name, 19, DOTS "ParseNamespaceBody");
    expect(fit_name, name, 18, "ParseNamespaceBody");
    expect(fit_name, name, 11, "Parse" DOTS "eBody");
}

TEST(a_type_keeps_its_last_name)
{
    expect(fit_name, "System.Collections.Generic.Dictionary<string, System.Int32>[]", 24,
           DOTS "Generic.Dictionary<" DOTS ">[]");
    expect(fit_name, "System.Collections.Generic.Dictionary<string, System.Int32>[]", 18,
           DOTS "Dictionary<" DOTS ">[]");
    expect(fit_name, "(int, string, System.Collections.Generic.List<int>)", 12,
           "(int, " DOTS "int>)");
    expect(fit_name, "(no managed frame at all)", 10, "(no m" DOTS "all)");
}

TEST(constructors_and_operators_are_methods)
{
    expect(fit_name, "Ns.Some.Type..ctor(System.Int32)", 16, DOTS "Type..ctor(" DOTS ")");
    expect(fit_name, "Ns.Type.<Main>$(string[])", 14, DOTS "<Main>$(" DOTS ")");
}

TEST(wide_letters_take_two_columns)
{
    /* three ideographs, an accent on a letter */
    assert_int_equal(text_columns("\xE6\xBC\xA2\xE5\xAD\x97\xE4\xBB\xAE"), 6);
    assert_int_equal(text_columns("e\xCC\x81"), 1);
    assert_int_equal(text_columns("\xF0\x9F\x98\x80"), 2);
    expect(fit_name, "\xE6\xBC\xA2\xE5\xAD\x97\xE4\xBB\xAE", 4, "\xE6\xBC\xA2" DOTS);
    expect(fit_text, "\xE6\xBC\xA2\xE5\xAD\x97\xE4\xBB\xAE", 5, "\xE6\xBC\xA2" DOTS "\xE4\xBB\xAE");
}

TEST(places_lose_folders_at_the_front)
{
    expect(fit_place, "/home/me/shop/src/Basket.cs:12", 30, "/home/me/shop/src/Basket.cs:12");
    expect(fit_place, "/home/me/shop/src/Basket.cs:12", 25, DOTS "/shop/src/Basket.cs:12");
    expect(fit_place, "/home/me/shop/src/Basket.cs:12", 16, DOTS "/Basket.cs:12");
    expect(fit_place, "/home/me/shop/src/Basket.cs:12", 8, DOTS "t.cs:12");
    expect(fit_place, "/home/me", 0, "");
}

/* Pieces that names are made of, and that break them. */
static const char *const pieces[] = {
    "Ns",           ".",         "<",    ">",    "(",  ")",   "[",        "]",           ", ",
    "Method",       ".ctor",     "`1",   "\x1b", "@",  "|",   "\xE2\x80", "<>c.<M>b__0", "int",
    DOTS,           " ",         "&",    "*",    "..", "()",  "<>",       "[]",          "A.B.C",
    "\xE6\xBC\xA2", "e\xCC\x81", "\xFF", "{",    "T",  "<T>",
};

TEST(whatever_is_fitted_fits)
{
    struct buffer name = BUFFER_INIT, b = BUFFER_INIT;
    unsigned seed = 1;

    for (unsigned i = 0; i < 20000; i++) {
        size_t width = (seed = seed * 1103515245 + 12345) / 65536 % 40;

        buffer_clear(&name);
        for (unsigned n = seed / 4096 % 24; n > 0; n--) {
            seed = seed * 1103515245 + 12345;
            buffer_text(&name, pieces[seed / 65536 % (sizeof(pieces) / sizeof(pieces[0]))]);
        }
        buffer_text(&name, "");
        assert_true(text_columns(fit_name(&b, name.data, width)) <= width);
        assert_true(text_columns(fit_place(&b, name.data, width)) <= width);
        assert_true(text_columns(fit_text(&b, name.data, width)) <= width);
    }
    buffer_free(&name);
    buffer_free(&b);
}

TEST(a_long_name_takes_no_long_time)
{
    struct buffer name = BUFFER_INIT, b = BUFFER_INIT;

    for (unsigned i = 0; i < 50000; i++)
        buffer_text(&name, i % 3 ? "<(" : "A.");
    assert_true(text_columns(fit_name(&b, name.data, 30)) <= 30);
    buffer_clear(&name);
    for (unsigned i = 0; i < 50000; i++)
        buffer_text(&name, "A<B>.");
    assert_true(text_columns(fit_name(&b, name.data, 30)) <= 30);
    buffer_free(&name);
    buffer_free(&b);
}
