/*
 * metadata/signature.h - types as metadata spells them (tokens and ECMA-335 II.23.2 signature
 * blobs) to text. Knows the metadata of one module, and the exact type arguments that a caller
 * passes.
 *
 * Blobs come from files of others: reads are bounded, nesting and work are limited, and what cannot
 * be read becomes "?".
 */
#ifndef SHADOWTRACE_METADATA_SIGNATURE_H
#define SHADOWTRACE_METADATA_SIGNATURE_H

#include "base/buffer.h"

#include <shadowtrace/clr/metadata.h>

#include <stdbool.h>

struct metadata_class;

/*
 * Names of types that have no arguments, by token: a few are in most signatures. One thread's own,
 * for metadata that is never released; memory_free ends it. Returns: NULL: no memory.
 */
struct signature_names;
struct signature_names *signature_names_new(void);

/* What type variables stand for: exact arguments if known, else the names of the parameters. */
struct signature_scope {
    struct clr_metadata *import;
    uint32_t type;                          /* mdTypeDef whose parameters VAR counts; 0: unknown */
    uint32_t method;                        /* mdMethodDef whose parameters MVAR counts; 0: none */
    uint32_t type_args, method_args;        /* how many exact arguments; 0 where none are known */
    struct metadata_class *const *type_arg; /* entries may be NULL or canonical */
    struct metadata_class *const *method_arg;
    struct signature_names *names; /* NULL: none are kept */
};

/* Parameter list of a method's signature in its parentheses: "(System.Int32, T[])". */
void signature_append_parameters(struct buffer *out, const struct signature_scope *scope,
                                 const uint8_t *blob, size_t size);

/*
 * signature_append_definition - a mdTypeDef with arguments: "Ns.Outer<System.Int32>.Inner<T>".
 * Returns: whether the metadata knew the token; if not, out is as it was.
 */
bool signature_append_definition(struct buffer *out, const struct signature_scope *scope,
                                 uint32_t type);

/* "<System.Int32, T>" of a generic method, nothing for any other. */
void signature_append_method_arguments(struct buffer *out, const struct signature_scope *scope);

/* "<System.Int32, T>" of a mdMethodSpec; what the first is. */
enum signature_first { SIGNATURE_VALUE, SIGNATURE_REFERENCE, SIGNATURE_PARAMETER };
void signature_append_arguments(struct buffer *out, const struct signature_scope *scope,
                                const uint8_t *blob, size_t size);
enum signature_first signature_first_of(const uint8_t *blob, size_t size);

/*
 * signature_append_exact - a type, or a number and as many as arguments, as precompiled code has
 * them: "__Canon" is any reference type.
 * Returns: whether all of it could be read.
 */
bool signature_append_exact(struct buffer *out, const struct signature_scope *scope,
                            const uint8_t *blob, size_t size, bool arguments);

/*
 * signature_append_token - a mdTypeDef, mdTypeRef or mdTypeSpec, as instructions name it.
 * Returns: whether it speaks of type variables, which another scope says other things of.
 */
bool signature_append_token(struct buffer *out, const struct signature_scope *scope, uint32_t type);

/* The name of the type that an element type alone stands for; NULL: it does not stand alone. */
const char *signature_simple(uint32_t element);

/*
 * signature_append_member_name - the bare name of a mdMethodDef or mdMemberRef.
 * Returns: whether the metadata knew the token; then *owner is its type, and blob its signature,
 *          which lives as long as the module.
 */
bool signature_append_member_name(struct buffer *out, struct clr_metadata *import, uint32_t member,
                                  uint32_t *owner, const uint8_t **blob, uint32_t *size);

/* What a call takes from the evaluation stack and puts there. */
struct signature_shape {
    uint32_t parameters; /* without `this` */
    bool has_this, returns;
};

/*
 * signature_shape_of - of mdMethodDef, mdMemberRef, mdMethodSpec or a stand-alone signature.
 * Returns: whether the metadata knew the token, and its blob could be read so far.
 */
bool signature_shape_of(struct clr_metadata *import, uint32_t token, struct signature_shape *out);

/* Bytes beyond which nothing is appended: names are cut far below. Blobs are still read on. */
#define SIGNATURE_FULL 8192

struct metadata_class;
/* A class as part of a longer name; "?" and the token without metadata. */
void signature_append_class(struct buffer *out, const struct metadata_class *class);

#endif
