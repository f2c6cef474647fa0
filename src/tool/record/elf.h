/* record/elf.h - what is asked of an executable: its CPU, C library, symbols, strings. */
#ifndef SHADOWTRACE_RECORD_ELF_H
#define SHADOWTRACE_RECORD_ELF_H

#include <stdbool.h>
#include <stdint.h>

struct record_elf {
    int fd;
    uint64_t size;
    struct Elf *elf; /* libelf's; NULL: damaged */
    const char *cpu; /* as messages say it: CPU_NAME, "a 32-bit CPU" */
};

/*
 * fd: of the file; below 0: it could not be opened.
 * Returns: 0, or -ENOEXEC if it is no ELF file. It may be damaged: it is read, never mapped.
 * Owns: the descriptor. Call record_elf_close() in either case: it closes it.
 */
int record_elf_open(struct record_elf *elf, int fd);
void record_elf_close(struct record_elf *elf);

/* The CPU of the file at `path`; NULL: it is no ELF file. */
const char *record_elf_cpu(const char *path);

enum record_libc {
    RECORD_LIBC_UNKNOWN, /* a static program, a script, another CPU's, a damaged file */
    RECORD_LIBC_GLIBC,
    RECORD_LIBC_MUSL,
};

/* The C library of the program at `path`, by the dynamic linker that it names. */
enum record_libc record_elf_libc(const char *path);

/*
 * Calls `found` for each library that the file needs, by DT_NEEDED, until it returns true.
 * Returns: whether it did.
 */
typedef bool record_elf_name(void *context, const char *name);
bool record_elf_needs(const struct record_elf *elf, record_elf_name *found, void *context);

/* Is one of these a symbol, by every string table? A stripped static program has none. */
bool record_elf_names(const struct record_elf *elf, const char *const *names);

/* Do these bytes, fewer than 64, occur anywhere in the file? */
bool record_elf_holds(const struct record_elf *elf, const char *text);

#endif
