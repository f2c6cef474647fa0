#include "base/parker.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PARKER_IDLE, PARKER_PARKED, PARKER_NOTIFIED };

void parker_park(struct parker *p, uint64_t timeout_ns)
{
    struct timespec timeout = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
    uint32_t expected = PARKER_IDLE;

    if (cas_acq_rel(&p->word, &expected, PARKER_PARKED))
        syscall(SYS_futex, &p->word, FUTEX_WAIT_PRIVATE, PARKER_PARKED, &timeout, NULL, 0);
    (void)exchange_acq_rel(&p->word, PARKER_IDLE);
}

void parker_unpark(struct parker *p)
{
    int saved = errno;

    if (exchange_acq_rel(&p->word, PARKER_NOTIFIED) == PARKER_PARKED)
        syscall(SYS_futex, &p->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}
