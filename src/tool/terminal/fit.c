#include "terminal/fit.h"

#include "terminal/text.h"

#include "base/name.h"

#include <stdbool.h>
#include <string.h>

#define ELLIPSIS "\xE2\x80\xA6"
#define SEGMENTS 64 /* of a name that is cut between them */
#define GROUP    3  /* columns of "<…>" */

struct span {
    const char *at, *end;
};

static size_t span_columns(struct span s)
{
    size_t columns = 0, letter;
    bool safe;

    for (; s.at < s.end; columns += letter)
        s.at += text_letter(s.at, &safe, &letter);
    return columns;
}

static void put(struct buffer *b, struct span s)
{
    buffer_append(b, s.at, (size_t)(s.end - s.at));
}

/* The letters at the start of a text that fit into `columns`. */
static struct span first_letters(struct span s, size_t columns)
{
    const char *at = s.at;
    size_t letter, used = 0;
    bool safe;

    while (at < s.end) {
        size_t length = text_letter(at, &safe, &letter);

        if (used + letter > columns)
            break;
        used += letter;
        at += length;
    }
    return (struct span){s.at, at};
}

/* The letters at its end that do. */
static struct span last_letters(struct span s, size_t columns)
{
    size_t letter, left = span_columns(s);
    bool safe;

    for (; left > columns; left -= letter)
        s.at += text_letter(s.at, &safe, &letter);
    return s;
}

/* The middle goes. */
static void put_elided(struct buffer *b, struct span s, size_t width)
{
    struct span head;

    if (span_columns(s) <= width) {
        put(b, s);
        return;
    }
    if (width == 0)
        return;
    head = first_letters(s, (width - 1) - (width - 1) / 2);
    put(b, head);
    buffer_text(b, ELLIPSIS);
    put(b, last_letters((struct span){head.end, s.end}, width - 1 - span_columns(head)));
}

static int depth_of(char c)
{
    return (c == '<' || c == '(' || c == '[') - (c == '>' || c == ')' || c == ']');
}

/*
 * The next "<...>" or "(...)" of a text that is no part of a name itself: those at the start of a
 * segment are, as in <Main>$. Returns: false: no group, or brackets do not match.
 */
static bool next_group(struct span s, const char *from, struct span *out)
{
    int depth = 0;

    for (const char *at = from; at < s.end; at++) {
        int step = depth_of(*at);

        if (depth == 0 && step > 0)
            *out = (struct span){at, at};
        depth += step;
        if (depth < 0)
            return false;
        if (depth > 0 || step >= 0 || *out->at == '[')
            continue;
        out->end = at + 1;
        if (out->at > s.at && out->at[-1] != '.')
            return true;
    }
    return false;
}

/* Columns of a text whose groups are all "<…>". */
static size_t least_columns(struct span s)
{
    size_t columns = span_columns(s);
    struct span group;

    for (const char *from = s.at; next_group(s, from, &group); from = group.end) {
        size_t width = span_columns(group);

        columns -= width > GROUP ? width - GROUP : 0;
    }
    return columns;
}

/* A text in at least least_columns(): its groups lose their middle, the last ones first. */
static void put_groups(struct buffer *b, struct span s, size_t width)
{
    size_t spare = width - least_columns(s);
    const char *from = s.at;
    struct span group;

    for (; next_group(s, from, &group); from = group.end) {
        size_t full = span_columns(group), room = full > GROUP ? GROUP : full;

        room += full - room < spare ? full - room : spare;
        spare -= room > GROUP ? room - GROUP : 0;
        put(b, (struct span){from, group.at + 1});
        put_elided(b, (struct span){group.at + 1, group.end - 1}, room - 2);
        buffer_char(b, group.end[-1]);
    }
    put(b, (struct span){from, s.end});
}

/* "Ns.Outer.": where its segments begin; the end behind the last. Returns: how many. */
static size_t segments_of(struct span s, const char *at[SEGMENTS + 1])
{
    size_t count = 0;
    int depth = 0;

    at[0] = s.at;
    for (const char *c = s.at; c < s.end && count < SEGMENTS; c++) {
        depth += depth_of(*c);
        if (*c == '.' && depth == 0)
            at[++count] = c + 1;
    }
    return count;
}

/* Namespaces and outer types, which end in a dot: the first, and as many of the last as fit. */
static void put_types(struct buffer *b, struct span s, size_t width)
{
    const char *at[SEGMENTS + 1];
    size_t count, last, first;

    if (least_columns(s) <= width) {
        put_groups(b, s, width);
        return;
    }
    count = segments_of(s, at);
    if (count < 2 || at[count] != s.end) {
        put_elided(b, s, width);
        return;
    }
    last = least_columns((struct span){at[count - 1], s.end});
    first = least_columns((struct span){s.at, at[1]}) + 1;
    if (last + 1 > width) {
        bool room = width > 8; /* for a part of the type, and a sign that more is left out */

        buffer_text(b, room || (width && width < 5) ? ELLIPSIS : "");
        if (width > 4)
            put_elided(b, (struct span){at[count - 1], s.end}, width - room);
        return;
    }
    first = first + last <= width ? first : 1;
    while (--count > 1 &&
           first + last + least_columns((struct span){at[count - 1], at[count]}) <= width)
        last += least_columns((struct span){at[count - 1], at[count]});
    if (first > 1)
        put_groups(b, (struct span){s.at, at[1]}, first - 1);
    buffer_text(b, ELLIPSIS);
    put_groups(b, (struct span){at[count], s.end}, width - first);
}

/* A name taken apart: "Ns.Type." "Method<T>" "(int, string)". */
struct pieces {
    struct span types, method, parameters;
};

static struct pieces take_apart(const char *name)
{
    const char *end = name + strlen(name), *parameters = name_parameters(name), *dot = name;
    int depth = 0;

    if (parameters == name)
        parameters = end; /* "(no managed frame)", "(int, string)" */
    for (const char *at = name; at < parameters; at++) {
        depth += depth_of(*at);
        if (*at == '.' && depth == 0 && !(at > name && at[-1] == '.')) /* .ctor */
            dot = at + 1;
    }
    return (struct pieces){{name, dot}, {dot, parameters}, {parameters, end}};
}

static size_t least_parameters(struct span parameters)
{
    size_t columns = span_columns(parameters);

    return columns < GROUP ? columns : GROUP;
}

static void put_parameters(struct buffer *b, struct span s, size_t width)
{
    if (s.at == s.end || width < 2)
        return;
    buffer_char(b, '(');
    put_elided(b, (struct span){s.at + 1, s.end - 1}, width - 2);
    buffer_char(b, ')');
}

/* The method is whole; `width` is enough for it with the least of its type arguments. */
static void put_pieces(struct buffer *b, const struct pieces *p, size_t width)
{
    size_t types = span_columns(p->types), method = least_columns(p->method),
           parameters = least_parameters(p->parameters), more;

    if (method + parameters + (types > 0) > width)
        parameters = 0;
    width -= method + parameters;
    types = types < width ? types : width;
    put_types(b, p->types, types);
    width -= types;
    more = span_columns(p->method) - method;
    more = more < width ? more : width;
    put_groups(b, p->method, method + more);
    put_parameters(b, p->parameters, parameters ? parameters + width - more : 0);
}

static const char *result_of(const struct buffer *b)
{
    return b->failed || !b->data ? "" : b->data;
}

const char *fit_name(struct buffer *b, const char *name, size_t width)
{
    struct pieces p;

    buffer_clear(b);
    if (text_columns(name) <= width) {
        buffer_text(b, name);
        return result_of(b);
    }
    p = take_apart(name);
    if (least_columns(p.method) <= width)
        put_pieces(b, &p, width);
    else
        put_elided(b, p.method, width);
    return result_of(b);
}

size_t fit_print_name(FILE *out, const char *name, size_t width)
{
    char room[BUFFER_TEXT_ROOM];
    struct buffer b = BUFFER_ON(room);
    size_t columns;

    name = fit_name(&b, name, width);
    columns = text_columns(name);
    text_print(out, name);
    buffer_free(&b);
    return columns;
}

const char *fit_text(struct buffer *b, const char *text, size_t width)
{
    buffer_clear(b);
    put_elided(b, (struct span){text, text + strlen(text)}, width);
    return result_of(b);
}

const char *fit_place(struct buffer *b, const char *place, size_t width)
{
    struct span all = {place, place + strlen(place)}, tail;
    const char *folder;

    buffer_clear(b);
    if (span_columns(all) <= width) {
        put(b, all);
    } else if (width > 0) {
        tail = last_letters(all, width - 1);
        folder = memchr(tail.at, '/', (size_t)(tail.end - tail.at));
        buffer_text(b, ELLIPSIS);
        put(b, folder && folder + 1 < tail.end ? (struct span){folder, tail.end} : tail);
    }
    return result_of(b);
}
