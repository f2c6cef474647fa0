/* The compiler runs at the top of the source tree. */
#include "page/files.h"

#include <stddef.h>

#define EMBED(name, path) \
    extern const char name[]; \
    __asm__(".pushsection .rodata\n" \
            ".globl " #name "\n" \
            ".hidden " #name "\n" #name ":\n" \
            ".incbin \"src/tool/page/" path "\"\n" \
            ".byte 0\n" \
            ".popsection\n")

/* In the order they run. */
#define SCRIPTS(X) \
    X(data) \
    X(format) \
    X(live) \
    X(sums) \
    X(derive) \
    X(merged) \
    X(layout) \
    X(dom) \
    X(colors) \
    X(flame) \
    X(list) \
    X(tables) \
    X(treeview) \
    X(flameview) \
    X(butterfly) \
    X(timeline) X(heapview) X(overview) X(source) X(help) X(paper) X(address) X(app) X(main)

#define EMBED_SCRIPT(name) EMBED(page_script_##name, "js/" #name ".js");
SCRIPTS(EMBED_SCRIPT)
EMBED(page_html_text, "page.html");
EMBED(page_css_text, "page.css");

#define SCRIPT_ROW(name) {page_script_##name},
const struct page_file page_html = {page_html_text}, page_css = {page_css_text};
const struct page_file page_scripts[] = {SCRIPTS(SCRIPT_ROW){NULL}};
