/* What a header says of when a recording began. */
#include "readers/header.h"

#include "support/test.h"

static void expect_started(const char *text, long long expected)
{
    json_t *header = json_pack("{s:s}", "started", text);

    assert_int_equal(log_started(header), expected);
    json_decref(header);
}

TEST(a_time_is_the_same_moment_in_every_zone)
{
    expect_started("2026-11-24T10:00:30Z", 1795514430);
    expect_started("2026-11-24T10:00:30.25Z", 1795514430);
    expect_started("2026-11-24T11:00:30+01:00", 1795514430);
    expect_started("2026-11-24T11:00:30.5+01:00", 1795514430);
    expect_started("2026-11-24T04:30:30-05:30", 1795514430);
}

TEST(what_is_no_time_says_nothing)
{
    static const char *const texts[] = {"",
                                        "yesterday",
                                        "2026-11-24T10:00:30",
                                        "2026-11-24T10:00:30z",
                                        "2026-11-24T10:00:30+1",
                                        "2026-11-24T10:00:30+01:00Z",
                                        "2026-11-24T10:00:30 01:00"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        expect_started(texts[i], 0);
    assert_int_equal(log_started(NULL), 0);
}
