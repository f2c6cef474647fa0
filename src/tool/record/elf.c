#include "record/elf.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW  ((size_t)256 * 1024)
#define OVERLAP 64 /* what is looked for is shorter */

#define NAME_SIZE 256

/* The CPU, as the messages say it. */
static const char *cpu_of(const GElf_Ehdr *header)
{
    if (header->e_ident[EI_DATA] != ELFDATA2LSB)
        return "a big-endian CPU";
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return "a 32-bit CPU";
    switch (header->e_machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_AARCH64:
        return "AArch64";
    default:
        return "an unknown CPU";
    }
}

int record_elf_open(struct record_elf *elf, int fd)
{
    char magic[SELFMAG];
    GElf_Ehdr header;
    struct stat st;

    *elf = (struct record_elf){.fd = fd, .cpu = "an unknown CPU"};
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
        !file_read_whole(fd, magic, SELFMAG, 0) || memcmp(magic, ELFMAG, SELFMAG) != 0)
        return -ENOEXEC;
    elf->size = (uint64_t)st.st_size;
    elf_version(EV_CURRENT);
    elf->elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf->elf && elf_kind(elf->elf) == ELF_K_ELF && gelf_getehdr(elf->elf, &header))
        elf->cpu = cpu_of(&header);
    return 0;
}

void record_elf_close(struct record_elf *elf)
{
    elf_end(elf->elf);
    elf->elf = NULL;
    if (elf->fd >= 0)
        close(elf->fd);
}

const char *record_elf_cpu(const char *path)
{
    struct record_elf elf;
    int err = record_elf_open(&elf, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));

    record_elf_close(&elf);
    return err ? NULL : elf.cpu;
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
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_STRTAB &&
            range_holds(elf, header.sh_offset, header.sh_size, names, true))
            return true;
    return false;
}

/* ---- Program headers. */

static size_t segments(const struct record_elf *elf)
{
    size_t count;

    return elf_getphdrnum(elf->elf, &count) ? 0 : count;
}

static bool segment_find(const struct record_elf *elf, uint32_t type, GElf_Phdr *out)
{
    size_t count = segments(elf);

    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf->elf, (int)i, out) && out->p_type == type)
            return true;
    return false;
}

/* Where the file has what is loaded at that address. Returns: an offset, or 0. */
static uint64_t offset_of(const struct record_elf *elf, uint64_t address)
{
    size_t count = segments(elf);
    GElf_Phdr segment;

    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf->elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
            address - segment.p_vaddr < segment.p_filesz)
            return segment.p_offset + (address - segment.p_vaddr);
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
    char name[NAME_SIZE];
    GElf_Phdr interpreter;

    if (!segment_find(elf, PT_INTERP, &interpreter) || !name_read(elf, interpreter.p_offset, name))
        return RECORD_LIBC_UNKNOWN;
    if (strstr(name, "/ld-musl-"))
        return RECORD_LIBC_MUSL;
    return strstr(name, "/ld-linux-") ? RECORD_LIBC_GLIBC : RECORD_LIBC_UNKNOWN;
}

enum record_libc record_elf_libc(const char *path)
{
    enum record_libc libc = RECORD_LIBC_UNKNOWN;
    struct record_elf elf;

    if (!record_elf_open(&elf, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)))
        libc = read_libc(&elf);
    record_elf_close(&elf);
    return libc;
}

bool record_elf_needs(const struct record_elf *elf, record_elf_name *found, void *context)
{
    char name[NAME_SIZE];
    GElf_Phdr dynamic;
    uint64_t names = 0;
    Elf_Data *data;
    GElf_Dyn entry;

    if (!segment_find(elf, PT_DYNAMIC, &dynamic))
        return false;
    data = elf_getdata_rawchunk(elf->elf, (int64_t)dynamic.p_offset, dynamic.p_filesz, ELF_T_DYN);
    for (int i = 0; gelf_getdyn(data, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB)
            names = offset_of(elf, entry.d_un.d_ptr);
    for (int i = 0; names && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
        if (entry.d_tag == DT_NEEDED && name_read(elf, names + entry.d_un.d_val, name) &&
            found(context, name))
            return true;
    return false;
}

bool record_elf_holds(const struct record_elf *elf, const char *text)
{
    const char *texts[] = {text, NULL};

    return range_holds(elf, 0, elf->size, texts, false);
}
