/* The owner of code: from the log, guessed without it, from patterns, and what is reported. */
#include "model/own.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "support/test.h"
#include "unit/readers/memory_log.h"
#include "unit/symbols/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static struct log_problems problems;
static struct log_defs defs;
static struct log_input log_read;
static struct model_own *own;
static char why[300];

static int take(void *context, const struct log_record *record)
{
    (void)context, (void)record;
    return 0;
}

static void read_log(const char *text)
{
    const struct log_consumer nobody = {take, NULL, NULL, NULL};
    struct memory_log memory = {.text = text, .size = strlen(text)};
    struct log_lines *lines = memory_log_lines(&memory);

    assert_int_equal(log_input_read_lines(lines, "log", &defs, &nobody, &log_read), 0);
    log_lines_free(lines);
}

static int setup(void **state)
{
    (void)state;
    log_problems_init(&problems);
    log_input_init(&log_read);
    own = NULL;
    *why = '\0';
    return log_defs_init(&defs, &problems);
}

static int teardown(void **state)
{
    (void)state;
    model_own_free(own);
    log_input_fini(&log_read);
    log_defs_fini(&defs);
    log_problems_fini(&problems);
    return 0;
}

TEST_EACH(setup, teardown);

#define HEADER(executable, more) \
    "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":1,\"executable\":" \
    "\"" executable "\",\"runtime\":\"10.0.0\",\"hooks\":\"elt3\",\"clock\":1,\"started\":" \
    "\"2026-11-21T10:00:00Z\"" more "}\n"
#define MODULE(id, name, path, more) \
    "{\"kind\":\"module\",\"id\":" #id ",\"name\":\"" name "\",\"path\":\"" path "\"" more "}\n"
#define METHOD(id, name, module) \
    "{\"kind\":\"method\",\"id\":" #id ",\"name\":\"" name "\",\"module\":" #module "}\n"
#define OWNER(word) ",\"owner\":\"" word "\""
#define SHARED      "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.0/"

static const char shop[] = HEADER("/usr/bin/dotnet", ",\"command\":[\"dotnet\",\"/app/Shop.dll\"]")
    MODULE(1, "System.Private.CoreLib", SHARED "System.Private.CoreLib.dll", OWNER("framework"))
        MODULE(2, "Shop", "/app/Shop.dll", OWNER("own"))
            MODULE(3, "Shop.Data", "/app/Shop.Data.dll", OWNER("own"))
                MODULE(4, "Dapper", "/app/Dapper.dll", OWNER("package"))
                    METHOD(1, "System.String.Concat()", 1) METHOD(2, "Shop.Program.Main()", 2)
                        METHOD(3, "Shop.Data.Store.Save(System.Int32)", 3)
                            METHOD(4, "Dapper.SqlMapper.Query()", 4);

static uint32_t number(const struct log_table *table, const char *name)
{
    for (uint32_t i = 1; i < table->count; i++)
        if (strcmp(table->defs[i].name, name) == 0)
            return i;
    fail_msg("no %s", name);
    return 0;
}

static enum model_owner of(const char *module)
{
    return model_own_of_module(own, number(&defs.modules, module));
}

static enum model_owner of_method(const char *method)
{
    return model_own_of_method(own, number(&defs.methods, method));
}

static int make(const char *const *patterns, size_t count)
{
    return model_own_new(&defs, &log_read, NULL, patterns, count, &own, why, sizeof(why));
}

TEST(the_log_says_whose_code_a_module_is)
{
    read_log(shop);
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(of("System.Private.CoreLib"), MODEL_FRAMEWORK);
    assert_int_equal(of("Shop"), MODEL_OWN);
    assert_int_equal(of("Shop.Data"), MODEL_OWN);
    assert_int_equal(of("Dapper"), MODEL_PACKAGE);
    assert_int_equal(of_method("Shop.Program.Main()"), MODEL_OWN);
    assert_int_equal(of_method("Dapper.SqlMapper.Query()"), MODEL_PACKAGE);
    assert_int_equal(of_method("System.String.Concat()"), MODEL_FRAMEWORK);
    assert_true(model_own_any(own));
}

TEST(without_own_code_all_is_a_packages)
{
    assert_int_equal(model_own_of_module(NULL, 1), MODEL_PACKAGE);
    assert_int_equal(model_own_of_method(NULL, 1), MODEL_PACKAGE);
    assert_false(model_own_any(NULL));
}

TEST(numbers_that_are_not_there_are_nobodys)
{
    read_log(shop);
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(model_own_of_module(own, 0), MODEL_PACKAGE);
    assert_int_equal(model_own_of_module(own, UINT32_MAX), MODEL_PACKAGE);
    assert_int_equal(model_own_of_method(own, 0), MODEL_PACKAGE);
    assert_int_equal(model_own_of_method(own, UINT32_MAX), MODEL_PACKAGE);
}

TEST(a_later_word_is_no_word)
{
    read_log(HEADER("/app/Shop", "") MODULE(1, "Shop", "/app/Shop.dll", OWNER("landlord"))
                 MODULE(2, "Other", "/app/Other.dll", OWNER("landlord")));
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(of("Shop"), MODEL_OWN); /* it is the main assembly */
    assert_int_equal(of("Other"), MODEL_PACKAGE);
}

TEST(an_owner_that_is_no_text_is_a_problem)
{
    read_log(HEADER("/app/Shop", "") MODULE(1, "Shop", "/app/Shop.dll", ",\"owner\":1"));
    assert_int_equal(problems.count, 1);
}

TEST(a_definition_that_says_wins)
{
    read_log(HEADER("/app/Shop", "") MODULE(1, "Shop", "/app/Shop.dll", "")
                 MODULE(2, "Shop", "/app/Shop.dll", OWNER("package")));
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(of("Shop"), MODEL_PACKAGE);
}

TEST(logs_of_before_have_folders_names_and_the_main_assembly)
{
    read_log(HEADER("/usr/bin/dotnet", ",\"command\":[\"dotnet\",\"exec\",\"/app/Shop.dll\"]")
                 MODULE(1, "System.Private.CoreLib", SHARED "System.Private.CoreLib.dll", "")
                     MODULE(2, "Shop", "/app/Shop.dll", "") MODULE(
                         3, "Kestrel", "/d/shared/Microsoft.AspNetCore.App/10.0.0/Kestrel.dll", "")
                         MODULE(4, "Microsoft.Data", "/app/Microsoft.Data.dll", "")
                             MODULE(5, "FSI-ASSEMBLY", "", "")
                                 MODULE(6, "Microsoft.GeneratedCode", "", ""));
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(of("System.Private.CoreLib"), MODEL_FRAMEWORK);
    assert_int_equal(of("Shop"), MODEL_OWN);
    assert_int_equal(of("Kestrel"), MODEL_FRAMEWORK);
    assert_int_equal(of("Microsoft.Data"), MODEL_PACKAGE);
    assert_int_equal(of("FSI-ASSEMBLY"), MODEL_OWN);
    assert_int_equal(of("Microsoft.GeneratedCode"), MODEL_FRAMEWORK);
}

TEST(logs_of_before_of_a_program_with_its_runtime)
{
    read_log(HEADER("/app/Shop", ",\"command\":[\"/app/Shop\",\"Other.dll\"]")
                 MODULE(1, "System.Private.CoreLib", "/app/System.Private.CoreLib.dll", "")
                     MODULE(2, "Shop", "/app/Shop.dll", "")
                         MODULE(3, "System.Linq", "/app/System.Linq.dll", "")
                             MODULE(4, "Other", "/app/Other.dll", ""));
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(of("Shop"), MODEL_OWN);
    assert_int_equal(of("System.Linq"), MODEL_FRAMEWORK);
    assert_int_equal(of("Other"), MODEL_PACKAGE);
}

TEST(logs_of_before_of_a_single_file)
{
    read_log(HEADER("/app/Shop", "") MODULE(1, "System.Private.CoreLib",
                                            "System.Private.CoreLib.dll", "")
                 MODULE(2, "Shop", "Shop.dll", "") MODULE(3, "System.Linq", "System.Linq.dll", ""));
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(of("Shop"), MODEL_OWN);
    assert_int_equal(of("System.Linq"), MODEL_FRAMEWORK);
}

static char told[200];

static void tell(const void *context, const char *line)
{
    (void)context;
    snprintf(told, sizeof(told), "%s", line);
}

static void write_file(const char *folder, const char *name, const struct bytes *b)
{
    char path[100];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b->data, 1, b->size, file), b->size);
    fclose(file);
}

/* Puts a document's path with parts of the same length in the place of /src/A.cs. */
static void move_source(struct fixture *f, const char *folder, const char *name)
{
    uint8_t *at = memmem(f->pdb.data, f->pdb.size, "\3src", 4);

    assert_non_null(at);
    memcpy(at + 1, folder, 3);
    at = memmem(f->pdb.data, f->pdb.size, "\4A.cs", 5);
    assert_non_null(at);
    memcpy(at + 1, name, 4);
}

TEST(logs_of_before_and_modules_whose_sources_are_here)
{
    static struct fixture fixture;
    static struct bytes assembly;
    static const char *const places[][2] = {{"bin", "true"}, {"bin", "..//"}, {"src", "A.cs"}};
    char folder[] = "build/test-own-XXXXXX", here[100], text[900], command[200];
    struct source_lines *lines;

    assert_non_null(mkdtemp(folder));
    assembly_put(&assembly,
                 &(struct assembly){.pdb_path = "App.pdb", .minor = 0x504D, .methods = 6});
    write_file(folder, "App.dll", &assembly);
    assert_non_null(getcwd(here, sizeof(here)));
    snprintf(text, sizeof(text),
             HEADER("/usr/bin/python3", "") MODULE(1, "App", "%s/%s/App.dll", "")
                 MODULE(2, "Gone", "%s/%s/Gone.dll", "")
                     MODULE(3, "Said", "%s/%s/App.dll", OWNER("package")),
             here, folder, here, folder, here, folder);
    read_log(text);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        fixture_init(&fixture);
        move_source(&fixture, places[i][0], places[i][1]);
        write_file(folder, "App.pdb", &fixture.pdb);
        assert_int_equal(source_lines_new(&defs, NULL, 0, NULL, tell, NULL, &lines), 0);
        *told = '\0';
        assert_int_equal(model_own_new(&defs, &log_read, lines, NULL, 0, &own, why, sizeof(why)),
                         0);
        assert_int_equal(of("App"), i == 0 ? MODEL_OWN : MODEL_PACKAGE);
        assert_int_equal(of("Gone"), MODEL_PACKAGE);
        assert_int_equal(of("Said"), MODEL_PACKAGE); /* by the log */
        source_lines_missing(lines, NULL, NULL);
        source_lines_free(lines);
        assert_string_equal(told, ""); /* nobody asked for lines */
        model_own_free(own);
        own = NULL;
    }
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

TEST(patterns_say_otherwise)
{
    static const char *const patterns[] = {"Dapp*", "*.Store.*"};

    read_log(shop);
    assert_int_equal(make(patterns, 2), 0);
    assert_int_equal(of("Dapper"), MODEL_OWN);
    assert_int_equal(of("Shop"), MODEL_PACKAGE);
    assert_int_equal(of("System.Private.CoreLib"), MODEL_FRAMEWORK);
    assert_int_equal(of_method("Dapper.SqlMapper.Query()"), MODEL_OWN);
    assert_int_equal(of_method("Shop.Data.Store.Save(System.Int32)"), MODEL_OWN);
    assert_int_equal(of_method("Shop.Program.Main()"), MODEL_PACKAGE);
}

TEST(the_framework_may_be_own_code)
{
    static const char *const patterns[] = {"System.Private.*"};

    read_log(shop);
    assert_int_equal(make(patterns, 1), 0);
    assert_int_equal(of("System.Private.CoreLib"), MODEL_OWN);
}

TEST(a_pattern_that_nothing_matches_is_named_with_names_that_are_near)
{
    static const struct {
        const char *pattern, *why;
    } cases[] = {
        {"Shop.dat*", "--own-code Shop.dat*: no module or method has such a name; near: Shop.Data"},
        {"store", "--own-code store: no module or method has such a name; near: "
                  "Shop.Data.Store.Save(System.Int32)"},
        {"Daper", "--own-code Daper: no module or method has such a name; near: Dapper"},
        {"zzzzz", "--own-code zzzzz: no module or method has such a name"},
        {"*\033[2J", "--own-code *?[2J: no module or method has such a name"},
    };

    read_log(shop);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(make(&cases[i].pattern, 1), -ENOENT);
        assert_null(own);
        assert_string_equal(why, cases[i].why);
    }
}

TEST(the_recordings_patterns_hold_where_none_are_given)
{
    static const char *const shop_again[] = {"Shop"};

    read_log(HEADER("/app/Shop", ",\"options\":{\"own\":true,\"own_code\":[\"Lib.*\",7,\"No*\"]}")
                 MODULE(1, "Shop", "/app/Shop.dll", OWNER("package"))
                     MODULE(2, "Other", "/app/Other.dll", OWNER("package"))
                         METHOD(1, "Shop.Main()", 1) METHOD(2, "Lib.Run()", 2));
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(of("Shop"), MODEL_PACKAGE);
    assert_int_equal(of_method("Lib.Run()"), MODEL_OWN);
    assert_int_equal(of_method("Shop.Main()"), MODEL_PACKAGE);
    assert_true(model_own_any(own));
    model_own_free(own);
    assert_int_equal(make(shop_again, 1), 0);
    assert_int_equal(of_method("Lib.Run()"), MODEL_PACKAGE);
    assert_int_equal(of_method("Shop.Main()"), MODEL_OWN);
}

/* A compiler behind a stub; numbers of modules are 1 more than these places. */
static const char compiler[] =
    HEADER("/sdk/fsc", "") MODULE(1, "System.Private.CoreLib", "/r/c.dll", OWNER("framework"))
        MODULE(2, "fsc", "/sdk/fsc.dll", OWNER("own"))
            MODULE(3, "A", "/sdk/a.dll", OWNER("package"))
                MODULE(4, "B", "/sdk/b.dll", OWNER("package"))
                    MODULE(5, "C", "/sdk/c.dll", OWNER("package"))
                        MODULE(6, "D", "/sdk/d.dll", OWNER("package"));

TEST(where_own_code_makes_next_to_nothing_the_nearest_modules_are_told)
{
    const double bytes[] = {0, 100, 9, 300, 0, 400, 200};
    uint32_t nearest[MODEL_OWN_NEAREST];
    struct buffer b = BUFFER_INIT;

    read_log(compiler);
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(model_own_nearest(own, bytes, nearest), 3);
    assert_int_equal(nearest[0], 5);
    assert_int_equal(nearest[1], 3);
    assert_int_equal(nearest[2], 6);
    assert_true(model_own_tell(own, bytes, &b));
    assert_string_equal(
        b.data,
        "own code makes 0.9% of the bytes; nearest modules that are not framework: C (39.6%), "
        "A (29.7%), D (19.8%); --own-code C takes it for own");
    buffer_free(&b);
}

TEST(of_more_modules_the_heaviest_are_told)
{
    const double bytes[] = {0, 0, 0, 10, 20, 30, 40};
    uint32_t nearest[MODEL_OWN_NEAREST];

    read_log(compiler);
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(model_own_nearest(own, bytes, nearest), 3);
    assert_int_equal(nearest[0], 6);
    assert_int_equal(nearest[1], 5);
    assert_int_equal(nearest[2], 4);
}

TEST(what_makes_next_to_nothing_itself_is_not_told)
{
    const double bytes[] = {0, 100, 0, 1, 0, 10000, 0};
    struct buffer b = BUFFER_INIT;

    read_log(compiler);
    assert_int_equal(make(NULL, 0), 0);
    assert_true(model_own_tell(own, bytes, &b));
    assert_string_equal(b.data, "own code makes 0.0% of the bytes; nearest modules that are not "
                                "framework: C (99.0%); --own-code C takes it for own");
    buffer_free(&b);
}

TEST(from_one_percent_on_nothing_is_told)
{
    const double enough[] = {0, 99, 2, 50, 49, 0, 0}, nothing[] = {0, 0, 0, 0, 0, 0, 0};
    uint32_t nearest[MODEL_OWN_NEAREST];
    struct buffer b = BUFFER_INIT;

    read_log(compiler);
    assert_int_equal(make(NULL, 0), 0);
    assert_int_equal(model_own_nearest(own, enough, nearest), 0);
    assert_int_equal(model_own_nearest(own, nothing, nearest), 0);
    assert_int_equal(model_own_nearest(NULL, nothing, nearest), 0);
    assert_false(model_own_tell(own, enough, &b));
    assert_null(b.data);
}

TEST(where_methods_were_named_modules_do_not_tell)
{
    static const char *const patterns[] = {"*.Main()"};
    const double bytes[] = {0, 50, 0, 150, 0};
    uint32_t nearest[MODEL_OWN_NEAREST];

    read_log(shop);
    assert_int_equal(make(patterns, 1), 0);
    assert_int_equal(model_own_nearest(own, bytes, nearest), 0);
}

TEST(where_no_own_code_is_known_that_is_told)
{
    const double bytes[] = {0, 50, 150};
    struct buffer b = BUFFER_INIT;

    read_log(HEADER("/x", "") MODULE(1, "CoreLib", "/r/c.dll", OWNER("framework"))
                 MODULE(2, "Q", "/q.dll", OWNER("package")));
    assert_int_equal(make(NULL, 0), 0);
    assert_false(model_own_any(own));
    assert_true(model_own_tell(own, bytes, &b));
    assert_string_equal(b.data, "no own code is known; nearest modules that are not framework: Q "
                                "(75.0%); --own-code Q takes it for own");
    buffer_free(&b);
}

TEST(no_memory_is_said)
{
    static const char *const patterns[] = {"Shop*"};
    int err = -ENOMEM;

    read_log(shop);
    for (long n = 0; err == -ENOMEM; n++) {
        assert_true(n < 20);
        memory_fail_after(n);
        err = make(patterns, 1);
        memory_fail_after(-1);
        assert_true(err == 0 || !own);
    }
    assert_int_equal(err, 0);
}
