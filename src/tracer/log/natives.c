#include "log/records.h"

#include "base/array.h"
#include "base/image.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct log_image {
    uintptr_t base;
    char *path;
    char build_id[2 * IMAGE_BUILD_ID + 1]; /* "" none */
    bool written;                          /* in this part of the log */
};

void log_images_clear(struct log_images *images)
{
    for (size_t i = 0; i < images->count; i++)
        images->image[i].written = false;
}

static int add(struct log_images *images, const struct image *found)
{
    struct log_image *image;

    if (!array_reserve(&images->image, &images->capacity, images->count + 1))
        return -ENOMEM;
    image = &images->image[images->count];
    *image = (struct log_image){.base = found->base, .path = memory_strdup(found->path)};
    if (!image->path)
        return -ENOMEM;
    for (size_t i = 0; i < found->build_id_size; i++)
        snprintf(image->build_id + 2 * i, 3, "%02x", found->build_id[i]);
    images->count++;
    return 0;
}

/* Number of the image; an address may hold another one later. -ENOMEM. */
static int number_of(struct log_images *images, const struct image *found)
{
    int err;

    for (size_t i = 0; i < images->count; i++)
        if (images->image[i].base == found->base && strcmp(images->image[i].path, found->path) == 0)
            return (int)i;
    err = add(images, found);
    return err ? err : (int)images->count - 1;
}

/* Id of the image, defined first; 0: in none, or it is gone. -ENOMEM. */
static int define(struct log *log, uintptr_t address, uintptr_t *offset)
{
    struct image found;
    struct log_image *image;
    json_t *line;
    int number, err;

    *offset = address;
    if (!image_find(address, &found))
        return 0;
    *offset = address - found.base;
    number = number_of(&log->images, &found);
    if (number < 0)
        return number;
    image = &log->images.image[number];
    if (image->written)
        return number + 1;
    line = json_pack("{s:s, s:i, s:o, s:I}", "kind", "image", "id", number + 1, "path",
                     log_text(image->path), "base", (json_int_t)image->base);
    if (*image->build_id)
        json_object_set_new(line, "build_id", json_string(image->build_id));
    err = log_emit(log, SST_KIND_IMAGE, line);
    image->written = !err;
    return err ? err : number + 1;
}

static int add_frame(struct log *log, json_t *frames, uintptr_t ip)
{
    uintptr_t offset;
    char hex[20];
    int image = define(log, ip, &offset);

    if (image < 0)
        return image;
    log_hex(hex, offset, 0);
    return json_array_append_new(frames, json_pack("[i, s]", image, hex)) ? -ENOMEM : 0;
}

static json_t *add_run(json_t *runs, uint32_t at)
{
    json_t *frames = json_array();

    if (json_array_append_new(runs,
                              json_pack("{s:I, s:o}", "at", (json_int_t)at, "frames", frames)))
        return NULL;
    return frames;
}

int log_natives(struct log *log, const struct event_native *native, size_t count, json_t **out)
{
    json_t *runs = count ? json_array() : NULL, *frames = NULL;
    int err = count && !runs ? -ENOMEM : 0;

    for (size_t i = 0; !err && i < count; i++) {
        if (i == 0 || native[i].run != native[i - 1].run)
            frames = add_run(runs, native[i].at);
        if (!frames)
            err = -ENOMEM;
        else if (native[i].ip)
            err = add_frame(log, frames, native[i].ip);
        else
            json_object_set_new(json_array_get(runs, json_array_size(runs) - 1), "more",
                                json_true());
    }
    if (err) {
        json_decref(runs);
        runs = NULL;
    }
    *out = runs;
    return err;
}
