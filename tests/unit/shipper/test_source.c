/* What of a log that grows is to be told, what is forgotten once it is acknowledged, and which files are logs. */
#include "shipper/logs.h"
#include "support/test.h"

#include "base/atomics.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER(clock, part) \
    "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":7,\"executable\":\"/" \
    "a\",\"runtime\":\"10.0.0\"," \
    "\"options\":{},\"clock\":" clock ",\"part\":" part ",\"started\":\"2026-11-24T10:00:30Z\"}\n"
#define NAMES \
    "{\"kind\":\"thread\",\"id\":1,\"os\":7}\n{\"kind\":\"class\",\"id\":1,\"name\":\"C\"}\n" \
    "{\"kind\":\"method\",\"id\":1,\"name\":\"M()\"}\n{\"kind\":\"node\",\"id\":1,\"parent\":0," \
    "\"method\":1}\n"
#define END \
    "{\"kind\":\"end\",\"t\":900000000000,\"seen\":1,\"written\":1,\"lost\":0,\"lost_by\":{}," \
    "\"bytes\":24}\n"

static char folder[] = "/tmp/test-source-XXXXXX", path[100];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/a.ndjson", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

TEST_GROUP(make_folder, remove_folder);

static void append(const char *to, const char *text)
{
    FILE *file = fopen(to, "a");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* An allocation of 24 bytes, `seconds` after the start. */
static void allocate(unsigned seconds)
{
    char line[200];

    snprintf(line, sizeof(line),
             "{\"kind\":\"alloc\",\"t\":%u000000000,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":"
             "1,\"il\":3}\n",
             seconds);
    append(path, line);
}

static struct source *followed(void)
{
    static const struct log_recording recording = {1, 7, 5, 1};
    struct source *s;

    append(path, HEADER("5", "1") NAMES);
    assert_int_equal(source_new(path, &recording, &s), 0);
    return s;
}

static void read_all(struct source *s)
{
    char why[SOURCE_WHY];
    int more;

    while ((more = source_step(s, 1 << 20, 0, why)) > 0)
        ;
    assert_int_equal(more, 0);
}

static void acknowledge(struct source *s)
{
    read_all(s);
    assert_int_equal(source_changed(s), 1);
    assert_int_equal(source_acknowledge(s), 0);
    assert_int_equal(source_changed(s), 0);
}

/* ---- messages ---- */

TEST(what_is_acknowledged_is_not_told_again)
{
    struct source *s = followed();

    allocate(1);
    acknowledge(s);
    allocate(2);
    acknowledge(s);
    source_free(s);
    unlink(path);
}

TEST(minutes_that_have_changed_are_told_with_all_that_was_in_them)
{
    struct source *s = followed();

    allocate(1);  /* 10:00, the clock's minute */
    allocate(31); /* 10:01 */
    acknowledge(s);
    allocate(32);
    allocate(95); /* 10:02 */
    read_all(s);
    assert_int_equal(source_changed(s), 1);
    assert_int_equal(s->sent.count, 3);
    source_select(s);
    assert_int_equal(s->cells.count, 2);
    assert_int_equal(s->cells.cells[0].slice, 1);
    assert_float_equal(s->cells.cells[0].bytes, 48, 0);
    assert_int_equal(s->cells.cells[1].slice, 2);
    source_free(s);
    unlink(path);
}

TEST(the_end_of_a_recording_is_told_though_nothing_was_allocated_since)
{
    struct source *s = followed();

    allocate(1);
    acknowledge(s);
    append(path, END);
    acknowledge(s);
    assert_null(s->follow);
    source_free(s);
    unlink(path);
}

TEST(a_recording_without_allocations_is_told_once)
{
    struct source *s = followed();

    acknowledge(s);
    source_free(s);
    unlink(path);
}

TEST(minutes_that_are_acknowledged_are_forgotten_and_sums_stay)
{
    struct source *s = followed();

    for (unsigned minute = 0; minute < 20; minute++)
        allocate(60 * minute + 1);
    acknowledge(s);
    assert_int_equal(s->cells.count, SOURCE_KEEPS + 1);
    allocate(60 * 19);
    allocate(60 * 17);
    acknowledge(s);
    assert_int_equal(s->cells.count, SOURCE_KEEPS + 1);
    assert_float_equal(s->cells.heaps[SST_HEAP_NORMAL].bytes, 22 * 24, 0);
    source_free(s);
    unlink(path);
}

/* ---- a file that becomes something else ---- */

TEST(a_log_that_was_emptied_is_told_on_and_that_something_is_gone)
{
    struct source *s = followed();
    char why[SOURCE_WHY];

    allocate(1);
    acknowledge(s);
    append(path, "{\"kind\":\"alloc\"");
    assert_int_equal(source_step(s, 1 << 20, 0, why), 0);
    assert_string_equal(why, "");
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(source_step(s, 1 << 20, 0, why), 0);
    assert_non_null(strstr(why, "was truncated or overwritten"));
    assert_int_equal(source_changed(s), 1);
    assert_int_equal(s->sent.gone, 15);
    assert_int_equal(source_acknowledge(s), 0);
    append(path, HEADER("5", "2") NAMES);
    allocate(2);
    read_all(s);
    assert_int_equal(source_changed(s), 1);
    assert_float_equal(s->sent.minutes[0].allocs, 2, 0);
    source_free(s);
    unlink(path);
}

static void is_over_with_one(struct source *s)
{
    read_all(s);
    assert_null(s->follow);
    assert_int_equal(s->cells.log.recording.clock, 5);
    assert_float_equal(s->cells.heaps[SST_HEAP_NORMAL].allocs, 1, 0);
    source_free(s);
    unlink(path);
}

TEST(no_row_is_of_another_recording_in_the_same_file)
{
    struct source *s = followed();

    allocate(1);
    acknowledge(s);
    assert_int_equal(truncate(path, 0), 0);
    append(path, HEADER("6", "1") NAMES);
    for (unsigned i = 0; i < 10; i++)
        allocate(2);
    is_over_with_one(s);
}

TEST(no_row_is_of_another_recording_behind_the_first)
{
    struct source *s = followed();

    allocate(1);
    append(path, HEADER("6", "1") NAMES);
    allocate(2);
    is_over_with_one(s);
}

/* ---- which files ---- */

static int no_logs; /* that were reported */

static int count_found(void *context, const char *found, const struct log_recording *recording)
{
    (void)found;
    if (!recording) {
        no_logs++;
        return 0;
    }
    assert_int_equal(recording->pid, 7);
    ++*(int *)context;
    return 0;
}

static int look(struct logs *f)
{
    char *words[] = {folder, path};
    int count = 0;

    assert_int_equal(logs_look(f, words, COUNT_OF(words), count_found, &count), 0);
    return count;
}

TEST(a_recording_is_found_once_whatever_its_file_is_called)
{
    struct logs f = {.files = NULL};
    char older[110];

    snprintf(older, sizeof(older), "%s.1", path);
    append(path, "{\"kind\":\"head");
    assert_int_equal(look(&f), 0); /* no header yet */
    assert_int_equal(truncate(path, 0), 0);
    append(path, HEADER("5", "1"));
    assert_int_equal(look(&f), 1);
    assert_int_equal(look(&f), 0);
    assert_int_equal(rename(path, older), 0);
    append(path, HEADER("5", "2")); /* its next part */
    assert_int_equal(look(&f), 0);
    unlink(path);
    unlink(older);
    assert_int_equal(look(&f), 0);
    assert_int_equal(look(&f), 0);
    assert_int_equal(f.count, 0);
    append(path, HEADER("6", "1")); /* another recording in its place */
    assert_int_equal(look(&f), 1);
    unlink(path);
    logs_fini(&f);
}

TEST(another_recording_in_the_same_file_is_found)
{
    struct logs f = {.files = NULL};

    append(path, HEADER("5", "1") NAMES);
    assert_int_equal(look(&f), 1);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(look(&f), 0);
    append(path, HEADER("6", "1"));
    assert_int_equal(look(&f), 1);
    assert_int_equal(look(&f), 0);
    assert_int_equal(truncate(path, 0), 0);
    append(path, HEADER("7", "1") NAMES NAMES); /* longer than before: only its reader knows */
    assert_int_equal(look(&f), 0);
    logs_doubt(&f, 7, 6);
    assert_int_equal(look(&f), 1);
    assert_int_equal(look(&f), 0);
    logs_doubt(&f, 7, 7); /* the same one: it is not sent again */
    assert_int_equal(look(&f), 0);
    unlink(path);
    logs_fini(&f);
}

TEST(a_file_without_a_header_is_told_of_once)
{
    struct logs f = {.files = NULL};

    no_logs = 0;
    append(path, "{\"kind\":\"header\",\"forma"); /* it may become one */
    assert_int_equal(look(&f), 0);
    assert_int_equal(no_logs, 0);
    append(path, "?\n");
    append(path, NAMES);
    for (int again = 0; again < 3; again++) {
        assert_int_equal(look(&f), 0);
        assert_int_equal(no_logs, 1);
    }
    unlink(path);
    logs_fini(&f);
}

TEST(what_is_no_log_is_left_alone)
{
    struct logs f = {.files = NULL};
    char other[120];

    snprintf(other, sizeof(other), "%s/.hidden.ndjson", folder);
    append(other, HEADER("5", "1"));
    append(path, "nonsense\n");
    assert_int_equal(look(&f), 0);
    unlink(other);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(look(&f), 0);
    rmdir(path);
    logs_fini(&f);
}
