#include "code/il.h"

#include "metadata/internal.h"
#include "metadata/signature.h"

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

bool il_next(const struct il_code *il, uint32_t *at, struct il_instruction *out)
{
    uint64_t end = *at;
    uint32_t size;

    if (*at >= il->size)
        return false;
    *out = (struct il_instruction){.at = *at, .opcode = il->code[end++]};
    if (out->opcode == OP_PREFIX) {
        if (end >= il->size)
            return false;
        out->opcode = (uint16_t)(OP_PREFIX << 8 | il->code[end++]);
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

/* The parts of a method's text: "Ns.Type<T>" "." "Name" "<U>" "(...)". */
struct parts {
    const char *text, *name, *parameters;
    size_t owner_size, name_size;
    uint64_t name_hash, owner_hash, parameters_hash; /* the latter two 0: not made yet */
};

static uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* Of a text, and long enough to stand for it; 0: of an empty one, which is like no other. */
static uint64_t hash_of(const char *text, size_t size)
{
    uint64_t hash = size, word = 0;
    size_t at = 0;

    for (; size - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, text + at, sizeof(word));
        hash = mixed(hash, word);
    }
    word = 0;
    if (at < size)
        memcpy(&word, text + at, size - at);
    return size ? mixed(hash, word) | 1 : 0;
}

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
    p.name_hash = hash_of(p.name, p.name_size);
    return p;
}

#define MEMO_ENTRIES 16384 /* a power of two */

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

struct il_memo {
    struct operand entry[MEMO_ENTRIES];
};

struct il_memo *il_memo_new(void)
{
    return memory_zalloc(1, sizeof(struct il_memo));
}

/* What all instructions of a body are compared with. */
struct search {
    const struct metadata_method *method;
    const struct il_pieces *pieces;
    const struct il_target *target;
    struct signature_scope scope;
    struct parts callee;
    uint16_t short_name;    /* of the callee; 0: none */
    uint32_t definition;    /* token that can mean the callee only; or 0 */
    const uint32_t *helper; /* two opcodes that the callee stands for; 0 is none */
    const char *made;       /* text of the new object's class */
    size_t made_size;
    uint64_t made_hash, element_hash; /* of that text, and of what "[]" follows; 0: none */
    bool makes_string;
    bool metadata; /* there is a text to compare with, and metadata to do it */
    bool ranked;   /* `rank` is known */
    struct x86_rank rank;
    struct operand unkept; /* room for an operand, without a memo */
};

static bool is_member(uint32_t token)
{
    return clr_token_type(token) == mdtMethodDef || clr_token_type(token) == mdtMemberRef ||
           clr_token_type(token) == mdtMethodSpec;
}

static void member_of(struct clr_metadata *import, struct operand *out)
{
    char room[BUFFER_TEXT_ROOM];
    struct buffer name = BUFFER_ON(room);
    const char *dot;

    out->member = out->token;
    if (clr_token_type(out->token) == mdtMethodSpec &&
        import->vtbl->get_method_spec_props(import, out->token, &out->member, &out->blob,
                                            &out->size) < 0)
        return;
    if (!signature_append_member_name(&name, import, out->member, &out->owner, &out->blob,
                                      &out->size) ||
        clr_token_type(out->owner) == mdtMethodDef) /* a vararg call names its own method */
        out->owner = 0;
    /* An explicit implementation carries its interface in the name: "IFoo<T>.Do". */
    dot = name.size > 1 ? strrchr(name.data + 1, '.') : NULL;
    out->name = hash_of(name.data, name.size);
    out->tail = dot ? hash_of(dot + 1, strlen(dot + 1)) : 0;
    buffer_free(&name);
}

static struct operand *operand_of(struct search *search, uint32_t token)
{
    struct clr_metadata *import = search->scope.import;
    struct operand *operand = &search->unkept;

    if (search->target->memo) {
        uint64_t hash = ((uintptr_t)import ^ token) * UINT64_C(0x9e3779b97f4a7c15);

        operand = &search->target->memo->entry[hash >> 32 & (MEMO_ENTRIES - 1)];
        if (operand->import == import && operand->token == token)
            return operand;
    }
    *operand = (struct operand){.import = import, .token = token, .owner = token};
    if (is_member(token))
        member_of(import, operand);
    if (is_member(token) && !operand->name) /* memory ran out, or the metadata is damaged */
        operand->import = NULL;
    return operand;
}

static uint64_t owner_text(struct search *search, struct operand *operand)
{
    char room[BUFFER_TEXT_ROOM];
    struct buffer text = BUFFER_ON(room);
    uint64_t hash = operand->owner_text;
    bool varies;

    if (hash || !operand->owner)
        return hash;
    varies = signature_append_token(&text, &search->scope, operand->owner);
    hash = text.failed ? 0 : hash_of(text.data, text.size);
    if (!varies)
        operand->owner_text = hash;
    buffer_free(&text);
    return hash;
}

static bool owner_is(struct search *search, struct operand *operand)
{
    struct parts *callee = &search->callee;
    uint64_t owner = owner_text(search, operand);

    if (!callee->owner_hash)
        callee->owner_hash = hash_of(callee->text, callee->owner_size);
    return owner && owner == callee->owner_hash;
}

static bool parameters_are(struct search *search, struct operand *operand)
{
    struct signature_scope own = {.import = search->scope.import};
    struct parts *callee = &search->callee;
    char room[BUFFER_TEXT_ROOM];
    struct buffer text = BUFFER_ON(room);

    if (!operand->parameters) {
        own.type = clr_token_type(operand->owner) == mdtTypeDef ? operand->owner : 0;
        own.method = clr_token_type(operand->member) == mdtMethodDef ? operand->member : 0;
        signature_append_parameters(&text, &own, operand->blob, operand->size);
        operand->parameters = text.failed ? 0 : hash_of(text.data, text.size);
        buffer_free(&text);
    }
    if (!callee->parameters_hash)
        callee->parameters_hash = hash_of(callee->parameters, strlen(callee->parameters));
    return operand->parameters && operand->parameters == callee->parameters_hash;
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

static bool text_is(const struct buffer *b, const char *text, size_t size)
{
    return b->size == size && size && memcmp(b->data, text, size) == 0;
}

/* Whether a call of a generic method hands on the arguments that its text has; shared code goes by parameters. */
static bool same_arguments(const struct search *search, uint32_t token)
{
    const struct signature_scope *scope = &search->scope;
    const struct parts *callee = &search->callee;
    const char *text = callee->name + callee->name_size;
    size_t size = (size_t)(callee->parameters - text);
    const uint8_t *blob = NULL;
    char room[BUFFER_TEXT_ROOM];
    struct buffer b = BUFFER_ON(room);
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

static bool calls_by_token(uint32_t opcode)
{
    return opcode == OP_CALL || opcode == OP_CALLVIRT || opcode == OP_NEWOBJ;
}

/* A member's name in an instruction. NAME_ASK: it has none, or two, only its operand tells. */
enum { NAME_UNKNOWN, NAME_ASK, NAME_FIRST };

static uint16_t short_name(uint64_t hash)
{
    return (uint16_t)(hash >> 48) | NAME_FIRST;
}

/* Whether it can be seen at once that it does not call the target. */
static inline bool passed_over(const struct search *search, const struct il_instruction *in)
{
    uint16_t name = load_relaxed(&in->name);

    return name >= NAME_FIRST && search->short_name && name != search->short_name &&
           in->token != search->definition;
}

static unsigned fit_call(struct search *search, struct il_instruction *in, bool owners)
{
    uint64_t name = search->callee.name_hash;
    struct operand *operand;
    unsigned fit;

    if (!calls_by_token(in->opcode))
        return 0;
    if (search->definition && in->token == search->definition)
        return FIT_ALL;
    operand = operand_of(search, in->token);
    if (load_relaxed(&in->name) == NAME_UNKNOWN)
        store_relaxed(&in->name, operand->name && !operand->tail ? short_name(operand->name)
                                                                 : (uint16_t)NAME_ASK);
    if (!name || (operand->name != name && operand->tail != name))
        return owners && owner_is(search, operand) ? FIT_OWNER : 0;
    fit = owner_is(search, operand) ? FIT_NAME_OWNER : FIT_NAME;
    fit += parameters_are(search, operand) ? FIT_PARAMETERS : 0u;
    fit += same_arguments(search, in->token) ? FIT_ARGUMENTS : 0u;
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
static unsigned fit_definition(const struct metadata_module *module, uint32_t opcode,
                               uint32_t token, const struct metadata_class *made)
{
    const struct metadata_class *named = made;

    if (opcode == OP_NEWARR)
        named = made->rank == 1 && !made->bounded ? made->element : NULL;
    if (!named || named->element || named->args || named->module != module || named->token != token)
        return 0;
    return opcode == OP_BOX ? FIT_BOX : FIT_ALL;
}

/* The type that an instruction names is the very one, by its text. */
static bool makes_it(struct search *search, uint32_t opcode, struct operand *operand)
{
    uint64_t wanted = opcode == OP_NEWARR ? search->element_hash : search->made_hash;

    return wanted && owner_text(search, operand) == wanted;
}

/* How well a type that only shared code can name so fits, by its parameters. */
static unsigned fit_type_spec(struct search *search, uint32_t opcode, uint32_t type)
{
    const struct metadata_class *made = search->target->made;
    char room[BUFFER_TEXT_ROOM];
    struct buffer text = BUFFER_ON(room);
    unsigned fit = 0;

    signature_append_token(&text, &search->scope, type);
    if (opcode == OP_NEWARR)
        buffer_text(&text, "[]");
    if (text.size && !(opcode == OP_BOX && is_variable(text.data, text.data + text.size)))
        fit = fit_type(text.data, text.data + text.size, search->made,
                       search->made + search->made_size, 0);
    buffer_free(&text);
    return opcode == OP_NEWARR && made->rank != 1 ? 0 : fit;
}

/* The same for making an object. Shared code names a type by its parameters: then the definition has to do. */
static unsigned fit_class(struct search *search, const struct il_instruction *in)
{
    const struct metadata_class *made = search->target->made;
    struct operand *operand;

    if (in->opcode == OP_LDSTR) /* made when first asked for, as the next */
        return search->makes_string ? FIT_NAME : 0;
    if (in->opcode == OP_LDTOKEN)
        return strcmp(search->made, "System.RuntimeType") == 0 ? FIT_NAME : 0;
    if (!makes_object(in->opcode))
        return 0;
    /* A string is made by a method that stands for the constructor. */
    if (in->opcode == OP_NEWOBJ && search->makes_string)
        return 0;
    operand = operand_of(search, in->token);
    if (clr_token_type(operand->owner) == mdtTypeDef && made->module)
        return fit_definition(search->method->module, in->opcode, operand->owner, made);
    if (makes_it(search, in->opcode, operand)) {
        if (in->opcode != OP_BOX) /* what is boxed, newobj only builds */
            return FIT_ALL;
        /* Code shared by reference types has nothing to box. */
        return is_variable(search->made, search->made + search->made_size) ? 0 : FIT_BOX;
    }
    return clr_token_type(operand->owner) == mdtTypeSpec
               ? fit_type_spec(search, in->opcode, operand->owner)
               : 0;
}

/* Helpers of CoreLib that stand for opcodes, by the beginning of their names. Returns: two opcodes, 0 for none. */
static const uint32_t *helper_of(const struct parts *callee)
{
    static const uint32_t none[2] = {0, 0};
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
        return none;
    for (size_t i = 0; i < COUNT_OF(helpers); i++)
        if (strncmp(callee->name, helpers[i].name, strlen(helpers[i].name)) == 0)
            return helpers[i].opcode;
    return none;
}

/* ---- choice ---- */

/* A token that names the very method, which then fits in all respects; 0: there is none. */
static uint32_t definition_of(const struct metadata_method *method,
                              const struct metadata_method *callee)
{
    bool plain = callee && method->module == callee->module && !callee->args && callee->owner &&
                 !callee->owner->args;

    return plain && clr_token_type(callee->token) == mdtMethodDef ? callee->token : 0;
}

/* Whether the call's operand says nothing of whom it calls: through a pointer, or a delegate. */
static bool calls_unnamed(struct search *search, const struct il_instruction *in)
{
    static const char invoke[] = "Invoke";

    if (in->opcode == OP_CALLI || in->opcode != OP_CALLVIRT || !search->scope.import)
        return in->opcode == OP_CALLI;
    return operand_of(search, in->token)->name == hash_of(invoke, sizeof(invoke) - 1);
}

static unsigned fit_of(struct search *search, struct il_instruction *in, bool owners)
{
    if (!owners && passed_over(search, in))
        return 0;
    if (search->target->unnamed)
        return calls_unnamed(search, in) ? FIT_ALL : 0;
    if (!search->target->callee)
        return fit_class(search, in);
    if (in->opcode == search->helper[0] || in->opcode == search->helper[1])
        return FIT_ALL;
    return fit_call(search, in, owners);
}

static void search_made(struct search *search, const char *made)
{
    size_t size = strlen(made);

    search->made = made;
    search->made_size = size;
    search->made_hash = hash_of(made, size);
    if (size > 2 && memcmp(made + size - 2, "[]", 2) == 0)
        search->element_hash = hash_of(made, size - 2);
    search->makes_string = strcmp(made, "System.String") == 0;
}

static void search_init(struct search *search, const struct metadata_method *method,
                        const struct il_pieces *pieces, const struct il_target *target)
{
    *search = (struct search){.method = method, .pieces = pieces, .target = target};
    if (!method->module || !method->module->import)
        return;
    name_scope(method, &search->scope);
    if (target->callee) {
        search->callee = parts_of(target->callee);
        search->helper = helper_of(&search->callee);
        search->definition = definition_of(method, target->record);
        search->short_name = short_name(search->callee.name_hash);
    } else if (target->made && load_acquire(&target->made->text)) {
        search_made(search, load_acquire(&target->made->text));
    }
    search->metadata = target->callee || search->made_size || target->unnamed;
}

/* The call's place among equal ones. */
static const struct x86_rank *rank_of(struct search *search)
{
    struct il_rank *rank = search->target->rank;

    if (!search->ranked && rank)
        search->rank = rank->read(rank);
    search->ranked = true;
    return &search->rank;
}

/* Of those that fit the first of the best, how many fit as well as it, and how many there are. */
struct best {
    uint32_t at;
    unsigned fit, count, all;
};

static void best_add(struct best *best, uint32_t at, unsigned fit)
{
    if (fit > best->fit)
        *best = (struct best){at, fit, 1, best->all + 1};
    else if (fit)
        *best = (struct best){best->at, best->fit, best->count + (fit == best->fit), best->all + 1};
}

/* Instructions that may call or make something. */
struct reach {
    struct il_instruction *first;
    uint32_t count;
};

static struct reach reach_of(const struct il_pieces *pieces, uint32_t index)
{
    uint32_t first = pieces->piece[index].first;
    uint32_t end = index + 1 < pieces->count ? pieces->piece[index + 1].first : pieces->reaches;

    return (struct reach){pieces->reach + first, end - first};
}

/* An instruction whose operand names the target, more or less. */
struct fit {
    uint32_t at;
    unsigned fit;
};

/* All that fit, appended to a buffer of struct fit. Comparing names is what the search costs. */
static void fits_in(struct buffer *out, struct search *search, struct reach from)
{
    for (uint32_t i = 0; search->metadata && i < from.count; i++) {
        struct fit found = {from.first[i].at, fit_of(search, &from.first[i], false)};

        if (found.fit)
            buffer_append(out, &found, sizeof(found));
    }
}

/* The best of them. */
static void best_in(struct best *best, struct search *search, struct reach from, bool owners)
{
    for (uint32_t i = 0; search->metadata && i < from.count; i++)
        best_add(best, from.first[i].at, fit_of(search, &from.first[i], owners));
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
    struct search *search;
    uint32_t own; /* the entry's piece; pieces->count: none, the code before all entries */
    uint32_t
        first; /* first ... own are NEAR_LEADS, and mostly suffice; the rest is found when it is asked for */
    struct near_piece {
        uint32_t level; /* the first set that it is in */
        uint32_t open;  /* not the piece's: the n-th that follow() has still to look at */
        uint32_t first, count;
        bool known;
    } * piece; /* and where its fits lie, once it has been searched. One more than there are; NULL: not asked for yet */
    struct buffer fits; /* of struct fit */
    struct best leads;  /* of NEAR_LEADS, once `led` */
    bool led, failed;   /* failed: no memory */

    /* Room for what is small. */
    struct near_piece piece_room[32];
    struct fit fit_room[32];
};

static bool leads_on(const struct il_piece *piece)
{
    return !piece->mapped && !piece->splits && !piece->ends && piece->jump == IL_NOWHERE;
}

/* Where the piece's own set begins. */
static uint32_t leading(const struct il_pieces *pieces, uint32_t own)
{
    while (own && !pieces->piece[own].joins && leads_on(&pieces->piece[own - 1]))
        own--;
    return own;
}

/* Follows control from a piece through those without entry. Each is open at most once, and so is the first. */
static void follow(struct near *near, uint32_t from)
{
    const struct il_pieces *pieces = near->search->pieces;
    uint32_t count = 0;

    near->piece[count++].open = from;
    while (count) {
        const struct il_piece *piece = &pieces->piece[near->piece[--count].open];
        uint32_t next[2] = {pieces->count, pieces->count};

        if (!piece->ends)
            next[0] = (uint32_t)(piece - pieces->piece) + 1;
        if (piece->jump != IL_NOWHERE)
            next[1] = piece_of(pieces, piece->jump);
        for (unsigned i = 0; i < COUNT_OF(next); i++) {
            if (next[i] >= pieces->count || pieces->piece[next[i]].mapped ||
                near->piece[next[i]].level <= NEAR_FOLLOWS)
                continue;
            near->piece[next[i]].level = NEAR_FOLLOWS;
            near->piece[count++].open = next[i];
        }
    }
}

/* The other pieces of the same statement. */
static void statement(struct near *near, uint32_t own)
{
    const struct il_pieces *pieces = near->search->pieces;
    uint32_t i = statement_of(pieces, own);

    do
        if (near->piece[i].level > NEAR_MAPPED)
            near->piece[i].level = NEAR_MAPPED;
    while (++i < pieces->count && !pieces->piece[i].statement);
}

static void beside(struct near *near)
{
    const struct il_pieces *pieces = near->search->pieces;
    uint32_t own = near->own < pieces->count ? near->own : 0;

    for (uint32_t i = own; i && !pieces->piece[i - 1].mapped; i--)
        if (near->piece[i - 1].level > NEAR_BESIDE)
            near->piece[i - 1].level = NEAR_BESIDE;
    for (uint32_t i = near->own < pieces->count ? own + 1 : 0;
         i < pieces->count && !pieces->piece[i].mapped; i++)
        if (near->piece[i].level > NEAR_BESIDE)
            near->piece[i].level = NEAR_BESIDE;
}

static void near_init(struct near *near, struct search *search, uint32_t own)
{
    bool piece = own < search->pieces->count;

    near->search = search;
    near->own = own;
    near->first = piece ? leading(search->pieces, own) : own;
    near->piece = NULL;
    near->fits = (struct buffer)BUFFER_ON(near->fit_room);
    near->leads = (struct best){.fit = 0};
    near->led = near->failed = false;
}

static void near_fini(struct near *near)
{
    if (near->piece != near->piece_room)
        memory_free(near->piece);
    buffer_free(&near->fits);
}

static void levels(struct near *near)
{
    const struct il_pieces *pieces = near->search->pieces;
    uint32_t own = near->own, first = near->first;

    for (uint32_t i = 0; i < pieces->count; i++)
        near->piece[i].level = pieces->piece[i].mapped ? NEAR_SETS : NEAR_ANY;
    if (own < pieces->count) {
        for (uint32_t i = first; i <= own; i++)
            near->piece[i].level = NEAR_LEADS;
        follow(near, own);
        if (first && !pieces->piece[first].joins && pieces->piece[first - 1].mapped &&
            !pieces->piece[first - 1].ends)
            near->piece[first - 1].level = NEAR_MAPPED;
        statement(near, own);
    } else if (!pieces->piece[0].mapped) {
        near->piece[0].level = NEAR_FOLLOWS;
        follow(near, 0);
    }
    beside(near);
}

/* Finds out which sets all pieces are in. Returns: whether that is known. */
static bool widen(struct near *near)
{
    uint32_t count = near->search->pieces->count + 1;

    if (near->piece || near->failed)
        return !near->failed;
    if (count <= COUNT_OF(near->piece_room))
        near->piece = memset(near->piece_room, 0, sizeof(near->piece_room));
    else
        near->piece = memory_zalloc(count, sizeof(*near->piece));
    near->failed = !near->piece;
    if (!near->failed)
        levels(near);
    return !near->failed;
}

static struct best best_leading(struct near *near)
{
    const struct il_pieces *pieces = near->search->pieces;

    for (uint32_t i = near->first; !near->led && i <= near->own && i < pieces->count; i++)
        best_in(&near->leads, near->search, reach_of(pieces, i), false);
    near->led = true;
    return near->leads;
}

/* What fits in a piece. It is searched once, however many sets ask. */
static const struct fit *piece_fits(struct near *near, uint32_t piece, uint32_t *count)
{
    struct near_piece *of = &near->piece[piece];

    if (!of->known) {
        of->first = (uint32_t)(near->fits.size / sizeof(struct fit));
        fits_in(&near->fits, near->search, reach_of(near->search->pieces, piece));
        of->count = (uint32_t)(near->fits.size / sizeof(struct fit)) - of->first;
        of->known = true;
    }
    *count = of->count;
    return (const struct fit *)(const void *)near->fits.data + of->first;
}

/* The best of the pieces that are in a set. */
static struct best best_of(struct near *near, unsigned set)
{
    uint32_t pieces = near->search->pieces->count, count;
    struct best best = {.fit = 0};

    if (set == NEAR_LEADS)
        return best_leading(near);
    if (!widen(near))
        return best;
    for (uint32_t i = 0; i < pieces; i++) {
        const struct fit *fit = near->piece[i].level > set ? NULL : piece_fits(near, i, &count);

        for (uint32_t k = 0; fit && k < count; k++)
            best_add(&best, fit[k].at, fit[k].fit);
    }
    return best;
}

/* Of those in a set that fit so well the one at a place among them. */
static int32_t nth_of(struct near *near, unsigned set, unsigned wanted, uint32_t place)
{
    uint32_t pieces = near->search->pieces->count, count;

    if (!widen(near))
        return IL_UNKNOWN;
    for (uint32_t i = 0; i < pieces; i++) {
        const struct fit *fit = near->piece[i].level > set ? NULL : piece_fits(near, i, &count);

        for (uint32_t k = 0; fit && k < count; k++)
            if (fit[k].fit == wanted && !place--)
                return (int32_t)fit[k].at;
    }
    return IL_UNKNOWN;
}

/* The one that fits best: of several the one whose place among them is the call's among equal calls. */
static int32_t chosen(struct near *near, unsigned set, const struct best *best)
{
    const struct x86_rank *rank = rank_of(near->search);

    if (best->count == 1 && rank->count <= 1)
        return (int32_t)best->at;
    if (!rank->ordered || best->count != rank->count)
        return IL_UNKNOWN;
    return nth_of(near, set, best->fit, rank->place);
}

/* What may lead to a target that no operand names. */
struct ways {
    uint32_t all, calls;
    const struct il_instruction *call, *any; /* the first of each */
    uint32_t statement;                      /* all are in this one; IL_NOWHERE if not */
};

static void ways_add(struct ways *w, struct reach from, uint32_t statement, bool leads)
{
    for (uint32_t i = 0; i < from.count; i++) {
        const struct il_instruction *in = &from.first[i];

        if (in->opcode == OP_NEWOBJ && !leads)
            continue; /* a constructor that is inlined and makes, or calls: not from afar */
        if (!w->all++)
            w->any = in;
        w->statement = w->all == 1 || statement == w->statement ? statement : IL_NOWHERE;
        if (is_call(in->opcode) && !w->calls++)
            w->call = in;
    }
}

static struct ways ways_in(struct near *near, unsigned set)
{
    const struct il_pieces *pieces = near->search->pieces;
    struct ways w = {.statement = IL_NOWHERE};

    if (set == NEAR_LEADS) {
        for (uint32_t i = near->first; i <= near->own && i < pieces->count; i++)
            ways_add(&w, reach_of(pieces, i), statement_of(pieces, i), true);
        return w;
    }
    if (!widen(near))
        return w;
    for (uint32_t i = 0; i < pieces->count; i++)
        if (near->piece[i].level <= set && reach_of(pieces, i).count)
            ways_add(&w, reach_of(pieces, i), statement_of(pieces, i),
                     near->piece[i].level <= NEAR_LEADS);
    return w;
}

/* The only call among the likeliest pieces, if it says nothing of whom it calls; else NULL. */
static const struct il_instruction *unnamed_call(struct near *near)
{
    struct ways w = ways_in(near, NEAR_LEADS);

    return w.calls == 1 && calls_unnamed(near->search, w.call) ? w.call : NULL;
}

static bool boxes(struct near *near, unsigned set)
{
    const struct il_pieces *pieces = near->search->pieces;

    if (!pieces->boxes || !widen(near))
        return false;
    for (uint32_t i = 0; i < pieces->count; i++) {
        struct reach from = reach_of(pieces, i);

        for (uint32_t k = 0; near->piece[i].level <= set && k < from.count; k++)
            if (from.first[k].opcode == OP_BOX)
                return true;
    }
    return false;
}

/* Where nothing near can call, the map is wrong: the code of an unrolled loop goes on under the entry before it. */
static int32_t only_one(struct near *near)
{
    struct best best = best_of(near, NEAR_SETS);
    bool exact = best.fit == FIT_BOX || (best.fit >= FIT_ALL && near->search->target->callee) ||
                 (best.fit == FIT_ALL && !boxes(near, NEAR_SETS));

    return exact && best.count == 1 ? (int32_t)best.at : IL_UNKNOWN;
}

/* No operand names the target: the calls that may lead to it by another name, or are inlined there. */
static int32_t by_way_of(struct near *near)
{
    const struct il_target *target = near->search->target;
    const struct il_pieces *pieces = near->search->pieces;
    struct ways w = ways_in(near, NEAR_FOLLOWS);
    struct best elsewhere;

    if (w.calls == 1 && calls_unnamed(near->search, w.call))
        return (int32_t)w.call->at;
    elsewhere = best_of(near, NEAR_ANY);
    if (elsewhere.fit >= FIT_NAME) /* moved away; or reached by way of a call here: who knows */
        return w.all ? IL_UNKNOWN : chosen(near, NEAR_ANY, &elsewhere);
    if (!w.all)
        return only_one(near);
    if (w.all == 1)
        return (int32_t)w.any->at;
    if ((target->callee || target->made) && w.calls == 1)
        return (int32_t)w.call->at;
    if (near->own < pieces->count && w.statement == statement_of(pieces, near->own))
        return (int32_t)pieces->piece[near->own].at;
    return IL_UNKNOWN;
}

/* The likeliest pieces that have as many instructions that fit as there are equal calls. */
static int32_t named(struct near *near, bool *any)
{
    const struct il_target *target = near->search->target;
    struct best best = best_of(near, NEAR_BESIDE);
    unsigned fit = best.fit;
    uint32_t wanted;

    *any = fit >= FIT_NAME;
    if (!*any || best.all == 1) /* one: whatever its rank */
        return *any ? (int32_t)best.at : IL_UNKNOWN;
    wanted = rank_of(near->search)->count;
    wanted = wanted ? wanted : 1;
    best = best_of(near, NEAR_LEADS);
    /*
     * A callee may have another owner where it is called: the nearer counts more, but not an overload. Better than an
     * instruction that makes the very type fits one that boxes it.
     */
    if (best.fit >= FIT_NAME && best.count >= wanted &&
        (target->callee
             ? best.fit != FIT_NAME_OWNER
             : best.fit == FIT_BOX || (best.fit == FIT_ALL && !boxes(near, NEAR_BESIDE))))
        return chosen(near, NEAR_LEADS, &best);
    for (unsigned set = 0; set < NEAR_ANY; set++) {
        best = best_of(near, set);
        if (best.fit >= FIT_NAME && best.count >= wanted &&
            (best.fit == fit || (target->callee && best.fit != FIT_NAME_OWNER)))
            return chosen(near, set, &best);
    }
    /* More equal calls than instructions: copies of the only one. */
    return best.count == 1 ? (int32_t)best.at : IL_UNKNOWN;
}

static int32_t find(struct near *near)
{
    const struct il_instruction *call;
    int32_t found;
    bool any;

    if (near->search->target->callee && best_of(near, NEAR_LEADS).fit < FIT_NAME &&
        (call = unnamed_call(near)))
        return best_of(near, NEAR_FOLLOWS).fit < FIT_NAME ? (int32_t)call->at : IL_UNKNOWN;
    found = named(near, &any);
    return any ? found : by_way_of(near);
}

/* find() or another look around a piece, IL_UNKNOWN if memory runs out. */
static int32_t look(const struct metadata_method *method, const struct il_pieces *pieces,
                    uint32_t own, const struct il_target *target, int32_t (*how)(struct near *near))
{
    struct search search;
    struct near near;
    int32_t found;

    search_init(&search, method, pieces, target);
    near_init(&near, &search, own);
    found = how(&near);
    if (near.failed || near.fits.failed)
        found = IL_UNKNOWN;
    near_fini(&near);
    return found;
}

int32_t il_find(const struct metadata_method *method, const struct il_pieces *pieces, uint32_t from,
                const struct il_target *target)
{
    uint32_t own = piece_of(pieces, from);

    return pieces->piece[own].at == from ? look(method, pieces, own, target, find) : IL_UNKNOWN;
}

int32_t il_find_first(const struct metadata_method *method, const struct il_pieces *pieces,
                      const struct il_target *target)
{
    if (pieces->piece[0].mapped)
        return il_search(method, pieces, 0, target);
    return look(method, pieces, pieces->count, target, find);
}

static int32_t find_sole(struct near *near)
{
    struct best best = best_of(near, NEAR_LEADS);

    return best.fit >= FIT_NAME ? (int32_t)best.at : IL_UNKNOWN;
}

int32_t il_find_sole(const struct metadata_method *method, const struct il_pieces *pieces,
                     const struct il_target *target)
{
    return look(method, pieces, 0, target, find_sole);
}

static int32_t find_lost(struct near *near)
{
    struct best best = best_of(near, NEAR_ANY);

    return best.fit >= FIT_NAME ? chosen(near, NEAR_ANY, &best) : IL_UNKNOWN;
}

int32_t il_find_lost(const struct metadata_method *method, const struct il_pieces *pieces,
                     const struct il_target *target)
{
    return look(method, pieces, pieces->count, target, find_lost);
}

/* The only one in the whole method. */
static int32_t only_fit(struct search *search)
{
    const struct il_pieces *pieces = search->pieces;
    struct best best = {.fit = 0};

    best_in(&best, search, (struct reach){pieces->reach, pieces->reaches}, true);
    return best.count == 1 ? (int32_t)best.at : IL_UNKNOWN;
}

static int32_t search_all(struct near *near)
{
    bool any;
    int32_t found = named(near, &any);

    return any ? found : only_fit(near->search);
}

int32_t il_search(const struct metadata_method *method, const struct il_pieces *pieces,
                  uint32_t from, const struct il_target *target)
{
    return look(method, pieces, from == IL_NOWHERE ? pieces->count : piece_of(pieces, from), target,
                search_all);
}

/* ---- pieces ---- */

/* What an instruction does to the depth of the stack, other than by its operand. */
static int effect_of(uint32_t opcode)
{
    static const int8_t plain[256] = {
        [0x02 ... 0x09] = 1,  /* ldarg, ldloc */
        [0x0A ... 0x0D] = -1, /* stloc */
        [0x0E ... 0x0F] = 1,  /* ldarg.s, ldarga.s */
        [0x10] = -1,          /* starg.s */
        [0x11 ... 0x12] = 1,  /* ldloc.s, ldloca.s */
        [0x13] = -1,          /* stloc.s */
        [0x14 ... 0x25] = 1,  /* constants, dup */
        [0x26] = -1,          /* pop */
        [0x2C ... 0x2D] = -1, /* brfalse.s, brtrue.s */
        [0x2E ... 0x37] = -2, /* beq.s to blt.un.s */
        [0x39 ... 0x3A] = -1, /* brfalse, brtrue */
        [0x3B ... 0x44] = -2, /* beq to blt.un */
        [0x45] = -1,          /* switch */
        [0x51 ... 0x57] = -2, /* stind */
        [0x58 ... 0x64] = -1, /* add to shr.un */
        [0x70] = -2,          /* cpobj */
        [0x72] = 1,           /* ldstr */
        [0x7A] = -1,          /* throw */
        [0x7D] = -2,          /* stfld */
        [0x7E ... 0x7F] = 1,  /* ldsfld, ldsflda */
        [0x80] = -1,          /* stsfld */
        [0x81] = -2,          /* stobj */
        [0x8F ... 0x9A] = -1, /* ldelema, ldelem */
        [0x9B ... 0xA2] = -3, /* stelem */
        [0xA3] = -1,          /* ldelem */
        [0xA4] = -3,          /* stelem */
        [0xD0] = 1,           /* ldtoken */
        [0xD6 ... 0xDB] = -1, /* add.ovf to sub.ovf.un */
        [0xDF] = -2,          /* stind.i */
    };
    static const int8_t prefixed[256] = {
        [0x00] = 1,           /* arglist */
        [0x01 ... 0x05] = -1, /* comparisons */
        [0x06] = 1,           /* ldftn */
        [0x09 ... 0x0A] = 1,  /* ldarg, ldarga */
        [0x0B] = -1,          /* starg */
        [0x0C ... 0x0D] = 1,  /* ldloc, ldloca */
        [0x0E] = -1,          /* stloc */
        [0x11] = -1,          /* endfilter */
        [0x15] = -1,          /* initobj */
        [0x17 ... 0x18] = -3, /* cpblk, initblk */
        [0x1C] = 1,           /* sizeof */
    };

    return opcode >> 8 ? prefixed[opcode & 0xff] : plain[opcode];
}

static int effect_of_call(const struct metadata_method *method, const struct il_instruction *in,
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
static int64_t reach_all(const struct il_code *il, const struct il_instruction *in, uint32_t next,
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
static int depth_after(const struct metadata_method *method, const struct il_instruction *in,
                       int depth, bool *breaks)
{
    bool returns = true;

    depth += is_call(in->opcode) ? effect_of_call(method, in, &returns) : effect_of(in->opcode);
    *breaks = !returns;
    return depth < 0 ? 0 : depth; /* a handler begins with the exception on the stack */
}

static struct il_piece *last_piece(const struct buffer *pieces)
{
    return (struct il_piece *)(void *)(pieces->data + pieces->size) - 1;
}

/* Walks the code once; for depths branches back need no look: the stack is empty there, or known from before. */
static void walk(const struct metadata_method *method, const struct il_code *il, uint16_t *known,
                 struct buffer *pieces, struct buffer *reach)
{
    uint32_t next = 0;
    bool ended = true, breaks = false, prefixed = false;
    int depth = 0;
    struct il_instruction in;

    while (il_next(il, &next, &in)) {
        int64_t target;

        if (ended)
            depth = known[in.at] >= AT_DEPTH ? known[in.at] / AT_DEPTH - 1 : 0;
        if (!in.at || (!depth && !prefixed) || breaks || (known[in.at] & AT_MAPPED)) {
            const struct il_piece piece = {.at = in.at,
                                           .first = (uint32_t)(reach->size / sizeof(in)),
                                           .statement = !depth,
                                           .mapped = known[in.at] & AT_MAPPED};

            buffer_append(pieces, &piece, sizeof(piece));
        } else if (ended || last_piece(pieces)->jump != IL_NOWHERE) {
            last_piece(pieces)->splits = true;
        }
        if (is_call(in.opcode) || may_call_helper(in.opcode))
            buffer_append(reach, &in, sizeof(in));
        if (pieces->failed || reach->failed)
            return;
        depth = depth_after(method, &in, depth, &breaks);
        target = reach_all(il, &in, next, known, depth);
        ended = ends_flow(in.opcode);
        prefixed = is_prefix(in.opcode);
        last_piece(pieces)->ends = ended;
        last_piece(pieces)->jump = target >= 0 ? (uint32_t)target : IL_NOWHERE;
    }
    if (!pieces->size)
        buffer_append(
            pieces,
            &(struct il_piece){.jump = IL_NOWHERE, .statement = true, .joins = true, .ends = true},
            sizeof(struct il_piece));
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

/* Copies them into one block; without memory out stays empty. */
static void pieces_set(struct il_pieces *out, const struct il_piece *piece, uint32_t count,
                       const struct il_instruction *reach, uint32_t reaches)
{
    struct il_piece *block = memory_alloc(count * sizeof(*piece) + reaches * sizeof(*reach));

    if (!block)
        return;
    *out = (struct il_pieces){block, (struct il_instruction *)(void *)(block + count), count,
                              reaches, false};
    memcpy(out->piece, piece, count * sizeof(*piece));
    memcpy(out->reach, reach, reaches * sizeof(*reach));
    for (uint32_t i = 0; i < reaches; i++)
        out->boxes |= reach[i].opcode == OP_BOX;
}

#define KNOWN_SMALL 512 /* bytes of IL that need no memory to be walked */

int il_pieces_new(const struct metadata_method *method, const struct il_code *il,
                  const uint32_t *mapped, uint32_t mapped_count, struct il_pieces *out)
{
    uint16_t known_room[KNOWN_SMALL] = {0}, *known = known_room;
    struct il_piece piece_room[32];
    struct il_instruction reach_room[32];
    struct buffer pieces = BUFFER_ON(piece_room), reach = BUFFER_ON(reach_room);

    *out = (struct il_pieces){0};
    if (il->size >= KNOWN_SMALL)
        known = memory_zalloc(il->size + 1, sizeof(*known));
    for (uint32_t i = 0; known && i < mapped_count; i++)
        if (mapped[i] < il->size)
            known[mapped[i]] |= AT_MAPPED;
    if (known)
        walk(method, il, known, &pieces, &reach);
    if (known && !pieces.failed && !reach.failed)
        pieces_set(out, (const struct il_piece *)(void *)pieces.data,
                   (uint32_t)(pieces.size / sizeof(*out->piece)),
                   (const struct il_instruction *)(void *)reach.data,
                   (uint32_t)(reach.size / sizeof(*out->reach)));
    if (out->piece)
        mark_joins(il, known, out);
    if (known != known_room)
        memory_free(known);
    buffer_free(&pieces);
    buffer_free(&reach);
    return out->piece ? 0 : -ENOMEM;
}

bool il_pieces_sole(const struct il_code *il, struct il_pieces *out)
{
    struct il_instruction in, sole = {0};
    uint32_t next = 0, reaches = 0;

    *out = (struct il_pieces){0};
    while (reaches <= 1 && il_next(il, &next, &in))
        if ((is_call(in.opcode) || may_call_helper(in.opcode)) && !reaches++)
            sole = in;
    if (reaches != 1 || next < il->size)
        return false;
    pieces_set(out, &(struct il_piece){.jump = IL_NOWHERE, .statement = true, .ends = true}, 1,
               &sole, 1);
    return out->piece;
}

void il_pieces_free(struct il_pieces *pieces)
{
    memory_free(pieces->piece); /* and reach */
    *pieces = (struct il_pieces){0};
}
