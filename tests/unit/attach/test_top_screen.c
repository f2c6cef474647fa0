/* top on a screen in memory: keys in, rows of text out. The replies are those of the fuzz corpus. */
#include "attach/top_screen.h"

#include "base/memory.h"
#include "terminal/key.h"
#include "support/test.h"
#include "unit/terminal/canvas_text.h"

#include <string.h>

#define REPLIES "tests/fuzz/corpus/client/"

static struct top top;
static struct top_screen screen;
static struct canvas canvas;

static int begin(void **state)
{
    (void)state;
    assert_int_equal(top_init(&top, NAMES_RAW), 0);
    top.sites = json_load_file(REPLIES "sites.json", 0, NULL);
    top.status = json_load_file(REPLIES "status.json", 0, NULL);
    top.dump = json_load_file(REPLIES "dump.json", 0, NULL);
    assert_true(top.sites && top.status && top.dump);
    assert_int_equal(live_stacks_take(top.stacks, top.dump), 0);
    top_screen_init(&screen, &top);
    return 0;
}

static int end(void **state)
{
    (void)state;
    canvas_fini(&canvas);
    top_fini(&top);
    return 0;
}

TEST_EACH(begin, end);

static const char *drawn(int rows, int columns)
{
    assert_int_equal(top_arrange(&top), 0);
    canvas_fini(&canvas);
    assert_int_equal(canvas_init(&canvas, rows, columns), 0);
    top_screen_draw(&screen, &canvas);
    return all_text(&canvas);
}

static void press(const char *keys)
{
    for (; *keys; keys++) {
        assert_int_equal(top_arrange(&top), 0);
        assert_true(top_screen_key(&screen, (unsigned char)*keys));
        drawn(24, 80);
    }
}

TEST(sites_have_their_rows_title_and_keys)
{
    assert_string_equal(
        drawn(6, 80),
        "a (pid 7, .NET 10.0.1) recording; 3 events; call sites by bytes/s\n"
        "  bytes/s  objects/s      bytes  type  method that allocates\n"
        "        0          0       1.3M  Shop.Item  Shop.P.Make(System.Int64)\n"
        "        0          0         24  System.String  (no managed frame)\n"
        "\n"
        "q  1 sites  2 types  3 threads  4 alive  s sort  / filter  p pause  enter more\n");
    assert_int_equal(canvas.cells[2 * 80 + 79].style & CANVAS_REVERSE, CANVAS_REVERSE);
}

TEST(a_small_screen_shows_what_it_can)
{
    assert_non_null(strstr(drawn(5, 20), "\nq  1 sites"));
    for (int rows = 1; rows < 6; rows++)
        for (int columns = 1; columns < 30; columns += 7)
            drawn(rows, columns);
}

TEST(enter_shows_the_stack_of_a_site_and_escape_goes_back)
{
    press("\r");
    assert_non_null(strstr(drawn(24, 80), "    at Shop.P.Main(System.String[])\n"));
    top_screen_key(&screen, KEY_DOWN); /* all of it is seen: it stays */
    assert_non_null(strstr(drawn(24, 80), "    at Shop.P.Make(System.Int64)\n"));
    press("\033");
    assert_null(strstr(drawn(24, 80), "    at "));
}

TEST(a_type_opens_to_its_sites)
{
    press("2j");
    assert_int_equal(screen.list.cursor, 1);
    press("\r");
    assert_non_null(strstr(drawn(24, 80), "of System.String"));
    assert_null(strstr(drawn(24, 80), "Shop.Item"));
    press("\033");
    assert_non_null(strstr(drawn(24, 80), "types by"));
}

TEST(what_is_typed_filters_at_once)
{
    press("/Str");
    assert_non_null(strstr(drawn(24, 80), "filter: Str\n"));
    assert_null(strstr(drawn(24, 80), "Shop.Item"));
    press("\r");
    assert_non_null(strstr(drawn(24, 80), "; with Str"));
    press("/\x7f\x7f\x7f\x7f\r");
    assert_non_null(strstr(drawn(24, 80), "Shop.Item"));
}

static const char alive[] =
    "{\"gc\":9,\"full\":8,\"objects\":%d,\"bytes\":%d,\"exact\":true,\"sites\":2,\"rows\":["
    "{\"allocs\":2,\"bytes\":8000,\"node\":1,\"type\":\"A.Large\",\"stack\":[\"A.Make()\",\"A.Main("
    ")\"]},"
    "{\"allocs\":%d,\"bytes\":%d,\"node\":2,\"type\":\"A.Small\",\"stack\":[\"A.Fill()\"]}]}";

static void is_alive(int small)
{
    char text[sizeof(alive) + 40];

    snprintf(text, sizeof(text), alive, small + 2, 8000 + 24 * small, small, 24 * small);
    json_decref(top.alive);
    top.alive = json_loads(text, 0, NULL);
    assert_non_null(top.alive);
    top.named = NULL;
}

TEST(what_is_alive_shows_what_has_grown_since_a_key)
{
    const char *all, *large, *small;

    is_alive(3);
    top_begin(&top);
    press("4");
    assert_non_null(strstr(drawn(24, 110), "alive; sites by growth; 5 objects, 8.1 KB; "
                                           "collection 9, full 8\n"));
    is_alive(10);
    all = drawn(24, 110);
    small = strstr(all, "      168         10        240  A.Small  A.Fill()\n");
    large = strstr(all, "        0          2       8.0k  A.Large  A.Make()\n");
    assert_true(small && large && small < large);
    press("b");
    assert_non_null(strstr(drawn(24, 110), "        0         10        240  A.Small"));
    press("5\r");
    assert_non_null(strstr(drawn(24, 110), "alive; sites of A.Large"));
    press("\r");
    assert_non_null(strstr(drawn(24, 110), "    at A.Main()\n"));
    press("1");
    assert_non_null(strstr(drawn(24, 80), "Shop.Item  Shop.P.Make(System.Int64)"));
}

TEST(what_is_alive_says_why_it_is_not_known)
{
    strcpy(top.refused, "process 7: live objects are not available: they need record --live");
    press("4");
    assert_non_null(strstr(drawn(24, 110), "they need record --live"));
}

TEST(growth_of_what_was_not_shown_counts_from_the_least_that_was)
{
    is_alive(3);
    json_object_set_new(top.alive, "sites", json_integer(3));
    top_begin(&top);
    json_object_set_new(json_array_get(json_object_get(top.alive, "rows"), 0), "node",
                        json_integer(7));
    press("4");
    assert_non_null(strstr(drawn(24, 110), "     7.9k          2       8.0k  A.Large"));
}

TEST(rows_that_look_the_same_are_one)
{
    json_t *reply, *rows;

    is_alive(3);
    reply = json_deep_copy(top.alive);
    rows = json_object_get(reply, "rows");
    json_array_append_new(rows, json_deep_copy(json_array_get(rows, 1)));
    top_take(&top.alive, reply);
    press("4");
    assert_int_equal(top.rows, 2);
    assert_non_null(strstr(drawn(24, 110), "          6        144  A.Small"));
}

TEST(threads_are_listed_with_the_deepest_first)
{
    const char *all, *deep, *other;

    press("3ss");
    all = drawn(24, 80);
    deep = strstr(all, "      9 ");
    other = strstr(all, "      3 ");
    assert_true(deep && other && deep < other);
}

TEST(pause_and_quit)
{
    press("p");
    assert_true(screen.paused);
    assert_non_null(strstr(drawn(24, 80), "PAUSED"));
    press(" ");
    assert_false(screen.paused);
    assert_false(top_screen_key(&screen, 'q'));
    press("/q");
    assert_false(top_screen_key(&screen, KEY_GONE));
}

TEST(what_grows_stands_above_the_rows_where_there_is_room)
{
    top.warning =
        memory_strdup("grows at each of 5 full collections: A.cs:7, +50 objects, A.Small\n"
                      "grows at each of 6 full collections: B.cs:1, +9 objects, B\n");
    assert_non_null(strstr(drawn(24, 80),
                           "call sites by bytes/s\n"
                           "grows at each of 5 full collections: A.cs:7, +50 objects, "
                           "A.Small\n"
                           "grows at each of 6 full collections: B.cs:1, +9 objects, B\n"
                           "  bytes/s"));
    assert_null(strstr(drawn(12, 80), "grows"));
    for (int rows = 1; rows < 20; rows++)
        drawn(rows, 80);
}
