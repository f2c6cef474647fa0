#include "base/name.h"

#include <string.h>

const char *name_parameters(const char *name)
{
    const char *end = name + strlen(name), *at = end;
    int depth = 0;

    if (at == name || at[-1] != ')')
        return end;
    while (at-- > name) {
        depth += (*at == ')') - (*at == '(');
        if (depth == 0)
            return at;
    }
    return end;
}
