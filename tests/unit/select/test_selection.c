#include "select/selection.h"

#include "unit/metadata/fake_info.h"

#include "base/memory.h"
#include "owner/owner.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { APP = 0x2000, LIST = 0x100, METHODS = 0x500 };

static const struct fake_type types[] = {
    {0x02000002, u"App.Program", 0},
    {0x02000003, u"App.Outer`1", 0},
    {0x02000004, u"Inner", 0x02000003},
    {0x02000005, u"Global", 0},
    {0x02000006, u"App.Pr\u00f6\u4e16", 0},
    {0x02000007, u"", 0},
    {0, NULL, 0},
};
static const struct fake_parameter parameters[] = {
    {0x02000003, 0, u"T"}, {0x02000004, 0, u"T"}, {0, 0, NULL}};
static const uint8_t nothing[] = {0, 0, 1};
static const struct fake_blob blobs[] = {
    {0x06000001, 0x02000002, u"Main", nothing, sizeof(nothing)},
    {0x06000002, 0x02000003, u"Add", nothing, sizeof(nothing)},
    {0x06000003, 0x02000004, u"Sum", nothing, sizeof(nothing)},
    {0x06000004, 0x02000005, u".ctor", nothing, sizeof(nothing)},
    {0x06000005, 0x02000006, u"Run", nothing, sizeof(nothing)},
    {0x06000006, 0x02000007, u"Odd", nothing, sizeof(nothing)},
    {0, 0, NULL, NULL, 0},
};
static struct fake_metadata fake;
static struct fake_module modules[] = {{APP, u"/app.dll", u"app", 0, &fake},
                                       {0, NULL, NULL, 0, NULL}};
static struct fake_function functions[] = {
    {.id = METHODS, .module = APP, .token = 0x06000001},
    {.id = METHODS + 1, .class = LIST, .module = APP, .token = 0x06000002},
    {.id = METHODS + 2, .module = APP, .token = 0x06000003},
    {.id = METHODS + 3, .module = APP, .token = 0x06000004},
    {.id = METHODS + 4, .module = APP, .token = 0x06000005},
    {.id = METHODS + 5, .module = APP, .token = 0x06000006},
    {.id = 0}};
static struct fake_class classes[] = {{.id = LIST, .module = APP, .token = 0x02000003}, {.id = 0}};
static struct fake_info info;
static struct metadata *metadata;
static struct options options;

static int setup(void **state)
{
    const struct metadata_config config = {.info = &info.base, .info_version = 10};

    (void)state;
    fake = (struct fake_metadata){
        .base = {&fake_metadata_vtbl}, .types = types, .parameters = parameters, .blobs = blobs};
    info = (struct fake_info){
        .base = {&fake_info_vtbl}, .modules = modules, .classes = classes, .functions = functions};
    return metadata_new(&config, &metadata);
}

static int teardown(void **state)
{
    (void)state;
    metadata_free(metadata);
    return 0;
}

TEST_GROUP(setup, teardown);

static struct clr_guard guard;

/* What a selection by this one pattern says of a function: may it be wanted, and is it? */
static void ask(char *pattern, uintptr_t function, bool *may, bool *wants)
{
    static struct selection s; /* large */
    const struct clr_runtime runtime = {.info = &info.base, .major = 10};
    struct selection_definition definition;
    struct metadata_method *method;

    options.only.pattern = &pattern;
    options.only.count = 1;
    selection_init(&s, &runtime, metadata, &options, &guard);
    assert_true(selection_define(&s, function, &definition));
    *may = selection_may_want(&s, &definition);
    assert_int_equal(*may, selection_may_want(&s, &definition)); /* as it is kept */
    assert_int_equal(metadata_method_map(metadata, function, &method), 0);
    *wants = selection_wants(&s, method);
}

/* Each beginning of its name with a star, the name with each of its characters as '?', and patterns of all kinds. */
TEST(what_is_wanted_is_never_ruled_out_before)
{
    static const char *const more[] = {
        "*", "?pp.*", "*Main*", "App.*.Inner.*", "*.ctor()", "App.Outer<T>.Inner.Sum()", "A*g*"};
    bool may, wants;

    for (uintptr_t f = METHODS; f < METHODS + 6; f++) {
        struct metadata_method *method;
        const char *name;
        char pattern[128];

        assert_int_equal(metadata_method_map(metadata, f, &method), 0);
        name = metadata_method_resolve(metadata, method);
        for (size_t i = 0; i <= strlen(name); i++) {
            if (((unsigned char)name[i] & 0xc0) == 0x80)
                continue; /* inside a character */
            snprintf(pattern, sizeof(pattern), "%.*s*", (int)i, name);
            ask(pattern, f, &may, &wants);
            assert_true(wants);
            assert_true(may);
            snprintf(pattern, sizeof(pattern), "%.*s?*", (int)i, name);
            ask(pattern, f, &may, &wants);
            assert_true(may || !wants);
        }
        for (size_t i = 0; i < COUNT_OF(more); i++) {
            snprintf(pattern, sizeof(pattern), "%s", more[i]);
            ask(pattern, f, &may, &wants);
            assert_true(may || !wants);
        }
    }
}

TEST(other_namespaces_are_ruled_out)
{
    static char *patterns[] = {"Other.*", "App.Progs*", "App.Outer.Outer*", "Globe*", "app.*"};
    bool may, wants;

    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        ask(patterns[i], METHODS, &may, &wants);
        assert_false(may);
        assert_false(wants);
    }
    ask(patterns[3], METHODS + 3, &may, &wants);
    assert_false(may);
    ask("App.Out*", METHODS + 2, &may, &wants); /* a nested type goes by its outermost */
    assert_true(may);
    ask("Inner*", METHODS + 2, &may, &wants);
    assert_false(may);
}

/* With --own: what is said of Main and of Inner.Sum, in a module that is own code or is not. */
static void ask_own(bool own, char *own_code, char *exclude, bool may_wants[2][2])
{
    static struct selection s;
    const struct clr_runtime runtime = {.info = &info.base, .major = 10};
    struct options_patterns none = {NULL, 0, NULL};
    struct options chosen = {.own = true, .own_code = {&own_code, own_code != NULL, NULL}};
    struct owners_config whose = {
        .executable = "", .main = "", .own_code = own_code ? &chosen.own_code : &none};
    struct metadata_config config = {.info = &info.base, .info_version = 10};
    struct metadata *fresh;

    chosen.exclude = (struct options_patterns){&exclude, exclude != NULL, NULL};
    assert_int_equal(owners_new(&whose, &config.owners), 0);
    owners_loaded(config.owners, own ? "/app.dll" : "/elsewhere/first.dll");
    assert_int_equal(metadata_new(&config, &fresh), 0);
    selection_init(&s, &runtime, fresh, &chosen, &guard);
    assert_true(s.keeps_precompiled);
    for (size_t i = 0; i < 2; i++) {
        struct selection_definition definition;
        struct metadata_method *method;

        assert_true(selection_define(&s, METHODS + 2 * i, &definition));
        may_wants[i][0] = selection_may_want(&s, &definition);
        assert_int_equal(metadata_method_map(fresh, METHODS + 2 * i, &method), 0);
        may_wants[i][1] = selection_wants(&s, method);
        assert_true(may_wants[i][0] || !may_wants[i][1]);
    }
    metadata_free(fresh);
    owners_free(config.owners);
}

static void assert_own(bool own, char *own_code, char *exclude, bool main, bool sum)
{
    bool may_wants[2][2];

    ask_own(own, own_code, exclude, may_wants);
    assert_int_equal(may_wants[0][1], main);
    assert_int_equal(may_wants[1][1], sum);
}

TEST(with_own_all_methods_of_own_modules_are_hooked_and_no_others)
{
    bool may_wants[2][2];

    assert_own(true, NULL, NULL, true, true);
    ask_own(false, NULL, NULL, may_wants);
    assert_false(may_wants[0][0]); /* without a look at its type */
    assert_false(may_wants[1][0]);
}

TEST(with_own_what_is_excluded_is_not_hooked)
{
    assert_own(true, NULL, "*.Main()", false, true);
}

TEST(own_code_names_modules_and_methods)
{
    assert_own(false, "app", NULL, true, true);
    assert_own(true, "other", NULL, false, false);
    assert_own(true, "App.Outer*", NULL, false, true);
    assert_own(false, "App.Program.*", NULL, true, false);
    assert_own(false, "*", "*.Sum()", true, false);
}

TEST(of_what_nothing_is_known_with_own_all_is_hooked)
{
    static struct selection s;
    const struct clr_runtime runtime = {.info = &info.base, .major = 10};
    const struct options own = {.own = true};
    struct metadata_method *method;

    selection_init(&s, &runtime, metadata, &own, &guard); /* that has nobody to ask */
    assert_int_equal(metadata_method_map(metadata, METHODS, &method), 0);
    assert_int_equal(method->module->owner, SST_OWNER_UNKNOWN);
    assert_true(selection_wants(&s, method));
}

/* Whether Main may be inlined into what is compiled now, and with calls that are not kept. */
static void assert_inlined(struct selection *s, bool kept, bool any)
{
    s->keeps_calls = true;
    assert_int_equal(selection_may_inline(s, METHODS), kept);
    s->keeps_calls = false;
    assert_int_equal(selection_may_inline(s, METHODS), any);
}

TEST(own_methods_are_not_inlined_into_dynamic_ones)
{
    const struct clr_runtime runtime = {.info = &info.base, .major = 10};
    const struct options all = {.own = false};

    for (unsigned own = 0; own < 2; own++) {
        static struct selection s;
        struct options_patterns none = {NULL, 0, NULL};
        struct owners_config whose = {.executable = "", .main = "", .own_code = &none};
        struct metadata_config config = {.info = &info.base, .info_version = 10};
        struct metadata *fresh;

        assert_int_equal(owners_new(&whose, &config.owners), 0);
        owners_loaded(config.owners, own ? "/app.dll" : "/elsewhere/first.dll");
        assert_int_equal(metadata_new(&config, &fresh), 0);
        selection_init(&s, &runtime, fresh, &all, &guard);
        assert_inlined(&s, true, true);
        selection_dynamic_started();
        selection_dynamic_started(); /* which needs another one */
        assert_inlined(&s, !own, true);
        selection_dynamic_finished();
        assert_inlined(&s, !own, true);
        selection_dynamic_finished();
        assert_inlined(&s, true, true);
        selection_dynamic_finished(); /* began before */
        assert_inlined(&s, true, true);
        metadata_free(fresh);
        owners_free(config.owners);
    }
}
