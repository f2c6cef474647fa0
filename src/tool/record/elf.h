/* record/elf.h - what is asked of an executable: its CPU, symbols by name, a string in it. */
#ifndef SHADOWTRACE_RECORD_ELF_H
#define SHADOWTRACE_RECORD_ELF_H

#include <stdbool.h>
#include <stdint.h>

struct record_elf {
    int fd; /* the caller's */
    uint64_t size;
    bool x86_64;
};

/* Returns: 0, or -ENOEXEC if it is no ELF file. It may be damaged: it is read, never mapped. */
int record_elf_open(struct record_elf *elf, int fd);

/* Is one of these a symbol, by every string table? A stripped static program has none. */
bool record_elf_names(const struct record_elf *elf, const char *const *names);

/* Do these bytes, fewer than 64, occur anywhere in the file? */
bool record_elf_holds(const struct record_elf *elf, const char *text);

#endif
