#include "walk/natives.h"

#include "base/atomics.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#ifdef DLFO_STRUCT_HAS_EH_COUNT

enum { HERE = 4, HOSTS = 2 };

static int (*find)(void *address, struct dl_find_object *out);
static const void *staying[HERE + HOSTS];

static void *find_object(void)
{
    return dlsym(RTLD_DEFAULT, "_dl_find_object");
}

bool natives_known(void)
{
    return find_object();
}

static bool found(uintptr_t address, struct dl_find_object *out)
{
    return find && find((void *)address, out) == 0;
}

/*
 * .NET's host lies at the start of each main thread: it is kept from being unloaded, so that no
 * walk of that thread has to ask. Returns: the dynamic loader's record of it; NULL: not loaded.
 */
static const void *host_kept(const char *name)
{
    void *host = dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

    if (host)
        dlclose(host);
    return host; /* glibc's handle is the record */
}

void natives_start(uintptr_t runtime, bool leaves)
{
    static const char *const hosts[HOSTS] = {"libhostfxr.so", "libhostpolicy.so"};
    const uintptr_t known[HERE] = {getauxval(AT_ENTRY), (uintptr_t)memcpy, runtime,
                                   (uintptr_t)natives_start};
    void *symbol = find_object();
    struct dl_find_object object;

    memcpy(&find, &symbol, sizeof(find));
    for (size_t i = 0; i < HERE; i++)
        staying[i] = found(known[i], &object) ? object.dlfo_link_map : NULL;
    for (size_t i = 0; i < HOSTS; i++)
        staying[HERE + i] = leaves ? NULL : host_kept(hosts[i]);
}

/* The bytes of the loaded segment that holds the table. The image begins with its ELF header. */
static bool segment_find(const struct dl_find_object *object, struct cfi_table *out)
{
    const ElfW(Ehdr) *file = object->dlfo_map_start;
    const uint8_t *start = object->dlfo_map_start, *end = object->dlfo_map_end;
    uintptr_t base = object->dlfo_link_map->l_addr;
    const ElfW(Phdr) * segment;

    if (end - start < (ptrdiff_t)sizeof(*file) || memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 ||
        file->e_phentsize != sizeof(*segment) || file->e_phoff > 4096 || file->e_phnum > 64)
        return false;
    segment = (const void *)(start + file->e_phoff);
    for (unsigned i = 0; i < file->e_phnum; i++, segment++) {
        const uint8_t *low = (const uint8_t *)(base + segment->p_vaddr),
                      *high = low + segment->p_filesz;

        if (segment->p_type == PT_LOAD && segment->p_flags & PF_R && low >= start && high <= end &&
            out->header >= low && out->header < high) {
            out->low = low;
            out->high = high;
            return true;
        }
    }
    return false;
}

bool natives_find(uintptr_t address, struct natives_place *out)
{
    struct dl_find_object object;

    *out = (struct natives_place){.image = NULL};
    if (!found(address, &object))
        return false;
    out->image = object.dlfo_link_map;
    for (size_t i = 0; i < COUNT_OF(staying); i++)
        out->stays = out->stays || staying[i] == out->image;
    out->table.header = object.dlfo_eh_frame;
    if (out->table.header && segment_find(&object, &out->table))
        return true;
    out->table.header = NULL;
    return false;
}

bool natives_same(uintptr_t address, const void *image)
{
    struct dl_find_object object;

    return found(address, &object) && object.dlfo_link_map == image;
}

#else

bool natives_known(void)
{
    return false;
}

void natives_start(uintptr_t runtime, bool leaves)
{
    (void)runtime, (void)leaves;
}

bool natives_find(uintptr_t address, struct natives_place *out)
{
    (void)address;
    *out = (struct natives_place){.image = NULL};
    return false;
}

bool natives_same(uintptr_t address, const void *image)
{
    (void)address, (void)image;
    return false;
}
#endif
