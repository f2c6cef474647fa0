/* page/encode.h - the union as columns of small numbers, which pack well. */
#ifndef SHADOWTRACE_PAGE_ENCODE_H
#define SHADOWTRACE_PAGE_ENCODE_H

#include "page/union.h"

#include "base/buffer.h"

/* X(enumerator, name). What each holds is in README.md. */
#define PAGE_COLUMNS(X) \
    X(UP, "up") \
    X(PLACE, "place") \
    X(CELLS, "cells") \
    X(THREAD, "thread") \
    X(SLICE, "slice") \
    X(SIZE, "size") \
    X(SIDE, "side") \
    X(ALLOCS, "allocs") \
    X(BYTES, "bytes") \
    X(BYTES_VARIANCE, "bytes_variance") \
    X(ALLOCS_VARIANCE, "allocs_variance") \
    X(BYTES_SEEN, "bytes_seen") \
    X(ALLOCS_SEEN, "allocs_seen") \
    X(PLACE_KIND, "place_kind") \
    X(PLACE_NAME, "place_name") \
    X(PLACE_FILE, "place_file") \
    X(PLACE_LINE, "place_line") \
    X(PLACE_LINE_LAST, "place_line_last") \
    X(PLACE_COUNT, "place_count") \
    X(NAME_MODULE, "name_module") \
    X(NAME_OWNER, "name_owner") \
    X(NAME_LINED, "name_lined") \
    X(NAME_LACK, "name_lack") \
    X(NAME_SPACE, "name_space")

#define PAGE_COLUMN_ENUMERATOR(name, text) PAGE_##name,
enum page_column { PAGE_COLUMNS(PAGE_COLUMN_ENUMERATOR) PAGE_COLUMN_COUNT };
#undef PAGE_COLUMN_ENUMERATOR

extern const char *const page_column_names[];

struct page_columns {
    struct {
        struct buffer bytes;
        size_t count;
        bool doubles;
    } column[PAGE_COLUMN_COUNT];
    uint32_t *place_order; /* the page's number to the union's: the most used first */
    uint32_t *name_order;  /* by name */
    uint32_t *place_number, *name_number; /* the other way round */
};

/* page_encode - Returns: 0 or -ENOMEM. Owns: release with page_columns_fini in any case. */
int page_encode(const struct page_union *u, bool estimated, bool sides, struct page_columns *out);
void page_columns_fini(struct page_columns *c);

#endif
