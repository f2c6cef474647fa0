#include "base/peek.h"
#include "support/test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two pages, of which the second cannot be read. */
static char *half_readable(size_t *page)
{
    char *pages;

    *page = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, 2 * *page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    memset(pages, 'x', 2 * *page);
    assert_int_equal(mprotect(pages + *page, *page, PROT_NONE), 0);
    return pages;
}

TEST(what_is_there_is_copied)
{
    size_t page;
    char *pages = half_readable(&page), copy[16] = {0};

    assert_true(peek(copy, (uintptr_t)pages, sizeof(copy)));
    assert_memory_equal(copy, "xxxxxxxxxxxxxxxx", sizeof(copy));
    assert_int_equal(munmap(pages, 2 * page), 0);
}

TEST(what_is_not_there_does_no_harm)
{
    size_t page;
    char *pages = half_readable(&page), copy[16];

    errno = 12345;
    assert_false(peek(copy, 0, sizeof(copy)));
    assert_false(peek(copy, (uintptr_t)pages + page, sizeof(copy)));
    assert_false(peek(copy, (uintptr_t)pages + page - 8, sizeof(copy)));
    assert_int_equal(errno, 12345);
    assert_int_equal(munmap(pages, 2 * page), 0);
}

TEST(a_forked_process_reads_its_own_memory)
{
    static volatile int value = 1;
    int status, copy = 0;
    pid_t child;

    assert_true(peek(&copy, (uintptr_t)&value, sizeof(copy)));
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        value = 2;
        _exit(peek(&copy, (uintptr_t)&value, sizeof(copy)) && copy == 2 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(some_is_as_much_as_there_is)
{
    static char copy[3 * 65536];
    size_t page;
    char *pages = half_readable(&page);

    assert_int_equal(peek_some(copy, (uintptr_t)pages + page - 100, 4096), 100);
    assert_int_equal(peek_some(copy, (uintptr_t)pages + page, 4096), 0);
    assert_int_equal(peek_some(copy, (uintptr_t)copy + 65536 + 5, 65536), 65536);
    assert_int_equal(peek_some(copy, (uintptr_t)pages, 0), 0);
    assert_int_equal(munmap(pages, 2 * page), 0);
}

static bool forbid(unsigned call, unsigned error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};

    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* Containers may forbid the system call, and emulators lack it. */
static void read_without(unsigned error)
{
    static char from[3 * 65536], copy[3 * 65536];
    char *gone = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool right;

    munmap(gone, 65536);
    memset(from, 'x', sizeof(from));
    if (!forbid(SYS_process_vm_readv, error))
        exit(77);
    errno = 12345;
    right = peek(copy, (uintptr_t)from, 100) && copy[99] == 'x';
    right = right && !peek(copy, (uintptr_t)gone, 100) && !peek(copy, 0, 100);
    right = right && peek_some(copy, (uintptr_t)from + 5, 65536) == 65536 && copy[65535] == 'x';
    right = right && peek_some(copy, (uintptr_t)gone, 4096) == 0 && errno == 12345;
    exit(right ? 0 : 1);
}

TEST(memory_is_read_without_the_system_call)
{
    static const unsigned errors[] = {ENOSYS, EPERM};

    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
        int status;
        pid_t child = fork();

        if (!child)
            read_without(errors[i]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
            skip();
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}
