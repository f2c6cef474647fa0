#include "options/options.h"
#include "base/cpu.h"
#include "base/utf8.h"

#include "base/atomics.h"
#include "base/memory.h"
#include "options/json.h"
#include "options/options_fields.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char why[OPTIONS_WHY_SIZE];

static int read_text(const char *json)
{
    struct options o;
    int err = options_read(json, &o, why, sizeof(why));

    options_fini(&o);
    return err;
}

#define assert_refused(json, words) \
    do { \
        assert_int_equal(read_text(json), -EINVAL); \
        if (!strstr(why, words)) \
            fail_msg("\"%s\" does not say \"%s\"", why, words); \
        assert_ptr_equal(strstr(why, "SHADOWTRACE_OPTIONS: "), why); \
        assert_null(strchr(why, '\n')); \
    } while (0)

TEST(an_empty_object_with_a_version_means_the_defaults)
{
    struct options o;

    assert_int_equal(options_read("{\"version\":1}", &o, why, sizeof(why)), 0);
    assert_string_equal(why, "");
    assert_int_equal(o.hooks, OPTIONS_HOOKS_AUTO);
    assert_int_equal(o.capture, OPTIONS_CAPTURE_SHADOW);
    assert_int_equal(o.full, OPTIONS_FULL_WAIT);
    assert_int_equal(o.check, 1000);
    assert_true(o.check_bounded);
    assert_int_equal(o.max_nodes, 4000000);
    assert_int_equal(o.sample, 0);
    assert_int_equal(o.only.count, 0);
    assert_null(o.output);
    assert_null(o.status);
    options_fini(&o);
}

TEST(every_option_is_read)
{
    struct options o;

    assert_int_equal(
        options_read(
            "{\"hooks\":\"elt2\",\"capture\":\"both\",\"stacks\":\"inline\",\"log\":\"events\","
            "\"full\":\"drop\","
            "\"check\":1,\"max_nodes\":4294967295,\"sample\":9007199254740991,\"min_size\":85000,"
            "\"only\":[\"My.*\",\"Other.?\"],\"exclude\":[\"*.ctor*\"],\"types\":[],\"process\":["
            "\"csc\"],"
            "\"compress\":true,\"paused\":true,\"no_inline\":true,\"no_lines\":true,\"max_log\":"
            "1048576,"
            "\"output\":\"/tmp/a\\u00e4.ndjson\",\"directory\":\"/tmp\",\"status\":\"/run/"
            "s\",\"version\":1}",
            &o, why, sizeof(why)),
        0);
    assert_int_equal(o.hooks, OPTIONS_HOOKS_ELT2);
    assert_int_equal(o.capture, OPTIONS_CAPTURE_BOTH);
    assert_int_equal(o.stacks, OPTIONS_STACKS_INLINE);
    assert_int_equal(o.full, OPTIONS_FULL_DROP);
    assert_int_equal(o.check, 1);
    assert_false(o.check_bounded);
    assert_int_equal(o.max_nodes, UINT32_MAX);
    assert_int_equal(o.sample, (UINT64_C(1) << 53) - 1);
    assert_int_equal(o.min_size, 85000);
    assert_int_equal(o.only.count, 2);
    assert_string_equal(o.only.pattern[1], "Other.?");
    assert_int_equal(o.exclude.count, 1);
    assert_int_equal(o.types.count, 0);
    assert_true(o.compress && o.paused && o.no_inline && o.no_lines);
    assert_int_equal(o.max_log, 1048576);
    assert_string_equal(o.output, "/tmp/a\xc3\xa4.ndjson");
    assert_string_equal(o.directory, "/tmp");
    assert_string_equal(o.status, "/run/s");
    options_fini(&o);
}

/* Every field of the table gets a value that is not its default. */
static void fill(struct options *o)
{
    static const char *const texts[] = {"/tmp/\"quoted\"\\ \t", "/\xf0\x9f\x8c\xb5/\xc3\xa4"};

    options_init(o);
    for (size_t i = 0; i < options_field_count; i++) {
        const struct options_field *f = &options_fields[i];

        if (f->kind == OPTIONS_KIND_PATH || f->kind == OPTIONS_KIND_LIST)
            assert_int_equal(options_field_text(o, f, texts[i % 2]), 0);
        if (f->kind == OPTIONS_KIND_LIST)
            assert_int_equal(options_field_text(o, f, "*"), 0);
        else if (f->kind != OPTIONS_KIND_PATH)
            assert_int_equal(options_field_set(o, f, f->max), 0);
    }
    o->log =
        OPTIONS_LOG_EVENTS; /* with stacks inline, capture both: the choices that go together */
    o->capture = OPTIONS_CAPTURE_BOTH;
    o->own = false;  /* with only */
    o->live = false; /* with what leaves allocations out; the next three are of it */
    o->check_live = 0;
    o->rich = false;                              /* with no_rich */
    o->framework_frames = OPTIONS_FRAMEWORK_NONE; /* with capture both: hooks are everywhere */
    o->sums_every = 0;                            /* with log events */
    o->live_memory = OPTIONS_LIVE_MEMORY;
    o->live_grows = OPTIONS_LIVE_GROWS;
    o->check = 1;
    o->hooks = OPTIONS_HOOKS_ELT2; /* with args and returns */
}

TEST(what_is_written_is_read_back)
{
    struct options o, back;
    char *json;

    fill(&o);
    json = options_write(&o);
    assert_non_null(json);
    if (options_read(json, &back, why, sizeof(why)))
        fail_msg("%s: %s", why, json);
    for (size_t i = 0; i < options_field_count; i++) {
        const struct options_field *f = &options_fields[i];
        const void *a = (const char *)&o + f->offset, *b = (const char *)&back + f->offset;

        if (f->kind == OPTIONS_KIND_PATH)
            assert_string_equal(*(char *const *)a, *(char *const *)b);
        else if (f->kind == OPTIONS_KIND_LIST)
            assert_string_equal(((const struct options_patterns *)a)->pattern[1],
                                ((const struct options_patterns *)b)->pattern[1]);
        else
            assert_int_equal(options_field_get(&o, f), options_field_get(&back, f));
    }
    memory_free(json);
    options_fini(&o);
    options_fini(&back);
}

TEST(defaults_are_left_out)
{
    static const struct {
        enum options_capture capture;
        uint32_t check;
        bool given;
        const char *json;
    } cases[] = {
        {OPTIONS_CAPTURE_SHADOW, 1000, false, "{\"version\":1}"},
        {OPTIONS_CAPTURE_SHADOW, 1000, true, "{\"version\":1,\"check\":1000}"},
        {OPTIONS_CAPTURE_SHADOW, 0, true, "{\"version\":1,\"check\":0}"},
        {OPTIONS_CAPTURE_SNAPSHOT, 0, false, "{\"version\":1,\"capture\":\"snapshot\"}"},
        {OPTIONS_CAPTURE_BOTH, 1, false, "{\"version\":1,\"capture\":\"both\"}"},
        {OPTIONS_CAPTURE_WALK, 1000, false, "{\"version\":1,\"capture\":\"walk\"}"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct options o;
        char *json;

        options_init(&o);
        o.capture = cases[i].capture;
        o.check = cases[i].check;
        o.check_bounded = !cases[i].given;
        json = options_write(&o);
        assert_string_equal(json, cases[i].json);
        options_fini(&o);
        assert_int_equal(options_read(json, &o, why, sizeof(why)), 0);
        assert_int_equal(o.check, cases[i].check);
        if (cases[i].capture == OPTIONS_CAPTURE_SHADOW)
            assert_int_equal(o.check_bounded, !cases[i].given);
        options_fini(&o);
        memory_free(json);
    }
}

TEST(damaged_json_is_named_with_its_byte)
{
    assert_refused("", "damaged at byte 0");
    assert_refused("{\"version\":1", "damaged at byte 12");
    assert_refused("{\"version\":1,}", "damaged at byte 14");
    assert_refused("{\"version\":1} x", "damaged at byte 15");
    assert_refused("{\"version\":1,\"output\":\"/\xff\"}", "damaged at byte");
    assert_refused("{\"version\":1,\"output\":\"/a\\u0000b\"}", "damaged at byte");
    assert_refused("{\"version\":1,\"check\":1,\"check\":2}", "duplicate");
    assert_refused("{\"version\":1,\"sample\":99999999999999999999}", "too big");
    assert_refused("[]", "must be an object, not an array");
    assert_refused("7", "must be an object, not a number");
    assert_refused(NULL, "not set");
}

TEST(another_version_is_refused_before_anything_else)
{
    assert_refused("{}", "\"version\" is missing");
    assert_refused("{\"nonsense\":true,\"version\":2}",
                   "version 2, but this library reads version 1");
    assert_refused("{\"version\":\"1\"}", "\"version\" must be a whole number, not a text");
    assert_refused("{\"version\":1.0}", "not a fraction");
}

TEST(the_status_folder_is_known_even_when_the_rest_is_refused)
{
    struct options o;

    assert_int_equal(options_read("{\"version\":2,\"status\":\"/run/s\"}", &o, why, sizeof(why)),
                     -EINVAL);
    assert_string_equal(o.status, "/run/s");
    options_fini(&o);
    assert_int_equal(options_read("{\"version\":1,\"x\":1,\"status\":7}", &o, why, sizeof(why)),
                     -EINVAL);
    assert_null(o.status);
    options_fini(&o);
}

TEST(an_unknown_key_names_the_near_one)
{
    assert_refused("{\"version\":1,\"hoks\":\"elt3\"}",
                   "unknown option \"hoks\"; did you mean \"hooks\"?");
    assert_refused("{\"version\":1,\"max-nodes\":1}", "did you mean \"max_nodes\"?");
    assert_refused("{\"version\":1,\"zebra\":1}", "unknown option \"zebra\"; \"shadowtrace env\"");
    assert_refused("{\"version\":1,\"a\\nb\":1}", "unknown option \"a?b\"");
}

TEST(a_wrong_type_is_named)
{
    assert_refused("{\"version\":1,\"check\":\"1\"}",
                   "\"check\" must be a whole number, not a text");
    assert_refused("{\"version\":1,\"check\":1.5}", "not a fraction");
    assert_refused("{\"version\":1,\"hooks\":3}", "\"hooks\" must be a text, not a number");
    assert_refused("{\"version\":1,\"paused\":1}",
                   "\"paused\" must be true or false, not a number");
    assert_refused("{\"version\":1,\"only\":\"x\"}",
                   "\"only\" must be an array of patterns, not a text");
    assert_refused("{\"version\":1,\"only\":[\"x\",null]}", "number 2, that is not a text");
    assert_refused("{\"version\":1,\"only\":[\"\"]}", "number 1, that is empty");
    assert_refused("{\"version\":1,\"output\":null}", "\"output\" must be a text, not null");
}

TEST(a_value_out_of_range_is_named)
{
    assert_refused("{\"version\":1,\"check\":-1}",
                   "\"check\" is -1, which is not between 0 and 4294967295");
    assert_refused("{\"version\":1,\"check\":4294967296}", "not between 0 and 4294967295");
    assert_refused("{\"version\":1,\"max_log\":9007199254740992}",
                   "not between 0 and 9007199254740991");
    assert_refused("{\"version\":1,\"hooks\":\"elt4\"}",
                   "\"hooks\" is \"elt4\", which is none of auto, elt2, elt3");
    assert_refused("{\"version\":1,\"output\":\"a.ndjson\"}",
                   "\"output\" must be an absolute path, not \"a.ndjson\"");
    assert_refused("{\"version\":1,\"status\":\"\"}", "\"status\" must be an absolute path");
}

TEST(choices_that_contradict_each_other_are_refused)
{
    assert_refused("{\"version\":1,\"own\":true,\"only\":[\"A.*\"]}", "own and only contradict");
    assert_refused("{\"version\":1,\"own\":true,\"capture\":\"snapshot\"}",
                   "own or exclude and capture contradict");
    assert_refused("{\"version\":1,\"own\":true,\"capture\":\"walk\"}",
                   "own or exclude and capture contradict");
    assert_refused("{\"version\":1,\"events\":[\"calls\"],\"capture\":\"walk\"}",
                   "it sets no hooks, so it records no calls");
    assert_refused("{\"version\":1,\"capture\":\"both\",\"check\":5}",
                   "check and capture contradict");
    assert_refused("{\"version\":1,\"capture\":\"snapshot\",\"check\":1}",
                   "check and capture contradict");
    assert_refused("{\"version\":1,\"stacks\":\"inline\",\"log\":\"sites\"}",
                   "stacks and log contradict");
    assert_refused("{\"version\":1,\"native\":true,\"check\":0}", "native and check contradict");
    assert_refused("{\"version\":1,\"sampler\":\"runtime\",\"sample\":102399}",
                   "sampler and sample contradict");
    assert_refused("{\"version\":1,\"sampler\":\"runtime\",\"events\":[\"gc\"]}",
                   "sampler and events contradict");
    assert_refused("{\"version\":1,\"sampler\":\"runtime\",\"args\":[\"A.*\"]}",
                   "sampler and args, returns or exact_generics contradict");
    assert_refused(
        "{\"version\":1,\"live_grows\":3}",
        ": check_live, live_memory and live_grows need the table of live objects; add live");
    assert_null(strpbrk(why, "-{}"));
}

TEST(what_depends_on_other_choices_names_them)
{
    assert_refused("{\"version\":1,\"framework_frames\":\"snapshot\",\"sample\":102400}",
                   "framework_frames is for own and only");
    assert_refused("{\"version\":1,\"framework_frames\":\"snapshot\",\"own\":true}",
                   "framework_frames snapshot takes a snapshot at each allocation");
    assert_refused("{\"version\":1,\"framework_frames\":\"walk\"}",
                   "framework_frames is for own and only");
    assert_refused(
        "{\"version\":1,\"framework_frames\":\"walk\",\"own\":true,\"capture\":\"walk\"}",
        "only, own or exclude and capture contradict");
    assert_refused("{\"version\":1,\"budget\":1}", "budget is kept by taking fewer samples");
    assert_refused("{\"version\":1,\"keep\":3}", "keep is for the older parts of a log");
    assert_refused("{\"version\":1,\"keep\":0,\"max_log\":1000}", "keep 0 would leave nothing");
    assert_refused("{\"version\":1,\"sums_every\":1000}", "sums_every is for sums of call sites");
    assert_refused("{\"version\":1,\"live\":true,\"check_live\":1,\"sample\":102400}",
                   "check_live and sample contradict");
    assert_refused("{\"version\":1,\"live\":true,\"sample\":4096}",
                   "live and types, min_size, sample or paused contradict");
    assert_refused("{\"version\":1,\"live\":true,\"sample\":102400,\"sampler\":\"exact\"}",
                   "live and types, min_size, sample or paused contradict");
}

static bool runtime_samples(const char *json, unsigned major)
{
    struct options o;
    bool samples;

    assert_int_equal(options_read(json, &o, why, sizeof(why)), 0);
    assert_false(o.runtime_samples); /* nobody has said which runtime this is */
    options_sampler_settle(&o, major);
    samples = o.runtime_samples;
    options_fini(&o);
    return samples;
}

TEST(the_runtime_samples_from_its_own_mean_on_where_it_does_so_without_bias)
{
    static const char least[] = "{\"version\":1,\"sample\":102400}",
                      less[] = "{\"version\":1,\"sample\":102399}";

    assert_true(runtime_samples(least, 10));
    assert_true(runtime_samples(least, 11));
    assert_false(runtime_samples(least, 9));
    /* What is alive can be estimated of the runtime's samples only. */
    assert_true(runtime_samples("{\"version\":1,\"live\":true,\"sample\":102400}", 9));
    assert_false(runtime_samples(less, 10));
    assert_false(runtime_samples("{\"version\":1}", 10));
    assert_false(runtime_samples("{\"version\":1,\"sample\":1048576,\"args\":[\"A.*\"]}", 10));
    assert_false(runtime_samples("{\"version\":1,\"sample\":1048576,\"events\":[\"gc\"]}", 10));
}

static enum options_framework frames(const char *json, bool walks)
{
    struct options o;
    enum options_framework found;

    assert_int_equal(options_read(json, &o, why, sizeof(why)), 0);
    options_sampler_settle(&o, OPTIONS_SAMPLER_MAJOR);
    options_frames_settle(&o, walks);
    found = o.framework_frames;
    options_fini(&o);
    return found;
}

TEST(frames_without_hooks_are_walked_where_that_is_possible_and_some_methods_have_hooks)
{
    static const char own[] = "{\"version\":1,\"own\":true}",
                      sampled[] = "{\"version\":1,\"own\":true,\"sample\":102400}";
    enum options_framework walk = CPU_WALKS ? OPTIONS_FRAMEWORK_WALK : OPTIONS_FRAMEWORK_NONE;

    assert_int_equal(frames(own, true), walk);
    assert_int_equal(frames("{\"version\":1,\"only\":[\"A.*\"]}", true), walk);
    assert_int_equal(frames(own, false), OPTIONS_FRAMEWORK_NONE);
    assert_int_equal(frames(sampled, false), walk); /* a snapshot in place of each walk */
    assert_int_equal(frames("{\"version\":1}", true), OPTIONS_FRAMEWORK_NONE);
    assert_int_equal(frames("{\"version\":1,\"capture\":\"walk\"}", true), OPTIONS_FRAMEWORK_NONE);
    assert_int_equal(frames("{\"version\":1,\"own\":true,\"framework_frames\":\"none\"}", true),
                     OPTIONS_FRAMEWORK_NONE);
}

TEST(who_names_a_sampler_gets_that_one)
{
    assert_true(runtime_samples("{\"version\":1,\"sampler\":\"runtime\"}", 8));
    assert_true(runtime_samples("{\"version\":1,\"sampler\":\"runtime\"}", 10));
    assert_false(runtime_samples("{\"version\":1,\"sampler\":\"exact\",\"sample\":1048576}", 10));
}

/* Both spellings; messages about JSON never name --arguments. */
TEST(a_contradiction_names_options_as_they_were_written)
{
    char small[12];
    struct options o;

    options_init(&o);
    o.check_live = 1;
    assert_int_equal(options_settle(&o, false, OPTIONS_NAMES_KEYS, why, sizeof(why)), -EINVAL);
    assert_string_equal(why, "check_live, live_memory and live_grows need the table of live "
                             "objects; add live");
    assert_int_equal(options_settle(&o, false, OPTIONS_NAMES_ARGUMENTS, why, sizeof(why)), -EINVAL);
    assert_string_equal(why, "--check-live, --live-memory and --live-grows need the table of live "
                             "objects; add --live");
    for (size_t size = 1; size <= sizeof(small); size++) {
        memset(small, 'x', sizeof(small));
        assert_int_equal(options_settle(&o, false, OPTIONS_NAMES_ARGUMENTS, small, size), -EINVAL);
        assert_int_equal(strlen(small), size - 1);
        assert_int_equal(strncmp(small, "--check-live", size - 1), 0);
    }
    options_fini(&o);
}

TEST(a_short_buffer_holds_the_beginning_of_the_line)
{
    char small[32];
    struct options o;

    for (size_t size = 0; size <= sizeof(small); size++) {
        memset(small, 'x', sizeof(small));
        assert_int_equal(
            options_read("{\"version\":1,\"\\u00e4\\u00e4\\u00e4\":1}", &o, small, size), -EINVAL);
        options_fini(&o);
        if (size) {
            assert_true(strlen(small) < size);
            for (const char *at = small; *at; at += utf8_length(at))
                assert_true(utf8_length(at) > 0);
        }
        if (size < sizeof(small))
            assert_int_equal(small[size], 'x');
    }
}

/* Every prefix of a valid text is damaged, and says so within it. */
TEST(a_cut_text_is_damaged_wherever_it_is_cut)
{
    struct options o;
    char *json;

    fill(&o);
    json = options_write(&o);
    options_fini(&o);
    for (size_t cut = strlen(json); cut-- > 0;) {
        json[cut] = '\0';
        assert_refused(json, "damaged at byte ");
        assert_true(strtoul(strstr(why, "byte ") + 5, NULL, 10) <= cut);
    }
    memory_free(json);
}

/* jansson's, too. */
TEST(each_failed_allocation_is_reported_and_leaks_nothing)
{
    struct options o;
    char *json;
    int err = -ENOMEM;

    json_memory_start();
    fill(&o);
    for (long n = 0; n < 1000; n++) {
        memory_fail_after(n);
        json = options_write(&o);
        memory_fail_after(-1);
        if (json)
            break;
        assert_true(n < 999);
    }
    options_fini(&o);
    for (long n = 0; err && n < 2000; n++) {
        memory_fail_after(n);
        err = options_read(json, &o, why, sizeof(why));
        memory_fail_after(-1);
        options_fini(&o);
        assert_true(err == 0 || err == -ENOMEM);
        assert_string_equal(why, "");
    }
    assert_int_equal(err, 0);
    memory_free(json);
}
