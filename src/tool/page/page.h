/*
 * page/page.h - a log as one page for a browser: `shadowtrace html`.
 *
 *     sides (side.h: a model and its tree) -> union (union.h: one tree of all) -> columns and their
 *     header, packed (encode.h, head.h) -> the page around them (write.h)
 *
 * The page itself is page.html, page.css and js/, which are part of the command (files.c). The
 * format of its data is in README.md.
 */
#ifndef SHADOWTRACE_PAGE_PAGE_H
#define SHADOWTRACE_PAGE_PAGE_H

#include "command/command.h"

extern const struct cli_command cmd_html;

#endif
