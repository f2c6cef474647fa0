#include "base/path.h"

#include <string.h>
#include <strings.h>

const char *path_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const char *path_base_name_foreign(const char *path)
{
    const char *base = path_base_name(path), *slash = strrchr(base, '\\');

    return slash ? slash + 1 : base;
}

bool path_ends_with(const char *path, const char *end)
{
    size_t size = strlen(path), length = strlen(end);

    return size >= length && !strcmp(path + size - length, end);
}

bool path_ends_with_nocase(const char *path, const char *end)
{
    size_t size = strlen(path), length = strlen(end);

    return size >= length && !strcasecmp(path + size - length, end);
}
