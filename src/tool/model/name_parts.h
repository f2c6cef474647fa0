/*
 * model/name_parts.h - a full name taken apart: "Ns.Outer<Ns.A[]>.Method<T>(System.Int32&)" is a
 * path of segments, those have types as arguments, and types are paths with a suffix. For names.c.
 */
#ifndef SHADOWTRACE_MODEL_NAME_PARTS_H
#define SHADOWTRACE_MODEL_NAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARTS_PATH 64   /* segments of one path; a name with more is not taken apart */
#define PARTS_MAX  1024 /* types, and segments, of one name */
#define PARTS_NONE UINT16_MAX

struct parts_span {
    const char *at;
    size_t size;
};

struct parts_segment {
    struct parts_span name; /* with what a compiler put into brackets: "<>c", "<Main>$" */
    uint16_t next;          /* of the same path */
    uint16_t argument;      /* the first */
    uint16_t argument_count;
};

struct parts_type {
    uint16_t segment; /* the first */
    uint16_t segment_count;
    uint16_t next;            /* argument or parameter of the same list */
    bool parameter;           /* stands in the parameters, at whatever depth */
    struct parts_span suffix; /* "[]", "[,]", "*", "&", any of them */
};

struct name_parts {
    struct parts_type types[PARTS_MAX]; /* all that occur; 0 is the name's own path */
    struct parts_segment segments[PARTS_MAX];
    uint16_t type_count, segment_count;
    uint16_t method;     /* of the name's own path: segment that the method's name begins with */
    bool has_parameters; /* "(...)", maybe empty */
    uint16_t parameter;  /* the first type of them */
};

/*
 * parts_of_class, parts_of_method - as a log has them, methods as report_demangle leaves them. The
 * last segment of a method's path is the method, of ".ctor" with its dot; or all from one with a
 * "+" on, as of "Bar+System.IDisposable.Dispose". parameters: as name_parameters has it.
 * Returns: false: not such a name: brackets that do not match, too long, too deep.
 * Owns:    spans point into the name.
 */
bool parts_of_class(struct name_parts *p, const char *name);
bool parts_of_method(struct name_parts *p, const char *name, const char *parameters);

#endif
