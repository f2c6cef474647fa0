/* profile: samples of tests/fixtures/program, counted by node, summed along `parent` by a script */
#include "unit/cli/command_support.h"

#include "support/test.h"

#include <jansson.h>

#define PROFILE(...) RUN(&cmd_profile, "profile", __VA_ARGS__)
#define SHOP         FIXTURES "shop-profile.ndjson"

TEST(text_is_as_expected)
{
    expect_ran(PROFILE(SHOP), CLI_OK, FIXTURES "shop.profile.txt");
    expect_ran(PROFILE("--format=folded", SHOP), CLI_OK, FIXTURES "shop.profile.folded");
    expect_ran(PROFILE("--format=json", SHOP), CLI_OK, FIXTURES "shop.profile.json");
}

TEST(a_method_has_its_own_samples_and_those_of_its_callees)
{
    static const struct {
        const char *method;
        int self, total;
    } expected[] = {
        {"Shop.Program.Main(System.String[])", 11, 53},
        {"Shop.Program.Open()", 0, 1},
        {"Shop.Program.Serve(System.Int32)", 1, 1},
        {"Shop.Program.Count(System.Int32)", 41, 41},
    };
    struct ran ran = PROFILE("--format=json", SHOP);
    json_t *json = json_loads(ran.out, JSON_REJECT_DUPLICATES, NULL),
           *methods = json_object_get(json, "methods"), *row;
    unsigned found = 0;
    size_t i;

    assert_int_equal(ran.status, CLI_OK);
    assert_int_equal(json_array_size(methods), 4);
    json_array_foreach(methods, i, row)
    {
        const char *name;
        int self, total, unused;

        assert_int_equal(json_unpack(row, "{s:s, s:[i,i], s:[i,i]}", "method", &name, "self", &self,
                                     &unused, "total", &total, &unused),
                         0);
        for (size_t k = 0; k < 4; k++)
            if (!strcmp(name, expected[k].method)) {
                found++;
                assert_int_equal(self, expected[k].self);
                assert_int_equal(total, expected[k].total);
            }
    }
    assert_int_equal(found, 4);
    json_decref(json);
    free(ran.out);
}

TEST(a_log_without_samples_is_refused)
{
    expect_complaint(PROFILE(FIXTURES "small.ndjson"), CLI_IO, "no samples");
    expect_complaint(PROFILE("--format=xml", SHOP), CLI_USAGE, "--format");
}
