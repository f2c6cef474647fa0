#include "code/il_match.h"

#include "metadata/internal.h"
#include "metadata/state_machine.h"

#include "base/hash.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <string.h>

/* Of a text, and long enough to stand for it; 0: of an empty one, which is like no other. */
static uint64_t hash_of(const char *text, size_t size)
{
    return size ? hash_bytes(text, size) | 1 : 0;
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
    struct parts p = {.text = text, .count = COUNT_UNKNOWN};

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
#define FILL         512   /* entries that get their memory at once */

/* What a call does to the evaluation stack. */
struct kept_shape {
    const struct clr_metadata *import; /* as of an operand */
    uint32_t token;
    struct signature_shape shape;
};

/* How well an instruction of a method that names a type by arguments fits what was made. */
#define FITS_KEPT 2048 /* a power of two */
struct kept_fit {
    const struct metadata_method *method; /* NULL: none */
    const struct metadata_class *made;
    uint32_t token;
    uint16_t opcode;
    uint8_t fit;
};

/*
 * A place holds the number of an entry; 0: none yet. Entries lie in the order in which they were
 * first needed: a program needs a few thousand, and so few pages are touched.
 */
struct il_memo {
    struct kept_fit fit[FITS_KEPT];
    uint16_t operand_at[MEMO_ENTRIES], shape_at[MEMO_ENTRIES];
    uint16_t operands, shapes;
    struct operand operand[MEMO_ENTRIES + FILL];
    struct kept_shape shape[MEMO_ENTRIES + FILL];
};

struct il_memo *il_memo_new(void)
{
    struct il_memo *memo = memory_zalloc(1, sizeof(*memo));

    if (memo)
        memory_pages_fill(memo, offsetof(struct il_memo, operand));
    return memo;
}

/* Side by side as in their table: what is called near each other is defined so. */
static size_t memo_place(const struct clr_metadata *import, uint32_t token)
{
    uint64_t hash = hash_word((uintptr_t)import ^ clr_token_type(token));

    return ((hash >> 32) + clr_token_row(token)) & (MEMO_ENTRIES - 1);
}

/* The entry at a place of an array. */
static void *entry_at(void *array, size_t size, uint16_t *place, uint16_t *entries)
{
    if (!*place) {
        *place = ++*entries;
        if (*place % FILL == 1) /* read before it is written: each page would fault twice */
            memory_pages_fill((char *)array + *place * size, FILL * size);
    }
    return (char *)array + *place * size;
}

bool il_memo_shape(struct il_memo *memo, struct clr_metadata *import, uint32_t token,
                   struct signature_shape *out)
{
    struct kept_shape *kept;

    if (!memo)
        return signature_shape_of(import, token, out);
    kept = entry_at(memo->shape, sizeof(*kept), &memo->shape_at[memo_place(import, token)],
                    &memo->shapes);
    if (kept->import != import || kept->token != token) {
        if (!signature_shape_of(import, token, out))
            return false;
        *kept = (struct kept_shape){import, token, *out};
    }
    *out = kept->shape;
    return true;
}

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

static struct operand *operand_of(struct il_match *match, uint32_t token)
{
    struct clr_metadata *import = match->scope.import;
    struct il_memo *memo = match->target->memo;
    struct operand *operand = &match->unkept;

    if (memo) {
        operand = entry_at(memo->operand, sizeof(*operand),
                           &memo->operand_at[memo_place(import, token)], &memo->operands);
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

static uint64_t owner_text(struct il_match *match, struct operand *operand)
{
    char room[BUFFER_TEXT_ROOM];
    struct buffer text = BUFFER_ON(room);
    uint64_t hash = operand->owner_text;
    bool varies;

    if (hash || !operand->owner)
        return hash;
    varies = signature_append_token(&text, &match->scope, operand->owner);
    hash = text.failed ? 0 : hash_of(text.data, text.size);
    if (!varies)
        operand->owner_text = hash;
    buffer_free(&text);
    return hash;
}

static bool owner_is(struct il_match *match, struct operand *operand)
{
    struct parts *callee = &match->callee;
    uint64_t owner = owner_text(match, operand);

    if (!callee->owner_hash)
        callee->owner_hash = hash_of(callee->text, callee->owner_size);
    return owner && owner == callee->owner_hash;
}

static bool parameters_are(struct il_match *match, struct operand *operand)
{
    struct signature_scope own = {.import = match->scope.import, .names = match->scope.names};
    struct parts *callee = &match->callee;
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

/* The end of a type argument, or a type: at a ',', '>' or the end, outside of brackets. */
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

/* Is the callee's first type argument known? Code that instances share has a parameter there. */
static bool first_is_exact(const struct il_match *match, const char *text, size_t size)
{
    const struct metadata_method *callee = match->target->record;

    if (callee && callee->args)
        return callee->arg[0] && !callee->arg[0]->canon;
    return !is_variable(text + 1, argument_end(text + 1, text + size));
}

static bool same_first(const struct buffer *one, const char *text, size_t size)
{
    size_t first = (size_t)(argument_end(text + 1, text + size) - text);
    const char *end = argument_end(one->data + 1, one->data + one->size);

    return one->size && (size_t)(end - one->data) == first && memcmp(one->data, text, first) == 0;
}

/* Has a call of a generic method the callee's type arguments? Shared code is only of references. */
enum arguments { ARGUMENTS_UNKNOWN, ARGUMENTS_SAME, ARGUMENTS_OTHER };

static enum arguments arguments_of(const struct il_match *match, uint32_t token)
{
    const struct signature_scope *scope = &match->scope;
    const struct parts *callee = &match->callee;
    const char *text = callee->name + callee->name_size;
    size_t size = (size_t)(callee->parameters - text);
    const uint8_t *blob = NULL;
    enum arguments result = ARGUMENTS_UNKNOWN;
    enum signature_first first;
    char room[BUFFER_TEXT_ROOM];
    struct buffer b = BUFFER_ON(room);
    uint32_t length = 0;

    if (clr_token_type(token) != mdtMethodSpec || !size ||
        scope->import->vtbl->get_method_spec_props(scope->import, token, NULL, &blob, &length) < 0)
        return ARGUMENTS_UNKNOWN;
    first = signature_first_of(blob, length);
    if (!first_is_exact(match, text, size))
        return first == SIGNATURE_VALUE ? ARGUMENTS_OTHER : ARGUMENTS_SAME;
    signature_append_arguments(&b, scope, blob, length);
    if (text_is(&b, text, size))
        result = ARGUMENTS_SAME;
    else if (first != SIGNATURE_PARAMETER && !b.failed && !same_first(&b, text, size))
        result = ARGUMENTS_OTHER;
    buffer_free(&b);
    return result;
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
static inline bool passed_over(const struct il_match *match, const struct il_instruction *in)
{
    uint16_t name = load_relaxed(&in->name);

    return name >= NAME_FIRST && match->short_name && name != match->short_name &&
           in->token != match->definition;
}

/* Whether an operand that has the callee's name names another method, which nothing overrides. */
static bool is_another(const struct il_match *match, const struct operand *operand)
{
    const struct metadata_method *callee = match->target->record;
    struct clr_metadata *import = match->scope.import;
    uint32_t flags = 0;

    return callee && callee->module == match->method->module &&
           clr_token_type(callee->token) == mdtMethodDef &&
           clr_token_type(operand->member) == mdtMethodDef && operand->member != callee->token &&
           import->vtbl->get_method_props(import, operand->member, NULL, NULL, 0, NULL, &flags,
                                          NULL, NULL, NULL, NULL) == S_OK &&
           !(flags & mdVirtual);
}

/* Parameters of a method's text, "(int, string)"; -1: it is cut off. */
static int count_parameters(const char *text)
{
    int commas = 0, depth = 0;

    for (const char *at = text; *at; at++) {
        depth += *at == '(' || *at == '<' || *at == '[';
        depth -= *at == ')' || *at == '>' || *at == ']';
        commas += *at == ',' && depth == 1;
        if (!depth)
            return at[1] ? -1 : at == text + 1 ? 0 : commas + 1;
    }
    return -1;
}

/* A call has as many parameters as the method that it leads to, an override too. */
static bool parameters_differ(struct il_match *match, const struct operand *operand, uint32_t token)
{
    struct signature_shape shape;

    if (match->callee.count == COUNT_UNKNOWN)
        match->callee.count = count_parameters(match->callee.parameters);
    return match->callee.count >= 0 && operand->size &&
           (*operand->blob & IMAGE_CEE_CS_CALLCONV_MASK) != IMAGE_CEE_CS_CALLCONV_VARARG &&
           il_memo_shape(match->target->memo, match->scope.import, token, &shape) &&
           shape.parameters != (uint32_t)match->callee.count;
}

static unsigned fit_call(struct il_match *match, struct il_instruction *in, bool owners)
{
    uint64_t name = match->callee.name_hash;
    enum arguments arguments;
    struct operand *operand;
    unsigned fit;

    if (!calls_by_token(in->opcode))
        return 0;
    if (match->definition && in->token == match->definition)
        return FIT_ALL;
    operand = operand_of(match, in->token);
    if (load_relaxed(&in->name) == NAME_UNKNOWN)
        store_relaxed(&in->name, operand->name && !operand->tail ? short_name(operand->name)
                                                                 : (uint16_t)NAME_ASK);
    if (!name || (operand->name != name && operand->tail != name))
        return owners && owner_is(match, operand) ? FIT_OWNER : 0;
    if (match->exact && parameters_differ(match, operand, in->token))
        return 0;
    arguments = arguments_of(match, in->token);
    if (arguments == ARGUMENTS_OTHER || is_another(match, operand))
        return 0;
    fit = owner_is(match, operand) ? FIT_NAME_OWNER : FIT_NAME;
    fit += parameters_are(match, operand) ? FIT_PARAMETERS : 0u;
    fit += arguments == ARGUMENTS_SAME ? FIT_ARGUMENTS : 0u;
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
 * How well the type an instruction names fits that of an object, 0: not at all. Type parameters, by
 * which shared code names types, fit any argument; the plainer the better.
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
static bool makes_it(struct il_match *match, uint32_t opcode, struct operand *operand)
{
    uint64_t wanted = opcode == OP_NEWARR ? match->element_hash : match->made_hash;

    return wanted && owner_text(match, operand) == wanted;
}

/* How well a type that only shared code can name so fits, by its parameters. */
static unsigned fit_type_spec(struct il_match *match, uint32_t opcode, uint32_t type)
{
    const struct metadata_class *made = match->target->made;
    char room[BUFFER_TEXT_ROOM];
    struct buffer text = BUFFER_ON(room);
    unsigned fit = 0;

    signature_append_token(&text, &match->scope, type);
    if (opcode == OP_NEWARR)
        buffer_text(&text, "[]");
    if (text.size && !(opcode == OP_BOX && is_variable(text.data, text.data + text.size)))
        fit = fit_type(text.data, text.data + text.size, match->made,
                       match->made + match->made_size, 0);
    buffer_free(&text);
    return opcode == OP_NEWARR && made->rank != 1 ? 0 : fit;
}

static bool makes_object(uint32_t opcode)
{
    return opcode == OP_NEWOBJ || opcode == OP_NEWARR || opcode == OP_BOX;
}

/* A type that is not of this module, or has arguments. */
static unsigned fit_named(struct il_match *match, uint32_t opcode, struct operand *operand)
{
    if (makes_it(match, opcode, operand)) {
        if (opcode != OP_BOX) /* what is boxed, newobj only builds */
            return FIT_ALL;
        /* Code shared by reference types has nothing to box: there a class may be named as its
         * parameter is. */
        return is_variable(match->made, match->made + match->made_size) &&
                       !metadata_class_is_value(match->target->made)
                   ? 0
                   : FIT_BOX;
    }
    return clr_token_type(operand->owner) == mdtTypeSpec
               ? fit_type_spec(match, opcode, operand->owner)
               : 0;
}

/* NULL: a record may become another's, or there is no memo. */
static struct kept_fit *fit_place(const struct il_match *match, const struct il_instruction *in)
{
    const struct metadata_class *made = match->target->made;
    uint64_t hash = hash_word((uintptr_t)match->method ^ in->token) ^ hash_word((uintptr_t)made);

    if (!match->target->memo || made->collectible || metadata_method_entry(match->method)->recheck)
        return NULL;
    return &match->target->memo->fit[hash >> 32 & (FITS_KEPT - 1)];
}

/* The same for making an object. In shared code a type has parameters: then by its definition. */
static unsigned fit_class(struct il_match *match, const struct il_instruction *in)
{
    const struct metadata_class *made = match->target->made;
    struct operand *operand;
    struct kept_fit *kept;
    unsigned fit;

    if (in->opcode == OP_LDSTR)
        return match->makes_string ? FIT_FIRST : 0;
    if (in->opcode == OP_LDTOKEN)
        return strcmp(match->made, "System.RuntimeType") == 0 ? FIT_FIRST : 0;
    if (!makes_object(in->opcode))
        return 0;
    /* A method replaces the constructor of a string. */
    if (in->opcode == OP_NEWOBJ && match->makes_string)
        return 0;
    operand = operand_of(match, in->token);
    if (clr_token_type(operand->owner) == mdtTypeDef && made->module)
        return fit_definition(match->method->module, in->opcode, operand->owner, made);
    if (clr_token_type(operand->owner) != mdtTypeSpec)
        return fit_named(match, in->opcode, operand);
    kept = fit_place(match, in);
    if (kept && kept->method == match->method && kept->made == made && kept->token == in->token &&
        kept->opcode == in->opcode)
        return kept->fit;
    fit = fit_named(match, in->opcode, operand);
    if (kept)
        *kept = (struct kept_fit){match->method, made, in->token, in->opcode, (uint8_t)fit};
    return fit;
}

/* Helpers of CoreLib that stand for opcodes, by how their names begin. Returns: two, 0 for none. */
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

/* A token that names this very method, which then fits in all respects; 0: none. */
static uint32_t definition_of(const struct metadata_method *method,
                              const struct metadata_method *callee)
{
    bool plain = callee && !callee->args && callee->owner && !callee->owner->args &&
                 clr_token_type(callee->token) == mdtMethodDef;

    return callee && method->module == callee->module && (plain || !callee->function_id)
               ? callee->token
               : 0;
}

bool il_match_unnamed(struct il_match *match, const struct il_instruction *in)
{
    static const char invoke[] = "Invoke";

    if (in->opcode == OP_CALLI || in->opcode != OP_CALLVIRT || !match->scope.import)
        return in->opcode == OP_CALLI;
    return operand_of(match, in->token)->name == hash_of(invoke, sizeof(invoke) - 1);
}

unsigned il_match_fit(struct il_match *match, struct il_instruction *in, bool owners)
{
    if (!owners && passed_over(match, in))
        return 0;
    if (match->target->unnamed)
        return il_match_unnamed(match, in) ? FIT_ALL : 0;
    if (!match->target->callee)
        return fit_class(match, in);
    if (match->lambda && il_match_unnamed(match, in))
        return FIT_NAME;
    if (in->opcode == match->helper[0] || in->opcode == match->helper[1])
        return FIT_ALL;
    return fit_call(match, in, owners);
}

/* Whether a method is a lambda, which only delegates call: C# and VB name them so. */
static bool is_lambda(const char *method)
{
    return strstr(method, ">b__") || strstr(method, "_Lambda$__");
}

static void match_made(struct il_match *match, const char *made)
{
    size_t size = strlen(made);

    match->made = made;
    match->made_size = size;
    match->made_hash = hash_of(made, size);
    if (size > 2 && memcmp(made + size - 2, "[]", 2) == 0)
        match->element_hash = hash_of(made, size - 2);
    match->makes_string = strcmp(made, "System.String") == 0;
}

void il_match_init(struct il_match *match, const struct metadata_method *method,
                   const struct il_target *target)
{
    *match = (struct il_match){.method = method, .target = target};
    if (!method->module || !method->module->import)
        return;
    name_scope(method, target->names, &match->scope);
    if (target->callee) {
        match->callee = parts_of(target->callee);
        match->helper = helper_of(&match->callee);
        match->definition = definition_of(method, target->record);
        match->lambda = is_lambda(target->callee);
        match->short_name = match->lambda ? 0 : short_name(match->callee.name_hash);
    } else if (target->made && load_acquire(&target->made->text)) {
        match_made(match, load_acquire(&target->made->text));
    }
    match->metadata = target->callee || match->made_size || target->unnamed;
}
