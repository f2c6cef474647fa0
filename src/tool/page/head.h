/* page/head.h - the header of a page's data: names, and what is to be said of the logs; as JSON. */
#ifndef SHADOWTRACE_PAGE_HEAD_H
#define SHADOWTRACE_PAGE_HEAD_H

#include "page/encode.h"
#include "retained/held.h"

struct page_head {
    const char *title;
    const struct side *sides;
    size_t side_count;
    const struct page_union *all;
    const struct page_columns *columns;
    const struct side_options *options;
    struct held *heap; /* joined; NULL: no dump */
};

/* page_title - of a log: the program and its arguments, as far as they tell. Into *b. */
void page_title(const struct side *s, struct buffer *out);

/* page_head_write - Returns: the text, for memory_free; NULL: no memory. */
char *page_head_write(const struct page_head *h);

#endif
