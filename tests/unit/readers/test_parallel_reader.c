#include "readers/parallel_reader.h"
#include "readers/log.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define HEADER "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1}\n"

/* All that a reader learns of a log, as text. */
struct learned {
    struct buffer text;
    uint64_t records, stop_after; /* 0: never */
};

static int on_record(void *context, const struct log_record *r)
{
    struct learned *l = context;
    char line[200], *json = r->json ? json_dumps(r->json, JSON_COMPACT) : NULL;

    snprintf(line, sizeof(line), "%d %llu %llu ", (int)r->kind, (unsigned long long)r->at.line,
             (unsigned long long)r->at.offset);
    buffer_append(&l->text, line, strlen(line));
    if (r->kind == SST_KIND_ALLOC || r->kind == SST_KIND_SITE) {
        snprintf(line, sizeof(line), "%llu %llu %llu %.17g %u %u %u %d",
                 (unsigned long long)r->alloc.t, (unsigned long long)r->alloc.bytes,
                 (unsigned long long)r->alloc.allocs, r->alloc.weight, r->alloc.thread,
                 r->alloc.class_id, r->alloc.node, r->alloc.il);
        buffer_append(&l->text, line, strlen(line));
        if (r->alloc.stack)
            buffer_append(&l->text, r->alloc.stack, r->alloc.stack_size);
    }
    if (json)
        buffer_append(&l->text, json, strlen(json));
    free(json);
    buffer_char(&l->text, '\n');
    return l->stop_after && ++l->records == l->stop_after ? -ECANCELED : 0;
}

static void sum_up(struct learned *l, const struct log_input *log,
                   const struct log_problems *problems, int err)
{
    char line[600];

    for (size_t i = 0; i < problems->kept_count; i++) {
        snprintf(line, sizeof(line), "%llu %llu %s\n",
                 (unsigned long long)problems->kept[i].place.line,
                 (unsigned long long)problems->kept[i].place.offset, problems->kept[i].text);
        buffer_append(&l->text, line, strlen(line));
    }
    snprintf(line, sizeof(line), "%d %llu %llu %llu %llu %llu %llu %llu %s\n", err,
             (unsigned long long)log->lines, (unsigned long long)log->bytes,
             (unsigned long long)log->skipped, (unsigned long long)log->unknown_records,
             (unsigned long long)log->unknown_members, (unsigned long long)log->cut,
             (unsigned long long)problems->count, log->why);
    buffer_append(&l->text, line, strlen(line) + 1);
}

/* To be freed with buffer_free. */
static struct learned learn(struct memory_log *m, unsigned jobs, uint64_t stop_after)
{
    struct learned l = {BUFFER_INIT, 0, stop_after};
    const struct log_consumer consumer = {.record = on_record, .context = &l};
    struct log_lines *lines = memory_log_lines(m);
    struct log_problems problems;
    struct log_defs defs;
    struct log_input log;
    int err;

    log_problems_init(&problems);
    log_input_init(&log);
    log.jobs = jobs;
    assert_int_equal(log_defs_init(&defs, &problems), 0);
    err = log_input_read_lines(lines, "memory", &defs, &consumer, &log);
    sum_up(&l, &log, &problems, err);
    assert_false(l.text.failed);
    log_lines_free(lines);
    log_defs_fini(&defs);
    log_input_fini(&log);
    log_problems_fini(&problems);
    return l;
}

static void same_with_any_number(struct memory_log *m, uint64_t stop_after)
{
    struct learned one = learn(m, 1, stop_after);

    for (unsigned jobs = 2; jobs <= 5; jobs++) {
        struct learned more = learn(m, jobs, stop_after);

        assert_string_equal(more.text.data, one.text.data);
        buffer_free(&more.text);
    }
    buffer_free(&one.text);
}

TEST(every_log_reads_the_same_with_any_number_of_threads)
{
    static const char *const logs[] = {"small", "damaged",  "inline",  "sampled",
                                       "sites", "mismatch", "invalid", "version2"};
    char path[80];

    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        struct memory_log m = {.chunk = 0};
        char *text;

        snprintf(path, sizeof(path), "tests/fixtures/logs/%s.ndjson", logs[i]);
        text = memory_log_file(path, &m.size);
        m.text = text;
        same_with_any_number(&m, 0);
        m.chunk = 1000; /* many blocks */
        same_with_any_number(&m, 0);
        m.size -= m.size / 3; /* cut */
        same_with_any_number(&m, 0);
        m.fail_at = -EIO;
        same_with_any_number(&m, 0);
        same_with_any_number(&m, 5);
        free(text);
    }
}

/* A log of some megabytes whose lines are damaged at random, so that blocks end anywhere. */
TEST(a_long_damaged_log_reads_the_same)
{
    struct memory_log m = {.chunk = 100000};
    struct buffer text = BUFFER_INIT;
    uint64_t random = 7;
    char line[200];

    buffer_append(&text, HEADER, strlen(HEADER));
    for (unsigned i = 0; i < 30000; i++) {
        snprintf(line, sizeof(line),
                 "{\"kind\":\"alloc\",\"t\":%u,\"thread\":1,\"class\":%u,\"bytes\":24,\"node\":%u,"
                 "\"il\":6}\n",
                 i, 1 + i % 50, i % 3 ? 0 : 1 + i % 70);
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (random >> 56 == 0)
            line[(random >> 40) % strlen(line)] = (char)(random >> 32);
        buffer_append(&text, line, strlen(line));
    }
    m.text = text.data;
    m.size = text.size;
    same_with_any_number(&m, 0);
    same_with_any_number(&m, 20000);
    m.size -= 40;
    same_with_any_number(&m, 0);
    buffer_free(&text);
}

TEST(a_line_that_is_too_long_is_passed_over)
{
    size_t size = LOG_LINE_MAX + ((size_t)1 << 20);
    struct memory_log m = {.chunk = 0};
    struct buffer text = BUFFER_INIT;

    buffer_append(&text, HEADER, strlen(HEADER));
    for (size_t i = 0; i < size; i += 64)
        buffer_append(&text, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                      64);
    buffer_append(&text, "\n" HEADER "{\"kind\":\"end\"}",
                  strlen("\n" HEADER "{\"kind\":\"end\"}"));
    m.text = text.data;
    m.size = text.size;
    same_with_any_number(&m, 0);
    buffer_free(&text);
}

/* Invalid input ends the reader, though its pipe stays open. */
TEST(a_pipe_that_goes_on_is_not_waited_for)
{
    struct log_problems problems;
    struct learned l = {BUFFER_INIT, 0, 0};
    const struct log_consumer consumer = {.record = on_record, .context = &l};
    struct log_defs defs;
    struct log_input log;
    char path[64];
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    for (int i = 0; i < 1100; i++)
        assert_int_equal(write(fds[1], "no log\n", 7), 7);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
    log_problems_init(&problems);
    log_input_init(&log);
    log.jobs = 3;
    assert_int_equal(log_defs_init(&defs, &problems), 0);
    assert_int_equal(log_input_read(path, &defs, &consumer, &log), -EBADMSG);
    close(fds[0]);
    close(fds[1]);
    log_defs_fini(&defs);
    log_input_fini(&log);
    log_problems_fini(&problems);
    buffer_free(&l.text);
}

TEST(running_out_of_memory_ends_the_reading)
{
    struct memory_log m = {.chunk = 500};
    char *text = memory_log_file("tests/fixtures/logs/small.ndjson", &m.size);
    const struct log_parsed *parsed;
    int err;

    m.text = text;
    for (long n = 0; n < 400; n++) {
        struct log_lines *lines = memory_log_lines(&m);
        struct parallel_reader *reader;

        memory_fail_after(n);
        err = parallel_reader_new(lines, 2, &reader);
        if (!err)
            while ((err = parallel_reader_next(reader, &parsed)) == 1)
                ;
        memory_fail_after(-1);
        assert_true(err == 0 || err == -ENOMEM);
        parallel_reader_free(reader);
        log_lines_free(lines);
    }
    assert_int_equal(err, 0);
    free(text);
}

TEST(the_end_stays_the_end)
{
    struct memory_log m = {.text = HEADER, .size = sizeof(HEADER) - 1};
    struct log_lines *lines = memory_log_lines(&m);
    const struct log_parsed *parsed;
    struct parallel_reader *reader;

    assert_int_equal(parallel_reader_new(lines, 2, &reader), 0);
    assert_int_equal(parallel_reader_next(reader, &parsed), 1);
    assert_int_equal(parsed->line.at.line, 1);
    assert_int_equal(parallel_reader_next(reader, &parsed), 0);
    assert_int_equal(parallel_reader_next(reader, &parsed), 0);
    assert_int_equal(parallel_reader_taken(reader), sizeof(HEADER) - 1);
    parallel_reader_free(reader);
    log_lines_free(lines);
}
