/*
 * Faults on purpose: preloaded into a traced program, it lets the n-th call of a kind fail, once or from there on, if it
 * comes from the libraries that FAULT_IN names. The return address tells which library a call comes from.
 *
 *   FAULT_FILE   where the counts lie (struct counts, mapped by all: they outlive a crash); without it nothing happens
 *   FAULT_WAYS   if set, the file has the way of each call as well: which of our functions called which
 *   FAULT_KIND   malloc, mmap, write, open, thread, register or socket; without it calls are counted only
 *   FAULT_AT     the first call that fails, from 1
 *   FAULT_LAST   the last one
 *   FAULT_IN     beginnings of library names, with commas; default: what the tracer consists of
 *
 * It allocates nothing itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

enum kind { MALLOC, MMAP, WRITE, OPEN, THREAD, REGISTER, SOCKET, KINDS };

static const char *const kind_names[KINDS] = {"malloc", "mmap",     "write", "open",
                                              "thread", "register", "socket"};
static const int kind_errors[KINDS] = {ENOMEM, ENOMEM, ENOSPC, EMFILE, EAGAIN, ENOMEM, EMFILE};

/* The file. Behind its first page, if ways are asked for: those of each kind's first MOST_CALLS calls, in order. */
struct counts {
    _Atomic uint64_t calls[KINDS], fired;
    _Atomic uint64_t where; /* of the first that failed: its offset in the library */
    char library[40];       /* and which */
    uint64_t way;           /* and its way */
};

#define MOST_RANGES 16
#define PAGE        4096
#define MOST_CALLS  (1 << 16)
#define MOST_FRAMES 24

static struct range {
    uintptr_t low, high, base;
    char name[40];
} ranges[MOST_RANGES];
static _Atomic unsigned range_count;
static _Atomic int searching;

static struct counts *counts;
static uint64_t (*ways)[MOST_CALLS]; /* by kind and call; NULL: not asked for */
static enum kind wanted = KINDS;
static uint64_t first, last;
static const char *names = "libshadowtrace,liburcu,libjansson,libzstd";

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool is_named(const char *base)
{
    for (const char *name = names; *name;) {
        size_t length = strcspn(name, ",");

        if (length && strncmp(base, name, length) == 0)
            return true;
        name += length + (name[length] == ',');
    }
    return false;
}

static int range_add(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *slash = strrchr(info->dlpi_name, '/'), *base = slash ? slash + 1 : info->dlpi_name;
    unsigned count = atomic_load(&range_count);
    struct range *range = &ranges[count];

    (void)size;
    (void)context;
    if (!is_named(base) || count == MOST_RANGES)
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (ranges[i].base == info->dlpi_addr)
            return 0;
    *range = (struct range){UINTPTR_MAX, 0, info->dlpi_addr, ""};
    strncpy(range->name, base, sizeof(range->name) - 1);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        range->low = low < range->low ? low : range->low;
        if (low + info->dlpi_phdr[i].p_memsz > range->high)
            range->high = low + info->dlpi_phdr[i].p_memsz;
    }
    atomic_store(&range_count, count + 1);
    return 0;
}

static void ranges_find(void)
{
    if (atomic_exchange(&searching, 1))
        return;
    dl_iterate_phdr(range_add, NULL);
    atomic_store(&searching, 0);
}

static __attribute__((constructor)) void start(void)
{
    const char *file = getenv("FAULT_FILE"), *kind = getenv("FAULT_KIND"), *at = getenv("FAULT_AT"),
               *end = getenv("FAULT_LAST"), *in = getenv("FAULT_IN");
    int fd = file ? (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0) : -1;
    size_t size = PAGE + (getenv("FAULT_WAYS") ? sizeof(*ways) * KINDS : 0);
    void *pages;

    if (fd < 0)
        return;
    if (in)
        names = in;
    pages = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (pages == MAP_FAILED)
        return;
    if (size > PAGE)
        ways = (void *)((char *)pages + PAGE);
    for (unsigned k = 0; kind && k < KINDS; k++)
        if (strcmp(kind, kind_names[k]) == 0)
            wanted = (enum kind)k;
    first = at ? strtoull(at, NULL, 10) : 0;
    last = end ? strtoull(end, NULL, 10) : first;
    ranges_find();
    counts = pages;
}

struct way {
    uint64_t hash;
    unsigned frames;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *into)
{
    struct way *way = into;
    uintptr_t at = _Unwind_GetIP(context);
    unsigned count = atomic_load(&range_count), i = 0;

    while (i < count && (at < ranges[i].low || at >= ranges[i].high))
        i++;
    if (i == count) /* before ours: this library; behind them: the runtime, or the thread's first function */
        return way->frames ? _URC_END_OF_STACK : _URC_NO_REASON;
    way->hash = (way->hash ^ (at - ranges[i].base + i)) * UINT64_C(0x9e3779b97f4a7c15);
    way->hash ^= way->hash >> 32;
    return ++way->frames < MOST_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* The return addresses within the named libraries, from the call outwards, as one number. */
static uint64_t way_here(void)
{
    struct way way = {1, 0};

    _Unwind_Backtrace(step, &way);
    return way.hash;
}

/* Whether the call that returns to `ip` is to fail; errno says why. */
static bool fails(enum kind kind, void *ip)
{
    unsigned count = atomic_load(&range_count);
    uintptr_t at = (uintptr_t)ip;

    for (unsigned i = 0; counts && i < count; i++) {
        uint64_t number;

        if (at < ranges[i].low || at >= ranges[i].high)
            continue;
        number = atomic_fetch_add(&counts->calls[kind], 1) + 1;
        if (ways && number <= MOST_CALLS)
            ways[kind][number - 1] = way_here();
        if (kind != wanted || number < first || number > last)
            return false;
        if (!atomic_fetch_add(&counts->fired, 1)) {
            atomic_store(&counts->where, at - ranges[i].base);
            memcpy(counts->library, ranges[i].name, sizeof(counts->library));
            counts->way = way_here();
        }
        errno = kind_errors[kind];
        return true;
    }
    return false;
}

#define CALLER  __builtin_return_address(0)
#define NEXT(f) ((__typeof__(&f))dlsym(RTLD_NEXT, #f))

void *dlopen(const char *file, int mode)
{
    void *library = NEXT(dlopen)(file, mode);

    if (counts && library)
        ranges_find();
    return library;
}

void *malloc(size_t size)
{
    return fails(MALLOC, CALLER) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(MALLOC, CALLER) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails(MALLOC, CALLER) ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(MALLOC, CALLER) ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(MALLOC, CALLER) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (fails(MALLOC, CALLER))
        return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = fails(MALLOC, CALLER) ? NULL : __libc_malloc(size);

    return copy ? memcpy(copy, text, size) : NULL;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails(MMAP, CALLER) ? MAP_FAILED
                               : (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return fails(MMAP, CALLER) ? MAP_FAILED
                               : (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

void *mremap(void *at, size_t size, size_t larger, int flags, ...)
{
    va_list more;
    void *to;

    va_start(more, flags);
    to = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    return fails(MMAP, CALLER) ? MAP_FAILED
                               : (void *)syscall(SYS_mremap, at, size, larger, flags, to);
}

int mprotect(void *at, size_t size, int protection)
{
    return fails(MMAP, CALLER) ? -1 : (int)syscall(SYS_mprotect, at, size, protection);
}

ssize_t write(int fd, const void *data, size_t size)
{
    return fails(WRITE, CALLER) ? -1 : syscall(SYS_write, fd, data, size);
}

static int open_file(void *caller, const char *path, int flags, mode_t mode)
{
    return fails(OPEN, caller) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    mode_t mode;

    va_start(more, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_file(CALLER, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    mode_t mode;

    va_start(more, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_file(CALLER, path, flags, mode);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    return fails(THREAD, CALLER) ? EAGAIN : NEXT(pthread_create)(thread, attributes, run, arg);
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    return fails(REGISTER, CALLER) ? ENOMEM : NEXT(pthread_setspecific)(key, value);
}

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    return fails(REGISTER, CALLER) ? EAGAIN : NEXT(pthread_key_create)(key, destructor);
}

int socket(int domain, int type, int protocol)
{
    return fails(SOCKET, CALLER) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}

int eventfd(unsigned value, int flags)
{
    return fails(SOCKET, CALLER) ? -1 : (int)syscall(SYS_eventfd2, value, flags);
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    return fails(SOCKET, CALLER) ? -1 : (int)syscall(SYS_accept4, fd, address, size, flags);
}
