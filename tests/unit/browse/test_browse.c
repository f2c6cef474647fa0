/* browse by its keys, on logs of which every number is known. */
#include "unit/browse/browse_screen.h"

#include "base/memory.h"
#include "terminal/key.h"
#include "support/test.h"

#include <string.h>

static int open_shop(void **state)
{
    (void)state;
    open_logs(SHOP, NULL, NULL);
    return 0;
}

TEST_EACH(open_shop, close_logs);

/* The numbers of shop.ndjson, counted by its lines. */
#define BYTES   12768
#define OBJECTS 99

static double sum(enum view_kind kind, bool total)
{
    struct ranking r;
    double bytes = 0;

    assert_int_equal(ranking_make(&loaded.data, kind, NULL, &r), 0);
    for (size_t i = 0; i < r.count; i++)
        bytes += total ? r.rows[i].total[0] : r.rows[i].self[0];
    ranking_fini(&r);
    return bytes;
}

TEST(the_totals_of_every_view_are_those_of_the_log)
{
    assert_true(data_total(&loaded.data, MODEL_BYTES) == BYTES);
    assert_true(data_total(&loaded.data, MODEL_ALLOCS) == OBJECTS);
    assert_true(sum(VIEW_TYPES, false) == BYTES);
    assert_true(sum(VIEW_METHODS, false) == BYTES);
    assert_true(sum(VIEW_MODULES, false) == BYTES);
    assert_true(sum(VIEW_THREADS, false) == BYTES);
    assert_true(sum(VIEW_SIZES, false) == BYTES);
    assert_true(sum(VIEW_TIME, false) == BYTES);
    assert_int_equal(data_namespaces(&loaded.data), 0);
    assert_true(sum(VIEW_NAMESPACES, false) == BYTES);
    expect_on_screen("12,768 bytes in 99 objects");
    press("oFR");
    assert_true(loaded.data.shown->total[MODEL_BYTES][0] ==
                loaded.data.plain->total[MODEL_BYTES][0]);
}

TEST(recursion_counts_once_in_totals)
{
    struct ranking r;
    bool found = false;

    assert_int_equal(ranking_make(&loaded.data, VIEW_METHODS, NULL, &r), 0);
    for (size_t i = 0; i < r.count; i++) {
        struct buffer b = BUFFER_INIT;

        if (strstr(ranking_name(&loaded.data, &r, &r.rows[i], &b), "Visit")) {
            assert_true(r.rows[i].total[0] == 12 * 64);
            found = true;
        }
        assert_true(r.rows[i].total[0] >= r.rows[i].self[0]);
        buffer_free(&b);
    }
    assert_true(found);
    ranking_fini(&r);
}

TEST(rows_open_and_close_by_all_keys)
{
    press("2j");
    assert_non_null(strstr(cursor_row(), "+*Program.Main"));
    press("\r");
    assert_non_null(strstr(cursor_row(), "-*Program.Main"));
    press(" ");
    assert_non_null(strstr(cursor_row(), "+*Program.Main"));
    press("l");
    assert_non_null(strstr(cursor_row(), "-*Program.Main"));
    press("l");
    assert_non_null(strstr(cursor_row(), "Catalog.Find"));
    press("h");
    assert_non_null(strstr(cursor_row(), "-*Program.Main"));
    press("h");
    assert_non_null(strstr(cursor_row(), "+*Program.Main"));
    press("+");
    assert_non_null(strstr(cursor_row(), "-*Program.Main"));
    press("-");
    press_key(KEY_RIGHT);
    press_key(KEY_DOWN);
    press_key(KEY_LEFT);
    assert_non_null(strstr(cursor_row(), "-*Program.Main"));
    press("h");
    press("h");
    assert_non_null(strstr(cursor_row(), "(all)"));
}

TEST(the_heaviest_path_opens_to_where_the_weight_spreads)
{
    press("2H");
    assert_non_null(strstr(cursor_row(), "new byte[]"));
    assert_non_null(strstr(cursor_row(), "32.3%"));
}

TEST(views_change_and_keep_their_place)
{
    press("2j\t");
    expect_on_screen("[3 types]");
    press_key(KEY_BACK_TAB);
    expect_on_screen("[2 tree]");
    assert_non_null(strstr(cursor_row(), "Program.Main"));
    press_key(KEY_BACK_TAB);
    press_key(KEY_BACK_TAB);
    expect_on_screen("[0 time]");
    press("L"); /* there is one log */
    expect_on_screen("[0 time]");
}

TEST(callers_lead_back_to_where_they_came_from)
{
    press("3");
    assert_non_null(strstr(cursor_row(), "byte[]"));
    press("c");
    expect_on_screen("who makes byte[]");
    expect_on_screen("Catalog.Find");
    press("jc"); /* the callers of the first caller */
    expect_on_screen("callers of ");
    press("\033");
    expect_on_screen("who makes byte[]");
    press("\033");
    expect_on_screen("[3 types]");
    press("\033");
    expect_on_screen("[3 types]");
}

TEST(callees_are_merged)
{
    press("4/Basket.Add\rC");
    expect_on_screen("what is called by Basket.Add");
    expect_on_screen("new Basket");
    expect_on_screen("string.Concat");
    press("\0333C");
    expect_on_screen("a type calls nothing");
}

TEST(search_opens_what_it_finds_and_goes_round)
{
    press("2/concat\r");
    assert_null(strstr(screen_text(), "Concat")); /* folded: it has no separate row */
    expect_on_screen("not found: concat");
    press("F/concat\r");
    assert_non_null(strstr(cursor_row(), "string.Concat"));
    press("/new\r"); /* not a part of any name */
    expect_on_screen("not found: new");
    press("/\xE6");
    press_key(0x6f22);
    press("\033");
    press("/fastalloc\r");
    assert_non_null(strstr(cursor_row(), "FastAllocateString"));
    press("n");
    assert_non_null(strstr(cursor_row(), "10"));
    press("n");
    assert_non_null(strstr(cursor_row(), "40"));
    press("N");
    assert_non_null(strstr(cursor_row(), "10"));
    press("/FASTALLOC\r");
    expect_on_screen("not found: FASTALLOC");
}

TEST(search_finds_every_hit_once_in_the_order_of_rows)
{
    size_t at = 0, rounds = 0, first = 0;

    for (int sorted = 0; sorted < 2; sorted++) {
        press("2F*/basket\r");
        at = first = browse.tabs[1]->list.cursor;
        for (rounds = 1; rounds < 100; rounds++) {
            press("n");
            if (browse.tabs[1]->list.cursor == first)
                break;
            assert_true(browse.tabs[1]->list.cursor > at);
            at = browse.tabs[1]->list.cursor;
        }
        assert_int_equal(rounds, 4);
        for (press("N"); rounds > 1; rounds--) {
            assert_int_equal(browse.tabs[1]->list.cursor, at);
            press("N");
            at = browse.tabs[1]->list.cursor < at ? browse.tabs[1]->list.cursor : at;
        }
        press("Fs");
    }
}

TEST(what_is_typed_filters_every_view)
{
    press("ftype=string\r");
    expect_on_screen("only type=string");
    expect_on_screen("3,688 bytes in 67 objects");
    assert_true(sum(VIEW_THREADS, false) == 3688);
    press("f");
    expect_on_screen("only: type=string");
    press("\x15\r");
    assert_true(data_total(&loaded.data, MODEL_BYTES) == BYTES);
    press("fthread=2\r");
    assert_true(data_total(&loaded.data, MODEL_BYTES) == 3 * 1024 + 5 * 88);
    press("f\x15to=50% from=0s\r");
    assert_in_range((long)data_total(&loaded.data, MODEL_ALLOCS), 40, 60);
    press("f\x15 Catalog\r"); /* a method */
    assert_true(data_total(&loaded.data, MODEL_BYTES) == 4120 + 10 * 24);
}

TEST(a_filter_that_cannot_be_says_so_and_changes_nothing)
{
    press("ftype=Strong\r");
    expect_on_screen("Strong");
    expect_on_screen("\"string\""); /* the nearest */
    assert_true(data_total(&loaded.data, MODEL_BYTES) == BYTES);
    press("fcolour=red\r");
    expect_on_screen("type, method, exclude, below, thread, from or to, not: colour=red");
    press("f\x15thread=x\r");
    expect_on_screen("a thread is a number");
    press("f\x15"
          "from=now\r");
    expect_on_screen("a time is like 10s");
    press("f\x15type=\"open\r");
    expect_on_screen("a quote is open");
    press("f\x15"
          "from=90% to=10%\r");
    expect_on_screen("nothing lies between");
    assert_true(data_total(&loaded.data, MODEL_BYTES) == BYTES);
    press("f\x15x\033");
    assert_true(data_total(&loaded.data, MODEL_BYTES) == BYTES);
}

TEST(only_own_code)
{
    press("o");
    expect_on_screen("own code");
    assert_true(data_total(&loaded.data, MODEL_BYTES) == BYTES - 512); /* the pool thread's own */
    press("o");
    assert_true(data_total(&loaded.data, MODEL_BYTES) == BYTES);
}

TEST(objects_can_be_what_counts)
{
    press("3");
    assert_non_null(strstr(cursor_row(), "byte[]"));
    press("s");
    assert_non_null(strstr(cursor_row(), "  string"));
    expect_on_screen("sorted by objects");
    press("2\r\r"); /* closed and opened */
    assert_non_null(strstr(screen_text(), "100.0%         99"));
    press("s3");
    assert_non_null(strstr(cursor_row(), "byte[]"));
}

TEST(totals_and_self_of_tables)
{
    press("4t");
    assert_non_null(strstr(cursor_row(), "68.5%"));
    assert_non_null(strstr(cursor_row(), "*Program.Main"));
    press("t");
    assert_non_null(strstr(cursor_row(), "Catalog.Find"));
}

TEST(a_module_opens_to_its_methods_and_a_thread_to_its_tree)
{
    press("6/Parts\r\r");
    expect_on_screen("methods of Parts");
    assert_non_null(strstr(cursor_row(), "Catalog.Find"));
    press("\0337");
    assert_non_null(strstr(cursor_row(), "main"));
    press("j\r");
    expect_on_screen("[2 tree]");
    expect_on_screen("only thread=2");
    assert_true(data_total(&loaded.data, MODEL_BYTES) == 3 * 1024 + 5 * 88);
}

TEST(a_namespace_opens_to_its_methods)
{
    press("8/System\r");
    assert_non_null(strstr(cursor_row(), "System"));
    press("\r");
    expect_on_screen("methods of System");
    expect_on_screen("FastAllocateString");
    assert_null(strstr(screen_text(), "Program.Main"));
}

TEST(sizes_stand_in_their_order_with_their_heap)
{
    struct ranking r;

    assert_int_equal(ranking_make(&loaded.data, VIEW_SIZES, NULL, &r), 0);
    for (size_t i = 1; i < r.count; i++)
        assert_true(r.rows[i - 1].target.number < r.rows[i].target.number);
    ranking_fini(&r);
    press("9");
    assert_non_null(strstr(cursor_row(), "16 to 31"));
    press("sG\r");
    expect_on_screen("[9 sizes]");
    assert_non_null(strstr(cursor_row(), "4,096 to 8,191"));
    screen_of(20, 5); /* too narrow for that */
    assert_non_null(strstr(cursor_row(), "4.1k-8.2k"));
}

TEST(time_goes_on_row_by_row_and_a_row_lets_through_only_its_slice)
{
    double bytes;
    size_t slices;

    press("0");
    slices = browse.tabs[9]->list.count;
    assert_int_equal(slices, model_slice_count(loaded.data.model));
    assert_non_null(strstr(cursor_row(), "0.000 s"));
    bytes = data_total(&loaded.data, MODEL_BYTES);
    press("\r");
    expect_on_screen("[2 tree]");
    expect_on_screen("only from=0ms to=");
    assert_true(data_total(&loaded.data, MODEL_BYTES) < bytes);
    assert_true(data_total(&loaded.data, MODEL_BYTES) == sum(VIEW_TIME, false));
    press("0");
    assert_int_equal(browse.tabs[9]->list.count, 1);
}

TEST(a_log_without_times_says_so)
{
    close_logs(NULL);
    open_logs("tests/fixtures/logs/sites.ndjson", NULL, NULL);
    press("0");
    expect_on_screen("record without --log sites");
    press("\r");
    expect_on_screen("[0 time]");
}

TEST(names_of_views_go_on_beside_the_one_shown)
{
    expect_on_screen("[1 overview]");
    expect_on_screen(">\n");
    press("8");
    expect_on_screen("[8 namespaces]");
    press("0");
    expect_on_screen("[0 time]");
    assert_true(screen_text()[0] == '<');
    screen_of(20, 5);
    expect_on_screen("[0 time]");
    screen_of(140, 24);
    expect_on_screen(" 1 overview ");
}

TEST(names_have_three_styles)
{
    press("4");
    expect_on_screen("string.FastAllocateString");
    press("w");
    expect_on_screen("System.String.FastAllocateString(System.IntPtr)");
    press("ww");
    expect_on_screen("string.FastAllocateString");
}

TEST(hostile_names_are_shown_and_do_nothing)
{
    press("2F*");
    expect_on_screen("?[31mEvil?");
    expect_on_screen("\xE6\xBC\xA2\xE5\xAD\x97");
    assert_null(strchr(screen_text(), '\033'));
    assert_null(strchr(screen_text(), '\007'));
}

TEST(help_opens_and_closes)
{
    press("?");
    expect_on_screen("shift-tab");
    assert_int_equal(press("q"), BROWSE_GOES_ON);
    assert_null(strstr(screen_text(), "shift-tab"));
    press_key(KEY_F1);
    expect_on_screen("shift-tab");
    press("\033");
    assert_int_equal(press("q"), BROWSE_ENDS);
    assert_int_equal(press_key(KEY_GONE), BROWSE_ENDS);
    assert_int_equal(press_key(KEY_RESIZED), BROWSE_GOES_ON);
}

TEST(a_line_that_is_not_known_has_no_source)
{
    press("5");
    expect_on_screen("No line is known");
    press("\r");
    assert_int_equal(press("4e"), BROWSE_GOES_ON);
    expect_on_screen("its source is not known");
    press("3v");
    expect_on_screen("nothing is under the cursor that has a source");
}

TEST(a_log_that_is_cut_says_so_on_every_screen)
{
    close_logs(NULL);
    open_logs(BROWSE_FIXTURES "cut.ndjson", NULL, NULL);
    expect_on_screen("it has no end");
    for (const char *key = "1234567890?"; *key; key++) {
        press((const char[]){*key, '\0'});
        expect_on_screen("INCOMPLETE");
    }
    screen_of(20, 5);
    expect_on_screen("INCOMPLETE");
    press("fthread=1\r");
    expect_on_screen("INCOMPLETE");
}

TEST(a_sampled_log_shows_estimates)
{
    close_logs(NULL);
    open_logs("tests/fixtures/logs/sampled.ndjson", NULL, NULL);
    expect_on_screen("~sampled");
    expect_on_screen("estimates, the log is sampled");
    press("3");
    assert_non_null(strchr(cursor_row(), '~'));
}

TEST(what_came_before_samples_counted_is_said)
{
    close_logs(NULL);
    open_logs("tests/fixtures/logs/late-sampled.ndjson", NULL, NULL);
    expect_on_screen("101,144,944 bytes before sampling began");
}

TEST(several_logs_are_added_up_and_listed)
{
    close_logs(NULL);
    open_logs(SHOP, "tests/fixtures/logs/small.ndjson", NULL);
    expect_on_screen("2 logs");
    press("L");
    expect_on_screen("[L logs]");
    expect_on_screen("shop.ndjson");
    expect_on_screen("small.ndjson");
    assert_true(sum(RANKING_LOGS, false) == data_total(&loaded.data, MODEL_BYTES));
    assert_true(data_total(&loaded.data, MODEL_BYTES) > BYTES);
}

TEST(source_is_shown_with_what_its_lines_allocate)
{
    close_logs(NULL);
    open_logs("tests/fixtures/logs/lines.ndjson", NULL, "tests/fuzz/corpus/symbols");
    assert_true(sum(VIEW_LINES, false) <= data_total(&loaded.data, MODEL_BYTES));
    press("5");
    assert_non_null(strstr(cursor_row(), ".cs:33"));
    press("\r");
    expect_on_screen("4.1 KB");
    assert_non_null(strstr(cursor_row(), " 33"));
    press("+");
    assert_null(strstr(cursor_row(), " 33 "));
    press("-");
    press("c");
    expect_on_screen("callers of Zweite Datei");
    press("\033");
    assert_int_equal(press("e"), BROWSE_EDIT);
    assert_int_equal(browse.edit.line, 33);
    assert_non_null(strstr(browse.edit.file, "Zweite Datei"));
    browse_source(&browse);
    press("q");
    assert_int_equal(press("q"), BROWSE_GOES_ON);
    expect_on_screen("[5 lines]");
}

TEST(a_method_whose_line_is_not_known_stands_among_lines_and_opens_its_callers)
{
    close_logs(NULL);
    open_logs("tests/fixtures/logs/own-lines.ndjson", NULL, "tests/fuzz/corpus/symbols");
    expect_on_screen("(no own frame)");
    press("5");
    assert_non_null(strstr(cursor_row(), "Basket.Add"));
    press("j\r");
    assert_non_null(strstr(cursor_row(), "  8"));
    press("\033k\r");
    expect_on_screen("callers of Basket.Add");
}

TEST(without_memory_what_there_is_stays)
{
    press("2");
    for (long n = 0; n < 60; n++) {
        memory_fail_after(n);
        browse_key(&browse, "oFRswcC*H?34567890"[n % 18]);
        memory_fail_after(-1);
        screen_text();
        browse_key(&browse, KEY_ESCAPE);
    }
    press("12");
    expect_on_screen("[2 tree]");
}
