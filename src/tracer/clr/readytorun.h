/*
 * clr/readytorun.h - which methods of a loaded image have precompiled code.
 *
 * A runtime that calls enter and leave hooks compiles everything again, but the tables are there.
 * Source: dotnet/runtime docs/design/coreclr/botr/readytorun-format.md, and their reader,
 * src/coreclr/vm/nativeformatreader.h.
 */
#ifndef SHADOWTRACE_CLR_READYTORUN_H
#define SHADOWTRACE_CLR_READYTORUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct readytorun;

/* Element types that stand in signatures of these images only. */
enum { READYTORUN_CANON = 0x3e }; /* System.__Canon: any reference type */

/* A part of a signature, read from `at` on; never beyond `end`. */
struct readytorun_signature {
    const uint8_t *at, *end;
};

/* An instantiation that the image has code for. */
struct readytorun_instance {
    struct readytorun_signature signature;
    bool has_owner;     /* the declaring generic instance comes first, then the method's row */
    bool has_arguments; /* its type arguments: a count and the types, last */
    bool async;         /* the variant of runtime async */
};

/* What code refers to by a cell that the runtime fills in. */
enum readytorun_fixup {
    READYTORUN_LOOKUP_THIS = 0x07, /* a look-up that shared generic code does; three kinds */
    READYTORUN_LOOKUP_TYPE = 0x08,
    READYTORUN_LOOKUP_METHOD = 0x09,
    READYTORUN_TYPE_HANDLE = 0x10, /* a type follows */
    READYTORUN_METHOD_HANDLE = 0x11,
    READYTORUN_FIELD_HANDLE = 0x12,
    READYTORUN_METHOD = 0x13, /* a method's code; the same by one token alone */
    READYTORUN_METHOD_DEF = 0x14,
    READYTORUN_METHOD_REF = 0x15,
    READYTORUN_VIRTUAL = 0x16, /* the same for what overrides it */
    READYTORUN_VIRTUAL_DEF = 0x17,
    READYTORUN_VIRTUAL_REF = 0x18,
    READYTORUN_HELPER = 0x1a,     /* of the runtime, by number; filled in from the beginning */
    READYTORUN_NEW_OBJECT = 0x1c, /* a type follows: makes one of it */
    READYTORUN_IS_INSTANCE = 0x1e,
    READYTORUN_CAST = 0x1f,
    READYTORUN_THREAD_STATICS = 0x24,
    READYTORUN_THREAD_OBJECTS = 0x25,
};

/*
 * readytorun_new - the tables of a loaded image; `flat`: mapped as in its file, not by section.
 * Returns: NULL: it has none (or they lie in another file: a composite image), or no memory.
 * Owns:    the image stays mapped as long as this is used. Threads: one at a time.
 */
struct readytorun *readytorun_new(const uint8_t *image, bool flat);
void readytorun_free(struct readytorun *r);

/* readytorun_method - the code of the plain method in a row of MethodDef. Returns: is there any? */
bool readytorun_method(const struct readytorun *r, uint32_t row, uint32_t *code);

/* readytorun_start - where that code begins, if the image is mapped by section; 0: nowhere. */
uintptr_t readytorun_start(const struct readytorun *r, uint32_t code);

/*
 * readytorun_instance - the code of an instantiation of a generic method, or of a method of a
 * generic type: the first for which `match`, having read the signature to its end, returns true.
 */
bool readytorun_instance(struct readytorun *r, uint32_t row,
                         bool (*match)(void *context, struct readytorun_instance *instance),
                         void *context, uint32_t *code);

/*
 * readytorun_cells - calls `match` with each cell that the code, with its handlers, may refer to,
 * until it returns true. Bytes that look like a reference count as one. Returns: whether it did;
 * true too without memory.
 */
bool readytorun_cells(struct readytorun *r, uint32_t code,
                      bool (*match)(void *context, enum readytorun_fixup fixup,
                                    struct readytorun_signature type),
                      void *context);

/*
 * readytorun_cell - what the cell at an address of the loaded image is for, filled in or not.
 * Returns: false: no cell, or one in the terms of another module.
 * readytorun_member - reads the method in the signature of a cell for one.
 * Returns: false: it is in other terms, or damaged.
 */
struct readytorun_member {
    uint32_t token; /* mdMethodDef or mdMemberRef */
    /* The generic instance that declares it; a count and its type arguments. Empty: not said. */
    struct readytorun_signature owner, arguments;
};
bool readytorun_cell(const struct readytorun *r, uintptr_t address, enum readytorun_fixup *fixup,
                     struct readytorun_signature *out);
bool readytorun_member(enum readytorun_fixup fixup, struct readytorun_signature from,
                       struct readytorun_member *out);

/*
 * readytorun_debug - the debug info (debug_map.h) of the function that begins at `code`.
 * Returns: its first byte, and how many may be read; NULL: none begins there, or it has none.
 * readytorun_version - the major version of the image's header.
 * readytorun_holds - does an address lie in the image, if it is mapped by section?
 */
const uint8_t *readytorun_debug(const struct readytorun *r, uintptr_t code, size_t *left);
uint32_t readytorun_version(const struct readytorun *r);
bool readytorun_holds(const struct readytorun *r, uintptr_t address);

/*
 * readytorun_at - what lies at an address relative to such an image, and how much of it.
 * Returns: NULL: no such place.
 */
const uint8_t *readytorun_at(const struct readytorun *r, uint32_t address, size_t *left);

/* readytorun_number - a compressed integer (ECMA-335 II.23.2). Returns: false at the end. */
bool readytorun_number(struct readytorun_signature *from, uint32_t *out);

#endif
