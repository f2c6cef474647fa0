#include "check/native.h"

#include "base/file.h"
#include "base/image.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/peek.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY     "libunwind-" CPU_MACHINE ".so.8"
#define STACK_BYTES 65536 /* of another thread's stack that are looked at */
#define FRAMES      128   /* the same in frames */

/* libunwind's functions for a register set that is not the caller's own. */
struct functions {
    unw_addr_space_t (*create)(unw_accessors_t *, int);
    void (*destroy)(unw_addr_space_t);
    unw_accessors_t *(*accessors)(unw_addr_space_t);
    int (*caching)(unw_addr_space_t, unw_caching_policy_t);
    int (*init)(unw_cursor_t *, unw_addr_space_t, void *);
    int (*step)(unw_cursor_t *);
    int (*get)(unw_cursor_t *, unw_regnum_t, unw_word_t *);
};

struct native {
    void *library;
    struct functions call;
    unw_addr_space_t space;
    const struct native_registers *registers; /* of the walk under way */
    uintptr_t stack_low, stack_high;          /* addresses of what `stack` holds */
    _Alignas(16) uint8_t stack[STACK_BYTES];
};

static int access_mem(unw_addr_space_t space, unw_word_t at, unw_word_t *value, int write,
                      void *context)
{
    struct native *n = context;

    (void)space;
    if (write)
        return -UNW_EINVAL;
    if (at >= n->stack_low && at < n->stack_high && n->stack_high - at >= sizeof(*value)) {
        memcpy(value, n->stack + (at - n->stack_low), sizeof(*value));
        return 0;
    }
    return peek(value, at, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
                      void *context)
{
    const struct native *n = context;

    (void)space;
    if (write || number < 0 || number >= CPU_REGISTERS || !(n->registers->known >> number & 1))
        return -UNW_EBADREG;
    *value = n->registers->value[number];
    return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
                        void *context)
{
    (void)space, (void)number, (void)value, (void)write, (void)context;
    return -UNW_EBADREG;
}

/* Every name or none. */
static bool load(struct native *n, unw_addr_space_t **local)
{
    const struct library_symbol wanted[] = {
        {"_U" CPU_MACHINE "_local_addr_space", local},
        {"_U" CPU_MACHINE "_create_addr_space", &n->call.create},
        {"_U" CPU_MACHINE "_destroy_addr_space", &n->call.destroy},
        {"_U" CPU_MACHINE "_get_accessors", &n->call.accessors},
        {"_U" CPU_MACHINE "_set_caching_policy", &n->call.caching},
        {"_U" CPU_MACHINE "_init_remote", &n->call.init},
        {"_U" CPU_MACHINE "_step", &n->call.step},
        {"_U" CPU_MACHINE "_get_reg", &n->call.get},
    };

    n->library = library_load(LIBRARY, wanted, COUNT_OF(wanted));
    return n->library;
}

int native_new(struct native **out)
{
    struct native *n = memory_zalloc(1, sizeof(*n));
    unw_addr_space_t *local;
    unw_accessors_t accessors;

    *out = NULL;
    if (!n)
        return -ENOMEM;
    if (!load(n, &local))
        goto missing;
    accessors =
        *n->call.accessors(*local); /* its search of unwind tables, our memory and registers */
    accessors.access_mem = access_mem;
    accessors.access_reg = access_reg;
    accessors.access_fpreg = access_fpreg;
    n->space = n->call.create(&accessors, 0);
    if (!n->space)
        goto missing;
    n->call.caching(n->space, UNW_CACHE_GLOBAL);
    *out = n;
    return 0;
missing:
    native_free(n);
    return -ENOSYS;
}

void native_free(struct native *n)
{
    if (n && n->space)
        n->call.destroy(n->space);
    if (n && n->library)
        dlclose(n->library);
    memory_free(n);
}

/* Where the thread waits: stack pointer and instruction, as the system tells of a blocked one. */
static bool read_waiting(uint32_t os_thread, uint64_t *sp, uint64_t *ip)
{
    char path[64], text[256];
    unsigned long long number[9];
    int got;

    snprintf(path, sizeof(path), "/proc/self/task/%u/syscall", os_thread);
    file_read_text(path, text, sizeof(text));
    /* number of the call, six arguments, SP, IP; outside of a call "-1" and the last two */
    got =
        sscanf(text, "%llu %llx %llx %llx %llx %llx %llx %llx %llx", &number[0], &number[1],
               &number[2], &number[3], &number[4], &number[5], &number[6], &number[7], &number[8]);
    if (got != 9)
        return false;
    *sp = number[7];
    *ip = number[8];
    return true;
}

/* As much of the stack as there is. */
static void read_stack(struct native *n, uintptr_t sp)
{
    n->stack_low = sp;
    n->stack_high = sp + peek_some(n->stack, sp, STACK_BYTES);
}

static uintptr_t cursor_ip(struct native *n, unw_cursor_t *cursor)
{
    unw_word_t ip = 0;

    return n->call.get(cursor, UNW_REG_IP, &ip) == 0 ? ip : 0;
}

static void cursor_registers(struct native *n, unw_cursor_t *cursor, struct native_registers *out)
{
    *out = (struct native_registers){{0}, 0};
    for (unsigned i = 0; i < CPU_REGISTERS; i++) {
        unw_word_t value;

        if (n->call.get(cursor, (unw_regnum_t)i, &value) == 0) {
            out->value[i] = value;
            out->known |= UINT64_C(1) << i;
        }
    }
}

enum native_result native_first(struct native *n, uint32_t os_thread,
                                bool (*wanted)(void *context, uintptr_t ip), void *context,
                                struct native_registers *out)
{
    struct native_registers start = {{0}, UINT64_C(1) << CPU_SP | UINT64_C(1) << CPU_IP};
    uint64_t sp, ip;
    unw_cursor_t cursor;

    if (!read_waiting(os_thread, &start.value[CPU_SP], &start.value[CPU_IP]))
        return NATIVE_RUNS;
    read_stack(n, start.value[CPU_SP]);
    if (!read_waiting(os_thread, &sp, &ip) || sp != start.value[CPU_SP] ||
        ip != start.value[CPU_IP])
        return NATIVE_RUNS; /* what was read may be of two moments */
    n->registers = &start;
    if (n->call.init(&cursor, n->space, n))
        return NATIVE_LOST;
    for (unsigned i = 0; i < FRAMES; i++) {
        if (wanted(context, cursor_ip(n, &cursor))) {
            cursor_registers(n, &cursor, out);
            return NATIVE_FOUND;
        }
        if (n->call.step(&cursor) <= 0)
            break;
    }
    return NATIVE_LOST;
}

size_t native_run(struct native *n, const struct native_registers *start, uintptr_t end,
                  uintptr_t *ip, size_t room)
{
    unw_cursor_t cursor;
    size_t count = 0;

    read_stack(n, start->value[CPU_SP]);
    n->registers = start;
    if (n->call.init(&cursor, n->space, n))
        return 0;
    while (count < room) {
        uintptr_t at = cursor_ip(n, &cursor);
        unw_word_t sp;

        if (n->call.get(&cursor, UNW_REG_SP, &sp) || sp >= end || !image_find(at, NULL))
            break;
        ip[count++] = at;
        if (n->call.step(&cursor) <= 0)
            break;
    }
    return count;
}
