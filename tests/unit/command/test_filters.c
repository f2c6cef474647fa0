#include "command/filters.h"

#include "views/views.h"

#include "support/test.h"

TEST(a_share_is_a_percentage_with_or_without_its_sign)
{
    static const struct {
        const char *text;
        double share;
    } good[] = {{"0", 0},    {"0.5", 0.005}, {"0.5%", 0.005}, {".1", 0.001},
                {"100%", 1}, {"100", 1},     {"12.5", 0.125}, {"1e1", 0.1}};
    static const char *const bad[] = {"",   "%",   "much", "1x",  "1%%", "-1", "+1",
                                      " 1", "101", "nan",  "inf", "1 %", "-0", "0.1.2"};
    double share = 7;

    assert_int_equal(filters_share(&cmd_report, NULL, &share), CLI_OK);
    assert_true(share == 7);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(filters_share(&cmd_report, bad[i], &share), CLI_USAGE);
    assert_true(share == 7);
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_int_equal(filters_share(&cmd_report, good[i].text, &share), CLI_OK);
        assert_true(share > good[i].share - 1e-12 && share < good[i].share + 1e-12);
    }
}

TEST(every_filter_counts_and_goes_to_the_model)
{
    struct filters f[7] = {{.types = {{"T"}, 1}}, {.methods = {{"M"}, 1}}, {.exclude = {{"E"}, 1}},
                           {.below = {{"B"}, 1}}, {.thread = 3},           {.own = true},
                           {.steady = true}};
    struct filters not_one = {
        .own_code = {{"O"}, 1}, .processes = {{"P"}, 1}, .window = {"1s", NULL}};
    struct model_filter m[7];

    assert_false(filters_any(&not_one)); /* whose code is own, and what is read at all */
    for (size_t i = 0; i < COUNT_OF(f); i++) {
        assert_true(filters_any(&f[i]));
        m[i] = filters_model(&f[i]);
    }
    assert_string_equal(m[0].types.globs[0], "T");
    assert_int_equal(m[0].types.count, 1);
    assert_string_equal(m[1].methods.globs[0], "M");
    assert_string_equal(m[2].exclude.globs[0], "E");
    assert_string_equal(m[3].below.globs[0], "B");
    assert_int_equal(m[4].thread, 3);
    assert_true(m[5].own && m[6].steady);
    assert_false(m[5].steady || m[6].own || m[6].types.count);
}
