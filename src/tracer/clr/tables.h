/*
 * clr/tables.h - the tables of a module's metadata, read as they lie (ECMA-335 II.22 and II.24).
 *
 * Only the compact form, "#~", in which compilers write assemblies. Others made the bytes: every
 * read is bounded, and one that fails says so. Holds no state. Threads: any.
 */
#ifndef SHADOWTRACE_CLR_TABLES_H
#define SHADOWTRACE_CLR_TABLES_H

#include <stdbool.h>
#include <stdint.h>

/* Tables by number, of those that are read; in a token the number is the upper byte. */
enum {
    TABLE_TYPE_REF = 0x01,
    TABLE_TYPE_DEF = 0x02,
    TABLE_METHOD_DEF = 0x06,
    TABLE_MEMBER_REF = 0x0A,
    TABLE_TYPE_SPEC = 0x1B,
    TABLE_NESTED_CLASS = 0x29,
    TABLE_GENERIC_PARAM = 0x2A,
    TABLE_METHOD_SPEC = 0x2B,
    TABLES
};

/* Their columns, by number. */
enum { TYPE_REF_SCOPE, TYPE_REF_NAME, TYPE_REF_SPACE };
enum {
    TYPE_DEF_FLAGS,
    TYPE_DEF_NAME,
    TYPE_DEF_SPACE,
    TYPE_DEF_EXTENDS,
    TYPE_DEF_FIELDS,
    TYPE_DEF_METHODS
};
enum { METHOD_RVA, METHOD_IMPL_FLAGS, METHOD_FLAGS, METHOD_NAME, METHOD_SIGNATURE };
enum { MEMBER_PARENT, MEMBER_NAME, MEMBER_SIGNATURE };
enum { NESTED_TYPE, NESTED_ENCLOSING };
enum { PARAM_NUMBER, PARAM_FLAGS, PARAM_OWNER, PARAM_NAME };
enum { SPEC_METHOD, SPEC_SIGNATURE };
#define TABLES_COLUMNS 9 /* that a table has, at the most */

struct clr_tables {
    const uint8_t *strings, *blobs; /* heaps; a string ends in NUL, or is damaged */
    uint32_t strings_size, blobs_size;
    struct clr_table {
        const uint8_t *rows;
        uint32_t count;
        uint8_t size;                                      /* bytes of a row */
        uint8_t at[TABLES_COLUMNS], width[TABLES_COLUMNS]; /* bytes: where each begins; 2 or 4 */
    } table[TABLES];
};

/*
 * clr_tables_open - the tables of `size` bytes that begin with the metadata root and stay.
 * Returns: whether they are there in the compact form, and sorted as it asks for.
 */
bool clr_tables_open(const uint8_t *metadata, uint32_t size, struct clr_tables *out);

/* clr_tables_has - is there such a row? Rows count from 1. */
static inline bool clr_tables_has(const struct clr_tables *tables, unsigned table, uint32_t row)
{
    return row && row <= tables->table[table].count;
}

/* clr_tables_cell - a cell of a row that is there. */
uint32_t clr_tables_cell(const struct clr_tables *tables, unsigned table, uint32_t row,
                         unsigned column);

/*
 * clr_tables_token - the token in such a cell, of a column that names a row of one of several
 * tables. Returns: 0: none, or of no table that may be there.
 */
uint32_t clr_tables_token(const struct clr_tables *tables, unsigned table, uint32_t row,
                          unsigned column);

/* clr_tables_blob - the bytes at a place of the heap. NULL: none, or damaged. */
const uint8_t *clr_tables_blob(const struct clr_tables *tables, uint32_t at, uint32_t *size);

/*
 * clr_tables_first - of a table in the order of one column the first row that has at least this
 * there; one behind the last if none has.
 */
uint32_t clr_tables_first(const struct clr_tables *tables, unsigned table, unsigned column,
                          uint32_t least);

/* clr_tables_owner - the type whose list of methods has this one; 0: none. */
uint32_t clr_tables_owner(const struct clr_tables *tables, uint32_t method);

#endif
