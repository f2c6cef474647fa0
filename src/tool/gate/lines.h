/*
 * gate/lines.h - the lines of own code that the allocations of a log stand at, and which of them a
 * budget means. model/near.h says which line an allocation stands at: what the framework makes for
 * a line counts as the line's. Where it is not known which line of the method, it stands at line 0.
 *
 * A budget names a line by its method, file and text; its number is only what it was once. In the
 * build that it was learned from, which the module's id tells, a line is found by its number. In
 * another one the lines of a method keep their order, and are matched as cheaply as possible:
 *     the same text          next to nothing
 *     another text, or none  the objects that changed, and one
 *     a line that is gone, or was added   its objects
 * So lines that only moved are found; an edited line is taken for the one it replaced; a line that
 * is new is new. What moves to another method is gone there and new here.
 */
#ifndef SHADOWTRACE_GATE_LINES_H
#define SHADOWTRACE_GATE_LINES_H

#include "command/loading.h"
#include "gate/budget.h"

#define GATE_NO_LINE UINT32_MAX

struct gate_line {
    uint32_t module, document; /* module: number in defs */
    uint32_t of;               /* line 0: the method, by number; else 0 */
    uint32_t line;             /* 0: not known which line of the method */
    uint32_t line_last;        /* if it may be one of several lines, the last; else 0 */
    const char *path;          /* as the compiler wrote it */
    const char *file;          /* without folders */
    const char *method;        /* full; of several the first by name */
    char *text;                /* NULL: not known */
    double objects, bytes;
};

struct gate_lines {
    const struct loading *l; /* borrowed */
    struct gate_line *lines;
    size_t count, capacity;
    struct index index;
    struct gate_line_method { /* by name, then file and number of the line, once it is whole */
        const char *method;
        uint32_t line;
    } * methods;
    size_t method_count, method_capacity;
    uint32_t *of_cell; /* by cell of the model: index, or GATE_NO_LINE: no own code, or no line */
    uint32_t unlined;  /* a method of own code that allocates, in a module without symbols; or 0 */
};

/*
 * gate_lines_new - of a model that knows lines, own code and full names. steady: without what only
 * unoptimised code makes. texts: with the source. Returns: 0 or -ENOMEM; gate_lines_free is to be
 * called in any case.
 */
int gate_lines_new(const struct loading *l, bool steady, bool texts, struct gate_lines *out);
void gate_lines_free(struct gate_lines *lines);

/*
 * gate_lines_match - by limit of the budget the index of its line, or GATE_NO_LINE. Returns: 0 or
 * -ENOMEM; *out is to be freed with memory_free.
 */
int gate_lines_match(const struct gate_lines *lines, const struct budget *b, uint32_t **out);

/* The line with that document and number among those of another model of the same log. */
uint32_t gate_lines_same(const struct gate_lines *lines, const struct gate_line *line);

#endif
