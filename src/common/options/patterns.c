/* Lists of glob patterns. */
#include "options/options_fields.h"

#include "base/atomics.h"
#include "base/glob.h"
#include "base/memory.h"

#include <errno.h>

int options_patterns_append(struct options_patterns *list, char *text)
{
    char **grown = memory_realloc(list->pattern, (list->count + 1) * sizeof(*grown));
    _Atomic(bool) *met;

    if (!grown)
        return -ENOMEM;
    list->pattern = grown;
    met = memory_realloc(list->met, (list->count + 1) * sizeof(*met));
    if (!met)
        return -ENOMEM;
    list->met = met;
    store_relaxed(&met[list->count], false);
    grown[list->count++] = text;
    return 0;
}

void options_patterns_free(struct options_patterns *list)
{
    memory_free_blocks((void *const *)list->pattern, list->count);
    memory_free_all(list->pattern, list->met);
}

bool options_match(const struct options_patterns *patterns, const char *name)
{
    bool any = false;

    for (size_t i = 0; i < patterns->count; i++) {
        if (!glob_match(patterns->pattern[i], name))
            continue;
        any = true;
        if (patterns->met)
            store_relaxed(&patterns->met[i], true);
    }
    return any;
}
