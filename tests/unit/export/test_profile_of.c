#include "unit/model/model_log.h"

#include "export/profile_of.h"

#include "base/memory.h"

static struct names *names;
static struct export_profile *profile;
static struct export_folded folded;

static int teardown(void **state)
{
    export_profile_free(profile);
    names_free(names);
    memory_free(folded.nodes);
    folded.nodes = NULL;
    profile = NULL;
    names = NULL;
    return model_teardown(state);
}

TEST_EACH(model_setup, teardown);

#define DEFINITIONS \
    "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":77," \
    "\"executable\":\"/usr/bin/dotnet\",\"command\":[\"dotnet\",\"/a/App.dll\",\"b.dll\"]," \
    "\"started\":\"2026-11-22T18:38:34Z\"}\n" \
    "{\"kind\":\"module\",\"id\":1,\"name\":\"App\",\"path\":\"/a/App.dll\"}\n" \
    "{\"kind\":\"thread\",\"id\":1,\"os\":100}\n" \
    "{\"kind\":\"class\",\"id\":1,\"name\":\"System.String\"}\n" \
    "{\"kind\":\"class\",\"id\":2,\"name\":\"App.Thing[]\",\"module\":1}\n" \
    "{\"kind\":\"method\",\"id\":1,\"name\":\"App.P.Main()\",\"module\":1,\"token\":1}\n" \
    "{\"kind\":\"method\",\"id\":2,\"name\":\"App.P.Work()\",\"module\":1}\n" \
    "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1,\"call\":\"native\"}\n" \
    "{\"kind\":\"node\",\"id\":2,\"parent\":1,\"method\":2,\"il\":7}\n" \
    "{\"kind\":\"node\",\"id\":3,\"parent\":2,\"method\":2,\"il\":9}\n"
#define ALLOC(class, bytes, node, il) \
    "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":" #class ",\"bytes\":" #bytes \
                                                                 ",\"node\":" #node ",\"il\":" #il \
                                                                 "}\n"

static void make(const char *text, double min_share)
{
    static const struct model_shape shape = {.grain = MODEL_GRAIN_IL, .types = true};

    model_text(&plain_options, text);
    assert_int_equal(model_tree_of(&everything, &shape), 0);
    names_free(names);
    memory_free(folded.nodes);
    export_profile_free(profile);
    assert_int_equal(names_new(model_defs(model), NAMES_FULL, &names), 0);
    assert_int_equal(export_profile_of(tree, names, min_share, &profile, &folded), 0);
}

/* "App.P.Main()+7;App.P.Work()+3;System.String 24/1", a line for each sample. */
static const char *lines(void)
{
    static char text[4000];
    char stack[1000], longer[1000];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct export_sample *s = &profile->samples[i];

        stack[0] = '\0';
        for (uint32_t n = s->node; n; n = profile->nodes[n].parent) {
            const struct export_frame *f = &profile->frames[profile->nodes[n].frame];

            int size = f->il >= 0 ? snprintf(longer, sizeof(longer), "%s+%d%s%s", f->name, f->il,
                                             *stack ? ";" : "", stack)
                                  : snprintf(longer, sizeof(longer), "%s%s%s", f->name,
                                             *stack ? ";" : "", stack);

            assert_in_range(size, 1, sizeof(longer) - 1);
            strcpy(stack, longer);
        }
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %llu/%llu\n", stack,
                               (unsigned long long)s->bytes, (unsigned long long)s->allocs);
    }
    return text;
}

static const char some[] = DEFINITIONS ALLOC(1, 24, 2, 3) ALLOC(1, 32, 2, 3) ALLOC(2, 800, 1, 1)
    ALLOC(1, 40, 3, 3) ALLOC(2, 60, 3, 3) ALLOC(2, 20, 3, 4) ALLOC(1, 64, 0, 0);

TEST(all_sites_are_samples)
{
    make(some, 0);
    assert_string_equal(lines(), "App.P.Main()+1;App.Thing[] 800/1\n"
                                 "App.P.Main()+7;App.P.Work()+9;App.P.Work()+3;App.Thing[] 60/1\n"
                                 "App.P.Main()+7;App.P.Work()+9;App.P.Work()+3;System.String 40/1\n"
                                 "App.P.Main()+7;App.P.Work()+9;App.P.Work()+4;App.Thing[] 20/1\n"
                                 "App.P.Main()+7;App.P.Work()+3;System.String 56/2\n"
                                 "(no managed frame);System.String 64/1\n");
    assert_int_equal(profile->bytes, 1040);
    assert_int_equal(profile->allocs, 7);
    assert_int_equal(folded.sites, 0);
    assert_string_equal(profile->program, "App.dll");
    assert_int_equal(profile->pid, 77);
    assert_int_equal(profile->started, INT64_C(1795372714) * 1000000000);
    assert_int_equal(profile->main_module, 0);
    assert_string_equal(profile->modules[0].name, "App");
    assert_int_equal(profile->function_count, 5); /* two methods, two types, no frame */
}

TEST(small_sites_meet_at_their_caller_type_by_type)
{
    make(some, 0.065); /* 67.6 bytes */
    assert_string_equal(lines(), "(smaller ones);System.String 64/1\n"
                                 "App.P.Main()+1;App.Thing[] 800/1\n"
                                 "App.P.Main()+7;(smaller ones);System.String 96/3\n"
                                 "App.P.Main()+7;App.P.Work()+9;(smaller ones);App.Thing[] 80/2\n");
    assert_int_equal(profile->bytes, 1040);
    assert_int_equal(profile->allocs, 7);
    assert_int_equal(folded.sites, 5);
    assert_int_equal((int)folded.bytes, 240);
}

/* What stands at a node of the profile is what the tree's nodes say that stand there. */
TEST(each_site_is_found_where_it_stands)
{
    static const double shares[] = {0, 0.03, 0.065, 0.5, 1};

    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
        double *bytes;

        make(some, shares[i]);
        bytes = calloc(profile->node_count, sizeof(*bytes));
        for (uint32_t n = 0; n < tree->node_count; n++)
            if (tree->self[MODEL_BYTES][n] > 0)
                bytes[folded.nodes[n]] += tree->self[MODEL_BYTES][n];
        for (size_t s = 0; s < profile->sample_count; s++)
            assert_int_equal((int)bytes[profile->samples[s].node], profile->samples[s].bytes);
        free(bytes);
    }
}

TEST(what_stays_small_stands_at_the_root_under_its_type)
{
    make(some, 0.5);
    assert_string_equal(lines(), "(smaller ones);System.String 160/4\n"
                                 "(smaller ones);App.Thing[] 80/2\n"
                                 "App.P.Main()+1;App.Thing[] 800/1\n");
    make(some, 1);
    assert_int_equal(profile->bytes, 1040);
    assert_int_equal(profile->sample_count, 2);
}

TEST(estimates_are_whole_and_add_up)
{
    static const char weights[] = DEFINITIONS
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":1,\"il\":1,"
        "\"weight\":100.4}\n"
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":2,\"il\":1,"
        "\"weight\":100.4}\n"
        "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":3,\"il\":1,"
        "\"weight\":100.4}\n";

    make(weights, 0);
    assert_int_equal(profile->sample_count, 3);
    assert_int_equal(profile->bytes, 301);
    assert_int_equal(profile->allocs, 13); /* 100.4 / 24, three times */
}

TEST(a_log_without_allocations_has_no_samples)
{
    make(DEFINITIONS, 0.001);
    assert_int_equal(profile->sample_count, 0);
    assert_int_equal(profile->bytes, 0);
    assert_int_equal(profile->node_count, 1);
}

#define DEEP 100000

TEST(stacks_are_folded_and_kept_however_deep_they_are)
{
    char *log = malloc(DEEP * 180 + 2000), *at = log;

    at += sprintf(at, "%s", DEFINITIONS);
    for (int i = 4; i < DEEP; i++) {
        at += sprintf(at, "{\"kind\":\"node\",\"id\":%d,\"parent\":%d,\"method\":2,\"il\":9}\n", i,
                      i - 1);
        at += sprintf(at,
                      "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":%d,\"bytes\":24,"
                      "\"node\":%d,\"il\":1}\n",
                      1 + i % 2, i);
    }
    make(log, 0.001);
    assert_int_equal(profile->bytes, 24 * (DEEP - 4));
    assert_true(profile->sample_count <= 1002);
    assert_true(profile->sample_count > 900);
    make(log, 0);
    assert_int_equal(profile->sample_count, DEEP - 4);
    free(log);
}

TEST(without_memory_there_is_none)
{
    int err = -ENOMEM;

    make(some, 0.065);
    export_profile_free(profile);
    memory_free(folded.nodes);
    profile = NULL;
    for (long n = 0; err; n++) {
        memory_fail_after(n);
        err = export_profile_of(tree, names, 0.065, &profile, &folded);
        memory_fail_after(-1);
        assert_true(err == 0 || err == -ENOMEM);
        assert_true(n < 100);
    }
    assert_int_equal(profile->bytes, 1040);
}
