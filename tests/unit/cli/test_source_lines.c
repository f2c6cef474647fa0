/*
 * Symbols themselves are src/symbols and its tests; here is when they are asked for, and what is
 * said of it.
 */
#include "unit/cli/command_support.h"

#include "cli/source_lines.h"

#include <stdio.h>

static struct report_problems problems;
static struct report_defs defs;

static uint32_t found; /* lines, of the method below and its first offsets */

static void define(const char *text)
{
    struct report_parser parser;
    struct report_line line = {.size = strlen(text)};
    struct report_record record;
    char padded[5000];

    memcpy(padded, text, line.size);
    memset(padded + line.size, '\n', REPORT_LINE_PADDING);
    line.text = padded;
    report_parser_init(&parser);
    assert_int_equal(report_parse(&parser, &line, &record), 0);
    assert_int_equal(report_defs_add(&defs, &record), 0);
    report_parser_fini(&parser);
}

static int setup(void **state)
{
    char path[4096], module[4200];

    (void)state;
    report_problems_init(&problems);
    assert_int_equal(report_defs_init(&defs, &problems), 0);
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
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    report_defs_fini(&defs);
    report_problems_fini(&problems);
    return 0;
}

static const char *recording_started; /* for the command below */

static int ask_everything(int argc, char **argv, FILE *out)
{
    static const struct cli_command asking = {.name = "asking"};
    json_t *header = json_pack("{s:s}", "started", recording_started);
    struct source_lines *lines;
    struct source_line line;

    (void)argc, (void)argv;
    assert_int_equal(source_lines_new(&asking, &defs, NULL, 0, header, &lines), 0);
    for (int twice = 0; twice < 2; twice++)
        for (uint32_t method = 0; method < 5; method++) {
            assert_false(source_line_of(lines, method, 5, &line));
            assert_false(source_line_of(lines, method, REPORT_NO_IL, &line));
            assert_false(source_line_of(NULL, method, 5, &line));
        }
    for (int32_t il = 0; il < 5; il++)
        if (source_line_of(lines, 5, il, &line)) {
            assert_true(line.line > 0 && strlen(line.file) > 2);
            found++;
        }
    source_lines_free(lines);
    json_decref(header);
    fputs("asked", out);
    return 0;
}

static const struct cli_command asking = {.name = "asking", .run = ask_everything};

static void modules_without_symbols_give_no_lines_and_no_noise(void **state)
{
    static const char *const started[] = {"2999-01-01T00:00:00Z", "2999-01-01T00:00:00.5Z",
                                          "2001-01-01T00:00:00+01:00", "no time", ""};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(started); i++) {
        struct ran ran;

        recording_started = started[i];
        ran = RUN(&asking, "asking");
        assert_string_equal(ran.err, "");
        free(ran.out);
    }
}

static void lines_come_from_the_symbols_of_the_module(void **state)
{
    struct ran ran;

    (void)state;
    recording_started = "2999-01-01T00:00:00Z";
    ran = RUN(&asking, "asking");
    assert_int_equal(found, 5);
    free(ran.out);
}

static void a_module_built_again_since_is_named_once(void **state)
{
    struct ran ran;

    (void)state;
    recording_started = "2001-01-01T00:00:00Z";
    ran = RUN(&asking, "asking");
    assert_int_equal(found, 0);
    assert_non_null(strstr(ran.err, "shadowtrace asking: /"));
    assert_non_null(
        strstr(ran.err, "embedded.dll was written after the recording began: no lines from it\n"));
    assert_ptr_equal(strchr(ran.err, '\n'), ran.err + strlen(ran.err) - 1);
    free(ran.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(modules_without_symbols_give_no_lines_and_no_noise, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(lines_come_from_the_symbols_of_the_module, setup, teardown),
        cmocka_unit_test_setup_teardown(a_module_built_again_since_is_named_once, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
