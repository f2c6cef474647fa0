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

size_t path_stem(const char *path)
{
    size_t size = strlen(path);
    const char *extension = path + size - 4;

    if (strlen(path_base_name(path)) > 4 &&
        (!strcasecmp(extension, ".dll") || !strcasecmp(extension, ".exe")))
        size -= 4;
    return size;
}
