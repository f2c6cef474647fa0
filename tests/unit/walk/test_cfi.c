/*
 * Call frame information of the runtime's library, beside libunwind: of a stack that is made up, in
 * which every word tells its own address, both must find the same caller. And damaged tables.
 */
#include "walk/cfi.h"
#include "walk/natives.h"

#include "base/library.h"
#include "support/dotnet.h"

#include "support/test.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY  "libunwind-x86_64.so.8"
#define PLACES   8000 /* that are looked at */
#define RSP      UINT64_C(0x100000000)
#define RBP      UINT64_C(0x200000000)
#define WORD(at) (UINT64_C(0x7700000000000000) + (at))

enum { NUMBER_RBP = 6, NUMBER_RSP = 7, NUMBER_RIP = 16 };

static struct {
    unw_addr_space_t (*create)(unw_accessors_t *, int);
    void (*destroy)(unw_addr_space_t);
    unw_accessors_t *(*accessors)(unw_addr_space_t);
    int (*init)(unw_cursor_t *, unw_addr_space_t, void *);
    int (*step)(unw_cursor_t *);
    int (*get)(unw_cursor_t *, unw_regnum_t, unw_word_t *);
} call;

static int access_mem(unw_addr_space_t space, unw_word_t at, unw_word_t *value, int write, void *ip)
{
    (void)space, (void)ip;
    if (write)
        return -UNW_EINVAL;
    if (at >= RSP - 0x1000000 && at < RBP + 0x1000000)
        *value = WORD(at);
    else
        memcpy(value, (const void *)at, sizeof(*value));
    return 0;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
                      void *ip)
{
    (void)space;
    if (write)
        return -UNW_EBADREG;
    *value = number == NUMBER_RSP   ? RSP
             : number == NUMBER_RBP ? RBP
             : number == NUMBER_RIP ? *(uintptr_t *)ip
                                    : 0;
    return 0;
}

static unw_addr_space_t space_new(void)
{
    unw_addr_space_t *local;
    const struct library_symbol wanted[] = {
        {"_Ux86_64_local_addr_space", &local},
        {"_Ux86_64_create_addr_space", &call.create},
        {"_Ux86_64_destroy_addr_space", &call.destroy},
        {"_Ux86_64_get_accessors", &call.accessors},
        {"_Ux86_64_init_remote", &call.init},
        {"_Ux86_64_step", &call.step},
        {"_Ux86_64_get_reg", &call.get},
    };
    unw_accessors_t accessors;

    if (!library_load(LIBRARY, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return NULL;
    accessors = *call.accessors(*local);
    accessors.access_mem = access_mem;
    accessors.access_reg = access_reg;
    return call.create(&accessors, 0);
}

/* The caller's rip, rsp and rbp by libunwind. Returns: whether it knows them. */
static bool theirs(unw_addr_space_t space, uintptr_t ip, uint64_t found[3])
{
    static const unw_regnum_t numbers[] = {NUMBER_RIP, NUMBER_RSP, NUMBER_RBP};
    unw_cursor_t cursor;

    if (call.init(&cursor, space, &ip) || call.step(&cursor) <= 0)
        return false;
    for (size_t i = 0; i < 3; i++)
        if (call.get(&cursor, numbers[i], &found[i]))
            return false;
    return true;
}

static void ours(const struct cfi_rule *rule, uint64_t found[3])
{
    uint64_t cfa = (rule->by_fp ? RBP : RSP) + (uint64_t)(int64_t)rule->cfa;

    found[0] = WORD(cfa + (uint64_t)(int64_t)rule->ret);
    found[1] = cfa;
    found[2] = rule->keeps_fp ? RBP : WORD(cfa + (uint64_t)(int64_t)rule->fp);
}

static bool place_of(const char *pattern, const char *symbol, struct natives_place *out)
{
    glob_t files;
    void *library = NULL, *at = NULL;

    natives_start((uintptr_t)place_of, false);
    dotnet_files(pattern, &files);
    if (files.gl_pathc)
        library = dlopen(files.gl_pathv[files.gl_pathc - 1], RTLD_LAZY | RTLD_LOCAL);
    globfree(&files);
    at = library ? dlsym(library, symbol) : NULL;
    return at && natives_find((uintptr_t)at, out);
}

TEST(rules_of_the_runtime_are_those_of_libunwind)
{
    struct natives_place place;
    unw_addr_space_t space = space_new();
    size_t same = 0, differ = 0, refused = 0;
    const int32_t *rows;
    uint32_t count, every;

    if (!space ||
        !place_of("shared/Microsoft.NETCore.App/10.*/libcoreclr.so", "coreclr_initialize", &place))
        skip();
    rows = (const int32_t *)(const void *)(place.table.header + 12);
    memcpy(&count, place.table.header + 8, sizeof(count));
    every = count < PLACES ? 1 : count / PLACES;
    for (uint32_t i = 0; i + 1 < count; i += every) {
        uintptr_t start = (uintptr_t)place.table.header + (uintptr_t)(intptr_t)rows[2 * i];
        uint64_t by_us[3], by_them[3];
        struct cfi_rule rule;
        const uint8_t *record = place.table.header + rows[2 * i + 1];
        uint32_t range; /* behind the length, the way to the common part, and the start */
        uintptr_t ip;
        memcpy(&range, record + 12, sizeof(range));
        ip = start + (uintptr_t)range * (i % 7) / 7;
        if (!cfi_find(&place.table, ip, &rule) || rule.ends) {
            refused++;
            continue;
        }
        if (!theirs(space, ip, by_them))
            continue;
        ours(&rule, by_us);
        same += !memcmp(by_us, by_them, sizeof(by_us));
        differ += !!memcmp(by_us, by_them, sizeof(by_us));
    }
    call.destroy(space);
    print_message("%zu equal, %zu different, %zu refused\n", same, differ, refused);
    assert_int_equal(differ, 0);
    assert_true(same > PLACES / 2);
    assert_true(refused < same / 100); /* expressions, and where threads begin */
}

/* Whatever the bytes are, nothing outside of the section is read. */
TEST(damaged_tables_are_read_to_an_end)
{
    struct natives_place place;
    struct cfi_rule rule;
    uint32_t seed = 7;
    size_t size, found = 0;
    uint8_t *copy;

    natives_start((uintptr_t)place_of, false);
    if (!natives_find((uintptr_t)dotnet_files, &place))
        skip();
    size = (size_t)(place.table.high - place.table.header);
    for (unsigned round = 0; round < 400; round++) {
        struct cfi_table table;

        copy = malloc(size); /* of exactly its size: no read past the end */
        memcpy(copy, place.table.header, size);
        table = (struct cfi_table){copy, copy, copy + size};
        for (unsigned i = 0; round && i < 1 + size / 64; i++) {
            seed = seed * 1664525 + 1013904223;
            copy[round % 2 ? seed % 64 : seed % size] = (uint8_t)(seed >> 24);
        }
        for (unsigned i = 0; i < 50; i++) {
            seed = seed * 1664525 + 1013904223;
            found += cfi_find(&table, (uintptr_t)copy - (seed % 0x40000), &rule);
        }
        free(copy);
    }
    assert_true(found < 400 * 50);
}

/* Each walk of a main thread comes to it: whether it is still there need not be asked. */
TEST(the_host_is_kept_loaded)
{
    struct natives_place place;
    void *host;
    uintptr_t at;

    if (!place_of("host/fxr/10.*/libhostfxr.so", "hostfxr_main", &place))
        skip();
    host = dlopen("libhostfxr.so", RTLD_LAZY | RTLD_NOLOAD);
    at = (uintptr_t)dlsym(host, "hostfxr_main");
    natives_start((uintptr_t)place_of, true);
    assert_true(natives_find(at, &place));
    assert_false(place.stays);
    natives_start((uintptr_t)place_of, false);
    dlclose(host);
    dlclose(host);
    assert_true(natives_find(at, &place));
    assert_true(place.stays);
    assert_ptr_equal(dlopen("libhostfxr.so", RTLD_LAZY | RTLD_NOLOAD), place.image);
}

TEST(an_address_in_no_image_has_no_place)
{
    struct natives_place place;
    int here;

    natives_start((uintptr_t)place_of, false);
    assert_false(natives_find((uintptr_t)&here, &place));
    assert_null(place.image);
    assert_true(natives_find((uintptr_t)memcpy, &place));
    assert_true(place.stays);
    assert_true(natives_same((uintptr_t)memcpy, place.image));
    assert_false(natives_same((uintptr_t)&here, place.image));
}
