/* unit/export/written.h - a profile made by hand, what a format writes of it, and how to unpack it. */
#ifndef SHADOWTRACE_TESTS_UNIT_EXPORT_WRITTEN_H
#define SHADOWTRACE_TESTS_UNIT_EXPORT_WRITTEN_H

#include "export/formats.h"

#include "base/atomics.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define HOSTILE "Ns.<Main>$<\"&;\x01\xe2\x80\xae>.Run(System.Int32)"

/*
 * Main (own, two places in it) -> a method with a hostile name, and a caller that is not known:
 *
 *     1 Main +3  ->  2 hostile  ->  3 [System.String] 100 in 4
 *     4 Main +9  ->  5 [System.Byte[]] 20,000,001 in 1
 *     6 (callers not in the log) -> 7 [System.String] 24 in 1
 */
static inline struct export_profile *a_profile(void)
{
    static struct export_module modules[] = {{"System.Private.CoreLib", "/fw/CoreLib.dll", NULL},
                                             {"App", "/a/App.dll", "0a-1b"}};
    static struct export_frame frames[] = {
        {"App.P.Main()", "/a/P.cs", 12, 3, 0, 1, EXPORT_METHOD, true, 0x06000005},
        {HOSTILE, NULL, 0, -1, 1, 0, EXPORT_METHOD, false, 0},
        {"System.String", NULL, 0, -1, 2, EXPORT_NO_MODULE, EXPORT_TYPE, false, 0},
        {"App.P.Main()", "/a/P.cs", 14, 9, 0, 1, EXPORT_METHOD, true, 0},
        {"System.Byte[]", NULL, 0, -1, 3, EXPORT_NO_MODULE, EXPORT_TYPE, false, 0},
        {"(callers not in the log)", NULL, 0, -1, 4, EXPORT_NO_MODULE, EXPORT_OTHER, false, 0}};
    static struct export_node nodes[] = {{0, 0}, {0, 0}, {1, 1}, {2, 2},
                                         {0, 3}, {4, 4}, {0, 5}, {6, 2}};
    static struct export_sample samples[] = {
        {3, 100, 4, 0, 0}, {5, 20000001, 1, 0, 0}, {7, 24, 1, 0, 0}};
    static char first[] = "the log is <not> complete & more", second[] = "folded";
    static char *remarks[] = {first, second};
    static struct export_profile p = {.modules = modules,
                                      .frames = frames,
                                      .nodes = nodes,
                                      .samples = samples,
                                      .module_count = COUNT_OF(modules),
                                      .frame_count = COUNT_OF(frames),
                                      .node_count = COUNT_OF(nodes),
                                      .sample_count = COUNT_OF(samples),
                                      .function_count = 5,
                                      .bytes = 20000125,
                                      .allocs = 6,
                                      .main_module = 1,
                                      .program = "App.dll",
                                      .pid = 42,
                                      .started = INT64_C(1795368600500000000),
                                      .duration = 1500000000,
                                      .period = 1,
                                      .remarks = remarks,
                                      .remark_count = COUNT_OF(remarks)};

    return &p;
}

struct written {
    char *data;
    size_t size;
};

typedef int export_format(const struct export_profile *p, FILE *out);

static inline struct written written_by(export_format *format, const struct export_profile *p)
{
    struct written w;
    FILE *out = open_memstream(&w.data, &w.size);

    assert_non_null(out);
    assert_int_equal(format(p, out), 0);
    fclose(out);
    return w;
}

/* window: zlib's: negative for bare data. Returns: as much as was packed. */
static inline struct written unpacked(const char *data, size_t size, int window)
{
    struct written w = {malloc(1 << 20), 0};
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (unsigned)size};

    assert_int_equal(inflateInit2(&z, window), Z_OK);
    z.next_out = (Bytef *)w.data;
    z.avail_out = (1 << 20) - 1;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    w.size = z.total_out;
    w.data[w.size] = '\0';
    inflateEnd(&z);
    return w;
}

static inline uint64_t little(const char *at, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)(uint8_t)at[i] << 8 * i;
    return value;
}

/* Seven bits a byte, the lowest first; advances past them. */
static inline uint64_t varint(const char **at)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t) * (*at)++;

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* A full device is reported, and so is running out of memory at each allocation. */
static inline void failures_are_told(export_format *format)
{
    FILE *full = fopen("/dev/full", "w");
    int err;

    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    err = format(a_profile(), full);
    assert_true(err == -ENOSPC || ferror(full));
    fclose(full);
    for (long n = 0;; n++) {
        struct written w;
        FILE *out = open_memstream(&w.data, &w.size);

        memory_fail_after(n);
        err = format(a_profile(), out);
        memory_fail_after(-1);
        fclose(out);
        free(w.data);
        if (!err)
            break;
        assert_int_equal(err, -ENOMEM);
        assert_true(n < 200);
    }
}

/* One field of a message of Protocol Buffers. */
struct field {
    unsigned number;
    uint64_t value;
    const char *data; /* NULL: a number */
};

static inline bool next(const char **at, const char *end, struct field *f)
{
    uint64_t tag;

    *f = (struct field){0};
    if (*at >= end)
        return false;
    tag = varint(at);
    f->number = (unsigned)(tag >> 3);
    f->value = (tag & 7) == 1 ? 8 : varint(at);
    f->data = (tag & 7) == 0 ? NULL : *at;
    assert_in_range(tag & 7, 0, 2);
    if (f->data)
        *at += f->value;
    assert_true(*at <= end);
    return true;
}

#endif
