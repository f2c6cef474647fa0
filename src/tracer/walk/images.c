#include "walk/images.h"

#include "base/atomics.h"
#include "base/load.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* PE/COFF: offsets in bytes. */
enum {
    DOS_PE_OFFSET = 60,
    PE_OPTIONAL = 24,
    OPTIONAL_MAGIC_64 = 0x20b,
    OPTIONAL_IMAGE_SIZE = 56,
    DIRECTORIES_64 = 112,
    EXCEPTIONS = 3, /* the directory's number */
    DIRECTORY_SIZE = 8
};

#define HEADERS 1024 /* bytes of an image at the least */

/* Entries are never freed: one of a module that was unloaded is used again, its base last. */
struct image {
    struct image *next;
    _Atomic(uintptr_t) base; /* 0: free */
    _Atomic(uint32_t) size, functions, count;
    uintptr_t module_id; /* under the lock */
};

struct images {
    struct clr_info *info;
    pthread_mutex_t lock; /* guards changes; the runtime is not called under it */
    _Atomic(struct image *) first;
};

int images_new(struct clr_info *info, struct images **out)
{
    struct images *images = memory_zalloc(1, sizeof(*images));

    *out = images;
    if (!images)
        return -ENOMEM;
    images->info = info;
    pthread_mutex_init(&images->lock, NULL);
    return 0;
}

void images_free(struct images *images)
{
    struct image *image, *next;

    if (!images)
        return;
    for (image = load_relaxed(&images->first); image; image = next) {
        next = image->next;
        memory_free(image);
    }
    memory_free(images);
}

/* Mapped by section, which is how the runtime runs precompiled code. */
static const uint8_t *mapped(struct images *images, uintptr_t module_id)
{
    struct clr_info *info = images->info;
    const uint8_t *base = NULL;
    uintptr_t assembly;
    uint32_t flags = 0, length;

    if (info->vtbl->get_module_info2(info, module_id, &base, 0, &length, NULL, &assembly, &flags) <
            0 ||
        flags & COR_PRF_MODULE_FLAT_LAYOUT || flags & COR_PRF_MODULE_DYNAMIC)
        return NULL;
    return base;
}

/* Its exception directory. Returns: has it one? */
static bool read_headers(const uint8_t *base, struct image *out)
{
    const uint8_t *optional, *directory;
    uint32_t pe, size;

    if (memcmp(base, "MZ", 2) != 0 || (pe = load_u32(base + DOS_PE_OFFSET)) > HEADERS / 2 ||
        memcmp(base + pe, "PE\0", 4) != 0)
        return false;
    optional = base + pe + PE_OPTIONAL;
    if (load_u16(optional) != OPTIONAL_MAGIC_64)
        return false;
    directory = optional + DIRECTORIES_64 + EXCEPTIONS * DIRECTORY_SIZE;
    size = load_u32(optional + OPTIONAL_IMAGE_SIZE);
    store_relaxed(&out->size, size);
    store_relaxed(&out->functions, load_u32(directory));
    store_relaxed(&out->count, load_u32(directory + 4) / (uint32_t)sizeof(struct unwind_function));
    return load_u32(directory) && load_u32(directory) < size &&
           load_u32(directory + 4) <= size - load_u32(directory);
}

/* A free entry, or a new one. Under the lock. */
static struct image *entry(struct images *images)
{
    struct image *image = load_relaxed(&images->first);

    while (image && load_relaxed(&image->base))
        image = image->next;
    if (image || !(image = memory_zalloc(1, sizeof(*image))))
        return image;
    image->next = load_relaxed(&images->first);
    store_release(&images->first, image);
    return image;
}

int images_add(struct images *images, uintptr_t module_id)
{
    const uint8_t *base = mapped(images, module_id);
    struct image read = {.next = NULL}, *image;

    if (!base || !read_headers(base, &read))
        return 0;
    pthread_mutex_lock(&images->lock);
    image = entry(images);
    if (image) {
        image->module_id = module_id;
        store_relaxed(&image->size, load_relaxed(&read.size));
        store_relaxed(&image->functions, load_relaxed(&read.functions));
        store_relaxed(&image->count, load_relaxed(&read.count));
        store_release(&image->base, (uintptr_t)base);
    }
    pthread_mutex_unlock(&images->lock);
    return image ? 0 : -ENOMEM;
}

void images_remove(struct images *images, uintptr_t module_id)
{
    pthread_mutex_lock(&images->lock);
    for (struct image *image = load_relaxed(&images->first); image; image = image->next)
        if (image->module_id == module_id) {
            image->module_id = 0;
            store_release(&image->base, 0);
        }
    pthread_mutex_unlock(&images->lock);
}

bool images_find(const struct images *images, uintptr_t ip, struct images_function *out)
{
    for (const struct image *image = load_acquire(&images->first); image; image = image->next) {
        uintptr_t base = load_acquire(&image->base);
        uint32_t size = load_relaxed(&image->size), count = load_relaxed(&image->count);
        uintptr_t functions = base + load_relaxed(&image->functions);
        const struct unwind_function *function;

        fence_acquire(); /* the entry may have become another's: then its base has changed */
        if (!base || ip - base >= size || load_relaxed(&image->base) != base)
            continue;
        function = unwind_info_find((const void *)functions, count, (uint32_t)(ip - base));
        if (!function)
            return false;
        *out = (struct images_function){
            (const uint8_t *)(base + function->begin), function->end - function->begin,
            (const uint8_t *)(base + function->info), (const uint8_t *)(base + size)};
        return true;
    }
    return false;
}
