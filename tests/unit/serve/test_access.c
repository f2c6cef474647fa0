#include "server/access.h"

#include "support/test.h"

static const struct args_list none = {.count = 0}, one = {{"shop.example"}, 1};

TEST(a_host_is_an_address_or_localhost_or_a_name_that_was_given)
{
    assert_true(access_host("127.0.0.1:9464", &none));
    assert_true(access_host("10.1.2.3", &none));
    assert_true(access_host("[::1]:9464", &none));
    assert_true(access_host("LocalHost:1", &none));
    assert_true(access_host("shop.example:80", &one));
    assert_false(access_host("shop.example:80", &none));
    assert_false(access_host("127.0.0.1.evil.example", &none));
    assert_false(access_host("localhost.evil.example:9464", &none));
    assert_false(access_host("127.0.0.1:80:evil", &none));
    assert_false(access_host("[::1]evil:80", &none));
    assert_false(access_host("[::1", &none));
    assert_false(access_host(":80", &none));
    assert_false(access_host("", &none));
    assert_false(access_host(NULL, &one));
}

TEST(requests_of_other_origins_are_told_by_what_browsers_say)
{
    assert_true(access_origin(NULL, NULL, "localhost:1"));
    assert_true(access_origin("http://localhost:1", "same-origin", "localhost:1"));
    assert_true(access_origin(NULL, "none", "localhost:1"));
    assert_false(access_origin("http://localhost:2", NULL, "localhost:1"));
    assert_false(access_origin("https://evil.example", NULL, "localhost:1"));
    assert_false(access_origin("null", NULL, "localhost:1"));
    assert_false(access_origin("http://localhost:1", NULL, NULL));
    assert_false(access_origin(NULL, "cross-site", "localhost:1"));
    assert_false(access_origin(NULL, "same-site", "localhost:1"));
}

TEST(a_bearer_is_what_follows_its_word)
{
    assert_string_equal(access_bearer("Bearer abc"), "abc");
    assert_string_equal(access_bearer("bearer  abc"), "abc");
    assert_string_equal(access_bearer("Bearer "), "");
    assert_null(access_bearer("Basic eDp5"));
    assert_null(access_bearer("Bearerabc"));
    assert_null(access_bearer(NULL));
}

TEST(gzip_is_taken_where_it_is_named_and_not_refused)
{
    assert_true(access_gzip("gzip"));
    assert_true(access_gzip("br, GZIP;q=0.5, deflate"));
    assert_true(access_gzip("deflate,gzip"));
    assert_false(access_gzip("gzip;q=0"));
    assert_false(access_gzip("gzip; q=0.000, br"));
    assert_false(access_gzip("x-gzip2, br"));
    assert_false(access_gzip("*"));
    assert_false(access_gzip(""));
    assert_false(access_gzip(NULL));
}

TEST(a_number_has_digits_only_and_a_limit)
{
    unsigned long n = 0;

    assert_true(access_number("600", 600, &n));
    assert_int_equal(n, 600);
    assert_false(access_number("601", 600, &n));
    assert_false(access_number("0", 600, &n));
    assert_false(access_number("-1", 600, &n));
    assert_false(access_number("1 ", 600, &n));
    assert_false(access_number("", 600, &n));
    assert_false(access_number("99999999999999999999999", ~0UL, &n));
}
