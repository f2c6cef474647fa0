/* The writer of JSON: commas, lines, what is handed on when, and what remains when memory runs out. */
#include "base/atomics.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define MANY 100000

static int memory_is_back(void **state)
{
    (void)state;
    memory_fail_after(-1);
    return 0;
}

/* One of everything. */
static void write_all(struct json_writer *w)
{
    jw_object(w, NULL);
    jw_text(w, "text", "a\"b\033");
    jw_unsigned(w, "most", UINT64_MAX);
    jw_counts(w, "counts", (const uint64_t[]){7, 0}, 2);
    jw_number(w, "less", "%d", -5);
    jw_number(w, "share", "%.3g", 0.25);
    jw_real(w, "third", 1.0 / 3);
    jw_real(w, "nan", (double)NAN);
    jw_bool(w, "yes", true);
    jw_bool(w, "no", false);
    jw_null(w, "none");
    jw_raw(w, "raw", "{\"a\":[1,2]}");
    jw_raw(w, "unsafe", "[\"\x7f\u00e9\u202e\xff\",\n1]");
    jw_object(w, "empty");
    jw_end(w);
    jw_array(w, "nothing");
    jw_end(w);
    jw_line(w, 1);
    jw_array(w, "rows");
    for (unsigned i = 0; i < 2; i++) {
        jw_line(w, 2);
        jw_object(w, NULL);
        jw_unsigned(w, "n", i);
        jw_end(w);
    }
    jw_text(w, NULL, "last");
    jw_end(w);
    jw_end(w);
}

static const char all[] =
    "{\"text\":\"a\\\"b\\u001b\",\"most\":18446744073709551615,\"counts\":[7,0],\"less\":-5,"
    "\"share\":0.25,"
    "\"third\":0.333333333333333,\"nan\":null,"
    "\"yes\":true,\"no\":false,\"none\":null,\"raw\":{\"a\":[1,2]},"
    "\"unsafe\":[\"\\u007f\u00e9\\u202e\\ufffd\",\n1],\"empty\":{},\"nothing\":[],\n"
    " \"rows\":[\n"
    "  {\"n\":0},\n"
    "  {\"n\":1},\"last\"]}";

TEST(each_value_is_written_with_its_commas)
{
    struct json_writer w;
    char *text;

    jw_init(&w, NULL);
    write_all(&w);
    text = jw_take(&w);
    assert_string_equal(text, all);
    memory_free(text);
}

TEST(a_file_gets_the_same_and_a_line_break)
{
    struct json_writer w;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    jw_init(&w, out);
    write_all(&w);
    assert_int_equal(jw_finish(&w), 0);
    fclose(out);
    assert_int_equal(size, sizeof(all)); /* the line break in the place of the NUL */
    assert_memory_equal(text, all, sizeof(all) - 1);
    assert_int_equal(text[size - 1], '\n');
    free(text);
}

TEST(little_is_held_however_much_is_written)
{
    struct json_writer w;
    size_t most = 0, size = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    json_t *json;

    jw_init(&w, out);
    jw_array(&w, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        jw_text(&w, NULL, "some text");
        most = w.text.capacity > most ? w.text.capacity : most;
    }
    jw_end(&w);
    assert_int_equal(jw_finish(&w), 0);
    fclose(out);
    assert_true(most <= 256 << 10);
    json = json_loadb(text, size, 0, NULL);
    assert_int_equal(json_array_size(json), MANY);
    json_decref(json);
    free(text);
}

TEST(memory_that_runs_out_anywhere_is_said_at_the_end, NULL, memory_is_back)
{
    int err;

    for (long n = 0;; n++) {
        struct json_writer w;
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        jw_init(&w, out);
        memory_fail_after(n);
        jw_array(&w, NULL);
        for (unsigned i = 0; i < MANY; i++)
            jw_text(&w, NULL, "some text");
        jw_end(&w);
        err = jw_finish(&w);
        memory_fail_after(-1);
        fclose(out);
        free(text);
        if (!err) {
            assert_true(n > 5);
            return;
        }
        assert_int_equal(err, -ENOMEM);
    }
}

TEST(nesting_has_an_end)
{
    struct json_writer w;
    char *text;

    for (unsigned levels = JW_LEVELS; levels <= JW_LEVELS + 1; levels++) {
        jw_init(&w, NULL);
        for (unsigned i = 0; i < levels; i++)
            if (i % 2)
                jw_object(&w, NULL);
            else
                jw_array(&w, i ? "a" : NULL);
        for (unsigned i = 0; i < levels; i++)
            jw_end(&w);
        text = jw_take(&w);
        if (levels == JW_LEVELS) {
            json_t *json = json_loads(text, 0, NULL);

            assert_non_null(json);
            json_decref(json);
        } else {
            assert_null(text);
        }
        memory_free(text);
    }
}
