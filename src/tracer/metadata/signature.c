#include "metadata/signature.h"

#include "metadata/internal.h"

#include "base/hash.h"
#include "base/memory.h"
#include "clr/blob.h"
#include "clr/importer.h"
#include "clr/readytorun.h"
#include "clr/utf16.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

/* Real code nests types some twenty deep; the limits hold against hostile metadata. */
#define DEPTH_MAX  100
#define STEPS_MAX  20000
#define NAME_UNITS 512 /* read into a buffer on the stack; a longer name takes a second call */

/* What blobs that refer to each other have in common. */
struct reading {
    unsigned steps; /* left */
    bool variables; /* a type variable was met */
};

/* Reading one blob, and those of the TypeSpecs it refers to. */
struct cursor {
    struct clr_blob blob; /* bad: what was appended since is to be given up */
    const struct signature_scope *scope;
    unsigned depth;
    struct reading *all;
};

static void read_type(struct cursor *c, struct buffer *out);

/* ---- text ---- */

static bool full(const struct buffer *out)
{
    return out->size > SIGNATURE_FULL;
}

static void put(struct buffer *out, const char *text)
{
    if (!full(out))
        buffer_text(out, text);
}

static void cut_back(struct buffer *out, size_t size)
{
    if (out->size > size) {
        out->size = size;
        out->data[size] = '\0';
    }
}

static void put_utf16(struct buffer *out, const clr_wchar *text, size_t length)
{
    char *to = full(out) ? NULL : buffer_reserve(out, CLR_UTF8_SIZE(length));

    if (to)
        out->size += clr_utf16_to_utf8(to, CLR_UTF8_SIZE(length), text, length);
}

/* ---- names by token ---- */

enum name_kind { NAME_DEFINITION, NAME_REFERENCE, NAME_PARAMETER, NAME_METHOD, NAME_MEMBER };

static hresult ask_name(struct clr_metadata *import, enum name_kind kind, uint32_t token,
                        clr_wchar *name, uint32_t max, uint32_t *length, uint32_t *more)
{
    const struct clr_metadata_vtbl *v = import->vtbl;

    switch (kind) {
    case NAME_DEFINITION: /* more: flags */
        return v->get_type_def_props(import, token, name, max, length, more, NULL);
    case NAME_REFERENCE: /* more: resolution scope */
        return v->get_type_ref_props(import, token, more, name, max, length);
    case NAME_METHOD: /* more: owner */
        return v->get_method_props(import, token, more, name, max, length, NULL, NULL, NULL, NULL,
                                   NULL);
    case NAME_MEMBER: /* more: parent */
        return v->get_member_ref_props(import, token, more, name, max, length, NULL, NULL);
    case NAME_PARAMETER: /* more: its number */
        return v->get_generic_param_props(import, token, more, NULL, NULL, NULL, name, max, length);
    }
    return E_INVALIDARG;
}

/* Most names are what lies in the metadata. */
static bool put_plain(struct buffer *out, struct clr_metadata *import, uint32_t token,
                      uint32_t *more)
{
    struct clr_name name;

    if (!clr_importer_name(import, token, &name, more))
        return false;
    if (full(out))
        return true;
    if (name.part[0].size) {
        buffer_append(out, name.part[0].text, name.part[0].size);
        buffer_char(out, '.');
    }
    buffer_append(out, name.part[1].text, name.part[1].size);
    return true;
}

/*
 * Appends the name of a token. Returns: whether the metadata knew it; *more is then set. Out of
 * line: its frame is large, and the recursion around it stays small.
 */
static __attribute__((noinline)) bool put_name(struct buffer *out, struct clr_metadata *import,
                                               enum name_kind kind, uint32_t token, uint32_t *more)
{
    clr_wchar small[NAME_UNITS], *name = small;
    uint32_t length = 0;

    if (put_plain(out, import, token, more))
        return true;
    if (ask_name(import, kind, token, small, NAME_UNITS, &length, more) < 0)
        return false;
    if (length > NAME_UNITS && length < 1u << 20) {
        name = memory_alloc(length * sizeof(*name));
        if (!name || ask_name(import, kind, token, name, length, &length, more) < 0) {
            memory_free(name);
            out->failed = 1;
            return true;
        }
    }
    put_utf16(out, name, clr_utf16_length(name, length));
    if (name != small)
        memory_free(name);
    return true;
}

/*
 * The generic parameters of a type or a method: how many, and the token of the index-th.
 * Returns: their number; *found stays 0 when the index-th is not there.
 */
static uint32_t generic_parameters(struct clr_metadata *import, uint32_t owner, uint32_t index,
                                   uint32_t *found)
{
    uint32_t tokens[8], got = 0, total = 0;
    void *enumerator = NULL;

    while (import->vtbl->enum_generic_params(import, &enumerator, owner, tokens, COUNT_OF(tokens),
                                             &got) >= 0 &&
           got > 0 && got <= COUNT_OF(tokens) && total < UINT16_MAX) {
        for (uint32_t i = 0; i < got && found && !*found; i++) {
            uint32_t number = 0;

            /* The table is sorted by owner and number, but nothing enforces that. */
            if (import->vtbl->get_generic_param_props(import, tokens[i], &number, NULL, NULL, NULL,
                                                      NULL, 0, NULL) >= 0 &&
                (number & 0xffff) == index)
                *found = tokens[i];
        }
        total += got;
        if (got < COUNT_OF(tokens))
            break;
        got = 0;
    }
    if (enumerator)
        import->vtbl->close_enum(import, enumerator);
    return total;
}

/* ---- names that are kept ---- */

#define NAMES_KEPT 8192 /* a power of two */
#define NAME_BYTES 108  /* longer ones are not kept */

/* What is kept for a token: its name; its name before its arguments; its parameters, by index. */
enum { KEPT_NAME, KEPT_BARE, KEPT_PARAMETER };

/* Names lie in the order in which they were first needed: few pages are touched. */
struct signature_names {
    uint16_t at[NAMES_KEPT], count; /* the number of the name at a place; 0: none yet */
    struct kept_name {
        const struct clr_metadata *import;
        uint32_t token;
        uint16_t what;      /* KEPT_ */
        uint8_t size, args; /* args: that the bare name takes */
        char text[NAME_BYTES];
    } name[NAMES_KEPT + 1];
};

_Static_assert(NAME_BYTES <= UINT8_MAX, "a size has one byte");

struct signature_names *signature_names_new(void)
{
    return memory_zalloc(1, sizeof(struct signature_names));
}

/* A name that is looked for. */
struct wanted_name {
    struct signature_names *names; /* NULL: none are kept */
    uint16_t *at;
    const struct clr_metadata *import;
    uint32_t token, what;
};

static struct wanted_name wanted(const struct signature_scope *scope, uint32_t token, uint32_t what)
{
    uint64_t hash = hash_word((uintptr_t)scope->import ^ token ^ (uint64_t)what << 40);
    struct wanted_name name = {NULL, NULL, scope->import, token, what};

    if (scope->names && what <= UINT16_MAX) {
        name.names = scope->names;
        name.at = &scope->names->at[hash >> 32 & (NAMES_KEPT - 1)];
    }
    return name;
}

/* Returns: what is known of it, after it was put; NULL: nothing is. */
static const struct kept_name *put_kept(struct buffer *out, const struct wanted_name *name)
{
    const struct kept_name *kept = name->names && *name->at ? &name->names->name[*name->at] : NULL;

    if (!kept || kept->import != name->import || kept->token != name->token ||
        kept->what != name->what || full(out))
        return NULL;
    buffer_append(out, kept->text, kept->size);
    return kept;
}

/* The text from `from` to `end`; what was put is whole. */
static void keep(const struct wanted_name *name, const struct buffer *out, size_t from, size_t end,
                 uint32_t args)
{
    struct kept_name *kept;

    if (!name->names || end - from > NAME_BYTES || args > UINT8_MAX || full(out) || out->failed)
        return;
    if (!*name->at)
        *name->at = ++name->names->count;
    kept = &name->names->name[*name->at];
    kept->import = name->import;
    kept->token = name->token;
    kept->what = (uint16_t)name->what;
    kept->size = (uint8_t)(end - from);
    kept->args = (uint8_t)args;
    memcpy(kept->text, out->data + from, end - from);
}

static void put_parameter_name(struct buffer *out, const struct signature_scope *scope,
                               uint32_t owner, uint32_t index)
{
    struct wanted_name name = wanted(scope, owner, KEPT_PARAMETER + index);
    uint32_t token = 0, number;
    size_t from = out->size;

    if (full(out) || put_kept(out, &name))
        return;
    if (clr_token_row(owner))
        generic_parameters(scope->import, owner, index, &token);
    if (token && put_name(out, scope->import, NAME_PARAMETER, token, &number)) {
        keep(&name, out, from, out->size, 0);
        return;
    }
    put(out, clr_token_type(owner) == mdtMethodDef ? "!!" : "!"); /* as IL assemblers write it */
    buffer_unsigned(out, index);
}

/* One type argument: exact where that says more than the parameter's name. */
static void put_argument(struct buffer *out, const struct signature_scope *scope, uint32_t owner,
                         uint32_t index)
{
    bool method = clr_token_type(owner) == mdtMethodDef;
    struct metadata_class *const *arg = method ? scope->method_arg : scope->type_arg;
    uint32_t args = method ? scope->method_args : scope->type_args;
    const struct metadata_class *exact = index < args ? arg[index] : NULL;

    if (exact && !exact->canon)
        signature_append_class(out, exact);
    else
        put_parameter_name(out, scope, owner, index);
}

/* ---- types with their arguments ---- */

/* Where the arguments of a type come from: taken in order, each once. */
struct arguments {
    uint32_t count, taken;
    struct cursor *blob;                 /* from the rest of a GENERICINST, */
    const struct signature_scope *scope; /* or, when NULL, those of scope->type */
    uint32_t of;    /* the type that `count` is the number of parameters of; 0: not known */
    uint32_t takes; /* how many the type itself takes */
    size_t bare;    /* where the text ended before the first of them; 0: they are not put yet */
    bool nested;    /* the type lies in another one, which may take some */
};

static void put_arguments(struct buffer *out, struct arguments *args, uint32_t upto)
{
    if (args->taken >= upto)
        return;
    if (!args->bare)
        args->bare = out->size;
    put(out, "<");
    for (bool first = true; args->taken < upto; first = false) {
        if (!first)
            put(out, ", ");
        if (args->blob) {
            read_type(args->blob, out);
            if (args->blob->blob.bad)
                return;
        } else {
            put_argument(out, args->scope, args->scope->type, args->taken);
        }
        args->taken++;
    }
    put(out, ">");
}

/* The arity that ends the name at `from`, "List`1"; 0: none. *end is where it starts. */
static uint32_t find_arity(const struct buffer *out, size_t from, size_t *end)
{
    size_t at = out->size;
    uint32_t arity = 0, scale = 1;

    while (at > from && out->data[at - 1] >= '0' && out->data[at - 1] <= '9' &&
           out->size - at < 5) {
        arity += (uint32_t)(out->data[--at] - '0') * scale;
        scale *= 10;
    }
    if (at < from + 2 || out->data[at - 1] != '`')
        return 0;
    *end = at - 1;
    return arity;
}

/*
 * put_definition - a TypeDef with its enclosing types, each with the arguments that it declares
 * itself: metadata repeats the outer type's parameters in the inner one. args NULL: none are shown.
 */
static bool put_definition(struct buffer *out, struct clr_metadata *import, uint32_t token,
                           struct arguments *args, unsigned depth)
{
    size_t before = out->size, from = before, end;
    uint32_t flags = 0, enclosing = 0, own, outer = 0;

    if (depth > DEPTH_MAX || !clr_token_row(token) ||
        import->vtbl->get_type_def_props(import, token, NULL, 0, NULL, &flags, NULL) < 0)
        return false;
    if ((flags & tdVisibilityMask) >= tdNestedPublic &&
        import->vtbl->get_nested_class_props(import, token, &enclosing) >= 0 &&
        clr_token_row(enclosing)) {
        if (args)
            args->nested = true;
        if (!put_definition(out, import, enclosing, args, depth + 1))
            return false;
        put(out, ".");
        from = out->size;
    }
    if (!put_name(out, import, NAME_DEFINITION, token, &flags)) {
        cut_back(out, before);
        return false;
    }
    if (!find_arity(out, from, &end) && !(args && args->count))
        return true; /* nothing to show or to cut, however many it has */
    own = args && args->of == token ? args->count : generic_parameters(import, token, 0, NULL);
    if (clr_token_row(enclosing))
        outer = generic_parameters(import, enclosing, 0, NULL);
    if (own > outer) { /* otherwise, what looks like an arity belongs to the name */
        if (find_arity(out, from, &end) == own - outer)
            cut_back(out, end);
        if (args) {
            args->takes = own;
            put_arguments(out, args, own < args->count ? own : args->count);
        }
    }
    return true;
}

/* The same for a TypeRef; how many arguments each type takes shows in its name only. */
static bool put_reference(struct buffer *out, struct clr_metadata *import, uint32_t token,
                          struct arguments *args, unsigned depth)
{
    size_t before = out->size, from = before, end;
    uint32_t scope = 0, arity;

    if (depth > DEPTH_MAX || !clr_token_row(token) ||
        import->vtbl->get_type_ref_props(import, token, &scope, NULL, 0, NULL) < 0)
        return false;
    if (clr_token_type(scope) == mdtTypeRef && clr_token_row(scope)) {
        if (args)
            args->nested = true;
        if (!put_reference(out, import, scope, args, depth + 1))
            return false;
        put(out, ".");
        from = out->size;
    }
    if (!put_name(out, import, NAME_REFERENCE, token, &scope)) {
        cut_back(out, before);
        return false;
    }
    arity = find_arity(out, from, &end);
    if (arity && args) {
        uint32_t left = args->count - args->taken;

        cut_back(out, end);
        args->takes = arity;
        put_arguments(out, args, args->taken + (arity < left ? arity : left));
    }
    return true;
}

/* A TypeDef or a TypeRef, whose own name may be kept. Returns: as put_definition. */
static bool put_type(struct cursor *c, struct buffer *out, uint32_t token, struct arguments *args)
{
    struct clr_metadata *import = c->scope->import;
    struct wanted_name name = wanted(c->scope, token, args ? KEPT_BARE : KEPT_NAME);
    const struct kept_name *kept = put_kept(out, &name);
    size_t from = out->size;
    bool known;

    if (kept) {
        if (args && kept->args)
            put_arguments(out, args, kept->args < args->count ? kept->args : args->count);
        return true;
    }
    known = clr_token_type(token) == mdtTypeDef ? put_definition(out, import, token, args, 0)
                                                : put_reference(out, import, token, args, 0);
    if (known && !c->blob.bad && !(args && (args->nested || (args->takes && !args->bare))))
        keep(&name, out, from, args && args->bare ? args->bare : out->size, args ? args->takes : 0);
    return known;
}

/* What it means depends on the scope if it speaks of type variables: else it is kept as well. */
static bool put_spec(struct cursor *c, struct buffer *out, uint32_t token)
{
    struct clr_metadata *import = c->scope->import;
    struct wanted_name name = wanted(c->scope, token, KEPT_NAME);
    struct cursor inner = {.scope = c->scope, .depth = c->depth, .all = c->all};
    bool variables = c->all->variables;
    const uint8_t *blob = NULL;
    size_t from = out->size;
    uint32_t size = 0;

    if (put_kept(out, &name))
        return true;
    if (!clr_token_row(token) ||
        import->vtbl->get_type_spec_from_token(import, token, &blob, &size) < 0 || !blob)
        return false;
    inner.blob = clr_blob_of(blob, size);
    c->all->variables = false;
    read_type(&inner, out);
    if (!inner.blob.bad && !c->all->variables)
        keep(&name, out, from, out->size, 0);
    c->all->variables |= variables;
    c->blob.bad |= inner.blob.bad;
    return true;
}

/* The name of a TypeDefOrRef token. */
static void put_token(struct cursor *c, struct buffer *out, uint32_t token, struct arguments *args)
{
    bool known = false;

    if (clr_token_type(token) == mdtTypeDef || clr_token_type(token) == mdtTypeRef)
        known = put_type(c, out, token, args);
    else if (clr_token_type(token) == mdtTypeSpec)
        known = put_spec(c, out, token);
    if (!known)
        put(out, "?");
    if (args && !c->blob.bad)
        put_arguments(out, args, args->count); /* those that no name laid claim to */
}

/* ---- blobs ---- */

/* The runtime's own signatures hold addresses of types; of no use here. */
static void skip_address(struct cursor *c)
{
    if (c->blob.end - c->blob.at < (ptrdiff_t)sizeof(void *)) {
        c->blob.bad = true;
        return;
    }
    c->blob.at += sizeof(void *);
}

static void read_generic_instance(struct cursor *c, struct buffer *out)
{
    uint32_t kind = clr_blob_byte(&c->blob);
    struct arguments args = {.blob = c};
    uint32_t token = 0;

    if (kind == ELEMENT_TYPE_INTERNAL)
        skip_address(c);
    else if (kind == ELEMENT_TYPE_CLASS || kind == ELEMENT_TYPE_VALUETYPE)
        token = clr_blob_token(&c->blob);
    else
        c->blob.bad = true;
    args.count = clr_blob_number(&c->blob);
    if (args.count == 0 ||
        args.count > (size_t)(c->blob.end - c->blob.at)) /* each takes a byte at least */
        c->blob.bad = true;
    if (!c->blob.bad)
        put_token(c, out, token, &args);
}

/* "[]", "[,]", without bounds; in reflection's order: an array of 2-D arrays is T[,][]. */
static void read_array(struct cursor *c, struct buffer *out)
{
    uint32_t rank, numbers;

    read_type(c, out);
    rank = clr_blob_number(&c->blob);
    for (int part = 0; part < 2; part++) { /* sizes, then lower bounds */
        numbers = clr_blob_number(&c->blob);
        if (numbers > rank)
            c->blob.bad = true;
        while (!c->blob.bad && numbers--)
            clr_blob_number(&c->blob);
    }
    if (rank == 0 || rank > 32)
        c->blob.bad = true;
    if (c->blob.bad)
        return;
    put(out, rank == 1 ? "[*" : "[");
    while (--rank)
        put(out, ",");
    put(out, "]");
}

/*
 * What method signatures and function pointers share. Appends "A, B" and, if asked to, the return
 * type last, which comes first in the blob.
 */
static void read_method(struct cursor *c, struct buffer *out, bool with_return)
{
    uint32_t convention = clr_blob_byte(&c->blob), kind = convention & IMAGE_CEE_CS_CALLCONV_MASK,
             count;
    char room[128];
    struct buffer result = BUFFER_ON(room);
    const char *separator = "";

    if (kind > IMAGE_CEE_CS_CALLCONV_VARARG && kind != IMAGE_CEE_CS_CALLCONV_UNMANAGED &&
        kind != IMAGE_CEE_CS_CALLCONV_NATIVEVARARG)
        c->blob.bad = true; /* of a field, a property, ... */
    if (convention & IMAGE_CEE_CS_CALLCONV_GENERIC)
        clr_blob_number(&c->blob);
    count = clr_blob_number(&c->blob);
    if (!c->blob.bad)
        read_type(c, &result);
    for (uint32_t i = 0; i < count && !c->blob.bad; i++) {
        size_t from;

        put(out, separator);
        separator = ", ";
        if (c->blob.at < c->blob.end &&
            *c->blob.at == ELEMENT_TYPE_SENTINEL) { /* fixed arguments end here */
            c->blob.at++;
            kind = IMAGE_CEE_CS_CALLCONV_DEFAULT;
            put(out, "__arglist, ");
        }
        from = out->size;
        read_type(c, out);
        if (c->blob.bad)
            cut_back(out, from);
    }
    if (!c->blob.bad && kind == IMAGE_CEE_CS_CALLCONV_VARARG) {
        put(out, separator);
        put(out, "__arglist");
        separator = ", ";
    }
    if (!c->blob.bad && with_return) {
        put(out, separator);
        put(out, result.size ? result.data : "?");
    }
    out->failed |= result.failed;
    buffer_free(&result);
}

/* As C# writes it: "delegate*<System.Int32, System.Void>", the return type last. */
static void read_function_pointer(struct cursor *c, struct buffer *out)
{
    static const char *const conventions[16] = {
        [IMAGE_CEE_CS_CALLCONV_C] = " unmanaged[Cdecl]",
        [IMAGE_CEE_CS_CALLCONV_STDCALL] = " unmanaged[Stdcall]",
        [IMAGE_CEE_CS_CALLCONV_THISCALL] = " unmanaged[Thiscall]",
        [IMAGE_CEE_CS_CALLCONV_FASTCALL] = " unmanaged[Fastcall]",
        [IMAGE_CEE_CS_CALLCONV_UNMANAGED] = " unmanaged",
    };
    const char *convention =
        c->blob.at < c->blob.end ? conventions[*c->blob.at & IMAGE_CEE_CS_CALLCONV_MASK] : NULL;

    put(out, "delegate*");
    put(out, convention ? convention : "");
    put(out, "<");
    read_method(c, out, true);
    put(out, ">");
}

static void read_compound(struct cursor *c, struct buffer *out, uint32_t kind)
{
    switch (kind) {
    case ELEMENT_TYPE_PTR:
    case ELEMENT_TYPE_BYREF:
    case ELEMENT_TYPE_SZARRAY:
        read_type(c, out);
        put(out, kind == ELEMENT_TYPE_PTR ? "*" : kind == ELEMENT_TYPE_BYREF ? "&" : "[]");
        break;
    case ELEMENT_TYPE_ARRAY:
        read_array(c, out);
        break;
    case ELEMENT_TYPE_CLASS:
    case ELEMENT_TYPE_VALUETYPE: {
        uint32_t token = clr_blob_token(&c->blob);

        if (!c->blob.bad)
            put_token(c, out, token, NULL);
        break;
    }
    case ELEMENT_TYPE_GENERICINST:
        read_generic_instance(c, out);
        break;
    case ELEMENT_TYPE_VAR:
    case ELEMENT_TYPE_MVAR: {
        uint32_t index = clr_blob_number(&c->blob);

        c->all->variables = true;
        if (!c->blob.bad)
            put_argument(out, c->scope,
                         kind == ELEMENT_TYPE_VAR ? mdtTypeDef | clr_token_row(c->scope->type)
                                                  : mdtMethodDef | clr_token_row(c->scope->method),
                         index);
        break;
    }
    case ELEMENT_TYPE_FNPTR:
        read_function_pointer(c, out);
        break;
    case READYTORUN_CANON:
        put(out, "__Canon");
        break;
    case ELEMENT_TYPE_CMOD_INTERNAL:
        clr_blob_byte(&c->blob);
        skip_address(c);
        read_type(c, out);
        break;
    case ELEMENT_TYPE_INTERNAL:
        skip_address(c);
        put(out, "?");
        break;
    case ELEMENT_TYPE_CMOD_REQD: /* modreq and modopt say nothing a name needs */
    case ELEMENT_TYPE_CMOD_OPT:
        clr_blob_token(&c->blob);
        __attribute__((fallthrough));
    case ELEMENT_TYPE_SENTINEL:
    case ELEMENT_TYPE_PINNED:
        read_type(c, out);
        break;
    default:
        c->blob.bad = true;
    }
}

const char *signature_simple(uint32_t element)
{
    static const char *const simple[] = {
        [ELEMENT_TYPE_VOID] = "System.Void",
        [ELEMENT_TYPE_BOOLEAN] = "System.Boolean",
        [ELEMENT_TYPE_CHAR] = "System.Char",
        [ELEMENT_TYPE_I1] = "System.SByte",
        [ELEMENT_TYPE_U1] = "System.Byte",
        [ELEMENT_TYPE_I2] = "System.Int16",
        [ELEMENT_TYPE_U2] = "System.UInt16",
        [ELEMENT_TYPE_I4] = "System.Int32",
        [ELEMENT_TYPE_U4] = "System.UInt32",
        [ELEMENT_TYPE_I8] = "System.Int64",
        [ELEMENT_TYPE_U8] = "System.UInt64",
        [ELEMENT_TYPE_R4] = "System.Single",
        [ELEMENT_TYPE_R8] = "System.Double",
        [ELEMENT_TYPE_STRING] = "System.String",
        [ELEMENT_TYPE_TYPEDBYREF] = "System.TypedReference",
        [ELEMENT_TYPE_I] = "System.IntPtr",
        [ELEMENT_TYPE_U] = "System.UIntPtr",
        [ELEMENT_TYPE_OBJECT] = "System.Object",
    };

    return element < COUNT_OF(simple) ? simple[element] : NULL;
}

static void read_type(struct cursor *c, struct buffer *out)
{
    uint32_t kind = clr_blob_byte(&c->blob);

    if (c->depth >= DEPTH_MAX || c->all->steps == 0)
        c->blob.bad = true;
    if (c->blob.bad)
        return;
    c->all->steps--;
    if (signature_simple(kind)) {
        put(out, signature_simple(kind));
        return;
    }
    c->depth++;
    read_compound(c, out, kind);
    c->depth--;
}

/* ---- from outside ---- */

void signature_append_parameters(struct buffer *out, const struct signature_scope *scope,
                                 const uint8_t *blob, size_t size)
{
    struct reading all = {.steps = STEPS_MAX};
    struct cursor c = {clr_blob_of(blob, size), scope, 0, &all};

    put(out, "(");
    read_method(&c, out, false);
    put(out, c.blob.bad ? "?)" : ")");
}

bool signature_append_definition(struct buffer *out, const struct signature_scope *scope,
                                 uint32_t type)
{
    struct arguments args = {
        .count = generic_parameters(scope->import, type, 0, NULL), .scope = scope, .of = type};

    return put_definition(out, scope->import, type, &args, 0);
}

void signature_append_method_arguments(struct buffer *out, const struct signature_scope *scope)
{
    uint32_t count = generic_parameters(scope->import, scope->method, 0, NULL);

    for (uint32_t i = 0; i < count && !full(out); i++) {
        put(out, i ? ", " : "<");
        put_argument(out, scope, scope->method, i);
    }
    if (count)
        put(out, ">");
}

/* The signature of a method, or a stand-alone one. */
static bool method_blob(struct clr_metadata *import, uint32_t token, const uint8_t **blob,
                        uint32_t *size)
{
    const struct clr_metadata_vtbl *v = import->vtbl;

    if (clr_token_type(token) == mdtMethodSpec &&
        v->get_method_spec_props(import, token, &token, blob, size) < 0)
        return false;
    switch (clr_token_type(token)) {
    case mdtMethodDef:
        return v->get_method_props(import, token, NULL, NULL, 0, NULL, NULL, blob, size, NULL,
                                   NULL) >= 0;
    case mdtMemberRef:
        return v->get_member_ref_props(import, token, NULL, NULL, 0, NULL, blob, size) >= 0;
    default:
        return v->get_sig_from_token(import, token, blob, size) >= 0;
    }
}

bool signature_append_member_name(struct buffer *out, struct clr_metadata *import, uint32_t member,
                                  uint32_t *owner, const uint8_t **blob, uint32_t *size)
{
    bool reference = clr_token_type(member) == mdtMemberRef;

    *blob = NULL;
    *size = 0;
    return put_name(out, import, reference ? NAME_MEMBER : NAME_METHOD, member, owner) &&
           method_blob(import, member, blob, size);
}

static uint32_t read_arguments(struct cursor *c)
{
    return clr_blob_byte(&c->blob) == IMAGE_CEE_CS_CALLCONV_GENERICINST ? clr_blob_number(&c->blob)
                                                                        : 0;
}

static void read_types(struct cursor *c, struct buffer *out, uint32_t count)
{
    for (uint32_t i = 0; i < count && !c->blob.bad && !full(out); i++) {
        put(out, i ? ", " : "<");
        read_type(c, out);
    }
    put(out, count ? ">" : "");
}

void signature_append_arguments(struct buffer *out, const struct signature_scope *scope,
                                const uint8_t *blob, size_t size)
{
    struct reading all = {.steps = STEPS_MAX};
    struct cursor c = {clr_blob_of(blob, size), scope, 0, &all};

    read_types(&c, out, read_arguments(&c));
}

bool signature_append_exact(struct buffer *out, const struct signature_scope *scope,
                            const uint8_t *blob, size_t size, bool arguments)
{
    struct reading all = {.steps = STEPS_MAX};
    struct cursor c = {clr_blob_of(blob, size), scope, 0, &all};

    if (arguments)
        read_types(&c, out, clr_blob_number(&c.blob));
    else
        read_type(&c, out);
    return !c.blob.bad;
}

enum signature_first signature_first_of(const uint8_t *blob, size_t size)
{
    struct reading all = {.steps = STEPS_MAX};
    struct cursor c = {clr_blob_of(blob, size), NULL, 0, &all};
    uint32_t type = read_arguments(&c) ? clr_blob_byte(&c.blob) : 0;

    if (type == ELEMENT_TYPE_VAR || type == ELEMENT_TYPE_MVAR)
        return SIGNATURE_PARAMETER;
    if (type == ELEMENT_TYPE_GENERICINST)
        type = clr_blob_byte(&c.blob);
    return type == ELEMENT_TYPE_CLASS || type == ELEMENT_TYPE_STRING ||
                   type == ELEMENT_TYPE_OBJECT || type == ELEMENT_TYPE_SZARRAY ||
                   type == ELEMENT_TYPE_ARRAY
               ? SIGNATURE_REFERENCE
               : SIGNATURE_VALUE;
}

bool signature_shape_of(struct clr_metadata *import, uint32_t token, struct signature_shape *out)
{
    struct reading all = {.steps = STEPS_MAX};
    const uint8_t *blob = NULL;
    struct cursor c;
    uint32_t size = 0, convention;

    if (!method_blob(import, token, &blob, &size) || !blob)
        return false;
    c = (struct cursor){clr_blob_of(blob, size), NULL, 0, &all};
    convention = clr_blob_byte(&c.blob);
    if (convention & IMAGE_CEE_CS_CALLCONV_GENERIC)
        clr_blob_number(&c.blob);
    out->parameters = clr_blob_number(&c.blob);
    while (!c.blob.bad && c.blob.at < c.blob.end &&
           (*c.blob.at == ELEMENT_TYPE_CMOD_REQD || *c.blob.at == ELEMENT_TYPE_CMOD_OPT)) {
        c.blob.at++;
        clr_blob_token(&c.blob);
    }
    out->has_this = (convention & IMAGE_CEE_CS_CALLCONV_HASTHIS) &&
                    !(convention & IMAGE_CEE_CS_CALLCONV_EXPLICITTHIS);
    out->returns = clr_blob_byte(&c.blob) != ELEMENT_TYPE_VOID;
    return !c.blob.bad && out->parameters < UINT16_MAX;
}

bool signature_append_token(struct buffer *out, const struct signature_scope *scope, uint32_t type)
{
    struct reading all = {.steps = STEPS_MAX};
    struct cursor c = {clr_blob_of(NULL, 0), scope, 0, &all};
    size_t from = out->size;

    put_token(&c, out, type, NULL);
    if (c.blob.bad) {
        cut_back(out, from);
        put(out, "?");
    }
    return all.variables;
}

/* ---- classes that have a record ---- */

static void scope_of_class(struct signature_scope *scope, const struct metadata_class *class)
{
    *scope = (struct signature_scope){
        .import = class->module ? class->module->import : NULL,
        .type = class->token,
        .type_args = class->args,
        .type_arg = class->arg,
    };
}

/* "[]", "[,]"; the runtime gives an array of one dimension and any lower bound as T[] too. */
static void append_array(struct buffer *out, const struct metadata_class *class)
{
    const struct metadata_class_entry *entry = metadata_class_entry(class);

    if (class->element)
        signature_append_class(out, class->element);
    else if (entry->element_type == ELEMENT_TYPE_PTR)
        buffer_text(out, "?*"); /* the runtime does not say to what */
    else if (entry->element_type == ELEMENT_TYPE_FNPTR)
        buffer_text(out, "delegate*<?>");
    else
        buffer_text(out, "?");
    buffer_char(out, '[');
    if (class->bounded)
        buffer_char(out, '*');
    for (uint32_t i = 1; i < class->rank && i < 32; i++)
        buffer_char(out, ',');
    buffer_char(out, ']');
}

void signature_append_class(struct buffer *out, const struct metadata_class *class)
{
    const char *known = load_acquire(&class->text);
    struct signature_scope scope;

    if (out->size > SIGNATURE_FULL)
        return;
    scope_of_class(&scope, class);
    if (known)
        buffer_text(out, known);
    else if (class->rank)
        append_array(out, class);
    else if (!scope.import || !signature_append_definition(out, &scope, class->token))
        buffer_format(out, "?class 0x%08x", (unsigned)class->token);
}
