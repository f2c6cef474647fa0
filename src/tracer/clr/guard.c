#include "clr/guard.h"

#include <dlfcn.h>
#include <string.h>

#define DESCRIBES    11                           /* the first .NET that is asked */
#define MAGIC        UINT64_C(0x0043414443434e44) /* "DNCCDAC" */
#define SIZE_MOST    (1u << 20)
#define HEADER       "\"ObjectHeader\":{"
#define HEADER_KNOWN HEADER "\"!\":8,\"SyncBlockValue\":4}" /* "!": the size of all of it */

struct descriptor {
    uint64_t magic;
    uint32_t flags, size;
    const char *text;
};

bool clr_spare_word_in(const char *descriptor, size_t size)
{
    const char *found = memmem(descriptor, size, HEADER, strlen(HEADER));

    return found && size - (size_t)(found - descriptor) >= strlen(HEADER_KNOWN) &&
           memcmp(found, HEADER_KNOWN, strlen(HEADER_KNOWN)) == 0;
}

/* That of the image which `address` is in; NULL: it exports none. */
static const struct descriptor *descriptor_find(uintptr_t address)
{
    const struct descriptor *found = NULL;
    Dl_info image;
    void *library;

    if (!dladdr((const void *)address, &image) || !image.dli_fname) /* NOLINT */
        return NULL;
    library = dlopen(image.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) /* the program itself: .NET is linked into it */
        library = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
        found = dlsym(library, "DotNetRuntimeContractDescriptor");
        dlclose(library);
    }
    return found;
}

bool clr_spare_word(const struct clr_runtime *runtime)
{
    const struct descriptor *found;

    if (runtime->major < DESCRIBES)
        return true; /* on each of them it was tried */
    found = descriptor_find((uintptr_t)runtime->info->vtbl);
    return found && found->magic == MAGIC && found->text && found->size <= SIZE_MOST &&
           clr_spare_word_in(found->text, found->size);
}
