/* What a deps.json says: of any form, damaged, in a bundle. */
#include "owner/deps.h"

#include "base/memory.h"
#include "options/json.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct deps deps;

static int setup(void **state)
{
    (void)state;
    json_memory_start();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    deps_free(&deps);
    return 0;
}

TEST_EACH(setup, teardown);

#define TARGET ".NETCoreApp,Version=v10.0"
#define TYPES \
    "\"libraries\":{\"Shop/1.0.0\":{\"type\":\"project\"},\"Lib/1.0.0\":{\"type\":\"project\"}," \
    "\"Dapper/2.1.1\":{\"type\":\"package\"},\"Local/1.0.0\":{\"type\":\"reference\"}," \
    "\"runtimepack.Microsoft.NETCore.App/10.0.0\":{\"type\":\"runtimepack\"}}"
#define LIBRARIES \
    "{\"Shop/1.0.0\":{\"dependencies\":{\"Lib\":\"1.0.0\"},\"runtime\":{\"Shop.dll\":{}}}," \
    "\"Lib/1.0.0\":{\"runtime\":{\"Lib.Core.dll\":{\"assemblyVersion\":\"1.0.0.0\"}}}," \
    "\"Local/1.0.0\":{\"runtime\":{\"Lib.Core.dll\":{},\"Local.dll\":{}}}," \
    "\"Dapper/2.1.1\":{\"runtime\":{\"lib/net8.0/Dapper.dll\":{},\"lib/net8.0/_._\":{}}," \
    "\"runtimeTargets\":{\"runtimes/linux/lib/Native.Part.dll\":{\"rid\":\"linux\"}}," \
    "\"native\":{\"libx.so\":{}}}," \
    "\"runtimepack.Microsoft.NETCore.App/10.0.0\":{\"runtime\":{\"System.Linq.dll\":{}}}," \
    "\"Other/1.0.0\":{\"runtime\":{\"Other.exe\":{}}}}"
#define SHOP \
    "{\"runtimeTarget\":{\"name\":\"" TARGET "\",\"signature\":\"\"},\"targets\":{\"" TARGET \
    "\":" LIBRARIES "}," TYPES "}"

static int parse(const char *text)
{
    deps_free(&deps);
    return deps_parse(text, strlen(text), &deps);
}

TEST(projects_are_own_runtime_packs_framework_and_all_else_is_a_packages)
{
    assert_int_equal(parse(SHOP), 0);
    assert_int_equal(deps_find(&deps, "Shop"), SST_OWNER_OWN);
    assert_int_equal(deps_find(&deps, "Dapper"), SST_OWNER_PACKAGE);
    assert_int_equal(deps_find(&deps, "Native.Part"), SST_OWNER_PACKAGE);
    assert_int_equal(deps_find(&deps, "Local"), SST_OWNER_PACKAGE);
    assert_int_equal(deps_find(&deps, "System.Linq"), SST_OWNER_FRAMEWORK);
    assert_int_equal(deps_find(&deps, "Other"), SST_OWNER_PACKAGE); /* of no type */
    assert_int_equal(deps_find(&deps, "Lib"), SST_OWNER_UNKNOWN);   /* its file has another name */
    assert_int_equal(deps_find(&deps, "_._"), SST_OWNER_UNKNOWN);
    assert_int_equal(deps_find(&deps, "libx"), SST_OWNER_UNKNOWN);
    assert_int_equal(deps_find(&deps, ""), SST_OWNER_UNKNOWN);
}

TEST(a_project_that_is_also_a_reference_is_own)
{
    assert_int_equal(parse(SHOP), 0);
    assert_int_equal(deps_find(&deps, "Lib.Core"), SST_OWNER_OWN);
}

TEST(names_are_found_in_any_case)
{
    assert_int_equal(parse(SHOP), 0);
    assert_int_equal(deps_find(&deps, "sHOP"), SST_OWNER_OWN);
}

TEST(only_the_target_that_it_was_made_for_counts)
{
    assert_int_equal(parse("{\"runtimeTarget\":{\"name\":\"b\"},\"targets\":{\"a\":{\"L/1\":{"
                           "\"runtime\":{\"A.dll\":{}}}},\"b\":{\"L/1\":{\"runtime\":{\"B.dll\":{}}"
                           "}}},\"libraries\":{\"L/1\":{\"type\":\"project\"}}}"),
                     0);
    assert_int_equal(deps_find(&deps, "A"), SST_OWNER_UNKNOWN);
    assert_int_equal(deps_find(&deps, "B"), SST_OWNER_OWN);
}

TEST(without_a_target_of_that_name_all_do)
{
    static const char *const heads[] = {"", "\"runtimeTarget\":{\"name\":\"c\"},",
                                        "\"runtimeTarget\":\"b\",", "\"runtimeTarget\":null,"};
    char text[400];

    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        snprintf(text, sizeof(text),
                 "{%s\"targets\":{\"a\":{\"L/1\":{\"runtime\":{\"A.dll\":{}}}},\"b\":{\"L/1\":{"
                 "\"runtime\":{\"B.dll\":{}}}}},\"libraries\":{\"L/1\":{\"type\":\"project\"}}}",
                 heads[i]);
        assert_int_equal(parse(text), 0);
        assert_int_equal(deps_find(&deps, "A"), SST_OWNER_OWN);
        assert_int_equal(deps_find(&deps, "B"), SST_OWNER_OWN);
    }
}

TEST(an_order_mark_before_the_text_is_passed_over)
{
    assert_int_equal(parse("\xef\xbb\xbf" SHOP), 0);
    assert_int_equal(deps_find(&deps, "Shop"), SST_OWNER_OWN);
}

TEST(what_is_no_deps_json_is_refused)
{
    static const char *const texts[] = {
        "",
        "\xef\xbb\xbf",
        "\xef\xbb",
        "null",
        "7",
        "[]",
        "{}",
        "{\"targets\":{},\"libraries\":[]}",
        "{\"targets\":[],\"libraries\":{}}",
        "{\"targets\":{\"a\":",
        "{\"targets\":{},\"libraries\":{}} more",
        "\xff\xfe{",
        "{\"\xff\":1,\"targets\":{},\"libraries\":{}}",
    };

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_int_equal(parse(texts[i]), -EINVAL);
        assert_int_equal(deps.count, 0);
    }
    assert_int_equal(deps_parse("{\0\0t\0", 5, &deps), -EINVAL); /* UTF-16 */
}

TEST(members_of_other_types_are_passed_over)
{
    assert_int_equal(parse("{\"targets\":{\"a\":{\"L/1\":7,\"M/1\":{\"runtime\":[\"A.dll\"]},"
                           "\"N/1\":{\"runtime\":{\"B.dll\":7},\"runtimeTargets\":null}},\"b\":[]},"
                           "\"libraries\":{\"N/1\":{\"type\":[]},\"L/1\":\"project\"}}"),
                     0);
    assert_int_equal(deps.count, 1);
    assert_int_equal(deps_find(&deps, "B"), SST_OWNER_PACKAGE);
}

TEST(depth_is_refused_not_followed)
{
    size_t size = 200000;
    char *text = malloc(size);

    memset(text, '[', size);
    assert_int_equal(deps_parse(text, size, &deps), -EINVAL);
    free(text);
}

TEST(a_cut_text_is_refused_wherever_it_is_cut)
{
    for (size_t size = 0; size < sizeof(SHOP) - 1; size++)
        assert_int_equal(deps_parse(SHOP, size, &deps), -EINVAL);
}

TEST(each_failed_allocation_is_said_and_leaks_nothing)
{
    int err = -ENOMEM;

    for (long n = 0; err == -ENOMEM; n++) {
        assert_true(n < 2000);
        deps_free(&deps);
        memory_fail_after(n);
        err = deps_parse(SHOP, sizeof(SHOP) - 1, &deps);
        memory_fail_after(-1);
        assert_true(err == 0 || (err == -ENOMEM && !deps.count));
    }
    assert_int_equal(err, 0);
    assert_int_equal(deps_find(&deps, "Lib.Core"), SST_OWNER_OWN);
}

/* ---- bundles ---- */

static char path[] = "build/test-deps-XXXXXX";

static void put(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* A file with a header at 100, and the text at 500. Returns: what reading it says. */
static int bundled(uint32_t major, size_t id, uint64_t offset, uint64_t size, size_t cut,
                   char **text, size_t *length)
{
    static uint8_t file[1000];
    size_t at = 100 + 12;
    int fd, err;

    memset(file, 0, sizeof(file));
    memcpy(file + 500, "{\"a\":1}", 7);
    put(file + 100, major, 4);
    if (id >= 128) {
        file[at++] = (uint8_t)(id | 0x80);
        file[at++] = (uint8_t)(id >> 7);
    } else {
        file[at++] = (uint8_t)id;
    }
    at += id;
    put(file + at, offset, 8);
    put(file + at + 8, size, 8);
    strcpy(path, "build/test-deps-XXXXXX");
    fd = mkstemp(path);
    assert_int_equal(write(fd, file, cut), cut);
    close(fd);
    err = deps_bundled(path, 100, text, length);
    unlink(path);
    return err;
}

TEST(the_text_in_a_bundle_is_where_its_header_says)
{
    static const size_t ids[] = {0, 12, 127, 128, 290};
    size_t size;
    char *text;

    for (size_t i = 0; i < COUNT_OF(ids); i++)
        for (uint32_t major = 2; major <= 6; major++) {
            assert_int_equal(bundled(major, ids[i], 500, 7, 1000, &text, &size), 0);
            assert_int_equal(size, 7);
            assert_memory_equal(text, "{\"a\":1}", 7);
            memory_free(text);
        }
}

TEST(a_bundle_without_it_or_damaged_has_none)
{
    static const struct {
        uint32_t major;
        size_t id;
        uint64_t offset, size;
        size_t cut;
    } cases[] = {
        {1, 12, 500, 7, 1000},            /* such headers do not say */
        {7, 12, 500, 7, 1000},            /* nobody knows what these say */
        {6, 12, 0, 0, 1000},              /* none inside */
        {6, 12, 500, 0, 1000},            /* */
        {6, 12, 500, DEPS_MAX + 1, 1000}, /* */
        {6, 12, 500, 501, 1000},          /* longer than the file */
        {6, 12, UINT64_MAX, 7, 1000},     /* */
        {6, 12, 500, UINT64_MAX, 1000},   /* */
        {6, 301, 500, 7, 1000},           /* a longer id than any */
        {6, 12, 500, 7, 120},             /* cut in the header */
        {6, 12, 500, 7, 100},             /* */
        {6, 12, 500, 7, 50},              /* */
    };
    char *text;
    size_t size;

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(bundled(cases[i].major, cases[i].id, cases[i].offset, cases[i].size,
                                 cases[i].cut, &text, &size),
                         -ENOENT);
    assert_int_equal(deps_bundled("/nowhere", 100, &text, &size), -ENOENT);
    assert_int_equal(deps_bundled("build", 100, &text, &size), -ENOENT);
    assert_int_equal(deps_bundled("/dev/null", 100, &text, &size), -ENOENT);
}

TEST(without_memory_for_the_text_that_is_said)
{
    char *text;
    size_t size;

    memory_fail_after(0);
    assert_int_equal(bundled(6, 12, 500, 7, 1000, &text, &size), -ENOMEM);
    memory_fail_after(-1);
}
