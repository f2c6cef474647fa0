#include "terminal/text.h"

#include "terminal/fit.h"

#include "base/atomics.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char *printed(size_t (*elide)(FILE *, const char *, size_t), const char *text, size_t width)
{
    char *out = NULL;
    size_t size = 0, columns;
    FILE *file = open_memstream(&out, &size);

    assert_non_null(file);
    columns = elide(file, text, width);
    fclose(file);
    assert_int_equal(columns, text_columns(out));
    assert_true(columns <= width);
    return out;
}

static void expect(size_t (*elide)(FILE *, const char *, size_t), const char *text, size_t width,
                   const char *expected)
{
    char *out = printed(elide, text, width);

    assert_string_equal(out, expected);
    free(out);
}

TEST(numbers_have_their_commas)
{
    struct text_number n;

    assert_string_equal(text_count(&n, 0), "0");
    assert_string_equal(text_count(&n, 999), "999");
    assert_string_equal(text_count(&n, 1000), "1,000");
    assert_string_equal(text_count(&n, 1234567), "1,234,567");
    assert_string_equal(text_count(&n, UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(bytes_read_as_people_write_them)
{
    struct text_number n;

    assert_string_equal(text_bytes(&n, 0), "0 bytes");
    assert_string_equal(text_bytes(&n, 1), "1 byte");
    assert_string_equal(text_bytes(&n, 999), "999 bytes");
    assert_string_equal(text_bytes(&n, 1000), "1.0 KB");
    assert_string_equal(text_bytes(&n, 999949), "999.9 KB");
    assert_string_equal(text_bytes(&n, 999951), "1.0 MB");
    assert_string_equal(text_bytes(&n, UINT64_MAX), "18.4 EB");
}

TEST(shares_and_times_are_short)
{
    struct text_number n;

    assert_string_equal(text_share(&n, 0), "0.0%");
    assert_string_equal(text_share(&n, 0.0001), "<0.1%");
    assert_string_equal(text_share(&n, 0.1234), "12.3%");
    assert_string_equal(text_share(&n, 1), "100.0%");
    assert_string_equal(text_short(&n, 999), "999");
    assert_string_equal(text_short(&n, 1234), "1.2k");
    assert_string_equal(text_short(&n, 999960), "1.0M");
    assert_string_equal(text_short(&n, 2.5e18), "2500.0P");
    assert_string_equal(text_ns(&n, 2.14), "2.1 ns");
    assert_string_equal(text_ns(&n, 25), "25 ns");
    assert_string_equal(text_ns(&n, 3400), "3.4 us");
    assert_string_equal(text_ns(&n, 1.2e6), "1.2 ms");
    assert_string_equal(text_ns(&n, 2e9), "2.0 s");
}

TEST(long_names_lose_their_middle)
{
    expect(text_elide, "System.String", 13, "System.String");
    expect(text_elide, "System.String", 8, "Syst\xE2\x80\xA6ing");
    expect(text_elide, "System.String", 1, "\xE2\x80\xA6");
    expect(text_elide, "System.String", 0, "");
    expect(text_elide, "\xC3\x84\xC3\x96\xC3\x9C\xC3\xA4\xC3\xB6\xC3\xBC", 3,
           "\xC3\x84\xE2\x80\xA6\xC3\xBC");
    expect(text_elide, "a\nb\x1b", 10, "a?b?");
}

TEST(every_width_is_kept)
{
    static const char *const names[] = {"",
                                        "a",
                                        "Ns.Type.Method()",
                                        "Ns.Type.Method(A, B(C), D)",
                                        "\xC3\x84.\xC3\x96(\xC3\x9C)",
                                        "()",
                                        ")",
                                        "((("};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        for (size_t width = 0; width < 40; width++) {
            free(printed(text_elide, names[i], width));
            free(printed(fit_print_name, names[i], width));
        }
}

TEST(links_are_for_terminals_unless_asked_for)
{
    FILE *out = tmpfile(); /* no terminal */

    assert_non_null(out);
    setenv("TERM", "xterm", 1);
    assert_true(text_links_wanted(TEXT_LINKS_ALWAYS, out));
    assert_false(text_links_wanted(TEXT_LINKS_NEVER, out));
    assert_false(text_links_wanted(TEXT_LINKS_AUTO, out));
    fclose(out);
}
