/* code/il_match.h - how well an instruction fits what was called or made, by its operand. */
#ifndef SHADOWTRACE_CODE_IL_MATCH_H
#define SHADOWTRACE_CODE_IL_MATCH_H

#include "code/calls.h"
#include "code/il_decode.h"

#include "metadata/metadata.h"
#include "metadata/signature.h"

/*
 * What operands name, and what calls do to the stack, so that the metadata is asked once. One
 * thread's own; memory_free ends it.
 */
struct il_memo;
struct il_memo *il_memo_new(void); /* NULL: no memory */

/* signature_shape_of a call's operand, which a memo keeps; memo: may be NULL. */
bool il_memo_shape(struct il_memo *memo, struct clr_metadata *import, uint32_t token,
                   struct signature_shape *out);

/*
 * The nearest instructions whose calls are known and run before, and after, the one in question,
 * whenever that does; -1: none is known.
 */
struct il_between {
    int32_t after, before; /* it runs after the one, before the other */
};

/*
 * The place among equal calls in the code that the map gives to the piece. Reading code takes
 * longer than all the rest: it is done at most once, and only if the place matters. The calls
 * around it are asked for if nothing else tells.
 */
struct il_rank {
    struct cpu_rank (*read)(struct il_rank *rank);
    struct il_between (*between)(struct il_rank *rank);
};

/* What was called or made; NULL: not known. */
struct il_target {
    const char *callee;                   /* text of a method */
    const struct metadata_method *record; /* the callee's, or NULL: then its text has to do */
    const struct metadata_class *made;    /* class of a new object, its text resolved */
    bool unnamed;                         /* what a delegate, or a pointer, led to */
    bool sure;                            /* only an operand that names it counts */
    struct il_memo *memo;                 /* the calling thread's, or NULL */
    struct signature_names *names;        /* the same */
    struct il_rank *rank;                 /* NULL: not known */
};

/* The parts of a method's text: "Ns.Type<T>" "." "Name" "<U>" "(...)". */
struct parts {
    const char *text, *name, *parameters;
    size_t owner_size, name_size;
    uint64_t name_hash, owner_hash, parameters_hash; /* the latter two 0: not made yet */
    int count; /* of parameters; COUNT_UNKNOWN, or -1: they are cut off */
};
#define COUNT_UNKNOWN (-2) /* not made yet */

/* What an operand names: a member, or a type. */
struct operand {
    const struct clr_metadata *import; /* kept for good: never another one's address */
    const uint8_t *blob; /* signature of a member, which lives as long as the module */
    uint32_t size;
    uint32_t token;      /* as the instruction has it */
    uint32_t member;     /* mdMethodDef or mdMemberRef; 0: a type */
    uint32_t owner;      /* the type, or the one that declares the member; 0: none */
    uint64_t name, tail; /* hashes of the member's name, and of what follows its last '.' */
    uint64_t owner_text, parameters; /* hashes of their texts; 0: not made yet, or not to be kept */
};

/* What all instructions of a body are compared with. */
struct il_match {
    const struct metadata_method *method;
    const struct il_target *target;
    struct signature_scope scope;
    struct parts callee;
    uint16_t short_name;    /* of the callee; 0: none */
    bool lambda;            /* the callee is one: a call that names nobody fits, too */
    uint32_t definition;    /* token that can mean the callee only; or 0 */
    const uint32_t *helper; /* two opcodes that the callee stands for; 0 is none */
    const char *made;       /* text of the new object's class */
    size_t made_size;
    uint64_t made_hash, element_hash; /* of that text, and of what "[]" follows; 0: none */
    bool makes_string;
    bool exact;            /* whom the callee was inlined by does not fit */
    bool metadata;         /* there is a text to compare with, and metadata to do it */
    struct operand unkept; /* room for an operand, without a memo */
};

/*
 * How well an instruction fits what is asked for, 0: not at all. FIT_OWNER, only if owners are
 * asked for: it calls another method of the same type, which may be inlined there and call on.
 * FIT_FIRST: it makes the object when it is first asked for, and a call beside it can make others.
 */
enum {
    FIT_OWNER = 1,
    FIT_FIRST = 1,
    FIT_NAME = 2,
    FIT_PARAMETERS = 1,
    FIT_NAME_OWNER = 4,
    FIT_ALL = 5,
    FIT_BOX = 6,
    FIT_ARGUMENTS = 2
};

/* il_match_init - for the instructions of a method. Threads: any that may read its metadata. */
void il_match_init(struct il_match *match, const struct metadata_method *method,
                   const struct il_target *target);

/* How well it fits: FIT_ values. match->metadata is true. */
unsigned il_match_fit(struct il_match *match, struct il_instruction *in, bool owners);

/* Whether the call's operand says nothing of whom it calls: through a pointer, or a delegate. */
bool il_match_unnamed(struct il_match *match, const struct il_instruction *in);

#endif
