#include "log/patience.h"

#define LATE        4  /* looks: who looks later was stopped, or did not get to run */
#define READY_SHARE 10 /* of ten nanoseconds one counts: the end is to come at last */

void patience_begin(struct patience *p, uint64_t patience, const struct patience_look *look)
{
    *p = (struct patience){.patience = patience,
                           .left = patience,
                           .all_left = patience * PATIENCE_MOST,
                           .looked = look->now,
                           .progress = look->progress};
}

static uint64_t less(uint64_t from, uint64_t by)
{
    return from > by ? from - by : 0;
}

bool patience_lasts(struct patience *p, const struct patience_look *look)
{
    uint64_t passed = less(look->now, p->looked);

    if (passed > LATE * PATIENCE_LOOK_NS)
        passed = LATE * PATIENCE_LOOK_NS;
    if (look->ready)
        passed /= READY_SHARE;
    p->left = look->progress != p->progress ? p->patience : less(p->left, passed);
    p->all_left = less(p->all_left, passed);
    p->looked = look->now;
    p->progress = look->progress;
    return p->left && p->all_left;
}
