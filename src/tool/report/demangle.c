#include "report/demangle.h"

#include "base/name.h"
#include "base/atomics.h"

#include <string.h>

#define SEGMENTS 64 /* of a name; deeper ones are left as they are */
#define NESTING  8

struct span {
    const char *at;
    size_t size;
};

/* A name taken apart at its dots: "Ns" "Foo" "<Bar>d__3<T>" "MoveNext", and "(...)". */
struct parts {
    struct span segment[SEGMENTS];
    size_t count;
    const char *parameters; /* to the end of the name */
};

static bool span_is(struct span s, const char *text)
{
    return s.size == strlen(text) && memcmp(s.at, text, s.size) == 0;
}

static bool begins(struct span s, const char *text)
{
    return s.size >= strlen(text) && memcmp(s.at, text, strlen(text)) == 0;
}

static bool take_apart(const char *name, struct parts *out)
{
    const char *from = name;
    int depth = 0;

    *out = (struct parts){.count = 0, .parameters = name_parameters(name)};
    for (const char *at = name; at <= out->parameters; at++) {
        if (at < out->parameters && (*at != '.' || depth != 0)) {
            depth += (*at == '<') - (*at == '>');
            continue;
        }
        if (out->count == SEGMENTS)
            return false;
        out->segment[out->count++] = (struct span){from, (size_t)(at - from)};
        from = at + 1;
    }
    return depth == 0 && out->count > 1;
}

/* "<home>kind..." of the C# compiler. */
struct mangled {
    struct span home, rest; /* rest begins with the kind */
};

static bool is_mangled(struct span s, struct mangled *out)
{
    int depth = 0;

    for (size_t i = 0; i < s.size && s.at[0] == '<'; i++) {
        depth += (s.at[i] == '<') - (s.at[i] == '>');
        if (depth == 0) {
            out->home = (struct span){s.at + 1, i - 1};
            out->rest = (struct span){s.at + i + 1, s.size - i - 1};
            return true;
        }
    }
    return false;
}

static bool is_closure(struct span s)
{
    struct mangled m;

    return is_mangled(s, &m) && m.home.size == 0 && begins(m.rest, "c");
}

static bool is_machine(struct span s)
{
    struct mangled m;

    return is_mangled(s, &m) && m.home.size > 0 && begins(m.rest, "d") &&
           (m.rest.size == 1 || m.rest.at[1] == '_' || m.rest.at[1] == '<');
}

static void put(struct buffer *b, struct span s)
{
    buffer_append(b, s.at, s.size);
}

/* "Ns-IFoo-Bar" is the explicit implementation of Ns.IFoo.Bar. */
static void put_home(struct buffer *b, struct span home)
{
    for (size_t i = 0; i < home.size; i++)
        buffer_char(b, home.at[i] == '-' ? '.' : home.at[i]);
}

static size_t find(struct span s, char c)
{
    const char *at = memchr(s.at, c, s.size);

    return at ? (size_t)(at - s.at) : s.size;
}

/* Type arguments at the end, from the first bracket on. */
static void put_arguments(struct buffer *b, struct span rest)
{
    size_t from = find(rest, '<');

    buffer_append(b, rest.at + from, rest.size - from);
}

static void put_local(struct buffer *b, struct span rest)
{
    struct span name = {rest.at + 3, find((struct span){rest.at + 3, rest.size - 3}, '|')};

    buffer_char(b, '+');
    put(b, name);
    put_arguments(b, rest);
}

/* What `<home>rest` was in the source. Returns: false if this is no known form. */
static bool put_written(struct buffer *b, struct span s, unsigned depth)
{
    struct mangled m;

    if (depth == NESTING || !is_mangled(s, &m) || m.home.size == 0)
        return false;
    if (m.home.at[0] != '<')
        put_home(b, m.home);
    else if (!put_written(b, m.home, depth + 1))
        return false;
    if (begins(m.rest, "b__")) {
        buffer_text(b, "+lambda_");
        buffer_append(b, m.rest.at + 3, m.rest.size - 3);
    } else if (begins(m.rest, "g__")) {
        put_local(b, m.rest);
    } else if (is_machine(s)) {
        put_arguments(b, m.rest);
    } else {
        return m.rest.size == 0 || span_is(m.rest, "$"); /* <Main>$ of top-level statements */
    }
    return true;
}

static void put_types(struct buffer *b, const struct parts *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && is_closure(p->segment[i]))
            continue;
        put(b, p->segment[i]);
        buffer_char(b, '.');
    }
}

/* "name@line" of the F# compiler, "name@line-number<T>"; not "Box<name@line>". */
static bool is_fsharp(struct span s, size_t *at)
{
    *at = find(s, '@');
    return *at > 0 && *at < find(s, '<') && *at + 1 < s.size && s.at[*at + 1] >= '0' &&
           s.at[*at + 1] <= '9';
}

/* The method of a state machine; with an interface's name: <Bar>d__3.System.IDisposable.Dispose. */
static bool demangle_machine(struct buffer *b, const struct parts *p, size_t machine)
{
    struct span method = p->segment[machine + 1];

    put_types(b, p, machine);
    if (!put_written(b, p->segment[machine], 0))
        return false;
    if (span_is(method, "MoveNext"))
        return true;
    buffer_char(b, '+');
    buffer_text(b, method.at);
    return true;
}

static bool demangle_csharp(struct buffer *b, const struct parts *p)
{
    struct span method = p->segment[p->count - 1];

    for (size_t i = 0; i + 1 < p->count; i++)
        if (is_machine(p->segment[i]))
            return demangle_machine(b, p, i);
    if (method.size == 0 || method.at[0] != '<')
        return false;
    put_types(b, p, p->count - 1);
    if (!put_written(b, method, 0))
        return false;
    buffer_text(b, p->parameters);
    return true;
}

static bool demangle_fsharp(struct buffer *b, const struct parts *p)
{
    struct span method = p->segment[p->count - 1], type = p->segment[p->count - 2];
    size_t at;

    if (!is_fsharp(type, &at))
        return false;
    put_types(b, p, p->count - 2);
    buffer_append(b, type.at, at);
    if (span_is(method, "MoveNext") || span_is(method, "GenerateNext"))
        return true;
    if (!span_is(method, "Invoke"))
        return false;
    buffer_text(b, "+lambda");
    buffer_append(b, type.at + at, type.size - at);
    buffer_text(b, p->parameters);
    return true;
}

const char *report_demangle(struct buffer *b, const char *name)
{
    struct parts p;

    buffer_clear(b);
    if (!strpbrk(name, "<@") || !take_apart(name, &p))
        return name;
    if (!demangle_csharp(b, &p)) {
        buffer_clear(b);
        if (!demangle_fsharp(b, &p))
            return name;
    }
    return b->failed || !b->size ? name : b->data;
}

bool report_demangle_is_machine(const char *name)
{
    struct parts p;

    return strchr(name, '<') && take_apart(name, &p) && is_machine(p.segment[p.count - 2]) &&
           span_is(p.segment[p.count - 1], "MoveNext");
}
