/* From when the samples of a log count, as its records, its later parts and its end record have it. */
#include "readers/sampling.h"

#include "readers/log.h"
#include "support/test.h"

static struct log_sampling sampling_of(const char *header, const char *said)
{
    struct log_sampling s = {.recordings = 0};
    json_t *first = json_loads(header, 0, NULL), *last = said ? json_loads(said, 0, NULL) : NULL;

    log_sampling_add(&s, first, last);
    json_decref(first);
    json_decref(last);
    return s;
}

TEST(what_came_before_is_exact_or_at_most_or_not_known)
{
    static const struct {
        const char *header, *said;
        struct log_sampling is;
    } rows[] = {
        {"{}", NULL, {LOG_BEFORE_NONE, 0, 0, 0, 0}},
        {"{\"sampler\":\"exact\"}", "{\"since\":5}", {LOG_BEFORE_NONE, 0, 0, 0, 0}},
        {"{\"sampler\":\"runtime\"}",
         "{\"since\":5,\"before\":101144944}",
         {LOG_BEFORE_EXACT, 101144944, 1, 0, 5}},
        {"{\"sampler\":\"runtime\"}", "{\"before\":7}", {LOG_BEFORE_EXACT, 7, 1, 1, 0}},
        {"{\"sampler\":\"ticks\"}",
         "{\"since\":5,\"before_most\":9}",
         {LOG_BEFORE_MOST, 9, 1, 0, 5}},
        {"{\"sampler\":\"runtime\"}", "{\"since\":5}", {LOG_BEFORE_UNKNOWN, 0, 1, 0, 5}},
        {"{\"sampler\":\"runtime\"}", NULL, {LOG_BEFORE_UNKNOWN, 0, 1, 1, 0}},
        {"{\"sampler\":\"runtime\"}",
         "{\"since\":-1,\"before\":\"many\"}",
         {LOG_BEFORE_UNKNOWN, 0, 1, 1, 0}},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct log_sampling s = sampling_of(rows[i].header, rows[i].said);

        assert_memory_equal(&s.bytes, &rows[i].is.bytes, sizeof(s.bytes));
        assert_int_equal(s.how, rows[i].is.how);
        assert_int_equal(s.recordings, rows[i].is.recordings);
        assert_int_equal(s.unbegun, rows[i].is.unbegun);
        assert_int_equal(s.since_ns, rows[i].is.since_ns);
    }
}

TEST(of_several_recordings_bytes_add_up_and_the_least_known_decides)
{
    struct log_sampling s = {.recordings = 0};
    json_t *header = json_loads("{\"sampler\":\"runtime\"}", 0, NULL);
    json_t *exact = json_loads("{\"since\":5,\"before\":100}", 0, NULL);
    json_t *most = json_loads("{\"since\":3,\"before_most\":11}", 0, NULL);
    json_t *huge = json_loads("{\"since\":3,\"before\":9007199254740991}", 0, NULL);

    log_sampling_add(&s, header, exact);
    log_sampling_add(&s, NULL, NULL);
    log_sampling_add(&s, header, most);
    assert_int_equal(s.how, LOG_BEFORE_MOST);
    assert_int_equal(s.bytes, 111);
    assert_int_equal(s.since_ns, 5);
    assert_int_equal(s.recordings, 2);
    log_sampling_add(&s, header, huge);
    assert_true(s.bytes == SST_INTEGER_MAX);
    json_decref(header);
    json_decref(exact);
    json_decref(most);
    json_decref(huge);
}
