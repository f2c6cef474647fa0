/* readers/natives.h - native frames of logged snapshots (--native), and the images they lie in. */
#ifndef SHADOWTRACE_READERS_NATIVES_H
#define SHADOWTRACE_READERS_NATIVES_H

#include "readers/defs.h"

struct report_image {
    char *path;
    char *build_id; /* hexadecimal; NULL: it has none */
};

/* The ids of one recording; entries stay. */
struct report_images {
    struct report_image *images;
    size_t count, capacity;
    struct report_ids ids;
};

/* One native frame. */
struct report_native {
    size_t at;       /* frames of the snapshot that are younger */
    uint32_t image;  /* number + 1; 0 not known */
    bool more;       /* no frame: more of the run were there, and are not logged */
    uint64_t offset; /* the return address, as the image's file counts; of image 0 as it was */
};

int report_images_add(struct report_images *images,
                      const struct report_record *r);  /* 0, -EBADMSG, -ENOMEM */
void report_images_next(struct report_images *images); /* another recording: its ids are its own */
void report_images_fini(struct report_images *images);

/*
 * report_natives - the native frames of a snapshot or mismatch record, youngest first; what cannot
 * be read is passed over.
 * Returns: 0 or -ENOMEM. Owns: *out is the caller's (memory_free); NULL if there are none.
 */
int report_natives(const struct report_images *images, const json_t *record,
                   struct report_native **out, size_t *count);

#endif
