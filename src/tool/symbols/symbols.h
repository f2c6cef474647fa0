/*
 * symbols/symbols.h - from a method token and an IL offset to a file and a line, by portable PDB.
 *
 * Runs in the command only, never inside the traced process. A PDB counts only if its id is the one
 * that the assembly names and, where the assembly records a SHA-256 of it, if the content has that
 * hash: no lines rather than wrong ones. Nothing in a file is trusted: every offset, size and count
 * is checked, files are read and not mapped.
 * Source: ECMA-335 partition II 24; dotnet/runtime docs/design/specs/PortablePdb-Metadata.md and
 * PE-COFF.md.
 */
#ifndef SHADOWTRACE_SYMBOLS_SYMBOLS_H
#define SHADOWTRACE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols; /* sequence points and documents of one assembly; does not change once opened */

/* Why there are no lines; with what symbols_open returns. */
enum symbols_reason {
    SYMBOLS_OK,          /* 0 */
    SYMBOLS_NO_ASSEMBLY, /* -ENOENT: the assembly is not there */
    SYMBOLS_NOT_MANAGED, /* -ENOEXEC: the file is no .NET assembly */
    SYMBOLS_NONE,        /* -ENODATA: the assembly was built without symbols */
    SYMBOLS_MISSING,     /* -ENOENT: no PDB in any of the places looked at */
    SYMBOLS_OTHER_BUILD, /* -ESTALE: assembly or PDB is there, of another build than the traced */
    SYMBOLS_WINDOWS,     /* -ENOTSUP: the PDB is a Windows PDB, which is not read */
    SYMBOLS_UNSUPPORTED, /* -ENOTSUP: a newer portable PDB format than 1.x */
    SYMBOLS_TRUNCATED,   /* -EBADMSG: the file ends before its content does */
    SYMBOLS_DAMAGED,     /* -EBADMSG: the content contradicts the format or itself */
    SYMBOLS_FORGED,      /* -EBADMSG: right id, but not the content the assembly has a hash of */
    SYMBOLS_TOO_LARGE,   /* -EFBIG: beyond SYMBOLS_MAX_FILE */
    SYMBOLS_UNREADABLE,  /* -errno of opening or reading; -EIO: not a regular file */
    SYMBOLS_MEMORY       /* -ENOMEM */
};

/* Bytes of an assembly, of a PDB, of an embedded PDB unpacked. */
#define SYMBOLS_MAX_FILE ((size_t)1 << 30)
/* Bytes of a module version id, as they lie in the #GUID heap. */
#define SYMBOLS_MVID_SIZE 16

/*
 * text is one line of valid UTF-8 without control characters, "PATH: what is wrong, and where"; a
 * long path loses its beginning.
 */
struct symbols_error {
    enum symbols_reason reason;
    char text[1024];
};

/*
 * symbols_open - find, match and read the PDB of an assembly: embedded in it; beside it, under the
 * assembly's name or the one that the assembly gives; then in each of dirs: DIR/name.pdb, and
 * DIR/name.pdb/GUIDFFFFFFFF/name.pdb. The first that belongs to the assembly and is whole is taken.
 * dirs:    ndirs folder names; may be NULL if that is 0.
 * mvid:    SYMBOLS_MVID_SIZE bytes that the assembly must have, or NULL if they are not known.
 * Returns: 0 and *out; else as listed at enum symbols_reason, and *out is NULL. error may be NULL;
 *          of several candidates that cannot be used it names the first.
 * Owns:    the caller, until symbols_free. No file stays open.
 * Threads: any.
 */
int symbols_open(const char *assembly, const char *const *dirs, size_t ndirs, const uint8_t *mvid,
                 struct symbols **out, struct symbols_error *error);

/*
 * symbols_open_bundled - the same for the assembly `name` in a program published as a single file;
 * its PDB is looked for in the assembly, and beside the program. -ENOENT also if the file is no
 * bundle, or has no such assembly.
 */
int symbols_open_bundled(const char *bundle, const char *name, const char *const *dirs,
                         size_t ndirs, const uint8_t *mvid, struct symbols **out,
                         struct symbols_error *error);

/*
 * symbols_of_pdb - of a PDB in memory that belongs to the assembly, as somebody else has checked.
 * packed: by deflate, to unpack to unpacked_size bytes.
 * Returns: as symbols_open. Owns: data is borrowed; *out is the caller's until symbols_free.
 */
int symbols_of_pdb(const uint8_t *data, size_t size, bool packed, size_t unpacked_size,
                   struct symbols **out, struct symbols_error *error);

/* NULL is fine. Every text and pointer got from it is gone too. */
void symbols_free(struct symbols *symbols);

/* Where they came from: a PDB's path, or the assembly's own if the PDB is embedded in it. */
const char *symbols_path(const struct symbols *symbols);
bool symbols_embedded(const struct symbols *symbols);
/* Whether the assembly records a SHA-256 of its PDB, which then was compared. */
bool symbols_verified(const struct symbols *symbols);

/*
 * A place in the source. Lines and columns count from 1; a statement ends before end_column. file
 * is valid UTF-8, as the compiler wrote it: it may also be C:\src\A.cs or /_/src/A.cs, and hold
 * control characters.
 */
struct symbols_line {
    const char *file;
    uint32_t document; /* id for symbols_document and the like */
    uint32_t line, column, end_line, end_column;
    uint32_t il; /* where the statement's code begins */
    bool hidden; /* the code asked for is the compiler's own; this is the statement next to it */
    uint32_t line_last; /* of symbols_line_of: the last of several lines that it may be; else 0 */
};

/*
 * symbols_line - the statement whose code holds IL offset il: the sequence point at or before it,
 * or the visible one before that if it is hidden; the next visible one if none is before it.
 * method:  metadata token, 0x06......
 * Returns: 0 and *out; -EINVAL for a token that is no method of the assembly; -ENODATA when the
 *          method has no line there (no points, none at or before il, only hidden ones);
 *          -EBADMSG when the method's points are damaged: all of them are checked each time, so
 *          that a damaged method gives no line at all.
 * Owns:    out->file belongs to symbols and lives as long.
 * Threads: any, also at once.
 */
int symbols_line(const struct symbols *symbols, uint32_t method, uint32_t il,
                 struct symbols_line *out);

/*
 * symbols_line_of - the same for an instruction that may be one of several (base/il.h): their lines
 * are between out->line and out->line_last. -ENODATA also where their statements are not of one
 * document. il below 0: not known; there is only one answer for a method that is on one line.
 */
int symbols_line_of(const struct symbols *symbols, uint32_t method, int32_t il,
                    struct symbols_line *out);

/* One sequence point; of a hidden one only il and document mean anything, the rest is 0. */
struct symbols_point {
    uint32_t il, document;
    uint32_t line, column, end_line, end_column;
    bool hidden;
};

/*
 * symbols_points - call each() for every sequence point of a method, by rising IL offset, until it
 * returns non-zero.
 * Returns: 0, or what each() returned; without having called it -EINVAL or -EBADMSG, as
 *          symbols_line. A method without points is 0.
 * Threads: any, also at once.
 */
int symbols_points(const struct symbols *symbols, uint32_t method,
                   int (*each)(void *context, const struct symbols_point *point), void *context);

/* The assembly's methods: tokens 0x06000001 to 0x06000000 + this. */
uint32_t symbols_method_count(const struct symbols *symbols);

enum symbols_hash { SYMBOLS_HASH_NONE, SYMBOLS_HASH_SHA1, SYMBOLS_HASH_SHA256, SYMBOLS_HASH_OTHER };

struct symbols_document {
    const char *file; /* as in struct symbols_line */
    enum symbols_hash hash_kind;
    const uint8_t *hash; /* of the source file: hash_size bytes */
    size_t hash_size;
    bool embedded; /* symbols_source has its text */
};

/* Documents are numbered from 1 to the count. symbols_document: 0, or -EINVAL for another id. */
uint32_t symbols_document_count(const struct symbols *symbols);
int symbols_document(const struct symbols *symbols, uint32_t document,
                     struct symbols_document *out);

/* Bytes of an embedded source file. */
#define SYMBOLS_MAX_SOURCE ((size_t)64 << 20)

/*
 * symbols_source - the source text embedded in the PDB.
 * Returns: 0 and the file's bytes as they were compiled, in any encoding, a NUL behind them;
 *          -ENODATA: none embedded; -EINVAL: no such document; -EBADMSG: damaged; -EFBIG: beyond
 *          SYMBOLS_MAX_SOURCE; -ENOMEM.
 * Owns:    *text is the caller's, to be freed with memory_free.
 * Threads: any, also at once.
 */
int symbols_source(const struct symbols *symbols, uint32_t document, char **text, size_t *size);

/*
 * symbols_source_check - whether these bytes are the source file that was compiled.
 * Returns: 0: they are; -ESTALE: they are not; -ENOTSUP: the PDB has no SHA-256 of it; -EINVAL: no
 *          such document.
 * Threads: any, also at once.
 */
int symbols_source_check(const struct symbols *symbols, uint32_t document, const void *data,
                         size_t size);

/* symbols_source_checkable - whether symbols_source_check can say: 0, -ENOTSUP or -EINVAL. */
int symbols_source_checkable(const struct symbols *symbols, uint32_t document);

/*
 * symbols_source_link - the Source Link JSON, {"documents": {"PATTERN": "URL", ...}}, as it lies in
 * the PDB: neither NUL-terminated nor validated.
 * Returns: its *size bytes, or NULL and 0 if it is missing.
 * Owns:    they belong to symbols and live as long.
 * Threads: any, also at once.
 */
const char *symbols_source_link(const struct symbols *symbols, size_t *size);

/* One pair of that JSON, as parsed by the caller (this folder does not use jansson). */
struct symbols_link {
    const char *pattern; /* a path; may end in one '*' */
    const char *url;     /* may then hold one '*' */
};

/*
 * symbols_link_url - the address of a file. The longest pattern that fits wins, letter case does
 * not count, pairs that break the rules are passed over. What the wildcard stands for is escaped,
 * the rest is the PDB's word: to be shown, not fetched.
 * Returns: 0 and *url; -ENOENT when no pair fits; -ENOMEM.
 * Owns:    *url is the caller's, to be freed with memory_free.
 * Threads: any.
 */
int symbols_link_url(const struct symbols_link *links, size_t count, const char *file, char **url);

#endif
