/* page/files.h - what a page is made of, byte for byte as it lies in this folder. */
#ifndef SHADOWTRACE_PAGE_FILES_H
#define SHADOWTRACE_PAGE_FILES_H

struct page_file {
    const char *text; /* NUL-terminated */
};

extern const struct page_file page_html, page_css;
extern const struct page_file page_scripts[]; /* in the order they run; text NULL ends them */

#endif
