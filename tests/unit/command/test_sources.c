/*
 * A hostile PDB names a file of this machine as its source. No command prints a line of that file
 * unless the PDB has its hash, and so knows it already. annotate prints it if the user names it.
 */
#include "unit/cli/command_support.h"

#include "command/sources.h"
#include "page/page.h"
#include "readers/log.h"
#include "report/source_lines.h"
#include "support/test.h"
#include "unit/page/page_data.h"
#include "unit/symbols/fixture.h"

#include <errno.h>
#include <stdio.h>

#define SECRET "root-password-of-line"

static char folder[] = "/tmp/shadowtrace-sources-XXXXXX", secret[64], log_path[64], assembly[64];
static char text[1024];

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
    size_t size = 0;

    (void)state;
    assert_non_null(mkdtemp(strcpy(folder, "/tmp/shadowtrace-sources-XXXXXX")));
    snprintf(secret, sizeof(secret), "%s/passwd", folder);
    snprintf(log_path, sizeof(log_path), "%s/log.ndjson", folder);
    snprintf(assembly, sizeof(assembly), "%s/app.dll", folder);
    for (int line = 1; line <= 20; line++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, SECRET " %d\n", line);
    write_file(secret, text, size);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(secret);
    unlink(log_path);
    unlink(assembly);
    return rmdir(folder);
}

TEST_EACH(setup, teardown);

static void write_log(void)
{
    static const char lines[] =
        "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":1,\"executable\":"
        "\"/usr/bin/dotnet\",\"runtime\":\"10.0.12\",\"hooks\":\"elt3\",\"clock\":1,\"started\":"
        "\"2026-11-21T10:00:00Z\"}\n"
        "{\"kind\":\"module\",\"id\":1,\"name\":\"app\",\"path\":\"%s\",\"mvid\":"
        "\"a3a2a1a0-a5a4-a7a6-a8a9-aaabacadaeaf\",\"owner\":\"own\"}\n"
        "{\"kind\":\"thread\",\"id\":1,\"os\":1,\"name\":\"main\"}\n"
        "{\"kind\":\"class\",\"id\":1,\"name\":\"System.String\"}\n"
        "{\"kind\":\"method\",\"id\":1,\"name\":\"A.F()\",\"module\":1,\"token\":100663297}\n"
        "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1,\"call\":\"native\"}\n"
        "{\"kind\":\"alloc\",\"t\":1000,\"thread\":1,\"class\":1,\"bytes\":40,\"node\":1,\"il\":0}"
        "\n"
        "{\"kind\":\"end\",\"t\":2000,\"seen\":1,\"written\":1,\"lost\":0,\"lost_by\":{},\"bytes\":"
        "40,\"threads\":1,\"nodes\":1,\"nodes_refused\":0}\n";
    char log[sizeof(lines) + 64];
    int size = snprintf(log, sizeof(log), lines, assembly);

    write_file(log_path, log, (size_t)size);
}

/* The log of a program whose PDB says this of a file of this machine. */
static void trace(unsigned algorithm, const void *hash, size_t hash_size)
{
    static struct fixture fixture;
    static struct bytes image;
    struct fixture_document document = {
        .path = secret, .algorithm = algorithm, .hash_size = hash_size};

    if (hash_size)
        memcpy(document.hash, hash, hash_size);
    fixture_make(&fixture, &document);
    assembly_put(&image, &(struct assembly){.pdb_path = "App.pdb",
                                            .minor = 0x504D,
                                            .methods = 6,
                                            .embedded = &fixture.pdb});
    write_file(assembly, image.data, image.size);
    write_log();
}

/* Everything that it wrote, a page's packed data too. */
static bool says_secret(struct ran ran)
{
    bool says = strstr(ran.out, SECRET) || strstr(ran.err, SECRET);

    assert_in_range(ran.status, CLI_OK, CLI_USAGE - 1);
    if (strstr(ran.out, "id=\"data\">")) {
        static struct data data;

        unpack(ran.out, &data);
        says = says || memmem(data.bytes, data.size, SECRET, strlen(SECRET));
        json_decref(data.head);
    }
    free(ran.out);
    return says;
}

#define SAYS(command, ...) says_secret(RUN(&cmd_##command, #command, __VA_ARGS__))

static int take(void *context, const struct log_record *record)
{
    (void)context, (void)record;
    return 0;
}

/* browse shows, and gate quotes, what sources_text gives. */
static int sources(void)
{
    static const struct log_consumer nobody = {take, NULL, NULL, NULL};
    struct log_problems problems;
    struct log_defs defs;
    struct log_input log;
    struct sources sources = {NULL, NULL, 0};
    char *found = NULL;
    size_t size;
    int err;

    log_problems_init(&problems);
    log_input_init(&log);
    assert_int_equal(log_defs_init(&defs, &problems), 0);
    assert_int_equal(log_input_read(log_path, &defs, &nobody, &log), 0);
    assert_int_equal(source_lines_new(&defs, NULL, 0, NULL, NULL, NULL, &sources.lines), 0);
    err = sources_text(&sources, secret, &found, &size);
    if (!err)
        memory_free(found);
    source_lines_free(sources.lines);
    log_input_fini(&log);
    log_defs_fini(&defs);
    log_problems_fini(&problems);
    return err;
}

static bool anything_says(void)
{
    return SAYS(report, log_path) | SAYS(report, "--by", "line", log_path) |
           SAYS(report, "--format", "json", log_path) | SAYS(html, log_path, "-o", "-") |
           SAYS(annotate, log_path, "passwd") | SAYS(annotate, "--all", log_path, "passwd");
}

TEST(a_file_without_a_usable_hash_is_never_printed)
{
    uint8_t digest[SYMBOLS_SHA256_SIZE];

    sha256(text, strlen(text), digest);
    static const struct {
        unsigned algorithm;
        size_t hash_size;
    } cases[] = {
        {0, 0},  /* none */
        {3, 0},  /* an algorithm alone */
        {0, 32}, /* a hash alone */
        {2, 32}, /* an algorithm that is not known */
        {9, 32}, /* a GUID that the PDB has not */
        {3, 31}, /* too short */
        {3, 20}, {3, 1},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        trace(cases[i].algorithm, digest, cases[i].hash_size);
        assert_false(anything_says());
        assert_int_equal(sources(), -ENOTSUP);
    }
}

TEST(a_file_with_another_hash_is_never_printed)
{
    uint8_t digest[SYMBOLS_SHA256_SIZE] = {1};

    trace(3, digest, sizeof(digest));
    assert_false(anything_says());
    assert_false(SAYS(annotate, "--source", secret, log_path, "passwd"));
    assert_int_equal(sources(), -ESTALE);
}

TEST(the_file_that_was_compiled_is_printed)
{
    uint8_t digest[SYMBOLS_SHA256_SIZE];

    sha256(text, strlen(text), digest);
    trace(3, digest, sizeof(digest));
    assert_true(SAYS(report, log_path));
    assert_true(SAYS(html, log_path, "-o", "-"));
    assert_true(SAYS(annotate, log_path, "passwd"));
    assert_int_equal(sources(), 0);
}

/* Without a hash it may be another file. The user said which one. */
TEST(annotate_prints_a_file_that_the_user_names)
{
    struct ran ran;

    trace(0, NULL, 0);
    assert_true(SAYS(annotate, "--source", secret, log_path, "passwd"));
    assert_true(SAYS(annotate, log_path, secret));
    ran = RUN(&cmd_annotate, "annotate", log_path, "passwd");
    assert_non_null(strstr(ran.err, "the PDB has no usable hash of /tmp/"));
    assert_non_null(strstr(ran.err, "its text is not shown; --source FILE\n"));
    free(ran.out);
}
