#include "base/hash.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 4,096 words that differ in few bits fill most of as many buckets: 63 in 100 by chance. */
TEST(near_words_lie_in_different_buckets)
{
    unsigned char words[4096] = {0}, mixed[4096] = {0}, texts[4096] = {0};
    unsigned used[3] = {0};

    for (uint64_t i = 0; i < 4096; i++) {
        char text[16] = "name";

        memcpy(text + 4, &i, sizeof(i));
        words[hash_word(i << 4) >> 52] = 1;
        mixed[hash_mix(i << 20, 7) & 4095] = 1;
        texts[hash_bytes(text, 12) & 4095] = 1;
    }
    for (unsigned i = 0; i < 4096; i++) {
        used[0] += words[i];
        used[1] += mixed[i];
        used[2] += texts[i];
    }
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(used[i], 2200, 4096);
}

TEST(bytes_hash_by_content_and_length)
{
    char text[2][24] = {"0123456789abcdef-tail", "0123456789abcdef-tail"};

    for (size_t i = 0; i < 21; i++) {
        assert_true(hash_bytes(text[0], i) == hash_bytes(text[1], i));
        assert_true(hash_bytes(text[0], i) != hash_bytes(text[0], i + 1));
    }
    assert_true(hash_bytes("\0", 1) != hash_bytes("\0\0", 2));
    assert_true(hash_bytes(NULL, 0) == hash_bytes("", 0));
}
