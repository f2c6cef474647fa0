#include "names/il.h"

#include "names/internal.h"
#include "names/signature.h"

#include "base/memory.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <errno.h>
#include <string.h>

/* ECMA-335 III: the opcodes that call, or may call a helper of the runtime's. */
enum {
    OP_CALL = 0x28,
    OP_CALLI = 0x29,
    OP_SWITCH = 0x45,
    OP_CALLVIRT = 0x6F,
    OP_CPOBJ = 0x70,
    OP_LDOBJ = 0x71,
    OP_LDSTR = 0x72,
    OP_NEWOBJ = 0x73,
    OP_CASTCLASS = 0x74,
    OP_ISINST = 0x75,
    OP_UNBOX = 0x79,
    OP_THROW = 0x7A,
    OP_LDSFLD = 0x7E,
    OP_LDSFLDA = 0x7F,
    OP_STSFLD = 0x80,
    OP_STOBJ = 0x81,
    OP_BOX = 0x8C,
    OP_NEWARR = 0x8D,
    OP_LDELEMA = 0x8F,
    OP_STELEM_REF = 0xA2,
    OP_STELEM = 0xA4,
    OP_UNBOX_ANY = 0xA5,
    OP_LDTOKEN = 0xD0,
    OP_PREFIX = 0xFE, /* of the two-byte opcodes below */
    OP_LDFTN = 0xFE06,
    OP_LDVIRTFTN = 0xFE07,
    OP_RETHROW = 0xFE1A,
};

struct instruction {
    uint32_t at;
    uint32_t opcode;
    uint32_t token; /* operand of 4 bytes, if it has one */
};

static uint32_t read_u32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

bool il_parse(const uint8_t *body, size_t size, struct il_code *out)
{
    const uint32_t fat_header = 12;

    if (!body || size < 1)
        return false;
    if ((body[0] & 3) == CorILMethod_FatFormat) { /* the two formats share the low two bits */
        if (size < fat_header || read_u32(body + 4) > size - fat_header)
            return false;
        *out = (struct il_code){body + fat_header, read_u32(body + 4)};
        return true;
    }
    *out = (struct il_code){body + 1, (uint32_t)body[0] >> 2};
    return out->size <= size - 1;
}

/* Bytes after the opcode; a switch counts its table besides. */
static uint32_t operand_size(uint32_t opcode)
{
    static const uint8_t plain[256] = {
        [0x0E ... 0x13] = 1, /* ldarg.s to stloc.s */
        [0x1F] = 1,          /* ldc.i4.s */
        [0x20] = 4,          /* ldc.i4 */
        [0x21] = 8,          /* ldc.i8 */
        [0x22] = 4,          /* ldc.r4 */
        [0x23] = 8,          /* ldc.r8 */
        [0x27 ... 0x29] = 4, /* jmp, call, calli */
        [0x2B ... 0x37] = 1, /* short branches */
        [0x38 ... 0x45] = 4, /* branches, switch */
        [0x6F ... 0x75] = 4, /* callvirt to isinst */
        [0x79] = 4,          /* unbox */
        [0x7B ... 0x81] = 4, /* fields, stobj */
        [0x8C ... 0x8D] = 4, /* box, newarr */
        [0x8F] = 4,          /* ldelema */
        [0xA3 ... 0xA5] = 4, /* ldelem, stelem, unbox.any */
        [0xC2] = 4,          /* refanyval */
        [0xC6] = 4,          /* mkrefany */
        [0xD0] = 4,          /* ldtoken */
        [0xDD] = 4,          /* leave */
        [0xDE] = 1,          /* leave.s */
    };
    static const uint8_t prefixed[256] = {
        [0x06 ... 0x07] = 4, /* ldftn, ldvirtftn */
        [0x09 ... 0x0E] = 2, /* ldarg to stloc */
        [0x12] = 1,          /* unaligned. */
        [0x15 ... 0x16] = 4, /* initobj, constrained. */
        [0x19] = 1,          /* no. */
        [0x1C] = 4,          /* sizeof */
    };

    return opcode >> 8 ? prefixed[opcode & 0xff] : plain[opcode];
}

/* Decodes the instruction at *at and moves on. Returns: false at the end of the code, or when it is damaged. */
static bool next_instruction(const struct il_code *il, uint32_t *at, struct instruction *out)
{
    uint64_t end = *at;
    uint32_t size;

    if (*at >= il->size)
        return false;
    *out = (struct instruction){*at, il->code[end++], 0};
    if (out->opcode == OP_PREFIX) {
        if (end >= il->size)
            return false;
        out->opcode = OP_PREFIX << 8 | il->code[end++];
    }
    size = operand_size(out->opcode);
    if (end + size > il->size)
        return false;
    if (size == 4)
        out->token = read_u32(il->code + end);
    end += size;
    if (out->opcode == OP_SWITCH)
        end += (uint64_t)out->token * 4;
    if (end > il->size)
        return false;
    *at = (uint32_t)end;
    return true;
}

static bool is_call(uint32_t opcode)
{
    return opcode == OP_CALL || opcode == OP_CALLVIRT || opcode == OP_NEWOBJ || opcode == OP_CALLI;
}

/* What the JIT compiles to a call of the runtime, at least at times: helpers written in C# are hooked methods. */
static bool may_call_helper(uint32_t opcode)
{
    switch (opcode) {
    case OP_CPOBJ:
    case OP_LDSTR:
    case OP_CASTCLASS:
    case OP_ISINST:
    case OP_UNBOX:
    case OP_THROW:
    case OP_LDSFLD:
    case OP_LDSFLDA:
    case OP_STSFLD:
    case OP_STOBJ:
    case OP_LDOBJ:
    case OP_BOX:
    case OP_NEWARR:
    case OP_LDELEMA:
    case OP_STELEM_REF:
    case OP_STELEM:
    case OP_UNBOX_ANY:
    case OP_LDTOKEN:
    case OP_LDFTN:
    case OP_LDVIRTFTN:
    case OP_RETHROW:
        return true;
    default:
        return false;
    }
}

static bool makes_object(uint32_t opcode)
{
    return opcode == OP_NEWOBJ || opcode == OP_NEWARR || opcode == OP_BOX;
}

/* ---- what an operand names ---- */

/* What a method token says: bare name, declaring type, signature. */
struct member {
    struct buffer name;
    uint32_t token, owner; /* mdMethodDef or mdMemberRef; a type, or 0 */
    const uint8_t *blob;
    uint32_t size;
};

static void member_of(const struct signature_scope *scope, uint32_t token, struct member *out)
{
    const struct clr_metadata_vtbl *v = scope->import->vtbl;

    *out = (struct member){.name = BUFFER_INIT, .token = token};
    if (clr_token_type(token) == mdtMethodSpec &&
        v->get_method_spec_props(scope->import, token, &out->token, &out->blob, &out->size) < 0)
        return;
    if (!signature_append_member_name(&out->name, scope->import, out->token, &out->owner,
                                      &out->blob, &out->size) ||
        clr_token_type(out->owner) == mdtMethodDef) /* a vararg call names its own method */
        out->owner = 0;
}

/* The parts of a method's text: "Ns.Type<T>" "." "Name" "<U>" "(...)". */
struct parts {
    const char *text, *name, *parameters;
    size_t owner_size, name_size;
    uint32_t hash;                        /* of the name; set by whoever looks for it in a memo */
    uint64_t owner_hash, parameters_hash; /* 0: not made yet */
};

/* Where the bracket that closes right before `end` was opened; `end` if none does, or none was. */
static const char *opened(const char *text, const char *end)
{
    const char *at = end;
    int depth = 0;

    while (at > text) {
        at--;
        depth += *at == '>';
        depth -= *at == '<';
        if (depth <= 0)
            return depth == 0 && *at == '<' ? at : end;
    }
    return end;
}

static struct parts parts_of(const char *text)
{
    const char *end = strchr(text, '('), *at, *inner;
    struct parts p = {.text = text};

    if (!end)
        end = text + strlen(text);
    p.parameters = end;
    /* The last '.' outside of brackets ends the type. */
    for (at = end; at > text && at[-1] != '.'; at = inner < at ? inner : at - 1)
        inner = opened(text, at);
    p.name = at;
    p.owner_size = at > text ? (size_t)(at - 1 - text) : 0;
    if (at > text + 1 && at[-2] == '.') { /* "..ctor": the name begins with the second '.' */
        p.name--;
        p.owner_size--;
    }
    inner = opened(p.name, end);
    if (inner > p.name) /* else the name itself begins with a bracket and ends with it */
        end = inner;
    p.name_size = (size_t)(end - p.name);
    return p;
}

static bool text_is(const struct buffer *b, const char *text, size_t size)
{
    return b->size == size && size && memcmp(b->data, text, size) == 0;
}

/*
 * How well an instruction fits what is asked for, 0 not at all. FIT_OWNER, given only if owners are asked about: it
 * calls another method of the same type, which may be inlined there and call on.
 */
enum {
    FIT_OWNER = 1,
    FIT_NAME = 2,
    FIT_PARAMETERS = 1,
    FIT_NAME_OWNER = 4,
    FIT_ALL = 5,
    FIT_BOX = 6,
    FIT_ARGUMENTS = 2
};

/* The end of one type argument, or of a whole type: at a ',', '>' or the end, outside of brackets. */
static const char *argument_end(const char *p, const char *end)
{
    for (int depth = 0; p < end && (depth || (*p != ',' && *p != '>')); p++)
        depth += *p == '<' || *p == '[' ? 1 : *p == '>' || *p == ']' ? -1 : 0;
    return p;
}

static bool is_variable(const char *from, const char *end)
{
    return end > from && !memchr(from, '.', (size_t)(end - from)) &&
           !memchr(from, '<', (size_t)(end - from)) && !memchr(from, '[', (size_t)(end - from));
}

/* Whether a call of a generic method hands on the arguments that its text has; shared code goes by parameters. */
static bool same_arguments(const struct signature_scope *scope, uint32_t token,
                           const struct parts *callee)
{
    const char *text = callee->name + callee->name_size;
    size_t size = (size_t)(callee->parameters - text);
    const uint8_t *blob = NULL;
    struct buffer b = BUFFER_INIT;
    uint32_t length = 0;
    bool same;

    if (clr_token_type(token) != mdtMethodSpec || !size ||
        scope->import->vtbl->get_method_spec_props(scope->import, token, NULL, &blob, &length) < 0)
        return false;
    if (is_variable(text + 1, argument_end(text + 1, text + size)))
        return signature_first_is_reference(blob, length);
    signature_append_arguments(&b, scope, blob, length);
    same = text_is(&b, text, size);
    buffer_free(&b);
    return same;
}

/* FNV-1a. */
static uint32_t hash_of(const char *text, size_t size)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return hash;
}

#define MEMO_ENTRIES 8192 /* a power of two */

struct il_memo {
    struct memo_entry {
        const struct clr_metadata *import; /* kept for good: never another one's address */
        uint32_t token;
        uint32_t name, tail;        /* hashes of the name, and of what follows its last '.' */
        uint64_t owner, parameters; /* hashes of their texts; 0: not made yet */
    } entry[MEMO_ENTRIES];
};

struct il_memo *il_memo_new(void)
{
    return memory_zalloc(1, sizeof(struct il_memo));
}

static struct memo_entry *memo_at(struct il_memo *memo, const struct signature_scope *scope,
                                  uint32_t token)
{
    uint64_t hash = ((uintptr_t)scope->import ^ token) * UINT64_C(0x9e3779b97f4a7c15);

    return &memo->entry[hash >> 32 & (MEMO_ENTRIES - 1)];
}

/* Whether the token is known to have another name. */
static bool memo_rules_out(struct il_memo *memo, const struct signature_scope *scope,
                           uint32_t token, uint32_t name)
{
    const struct memo_entry *entry = memo_at(memo, scope, token);

    return entry->import == scope->import && entry->token == token && entry->name != name &&
           entry->tail != name;
}

/* As hash_of, and long enough to stand for the text; 0: an empty one, which is like no other. */
static uint64_t long_hash(const char *text, size_t size)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(1099511628211);
    return size ? hash | 1 : 0;
}

static bool owner_is(const struct signature_scope *scope, const struct member *m,
                     struct parts *callee, struct memo_entry *entry)
{
    struct buffer text = BUFFER_INIT;
    uint64_t made = entry->owner;

    if (!m->owner)
        return false;
    if (!made) {
        signature_append_token(&text, scope, m->owner);
        made = text.failed ? 0 : long_hash(text.data, text.size);
        if (clr_token_type(m->owner) != mdtTypeSpec) /* that may name parameters of the caller */
            entry->owner = made;
        buffer_free(&text);
    }
    if (!callee->owner_hash)
        callee->owner_hash = long_hash(callee->text, callee->owner_size);
    return made && made == callee->owner_hash;
}

static bool parameters_are(const struct signature_scope *scope, const struct member *m,
                           struct parts *callee, struct memo_entry *entry)
{
    struct signature_scope own = {.import = scope->import};
    struct buffer text = BUFFER_INIT;

    if (!entry->parameters) {
        own.type = clr_token_type(m->owner) == mdtTypeDef ? m->owner : 0;
        own.method = clr_token_type(m->token) == mdtMethodDef ? m->token : 0;
        signature_append_parameters(&text, &own, m->blob, m->size);
        entry->parameters = text.failed ? 0 : long_hash(text.data, text.size);
        buffer_free(&text);
    }
    if (!callee->parameters_hash)
        callee->parameters_hash = long_hash(callee->parameters, strlen(callee->parameters));
    return entry->parameters && entry->parameters == callee->parameters_hash;
}

static unsigned fit_call(const struct signature_scope *scope, const struct instruction *in,
                         struct parts *callee, bool owners, struct il_memo *memo)
{
    struct memo_entry unkept = {.token = 0},
                      *entry = memo ? memo_at(memo, scope, in->token) : &unkept;
    struct member m;
    const char *dot;
    unsigned fit = 0;
    bool named;

    if (in->opcode != OP_CALL && in->opcode != OP_CALLVIRT && in->opcode != OP_NEWOBJ)
        return 0;
    if (memo && !owners && memo_rules_out(memo, scope, in->token, callee->hash))
        return 0;
    member_of(scope, in->token, &m);
    /* An explicit implementation carries its interface in the name: "IFoo<T>.Do". */
    dot = m.name.size > 1 ? strrchr(m.name.data + 1, '.') : NULL;
    if (!m.name.size)
        entry = &unkept;
    else if (entry->import != scope->import || entry->token != in->token)
        *entry = (struct memo_entry){scope->import,
                                     in->token,
                                     hash_of(m.name.data, m.name.size),
                                     dot ? hash_of(dot + 1, strlen(dot + 1)) : 0,
                                     0,
                                     0};
    named = text_is(&m.name, callee->name, callee->name_size) ||
            (dot && strlen(dot + 1) == callee->name_size &&
             memcmp(dot + 1, callee->name, callee->name_size) == 0);
    if (named) {
        fit = owner_is(scope, &m, callee, entry) ? FIT_NAME_OWNER : FIT_NAME;
        fit += parameters_are(scope, &m, callee, entry) ? FIT_PARAMETERS : 0u;
        fit += same_arguments(scope, in->token, callee) ? FIT_ARGUMENTS : 0u;
    } else if (owners && owner_is(scope, &m, callee, entry)) {
        fit = FIT_OWNER;
    }
    buffer_free(&m.name);
    return fit;
}

#define TYPE_DEPTH 32

/* Whether an array's brackets end a type; *at is then moved to their beginning. */
static bool is_array(const char *from, const char **at)
{
    const char *p = *at;

    if (p == from || p[-1] != ']')
        return false;
    for (p--; p > from && (p[-1] == ',' || p[-1] == '*'); p--)
        ;
    if (p == from || p[-1] != '[')
        return false;
    *at = p - 1;
    return true;
}

/*
 * How well the type an instruction names fits that of an object, 0 not at all: type parameters, which shared code names
 * types by, fit any argument; the plainer the better.
 */
static unsigned fit_type(const char *pattern, const char *pattern_end, const char *text,
                         const char *text_end, unsigned depth)
{
    unsigned fit = FIT_NAME_OWNER, argument;
    const char *start = pattern;

    if (depth == TYPE_DEPTH || text == text_end)
        return 0;
    if (is_variable(pattern, pattern_end))
        return memchr(text, '<', (size_t)(text_end - text)) || text_end[-1] == ']' ? FIT_NAME
                                                                                   : FIT_NAME_OWNER;
    if (is_array(pattern, &pattern_end))
        return is_array(text, &text_end) ? fit_type(pattern, pattern_end, text, text_end, depth + 1)
                                         : 0;
    for (;;) {
        const char *from = pattern;

        while (pattern < pattern_end && text < text_end && *pattern == *text) {
            bool opens = pattern > start && ((*pattern == '<' && pattern[1] != '>') ||
                                             (*pattern == ' ' && pattern[-1] == ','));

            pattern++;
            text++;
            if (opens)
                break;
        }
        if (pattern == pattern_end || text == text_end)
            return pattern == pattern_end && text == text_end ? fit : 0;
        if (pattern == from || (pattern[-1] != '<' && pattern[-1] != ' '))
            return 0;
        argument = fit_type(pattern, argument_end(pattern, pattern_end), text,
                            argument_end(text, text_end), depth + 1);
        if (!argument)
            return 0;
        fit = argument < fit ? argument : fit;
        pattern = argument_end(pattern, pattern_end);
        text = argument_end(text, text_end);
    }
}

/* A definition names one type only, which has no type arguments. */
static unsigned fit_definition(const struct signature_scope *scope, uint32_t opcode, uint32_t token,
                               const struct names_class *made)
{
    const struct names_class *named = made;

    if (opcode == OP_NEWARR)
        named = made->rank == 1 && !made->bounded ? made->element : NULL;
    if (!named || named->element || named->args || !named->module ||
        named->module->import != scope->import || named->token != token)
        return 0;
    return opcode == OP_BOX ? FIT_BOX : FIT_ALL;
}

/* The same for making an object. Shared code names a type by its parameters: then the definition has to do. */
static unsigned fit_class(const struct signature_scope *scope, const struct instruction *in,
                          const struct names_class *made, const char *text)
{
    struct buffer type = BUFFER_INIT;
    uint32_t token = in->token;
    struct member m;
    unsigned fit = 0;

    if (in->opcode == OP_LDSTR || in->opcode == OP_LDTOKEN) /* made when first asked for */
        return strcmp(text, in->opcode == OP_LDSTR ? "System.String" : "System.RuntimeType") == 0
                   ? FIT_NAME
                   : 0;
    if (!makes_object(in->opcode))
        return 0;
    if (in->opcode == OP_NEWOBJ) {
        if (strcmp(text, "System.String") ==
            0) /* made by a method that stands for the constructor */
            return 0;
        member_of(scope, in->token, &m);
        token = m.owner;
        buffer_free(&m.name);
    }
    if (clr_token_type(token) == mdtTypeDef && made->module && made->module->import)
        return fit_definition(scope, in->opcode, token, made);
    signature_append_token(&type, scope, token);
    if (in->opcode == OP_NEWARR)
        buffer_text(&type, "[]");
    if (text_is(&type, text, strlen(text)))
        fit = in->opcode == OP_BOX ? FIT_BOX : FIT_ALL; /* what is boxed, newobj only builds */
    else if (type.data && *text && clr_token_type(token) == mdtTypeSpec)
        fit = fit_type(type.data, type.data + type.size, text, text + strlen(text), 0);
    if (fit && fit < FIT_ALL && in->opcode == OP_NEWARR && made->rank != 1)
        fit = 0;
    if (in->opcode == OP_BOX && type.data && is_variable(type.data, type.data + type.size))
        fit = 0; /* code shared by reference types: nothing to box */
    buffer_free(&type);
    return fit;
}

/* Helpers of CoreLib that stand for an opcode, by the beginning of their names. */
static bool fits_helper(uint32_t opcode, const struct parts *callee)
{
    static const char type[] = "System.Runtime.CompilerServices.CastHelpers";
    static const struct {
        const char *name;
        uint32_t opcode[2];
    } helpers[] = {
        {"IsInstanceOf", {OP_ISINST, 0}},    {"ChkCast", {OP_CASTCLASS, OP_UNBOX_ANY}},
        {"Unbox", {OP_UNBOX_ANY, OP_UNBOX}}, {"StelemRef", {OP_STELEM_REF, OP_STELEM}},
        {"LdelemaRef", {OP_LDELEMA, 0}},     {"Box", {OP_BOX, 0}},
    };

    if (callee->owner_size != sizeof(type) - 1 || memcmp(callee->text, type, sizeof(type) - 1) != 0)
        return false;
    for (size_t i = 0; i < COUNT_OF(helpers); i++)
        if (strncmp(callee->name, helpers[i].name, strlen(helpers[i].name)) == 0)
            return opcode == helpers[i].opcode[0] || opcode == helpers[i].opcode[1];
    return false;
}

/* ---- choice ---- */

/* Whether the operand is the definition of the very method, which then fits in all respects. */
static bool is_definition(const struct names_method *method, const struct instruction *in,
                          const struct names_method *callee)
{
    return callee && clr_token_type(in->token) == mdtMethodDef && in->token == callee->token &&
           method->module == callee->module && !callee->args && callee->owner &&
           !callee->owner->args &&
           (in->opcode == OP_CALL || in->opcode == OP_CALLVIRT || in->opcode == OP_NEWOBJ);
}

static unsigned fit_of(const struct signature_scope *scope, const struct instruction *in,
                       struct parts *callee, const struct names_class *made, bool owners,
                       struct il_memo *memo)
{
    const char *text = made ? load_acquire(&made->text) : NULL;

    if (callee)
        return fits_helper(in->opcode, callee) ? FIT_ALL
                                               : fit_call(scope, in, callee, owners, memo);
    return text ? fit_class(scope, in, made, text) : 0;
}

/* The best fit in [from, to), how many fit as well as it, and the one of these at the place of the target's rank. */
struct best {
    uint32_t at, nth;
    unsigned fit, count;
};

static void best_add(struct best *best, uint32_t at, unsigned fit, const struct il_target *target)
{
    if (fit > best->fit) {
        *best = (struct best){at, at, fit, 1};
    } else if (fit && fit == best->fit) {
        if (best->count++ == target->rank.place)
            best->nth = at;
    }
}

/* An instruction whose operand names the target, more or less. */
struct fit {
    uint32_t at;
    unsigned fit;
};

/* All in [from, to), appended to a buffer of struct fit. Comparing names is what the search costs. */
static void fits_in(struct buffer *out, const struct names_method *method, const struct il_code *il,
                    uint32_t from, uint32_t to, const struct il_target *target, bool owners)
{
    struct signature_scope scope;
    struct instruction in;
    struct parts parts = {0};

    if (!method->module || !method->module->import || (!target->callee && !target->made))
        return;
    text_scope(method, &scope);
    if (target->callee) {
        parts = parts_of(target->callee);
        parts.hash = hash_of(parts.name, parts.name_size);
    }
    while (from < to && next_instruction(il, &from, &in)) {
        struct fit found = {in.at, FIT_ALL};

        if (!is_definition(method, &in, target->record))
            found.fit = fit_of(&scope, &in, target->callee ? &parts : NULL, target->made, owners,
                               target->memo);
        if (found.fit)
            buffer_append(out, &found, sizeof(found));
    }
}

/* The piece that holds an offset. */
static uint32_t piece_of(const struct il_pieces *pieces, uint32_t at)
{
    uint32_t low = 0, high = pieces->count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (pieces->piece[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t piece_end(const struct il_pieces *pieces, uint32_t index)
{
    return index + 1 < pieces->count ? pieces->piece[index + 1].at : UINT32_MAX;
}

static uint32_t statement_of(const struct il_pieces *pieces, uint32_t index)
{
    while (index && !pieces->piece[index].statement)
        index--;
    return index;
}

/*
 * Which pieces the code under one entry of the map may be from, the likeliest first; each set holds the ones before.
 * Pieces without an entry lead into the one in question (their result is computed where it is used), follow it on the
 * way of control (their code runs on under its entry). Then those that have one: the piece before, whose last result may
 * be used here, and others of the statement. The rest lie next to it, or anywhere (the JIT moves blocks).
 */
enum { NEAR_LEADS, NEAR_FOLLOWS, NEAR_MAPPED, NEAR_BESIDE, NEAR_ANY, NEAR_SETS };

struct near {
    const struct il_pieces *pieces;
    uint32_t own;   /* the entry's piece; pieces->count: none, the code before all entries */
    uint8_t *level; /* the first set that each piece is in */
    uint32_t *open; /* pieces still to be followed: each at most once, and the first */
    struct near_fits {
        uint32_t first, count;
        bool known;
    } * piece_fits;     /* where the fits of each piece lie, once it has been searched */
    struct buffer fits; /* of struct fit */
};

static bool leads_on(const struct il_piece *piece)
{
    return !piece->mapped && !piece->splits && !piece->ends && piece->jump == IL_NOWHERE;
}

/* The piece's own set: from *first to *last. */
static void leading(const struct il_pieces *pieces, uint32_t own, uint32_t *first, uint32_t *last)
{
    *first = *last = own;
    while (*first && !pieces->piece[*first].joins && leads_on(&pieces->piece[*first - 1]))
        --*first;
}

/* Follows control from a piece through those without entry. */
static void follow(struct near *near, uint32_t from)
{
    const struct il_pieces *pieces = near->pieces;
    uint32_t open = 0;

    near->open[open++] = from;
    while (open) {
        const struct il_piece *piece = &pieces->piece[near->open[--open]];
        uint32_t next[2] = {pieces->count, pieces->count};

        if (!piece->ends)
            next[0] = (uint32_t)(piece - pieces->piece) + 1;
        if (piece->jump != IL_NOWHERE)
            next[1] = piece_of(pieces, piece->jump);
        for (unsigned i = 0; i < COUNT_OF(next); i++) {
            if (next[i] >= pieces->count || pieces->piece[next[i]].mapped ||
                near->level[next[i]] <= NEAR_FOLLOWS)
                continue;
            near->level[next[i]] = NEAR_FOLLOWS;
            near->open[open++] = next[i];
        }
    }
}

/* The other pieces of the same statement. */
static void statement(struct near *near, uint32_t own)
{
    const struct il_pieces *pieces = near->pieces;
    uint32_t i = statement_of(pieces, own);

    do
        if (near->level[i] > NEAR_MAPPED)
            near->level[i] = NEAR_MAPPED;
    while (++i < pieces->count && !pieces->piece[i].statement);
}

static void beside(struct near *near)
{
    const struct il_pieces *pieces = near->pieces;
    uint32_t own = near->own < pieces->count ? near->own : 0;

    for (uint32_t i = own; i && !pieces->piece[i - 1].mapped; i--)
        if (near->level[i - 1] > NEAR_BESIDE)
            near->level[i - 1] = NEAR_BESIDE;
    for (uint32_t i = near->own < pieces->count ? own + 1 : 0;
         i < pieces->count && !pieces->piece[i].mapped; i++)
        if (near->level[i] > NEAR_BESIDE)
            near->level[i] = NEAR_BESIDE;
}

static void near_fini(struct near *near)
{
    memory_free(near->level);
    memory_free(near->open);
    memory_free(near->piece_fits);
    buffer_free(&near->fits);
}

static bool near_init(struct near *near, const struct il_pieces *pieces, uint32_t own)
{
    uint32_t first, last;

    *near = (struct near){pieces,
                          own,
                          memory_alloc(pieces->count),
                          memory_alloc((pieces->count + 1) * sizeof(*near->open)),
                          memory_zalloc(pieces->count, sizeof(*near->piece_fits)),
                          BUFFER_INIT};
    if (!near->level || !near->open || !near->piece_fits) {
        near_fini(near);
        return false;
    }
    for (uint32_t i = 0; i < pieces->count; i++)
        near->level[i] = pieces->piece[i].mapped ? NEAR_SETS : NEAR_ANY;
    if (own < pieces->count) {
        leading(pieces, own, &first, &last);
        memset(near->level + first, NEAR_LEADS, last - first + 1);
        follow(near, own);
        if (first && !pieces->piece[first].joins && pieces->piece[first - 1].mapped &&
            !pieces->piece[first - 1].ends)
            near->level[first - 1] = NEAR_MAPPED;
        statement(near, own);
    } else if (!pieces->piece[0].mapped) {
        near->level[0] = NEAR_FOLLOWS;
        follow(near, 0);
    }
    beside(near);
    return true;
}

/* The best of the pieces that are in a set. A piece is searched once, however many sets ask. */
static struct best best_of(const struct names_method *method, const struct il_code *il,
                           struct near *near, unsigned set, const struct il_target *target)
{
    struct best best = {.fit = 0};

    for (uint32_t i = 0; i < near->pieces->count; i++) {
        struct near_fits *of = &near->piece_fits[i];
        const struct fit *fit;

        if (near->level[i] > set)
            continue;
        if (!of->known) {
            of->first = (uint32_t)(near->fits.size / sizeof(*fit));
            fits_in(&near->fits, method, il, near->pieces->piece[i].at, piece_end(near->pieces, i),
                    target, false);
            of->count = (uint32_t)(near->fits.size / sizeof(*fit)) - of->first;
            of->known = true;
        }
        fit = (const struct fit *)(const void *)near->fits.data + of->first;
        for (uint32_t k = 0; k < of->count; k++)
            best_add(&best, fit[k].at, fit[k].fit, target);
    }
    return best;
}

/* The one that fits best: of several the one whose place among them is the call's among equal calls. */
static int32_t chosen(const struct best *best, const struct il_target *target)
{
    const struct native_rank *rank = &target->rank;

    if (best->count == 1 && rank->count <= 1)
        return (int32_t)best->at;
    return rank->ordered && best->count == rank->count ? (int32_t)best->nth : IL_UNKNOWN;
}

/* Whether the call's operand says nothing of whom it calls: through a pointer, or a delegate. */
static bool calls_unnamed(const struct names_method *method, const struct il_code *il, uint32_t at)
{
    static const char invoke[] = "Invoke";
    struct signature_scope scope;
    struct instruction in;
    struct member m;
    bool is;

    if (!next_instruction(il, &at, &in) || in.opcode == OP_CALLI)
        return in.opcode == OP_CALLI;
    if (in.opcode != OP_CALLVIRT || !method->module || !method->module->import)
        return false;
    text_scope(method, &scope);
    member_of(&scope, in.token, &m);
    is = text_is(&m.name, invoke, sizeof(invoke) - 1);
    buffer_free(&m.name);
    return is;
}

/* What may lead to a target that no operand names. */
struct ways {
    uint32_t all, calls;
    uint32_t call, any; /* the first of each */
    uint32_t statement; /* all are in this one; IL_NOWHERE if not */
};

static struct ways ways_in(const struct il_code *il, const struct near *near, unsigned set)
{
    const struct il_pieces *pieces = near->pieces;
    struct ways w = {.statement = IL_NOWHERE};

    for (uint32_t i = 0; i < pieces->count; i++) {
        uint32_t at = pieces->piece[i].at, end = piece_end(pieces, i), statement;
        struct instruction in;

        while (near->level[i] <= set && at < end && next_instruction(il, &at, &in)) {
            if (!is_call(in.opcode) && !may_call_helper(in.opcode))
                continue;
            if (in.opcode == OP_NEWOBJ && near->level[i] > NEAR_LEADS)
                continue; /* a constructor that is inlined and makes, or calls: not from afar */
            statement = statement_of(pieces, i);
            if (!w.all++)
                w.any = in.at;
            w.statement = w.all == 1 || statement == w.statement ? statement : IL_NOWHERE;
            if (is_call(in.opcode) && !w.calls++)
                w.call = in.at;
        }
    }
    return w;
}

/* The only call among the likeliest pieces, if it says nothing of whom it calls. */
static bool unnamed_call(const struct names_method *method, const struct il_code *il,
                         const struct near *near, uint32_t *at)
{
    struct ways w = ways_in(il, near, NEAR_LEADS);

    *at = w.call;
    return w.calls == 1 && calls_unnamed(method, il, w.call);
}

static bool boxes(const struct il_code *il, const struct near *near, unsigned set)
{
    for (uint32_t i = 0; i < near->pieces->count; i++) {
        uint32_t at = near->pieces->piece[i].at, end = piece_end(near->pieces, i);
        struct instruction in;

        while (near->level[i] <= set && at < end && next_instruction(il, &at, &in))
            if (in.opcode == OP_BOX)
                return true;
    }
    return false;
}

/* Where nothing near can call, the map is wrong: the code of an unrolled loop goes on under the entry before it. */
static int32_t only_one(const struct names_method *method, const struct il_code *il,
                        struct near *near, const struct il_target *target)
{
    struct best best = best_of(method, il, near, NEAR_SETS, target);
    bool exact = best.fit == FIT_BOX || (best.fit >= FIT_ALL && target->callee) ||
                 (best.fit == FIT_ALL && !boxes(il, near, NEAR_SETS));

    return exact && best.count == 1 ? (int32_t)best.at : IL_UNKNOWN;
}

/* No operand names the target: the calls that may lead to it by another name, or are inlined there. */
static int32_t by_way_of(const struct names_method *method, const struct il_code *il,
                         struct near *near, const struct il_target *target)
{
    struct ways w = ways_in(il, near, NEAR_FOLLOWS);
    struct best elsewhere;

    if (w.calls == 1 && calls_unnamed(method, il, w.call))
        return (int32_t)w.call;
    elsewhere = best_of(method, il, near, NEAR_ANY, target);
    if (elsewhere.fit >= FIT_NAME) /* moved away; or reached by way of a call here: who knows */
        return w.all ? IL_UNKNOWN : chosen(&elsewhere, target);
    if (!w.all)
        return only_one(method, il, near, target);
    if (w.all == 1)
        return (int32_t)w.any;
    if ((target->callee || target->made) && w.calls == 1)
        return (int32_t)w.call;
    if (near->own < near->pieces->count && w.all &&
        w.statement == statement_of(near->pieces, near->own))
        return (int32_t)near->pieces->piece[near->own].at;
    return IL_UNKNOWN;
}

/* The likeliest pieces that have as many instructions that fit as there are equal calls. */
static int32_t named(const struct names_method *method, const struct il_code *il, struct near *near,
                     const struct il_target *target, bool *any)
{
    uint32_t wanted = target->rank.count ? target->rank.count : 1;
    struct best best = best_of(method, il, near, NEAR_LEADS, target);
    unsigned fit;

    /*
     * A callee may have another owner where it is called: the nearer counts more, but not an overload. Better than an
     * instruction that makes the very type fits one that boxes it.
     */
    *any = best.fit >= FIT_NAME && best.count >= wanted &&
           (target->callee
                ? best.fit != FIT_NAME_OWNER
                : best.fit == FIT_BOX || (best.fit == FIT_ALL && !boxes(il, near, NEAR_BESIDE)));
    if (*any)
        return chosen(&best, target);
    fit = best_of(method, il, near, NEAR_BESIDE, target).fit;
    *any = fit >= FIT_NAME;
    for (unsigned set = 0; *any && set < NEAR_ANY; set++) {
        best = best_of(method, il, near, set, target);
        if (best.fit >= FIT_NAME && best.count >= wanted &&
            (best.fit == fit || (target->callee && best.fit != FIT_NAME_OWNER)))
            return chosen(&best, target);
    }
    /* More equal calls than instructions: copies of the only one. */
    return *any && best.count == 1 ? (int32_t)best.at : IL_UNKNOWN;
}

static int32_t find(const struct names_method *method, const struct il_code *il, struct near *near,
                    const struct il_target *target)
{
    int32_t found;
    uint32_t at;
    bool any;

    if (target->callee && best_of(method, il, near, NEAR_LEADS, target).fit < FIT_NAME &&
        unnamed_call(method, il, near, &at))
        return best_of(method, il, near, NEAR_FOLLOWS, target).fit < FIT_NAME ? (int32_t)at
                                                                              : IL_UNKNOWN;
    found = named(method, il, near, target, &any);
    return any ? found : by_way_of(method, il, near, target);
}

int32_t il_find(const struct names_method *method, const struct il_code *il,
                const struct il_pieces *pieces, uint32_t from, const struct il_target *target)
{
    uint32_t own = piece_of(pieces, from);
    int32_t found = IL_UNKNOWN;
    struct near near;

    if (pieces->piece[own].at == from && near_init(&near, pieces, own)) {
        found = find(method, il, &near, target);
        near_fini(&near);
    }
    return found;
}

int32_t il_find_first(const struct names_method *method, const struct il_code *il,
                      const struct il_pieces *pieces, const struct il_target *target)
{
    int32_t found = IL_UNKNOWN;
    struct near near;

    if (pieces->piece[0].mapped)
        return il_search(method, il, pieces, 0, target);
    if (near_init(&near, pieces, pieces->count)) {
        found = find(method, il, &near, target);
        near_fini(&near);
    }
    return found;
}

int32_t il_find_lost(const struct names_method *method, const struct il_code *il,
                     const struct il_pieces *pieces, const struct il_target *target)
{
    int32_t found = IL_UNKNOWN;
    struct best best;
    struct near near;

    if (!near_init(&near, pieces, pieces->count))
        return IL_UNKNOWN;
    best = best_of(method, il, &near, NEAR_ANY, target);
    if (best.fit >= FIT_NAME)
        found = chosen(&best, target);
    near_fini(&near);
    return found;
}

int32_t il_search(const struct names_method *method, const struct il_code *il,
                  const struct il_pieces *pieces, uint32_t from, const struct il_target *target)
{
    struct best best = {.fit = 0};
    struct buffer fits = BUFFER_INIT;
    int32_t found = IL_UNKNOWN;
    struct near near;
    bool any = false;

    if (near_init(&near, pieces, from == IL_NOWHERE ? pieces->count : piece_of(pieces, from))) {
        found = named(method, il, &near, target, &any);
        near_fini(&near);
    }
    if (any)
        return found;
    fits_in(&fits, method, il, 0, il->size, target, true);
    for (size_t i = 0; i < fits.size / sizeof(struct fit); i++) {
        const struct fit *fit = (const struct fit *)(const void *)fits.data + i;

        best_add(&best, fit->at, fit->fit, target);
    }
    buffer_free(&fits);
    return best.count == 1 ? (int32_t)best.at : IL_UNKNOWN;
}

/* ---- pieces ---- */

/* What an instruction does to the depth of the stack, other than by its operand; rows in order. */
static int effect_of(uint32_t opcode)
{
    static const struct {
        uint16_t first, last;
        int8_t effect;
    } effects[] = {
        {0x02, 0x09, 1},      /* ldarg, ldloc */
        {0x0A, 0x0D, -1},     /* stloc */
        {0x0E, 0x0F, 1},      /* ldarg.s, ldarga.s */
        {0x10, 0x10, -1},     /* starg.s */
        {0x11, 0x12, 1},      /* ldloc.s, ldloca.s */
        {0x13, 0x13, -1},     /* stloc.s */
        {0x14, 0x25, 1},      /* constants, dup */
        {0x26, 0x26, -1},     /* pop */
        {0x2C, 0x2D, -1},     /* brfalse.s, brtrue.s */
        {0x2E, 0x37, -2},     /* beq.s to blt.un.s */
        {0x39, 0x3A, -1},     /* brfalse, brtrue */
        {0x3B, 0x44, -2},     /* beq to blt.un */
        {0x45, 0x45, -1},     /* switch */
        {0x51, 0x57, -2},     /* stind */
        {0x58, 0x64, -1},     /* add to shr.un */
        {0x70, 0x70, -2},     /* cpobj */
        {0x72, 0x72, 1},      /* ldstr */
        {0x7A, 0x7A, -1},     /* throw */
        {0x7D, 0x7D, -2},     /* stfld */
        {0x7E, 0x7F, 1},      /* ldsfld, ldsflda */
        {0x80, 0x80, -1},     /* stsfld */
        {0x81, 0x81, -2},     /* stobj */
        {0x8F, 0x9A, -1},     /* ldelema, ldelem */
        {0x9B, 0xA2, -3},     /* stelem */
        {0xA3, 0xA3, -1},     /* ldelem */
        {0xA4, 0xA4, -3},     /* stelem */
        {0xD0, 0xD0, 1},      /* ldtoken */
        {0xD6, 0xDB, -1},     /* add.ovf to sub.ovf.un */
        {0xDF, 0xDF, -2},     /* stind.i */
        {0xFE00, 0xFE00, 1},  /* arglist */
        {0xFE01, 0xFE05, -1}, /* comparisons */
        {0xFE06, 0xFE06, 1},  /* ldftn */
        {0xFE09, 0xFE0A, 1},  /* ldarg, ldarga */
        {0xFE0B, 0xFE0B, -1}, /* starg */
        {0xFE0C, 0xFE0D, 1},  /* ldloc, ldloca */
        {0xFE0E, 0xFE0E, -1}, /* stloc */
        {0xFE11, 0xFE11, -1}, /* endfilter */
        {0xFE15, 0xFE15, -1}, /* initobj */
        {0xFE17, 0xFE18, -3}, /* cpblk, initblk */
        {0xFE1C, 0xFE1C, 1},  /* sizeof */
    };

    for (size_t i = 0; i < COUNT_OF(effects) && opcode >= effects[i].first; i++)
        if (opcode <= effects[i].last)
            return effects[i].effect;
    return 0;
}

static int effect_of_call(const struct names_method *method, const struct instruction *in,
                          bool *returns)
{
    struct clr_metadata *import = method->module ? method->module->import : NULL;
    struct signature_shape shape;

    if (!import || !signature_shape_of(import, in->token, &shape))
        return 0;
    *returns = shape.returns;
    if (in->opcode == OP_NEWOBJ)
        return 1 - (int)shape.parameters;
    return (shape.returns ? 1 : 0) - (int)shape.parameters - (shape.has_this ? 1 : 0) -
           (in->opcode == OP_CALLI ? 1 : 0);
}

static bool is_prefix(uint32_t opcode)
{
    return (opcode >= 0xFE12 && opcode <= 0xFE14) || opcode == 0xFE16 || opcode == 0xFE19 ||
           opcode == 0xFE1E;
}

/* Whether what follows is reached from elsewhere only. */
static bool ends_flow(uint32_t opcode)
{
    switch (opcode) {
    case 0x27:       /* jmp */
    case 0x2A:       /* ret */
    case 0x2B:       /* br.s */
    case 0x38:       /* br */
    case OP_THROW:   /* throw */
    case 0xDC:       /* endfinally */
    case 0xDD:       /* leave */
    case 0xDE:       /* leave.s */
    case 0xFE11:     /* endfilter */
    case OP_RETHROW: /* rethrow */
        return true;
    default:
        return false;
    }
}

/* What is known of an offset before the code there is read. */
enum { AT_MAPPED = 1, AT_TARGET = 2, AT_DEPTH = 4 /* times the depth + 1 */ };

static void reach(const struct il_code *il, uint16_t *known, int64_t target, int depth)
{
    if (target < 0 || target >= il->size)
        return;
    known[target] |= AT_TARGET;
    if (known[target] < AT_DEPTH && depth < UINT16_MAX / AT_DEPTH - 1)
        known[target] = (uint16_t)(known[target] + AT_DEPTH * (depth + 1));
}

/* Returns: the target of a branch other than a switch, else -1. */
static int64_t reach_all(const struct il_code *il, const struct instruction *in, uint32_t next,
                         uint16_t *known, int depth)
{
    int64_t target = -1;

    if (in->opcode == OP_SWITCH) {
        for (uint32_t i = 0; i < in->token; i++)
            reach(il, known,
                  (int64_t)next + (int32_t)read_u32(il->code + in->at + 5 + 4 * (size_t)i), depth);
        return -1;
    }
    if ((in->opcode >= 0x38 && in->opcode <= 0x44) || in->opcode == 0xDD)
        target = (int64_t)next + (int32_t)in->token;
    else if ((in->opcode >= 0x2B && in->opcode <= 0x37) || in->opcode == 0xDE)
        target = (int64_t)next + (int8_t)il->code[in->at + 1];
    if (target >= 0)
        reach(il, known, target, in->opcode == 0xDD || in->opcode == 0xDE ? 0 : depth);
    return target < il->size ? target : -1;
}

/* Also whether the JIT begins something new behind it: after a call that returns nothing, be it a constructor. */
static int depth_after(const struct names_method *method, const struct instruction *in, int depth,
                       bool *breaks)
{
    bool returns = true;

    depth += is_call(in->opcode) ? effect_of_call(method, in, &returns) : effect_of(in->opcode);
    *breaks = !returns;
    return depth < 0 ? 0 : depth; /* a handler begins with the exception on the stack */
}

/* Walks the code once; for depths branches back need no look: the stack is empty there, or known from before. */
static uint32_t walk(const struct names_method *method, const struct il_code *il, uint16_t *known,
                     struct il_piece *pieces)
{
    struct il_piece *piece = pieces;
    uint32_t next = 0;
    bool ended = true, breaks = false, prefixed = false;
    int depth = 0;
    struct instruction in;

    while (next_instruction(il, &next, &in)) {
        int64_t target;

        if (ended)
            depth = known[in.at] >= AT_DEPTH ? known[in.at] / AT_DEPTH - 1 : 0;
        if (!in.at || (!depth && !prefixed) || breaks || (known[in.at] & AT_MAPPED))
            *piece++ = (struct il_piece){in.at, IL_NOWHERE, !depth, known[in.at] & AT_MAPPED,
                                         false, false,      false};
        else if (ended || piece[-1].jump != IL_NOWHERE)
            piece[-1].splits = true;
        depth = depth_after(method, &in, depth, &breaks);
        target = reach_all(il, &in, next, known, depth);
        ended = ends_flow(in.opcode);
        prefixed = is_prefix(in.opcode);
        piece[-1].ends = ended;
        piece[-1].jump = target >= 0 ? (uint32_t)target : IL_NOWHERE;
    }
    return (uint32_t)(piece - pieces);
}

/* Now that all branches are known: where they come to. */
static void mark_joins(const struct il_code *il, const uint16_t *known, struct il_pieces *pieces)
{
    uint32_t index = 0;

    for (uint32_t at = 0; at < il->size; at++) {
        while (index + 1 < pieces->count && pieces->piece[index + 1].at <= at)
            index++;
        if (!(known[at] & AT_TARGET))
            continue;
        if (pieces->piece[index].at == at)
            pieces->piece[index].joins = true;
        else
            pieces->piece[index].splits = true;
    }
}

int il_pieces_new(const struct names_method *method, const struct il_code *il,
                  const uint32_t *mapped, uint32_t mapped_count, struct il_pieces *out)
{
    uint16_t *known = memory_zalloc(il->size + 1, sizeof(*known));
    struct il_piece *smaller;

    *out = (struct il_pieces){memory_alloc((il->size + 1) * sizeof(*out->piece)), 0};
    if (!known || !out->piece) {
        memory_free(known);
        memory_free(out->piece);
        out->piece = NULL;
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < mapped_count; i++)
        if (mapped[i] < il->size)
            known[mapped[i]] |= AT_MAPPED;
    out->count = walk(method, il, known, out->piece);
    if (!out->count)
        out->piece[out->count++] = (struct il_piece){0, IL_NOWHERE, true, false, true, false, true};
    mark_joins(il, known, out);
    memory_free(known);
    smaller = memory_realloc(out->piece, out->count * sizeof(*out->piece));
    out->piece = smaller ? smaller : out->piece;
    return 0;
}
