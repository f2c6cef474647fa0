/*
 * The small parts of src/tool/symbols: compressed integers, SHA-256, unpacking, text, Source Link
 * addresses.
 */
#include "base/memory.h"

#include "symbols/bytes.h"
#include "symbols/inflate.h"
#include "symbols/sha256.h"
#include "symbols/symbols.h"
#include "symbols/text.h"
#include "support/test.h"

#include <errno.h>
#include <string.h>

static struct cursor cursor_of(const uint8_t *data, size_t size)
{
    return symbols_read((struct symbols_span){data, size});
}

#define CURSOR(...) \
    cursor_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* The examples of ECMA-335 II.23.2. */
TEST(compressed_integers_are_read_as_the_standard_shows)
{
    struct cursor c;

    c = CURSOR(0x03, 0x7F, 0x80, 0x80, 0xAE, 0x57, 0xBF, 0xFF, 0xC0, 0x00, 0x40, 0x00, 0xDF, 0xFF,
               0xFF, 0xFF);
    assert_int_equal(symbols_read_unsigned(&c), 0x03);
    assert_int_equal(symbols_read_unsigned(&c), 0x7F);
    assert_int_equal(symbols_read_unsigned(&c), 0x80);
    assert_int_equal(symbols_read_unsigned(&c), 0x2E57);
    assert_int_equal(symbols_read_unsigned(&c), 0x3FFF);
    assert_int_equal(symbols_read_unsigned(&c), 0x4000);
    assert_int_equal(symbols_read_unsigned(&c), 0x1FFFFFFF);
    assert_false(c.failed);
    c = CURSOR(0x06, 0x7B, 0x80, 0x80, 0x01, 0xC0, 0x00, 0x40, 0x00, 0x80, 0x01, 0xDF, 0xFF, 0xFF,
               0xFE, 0xC0, 0x00, 0x00, 0x01);
    assert_int_equal(symbols_read_signed(&c), 3);
    assert_int_equal(symbols_read_signed(&c), -3);
    assert_int_equal(symbols_read_signed(&c), 64);
    assert_int_equal(symbols_read_signed(&c), -64);
    assert_int_equal(symbols_read_signed(&c), 8192);
    assert_int_equal(symbols_read_signed(&c), -8192);
    assert_int_equal(symbols_read_signed(&c), 268435455);
    assert_int_equal(symbols_read_signed(&c), -268435456);
    assert_false(c.failed);
    assert_int_equal(c.left, 0);
}

TEST(a_read_beyond_the_end_fails_for_good)
{
    struct cursor c = CURSOR(0xC0, 1, 2);

    symbols_read_unsigned(&c);
    assert_true(c.failed);
    assert_int_equal(symbols_read_u8(&c), 0);
    assert_true(c.failed);
    c = CURSOR(0xE0, 0, 0, 0); /* no integer begins so */
    symbols_read_unsigned(&c);
    assert_true(c.failed);
    c = symbols_read((struct symbols_span){NULL, 0});
    assert_null(cursor_bytes(&c, 1));
    assert_true(c.failed);
}

TEST(a_cut_never_wraps)
{
    static const uint8_t data[8];
    struct symbols_span span = {data, sizeof(data)};
    struct symbols_span out = {NULL, 99};

    assert_false(symbols_cut(span, 9, 0, &out));
    assert_false(symbols_cut(span, 4, 5, &out));
    assert_false(symbols_cut(span, UINT64_MAX, 2, &out));
    assert_false(symbols_cut(span, 2, UINT64_MAX, &out));
    assert_int_equal(out.size, 99);
    assert_true(symbols_cut(span, 8, 0, &out));
    assert_true(symbols_cut(span, 3, 5, &out));
    assert_ptr_equal(out.data, data + 3);
}

static void digest_is(const char *text, size_t repeat, const char *expected)
{
    uint8_t digest[SYMBOLS_SHA256_SIZE];
    struct symbols_sha256 hash;
    char hex[2 * SYMBOLS_SHA256_SIZE + 1];

    symbols_sha256_init(&hash);
    for (size_t i = 0; i < repeat; i++)
        symbols_sha256_add(&hash, text, strlen(text));
    symbols_sha256_fini(&hash, digest);
    for (size_t i = 0; i < sizeof(digest); i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[sizeof(hex) - 1] = '\0';
    assert_string_equal(hex, expected);
}

/* NIST's vectors, and lengths at which the padding just fits and just does not. */
TEST(sha256_gives_the_known_digests)
{
    digest_is("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_is("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    digest_is("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    digest_is("a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    digest_is("a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    digest_is("a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(deflate_data_must_give_just_what_is_claimed)
{
    static const uint8_t packed[] = {0x4B, 0x4C, 0x4A, 0x06, 0x00}; /* "abc" */
    struct symbols_span span = {packed, sizeof(packed)};
    uint8_t *out;

    assert_int_equal(symbols_inflate(span, 3, &out), 0);
    assert_string_equal((char *)out, "abc");
    memory_free(out);
    assert_int_equal(symbols_inflate(span, 2, &out), -EBADMSG);
    assert_int_equal(symbols_inflate(span, 4, &out), -EBADMSG);
    assert_int_equal(symbols_inflate(span, 1 << 20, &out), -EBADMSG); /* not even allocated */
    span.size = 3;
    assert_int_equal(symbols_inflate(span, 3, &out), -ENODATA);
    span = (struct symbols_span){(const uint8_t *)"\xFF\xFF\xFF", 3};
    assert_int_equal(symbols_inflate(span, 3, &out), -EBADMSG);
}

static void text_is(const char *in, size_t size, const char *expected)
{
    struct buffer b = BUFFER_INIT;

    symbols_text_append(&b, (struct symbols_span){(const uint8_t *)in, size});
    buffer_append(&b, "", 0);
    assert_string_equal(b.data, expected);
    buffer_free(&b);
}

#define R "\xEF\xBF\xBD"

/* As the Unicode standard's table 3-8 and .NET have it. */
TEST(ill_formed_text_is_replaced_by_maximal_subparts)
{
    text_is("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 10, "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    text_is("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", 9, R R R R R R R R "A");
    text_is("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", 9, R R R R R R R R "A");
    text_is("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", 9, R R R R R "A" R R "B");
    text_is("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", 9, R R R R "A");
    text_is("a\0b", 3, "a" R "b");
    text_is("\xE2\x82", 2, R);
}

TEST(lines_are_cut_between_characters)
{
    char out[8];

    symbols_text_line(out, sizeof(out), "abcde\xE2\x82\xAC");
    assert_string_equal(out, "abcde");
    symbols_text_line(out, sizeof(out), "a\n\x7F\xC2\x9B\xE2\x82\xAC!");
    assert_string_equal(out, "a???\xE2\x82\xAC");
}

static const struct symbols_link links[] = {
    {"/_/*", "https://host/raw/1234/*"},
    {"/_/src/Special.cs", "https://host/special"},
    {"/_/lib/*", "https://host/lib?path=*&v=1"},
    {"C:\\build\\*", "https://host/c/*"},
    {"", "https://never/empty"},
    {"/_/no/*/middle", "https://never/*"},
    {"/_/lone/File.cs", "https://never/*"},
    {"/_/two/*", "https://never/*/*"},
};

static void url_is(const char *file, const char *expected)
{
    char *url = NULL;
    int err = symbols_link_url(links, sizeof(links) / sizeof(links[0]), file, &url);

    assert_int_equal(err, expected ? 0 : -ENOENT);
    if (expected)
        assert_string_equal(url, expected);
    memory_free(url);
}

TEST(longest_pattern_that_fits_gives_the_address)
{
    url_is("/_/src/A.cs", "https://host/raw/1234/src/A.cs");
    url_is("/_/src/Special.cs", "https://host/special");
    url_is("/_/SRC/special.cs", "https://host/special");
    url_is("/_/lib/a b/\xC3\xBC.cs", "https://host/lib?path=a%20b/%C3%BC.cs&v=1");
    url_is("c:\\Build\\sub\\A+B.cs", "https://host/c/sub/A%2BB.cs");
    url_is("/_/lone/File.cs",
           "https://host/raw/1234/lone/File.cs"); /* a pair against the rules is passed over */
    url_is("/_/two/A.cs", "https://host/raw/1234/two/A.cs");
    url_is("/elsewhere/A.cs", NULL);
    url_is("/_/src/*.cs", NULL);
}

TEST(an_address_needs_memory)
{
    char *url;

    memory_fail_after(0);
    assert_int_equal(symbols_link_url(links, 1, "/_/src/A.cs", &url), -ENOMEM);
    memory_fail_after(-1);
}
