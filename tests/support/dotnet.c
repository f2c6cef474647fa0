#include "support/dotnet.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of `dotnet`, links followed; false: it is not in PATH. */
static int root_find(char root[PATH_MAX])
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];

    while (path && *path) {
        size_t size = strcspn(path, ":");

        snprintf(file, sizeof(file), "%.*s/dotnet", (int)size, path);
        if (access(file, X_OK) == 0 && realpath(file, root)) {
            *strrchr(root, '/') = '\0';
            return 1;
        }
        path += size + (path[size] == ':');
    }
    return 0;
}

void dotnet_files(const char *pattern, glob_t *out)
{
    char root[PATH_MAX], all[2 * PATH_MAX];

    *out = (glob_t){0};
    if (!root_find(root))
        return;
    snprintf(all, sizeof(all), "%s/%s", root, pattern);
    if (glob(all, 0, NULL, out))
        out->gl_pathc = 0;
}
