/* symbols/elf.h - names of native functions: symbols of executables and libraries, by libelf. */
#ifndef SHADOWTRACE_SYMBOLS_ELF_H
#define SHADOWTRACE_SYMBOLS_ELF_H

#include <stdint.h>

struct symbols_elf;

/*
 * symbols_elf_open - the functions that a file's .symtab and .dynsym name. Whatever the file holds,
 * nothing is read beyond it; what is damaged is passed over.
 * build_id: in hexadecimal: the file must have it; NULL: any file.
 * Returns:  0 and *out; -errno of opening or reading; -EBADMSG: no ELF file, or without sections;
 *           -ESTALE: another build, or one that does not say; -EFBIG; -ENOMEM.
 * Owns:     the caller, until symbols_elf_free; the file stays open.
 * Threads:  one at a time.
 */
int symbols_elf_open(const char *path, const char *build_id, struct symbols_elf **out);
void symbols_elf_free(struct symbols_elf *elf); /* NULL is fine */

/*
 * symbols_elf_name - the function whose code holds an address of the file; of a function without a
 * size, all up to the next one in its section.
 * Returns: its name, as the file has it (C++ names are mangled), owned by elf; NULL: none.
 */
const char *symbols_elf_name(const struct symbols_elf *elf, uint64_t address);

#endif
