/*
 * Prologs of precompiled code beside the UNWIND_INFO of its images: the decoder of the one and the
 * reader of the other must say the same of every method of the .NET that is installed. In
 * `make check` of a sample; WALK_ALL=1: of all images.
 */
#include "base/load.h"
#include "clr/pe.h"
#include "code/cpu_code.h"
#include "support/dotnet.h"
#include "walk/unwind_info.h"

#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAMPLE 40 /* one function in SAMPLE */

static struct {
    size_t images, functions, framed, handlers, differ;
} seen;

/* Is it an image for x86-64 with code compiled ahead of time, and an exception directory? */
static const uint8_t *directory(const uint8_t *image, size_t size, uint32_t *bytes)
{
    const uint8_t *native, *optional;
    uint32_t pe = size > 1024 ? load_u32(image + 60) : UINT32_MAX, header;

    if (pe > 512 || load_u16(image + pe + 4) == 0xAA64)
        return NULL;
    optional = image + pe + 24;
    native = clr_pe_native(image, true, &header);
    if (!native || load_u16(optional) != 0x20b || load_u32(native) != 0x00525452)
        return NULL;
    *bytes = load_u32(optional + 112 + 3 * 8 + 4);
    return clr_pe_place(image, true, load_u32(optional + 112 + 3 * 8));
}

/* The prolog of a handler is not that of a method: it does not set up a frame. */
static bool agrees(const struct cpu_prolog *prolog, const struct code_frame_info *info)
{
    if (prolog->framed)
        return info->saved == 8 && info->bytes == prolog->bytes + 8 &&
               (!info->framed || info->frame == prolog->bytes);
    return !info->framed && info->bytes == prolog->bytes && info->saved == prolog->saved;
}

static void function_check(const char *path, const uint8_t *image, const uint8_t *end,
                           const struct unwind_function *f)
{
    const uint8_t *code = clr_pe_place(image, true, f->begin);
    const uint8_t *info = clr_pe_place(image, true, f->info);
    struct code_frame_info unwind = {0};
    struct cpu_prolog prolog = {0};

    if (!code || !info || f->end <= f->begin)
        return;
    seen.functions++;
    if (unwind_info_read(info, end, &unwind) && cpu_prolog(code, f->end - f->begin, &prolog) &&
        agrees(&prolog, &unwind)) {
        seen.framed += prolog.framed;
        return;
    }
    if (seen.differ++ < 5)
        print_error(
            "%s: the function at 0x%x differs: by its prolog framed %d, bytes %u, saved %u; "
            "by its table %d, %u, %u\n",
            path, f->begin, prolog.framed, prolog.bytes, prolog.saved, unwind.framed, unwind.bytes,
            unwind.saved);
}

static void image_check(const char *path, size_t each)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    const uint8_t *image;
    const struct unwind_function *functions;
    uint32_t bytes = 0;

    if (fd < 0 || fstat(fd, &about) || about.st_size < 4096) {
        close(fd);
        return;
    }
    image = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    assert_ptr_not_equal(image, MAP_FAILED);
    functions = (const void *)directory(image, (size_t)about.st_size, &bytes);
    if (functions) {
        seen.images++;
        for (size_t i = seen.functions % each; i < bytes / sizeof(*functions); i += each)
            function_check(path, image, image + about.st_size, &functions[i]);
    }
    munmap((void *)(uintptr_t)image, (size_t)about.st_size);
}

TEST(prologs_of_precompiled_code_say_what_its_unwind_information_says)
{
    static const char *const where[] = {"shared/*/*/*.dll", "sdk/*/*.dll", "sdk/*/FSharp/*.dll",
                                        "sdk/*/Roslyn/bincore/*.dll"};
    size_t each = getenv("WALK_ALL") ? 1 : SAMPLE;

    for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
        glob_t files;

        dotnet_files(where[i], &files);
        for (size_t k = 0; k < files.gl_pathc; k++)
            image_check(files.gl_pathv[k], each);
        globfree(&files);
    }
    if (!seen.images)
        skip();
    print_message("%zu images, %zu functions, %zu of them with a frame pointer\n", seen.images,
                  seen.functions, seen.framed);
    assert_true(seen.functions > 1000);
    assert_true(seen.framed > seen.functions / 10 && seen.framed < seen.functions);
    assert_int_equal(seen.differ, 0);
}

TEST(unwind_information_that_is_cut_or_not_known_is_refused)
{
    static const uint8_t chained[16] = {1 | 4 << 3, 0, 0, 0}, version[16] = {2, 0, 0, 0},
                         unknown[16] = {1, 4, 1, 0, 4, 0x07}, good[16] = {1, 1, 1, 0, 1, 0x50};
    struct code_frame_info info;

    assert_false(unwind_info_read(chained, chained + 16, &info));
    assert_false(unwind_info_read(version, version + 16, &info));
    assert_false(unwind_info_read(unknown, unknown + 16, &info));
    assert_false(unwind_info_read(good, good + 6, &info));
    assert_true(unwind_info_read(good, good + 16, &info));
    assert_int_equal(info.bytes, 8);
    assert_int_equal(info.saved, 8);
}

TEST(a_function_is_found_by_an_address_in_it)
{
    static const struct unwind_function functions[] = {{16, 32, 1}, {32, 40, 2}, {64, 72, 3}};

    assert_ptr_equal(unwind_info_find(functions, 3, 31), &functions[0]);
    assert_ptr_equal(unwind_info_find(functions, 3, 32), &functions[1]);
    assert_ptr_equal(unwind_info_find(functions, 3, 71), &functions[2]);
    assert_null(unwind_info_find(functions, 3, 15));
    assert_null(unwind_info_find(functions, 3, 40));
    assert_null(unwind_info_find(functions, 3, 72));
    assert_null(unwind_info_find(functions, 0, 16));
}
