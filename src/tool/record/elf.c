#include "record/elf.h"

#include "base/file.h"
#include "base/memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW  ((size_t)256 * 1024)
#define OVERLAP 64 /* what is looked for is shorter */

#define HEADERS_MAX 64
#define DYNAMIC_MAX 256
#define NAME_SIZE   256

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

/* ---- Program headers. */

struct headers {
    Elf64_Phdr header[HEADERS_MAX];
    unsigned count;
};

static void headers_read(const struct record_elf *elf, struct headers *out)
{
    Elf64_Ehdr header;
    size_t count;

    out->count = 0;
    if (!elf->x86_64 || !file_read_whole(elf->fd, &header, sizeof(header), 0) ||
        header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > elf->size)
        return;
    count = header.e_phnum < HEADERS_MAX ? header.e_phnum : HEADERS_MAX;
    if (file_read_whole(elf->fd, out->header, count * sizeof(Elf64_Phdr), header.e_phoff))
        out->count = (unsigned)count;
}

static const Elf64_Phdr *headers_find(const struct headers *h, uint32_t type)
{
    for (unsigned i = 0; i < h->count; i++)
        if (h->header[i].p_type == type)
            return &h->header[i];
    return NULL;
}

/* Where the file has what is loaded at that address. Returns: an offset, or 0. */
static uint64_t headers_offset(const struct headers *h, uint64_t address)
{
    for (unsigned i = 0; i < h->count; i++)
        if (h->header[i].p_type == PT_LOAD &&
            address - h->header[i].p_vaddr < h->header[i].p_filesz)
            return h->header[i].p_offset + (address - h->header[i].p_vaddr);
    return 0;
}

static bool name_read(const struct record_elf *elf, uint64_t offset, char name[NAME_SIZE])
{
    size_t size = NAME_SIZE;

    if (!offset || offset >= elf->size)
        return false;
    if (size > elf->size - offset)
        size = (size_t)(elf->size - offset);
    return file_read_whole(elf->fd, name, size, offset) && memchr(name, '\0', size) != NULL;
}

static enum record_libc read_libc(const struct record_elf *elf)
{
    struct headers headers;
    char name[NAME_SIZE];
    const Elf64_Phdr *interpreter;

    headers_read(elf, &headers);
    interpreter = headers_find(&headers, PT_INTERP);
    if (!interpreter || !name_read(elf, interpreter->p_offset, name))
        return RECORD_LIBC_UNKNOWN;
    if (strstr(name, "/ld-musl-"))
        return RECORD_LIBC_MUSL;
    return strstr(name, "/ld-linux-") ? RECORD_LIBC_GLIBC : RECORD_LIBC_UNKNOWN;
}

enum record_libc record_elf_libc(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum record_libc libc = RECORD_LIBC_UNKNOWN;
    struct record_elf elf;

    if (fd < 0)
        return libc;
    if (!record_elf_open(&elf, fd))
        libc = read_libc(&elf);
    close(fd);
    return libc;
}

bool record_elf_needs(const struct record_elf *elf, record_elf_name *found, void *context)
{
    Elf64_Dyn entries[DYNAMIC_MAX];
    struct headers headers;
    const Elf64_Phdr *dynamic;
    char name[NAME_SIZE];
    uint64_t names = 0;
    size_t count;

    headers_read(elf, &headers);
    dynamic = headers_find(&headers, PT_DYNAMIC);
    count = dynamic ? dynamic->p_filesz / sizeof(*entries) : 0;
    count = count < DYNAMIC_MAX ? count : DYNAMIC_MAX;
    if (!count || !file_read_whole(elf->fd, entries, count * sizeof(*entries), dynamic->p_offset))
        return false;
    for (size_t i = 0; i < count; i++)
        if (entries[i].d_tag == DT_STRTAB)
            names = headers_offset(&headers, entries[i].d_un.d_ptr);
    for (size_t i = 0; names && i < count && entries[i].d_tag != DT_NULL; i++)
        if (entries[i].d_tag == DT_NEEDED && name_read(elf, names + entries[i].d_un.d_val, name) &&
            found(context, name))
            return true;
    return false;
}

bool record_elf_holds(const struct record_elf *elf, const char *text)
{
    const char *texts[] = {text, NULL};

    return range_holds(elf, 0, elf->size, texts, false);
}
