#include "control/frames.h"

#include "base/array.h"
#include "base/decimal.h"
#include "base/hash.h"
#include "base/memory.h"
#include "code/code.h"

#include <string.h>

#define KNOWN_BITS 13
#define KNOWN      (1u << KNOWN_BITS)
#define MOST_TEXT  40 /* bytes of one frame: comma, bracket, two numbers, commas, DECIMAL_ROOM */

/* A frame as text: the call at `ip` inside of method. Of code that is never unloaded only. */
struct known_call {
    uintptr_t ip;
    const struct metadata_method *method, *callee;
    bool filter;
    uint8_t size;
    char text[MOST_TEXT - 2];
};
static_assert(sizeof(struct known_call) == 64, "a cache line");

struct known_method {
    uint64_t thread; /* of frames.threads: it is in that one's list */
    uint64_t round;  /* of frames.rounds: it is defined */
    char *text;      /* its definition; NULL: not made yet */
    size_t size;
};

struct frames {
    struct metadata *metadata;
    struct known_call *call;
    struct known_method *method; /* by id */
    size_t methods;
    uint64_t threads, rounds, defined;
};

struct frames *frames_new(struct metadata *metadata)
{
    struct frames *f = memory_zalloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->metadata = metadata;
    f->call = memory_zalloc(KNOWN, sizeof(*f->call));
    if (f->call)
        return f;
    memory_free(f);
    return NULL;
}

void frames_free(struct frames *f)
{
    for (size_t i = 0; f && i < f->methods; i++)
        memory_free(f->method[i].text);
    if (f)
        memory_free_all(f->method, f->call, f);
}

const char *frames_name(struct metadata *metadata, struct metadata_method *method)
{
    const char *text = metadata_method_text(method);

    if (text || method->collectible) /* named when first seen; its metadata may be gone */
        return text ? text : "?";
    return metadata_method_resolve(metadata, method);
}

/* NULL: no memory. */
static struct known_method *known_method(struct frames *f, uint32_t id)
{
    return array_reserve_zeroed(&f->method, &f->methods, (size_t)id + 1) ? &f->method[id] : NULL;
}

/* il: an offset, several, or a CODE_IL_ value. */
static char *put_frame(char *to, uint32_t id, int32_t il, bool filter)
{
    *to++ = '[';
    to = decimal_put(to, id);
    if (il >= 0) {
        *to++ = ',';
        to = decimal_put(to, il_first(il));
        if (il & IL_SEVERAL) {
            *to++ = ',';
            to = decimal_put(to, il_last(il));
        }
    } else if (filter) {
        memcpy(to, ",\"filter\"", 9);
        to += 9;
    }
    *to++ = ']';
    return to;
}

/* Asked of the runtime once. */
static char *put_call(struct frames *f, const struct stack_copied *frame,
                      const struct stack_copied *above, char *to)
{
    struct metadata_method *method = (struct metadata_method *)frame->method;
    struct metadata_method *callee = (struct metadata_method *)above->method;
    bool filter = frame->ret == FRAME_RET_FILTER;
    uint64_t hash = hash_word(above->ret ^ above->method >> 4);
    struct known_call *known = &f->call[hash >> (64 - KNOWN_BITS)];

    if (known->ip != above->ret || known->method != method || known->callee != callee ||
        known->filter != filter) {
        int32_t il = code_il_call(f->metadata, method, above->ret, callee, NULL);

        *known = (struct known_call){
            .ip = above->ret, .method = method, .callee = callee, .filter = filter};
        known->size = (uint8_t)(put_frame(known->text, method->id, il, filter) - known->text);
    }
    memcpy(to, known->text, sizeof(known->text)); /* more than there is: of one size it is quick */
    return to + known->size;
}

/* Whether there is an instruction to look for, in code that stays. */
static bool has_call(const struct stack_copied *frame, const struct stack_copied *above)
{
    return above && above->ret && above->ret != FRAME_RET_FILTER &&
           !((const struct metadata_method *)frame->method)->collectible &&
           !((const struct metadata_method *)above->method)->collectible;
}

static void note_method(struct frames *f, struct metadata_method *method,
                        struct frames_methods *methods, struct buffer *out)
{
    struct known_method *known = known_method(f, method->id);

    if (!known || known->thread == f->threads) {
        out->failed |= !known;
        return;
    }
    if (!array_reserve(&methods->method, &methods->capacity, methods->count + 1)) {
        out->failed = 1;
        return;
    }
    known->thread = f->threads;
    methods->method[methods->count++] = method;
}

void frames_put(struct frames *f, const struct stack_copied *frames, uint32_t count, bool lines,
                struct frames_methods *methods, struct buffer *out)
{
    f->threads++;
    for (uint32_t i = count; i-- > 0;) {
        const struct stack_copied *above = i + 1 < count ? &frames[i + 1] : NULL;
        struct metadata_method *method = (struct metadata_method *)frames[i].method;
        char *to = buffer_reserve(out, MOST_TEXT);

        if (!to)
            return;
        note_method(f, method, methods, out);
        if (above)
            *to++ = ',';
        if (lines && has_call(&frames[i], above))
            to = put_call(f, &frames[i], above, to);
        else
            to = put_frame(to, method->id, CODE_IL_NONE, frames[i].ret == FRAME_RET_FILTER);
        out->size = (size_t)(to - out->data);
    }
}

static void put_definition(struct metadata *metadata, struct metadata_method *method,
                           struct buffer *out)
{
    buffer_format(out, "{\"id\":%u,\"name\":", method->id);
    buffer_json_string(out, frames_name(metadata, method));
    if (method->module) {
        buffer_format(out, ",\"token\":%u,\"module\":", method->token);
        buffer_json_string(out, method->module->name);
        if (*method->module->path) {
            buffer_text(out, ",\"path\":");
            buffer_json_string(out, method->module->path);
        }
    }
    buffer_char(out, '}');
}

/* The text is kept once the method has its name. */
static void define(struct frames *f, struct metadata_method *method, struct known_method *known,
                   struct buffer *out)
{
    struct buffer text = BUFFER_INIT;

    put_definition(f->metadata, method, &text);
    buffer_append(out, text.data ? text.data : "", text.size);
    out->failed |= text.failed;
    if (metadata_method_text(method) && !text.failed) {
        known->size = text.size;
        known->text = buffer_take(&text);
    }
    buffer_free(&text);
}

void frames_begin(struct frames *f)
{
    f->rounds++;
    f->defined = 0;
}

void frames_define(struct frames *f, const struct frames_methods *methods, struct buffer *out)
{
    for (size_t i = 0; i < methods->count; i++) {
        struct known_method *known = &f->method[methods->method[i]->id];

        if (known->round == f->rounds)
            continue;
        known->round = f->rounds;
        if (f->defined++)
            buffer_char(out, ',');
        if (known->text)
            buffer_append(out, known->text, known->size);
        else
            define(f, methods->method[i], known, out);
    }
}
