/* terminal/terminal.h - what output for people may use: how many columns, and whether colours. */
#ifndef SHADOWTRACE_TERMINAL_TERMINAL_H
#define SHADOWTRACE_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

struct terminal {
    size_t width; /* columns */
    bool colour;
};

/*
 * terminal_of - of a stream: a terminal's own width within 20 to 240, else TEXT_WIDTH. Colours only
 * on a terminal that knows them, and not with NO_COLOR in the environment (no-color.org).
 */
struct terminal terminal_of(FILE *out);

/* terminal_width - its width alone, asked once for a stream. Threads: the one that prints. */
size_t terminal_width(FILE *out);

/* What is left of a line that has `used` columns already; room for a name in any case: it wraps. */
size_t terminal_room(FILE *out, size_t used);

/*
 * terminal_name_room - the same on terminals of fewer than 80 columns without wrapping: if too
 * little is left for a name, it starts a separate line, indented by two.
 * terminal_fits - whether a line may have that many columns; on wider ones, and in files, always.
 */
size_t terminal_name_room(FILE *out, size_t used);
bool terminal_fits(FILE *out, size_t columns);

/* terminal_help_width - for pages of prose: a terminal's width up to TEXT_WIDTH, else 80. */
size_t terminal_help_width(FILE *out);

/* The same from what was found out: columns 0: not known. For tests. */
struct terminal terminal_from(bool is_terminal, size_t columns, const char *term,
                              const char *no_color);

/* What to print before and after a text that stands out; "" without colours. */
const char *terminal_strong(const struct terminal *t);
const char *terminal_plain(const struct terminal *t);

#endif
