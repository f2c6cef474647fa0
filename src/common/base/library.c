#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

void *library_load(const char *name, const struct library_symbol *symbols, size_t count)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; library && i < count; i++) {
        void *found = dlsym(library, symbols[i].name);

        if (!found) {
            dlclose(library);
            return NULL;
        }
        memcpy(symbols[i].to, &found, sizeof(found)); /* as POSIX has it for functions */
    }
    return library;
}
