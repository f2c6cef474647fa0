#include "readers/natives.h"

#include "readers/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int log_native_images_add(struct log_native_images *images, const struct log_record *r)
{
    const char *path = NULL, *build_id = NULL;
    struct log_native_image *image;
    uint32_t id = 0;

    if (log_member_id(r->json, "id", 1, &id) || log_member_text(r->json, "path", &path))
        return -EBADMSG;
    (void)log_member_text(r->json, "build_id", &build_id);
    if (!array_reserve(&images->images, &images->capacity, images->count + 1))
        return -ENOMEM;
    image = &images->images[images->count];
    image->path = memory_strdup(path);
    image->build_id = build_id ? memory_strdup(build_id) : NULL;
    images->count++;
    if (!image->path || (build_id && !image->build_id))
        return -ENOMEM;
    return log_id_map_set(&images->ids, id, (uint32_t)images->count - 1);
}

void log_native_images_next(struct log_native_images *images)
{
    log_id_map_free(&images->ids);
}

void log_native_images_fini(struct log_native_images *images)
{
    for (size_t i = 0; i < images->count; i++) {
        memory_free_all(images->images[i].path, images->images[i].build_id);
    }
    memory_free(images->images);
    log_id_map_free(&images->ids);
    memset(images, 0, sizeof(*images));
}

static size_t frames_in(const json_t *runs)
{
    size_t count = 0, i;
    const json_t *run;

    json_array_foreach(runs, i, run)
    {
        count += json_array_size(json_object_get(run, "frames")) + 1;
    }
    return count;
}

static size_t add_run(const struct log_native_images *images, const json_t *run,
                      struct log_native *to)
{
    const json_t *frame;
    uint64_t at = 0;
    size_t count = 0, i;

    if (log_member_count(run, "at", &at))
        return 0;
    json_array_foreach(json_object_get(run, "frames"), i, frame)
    {
        json_int_t id = json_integer_value(json_array_get(frame, 0));
        const char *offset = json_string_value(json_array_get(frame, 1));
        uint32_t image = id > 0 && id < UINT32_MAX ? log_id_map_get(&images->ids, (uint32_t)id) : 0;

        if (offset)
            to[count++] = (struct log_native){at, image, false, strtoull(offset, NULL, 16)};
    }
    if (json_is_true(json_object_get(run, "more")))
        to[count++] = (struct log_native){at, 0, true, 0};
    return count;
}

int log_native_records(const struct log_native_images *images, const json_t *record,
                       struct log_native **out, size_t *count)
{
    const json_t *runs = json_object_get(record, "native"), *run;
    size_t room = frames_in(runs), i;

    *out = NULL;
    *count = 0;
    if (!room)
        return 0;
    *out = memory_zalloc(room, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    json_array_foreach(runs, i, run)
    {
        *count += add_run(images, run, *out + *count);
    }
    return 0;
}
