#include "model/name_short.h"

#include <string.h>

static const struct {
    const char *name, *keyword;
} keywords[NAME_KEYWORDS] = {
    {"System.Boolean", "bool"},  {"System.Byte", "byte"},       {"System.SByte", "sbyte"},
    {"System.Char", "char"},     {"System.Decimal", "decimal"}, {"System.Double", "double"},
    {"System.Single", "float"},  {"System.Int32", "int"},       {"System.UInt32", "uint"},
    {"System.IntPtr", "nint"},   {"System.UIntPtr", "nuint"},   {"System.Int64", "long"},
    {"System.UInt64", "ulong"},  {"System.Int16", "short"},     {"System.UInt16", "ushort"},
    {"System.Object", "object"}, {"System.String", "string"},   {"System.Void", "void"},
};

static uint64_t id_of(struct name_parts *scratch, const char *name)
{
    parts_of_class(scratch, name);
    return name_path_id(scratch, &scratch->types[0], 0, scratch->types[0].segment_count);
}

void name_short_init(struct name_short *n, struct name_parts *scratch)
{
    static const char *const tuples[9] = {
        [2] = "System.ValueTuple<a, b>",
        [3] = "System.ValueTuple<a, b, c>",
        [4] = "System.ValueTuple<a, b, c, d>",
        [5] = "System.ValueTuple<a, b, c, d, e>",
        [6] = "System.ValueTuple<a, b, c, d, e, f>",
        [7] = "System.ValueTuple<a, b, c, d, e, f, g>",
        [8] = "System.ValueTuple<a, b, c, d, e, f, g, h>",
    };

    *n = (struct name_short){.nullable = id_of(scratch, "System.Nullable<a>")};
    for (size_t i = 0; i < NAME_KEYWORDS; i++)
        n->keywords[i] = id_of(scratch, keywords[i].name);
    n->tuples[1] = id_of(scratch, "System.ValueTuple<a>"); /* only as the rest of a longer one */
    for (size_t i = 2; i < 9; i++)
        n->tuples[i] = id_of(scratch, tuples[i]);
}

void name_short_fini(struct name_short *n)
{
    name_types_free(&n->types);
}

static const struct parts_segment *segment_at(const struct name_parts *p,
                                              const struct parts_type *type, unsigned number)
{
    uint16_t at = type->segment;

    while (number--)
        at = p->segments[at].next;
    return &p->segments[at];
}

/* ---- where a method's type ends ---- */

static bool is_interface(const struct parts_segment *s)
{
    return s->name.size > 1 && s->name.at[0] == 'I' && s->name.at[1] >= 'A' && s->name.at[1] <= 'Z';
}

static bool is_sure(const struct name_short *n, const struct name_parts *p, unsigned count)
{
    const struct name_type *type =
        name_types_find(&n->types, name_path_id(p, &p->types[0], 0, count));

    return type && type->sure;
}

struct name_split name_short_split(const struct name_short *n, const struct name_parts *p)
{
    unsigned method = p->method;
    struct name_split whole = {method, method};

    if (method < 3 || !is_interface(segment_at(p, &p->types[0], method - 1)) ||
        is_sure(n, p, method))
        return whole;
    for (unsigned count = method - 2; count > 0; count--)
        if (name_is_type(segment_at(p, &p->types[0], count - 1)) || is_sure(n, p, count))
            return (struct name_split){count, method};
    return whole;
}

/* ---- text ---- */

static void put_type(const struct name_short *n, const struct name_parts *p,
                     const struct parts_type *type, struct buffer *b);

/* "a, b": a list of types; at most `count` of it. */
static void put_list(const struct name_short *n, const struct name_parts *p, uint16_t first,
                     unsigned count, struct buffer *b)
{
    for (; first != PARTS_NONE && count--; first = p->types[first].next) {
        put_type(n, p, &p->types[first], b);
        if (count && p->types[first].next != PARTS_NONE)
            buffer_text(b, ", ");
    }
}

static void put_segments(const struct name_short *n, const struct name_parts *p,
                         const struct parts_type *type, unsigned from, unsigned to,
                         struct buffer *b)
{
    uint16_t at = type->segment;

    for (unsigned i = 0; i < to; i++, at = p->segments[at].next) {
        const struct parts_segment *s = &p->segments[at];

        if (i < from)
            continue;
        buffer_text(b, i > from ? "." : "");
        buffer_append(b, s->name.at, s->name.size);
        if (!s->argument_count)
            continue;
        buffer_char(b, '<');
        put_list(n, p, s->argument, PARTS_MAX, b);
        buffer_char(b, '>');
    }
}

static const char *keyword_of(const struct name_short *n, uint64_t id)
{
    for (size_t i = 0; i < NAME_KEYWORDS; i++)
        if (n->keywords[i] == id)
            return keywords[i].keyword;
    return NULL;
}

/* The type that segments [from, to) name. */
static void put_path(const struct name_short *n, const struct name_parts *p,
                     const struct parts_type *type, unsigned from, unsigned to, struct buffer *b)
{
    uint64_t id = name_path_id(p, type, from, to);
    const struct name_type *known = name_types_find(&n->types, id);
    const char *keyword = to - from == 2 ? keyword_of(n, id) : NULL;

    if (keyword)
        buffer_text(b, keyword);
    else
        put_segments(n, p, type, from + (known ? known->from : 0), to, b);
}

/* How many arguments a tuple has, 0 for another type. */
static unsigned tuple_size(const struct name_short *n, const struct name_parts *p,
                           const struct parts_type *type)
{
    unsigned count;

    if (type->segment_count != 2)
        return 0;
    count = segment_at(p, type, 1)->argument_count;
    return count >= 1 && count <= 8 && name_path_id(p, type, 0, 2) == n->tuples[count] ? count : 0;
}

/* The eighth argument of a tuple holds its further elements. */
static const struct parts_type *rest_of(const struct name_parts *p, const struct parts_type *type)
{
    uint16_t at = segment_at(p, type, 1)->argument;

    for (unsigned i = 0; i < 7; i++)
        at = p->types[at].next;
    return &p->types[at];
}

/* Whether C# has parentheses for it: of eight arguments the last has to be a tuple again. */
static bool is_tuple(const struct name_short *n, const struct name_parts *p,
                     const struct parts_type *type)
{
    unsigned size = tuple_size(n, p, type);

    if (size < 2)
        return false;
    while (size == 8) {
        type = rest_of(p, type);
        size = type->suffix.size ? 0 : tuple_size(n, p, type);
    }
    return size > 0;
}

static void put_tuple(const struct name_short *n, const struct name_parts *p,
                      const struct parts_type *type, struct buffer *b)
{
    buffer_char(b, '(');
    for (;;) {
        bool more = segment_at(p, type, 1)->argument_count == 8;

        put_list(n, p, segment_at(p, type, 1)->argument, more ? 7 : 8, b);
        if (!more)
            break;
        buffer_text(b, ", ");
        type = rest_of(p, type);
    }
    buffer_char(b, ')');
}

/* "[,][]" of the log is what C# writes as "[][,]": of each run of brackets the last comes first. */
static void put_suffix(struct parts_span suffix, struct buffer *b)
{
    for (size_t at = 0; at < suffix.size;) {
        size_t end = at, to;

        if (suffix.at[at] != '[') {
            buffer_char(b, suffix.at[at++]);
            continue;
        }
        while (end < suffix.size && suffix.at[end] == '[') {
            const char *close = memchr(suffix.at + end, ']', suffix.size - end);

            end = close ? (size_t)(close - suffix.at) + 1 : suffix.size;
        }
        for (size_t from = to = end; from > at; to = from) {
            while (suffix.at[--from] != '[')
                ;
            buffer_append(b, suffix.at + from, to - from);
        }
        at = end;
    }
}

static void put_type(const struct name_short *n, const struct name_parts *p,
                     const struct parts_type *type, struct buffer *b)
{
    struct parts_span suffix = type->suffix;

    if (suffix.size && suffix.at[suffix.size - 1] == '&') {
        buffer_text(b, "ref ");
        suffix.size--;
    }
    if (type->segment_count == 2 && name_path_id(p, type, 0, 2) == n->nullable) {
        put_list(n, p, segment_at(p, type, 1)->argument, 1, b);
        buffer_char(b, '?');
    } else if (is_tuple(n, p, type)) {
        put_tuple(n, p, type, b);
    } else {
        put_path(n, p, type, 0, type->segment_count, b);
    }
    put_suffix(suffix, b);
}

void name_short_class(const struct name_short *n, const struct name_parts *p, struct buffer *b)
{
    put_type(n, p, &p->types[0], b);
}

void name_short_method(const struct name_short *n, const struct name_parts *p, bool overloaded,
                       struct buffer *b)
{
    struct name_split split = name_short_split(n, p);

    if (split.type > 0) {
        put_path(n, p, &p->types[0], 0, split.type, b);
        buffer_char(b, '.');
    }
    if (split.type < split.method) {
        put_path(n, p, &p->types[0], split.type, split.method, b);
        buffer_char(b, '.');
    }
    put_segments(n, p, &p->types[0], split.method, p->types[0].segment_count, b);
    if (!overloaded || !p->has_parameters)
        return;
    buffer_char(b, '(');
    put_list(n, p, p->parameter, PARTS_MAX, b);
    buffer_char(b, ')');
}
