#include "base/wake.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WAKE_IDLE, WAKE_SLEEPS, WAKE_SAID };

void wake_wait(struct wake *w, uint64_t timeout_ns)
{
    struct timespec timeout = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
    uint32_t expected = WAKE_IDLE;

    if (cas_acq_rel(&w->word, &expected, WAKE_SLEEPS))
        syscall(SYS_futex, &w->word, FUTEX_WAIT_PRIVATE, WAKE_SLEEPS, &timeout, NULL, 0);
    (void)exchange_acq_rel(&w->word, WAKE_IDLE);
}

void wake_up(struct wake *w)
{
    int saved = errno;

    if (exchange_acq_rel(&w->word, WAKE_SAID) == WAKE_SLEEPS)
        syscall(SYS_futex, &w->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}
