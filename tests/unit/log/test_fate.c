/* Changes of the file by others during the recording are reported, and lost data is counted. */
#include "fixture.h"
#include "support/test.h"

static struct world *w;
static struct metadata_class *class;
static struct tree_node *node;

static int setup(void **state)
{
    (void)state;
    w = calloc(1, sizeof(*w));
    world_init(w);
    w->hub.slots = 65536;
    class = class_new(w, "C");
    node = node_new(w, NULL, method_new(w, "A()"), 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_fini(w);
    free(w);
    return 0;
}

static int start_clock(void **state)
{
    (void)state;
    clock_start();
    return 0;
}

TEST_EACH(setup, teardown);
TEST_GROUP(start_clock, NULL);

static void allocate_many(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        wait_for_room(w);
        allocate(w, class, node, 24);
    }
}

static size_t allocs_in_file(void)
{
    bool cut;
    json_t *lines = w->options.compress ? lines_unpack(w->path, &cut) : lines_read(w->path, &cut);
    size_t found = count_of(lines, "alloc");

    json_decref(lines);
    return found;
}

/* All that was recorded so far is in the file. */
static void settle(size_t allocs)
{
    uint64_t until = clock_ns() + PATIENCE_NS;

    while (allocs_in_file() < allocs && clock_ns() < until)
        usleep(5000);
    assert_int_equal(allocs_in_file(), allocs);
}

/* The writer has seen what became of its file. */
static void wait_until_begun_anew(void)
{
    uint64_t until = clock_ns() + PATIENCE_NS;
    struct log_counts counts = {0};

    while (counts.parts < 2 && clock_ns() < until) {
        usleep(5000);
        log_counts(w->log, &counts);
    }
    assert_int_equal(counts.parts, 2);
}

static json_t *read_path(const char *path)
{
    return w->options.compress ? lines_unpack(path, NULL) : lines_read(path, NULL);
}

static uint64_t said(const json_t *lines, const char *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(json_object_get(last(lines), object), key));
}

/* Of each kind: lines here and those gone are what the end says; and of allocations, those lost are all others. */
static void expect_all_told(const json_t *lines, uint64_t recorded)
{
    const json_t *end = last(lines), *records = json_object_get(end, "records"),
                 *gone = json_object_get(json_object_get(end, "rotated_out"), "records");
    const char *kind;
    json_t *count;

    assert_string_equal(kind_of(end), "end");
    assert_int_equal(number(end, "seen"), recorded);
    assert_int_equal(number(end, "written") + number(end, "lost"), recorded);
    json_object_foreach((json_t *)(uintptr_t)records, kind, count) assert_int_equal(
        json_integer_value(count),
        count_of(lines, kind) + (size_t)json_integer_value(json_object_get(gone, kind)));
    assert_int_equal(count_of(lines, "alloc") + said(lines, "rotated_out", "allocs"),
                     number(end, "written"));
}

TEST(a_log_that_is_moved_is_whole_and_says_where_it_is)
{
    char other[200];
    json_t *lines;

    snprintf(other, sizeof(other), "%s/elsewhere", w->folder);
    for (unsigned compress = 0; compress < 2; compress++) {
        w->options.compress = compress;
        start(w);
        allocate_many(1000);
        settle(1000);
        assert_int_equal(rename(w->path, other), 0);
        allocate_many(1000);
        stop(w);
        lines = read_path(other);
        expect_all_told(lines, 2000);
        assert_int_equal(count_of(lines, "alloc"), 2000);
        assert_string_equal(
            json_string_value(json_object_get(json_object_get(last(lines), "file"), "moved")),
            other);
        assert_null(json_object_get(last(lines), "rotated_out"));
        json_decref(lines);
        expect_valid(other);
        assert_int_equal(access(w->path, F_OK), -1);
        unlink(other);
        world_again(w);
    }
}

TEST(a_log_that_is_moved_and_replaced_leaves_the_other_file_alone)
{
    char other[200];
    json_t *lines;
    FILE *file;

    snprintf(other, sizeof(other), "%s/elsewhere", w->folder);
    w->options.max_log = 40000;
    start(w);
    allocate_many(100);
    settle(100);
    assert_int_equal(rename(w->path, other), 0);
    file = fopen(w->path, "we");
    fputs("somebody else's\n", file);
    fclose(file);
    allocate_many(5000);
    stop(w);
    lines = read_path(other);
    assert_int_equal(count_of(lines, "alloc"), 5100);
    assert_true(json_is_true(json_object_get(json_object_get(last(lines), "file"), "replaced")));
    json_decref(lines);
    file = fopen(w->path, "re");
    assert_int_equal(fgetc(file), 's');
    fclose(file);
}

/* The end of the line that these bytes end in, its newline not with it. */
static long end_of_line(long bytes)
{
    FILE *file = fopen(w->path, "re");
    int c;

    assert_int_equal(fseek(file, bytes, SEEK_SET), 0);
    while ((c = fgetc(file)) != '\n')
        assert_int_not_equal(c, EOF);
    bytes = ftell(file) - 1;
    fclose(file);
    return bytes;
}

static void add_newline(const char *path)
{
    FILE *file = fopen(path, "ae");

    fputc('\n', file);
    fclose(file);
}

/* A fixed number of bytes may end a record too: how long times are differs from run to run. */
enum cut { ANYWHERE, IN_A_RECORD, AFTER_A_RECORD };

static void cut_to(long bytes, enum cut where)
{
    uint64_t recorded = 3000;
    json_t *lines;

    start(w);
    allocate_many(1000);
    settle(1000);
    if (where != ANYWHERE)
        bytes = end_of_line(bytes) - (where == IN_A_RECORD);
    assert_int_equal(truncate(w->path, bytes), 0);
    allocate_many(1000);
    wait_until_begun_anew();
    allocate_many(1000);
    stop(w);
    lines = read_path(w->path);
    assert_string_equal(kind_of(json_array_get(lines, 0)), "header");
    assert_int_equal(number(json_array_get(lines, 0), "part"), 2);
    assert_true(said(lines, "file", "truncated") > 0);
    if (bytes && !w->options.compress) { /* the rest is in another file, and counts as present */
        char older[200];
        bool cut;

        snprintf(older, sizeof(older), "%s.1", w->path);
        if (where == AFTER_A_RECORD) /* lines_read() would leave it out; readers do not */
            add_newline(older);
        json_array_extend(lines, lines_read(older, &cut));
        assert_true(cut == (where == IN_A_RECORD));
        json_array_append(lines, nth(lines, "end", 0));
        json_array_remove(lines, json_array_size(lines) - 1);
        unlink(older);
        assert_int_equal(number(nth(lines, "end", 0), "written"),
                         count_of(lines, "alloc") +
                             (size_t)json_integer_value(json_object_get(
                                 json_object_get(nth(lines, "end", 0), "rotated_out"), "allocs")));
        assert_true(count_of(lines, "alloc") > 1000);
    } else {
        expect_all_told(lines, recorded);
        assert_int_equal(said(lines, "rotated_out", "allocs"), 1000);
    }
    json_decref(lines);
    expect_valid(w->path);
    world_again(w);
}

TEST(a_log_that_is_truncated_begins_anew_and_counts_what_was_cut)
{
    cut_to(0, ANYWHERE);
    w->options.compress = true;
    cut_to(0, ANYWHERE);
}

TEST(what_is_left_of_a_log_that_is_cut_in_the_middle_is_set_aside)
{
    cut_to(20000, IN_A_RECORD);
    cut_to(20000, AFTER_A_RECORD);
    w->options.compress = true;
    cut_to(100, ANYWHERE);
}

/* As when it is cut between the writer's look at the file and its write: lines that nothing defines are no part. */
TEST(lines_that_are_left_without_a_header_are_gone)
{
    char older[200], line[200];
    json_t *lines;
    FILE *file;

    start(w);
    allocate_many(1000);
    settle(1000);
    file = fopen(w->path, "re");
    while (fgets(line, sizeof(line), file))
        ;
    fclose(file);
    assert_int_equal(truncate(w->path, 0), 0);
    file = fopen(w->path, "ae");
    fputs(line, file);
    fclose(file);
    allocate_many(1000);
    wait_until_begun_anew();
    allocate_many(1000);
    stop(w);
    lines = read_path(w->path);
    assert_string_equal(kind_of(json_array_get(lines, 0)), "header");
    expect_all_told(lines, 3000);
    assert_int_equal(said(lines, "rotated_out", "allocs"), 1000);
    json_decref(lines);
    snprintf(older, sizeof(older), "%s.1", w->path);
    assert_int_equal(access(older, F_OK), -1);
    expect_valid(w->path);
}

/* What is left is in nobody's way: the parts after it keep to the limit. */
TEST(a_limited_log_that_is_cut_in_the_middle_stays_limited)
{
    char path[200];
    struct stat status;
    json_t *lines, *end;
    bool cut;

    w->options.max_log = 100000;
    start(w);
    allocate_many(200);
    settle(200);
    assert_int_equal(truncate(w->path, end_of_line(10000) - 1), 0); /* in a record */
    allocate_many(20000);
    stop(w);
    assert_int_equal(stat(w->path, &status), 0);
    assert_true(status.st_size <= 100000);
    lines = json_array();
    for (int i = 1; i <= 2; i++) { /* what is left, and the part before the last */
        snprintf(path, sizeof(path), "%s.%d", w->path, i);
        end = lines_read(path, &cut);
        json_array_extend(lines, end);
        json_decref(end);
        unlink(path);
    }
    end = read_path(w->path);
    json_array_extend(lines, end);
    json_decref(end);
    expect_all_told(lines, 20200);
    json_decref(lines);
}

TEST(a_log_that_is_removed_begins_anew_in_its_place)
{
    json_t *lines;

    for (unsigned compress = 0; compress < 2; compress++) {
        w->options.compress = compress;
        start(w);
        allocate_many(1000);
        settle(1000);
        assert_int_equal(unlink(w->path), 0);
        wait_until_begun_anew();
        allocate_many(1000);
        stop(w);
        lines = read_path(w->path);
        expect_all_told(lines, 2000);
        assert_int_equal(count_of(lines, "alloc"), 1000);
        assert_int_equal(said(lines, "rotated_out", "allocs"), 1000);
        assert_true(json_is_true(json_object_get(json_object_get(last(lines), "file"), "removed")));
        json_decref(lines);
        expect_valid(w->path);
        world_again(w);
    }
}

TEST(a_log_that_is_removed_and_replaced_counts_as_gone)
{
    FILE *file;

    start(w);
    allocate_many(1000);
    settle(1000);
    assert_int_equal(unlink(w->path), 0);
    file = fopen(w->path, "we");
    fclose(file);
    allocate_many(1000);
    stop(w);
    assert_int_equal(w->log->file.gone.allocs, 2000);
    assert_true(w->log->file.fate.removed && w->log->file.fate.replaced);
}

TEST(parts_that_are_overwritten_are_counted)
{
    char older[200];
    json_t *lines, *end;

    snprintf(older, sizeof(older), "%s.1", w->path);
    w->options.max_log = 100000;
    start(w);
    allocate_many(20000);
    stop(w);
    lines = read_path(older);
    end = read_path(w->path);
    assert_non_null(json_object_get(json_array_get(end, 0), "rotated_out"));
    json_array_extend(lines, end);
    json_decref(end);
    expect_all_told(lines, 20000);
    assert_int_equal(said(lines, "rotated_out", "parts"), w->log->file.part - 2);
    assert_true(said(lines, "rotated_out", "allocs") > 10000);
    json_decref(lines);
}
