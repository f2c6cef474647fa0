#include "record/elf.h"

#include "base/file.h"
#include "base/memory.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW  ((size_t)256 * 1024)
#define OVERLAP 64 /* what is looked for is shorter */

int record_elf_open(struct record_elf *elf, int fd)
{
    Elf64_Ehdr header;
    struct stat st;

    elf->fd = fd;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(header))
        return -ENOEXEC;
    elf->size = (uint64_t)st.st_size;
    if (!file_read_whole(fd, &header, sizeof(header), 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return -ENOEXEC;
    elf->x86_64 = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64;
    return 0;
}

static bool holds_one(const char *data, size_t size, const char *const *texts, bool whole)
{
    for (; *texts; texts++) {
        size_t length = strlen(*texts);
        const char *at = data;

        while ((at = memmem(at, size - (size_t)(at - data), *texts, length)) != NULL) {
            if (!whole ||
                ((at == data || at[-1] == '\0') && at + length < data + size && !at[length]))
                return true;
            at++;
        }
    }
    return false;
}

/*
 * Windows overlap, so that nothing is missed at a border. `whole`: between NULs only; a name that
 * begins a window counts as whole, which at worst takes the tail of a longer name for it.
 */
static bool range_holds(const struct record_elf *elf, uint64_t from, uint64_t size,
                        const char *const *texts, bool whole)
{
    char *window;
    bool found = false;

    if (from > elf->size)
        return false;
    if (size > elf->size - from)
        size = elf->size - from;
    window = memory_alloc(WINDOW);
    while (window && size && !found) {
        size_t part = size < WINDOW ? (size_t)size : WINDOW;

        if (!file_read_whole(elf->fd, window, part, from))
            break;
        found = holds_one(window, part, texts, whole);
        if (part == size)
            break;
        from += part - OVERLAP;
        size -= part - OVERLAP;
    }
    memory_free(window);
    return found;
}

bool record_elf_names(const struct record_elf *elf, const char *const *names)
{
    Elf64_Ehdr header;
    bool found = false;

    if (!file_read_whole(elf->fd, &header, sizeof(header), 0) ||
        header.e_shentsize != sizeof(Elf64_Shdr))
        return false;
    for (unsigned i = 0; i < header.e_shnum && !found; i++) {
        Elf64_Shdr section;

        if (header.e_shoff > elf->size || !file_read_whole(elf->fd, &section, sizeof(section),
                                                           header.e_shoff + i * sizeof(section)))
            return false;
        if (section.sh_type == SHT_STRTAB)
            found = range_holds(elf, section.sh_offset, section.sh_size, names, true);
    }
    return found;
}

bool record_elf_holds(const struct record_elf *elf, const char *text)
{
    const char *texts[] = {text, NULL};

    return range_holds(elf, 0, elf->size, texts, false);
}
