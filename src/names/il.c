#include "names/il.h"

#include "names/internal.h"
#include "names/signature.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

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
    static const struct {
        uint16_t first, last;
        uint8_t size;
    } sizes[] = {
        {0x0E, 0x13, 1},     /* ldarg.s to stloc.s */
        {0x1F, 0x1F, 1},     /* ldc.i4.s */
        {0x20, 0x20, 4},     /* ldc.i4 */
        {0x21, 0x21, 8},     /* ldc.i8 */
        {0x22, 0x22, 4},     /* ldc.r4 */
        {0x23, 0x23, 8},     /* ldc.r8 */
        {0x27, 0x29, 4},     /* jmp, call, calli */
        {0x2B, 0x37, 1},     /* short branches */
        {0x38, 0x45, 4},     /* branches, switch */
        {0x6F, 0x75, 4},     /* callvirt to isinst */
        {0x79, 0x79, 4},     /* unbox */
        {0x7B, 0x81, 4},     /* fields, stobj */
        {0x8C, 0x8D, 4},     /* box, newarr */
        {0x8F, 0x8F, 4},     /* ldelema */
        {0xA3, 0xA5, 4},     /* ldelem, stelem, unbox.any */
        {0xC2, 0xC2, 4},     /* refanyval */
        {0xC6, 0xC6, 4},     /* mkrefany */
        {0xD0, 0xD0, 4},     /* ldtoken */
        {0xDD, 0xDD, 4},     /* leave */
        {0xDE, 0xDE, 1},     /* leave.s */
        {0xFE06, 0xFE07, 4}, /* ldftn, ldvirtftn */
        {0xFE09, 0xFE0E, 2}, /* ldarg to stloc */
        {0xFE12, 0xFE12, 1}, /* unaligned. */
        {0xFE15, 0xFE16, 4}, /* initobj, constrained. */
        {0xFE19, 0xFE19, 1}, /* no. */
        {0xFE1C, 0xFE1C, 4}, /* sizeof */
    };

    for (size_t i = 0; i < COUNT_OF(sizes) && opcode >= sizes[i].first; i++)
        if (opcode <= sizes[i].last)
            return sizes[i].size;
    return 0;
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

static bool owner_is(const struct signature_scope *scope, const struct member *m, const char *text,
                     size_t size)
{
    struct buffer owner = BUFFER_INIT;
    bool is;

    if (!m->owner)
        return false;
    signature_append_token(&owner, scope, m->owner);
    is = text_is(&owner, text, size);
    buffer_free(&owner);
    return is;
}

static bool parameters_are(const struct signature_scope *scope, const struct member *m,
                           const char *text)
{
    struct signature_scope own = {.import = scope->import};
    struct buffer parameters = BUFFER_INIT;
    bool are;

    own.type = clr_token_type(m->owner) == mdtTypeDef ? m->owner : 0;
    own.method = clr_token_type(m->token) == mdtMethodDef ? m->token : 0;
    signature_append_parameters(&parameters, &own, m->blob, m->size);
    are = text_is(&parameters, text, strlen(text));
    buffer_free(&parameters);
    return are;
}

/*
 * How well an instruction fits what is asked for, 0 not at all. FIT_OWNER, given only if owners are asked about: it
 * calls another method of the same type, which may be inlined there and call on.
 */
enum { FIT_OWNER = 1, FIT_NAME = 2, FIT_PARAMETERS = 1, FIT_NAME_OWNER = 4, FIT_ALL = 5 };

static unsigned fit_call(const struct signature_scope *scope, const struct instruction *in,
                         const struct parts *callee, bool owners)
{
    struct member m;
    const char *dot;
    unsigned fit = 0;
    bool named;

    if (in->opcode != OP_CALL && in->opcode != OP_CALLVIRT && in->opcode != OP_NEWOBJ)
        return 0;
    member_of(scope, in->token, &m);
    /* An explicit implementation carries its interface in the name: "IFoo<T>.Do". */
    dot = m.name.size > 1 ? strrchr(m.name.data + 1, '.') : NULL;
    named = text_is(&m.name, callee->name, callee->name_size) ||
            (dot && strlen(dot + 1) == callee->name_size &&
             memcmp(dot + 1, callee->name, callee->name_size) == 0);
    if (named) {
        fit = owner_is(scope, &m, callee->text, callee->owner_size) ? FIT_NAME_OWNER : FIT_NAME;
        fit += parameters_are(scope, &m, callee->parameters) ? FIT_PARAMETERS : 0u;
    } else if (owners && owner_is(scope, &m, callee->text, callee->owner_size)) {
        fit = FIT_OWNER;
    }
    buffer_free(&m.name);
    return fit;
}

/* Past the type arguments that begin at p, if any do: a '<' that begins a name is part of it ("<>c"). */
static const char *past_arguments(const char *text, const char *p)
{
    int depth = 0;

    if (*p != '<' || p == text || p[-1] == '.')
        return p;
    do {
        depth += *p == '<';
        depth -= *p == '>';
        p++;
    } while (*p && depth > 0);
    return p;
}

/* Whether two types differ in their type arguments at most. */
static bool same_definition(const char *a, const char *b)
{
    const char *p = a, *q = b;

    for (;; p++, q++) {
        p = past_arguments(a, p);
        q = past_arguments(b, q);
        if (*p != *q || !*p)
            return *p == *q;
    }
}

/* The same for making an object. Shared code names a type by its parameters: then the definition has to do. */
static unsigned fit_class(const struct signature_scope *scope, const struct instruction *in,
                          const struct names_class *made, const char *text)
{
    struct buffer type = BUFFER_INIT;
    uint32_t token = in->token;
    struct member m;
    unsigned fit = 0;

    if (!makes_object(in->opcode))
        return 0;
    if (in->opcode == OP_NEWOBJ) {
        member_of(scope, in->token, &m);
        token = m.owner;
        buffer_free(&m.name);
    }
    signature_append_token(&type, scope, token);
    if (in->opcode == OP_NEWARR)
        buffer_text(&type, "[]");
    if (text_is(&type, text, strlen(text)))
        fit = FIT_ALL;
    else if (type.data && same_definition(type.data, text))
        fit = FIT_NAME_OWNER;
    else if (in->opcode == OP_NEWARR && made->rank == 1)
        fit = FIT_NAME; /* T[], for one */
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

static unsigned fit_of(const struct signature_scope *scope, const struct instruction *in,
                       const struct parts *callee, const struct names_class *made, bool owners)
{
    const char *text = made ? load_acquire(&made->text) : NULL;

    if (callee)
        return fits_helper(in->opcode, callee) ? FIT_ALL : fit_call(scope, in, callee, owners);
    return text ? fit_class(scope, in, made, text) : 0;
}

/* All that may call in [from, to): how many, and the first of each kind. */
struct candidates {
    uint32_t all, calls, makers;
    uint32_t first, first_call, first_maker;
};

static struct candidates candidates_in(const struct il_code *il, uint32_t from, uint32_t to)
{
    struct candidates c = {0};
    struct instruction in;

    while (from < to && next_instruction(il, &from, &in)) {
        if (!is_call(in.opcode) && !may_call_helper(in.opcode))
            continue;
        if (!c.all++)
            c.first = in.at;
        if (is_call(in.opcode) && !c.calls++)
            c.first_call = in.at;
        if (makes_object(in.opcode) && !c.makers++)
            c.first_maker = in.at;
    }
    return c;
}

/* The best fit in [from, to), and how many fit as well as it. */
struct best {
    uint32_t at;
    unsigned fit, count;
};

static struct best best_in(const struct names_method *method, const struct il_code *il,
                           uint32_t from, uint32_t to, const struct il_target *target, bool owners)
{
    struct best best = {0, 0, 0};
    struct signature_scope scope;
    struct instruction in;
    struct parts parts;
    unsigned fit;

    if (!method->module || !method->module->import)
        return best;
    text_scope(method, &scope);
    if (target->callee)
        parts = parts_of(target->callee);
    while (from < to && next_instruction(il, &from, &in)) {
        fit = fit_of(&scope, &in, target->callee ? &parts : NULL, target->made, owners);
        if (fit > best.fit)
            best = (struct best){in.at, fit, 1};
        else if (fit && fit == best.fit)
            best.count++;
    }
    return best;
}

int32_t il_narrow(const struct names_method *method, const struct il_code *il, uint32_t from,
                  uint32_t to, const struct il_target *target)
{
    struct candidates c = candidates_in(il, from, to);
    struct best best;

    if (c.all < 2)
        return c.all ? (int32_t)c.first : IL_NOTHING;
    if (!target->callee && !target->made)
        return IL_AMBIGUOUS;
    best = best_in(method, il, from, to, target, false);
    if (best.fit >= FIT_NAME)
        return (int32_t)best.at;
    if (c.makers == 1 && !target->callee)
        return (int32_t)c.first_maker;
    if (c.calls == 1) /* through a delegate, an override by another name, or inlined there */
        return (int32_t)c.first_call;
    return IL_AMBIGUOUS;
}

int32_t il_search(const struct names_method *method, const struct il_code *il, uint32_t from,
                  uint32_t to, const struct il_target *target)
{
    struct best best = best_in(method, il, from, to, target, false);

    if (best.fit >= FIT_NAME)
        return (int32_t)best.at;
    best = best_in(method, il, 0, il->size, target, true);
    return best.count == 1 ? (int32_t)best.at : best.fit ? IL_AMBIGUOUS : IL_NOTHING;
}
