/* readers/natives.h - native frames of logged snapshots (--native), and the images they lie in. */
#ifndef SHADOWTRACE_READERS_NATIVES_H
#define SHADOWTRACE_READERS_NATIVES_H

#include "readers/defs.h"

struct log_native_image {
    char *path;
    char *build_id; /* hexadecimal; NULL: it has none */
};

/* The ids of one recording; entries stay. */
struct log_native_images {
    struct log_native_image *images;
    size_t count, capacity;
    struct log_id_map ids;
};

/* One native frame. */
struct log_native {
    size_t at;       /* frames of the snapshot that are younger */
    uint32_t image;  /* number + 1; 0 not known */
    bool more;       /* no frame: more of the run were there, and are not logged */
    uint64_t offset; /* the return address, as the image's file counts; of image 0 as it was */
};

int log_native_images_add(struct log_native_images *images,
                          const struct log_record *r); /* 0, -EBADMSG, -ENOMEM */
void log_native_images_next(
    struct log_native_images *images); /* another recording: its ids are its own */
void log_native_images_fini(struct log_native_images *images);

/*
 * log_native_records - the native frames of a snapshot or mismatch record, youngest first; what
 * cannot be read is passed over.
 * Returns: 0 or -ENOMEM. Owns: *out is the caller's (memory_free); NULL if there are none.
 */
int log_native_records(const struct log_native_images *images, const json_t *record,
                       struct log_native **out, size_t *count);

#endif
