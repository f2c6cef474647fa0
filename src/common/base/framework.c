#include "base/framework.h"

#include "base/atomics.h"

#include <stddef.h>
#include <string.h>

bool framework_named(const char *assembly)
{
    static const char *const names[] = {"System", "mscorlib", "netstandard", "WindowsBase"};

    if (strncmp(assembly, "System.", 7) == 0 || strncmp(assembly, "Microsoft.", 10) == 0)
        return true;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(assembly, names[i]) == 0)
            return true;
    return false;
}

bool framework_made(const char *assembly)
{
    static const char *const names[] = {"ProxyBuilder", "DynamicProxyGenAssembly2",
                                        "Anonymously Hosted DynamicMethods Assembly"};

    if (framework_named(assembly))
        return true;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(assembly, names[i]) == 0)
            return true;
    return false;
}
