/*
 * model/name_short.h - names as C# has them, from their parts and the types that a log knows:
 * keywords, tuples, `int?`, and as much of each namespace as distinguishes its types. For names.c.
 */
#ifndef SHADOWTRACE_MODEL_NAME_SHORT_H
#define SHADOWTRACE_MODEL_NAME_SHORT_H

#include "model/name_types.h"

#include "base/buffer.h"

#define NAME_KEYWORDS 18

struct name_short {
    struct name_types types;
    uint64_t keywords[NAME_KEYWORDS]; /* ids of what has one */
    uint64_t nullable, tuples[9];     /* ids; tuples by number of arguments, 0 and 1 have none */
};

void name_short_init(struct name_short *n, struct name_parts *scratch);
void name_short_fini(struct name_short *n);

/*
 * Where a method's path goes from its type to an interface whose method it implements, as in
 * "Ns.Type" "System.IDisposable" "Dispose": the type has `type` segments, the interface those up to
 * the last, the method. Without an interface: all but the last are the type's.
 */
struct name_split {
    unsigned type, method;
};
struct name_split name_short_split(const struct name_short *n, const struct name_parts *p);

/* Appends to b. overloaded: parameters are needed. */
void name_short_class(const struct name_short *n, const struct name_parts *p, struct buffer *b);
void name_short_method(const struct name_short *n, const struct name_parts *p, bool overloaded,
                       struct buffer *b);

#endif
