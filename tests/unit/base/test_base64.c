/* Base64 both ways, against the test vectors of RFC 4648. */
#include "base/base64.h"

#include "base/memory.h"
#include "support/test.h"

#include <string.h>

TEST(bytes_become_letters_and_bytes_again)
{
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        struct buffer b = BUFFER_INIT;
        uint8_t bytes[16];
        size_t size;

        base64_put(&b, (const uint8_t *)pairs[i][0], strlen(pairs[i][0]));
        buffer_char(&b, '\0');
        assert_string_equal(b.data, pairs[i][1]);
        assert_true(base64_read(pairs[i][1], strlen(pairs[i][1]), bytes, &size));
        assert_int_equal(size, strlen(pairs[i][0]));
        assert_memory_equal(bytes, pairs[i][0], size);
        buffer_free(&b);
    }
}

TEST(invalid_base64_is_refused)
{
    static const char *const wrong[] = {"Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zm9\n", "Zm-v"};
    uint8_t bytes[16];
    size_t size;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_false(base64_read(wrong[i], strlen(wrong[i]), bytes, &size));
}
