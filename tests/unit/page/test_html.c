/* The page as the command writes it, taken apart again: its policy, its header, its columns. */
#include "unit/cli/command_support.h"
#include "unit/page/page_data.h"
#include "unit/readers/process_logs.h"
#include "page/page.h"
#include "base/memory.h"
#include "support/test.h"
#include "symbols/sha256.h"

#include <jansson.h>

#define HTML(...) RUN(&cmd_html, "html", "--no-lines", __VA_ARGS__, "-o", "-")

/* The numbers of a column. Returns: how many; 0: the column is not there. */
static size_t column(const struct data *d, const char *name, uint64_t *out, size_t room)
{
    size_t at = d->columns, i, count;
    json_t *one;

    json_array_foreach(json_object_get(d->head, "columns"), i, one)
    {
        const unsigned char *byte = d->bytes + at;

        count = (size_t)json_integer_value(json_array_get(one, 2));
        at += (size_t)json_integer_value(json_array_get(one, 3));
        if (strcmp(json_string_value(json_array_get(one, 0)), name) != 0)
            continue;
        assert_true(count <= room);
        for (size_t k = 0; k < count; k++) {
            out[k] = 0;
            for (unsigned shift = 0;; shift += 7) {
                out[k] |= (uint64_t)(*byte & 127) << shift;
                if (*byte++ < 128)
                    break;
            }
        }
        assert_ptr_equal(byte, d->bytes + at);
        return count;
    }
    return 0;
}

static int64_t with_sign(uint64_t value)
{
    return value & 1 ? -(int64_t)((value + 1) / 2) : (int64_t)(value / 2);
}

/* Bytes of all cells, from the differences that are written. */
static uint64_t total(const struct data *d, size_t *cells)
{
    uint64_t place[256], kind[256], count[256], allocs[256], bytes[256];
    uint64_t each[256] = {0}, sum = 0;
    size_t nodes = column(d, "place", place, 256), at = 0;

    column(d, "place_kind", kind, 256);
    assert_int_equal(column(d, "cells", count, 256), nodes);
    *cells = column(d, "allocs", allocs, 256);
    assert_int_equal(column(d, "bytes", bytes, 256), *cells);
    for (size_t i = 0; i < nodes; i++) {
        bool type = kind[place[i]] == 3;

        for (int64_t n = type ? with_sign(count[i]) + 1 : (int64_t)count[i]; n > 0; n--, at++) {
            uint64_t objects = allocs[at] + 1;
            uint64_t of = (uint64_t)with_sign(bytes[at]) + objects * each[place[i]];

            each[place[i]] = of / objects;
            sum += of;
        }
    }
    assert_int_equal(at, *cells);
    return sum;
}

TEST(of_several_processes_each_is_named_below_the_one_that_started_it)
{
    static const char *const names[] = {"Test", "Host", "Build", "Old", "Alone"};
    char *folder = process_logs_make();
    struct ran ran = HTML(folder);
    json_t *processes, *through;
    static struct data d;

    assert_int_equal(ran.status, CLI_OK);
    unpack(ran.out, &d);
    processes = json_object_get(json_array_get(json_object_get(d.head, "sides"), 0), "processes");
    assert_int_equal(json_array_size(processes), 5);
    for (size_t i = 0; i < 5; i++) {
        const json_t *one = json_array_get(processes, i);

        assert_string_equal(json_string_value(json_object_get(one, "name")), names[i]);
        assert_int_equal(json_integer_value(json_object_get(one, "depth")), i < 3 ? i : 0);
        assert_non_null(json_object_get(one, "command"));
    }
    through = json_object_get(json_array_get(processes, 1), "through");
    assert_string_equal(json_string_value(json_array_get(through, 0)), "s\033h");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(processes, 1), "pid")), 12);
    assert_int_equal(json_array_size(json_object_get(d.head, "threads")), 4); /* one per process */
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(d.head, "threads"), 0), "name")),
                        "Host (pid 12), thread 1");
    json_decref(d.head);
    free(ran.out);
    process_logs_remove(folder);
    ran = HTML(FIXTURES "small.ndjson");
    unpack(ran.out, &d);
    processes = json_object_get(json_array_get(json_object_get(d.head, "sides"), 0), "processes");
    assert_null(processes);
    json_decref(d.head);
    free(ran.out);
}

TEST(columns_hold_what_the_log_holds)
{
    struct ran ran = HTML(FIXTURES "small.ndjson");
    static struct data d;
    size_t cells;

    assert_int_equal(ran.status, CLI_OK);
    unpack(ran.out, &d);
    assert_int_equal(total(&d, &cells), 221360); /* as the log's end record has it */
    assert_int_equal(cells, 5);                  /* three strings of one site and slice are one */
    assert_int_equal(json_array_size(json_object_get(d.head, "sides")), 1);
    assert_true(json_is_true(
        json_object_get(json_array_get(json_object_get(d.head, "sides"), 0), "complete")));
    json_decref(d.head);
    free(ran.out);
}

TEST(the_same_log_gives_the_same_page)
{
    struct ran one = HTML(FIXTURES "small.ndjson"), other = HTML(FIXTURES "small.ndjson");

    assert_string_equal(one.out, other.out);
    free(one.out);
    free(other.out);
}

TEST(a_log_that_is_named_twice_is_read_once)
{
    struct ran once = HTML(FIXTURES "alive.ndjson"),
               twice = HTML(FIXTURES "alive.ndjson", FIXTURES "alive.ndjson");

    assert_string_equal(once.out, twice.out); /* its marks and its name, too */
    free(once.out);
    free(twice.out);
}

TEST(a_difference_has_a_side_for_each_cell)
{
    struct ran ran = HTML("--diff", FIXTURES "small.ndjson", FIXTURES "newer.ndjson");
    static struct data d;
    uint64_t side[256];
    size_t count, newer = 0;

    unpack(ran.out, &d);
    count = column(&d, "side", side, 256);
    for (size_t i = 0; i < count; i++)
        newer += side[i];
    assert_true(newer > 0 && newer < count);
    assert_int_equal(json_array_size(json_object_get(d.head, "sides")), 2);
    json_decref(d.head);
    free(ran.out);
}

/* As base64 has it, of a text's SHA-256. */
static void hash_of(const char *text, char to[64])
{
    unsigned char digest[SYMBOLS_SHA256_SIZE], back[48];
    struct symbols_sha256 hash;

    symbols_sha256_init(&hash);
    symbols_sha256_add(&hash, text, strlen(text));
    symbols_sha256_fini(&hash, digest);
    assert_int_equal(of_base64(to, back), SYMBOLS_SHA256_SIZE);
    assert_memory_equal(back, digest, SYMBOLS_SHA256_SIZE);
}

TEST(its_policy_lets_only_its_own_script_and_style_run)
{
    struct ran ran = HTML(FIXTURES "small.ndjson");
    char *policy = between(ran.out, "Content-Security-Policy\" content=\"", "\">");
    char *script = between(ran.out, "<script>", "</script>");
    char *style = between(ran.out, "<style>", "</style>");
    char *script_hash = between(policy, "script-src 'sha256-", "'");
    char *style_hash = between(policy, "style-src 'sha256-", "'");

    assert_ptr_equal(strstr(policy, "default-src 'none'; "), policy);
    assert_null(strstr(policy, "unsafe"));
    assert_null(strstr(script, "<!--")); /* begins what HTML would read otherwise */
    hash_of(script, script_hash);
    hash_of(style, style_hash);
    free(policy);
    free(script);
    free(style);
    free(script_hash);
    free(style_hash);
    free(ran.out);
}

TEST(titles_are_text)
{
    struct ran ran = HTML("--title", "</title><script>1</script>&\"'", FIXTURES "small.ndjson");

    assert_non_null(strstr(
        ran.out, "<title>&#60;/title&#62;&#60;script&#62;1&#60;/script&#62;&#38;&#34;&#39;"));
    free(ran.out);
}

static const char *title_of(const struct data *d)
{
    return json_string_value(json_object_get(d->head, "title"));
}

TEST(a_page_is_named_after_the_program)
{
    struct ran ran = HTML(FIXTURES "small.ndjson");
    static struct data d;

    unpack(ran.out, &d);
    assert_string_equal(title_of(&d), "shop.dll"); /* of "dotnet shop.dll --fast" */
    json_decref(d.head);
    free(ran.out);
}

TEST(what_was_asked_for_stands_in_the_page)
{
    struct ran ran = HTML("--type", "*Byte*", "--thread", "1", FIXTURES "small.ndjson");
    static struct data d;
    size_t cells;
    char *filters;

    unpack(ran.out, &d);
    filters = json_dumps(json_object_get(d.head, "filters"), JSON_COMPACT);
    assert_string_equal(filters, "[\"--type *Byte*\",\"--thread 1\"]");
    assert_int_equal(total(&d, &cells), 131096 + 90024);
    free(filters);
    json_decref(d.head);
    free(ran.out);
}

TEST(wrong_arguments_are_one_line)
{
    expect_complaint(RUN(&cmd_html, "html", FIXTURES "small.ndjson"), CLI_USAGE, "-o FILE");
    expect_complaint(HTML("--diff", FIXTURES "small.ndjson"), CLI_USAGE, "two logs");
    expect_complaint(HTML("--min-share=101", FIXTURES "small.ndjson"), CLI_USAGE, "percentage");
    expect_complaint(HTML("--min-share=1x", FIXTURES "small.ndjson"), CLI_USAGE, "percentage");
    expect_complaint(HTML("--type=None", FIXTURES "small.ndjson"), CLI_USAGE, "None");
    expect_complaint(RUN(&cmd_html, "html", "-o", "README.md", FIXTURES "small.ndjson"), CLI_USAGE,
                     "README.md exists");
    expect_complaint(RUN(&cmd_html, "html", "-o", "/nowhere/a.html", FIXTURES "small.ndjson"),
                     CLI_IO, "/nowhere/a.html");
}

/* Of the cells of one side. */
static uint64_t objects_of(const struct data *d, uint64_t wanted)
{
    uint64_t side[256], allocs[256], sum = 0;
    size_t count = column(d, "side", side, 256);

    assert_int_equal(column(d, "allocs", allocs, 256), count);
    for (size_t i = 0; i < count; i++)
        sum += side[i] == wanted ? allocs[i] + 1 : 0;
    return sum;
}

TEST(what_became_of_objects_stands_beside_what_was_allocated)
{
    enum { MADE, FATES = 2, SURVIVED, DIED, PEAK };
    struct ran ran = HTML(FIXTURES "alive.ndjson");
    static struct data d;
    json_t *words;

    assert_int_equal(ran.status, CLI_OK);
    unpack(ran.out, &d);
    assert_int_equal(objects_of(&d, MADE), 18);
    assert_int_equal(objects_of(&d, FATES), 18); /* each has one */
    assert_int_equal(objects_of(&d, SURVIVED), 9);
    assert_int_equal(objects_of(&d, DIED), 4);
    assert_int_equal(objects_of(&d, PEAK), 6);
    words = json_object_get(json_object_get(d.head, "live"), "words");
    assert_int_equal(json_object_size(words), 6);
    json_decref(d.head);
    free(ran.out);
    ran = HTML(FIXTURES "small.ndjson");
    unpack(ran.out, &d);
    assert_null(json_object_get(d.head, "live"));
    assert_int_equal(column(&d, "side", (uint64_t[1]){0}, 1), 0);
    json_decref(d.head);
    free(ran.out);
}

/* alive.ndjson with what its last collection says of what grows: site, collections, objects. */
static void write_growing(const char *path, const char *grows)
{
    static const char total[] = "\"gc\":4,\"depth\":2,";
    FILE *from = fopen(FIXTURES "alive.ndjson", "r"), *to = fopen(path, "w");
    char line[4096], *at;

    assert_non_null(from);
    assert_non_null(to);
    while (fgets(line, sizeof(line), from)) {
        at = strstr(line, total);
        if (at)
            fprintf(to, "%.*s\"grows\":%s,%s", (int)(at - line), line, grows, at);
        else
            fputs(line, to);
    }
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

/* The type that a node is of, and the method above it. */
static void assert_made_in(const struct data *d, const json_t *node, const char *type,
                           const char *method)
{
    const json_t *names = json_object_get(d->head, "names");
    uint64_t up[256], place[256], name[256];
    size_t at = (size_t)json_integer_value(node), nodes = column(d, "up", up, 256);
    int64_t depth[256] = {0};
    size_t over = at;

    assert_int_equal(column(d, "place", place, 256), nodes);
    assert_true(column(d, "place_name", name, 256) > 0 && at > 1 && at < nodes);
    assert_string_equal(json_string_value(json_array_get(names, (size_t)name[place[at]])), type);
    for (size_t i = 1; i <= at; i++)
        depth[i] = depth[i - 1] + 1 - (int64_t)up[i];
    while (depth[over] >= depth[at])
        over--;
    assert_string_equal(json_string_value(json_array_get(names, (size_t)name[place[over]])),
                        method);
}

TEST(what_grows_stands_with_its_path)
{
    char path[] = "/tmp/shadowtrace-grows-XXXXXX";
    static struct data d;
    const json_t *grows;
    struct ran ran;

    close(mkstemp(path));
    write_growing(path, "[[3,6,8],[1,5,50]]");
    ran = HTML(path);
    unlink(path);
    assert_int_equal(ran.status, CLI_OK);
    unpack(ran.out, &d);
    free(ran.out);
    grows = json_object_get(json_object_get(d.head, "live"), "grows");
    assert_int_equal(json_array_size(grows), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *row = json_array_get(grows, i);
        bool item = json_integer_value(json_array_get(row, 1)) == 5;

        assert_int_equal(json_integer_value(json_array_get(row, 1)), item ? 5 : 6);
        assert_int_equal(json_integer_value(json_array_get(row, 2)), item ? 50 : 8);
        assert_made_in(&d, json_array_get(row, 0), item ? "Item" : "byte[]",
                       item ? "Cache.Put" : "Web.Handle");
    }
    json_decref(d.head);
}

static void run_out_of_memory(const char *log)
{
    struct ran whole = HTML(log);
    int status = -1;

    for (long n = 0; status != CLI_OK; n++) {
        struct ran ran;

        memory_fail_after(n);
        ran = HTML(log);
        memory_fail_after(-1);
        status = ran.status;
        assert_true(n < 100000);
        assert_true(status == CLI_OK || status == CLI_IO);
        assert_true(status == CLI_OK || *ran.err);
        if (status == CLI_OK && strcmp(ran.out, whole.out) != 0)
            status = -1; /* names in full, where memory was short for short ones */
        free(ran.out);
    }
    free(whole.out);
}

TEST(a_page_is_whole_or_the_command_fails_wherever_memory_runs_out)
{
    run_out_of_memory(FIXTURES "small.ndjson");
    run_out_of_memory(FIXTURES "alive.ndjson");
}
