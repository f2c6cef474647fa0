/* What counts of the time that the end of a recording takes. */
#include "log/patience.h"

#include "support/test.h"

enum { MS = 1000000 };

static struct patience patience;
static struct patience_look look;

static void begin(void)
{
    look = (struct patience_look){.now = 1000, .progress = 3};
    patience_begin(&patience, 2000ull * MS, &look);
}

/* How often it is asked, each `ms` later, until it ends; at most `most`. */
static unsigned asked(uint64_t ms, bool ready, uint64_t progress, unsigned most)
{
    unsigned count = 0;

    do {
        look.now += ms * MS;
        look.ready = ready;
        look.progress += progress;
        count++;
    } while (patience_lasts(&patience, &look) && count < most);
    return count;
}

TEST(without_progress_it_ends)
{
    begin();
    assert_int_equal(asked(50, false, 0, 1000), 40);
}

TEST(with_progress_it_lasts_but_not_for_good)
{
    begin();
    assert_int_equal(asked(50, false, 1, 100), 100);
    assert_int_equal(asked(50, false, 0, 1000), 40);
    begin();
    assert_int_equal(asked(50, false, 1, 10000), 40 * PATIENCE_MOST);
}

TEST(a_process_that_was_stopped_has_lost_little_of_it)
{
    begin();
    assert_int_equal(asked(3600 * 1000, false, 0, 1), 1);
    assert_int_equal(asked(50, false, 0, 1000), 36); /* the hour counts as four looks */
}

TEST(waiting_for_a_processor_counts_a_tenth)
{
    begin();
    assert_int_equal(asked(50, true, 0, 10000), 400);
    begin();
    assert_int_equal(asked(50, true, 0, 100), 100);
    assert_int_equal(asked(50, false, 0, 10000), 30);
}
