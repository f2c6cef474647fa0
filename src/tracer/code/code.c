/* From a return address to the call's IL offset, through the runtime's code ranges and maps. */
#include "code/calls.h"
#include "code/internal.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/peek.h"
#include "rich/rich.h"

#include <shadowtrace/clr/constants.h>

#include <dlfcn.h>
#include <string.h>

#define NAME_UNITS 32
#define MAP_SMALL  128
#define MAP_MOST   1024  /* entries of a map that are asked for at once: the runtime is slow */
#define CODE_MAX   65536 /* bytes of one piece of IL that are read; more is hardly one statement */

static bool body_offset(const struct code_body *body, uintptr_t ip, uint32_t *offset)
{
    uintptr_t before = 0; /* bytes of the ranges before: the map counts through all of them */

    for (uint32_t i = 0; i < body->ranges; i++) {
        const struct clr_code_info *range = &body->range[i];

        if (ip - range->start_address < range->size) {
            *offset = (uint32_t)(before + (ip - range->start_address));
            return true;
        }
        before += range->size;
    }
    return false;
}

static uint32_t body_size(const struct code_body *body)
{
    uintptr_t size = 0;

    for (uint32_t i = 0; i < body->ranges; i++)
        size += body->range[i].size;
    return (uint32_t)size;
}

/* What a site is asked for: who was called, or what was made; both NULL when that is not known. */
struct site_hint {
    struct metadata_method *callee;
    const struct metadata_class *made;
    bool unnamed;      /* it was reached through a delegate, or a pointer */
    bool fault;        /* nothing was called: the statement is asked for */
    bool sure;         /* only an operand that names the callee counts */
    int32_t around;    /* the call by which the code was inlined, by rich debug info; 0: unknown */
    uint32_t *inlined; /* NULL: not asked for */
};

static bool is_real(const struct clr_debug_il_to_native_map *entry)
{
    return entry->il_offset < EPILOG; /* PROLOG, NO_MAPPING and EPILOG are the highest values */
}

bool code_il_of(struct metadata *metadata, const struct metadata_method *method,
                struct il_code *out)
{
    struct clr_info *info = metadata->config.info;
    const uint8_t *bytes = NULL;
    uint32_t size = 0;

    if (!method->module)
        return false;
    return code_stored_il(metadata, method, out) ||
           (info->vtbl->get_il_function_body(info, method->module->module_id, method->token, &bytes,
                                             &size) >= 0 &&
            il_parse(bytes, size, out));
}

/* The address of a native offset, and how much code follows it there without a gap. */
static uintptr_t body_address(const struct code_body *body, uint32_t offset, size_t *left)
{
    for (uint32_t i = 0; i < body->ranges; i++) {
        if (offset < body->range[i].size) {
            *left = body->range[i].size - offset;
            return body->range[i].start_address + offset;
        }
        offset -= (uint32_t)body->range[i].size;
    }
    *left = 0;
    return 0;
}

/* Code to be read: what may have been unloaded by now is copied, through the kernel. */
struct view {
    const uint8_t *code; /* NULL: it cannot be read */
    uint8_t *copy, small[512];
};

static void view_open(struct view *view, const struct metadata_method *method, uintptr_t address,
                      size_t size)
{
    view->copy = view->small;
    view->code = (const uint8_t *)address;
    if (!metadata_method_entry(method)->recheck)
        return;
    if (size > sizeof(view->small))
        view->copy = memory_alloc(size);
    view->code = view->copy && peek(view->copy, address, size) ? view->copy : NULL;
}

static void view_close(struct view *view)
{
    if (view->copy != view->small)
        memory_free(view->copy);
}

/* The method that the call before an offset goes to, or NULL. `from`: of an instruction before. */
static struct metadata_method *callee_at(struct metadata *metadata,
                                         const struct metadata_method *method,
                                         const struct code_body *body, uint32_t from,
                                         uint32_t offset)
{
    struct metadata_method *callee = NULL;
    size_t left, size = offset + 1 - from;
    uintptr_t address = body_address(body, from, &left);
    struct view view;

    if (!address || size > left || size > CODE_MAX)
        return NULL;
    view_open(&view, method, address, size);
    if (view.code)
        callee = code_callee(metadata, method, view.code, size, address);
    view_close(&view);
    return callee;
}

/* Where a call's place among equal ones is to be read. */
struct code_rank {
    struct il_rank rank;
    struct metadata *metadata;
    const struct metadata_method *method;
    const struct code_body *body;
    const struct clr_debug_il_to_native_map *entry; /* of the call's code */
    uint32_t offset;
    bool made; /* it makes an object */
};

/* The resolver's; NULL: another thread, or no memory. */
static struct calls_memo *calls_of(struct metadata *metadata)
{
    if (!metadata_is_resolver(metadata))
        return NULL;
    if (!metadata->calls)
        metadata->calls = calls_memo_new();
    return metadata->calls;
}

/* Reads the code around a call, as far as it belongs to the same piece of IL. */
static struct cpu_rank read_rank(struct il_rank *rank)
{
    const struct code_rank *in = container_of(rank, struct code_rank, rank);
    const struct code_body *body = in->body;
    const struct clr_debug_il_to_native_map *entry = in->entry, *first = entry, *last = entry, *e;
    struct cpu_rank result = {0, 0, false};
    uint32_t offset = in->offset;
    size_t size, left, ret;
    uintptr_t address;
    struct view view;

    for (e = entry;
         e >= body->map && (e->il_offset == entry->il_offset || e->il_offset == NO_MAPPING); e--)
        first = e->il_offset == entry->il_offset ? e : first;
    for (e = entry; e < body->map + body->entries &&
                    (e->il_offset == entry->il_offset || e->il_offset == NO_MAPPING);
         e++)
        if (e->il_offset == entry->il_offset || last->native_end_offset <= offset)
            last = e; /* what is not mapped: in between, or where the call is */
    address = body_address(body, first->native_start_offset, &left);
    size = last->native_end_offset - first->native_start_offset;
    if (size > left)
        size = left;
    if (!address || !size || size > CODE_MAX)
        return result;
    ret = offset + 1 - first->native_start_offset;
    view_open(&view, in->method, address, size);
    if (view.code)
        result = calls_rank(view.code == (const uint8_t *)address ? calls_of(in->metadata) : NULL,
                            view.code, size, ret, in->made);
    view_close(&view);
    return result;
}

typedef int32_t il_finder(const struct metadata_method *method, const struct il_pieces *pieces,
                          uint32_t from, const struct il_target *target);

static int32_t before_all(const struct metadata_method *method, const struct il_pieces *pieces,
                          uint32_t from, const struct il_target *target)
{
    (void)from;
    return il_find_first(method, pieces, target);
}

static int32_t behind_epilog(const struct metadata_method *method, const struct il_pieces *pieces,
                             uint32_t from, const struct il_target *target)
{
    (void)from;
    return il_find_lost(method, pieces, target);
}

struct il_memo *code_memo(struct metadata *metadata)
{
    if (!metadata_is_resolver(metadata))
        return NULL;
    if (!metadata->memo)
        metadata->memo = il_memo_new();
    return metadata->memo;
}

static struct il_target target_of(struct metadata *metadata, const struct site_hint *hint,
                                  struct il_rank *rank)
{
    return (struct il_target){
        .callee = hint->callee ? metadata_method_resolve(metadata, hint->callee) : NULL,
        .record = hint->callee,
        .made = hint->made,
        .unnamed = hint->unnamed,
        .sure = hint->sure,
        .memo = code_memo(metadata),
        .names = metadata_names(metadata),
        .rank = rank,
    };
}

/* The entry of the map for an offset; NULL: none. */
static const struct clr_debug_il_to_native_map *entry_of(const struct code_body *body,
                                                         uint32_t offset)
{
    const struct clr_debug_il_to_native_map *entry = NULL, *e;

    for (e = body->map; e < body->map + body->entries && e->native_start_offset <= offset; e++)
        if (offset < e->native_end_offset) /* an empty range holds no instruction */
            entry = e;
    return entry;
}

/* The instruction that calls before an offset, if its operand names whom the call goes to. */
static int32_t named_call(const struct code_rank *in, uint32_t offset)
{
    const struct clr_debug_il_to_native_map *entry = entry_of(in->body, offset);
    struct code_rank rank = {
        {read_rank, NULL}, in->metadata, in->method, in->body, entry, offset, false};
    struct site_hint hint = {.sure = true};
    struct il_target target;

    if (!entry || entry->il_offset != in->entry->il_offset)
        return IL_UNKNOWN;
    hint.callee = callee_at(in->metadata, in->method, in->body, entry->native_start_offset, offset);
    if (!hint.callee)
        return IL_UNKNOWN;
    target = target_of(in->metadata, &hint, &rank.rank);
    return il_find(in->method, &in->body->pieces, entry->il_offset, &target);
}

/* Code in two ranges is left alone: a jump from one to the other is not seen. */
static struct il_between read_between(struct il_rank *rank)
{
    const struct code_rank *in = container_of(rank, struct code_rank, rank);
    const struct clr_code_info *range = in->body->range;
    struct il_between between = {IL_UNKNOWN, IL_UNKNOWN};
    struct cpu_line line = {0};
    struct view view;

    if (in->body->ranges != 1 || range->size > CODE_MAX)
        return between;
    view_open(&view, in->method, range->start_address, range->size);
    if (view.code && !cpu_line(view.code, range->size, in->offset + 1, &line))
        line.before = line.after = 0;
    view_close(&view);
    for (uint32_t i = 0; i < line.before && between.after < 0; i++)
        between.after = named_call(in, (uint32_t)line.before_at[i] - 1);
    for (uint32_t i = 0; i < line.after && between.before < 0; i++)
        between.before = named_call(in, (uint32_t)line.after_at[i] - 1);
    return between;
}

/* Finds the instruction at `from` or near. Without IL there is but what the map says. */
static int32_t instruction(struct metadata *metadata, struct metadata_method *method,
                           const struct code_body *body, uint32_t from,
                           const struct site_hint *hint, struct il_rank *rank, il_finder *finder)
{
    struct il_target target;

    if (!body->pieces.count)
        return finder == il_find ? (int32_t)from : IL_UNKNOWN;
    target = target_of(metadata, hint, rank);
    return finder(method, &body->pieces, from, &target);
}

/*
 * Is it the check whether a class has been started, or what that starts? No instruction calls it,
 * and the JIT moves it out of loops, and makes one of several. callee: NULL, or resolved.
 */
static bool starts_class(const struct metadata_method *callee)
{
    static const char helpers[] = "System.Runtime.CompilerServices.StaticsHelpers.";
    const char *text = callee ? metadata_method_text(callee) : NULL;

    return text && (strncmp(text, helpers, sizeof(helpers) - 1) == 0 || strstr(text, "..cctor("));
}

/* Methods of CoreLib that the JIT calls for an instruction which makes something. Resolved. */
static bool makes_for_others(const struct metadata_method *method)
{
    static const char *const types[] = {"System.Runtime.CompilerServices.CastHelpers.",
                                        "System.RuntimeTypeHandle.", "System.RuntimeFieldHandle.",
                                        "System.RuntimeMethodHandle."};
    const char *text = metadata_method_text(method);

    for (size_t i = 0; text && i < COUNT_OF(types); i++)
        if (strncmp(text, types[i], strlen(types[i])) == 0)
            return true;
    return false;
}

/*
 * An object made by a callee that no operand names, or below it: instructions that make the same
 * type did not make it. If the callee's name is misleading, the instruction stays unknown.
 */
static int32_t by_callee(struct metadata *metadata, struct metadata_method *method,
                         const struct code_body *body, uint32_t from, const struct site_hint *of,
                         struct il_rank *rank, il_finder *finder)
{
    const struct site_hint named = {.callee = of->callee}, nameless = {.callee = NULL};
    int32_t il = instruction(metadata, method, body, from, &named, rank, finder);

    if (il < 0)
        il = instruction(metadata, method, body, from, &nameless, rank, finder);
    return il >= 0 ? il : CODE_IL_UNMAPPED;
}

/*
 * The runtime maps native code to statements, in native order and without gaps but for what it
 * marks: prologs, epilogs, and code without a mapping. The latter is code that the JIT made itself,
 * the rest of a statement after a run-time look-up in a shared generic, and code inlined there,
 * which it may move to the end. Such code belongs to the statement on both sides of it, if that is
 * the same. Else only an operand that names the callee counts: in the statement before, or the only
 * one in the method. The prolog ends where the first entry begins: not always the first
 * statement's. callee: whom the code calls, of an object; or NULL.
 */
static int32_t by_map(struct metadata *metadata, struct metadata_method *method,
                      const struct code_body *body, uint32_t offset, const struct site_hint *hint,
                      struct metadata_method *callee)
{
    const struct clr_debug_il_to_native_map *end = body->map + body->entries, *entry, *next;
    const struct site_hint through = {.callee = callee, .sure = true};
    il_finder *finder = il_find;
    struct code_rank rank;
    uint32_t from = 0;
    int32_t il = IL_UNKNOWN;

    entry = entry_of(body, offset);
    if (entry && hint->fault && is_real(entry))
        return (int32_t)entry->il_offset;
    if (!entry || hint->fault)
        return CODE_IL_UNMAPPED;
    if (entry->il_offset == NO_MAPPING) {
        for (next = entry; next < end && next->il_offset == NO_MAPPING; next++)
            ;
        while (entry > body->map && entry->il_offset == NO_MAPPING)
            entry--;
        if (!is_real(entry) || next == end || next->il_offset != entry->il_offset)
            finder = il_search;
    } else if (entry->il_offset == PROLOG) {
        finder = before_all;
    } else if (entry->il_offset == EPILOG) {
        finder = behind_epilog;
    } else if (!is_real(entry)) {
        return CODE_IL_UNMAPPED;
    }
    if (is_real(entry))
        from = entry->il_offset;
    else if (entry->il_offset == EPILOG)
        from = IL_NOWHERE;
    rank = (struct code_rank){{read_rank, finder == il_find ? read_between : NULL},
                              metadata,
                              method,
                              body,
                              entry,
                              offset,
                              false};
    if (through.callee) {
        il = instruction(metadata, method, body, from, &through, &rank.rank, finder);
        if (il < 0 && hint->sure && !makes_for_others(through.callee))
            return CODE_IL_UNMAPPED;
        if (il < 0 && !makes_for_others(through.callee))
            return by_callee(metadata, method, body, from, &through, &rank.rank, finder);
    }
    rank.made = hint->made;
    if (il < 0) {
        const struct il_target made = target_of(metadata, hint, NULL);

        il = instruction(metadata, method, body, from, hint, &rank.rank, finder);
        if (il >= 0 && hint->made && il_doubtful(method, &body->pieces, il, &made) &&
            !code_is_unoptimised(metadata, method, body))
            return CODE_IL_UNMAPPED;
    }
    return il >= 0 ? il : CODE_IL_UNMAPPED;
}

static bool same_statement(const struct code_body *body, uint32_t il, uint32_t other)
{
    return il_statement_end(&body->pieces, il) == il_statement_end(&body->pieces, other);
}

/*
 * Is a call in the part of the IL that the map has at an offset, up to the next statement with an
 * entry, and everything that calls there in the same statement?
 */
static bool is_only_at(const struct code_body *body, uint32_t offset, uint32_t il)
{
    const struct clr_debug_il_to_native_map *entry = entry_of(body, offset);
    uint32_t end = IL_NOWHERE;

    if (!entry || !is_real(entry) || il < entry->il_offset)
        return false;
    for (uint32_t i = body->pieces.count; i-- > 0;)
        if (body->pieces.piece[i].mapped && body->pieces.piece[i].at > entry->il_offset)
            end = body->pieces.piece[i].at;
    for (uint32_t i = 0; i < body->pieces.reaches; i++) {
        uint32_t at = body->pieces.reach[i].at;

        if (at >= entry->il_offset && at < end && !same_statement(body, at, il))
            return false;
    }
    return il < end;
}

/* Rich debug info of a body, as code_rich(); NULL, too, if inlined methods are not asked for. */
static const struct rich_body *rich_of(struct metadata *metadata,
                                       const struct metadata_method *method,
                                       const struct code_body *body, uint32_t offset,
                                       const struct site_hint *hint, uint32_t *native, bool *lost)
{
    struct rich_code code;

    *lost = false;
    if (!hint->inlined || body->ranges != 1)
        return NULL;
    code = (struct rich_code){body->range->start_address, (uint32_t)body->range->size};
    return code_rich(metadata, method, &code, offset, native, lost);
}

/*
 * Of code that calls what only methods of others name that were inlined: a list's, which grows at
 * the end of the code, or those of a number that is written out. Whom the code calls may have
 * ended, by a tail call.
 */
static int32_t by_inlined(struct metadata *metadata, struct metadata_method *method,
                          const struct code_body *body, uint32_t offset,
                          const struct site_hint *hint)
{
    struct site_hint through = {.callee = NULL};
    const struct rich_body *rich;
    struct il_target target;
    uint32_t native;
    bool lost;

    rich = hint->fault ? NULL : rich_of(metadata, method, body, offset, hint, &native, &lost);
    if (!rich || native == RICH_NONE)
        return CODE_IL_UNMAPPED;
    through.callee = callee_at(metadata, method, body, native, offset);
    target = target_of(metadata,
                       through.callee && !makes_for_others(through.callee) ? &through : hint, NULL);
    target.sure = hint->sure;
    return code_rich_root(metadata, method, rich, offset, &target);
}

/*
 * As by_map. Code of methods that were inlined may name none of the statement's operands: then the
 * call that they were inlined by is where it belongs, if the map leaves no other statement, and no
 * other operand names what is looked for. If both name a statement for an object, and not the same,
 * nobody knows, unless the map has the code in that of the call.
 */
static int32_t mapped_il(struct metadata *metadata, struct metadata_method *method,
                         const struct code_body *body, uint32_t offset,
                         const struct site_hint *hint)
{
    const struct clr_debug_il_to_native_map *entry = entry_of(body, offset);
    struct metadata_method *through = NULL, *callee;
    struct il_target target;
    int32_t il;

    if (hint->made && entry)
        through = callee_at(metadata, method, body, entry->native_start_offset, offset);
    callee = hint->made ? through : hint->callee;
    if (callee)
        metadata_method_resolve(metadata, callee);
    if (starts_class(callee) && !code_is_unoptimised(metadata, method, body))
        return CODE_IL_UNMAPPED;
    il = by_map(metadata, method, body, offset, hint, through);
    if (il >= 0 && hint->made && hint->around > 0 &&
        !same_statement(body, (uint32_t)il_first(il), (uint32_t)hint->around))
        return is_real(entry) && same_statement(body, entry->il_offset, (uint32_t)hint->around)
                   ? by_inlined(metadata, method, body, offset, hint)
                   : CODE_IL_UNMAPPED;
    if (il >= 0)
        return il;
    if (hint->around > 0 && is_only_at(body, offset, (uint32_t)hint->around)) {
        target = target_of(metadata, hint, NULL);
        if (!il_doubtful(method, &body->pieces, hint->around, &target))
            return hint->around;
    }
    if (!entry) /* the code of a thunk of runtime async is of no instruction of the method */
        return il;
    return by_inlined(metadata, method, body, offset, hint);
}

static int by_native_start(const void *a, const void *b)
{
    const struct clr_debug_il_to_native_map *x = a, *y = b;

    return ORDER(x->native_start_offset, y->native_start_offset);
}

/* The runtime's maps mostly are in this order. */
static void put_in_order(struct clr_debug_il_to_native_map *map, uint32_t count)
{
    uint32_t i = 1;

    while (i < count && map[i - 1].native_start_offset <= map[i].native_start_offset)
        i++;
    if (i < count)
        qsort(map, count, sizeof(*map), by_native_start);
}

static void body_free(struct code_body *body)
{
    if (!body || body->settled)
        return;
    if (body->range != &body->only_range)
        memory_free(body->range);
    memory_free(body->map);
    il_pieces_free(&body->pieces);
    memory_free(body);
}

/* Returns: behind what it copied. */
static char *put(char *to, const void *from, size_t size)
{
    if (size)
        memcpy(to, from, size);
    return to + size;
}

/*
 * A body of a method that stays is kept until the end: in one block of the pool. The heap of the
 * resolver would grow a page at a time, each with a system call.
 */
static struct code_body *body_settle(struct metadata *metadata,
                                     const struct metadata_method *method, struct code_body *body)
{
    size_t ranges = body->range == &body->only_range ? 0 : body->ranges * sizeof(*body->range);
    size_t map = body->entries * sizeof(*body->map), pieces = il_pieces_size(&body->pieces);
    struct code_body *settled = NULL;
    char *to;

    if (!metadata_method_entry(method)->recheck)
        settled = memory_pool_zalloc(&metadata->pool, 1, sizeof(*body) + ranges + map + pieces);
    if (!settled)
        return body;
    *settled = *body;
    settled->settled = true;
    to = (char *)(settled + 1);
    settled->range = ranges ? (struct clr_code_info *)(void *)to : &settled->only_range;
    to = put(to, body->range, ranges);
    settled->map = map ? (struct clr_debug_il_to_native_map *)(void *)to : NULL;
    to = put(to, body->map, map);
    if (pieces)
        il_pieces_copy(&body->pieces, to, &settled->pieces);
    body_free(body);
    return settled;
}

void code_bodies_free(struct metadata_method *method)
{
    struct code_body *body = load_relaxed(&method->bodies), *next;

    for (; body; body = next) {
        next = body->next;
        body_free(body);
    }
    if (load_relaxed(&method->pieces))
        il_pieces_free(load_relaxed(&method->pieces));
    memory_free(load_relaxed(&method->pieces));
    rich_bodies_free(method);
}

/*
 * Whether a body still is what lies at its address. Code that can be unloaded may have gone, and
 * other code of the same method come: then the body is asked for once more.
 */
static bool body_current(const struct metadata *metadata, const struct metadata_method *method,
                         const struct code_body *body)
{
    return !metadata_method_entry(method)->recheck || body->epoch == metadata_epoch(metadata);
}

/* The code ranges: hot, then cold. */
static hresult ask_ranges(struct metadata *metadata, struct code_body *body)
{
    struct clr_info *info = metadata->config.info;
    struct clr_code_info small[2];
    uint32_t count = 0, max = COUNT_OF(small);
    hresult hr = info->vtbl->get_code_info4(info, body->start, max, &count, small);

    if (hr < 0 || !count)
        return hr < 0 ? hr : E_FAIL;
    body->range = count == 1 ? &body->only_range : memory_alloc(count * sizeof(*body->range));
    if (!body->range)
        return E_OUTOFMEMORY;
    if (count <= max) {
        memcpy(body->range, small, count * sizeof(*small));
        body->ranges = count;
        return hr;
    }
    max = count;
    hr = info->vtbl->get_code_info4(info, body->start, max, &count, body->range);
    body->ranges = count < max ? count : max;
    return hr;
}

static hresult ask_map(struct metadata *metadata, struct code_body *body)
{
    struct clr_info *info = metadata->config.info;
    struct clr_debug_il_to_native_map small[MAP_MOST];
    uint32_t count = 0, max = COUNT_OF(small);
    hresult hr = info->vtbl->get_il_to_native_mapping3(info, body->start, max, &count, small);

    if (hr < 0 || !count)
        return hr;
    body->map = memory_alloc(count * sizeof(*body->map));
    if (!body->map)
        return E_OUTOFMEMORY;
    if (count <= max) {
        memcpy(body->map, small, count * sizeof(*small));
    } else {
        max = count;
        hr = info->vtbl->get_il_to_native_mapping3(info, body->start, max, &count, body->map);
        if (hr < 0)
            return hr;
    }
    body->entries = count < max ? count : max;
    put_in_order(body->map, body->entries);
    return hr;
}

/* The statements, and which of them the map has. A body without IL has none. */
static bool ask_pieces(struct metadata *metadata, struct metadata_method *method,
                       const struct il_code *il, struct code_body *body)
{
    uint32_t small[MAP_SMALL], *mapped = small, count = 0;
    int err;

    if (body->entries > MAP_SMALL)
        mapped = memory_alloc(body->entries * sizeof(*mapped));
    if (!mapped)
        return false;
    for (uint32_t i = 0; i < body->entries; i++)
        if (is_real(&body->map[i]))
            mapped[count++] = body->map[i].il_offset;
    err = il_pieces_new(method, il, mapped, count, code_memo(metadata), &body->pieces);
    if (mapped != small)
        memory_free(mapped);
    return !err;
}

/*
 * One body, of which start, epoch and order are known, if it holds `ip`; 0: whatever it holds. It
 * gets no map if the runtime has none (this is final), or if it may be partial and has one
 * instruction to find: the runtime takes longer for each further map.
 */
static struct code_body *body_ask(struct metadata *metadata, struct metadata_method *method,
                                  const struct code_body *known, uintptr_t ip, bool whole)
{
    struct code_body *body = memory_zalloc(1, sizeof(*body));
    struct il_code il;
    uint32_t offset;
    bool has_il;
    hresult hr;

    if (!body)
        return NULL;
    body->start = known->start;
    body->epoch = known->epoch;
    body->order = known->order;
    hr = ask_ranges(metadata, body);
    if (ip && (hr < 0 || !body_offset(body, ip, &offset))) { /* it is another method's */
        body_free(body);
        return NULL;
    }
    if (hr >= 0) {
        has_il = code_il_of(metadata, method, &il);
        body->sole = !whole && has_il && il_pieces_sole(&il, &body->pieces);
        if (body->sole)
            return body_settle(metadata, method, body);
        hr = code_stored_map(metadata, method, body_size(body), body) ? S_OK
                                                                      : ask_map(metadata, body);
        if (hr >= 0 && has_il && !ask_pieces(metadata, method, &il, body))
            hr = E_OUTOFMEMORY;
        if (hr < 0)
            metadata_failed(metadata, hr);
        if (hr != E_OUTOFMEMORY)
            return body_settle(metadata, method, body);
    } else {
        metadata_failed(metadata, hr);
    }
    body_free(body);
    return NULL;
}

/* Of several that begin at the same place the newest, which is whole. */
const struct code_body *code_body_find(const struct metadata *metadata,
                                       const struct metadata_method *method, uintptr_t ip,
                                       uint32_t *offset)
{
    const struct code_body *body = load_acquire(&method->bodies);

    while (body && !(body_offset(body, ip, offset) && body_current(metadata, method, body)))
        body = body->next;
    return body;
}

static bool body_known(const struct metadata *metadata, struct metadata_method *method,
                       uintptr_t start)
{
    const struct code_body *body = load_acquire(&method->bodies);

    while (body && !(body->start == start && body_current(metadata, method, body)))
        body = body->next;
    return body;
}

/*
 * Lists the native code that the method has now. The runtime gives the first body, then the others,
 * newest first. Two threads may list the same: that costs memory only.
 */
static void bodies_add(struct metadata *metadata, struct metadata_method *method, uintptr_t rejit)
{
    struct clr_info *info = metadata->config.info;
    uint32_t epoch = metadata_epoch(metadata); /* before the runtime is asked */
    uintptr_t small[8], *start = small;
    uint32_t count = 0, max = COUNT_OF(small);
    hresult hr = info->vtbl->get_native_code_start_addresses(info, method->function_id, rejit, max,
                                                             &count, start);

    if (hr >= 0 && count > max) {
        max = count;
        start = memory_alloc(max * sizeof(*start));
        if (!start)
            return;
        hr = info->vtbl->get_native_code_start_addresses(info, method->function_id, rejit, max,
                                                         &count, start);
    }
    if (hr < 0)
        metadata_failed(metadata, hr);
    for (uint32_t i = 0; hr >= 0 && i < count && i < max; i++) {
        struct code_body *body;

        if (body_known(metadata, method, start[i]))
            continue;
        body = body_ask(
            metadata, method,
            &(struct code_body){.start = start[i], .epoch = epoch, .order = i ? count - i : 0}, 0,
            false);
        if (body)
            list_push(&method->bodies, body, next);
    }
    if (start != small)
        memory_free(start);
}

/*
 * The precompiled body that holds an address, which is the method's first: the image says where it
 * begins, and the runtime need not be asked whose code that is.
 */
static const struct code_body *stored_add(struct metadata *metadata, struct metadata_method *method,
                                          uintptr_t ip, uint32_t *offset)
{
    struct code_body known = {.start = code_stored_start(metadata, method, ip),
                              .epoch = metadata_epoch(metadata)};
    struct code_body *body = known.start ? body_ask(metadata, method, &known, ip, false) : NULL;

    if (body) {
        list_push(&method->bodies, body, next);
        body_offset(body, ip, offset);
    }
    return body;
}

/*
 * Where methods were inlined, rich debug info comes before the runtime's map. Returns: false if
 * the map is to tell; hint->sure: only what an operand names, since nothing else is certain there.
 */
static bool rich_il(struct metadata *metadata, struct metadata_method *method,
                    const struct code_body *body, uint32_t offset, struct site_hint *hint,
                    int32_t *il)
{
    struct site_hint through = {.callee = NULL};
    enum code_by by;
    struct il_target targets[3];
    const struct rich_body *rich;
    size_t count = 0;
    uint32_t native;
    bool lost;

    rich = rich_of(metadata, method, body, offset, hint, &native, &lost);
    if (!rich) {
        *il = CODE_IL_UNMAPPED;
        return lost;
    }
    if (hint->made && native != RICH_NONE)
        through.callee = callee_at(metadata, method, body, native, offset);
    if (through.callee) {
        targets[count++] = target_of(metadata, &through, NULL);
        if (makes_for_others(through.callee))
            targets[count++] = target_of(metadata, hint, NULL);
    } else if (!hint->fault) {
        targets[count++] = target_of(metadata, hint, NULL);
    }
    if (hint->callee && !starts_class(hint->callee))
        targets[count++] = target_of(metadata, &(struct site_hint){.unnamed = true}, NULL);
    *il = code_rich_il(metadata, method, rich, offset, targets, count, hint->inlined, &by);
    hint->sure = by == CODE_BY_NAME;
    if (by == CODE_BY_MAP)
        hint->around = *il;
    return by == CODE_BY_RICH;
}

static int32_t body_il(struct metadata *metadata, struct metadata_method *method,
                       const struct code_body *body, uint32_t offset, struct site_hint *hint)
{
    struct il_target target;
    struct code_body *whole;
    int32_t il;

    if (rich_il(metadata, method, body, offset, hint, &il))
        return il;
    if (!body->sole)
        return mapped_il(metadata, method, body, offset, hint);
    target = target_of(metadata, hint, NULL);
    il = hint->fault ? IL_UNKNOWN : il_find_sole(method, &body->pieces, &target);
    if (il >= 0)
        return il;
    whole = body_ask(metadata, method, body, 0, true);
    if (!whole)
        return CODE_IL_UNMAPPED;
    whole->again = true;
    list_push(&method->bodies, whole, next);
    return mapped_il(metadata, method, whole, offset, hint);
}

static int32_t site_in(struct metadata *metadata, struct metadata_method *method,
                       const struct code_body *body, uint32_t offset, struct site_hint *hint)
{
    int32_t il = body_il(metadata, method, body, offset, hint);

    return il == CODE_IL_UNMAPPED && code_precompiled(metadata, method, body->start)
               ? CODE_IL_PRECOMPILED
               : il;
}

bool code_is_stub(struct metadata *metadata, uintptr_t function)
{
    static const char stub[] = "IL_STUB";
    struct clr_info *info = metadata->config.info;
    clr_wchar name[NAME_UNITS];
    const uint8_t *signature;
    uint32_t size, length = 0;
    uintptr_t module;

    if (info->vtbl->get_dynamic_function_info(info, function, &module, &signature, &size,
                                              NAME_UNITS, &length, name) < 0)
        return true;
    for (size_t i = 0; i < sizeof(stub) - 1; i++)
        if (i >= length || name[i] != (clr_wchar)stub[i])
            return false;
    return true;
}

static enum code_il kind_of_dynamic(struct metadata *metadata, uintptr_t function)
{
    return code_is_stub(metadata, function) ? CODE_IL_STUB : CODE_IL_DYNAMIC;
}

/* The own methods that are inlined at an address in code without hooks: *hint->inlined. */
static void host_frames(struct metadata *metadata, uintptr_t function, uintptr_t rejit,
                        uintptr_t ip, struct site_hint *hint)
{
    struct code_body body = {.ranges = 1, .range = &body.only_range};
    struct metadata_method *host = NULL;
    struct rich_code code;
    int32_t il;

    if (hint->inlined)
        host = rich_host(metadata, function, rejit, ip, &code);
    if (!host)
        return;
    body.only_range = (struct clr_code_info){code.start, code.size};
    rich_il(metadata, host, &body, (uint32_t)(ip - code.start), hint, &il);
}

static int32_t site(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                    struct site_hint *hint)
{
    struct clr_info *info = metadata->config.info;
    uintptr_t function = 0, rejit = 0;
    const struct code_body *body;
    uint32_t offset;
    int32_t dynamic = 0;
    Dl_info image;

    if (!ip)
        return CODE_IL_NONE;
    if (!hint->fault)
        ip--; /* a return address: the call lies before it */
    body = method ? code_body_find(metadata, method, ip, &offset) : NULL;
    if (body)
        return site_in(metadata, method, body, offset, hint);
    if (metadata->config.info_version < 9)
        return CODE_IL_UNMAPPED;
    body = method ? stored_add(metadata, method, ip, &offset) : NULL;
    if (body)
        return site_in(metadata, method, body, offset, hint);
    if (info->vtbl->get_function_from_ip3(info, (const uint8_t *)ip, &function, &rejit) < 0)
        return dladdr((const void *)ip, &image) ? CODE_IL_NATIVE : CODE_IL_STUB;
    if (method && function == method->function_id) {
        bodies_add(metadata, method, rejit);
        body = code_body_find(metadata, method, ip, &offset);
        return body ? site_in(metadata, method, body, offset, hint) : CODE_IL_UNMAPPED;
    }
    if (info->vtbl->is_function_dynamic(info, function, &dynamic) >= 0 && dynamic)
        return kind_of_dynamic(metadata, function);
    host_frames(metadata, function, rejit, ip, hint);
    return CODE_IL_OTHER;
}

int32_t code_il_outside(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                        bool *hosts)
{
    struct clr_info *info = metadata->config.info;
    uintptr_t function = 0, rejit = 0;
    struct rich_code code;
    int32_t dynamic = 0;
    uint32_t offset;

    if (hosts)
        *hosts = false;
    if (metadata->config.info_version < 9 || code_body_find(metadata, method, ip - 1, &offset) ||
        info->vtbl->get_function_from_ip3(info, (const uint8_t *)(ip - 1), &function, &rejit) < 0 ||
        function == method->function_id ||
        info->vtbl->is_function_dynamic(info, function, &dynamic) < 0)
        return 0;
    if (dynamic)
        return kind_of_dynamic(metadata, function);
    if (hosts)
        *hosts = rich_host(metadata, function, rejit, ip - 1, &code);
    return CODE_IL_OTHER;
}

int32_t code_il_call(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                     struct metadata_method *callee, uint32_t *inlined)
{
    return site(metadata, method, ip, &(struct site_hint){.callee = callee, .inlined = inlined});
}

int32_t code_il_alloc(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                      struct metadata_class *made, uint32_t *inlined)
{
    if (made)
        metadata_class_resolve(metadata, made);
    return site(metadata, method, ip, &(struct site_hint){.made = made, .inlined = inlined});
}

int32_t code_il_unnamed(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                        uint32_t *inlined)
{
    return site(metadata, method, ip, &(struct site_hint){.unnamed = true, .inlined = inlined});
}

int32_t code_il_fault(struct metadata *metadata, struct metadata_method *method, uintptr_t ip,
                      uint32_t *inlined)
{
    return site(metadata, method, ip, &(struct site_hint){.fault = true, .inlined = inlined});
}
