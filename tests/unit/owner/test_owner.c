/* Whose code a module is, in programs of all forms, laid out in a folder of their own. */
#include "owner/owner.h"

#include "base/memory.h"
#include "options/json.h"
#include "options/options_fields.h"
#include "support/test.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[PATH_MAX]; /* absolute */
static struct owners *o;

static int setup(void **state)
{
    static char name[] = "build/test-owner-XXXXXX";

    (void)state;
    json_memory_start();
    strcpy(name, "build/test-owner-XXXXXX");
    return mkdtemp(name) && realpath(name, root) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[PATH_MAX + 20];

    (void)state;
    owners_free(o);
    o = NULL;
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    return system(command);
}

TEST_EACH(setup, teardown);

/* A path below the folder; one of a few at a time. */
static const char *at(const char *path)
{
    static char texts[8][PATH_MAX + 100];
    static unsigned next;
    char *text = texts[next++ % 8];

    snprintf(text, sizeof(texts[0]), "%s/%s", root, path);
    return text;
}

/* Makes a file, and its folders. */
static const char *file(const char *path, const char *content)
{
    char folder[PATH_MAX + 100];
    FILE *out;

    snprintf(folder, sizeof(folder), "%s", at(path));
    for (char *slash = folder + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(folder, 0700);
    }
    out = fopen(folder, "w");
    assert_non_null(out);
    fputs(content, out);
    fclose(out);
    return at(path);
}

/* A deps.json of these assemblies, each a library of that type. */
static const char *deps(const char *path, const char *const *pairs)
{
    char target[2000] = "", libraries[2000] = "", text[4200];

    for (size_t i = 0; pairs[i]; i += 2) {
        const char *comma = i ? "," : "";

        snprintf(target + strlen(target), sizeof(target) - strlen(target),
                 "%s\"%s/1\":{\"runtime\":{\"lib/%s.dll\":{}}}", comma, pairs[i], pairs[i]);
        snprintf(libraries + strlen(libraries), sizeof(libraries) - strlen(libraries),
                 "%s\"%s/1\":{\"type\":\"%s\"}", comma, pairs[i], pairs[i + 1]);
    }
    snprintf(text, sizeof(text), "{\"targets\":{\"t\":{%s}},\"libraries\":{%s}}", target,
             libraries);
    return file(path, text);
}
#define DEPS(path, ...) deps(path, (const char *const[]){__VA_ARGS__, NULL})

static struct owners_config config(const char *main)
{
    return (struct owners_config){.executable = "/usr/bin/dotnet", .main = main};
}

static void start(const struct owners_config *c)
{
    owners_free(o);
    assert_int_equal(owners_new(c, &o), 0);
}

#define CORELIB "dotnet/shared/Microsoft.NETCore.App/10.0.0/System.Private.CoreLib.dll"

static void load(const char *path)
{
    owners_loaded(o, at(path));
}

/* The assembly of that name is asked about as it lies at `path`. */
static const char *whose(const char *path)
{
    char name[200];
    const char *slash = strrchr(path, '/');

    snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
    if (strlen(name) > 4)
        name[strlen(name) - 4] = '\0';
    return owner_word(owners_ask(o, at(path), name));
}

/* `dotnet app/Shop.dll`, CoreLib and it loaded. */
static void shop(void)
{
    const struct owners_config c = config(at("app/Shop.dll"));

    start(&c);
    load(CORELIB);
    load("app/Shop.dll");
}

TEST(projects_packages_and_the_framework_are_told_apart)
{
    DEPS("app/Shop.deps.json", "Shop", "project", "Lib", "project", "Dapper", "package");
    shop();
    assert_string_equal(whose(CORELIB), "framework");
    assert_string_equal(whose("dotnet/shared/Microsoft.NETCore.App/10.0.0/System.Linq.dll"),
                        "framework");
    assert_string_equal(whose("dotnet/shared/Microsoft.AspNetCore.App/10.0.0/Kestrel.dll"),
                        "framework");
    assert_string_equal(whose("app/Shop.dll"), "own");
    assert_string_equal(whose("app/Lib.dll"), "own");
    assert_string_equal(whose("app/Dapper.dll"), "package");
    assert_string_equal(whose("packages/dapper/2.1/lib/Dapper.dll"), "package");
    assert_string_equal(whose("app/Unheard.dll"), "package");
}

TEST(the_shared_framework_is_never_own)
{
    DEPS("app/Shop.deps.json", "Shop", "project", "System.Linq", "project",
         "System.Private.CoreLib", "project");
    shop();
    assert_string_equal(whose("dotnet/shared/Microsoft.NETCore.App/10.0.0/System.Linq.dll"),
                        "framework");
    assert_string_equal(whose("elsewhere/System.Private.CoreLib.dll"), "framework");
}

TEST(a_program_that_brings_its_runtime_along)
{
    const struct owners_config c = config(at("shared/my/app/Shop"));

    DEPS("shared/my/app/Shop.deps.json", "Shop", "project", "System.Linq", "runtimepack",
         "System.Private.CoreLib", "runtimepack");
    start(&c);
    load("shared/my/app/System.Private.CoreLib.dll"); /* not in a shared framework, for all that */
    load("shared/my/app/Shop.dll");
    assert_string_equal(whose("shared/my/app/Shop.dll"), "own");
    assert_string_equal(whose("shared/my/app/System.Linq.dll"), "framework");
    assert_string_equal(whose("shared/my/app/System.Odd.dll"), "framework"); /* by its name */
    assert_string_equal(whose("shared/my/app/Odd.dll"), "package");
}

TEST(a_single_file_has_names_without_folders)
{
    uint8_t header[12 + 1 + 16] = {6};
    char text[400];
    struct owners_config c = config(at("Shop"));
    FILE *out = fopen(at("Shop"), "w");

    snprintf(text, sizeof(text),
             "{\"targets\":{\"t\":{\"Shop/1\":{\"runtime\":{\"Shop.dll\":{}}},\"P/1\":{\"runtime\":"
             "{\"P.dll\":{}}}}},\"libraries\":{\"Shop/1\":{\"type\":\"project\"}}}");
    header[13] = 100 + sizeof(header);
    header[21] = (uint8_t)strlen(text);
    header[22] = (uint8_t)(strlen(text) >> 8);
    fprintf(out, "%100s", "");
    fwrite(header, 1, sizeof(header), out);
    fputs(text, out);
    fclose(out);
    c.executable = at("Shop");
    c.bundle = 100;
    start(&c);
    owners_loaded(o, "System.Private.CoreLib.dll");
    owners_loaded(o, "Shop.dll");
    assert_string_equal(owner_word(owners_ask(o, "Shop.dll", "Shop")), "own");
    assert_string_equal(owner_word(owners_ask(o, "P.dll", "P")), "package");
    assert_string_equal(owner_word(owners_ask(o, "System.Linq.dll", "System.Linq")), "framework");
    assert_string_equal(owner_word(owners_ask(o, "", "P")), "package"); /* loaded from bytes */
}

TEST(a_test_host_is_a_package_and_the_tests_are_own)
{
    struct owners_config c = config("packages/testhost/testhost.dll");

    DEPS("tests/Tests.deps.json", "Tests", "project", "Lib", "project", "testhost", "package");
    DEPS("packages/testhost/testhost.deps.json", "testhost", "project");
    c.deps = at("tests/Tests.deps.json");
    start(&c);
    load(CORELIB);
    load("packages/testhost/testhost.dll");
    load("tests/Tests.dll");
    assert_string_equal(whose("packages/testhost/testhost.dll"), "package");
    assert_string_equal(whose("tests/Tests.dll"), "own");
    assert_string_equal(whose("tests/Lib.dll"), "own");
    assert_string_equal(whose("tests/Adapter.dll"), "package");
}

TEST(a_test_host_that_no_deps_json_names_is_a_package_too)
{
    struct owners_config c = config("packages/testhost/testhost.dll");

    DEPS("tests/Tests.deps.json", "Tests", "project");
    DEPS("packages/testhost/testhost.deps.json", "testhost", "project");
    c.deps = at("tests/Tests.deps.json");
    start(&c);
    load(CORELIB);
    load("packages/testhost/testhost.dll");
    assert_string_equal(whose("packages/testhost/testhost.dll"), "package");
}

TEST(a_deps_json_that_was_named_and_is_gone_leaves_the_assemblys_own)
{
    struct owners_config c = config(at("app/Shop.dll"));

    DEPS("app/Shop.deps.json", "Shop", "project", "Dapper", "package");
    c.deps = at("nowhere.json");
    start(&c);
    load(CORELIB);
    load("app/Shop.dll");
    assert_string_equal(whose("app/Shop.dll"), "own");
    assert_string_equal(whose("app/Dapper.dll"), "package");
}

TEST(a_plugin_brings_a_deps_json_of_its_own)
{
    DEPS("app/Shop.deps.json", "Shop", "project", "Json", "package", "Contracts", "project");
    DEPS("plugins/P/P.deps.json", "P", "project", "P.Core", "project", "Json", "project");
    DEPS("app/Json.deps.json", "Json", "project");
    shop();
    load("app/Json.dll"); /* already known to be a package's */
    load("plugins/P/P.dll");
    assert_string_equal(whose("plugins/P/P.dll"), "own");
    assert_string_equal(whose("plugins/P/P.Core.dll"), "own");
    assert_string_equal(whose("plugins/P/Json.dll"),
                        "own"); /* in the same directory as the plugin */
    assert_string_equal(whose("app/Json.dll"), "package");
    assert_string_equal(whose("plugins/P/Contracts.dll"), "own");
    assert_string_equal(whose("plugins/P/Odd.dll"), "package");
}

TEST(a_plugin_without_one_is_own_if_its_pdb_is_there)
{
    DEPS("app/Shop.deps.json", "Shop", "project");
    file("app/Adapter.pdb", "");
    file("plugins/P.pdb", "");
    shop();
    load("plugins/P.dll");
    load("plugins/Q.dll");
    load("app/Adapter.dll"); /* the program's deps.json would name it */
    assert_string_equal(whose("plugins/P.dll"), "own");
    assert_string_equal(whose("plugins/Q.dll"), "package");
    assert_string_equal(whose("app/Adapter.dll"), "package");
}

TEST(without_any_deps_json_the_programs_folder_is_own)
{
    shop();
    load("app/Lib.dll");
    assert_string_equal(whose("app/Shop.dll"), "own");
    assert_string_equal(whose("app/Lib.dll"), "own");
    assert_string_equal(whose("app/sub/Lib.dll"), "own");
    assert_string_equal(whose("apples/Lib.dll"), "package");
    assert_string_equal(whose("gac/Lib.dll"), "package");
    assert_string_equal(whose("dotnet/shared/Microsoft.NETCore.App/10.0.0/System.Linq.dll"),
                        "framework");
}

TEST(without_any_deps_json_names_tell_the_runtime_in_the_same_folder)
{
    const struct owners_config c = config("");

    start(&c);
    load("app/System.Private.CoreLib.dll");
    load("app/Shop.dll");
    assert_string_equal(whose("app/Shop.dll"), "own");
    assert_string_equal(whose("app/System.Linq.dll"), "framework");
    assert_string_equal(whose("app/Microsoft.Win32.Primitives.dll"), "framework");
}

TEST(a_runtime_in_a_folder_of_its_own_is_framework)
{
    const struct owners_config c = config("");

    start(&c);
    load("core_root/System.Private.CoreLib.dll");
    load("app/Shop.dll");
    assert_string_equal(whose("core_root/Anything.dll"), "framework");
    assert_string_equal(whose("app/Shop.dll"), "own");
}

TEST(what_is_damaged_huge_or_no_file_is_as_none)
{
    char *huge = memory_alloc((4 << 20) + 2);
    const char *path;

    memset(huge, ' ', (4 << 20) + 1);
    huge[(4 << 20) + 1] = '\0';
    file("app/Shop.deps.json", "{\"targets\":{");
    shop();
    assert_string_equal(whose("app/Lib.dll"), "own");
    file("app/Shop.deps.json", huge);
    memory_free(huge);
    shop();
    assert_string_equal(whose("app/Lib.dll"), "own");
    path = file("app/Shop.deps.json", "\xff\xfe{");
    shop();
    assert_string_equal(whose("app/Lib.dll"), "own");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    shop();
    assert_string_equal(whose("app/Lib.dll"), "own");
    unlink(path);
    assert_int_equal(symlink("Shop.deps.json", path), 0); /* to itself */
    shop();
    assert_string_equal(whose("app/Lib.dll"), "own");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    shop();
    assert_string_equal(whose("app/Lib.dll"), "own");
    rmdir(path);
}

TEST(a_link_to_a_deps_json_is_followed)
{
    DEPS("store/x.json", "Shop", "project", "Lib", "package");
    file("app/x", "");
    assert_int_equal(symlink("../store/x.json", at("app/Shop.deps.json")), 0);
    shop();
    assert_string_equal(whose("app/Shop.dll"), "own");
    assert_string_equal(whose("app/Lib.dll"), "package");
    assert_string_equal(whose("app/Odd.dll"), "package");
}

TEST(a_main_assembly_is_own_whatever_its_deps_json_says)
{
    DEPS("app/Shop.deps.json", "Dapper", "package");
    shop();
    assert_string_equal(whose("app/Shop.dll"), "own");
    DEPS("app/Shop.deps.json", "Shop", "package", "Dapper",
         "package"); /* as of a compiler's stub */
    shop();
    assert_string_equal(whose("app/Shop.dll"), "own");
    assert_string_equal(whose("app/Lib.dll"), "package");
}

TEST(what_is_made_in_memory_is_own_if_the_framework_did_not_make_it)
{
    DEPS("app/Shop.deps.json", "Shop", "project", "Dapper", "package");
    shop();
    assert_string_equal(owner_word(owners_ask(o, "", "FSI-ASSEMBLY")), "own");
    assert_string_equal(owner_word(owners_ask(o, "", "Submission#0")), "own");
    assert_string_equal(owner_word(owners_ask(o, "F.exe", "F")), "own"); /* from bytes */
    assert_string_equal(owner_word(owners_ask(o, "Dapper.dll", "Dapper")), "package");
    assert_string_equal(owner_word(owners_ask(o, "", "Dapper")), "package");
    assert_string_equal(owner_word(owners_ask(o, "", "Microsoft.GeneratedCode")), "framework");
    assert_string_equal(owner_word(owners_ask(o, "", "ProxyBuilder")), "framework");
}

TEST(the_sdk_at_work_is_framework_and_a_compiler_that_is_started_is_not)
{
    struct owners_config c = config("/usr/bin/dotnet");

    DEPS("dotnet/sdk/10.0/dotnet.deps.json", "dotnet", "project");
    DEPS("dotnet/sdk/10.0/csc.deps.json", "csc", "project");
    DEPS("tasks/Task.deps.json", "Task", "project");
    c.sdk = true;
    start(&c);
    load(CORELIB);
    load("dotnet/sdk/10.0/dotnet.dll");
    load("tasks/Task.dll");
    assert_string_equal(whose("dotnet/sdk/10.0/dotnet.dll"), "framework");
    assert_string_equal(whose("tasks/Task.dll"), "own");
    c.sdk = false;
    c.main = at("dotnet/sdk/10.0/csc.dll");
    start(&c);
    load(CORELIB);
    load("dotnet/sdk/10.0/csc.dll");
    assert_string_equal(whose("dotnet/sdk/10.0/csc.dll"), "own");
}

TEST(own_code_says_otherwise)
{
    struct options options;
    struct owners_config c = config(at("app/Shop.dll"));

    options_init(&options);
    assert_int_equal(options_field_text(&options, options_field_find("own_code"), "Dap*"), 0);
    assert_int_equal(options_field_text(&options, options_field_find("own_code"), "System.Lin?"),
                     0);
    assert_int_equal(options_field_text(&options, options_field_find("own_code"), "Nobody"), 0);
    DEPS("app/Shop.deps.json", "Shop", "project", "Dapper", "package");
    c.own_code = &options.own_code;
    start(&c);
    load(CORELIB);
    load("app/Shop.dll");
    assert_string_equal(whose("app/Shop.dll"), "package");
    assert_string_equal(whose("app/Dapper.dll"), "own");
    assert_string_equal(whose("dotnet/shared/Microsoft.NETCore.App/10.0.0/System.Linq.dll"), "own");
    assert_string_equal(whose("dotnet/shared/Microsoft.NETCore.App/10.0.0/System.Net.dll"),
                        "framework");
    assert_true(load_relaxed(&options.own_code.met[0]));
    assert_true(load_relaxed(&options.own_code.met[1]));
    assert_false(load_relaxed(&options.own_code.met[2]));
    options_fini(&options);
}

TEST(where_memory_ran_out_it_is_not_known_and_never_wrong)
{
    const struct owners_config c = config(at("app/Shop.dll"));
    bool done = false;

    DEPS("app/Shop.deps.json", "Shop", "project", "Lib", "project", "Dapper", "package");
    DEPS("plugins/P.deps.json", "P", "project");
    file("more/Q.pdb", "");
    for (long n = 0; !done; n++) {
        assert_true(n < 5000);
        owners_free(o);
        memory_fail_after(n);
        done = owners_new(&c, &o) == 0;
        load(CORELIB);
        load("app/Shop.dll");
        load("plugins/P.dll");
        load("more/Q.dll");
        done &= strcmp(whose("more/Q.dll"), "own") == 0 && strcmp(whose("app/Lib.dll"), "own") == 0;
        assert_true(!*whose("app/Lib.dll") || !strcmp(whose("app/Lib.dll"), "own"));
        assert_true(!*whose("app/Dapper.dll") || !strcmp(whose("app/Dapper.dll"), "package"));
        assert_true(!*whose("plugins/P.dll") || !strcmp(whose("plugins/P.dll"), "own"));
        memory_fail_after(-1);
    }
}

TEST(nobody_to_ask_knows_nothing)
{
    assert_int_equal(owners_ask(NULL, "/a/b.dll", "b"), SST_OWNER_UNKNOWN);
    owners_loaded(NULL, "/a/b.dll");
    owners_free(NULL);
}
