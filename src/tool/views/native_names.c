#include "views/native_names.h"

#include "base/memory.h"
#include "base/path.h"
#include "symbols/elf.h"
#include "symbols/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct file {
    bool tried;
    struct symbols_elf *elf; /* NULL: no symbols */
};

struct native_names {
    const struct log_native_images *images;
    char text[320];
    struct file files[]; /* one for each image */
};

struct native_names *native_names_new(const struct log_native_images *images)
{
    struct native_names *names =
        memory_zalloc(1, sizeof(*names) + images->count * sizeof(names->files[0]));

    if (names)
        names->images = images;
    return names;
}

void native_names_free(struct native_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->images->count; i++)
        symbols_elf_free(names->files[i].elf);
    memory_free(names);
}

/* A return address: the call lies before it. */
static const char *function_of(struct native_names *names, const struct log_native *frame)
{
    const struct log_native_image *image = &names->images->images[frame->image - 1];
    struct file *file = &names->files[frame->image - 1];

    if (!file->tried) {
        file->tried = true;
        (void)symbols_elf_open(image->path, image->build_id, &file->elf); /* none: offsets */
    }
    return file->elf && frame->offset ? symbols_elf_name(file->elf, frame->offset - 1) : NULL;
}

const char *native_names_text(struct native_names *names, const struct log_native *frame)
{
    const char *path, *function;
    char text[sizeof(names->text)];

    if (frame->more)
        return "... more native frames";
    if (!names)
        return "native";
    if (!frame->image) {
        snprintf(names->text, sizeof(names->text), "0x%" PRIx64, frame->offset);
        return names->text;
    }
    path = path_base_name(names->images->images[frame->image - 1].path);
    function = function_of(names, frame);
    if (function)
        snprintf(text, sizeof(text), "%.100s!%.200s", path, function);
    else
        snprintf(text, sizeof(text), "%.100s+0x%" PRIx64, path, frame->offset);
    symbols_text_line(names->text, sizeof(names->text), text);
    return names->text;
}
