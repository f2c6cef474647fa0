#include "process/profiling.h"

#include "base/atomics.h"
#include "options/options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *profiling_variable(const struct profiling_environment *e, const char *name)
{
    size_t length = strlen(name);

    if (!e->text)
        return getenv(name);
    for (const char *at = e->text; at < e->text + e->size; at += strlen(at) + 1)
        if (!strncmp(at, name, length) && at[length] == '=')
            return at + length + 1;
    return NULL;
}

/* A number as the runtime reads one: hexadecimal, whatever follows it. Tried on .NET 10. */
static bool read_number(const char *text, unsigned long *out)
{
    char *end;

    if (!text)
        return false;
    *out = strtoul(text, &end, 16);
    return end != text;
}

/* DOTNET_ first, COMPlus_ if that is not set or empty. Gives the name that says 0, or NULL. */
static const char *switched_off(const struct profiling_environment *e, const char *dotnet,
                                const char *complus)
{
    const char *name = dotnet, *text = profiling_variable(e, dotnet);
    unsigned long value;

    if (!text || !*text) {
        name = complus;
        text = profiling_variable(e, complus);
    }
    return read_number(text, &value) && !value ? name : NULL;
}

static const char *all_off(const struct profiling_environment *e)
{
    return switched_off(e, "DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics");
}

const char *profiling_off(const struct profiling_environment *e)
{
    const char *off = all_off(e);

    return off ? off
               : switched_off(e, "DOTNET_EnableDiagnostics_Profiler",
                              "COMPlus_EnableDiagnostics_Profiler");
}

const char *profiling_no_diagnostics(const struct profiling_environment *e)
{
    const char *off = all_off(e);

    return off ? off
               : switched_off(e, "DOTNET_EnableDiagnostics_IPC", "COMPlus_EnableDiagnostics_IPC");
}

/* Since .NET 11 the names may also begin with DOTNET_. */
bool profiling_another(const struct profiling_environment *e, struct profiling_other *out)
{
    static const char *const names[][3] = {
        {"CORECLR_ENABLE_PROFILING", "CORECLR_PROFILER", "CORECLR_PROFILER_PATH"},
        {"DOTNET_ENABLE_PROFILING", "DOTNET_PROFILER", "DOTNET_PROFILER_PATH"},
    };

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *clsid = profiling_variable(e, names[i][1]);
        unsigned long enabled = 0;

        if (!read_number(profiling_variable(e, names[i][0]), &enabled) || !enabled || !clsid ||
            !*clsid || !strcasecmp(clsid, OPTIONS_CLSID))
            continue;
        *out = (struct profiling_other){names[i][0], names[i][1], clsid,
                                        profiling_variable(e, names[i][2])};
        return true;
    }
    return false;
}
