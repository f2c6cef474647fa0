#include "base/library.h"

#include "base/atomics.h"

#include <dlfcn.h>
#include <string.h>

static _Atomic(void *) loaded[LIBRARIES];
static _Atomic(unsigned) count;

void *library_load(const char *name, const struct library_symbol *symbols, size_t symbol_count)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    unsigned at;

    for (size_t i = 0; library && i < symbol_count; i++) {
        void *found = dlsym(library, symbols[i].name);

        if (!found) {
            dlclose(library);
            return NULL;
        }
        memcpy(symbols[i].to, &found, sizeof(found)); /* as POSIX has it for functions */
    }
    if (library && (at = add_relaxed(&count, 1)) < LIBRARIES)
        store_relaxed(&loaded[at], library);
    return library;
}

void library_unload_all(void)
{
    for (unsigned i = 0; i < LIBRARIES; i++)
        if (load_relaxed(&loaded[i]))
            dlclose(load_relaxed(&loaded[i]));
}
