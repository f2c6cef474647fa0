#include "base/image.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct search {
    uintptr_t address;
    struct image *out;
};

static bool holds(const struct dl_phdr_info *info, uintptr_t address)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && address - info->dlpi_addr - p->p_vaddr < p->p_memsz)
            return true;
    }
    return false;
}

static void read_notes(const uint8_t *at, size_t size, struct image *out)
{
    const ElfW(Nhdr) * note;

    while (size >= sizeof(*note)) {
        size_t name, whole;

        note = (const void *)at;
        name = ((size_t)note->n_namesz + 3) & ~(size_t)3;
        whole = sizeof(*note) + name + (((size_t)note->n_descsz + 3) & ~(size_t)3);
        if (whole > size)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof(ELF_NOTE_GNU) &&
            memcmp(at + sizeof(*note), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
            note->n_descsz <= IMAGE_BUILD_ID) {
            out->build_id_size = note->n_descsz;
            memcpy(out->build_id, at + sizeof(*note) + name, note->n_descsz);
            return;
        }
        at += whole;
        size -= whole;
    }
}

static void read_path(const struct dl_phdr_info *info, struct image *out)
{
    ssize_t size;

    snprintf(out->path, sizeof(out->path), "%s", info->dlpi_name);
    if (*out->path)
        return;
    size = readlink("/proc/self/exe", out->path, sizeof(out->path) - 1); /* the program itself */
    out->path[size > 0 ? size : 0] = '\0';
}

/* The loader keeps the image where it is while this runs. */
static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct search *search = context;
    struct image *out = search->out;

    (void)size;
    if (!holds(info, search->address))
        return 0;
    if (!out)
        return 1;
    out->base = info->dlpi_addr;
    out->build_id_size = 0;
    for (unsigned i = 0; i < info->dlpi_phnum && !out->build_id_size; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_NOTE)
            read_notes((const uint8_t *)(info->dlpi_addr + p->p_vaddr), p->p_memsz,
                       out); /* NOLINT */
    }
    read_path(info, out);
    return 1;
}

bool image_find(uintptr_t address, struct image *out)
{
    struct search search = {address, out};

    return dl_iterate_phdr(look, &search) == 1;
}
