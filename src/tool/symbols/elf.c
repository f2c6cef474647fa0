#include "symbols/elf.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/order.h"
#include "symbols/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_ID 64 /* bytes at the most */

struct function {
    uint64_t address, size;
    const char *name; /* libelf's */
    bool global;      /* what others call it by, rather than an alias inside of the file */
};

struct symbols_elf {
    int fd;
    Elf *elf;
    struct function *functions; /* by rising address */
    size_t count, capacity;
};

/* Bytes of a function; of one in assembly, which may not say, all to the end of its section. */
static uint64_t size_of(const struct symbols_elf *e, const GElf_Sym *symbol)
{
    Elf_Scn *section = symbol->st_size ? NULL : elf_getscn(e->elf, symbol->st_shndx);
    GElf_Shdr header;

    if (!section || !gelf_getshdr(section, &header) ||
        symbol->st_value - header.sh_addr >= header.sh_size)
        return symbol->st_size;
    return header.sh_size - (symbol->st_value - header.sh_addr);
}

static int add(struct symbols_elf *e, const GElf_Sym *symbol, const char *name)
{
    if (!array_reserve(&e->functions, &e->capacity, e->count + 1))
        return -ENOMEM;
    e->functions[e->count++] = (struct function){symbol->st_value, size_of(e, symbol), name,
                                                 GELF_ST_BIND(symbol->st_info) != STB_LOCAL};
    return 0;
}

static int read_table(struct symbols_elf *e, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t entry = gelf_fsize(e->elf, ELF_T_SYM, 1, EV_CURRENT);
    size_t count = data && entry ? data->d_size / entry : 0;
    int err = 0;

    for (size_t i = 0; !err && i < count && i <= INT32_MAX; i++) {
        GElf_Sym symbol;
        const char *name;

        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
            (GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
             GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC))
            continue;
        name = elf_strptr(e->elf, header->sh_link, symbol.st_name);
        if (name && *name)
            err = add(e, &symbol, name);
    }
    return err;
}

/* A note section that holds a build id: is it this one? */
static bool has_build_id(Elf_Data *data, const char *wanted)
{
    size_t at = 0, next, name, size;
    GElf_Nhdr note;

    while (data && (next = gelf_getnote(data, at, &note, &name, &size)) > 0) {
        const uint8_t *id = (const uint8_t *)data->d_buf + size;
        char hex[2 * BUILD_ID + 1];

        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
            memcmp((const char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
            note.n_descsz > 0 && note.n_descsz <= BUILD_ID) {
            for (size_t i = 0; i < note.n_descsz; i++)
                snprintf(hex + 2 * i, 3, "%02x", id[i]);
            return strcmp(hex, wanted) == 0;
        }
        at = next;
    }
    return false;
}

/* Of several at one address the last is the best, and the same in every run. */
ORDERED_BY(by_address, struct function, ORDER(x->address, y->address), ORDER(x->global, y->global),
           strcmp(y->name, x->name))

static int read_sections(struct symbols_elf *e, const char *build_id)
{
    bool right = !build_id, any = false;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    int err = 0;

    while (!err && (section = elf_nextscn(e->elf, section))) {
        if (!gelf_getshdr(section, &header))
            continue;
        any = true;
        if (header.sh_type == SHT_NOTE && !right)
            right = has_build_id(elf_getdata(section, NULL), build_id);
        else if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            err = read_table(e, section, &header);
    }
    if (err)
        return err;
    SORT(e->functions, e->count, by_address);
    if (!any)
        return -EBADMSG;
    return right ? 0 : -ESTALE;
}

/* The descriptor is the caller's to close whatever is wrong with the file. */
static int open_file(const char *path, int *out)
{
    struct stat st;

    *out = file_open_regular(AT_FDCWD, path, O_RDONLY, FILE_ANY_OWNER); /* a log names it */
    if (*out < 0)
        return *out == -EINVAL ? -EIO : *out;
    if (fstat(*out, &st))
        return -errno;
    return (uint64_t)st.st_size > SYMBOLS_MAX_FILE ? -EFBIG : 0;
}

int symbols_elf_open(const char *path, const char *build_id, struct symbols_elf **out)
{
    struct symbols_elf *e = memory_zalloc(1, sizeof(*e));
    int err = e ? open_file(path, &e->fd) : -ENOMEM;

    if (!err && elf_version(EV_CURRENT) != EV_NONE)
        e->elf = elf_begin(e->fd, ELF_C_READ, NULL);
    if (!err)
        err = e->elf && elf_kind(e->elf) == ELF_K_ELF ? read_sections(e, build_id) : -EBADMSG;
    *out = err ? NULL : e;
    if (err)
        symbols_elf_free(e);
    return err;
}

void symbols_elf_free(struct symbols_elf *e)
{
    if (!e)
        return;
    elf_end(e->elf);
    if (e->fd >= 0)
        close(e->fd);
    memory_free_all(e->functions, e);
}

BEFORE_KEY(begins_by, struct function, uint64_t, x->address <= key)

const char *symbols_elf_name(const struct symbols_elf *e, uint64_t address)
{
    size_t low = order_first(e->functions, e->count, sizeof(*e->functions), begins_by, &address);

    /* of several at one address the last is the best, but may not have the code asked for */
    for (size_t i = low; i-- > 0 && e->functions[i].address == e->functions[low - 1].address;) {
        const struct function *f = &e->functions[i];

        if (address - f->address < f->size)
            return f->name;
    }
    return NULL;
}
