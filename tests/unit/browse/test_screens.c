/*
 * Whole screens at several sizes, after keys: tests/fixtures/browse/shop.COLUMNSxROWS.txt has them.
 * SHADOWTRACE_UPDATE=1 writes them anew.
 */
#include "unit/cli/command_support.h"

#include "support/test.h"
#include "unit/browse/browse_screen.h"

static const struct {
    int columns, rows;
} sizes[] = {{120, 40}, {80, 24}, {40, 12}, {20, 5}};

/* What is typed, one screen after each. */
static const char *const steps[] = {
    "",  "2", "H", "c",        "\033*",         "F", "3", "\r", "4", "t", "5", "6", "7", "8", "9",
    "0", "s", "1", "2/fast\r", "fmethod=Add\r", "?"};

/* Of a log's estimates: overview, tree, types, lines; bytes with their range where there is room. */
static const char *const estimated[] = {"", "2", "H", "3", "5"};

static void expect_screens(const char *name, const char *log, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char path[200];
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        assert_non_null(out);
        open_logs(log, NULL, NULL);
        screen_of(sizes[i].columns, sizes[i].rows);
        for (size_t k = 0; k < count; k++) {
            press(keys[k]);
            fprintf(out, "---- %s\n%s",
                    *keys[k] == '\033' ? keys[k] + 1
                    : *keys[k] == '\r' ? "enter"
                                       : keys[k],
                    screen_text());
        }
        fclose(out);
        close_logs(NULL);
        for (char *at = text; *at; at++)
            *at = *at == '\r' ? '~' : *at;
        snprintf(path, sizeof(path), BROWSE_FIXTURES "%s.%dx%d.txt", name, sizes[i].columns,
                 sizes[i].rows);
        expect_file(text, path);
        free(text);
    }
}

TEST(screens_of_all_sizes)
{
    expect_screens("shop", SHOP, steps, COUNT_OF(steps));
}

TEST(estimates_have_their_ranges)
{
    expect_screens("sampled", "tests/fixtures/logs/sampled.ndjson", estimated, COUNT_OF(estimated));
}

TEST(any_size_and_any_key_will_do)
{
    static const char keys[] =
        "1234567890L?cCvenNtsoFRwH*+- jkhlgG\r\033\t/x\rfmethod=Add\rf\x15\r";

    open_logs(SHOP, NULL, NULL);
    for (int rows = 1; rows < 12; rows++)
        for (int columns = 1; columns < 60; columns += 7) {
            screen_of(columns, rows);
            for (const char *key = keys; *key; key++)
                press_key((unsigned char)*key);
        }
    close_logs(NULL);
}
