#include "report/module_version.h"

#include "base/path.h"
#include "symbols/mvid.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool module_version_read(const struct log_def *module, const json_t *header,
                         const char *const *dirs, size_t ndirs, struct symbols_version *out)
{
    const char *bundle = json_string_value(json_object_get(header, "executable"));
    const char *name = path_base_name(module->path);
    bool found = false;
    uint8_t mvid[SYMBOLS_MVID_SIZE];
    char other[PATH_MAX];

    memset(out, 0, sizeof(*out));
    if (!*name || !symbols_mvid_parse(module->mvid, mvid))
        return false;
    if (module->path[0] == '/')
        found = symbols_version_read(module->path, NULL, mvid, out) == 0;
    else if (name == module->path && bundle)
        found = symbols_version_read(name, bundle, mvid, out) == 0;
    for (size_t i = 0; !found && i < ndirs; i++)
        if (snprintf(other, sizeof(other), "%s/%s", dirs[i], name) < (int)sizeof(other))
            found = symbols_version_read(other, NULL, mvid, out) == 0;
    return found;
}
