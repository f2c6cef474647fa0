#include "model/name_parts.h"

#include <string.h>

#define DEPTH            24 /* of types in types */
#define FUNCTION_POINTER "delegate*"

struct cursor {
    const char *at, *end;
    struct name_parts *parts;
    bool parameters; /* those are read */
};

static bool is_at(const struct cursor *c, char what)
{
    return c->at < c->end && *c->at == what;
}

/* "<>", "<Main>", "<<Main>b__0>": part of a name. */
static bool skip_brackets(struct cursor *c)
{
    int depth = 0;

    for (; c->at < c->end; c->at++) {
        depth += (*c->at == '<') - (*c->at == '>');
        if (depth == 0) {
            c->at++;
            return true;
        }
    }
    return false;
}

static bool ends_name(char c)
{
    switch (c) {
    case '.':
    case '<':
    case '>':
    case ',':
    case '[':
    case ']':
    case '*':
    case '&':
    case '(':
    case ')':
        return true;
    default:
        return false;
    }
}

/* A segment's own name, up to its arguments, a dot, or what follows its type. */
static bool read_name(struct cursor *c, struct parts_span *out)
{
    const size_t size = sizeof(FUNCTION_POINTER) - 1;
    const char *from = c->at;
    bool pointer = (size_t)(c->end - from) > size && memcmp(from, FUNCTION_POINTER, size) == 0;

    if (is_at(c, '.'))
        c->at++; /* of ".ctor" */
    if (pointer)
        while (c->at < c->end && *c->at != '<')
            c->at++;
    else if (is_at(c, '<') && !skip_brackets(c))
        return false;
    while (c->at < c->end && !ends_name(*c->at))
        c->at++;
    *out = (struct parts_span){from, (size_t)(c->at - from)};
    return out->size > 0;
}

static bool read_type(struct cursor *c, unsigned depth, uint16_t *out);

/* Types with ", " between them, up to `close`; with "," within what metadata has as one name. */
static bool read_list(struct cursor *c, char close, unsigned depth, uint16_t *first,
                      uint16_t *count)
{
    uint16_t type, last = PARTS_NONE;

    *first = PARTS_NONE;
    *count = 0;
    for (;;) {
        if (!read_type(c, depth, &type))
            return false;
        if (last == PARTS_NONE)
            *first = type;
        else
            c->parts->types[last].next = type;
        last = type;
        ++*count;
        if (is_at(c, close)) {
            c->at++;
            return true;
        }
        if (!is_at(c, ','))
            return false;
        c->at++;
        if (is_at(c, ' '))
            c->at++;
    }
}

static bool read_segment(struct cursor *c, unsigned depth, uint16_t *out)
{
    struct name_parts *p = c->parts;
    struct parts_segment s = {.next = PARTS_NONE, .argument = PARTS_NONE};

    if (p->segment_count == PARTS_MAX || !read_name(c, &s.name))
        return false;
    *out = p->segment_count++;
    if (is_at(c, '<')) {
        c->at++;
        if (!read_list(c, '>', depth + 1, &s.argument, &s.argument_count))
            return false;
    }
    p->segments[*out] = s;
    return true;
}

static bool read_path(struct cursor *c, unsigned depth, struct parts_type *type)
{
    struct name_parts *p = c->parts;
    uint16_t segment, last = PARTS_NONE;

    do {
        if (type->segment_count == PARTS_PATH || !read_segment(c, depth, &segment))
            return false;
        if (last == PARTS_NONE)
            type->segment = segment;
        else
            p->segments[last].next = segment;
        last = segment;
        type->segment_count++;
    } while (is_at(c, '.') && c->at++);
    return true;
}

static void read_suffix(struct cursor *c, struct parts_span *out)
{
    const char *from = c->at;

    while (c->at < c->end && strchr("[]*&", *c->at)) {
        if (*c->at++ != '[')
            continue;
        while (c->at < c->end && (*c->at == ',' || *c->at == '*'))
            c->at++;
        if (!is_at(c, ']'))
            break;
    }
    *out = (struct parts_span){from, (size_t)(c->at - from)};
}

static bool read_type(struct cursor *c, unsigned depth, uint16_t *out)
{
    struct parts_type type = {.next = PARTS_NONE, .parameter = c->parameters};
    struct name_parts *p = c->parts;

    if (depth > DEPTH || p->type_count == PARTS_MAX)
        return false;
    *out = p->type_count++;
    if (!read_path(c, depth, &type))
        return false;
    read_suffix(c, &type.suffix);
    p->types[*out] = type;
    return true;
}

static void begin(struct name_parts *p)
{
    p->type_count = p->segment_count = 0;
    p->has_parameters = false;
    p->parameter = PARTS_NONE;
}

bool parts_of_class(struct name_parts *p, const char *name)
{
    struct cursor c = {name, name + strlen(name), p, false};
    uint16_t type;

    begin(p);
    return read_type(&c, 0, &type) && c.at == c.end;
}

static uint16_t method_of(const struct name_parts *p)
{
    uint16_t at = p->types[0].segment, number = 0;

    while (p->segments[at].next != PARTS_NONE &&
           !memchr(p->segments[at].name.at, '+', p->segments[at].name.size)) {
        at = p->segments[at].next;
        number++;
    }
    return number;
}

bool parts_of_method(struct name_parts *p, const char *name, const char *parameters)
{
    struct cursor c = {name, parameters, p, false};
    uint16_t type, count;

    begin(p);
    if (!read_type(&c, 0, &type) || c.at != c.end || p->types[0].suffix.size)
        return false;
    p->method = method_of(p);
    p->has_parameters = *parameters;
    if (!*parameters || strcmp(parameters, "()") == 0)
        return true;
    c = (struct cursor){parameters + 1, parameters + strlen(parameters), p, true};
    return read_list(&c, ')', 0, &p->parameter, &count) && c.at == c.end;
}
