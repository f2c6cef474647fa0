#include "model/namespaces.h"

#include "base/name.h"

#include <stdbool.h>
#include <string.h>

/* Letters that no namespace has, and compilers put into names. */
static const char odd[] = "<>`[]|@+$()";

/* The point before the last word of a name of `size` letters, outside of brackets; 0: none. */
static size_t last_point(const char *name, size_t size)
{
    int depth = 0;

    for (size_t i = size; i-- > 1;) {
        depth += (name[i] == '>' || name[i] == ']') - (name[i] == '<' || name[i] == '[');
        if (name[i] == '.' && depth <= 0)
            return i;
    }
    return 0;
}

/* Of the letters before a class: those before the first word that is no namespace's. */
static size_t only_namespace(const char *name, size_t size)
{
    size_t good = 0, at = 0;

    while (at < size) {
        size_t end = at;
        bool is_odd = false;

        for (; end < size && name[end] != '.'; end++)
            is_odd = is_odd || strchr(odd, name[end]);
        if (is_odd || end == at)
            return good;
        good = end;
        at = end + 1;
    }
    return good;
}

/* The class ends at `size`: what lies before it, or before the class around a compiler's. */
static size_t before_class(const char *name, size_t size)
{
    size_t point = last_point(name, size);
    bool made = name[point ? point + 1 : 0] == '<' || memchr(name + point, '@', size - point);

    if (made && point)
        point = last_point(name, point);
    return only_namespace(name, point);
}

size_t namespace_of_method(const char *name)
{
    size_t size = (size_t)(name_parameters(name) - name), point = last_point(name, size);

    if (point && name[point - 1] == '.') /* "..ctor" */
        point--;
    return before_class(name, point);
}

size_t namespace_common(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t least = a_size < b_size ? a_size : b_size, at = 0, common = 0;

    for (; at < least && a[at] == b[at]; at++)
        if (a[at] == '.')
            common = at;
    if (at == least && (a_size == at || a[at] == '.') && (b_size == at || b[at] == '.'))
        common = at;
    return common;
}
