/*
 * Symbols themselves are src/tool/symbols and its tests; here is when they are asked for, and what is
 * said of it.
 */
#include "unit/cli/command_support.h"

#include "report/source_lines.h"
#include "support/test.h"

#include <stdio.h>

static struct log_problems problems;
static struct log_defs defs;

#define EMBEDDED_MVID "a19433e6-77bf-49f2-84b4-429f61808b76"
#define EMBEDDED_FILE "Zweite Datei \303\274.cs"

static uint32_t method; /* number of the one asked about */
static uint32_t found;  /* lines, of the method below and its first offsets */

static void define(const char *text)
{
    struct log_parser parser;
    struct log_line line = {.size = strlen(text)};
    struct log_record record;
    char padded[5000];

    memcpy(padded, text, line.size);
    memset(padded + line.size, '\n', LOG_LINE_PADDING);
    line.text = padded;
    log_parser_init(&parser);
    assert_int_equal(log_parse(&parser, &line, &record), 0);
    assert_int_equal(log_defs_add(&defs, &record), 0);
    log_parser_fini(&parser);
}

static int setup(void **state)
{
    char path[4096], module[4200];

    (void)state;
    log_problems_init(&problems);
    assert_int_equal(log_defs_init(&defs, &problems), 0);
    define("{\"kind\":\"module\",\"id\":1,\"name\":\"a\",\"path\":\"Makefile\"}");
    define("{\"kind\":\"module\",\"id\":2,\"name\":\"b\",\"path\":\"/nowhere/b.dll\"}");
    define("{\"kind\":\"module\",\"id\":3,\"name\":\"c\",\"path\":\"/proc/self/exe\"}");
    define("{\"kind\":\"method\",\"id\":1,\"name\":\"A()\",\"module\":1,\"token\":100663297}");
    define("{\"kind\":\"method\",\"id\":2,\"name\":\"B()\",\"module\":2,\"token\":100663297}");
    define("{\"kind\":\"method\",\"id\":3,\"name\":\"C()\",\"module\":3,\"token\":100663297}");
    define("{\"kind\":\"method\",\"id\":4,\"name\":\"D()\"}");
    assert_non_null(realpath("tests/fuzz/corpus/symbols/embedded.dll", path));
    snprintf(module, sizeof(module),
             "{\"kind\":\"module\",\"id\":4,\"name\":\"e\",\"path\":\"%s\"}", path);
    define(module);
    define("{\"kind\":\"method\",\"id\":5,\"name\":\"E()\",\"module\":4,\"token\":100663297}");
    found = 0;
    method = 5;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    log_defs_fini(&defs);
    log_problems_fini(&problems);
    return 0;
}

TEST_EACH(setup, teardown);

static const char *recording_started; /* for the command below */

static void tell(const void *command, const char *line)
{
    cli_complain(command, "%s", line);
}

static int ask_everything(void *into, const struct args *args, FILE *out)
{
    static const struct cli_command asking = {.name = "asking"};
    json_t *header = json_pack("{s:s}", "started", recording_started);
    struct source_lines *lines;
    struct source_line line;

    (void)into, (void)args;
    assert_int_equal(source_lines_new(&defs, NULL, 0, header, tell, &asking, &lines), 0);
    found = 0;
    for (int twice = 0; twice < 2; twice++)
        for (uint32_t other = 0; other < 5; other++) {
            assert_false(source_line_of(lines, other, 5, &line));
            assert_false(source_line_of(lines, other, LOG_NO_IL, &line));
            assert_false(source_line_of(NULL, other, 5, &line));
        }
    for (int32_t il = 0; il < 5; il++)
        if (source_line_of(lines, method, il, &line)) {
            assert_true(line.line > 0 && strlen(line.file) > 2);
            found++;
        }
    source_lines_free(lines);
    json_decref(header);
    fputs("asked", out);
    return 0;
}

static const struct cli_command asking = {.name = "asking", .run = ask_everything};

TEST(modules_without_symbols_give_no_lines_and_no_noise)
{
    static const char *const started[] = {"2999-01-01T00:00:00Z", "2999-01-01T00:00:00.5Z",
                                          "2999-01-01T00:00:00+01:00", "no time", ""};

    for (size_t i = 0; i < COUNT_OF(started); i++) {
        struct ran ran;

        recording_started = started[i];
        ran = RUN(&asking, "asking");
        assert_string_equal(ran.err, "");
        free(ran.out);
    }
}

TEST(lines_come_from_the_symbols_of_the_module)
{
    struct ran ran;

    recording_started = "2999-01-01T00:00:00Z";
    ran = RUN(&asking, "asking");
    assert_int_equal(found, 5);
    free(ran.out);
}

TEST(a_module_built_again_since_is_named_once)
{
    struct ran ran;

    recording_started = "2001-01-01T00:00:00Z";
    ran = RUN(&asking, "asking");
    assert_int_equal(found, 0);
    assert_non_null(strstr(ran.err, "shadowtrace asking: /"));
    assert_non_null(
        strstr(ran.err, "embedded.dll was written after the recording began: no lines from it\n"));
    assert_ptr_equal(strchr(ran.err, '\n'), ran.err + strlen(ran.err) - 1);
    free(ran.out);
}

/* What the log says of the build counts, not the time at which a file was written. */
TEST(another_build_than_the_traced_one_gives_no_lines)
{
    char path[4096], module[4300];
    struct ran ran;

    recording_started = "2001-01-01T00:00:00Z";
    assert_non_null(realpath("tests/fuzz/corpus/symbols/embedded.dll", path));
    for (int same = 0; same < 2; same++) {
        snprintf(module, sizeof(module),
                 "{\"kind\":\"module\",\"id\":5,\"name\":\"e\",\"path\":\"%s\",\"mvid\":\"%s\"}",
                 path, same ? EMBEDDED_MVID : "00000000-0000-0000-0000-000000000001");
        define(module);
        define("{\"kind\":\"method\",\"id\":5,\"name\":\"F()\",\"module\":5,\"token\":100663297}");
        method = 6 + (uint32_t)same;
        ran = RUN(&asking, "asking");
        assert_int_equal(found, same ? 5 : 0);
        if (same)
            assert_string_equal(ran.err, "");
        else
            assert_non_null(
                strstr(ran.err, "embedded.dll: another build than the one that was traced\n"));
        free(ran.out);
    }
}

static int say_what_is_missing(void *into, const struct args *args, FILE *out)
{
    static const struct cli_command command = {.name = "asking"};
    struct source_lines *lines;
    struct source_line line;

    (void)into, (void)args, (void)out;
    assert_int_equal(source_lines_new(&defs, NULL, 0, NULL, tell, &command, &lines), 0);
    source_lines_missing(lines, NULL, NULL); /* nothing was asked for, nothing is missing */
    for (uint32_t number = 0; number < 6; number++)
        (void)source_line_of(lines, number, 5, &line);
    source_lines_missing(lines, NULL, NULL);
    source_lines_free(lines);
    return 0;
}

TEST(modules_without_symbols_are_named_in_one_line)
{
    static const struct cli_command missing = {.name = "asking", .run = say_what_is_missing};
    struct ran ran = RUN(&missing, "asking");

    assert_string_equal(ran.err,
                        "shadowtrace asking: IL offsets instead of lines: b (its file is gone); "
                        "--symbols DIR looks elsewhere too\n");
    free(ran.out);
}

TEST(documents_are_found_by_the_end_of_their_path)
{
    static const struct cli_command command = {.name = "asking"};
    struct source_line at = {.file = NULL};
    struct source_lines *lines;
    const char *base;
    char *text = NULL;
    size_t size = 0;

    assert_int_equal(source_lines_new(&defs, NULL, 0, NULL, tell, &command, &lines), 0);
    assert_true(source_lines_document(lines, EMBEDDED_FILE, &at));
    base = strrchr(at.file, '/');
    assert_non_null(base);
    assert_string_equal(base + 1, EMBEDDED_FILE);
    assert_int_equal(source_lines_text(lines, &at, "/nowhere/at/all", &text, &size), -ENOENT);
    assert_int_equal(source_lines_text(lines, &at, "Makefile", &text, &size), -ESTALE);
    assert_null(text);
    assert_false(source_lines_document(lines, EMBEDDED_FILE, &at));
    at = (struct source_line){.file = NULL};
    assert_false(source_lines_document(lines, "atei \303\274.cs", &at)); /* no part of a name */
    at = (struct source_line){.file = NULL};
    assert_false(source_lines_document(lines, "", &at));
    source_lines_free(lines);
}

/* handmade.pdb of the corpus, in Base64. */
#define RECORDED_PDB \
    "QlNKQgEAAQAAAAAADAAAAFBEQiB2MS4wAAAAAAAABABcAAAAKAAAACNQZGIAAAAAhAAAAJQA" \
    "AAAjfgAAGAEAADAAAAAjR1VJRAAAAEgBAACtAAAAI0Jsb2IAAAABAgMEBQYHCAkKCwwNDg8Q" \
    "ERITFAAAAABBAAAAAAAAAAEAAAAGAAAAAAAAAAIAAAEAAAAAAAD/AAAAAAAAAAAAAgAAAAYA" \
    "AAABAAAAAQAAAAEAAAABAAAAAQAAAAMAAAAKAAMAZQAAABsAAAAAAAAAAQAgAAAAAAAAAC8A" \
    "AQBBAAEASQABAF8AAQABAAEAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABQACACcAAQCqADYA" \
    "AgCGAFYAAgCXAFYFEcyRoDhNn+wlq5o1GmobV4oOJmluRrStirBGEfX+D9ApiLgRE0KHi3cO" \
    "hZesFgADc3JjBEEuY3MELwABBQJDOgNzcmMEQi5jcwRcDxIWDgAAAA8KBQQAAAUEAn15EQAC" \
    "AAAIgGQBAAEDAIErv50ABwEAAAACAAAVAAAAAAcAAcABEXABgSUAAd/93ScABQAAAA8KICQj" \
    "SmUS47uTh5Z4D7QhtrYx6QuB+vE2QcavZHOYbu1+EAAAAABjbGFzcyBBCnsKfQoSDAAAAEvO" \
    "SSwuVnDkquaq5QIAAnt9"

TEST(lines_come_from_the_log_if_the_build_is_gone)
{
    struct source_lines *s;
    struct source_line line;

    define("{\"kind\":\"module\",\"id\":9,\"name\":\"gone\",\"path\":\"/nowhere/gone.dll\"}");
    define("{\"kind\":\"method\",\"id\":9,\"name\":\"G()\",\"module\":9,\"token\":100663297}");
    assert_int_equal(source_lines_new(&defs, NULL, 0, NULL, NULL, NULL, &s), 0);
    assert_false(source_lines_of_module(s, 5));
    source_lines_free(s);
    define("{\"kind\":\"symbols\",\"module\":9,\"pdb\":\"" RECORDED_PDB "\"}");
    assert_int_equal(source_lines_new(&defs, NULL, 0, NULL, NULL, NULL, &s), 0);
    assert_true(source_lines_of_module(s, 5));
    assert_true(source_line_of(s, 6, 0, &line));
    assert_true(line.line > 0);
    source_lines_free(s);
}

TEST(recorded_symbols_that_are_damaged_are_as_none)
{
    struct source_lines *s;

    define("{\"kind\":\"module\",\"id\":9,\"name\":\"gone\",\"path\":\"/nowhere/gone.dll\"}");
    define("{\"kind\":\"symbols\",\"module\":9,\"packed\":\"AAAA\",\"size\":900}");
    assert_int_equal(source_lines_new(&defs, NULL, 0, NULL, NULL, NULL, &s), 0);
    assert_false(source_lines_of_module(s, 5));
    source_lines_free(s);
}
