#include "clr/pe.h"
#include "clr/scope.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    PE = 128,
    OPTIONAL = PE + 24,
    OPTIONAL_SIZE = 240,
    SECTIONS = OPTIONAL + OPTIONAL_SIZE,
    ADDRESS = 0x2000, /* of the section once it is loaded */
    RAW = 512,        /* in the file */
    CLI = 16,         /* in the section */
    METADATA = 96,
};

static uint8_t file[RAW + 256];
static struct clr_metadata runtimes; /* what the runtime gives */
static unsigned asked;

static void put(uint8_t *at, uint32_t value, size_t size)
{
    memcpy(at, &value, size);
}

/* A PE file with one section, in it a CLI header and metadata of 24 bytes. `magic`: 32 or 64 bits. */
static void file_make(uint32_t magic)
{
    uint8_t *directory = file + OPTIONAL + (magic == 0x20b ? 112 : 96) + 14 * 8;

    memset(file, 0, sizeof(file));
    memcpy(file, "MZ", 2);
    put(file + 60, PE, 4);
    memcpy(file + PE, "PE\0", 4);
    put(file + PE + 6, 1, 2);
    put(file + PE + 20, OPTIONAL_SIZE, 2);
    put(file + OPTIONAL, magic, 2);
    put(directory, ADDRESS + CLI, 4);
    put(directory + 4, 72, 4);
    put(file + SECTIONS + 8, 256, 4);
    put(file + SECTIONS + 12, ADDRESS, 4);
    put(file + SECTIONS + 16, 256, 4);
    put(file + SECTIONS + 20, RAW, 4);
    put(file + RAW + CLI + 8, ADDRESS + METADATA, 4);
    put(file + RAW + CLI + 12, 24, 4);
}

TEST(metadata_is_found_in_a_flat_file)
{
    static const uint32_t magics[] = {0x10b, 0x20b};

    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        uint32_t size = 0;

        file_make(magics[i]);
        assert_ptr_equal(clr_pe_metadata(file, true, &size), file + RAW + METADATA);
        assert_int_equal(size, 24);
    }
}

TEST(metadata_is_found_in_a_loaded_image)
{
    static uint8_t image[ADDRESS + 256];
    uint32_t size = 0;

    file_make(0x20b);
    memcpy(image, file, RAW);
    memcpy(image + ADDRESS, file + RAW, 256);
    assert_ptr_equal(clr_pe_metadata(image, false, &size), image + ADDRESS + METADATA);
    assert_int_equal(size, 24);
}

TEST(what_is_no_managed_image_has_none)
{
    uint32_t size;

    file_make(0x20b);
    put(file + OPTIONAL + 112 + 14 * 8, 0, 4); /* no CLI header */
    assert_null(clr_pe_metadata(file, true, &size));
    put(file + OPTIONAL + 112 + 14 * 8, ADDRESS + 256, 4); /* one behind the last section */
    assert_null(clr_pe_metadata(file, true, &size));
    file_make(0x20b);
    file[PE] = 'N';
    assert_null(clr_pe_metadata(file, true, &size));
    file[0] = 'Z';
    assert_null(clr_pe_metadata(file, true, &size));
}

static const uint8_t *base;
static uint32_t flags;

static hresult info_module(struct clr_info *self, uintptr_t module, const uint8_t **image,
                           uint32_t max, uint32_t *length, clr_wchar *name, uintptr_t *assembly,
                           uint32_t *module_flags)
{
    (void)self, (void)module, (void)max, (void)length, (void)name, (void)assembly;
    *image = base;
    *module_flags = flags;
    return S_OK;
}

static hresult info_metadata(struct clr_info *self, uintptr_t module, uint32_t open_flags,
                             const struct clr_guid *riid, struct clr_unknown **out)
{
    (void)self, (void)module, (void)open_flags, (void)riid;
    asked++;
    *out = (struct clr_unknown *)(void *)&runtimes;
    return S_OK;
}

/* This process has no dispenser either: the last row. */
TEST(the_runtime_is_asked_where_bytes_may_change_or_cannot_be_had)
{
    static const struct clr_info_vtbl vtbl = {.get_module_info2 = info_module,
                                              .get_module_metadata = info_metadata};
    static const uint8_t none[512];
    static const struct {
        const uint8_t *base;
        uint32_t flags;
    } rows[] = {{NULL, 0},
                {none, 0},
                {file, COR_PRF_MODULE_FLAT_LAYOUT | COR_PRF_MODULE_DYNAMIC},
                {file, COR_PRF_MODULE_FLAT_LAYOUT | COR_PRF_MODULE_COLLECTIBLE},
                {file, COR_PRF_MODULE_FLAT_LAYOUT}};
    struct clr_info info = {&vtbl};

    file_make(0x20b);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct clr_metadata *import = NULL;

        base = rows[i].base;
        flags = rows[i].flags;
        assert_int_equal(clr_scope_open(&info, 1, NULL, &import), S_OK);
        assert_ptr_equal(import, &runtimes);
        assert_int_equal(asked, i + 1);
    }
}
