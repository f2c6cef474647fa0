/*
 * report/source_lines.h - the one place where reports ask for files and lines: symbols of a module,
 * opened at first need, and only those of the build that was traced.
 */
#ifndef SHADOWTRACE_REPORT_SOURCE_LINES_H
#define SHADOWTRACE_REPORT_SOURCE_LINES_H

#include "readers/defs.h"

#include "base/buffer.h"
#include "base/il.h"

struct source_lines;

/* Takes a line on symbols that are there but cannot be used, or are not there. */
typedef void source_lines_tell(const void *context, const char *line);

#define SOURCE_LINE_LAST IL_MOST /* an offset behind the code of every method: its last line */

struct source_line {
    const char *file; /* as the compiler wrote it; lives as long as the source_lines */
    uint32_t line;
    uint32_t module, document; /* number in defs; id in the module's symbols */
    uint32_t line_last;        /* if it may be one of several lines, the last of them; else 0 */
};

/* source_line_put - appends ":12", of several lines ":12-13"; line 0: nothing. */
void source_line_put(struct buffer *b, uint32_t line, uint32_t line_last);

/*
 * source_lines_new - for the modules of `defs` (borrowed).
 * tell:    (with context, both borrowed) is called by source_lines_missing and source_lines_free,
 *          not within what is being printed.
 * dirs:    folders to look in besides the assembly's own, for PDBs and for assemblies that are no
 *          longer where they were or not the traced ones; borrowed; ndirs may be 0.
 * header:  of the log, or NULL: from logs that do not say which build a module is, an assembly
 *          written after the recording began is taken for another one.
 * Returns: 0 or -ENOMEM.
 */
int source_lines_new(const struct log_defs *defs, const char *const *dirs, size_t ndirs,
                     const json_t *header, source_lines_tell *tell, const void *context,
                     struct source_lines **out);
void source_lines_free(struct source_lines *s);

/*
 * source_line_of - where `il` of a method (number in defs) stands in the source. s NULL, or not
 * known: false. il below 0: the line of a method that is on one line. What was once asked is
 * answered from memory.
 */
bool source_line_of(struct source_lines *s, uint32_t method, int32_t il, struct source_line *out);

/*
 * source_lines_give - a line that is known from elsewhere: nobody looks it up. What was asked or
 * given before stays. Returns: 0 or -ENOMEM. Owns: file is borrowed until source_lines_free.
 */
int source_lines_give(struct source_lines *s, uint32_t method, int32_t il, const char *file,
                      uint32_t line);

/* source_line_any - whether a method (number in defs) has lines at all. s NULL: it has none. */
bool source_line_any(struct source_lines *s, uint32_t method);

/*
 * source_line_generated - whether a program wrote the source of a method (number in defs): by the
 * name and folder of the file that its last line is in, and by what the file's first comments say.
 * False once source_lines_show_generated was called. s NULL: false.
 */
bool source_line_generated(struct source_lines *s, uint32_t method);
void source_lines_show_generated(struct source_lines *s);

/* source_lines_of_module - whether lines of a module (number in defs) are known. s NULL: none. */
bool source_lines_of_module(struct source_lines *s, uint32_t module);

/* source_lines_rebuilt - whether a module (number in defs) has no lines as it was built again. */
bool source_lines_rebuilt(const struct source_lines *s, uint32_t module);

/*
 * source_lines_missing - tells of symbols that cannot be used, a line for each module, then in one
 * line of all modules asked about that have none; wanted NULL: of all, else of those it is true of.
 */
void source_lines_missing(struct source_lines *s,
                          bool (*wanted)(const void *context, uint32_t module),
                          const void *context);

/*
 * source_line_url - the address of a line on the web, by Source Link. It is the PDB's word: to be
 * shown, nothing is fetched. Returns: text to be freed with memory_free, or NULL.
 */
char *source_line_url(struct source_lines *s, const struct source_line *line);

/*
 * source_lines_document - the next document, of any module, whose path ends with `file` (whole
 * names of folders; either slash). *out is where to go on, all 0 to begin: its file, module and
 * document are set. Opens the symbols of every module. Returns: false at the end.
 */
bool source_lines_document(struct source_lines *s, const char *file, struct source_line *out);

/*
 * source_lines_at_home - whether the sources of a module (number in defs) are here: its symbols
 * name a file that exists. False if the lines of the module have not been requested.
 */
bool source_lines_at_home(struct source_lines *s, uint32_t module);

/*
 * source_lines_text - the source file itself: embedded in the PDB, or from disk: `path`, or where
 * the compiler had it. A file on disk is read only if the PDB has a usable hash of it, and its text
 * is returned only if it has that hash: a hostile PDB names any file, such as /etc/shadow.
 * Returns: 0 and *text of *size bytes, a NUL after them, to be freed with memory_free; -ENOENT: not
 *          found; -ENOTSUP: no usable hash; -ESTALE: not the file that was compiled; -errno of
 *          reading; -ENOMEM.
 */
int source_lines_text(struct source_lines *s, const struct source_line *document, const char *path,
                      char **text, size_t *size);

/*
 * source_lines_named_text - as source_lines_text, of a file that the user named in full. Without a
 * usable hash its text is returned, too, and *checked is false.
 */
int source_lines_named_text(struct source_lines *s, const struct source_line *document,
                            const char *path, char **text, size_t *size, bool *checked);

#endif
