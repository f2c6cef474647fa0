#include "options/runtime_settings.h"

#include "base/atomics.h"
#include "base/buffer.h"
#include "options/json.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const struct setting {
    const char *variable; /* after its prefix */
    const char *property; /* of runtimeconfig.json; NULL: none */
    size_t offset;
} settings[] = {
    {"TieredCompilation", "System.Runtime.TieredCompilation",
     offsetof(struct runtime_settings, tiered)},
    {"TC_QuickJit", "System.Runtime.TieredCompilation.QuickJit",
     offsetof(struct runtime_settings, quick)},
    {"TC_QuickJitForLoops", "System.Runtime.TieredCompilation.QuickJitForLoops",
     offsetof(struct runtime_settings, quick_loops)},
    {"TC_OnStackReplacement", NULL, offsetof(struct runtime_settings, quick_loops)},
    {"TieredPGO", "System.Runtime.TieredPGO", offsetof(struct runtime_settings, pgo)},
    {"ReadyToRun", NULL, offsetof(struct runtime_settings, ready_to_run)},
};

/* Returns: whether the environment says anything. */
static bool from_environment(const char *variable, bool *on)
{
    static const char *const prefixes[] = {"DOTNET_", "COMPlus_"};

    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        char name[64], *end;
        const char *text;
        unsigned long value;

        snprintf(name, sizeof(name), "%s%s", prefixes[i], variable);
        text = getenv(name);
        if (!text || !*text)
            continue;
        value = strtoul(text, &end, 16);
        if (*end)
            return false;
        *on = value;
        return true;
    }
    return false;
}

void runtime_settings_read(const char *config, struct runtime_settings *out)
{
    struct buffer text = BUFFER_INIT;
    json_error_t error;
    json_t *root = NULL;
    const json_t *properties;

    if (config)
        buffer_file(&text, config);
    if (text.size && !text.failed)
        root = json_read(text.data, text.size, 0, &error);
    buffer_free(&text);
    properties = json_object_get(json_object_get(root, "runtimeOptions"), "configProperties");
    *out = (struct runtime_settings){true, true, true, true, true};
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        const struct setting *s = &settings[i];
        const json_t *said = s->property ? json_object_get(properties, s->property) : NULL;
        bool on = true;

        if (from_environment(s->variable, &on) ? !on : json_is_false(said))
            *(bool *)((char *)out + s->offset) = false;
    }
    json_decref(root);
}
