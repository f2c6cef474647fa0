/*
 * Stacks of all threads as JSON. They are copied in one read-side section; naming and formatting come after it.
 */
#include "control/internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_THREADS 64
#define FIRST_FRAMES  4096
#define TRIES         8 /* with more room each time: threads come while we ask for it */
#define KNOWN         16384
#define KNOWN_BITS    14

/* What an instruction was resolved to; of code that is never unloaded only. */
struct known_call {
    uintptr_t ip;
    const struct names_method *method, *callee;
    int32_t il;
};

struct dump {
    struct names *names;
    struct stack_copies copies;
    uint32_t *stamp; /* by method id: the dump that has defined it */
    size_t stamps;
    uint32_t round;
    struct known_call *known;
};

struct dump *dump_new(struct names *names)
{
    struct dump *d = memory_zalloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->names = names;
    d->known = memory_zalloc(KNOWN, sizeof(*d->known));
    d->copies.frames = memory_alloc(FIRST_FRAMES * sizeof(*d->copies.frames));
    d->copies.threads = memory_alloc(FIRST_THREADS * sizeof(*d->copies.threads));
    d->copies.capacity = FIRST_FRAMES;
    d->copies.thread_capacity = FIRST_THREADS;
    if (d->known && d->copies.frames && d->copies.threads)
        return d;
    dump_free(d);
    return NULL;
}

void dump_free(struct dump *d)
{
    if (d) {
        memory_free(d->known);
        memory_free(d->stamp);
        memory_free(d->copies.frames);
        memory_free(d->copies.threads);
    }
    memory_free(d);
}

static int grow(struct stack_copies *copies)
{
    if (copies->threads_wanted > copies->thread_capacity) {
        size_t capacity = copies->threads_wanted * 2;
        struct stack_copied_thread *threads =
            memory_realloc(copies->threads, capacity * sizeof(*threads));

        if (!threads)
            return -ENOMEM;
        copies->threads = threads;
        copies->thread_capacity = capacity;
    }
    if (copies->frames_wanted > copies->capacity) {
        size_t capacity = copies->frames_wanted * 2;
        struct stack_copied *frames = memory_realloc(copies->frames, capacity * sizeof(*frames));

        if (!frames)
            return -ENOMEM;
        copies->frames = frames;
        copies->capacity = capacity;
    }
    return 0;
}

/* Returns -ENOMEM, or 0: what did not fit after some tries is left out (its thread shows fewer frames). */
static int copy(struct stack_copies *copies)
{
    for (unsigned i = 0; i < TRIES; i++) {
        if (!stack_copy_all(copies))
            return 0;
        if (grow(copies))
            return -ENOMEM;
    }
    return 0;
}

/* IL offset of the call at `ip` inside of method, or a NAMES_SITE_ value. Code that may be unloaded is not looked at. */
static int32_t call_il(struct dump *d, struct names_method *method, uintptr_t ip,
                       struct names_method *callee)
{
    uint64_t hash = (ip ^ (uintptr_t)callee >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    struct known_call *known = &d->known[hash >> (64 - KNOWN_BITS)];

    if (!ip || ip == FRAME_RET_FILTER || method->collectible || callee->collectible)
        return NAMES_SITE_NONE;
    if (known->ip != ip || known->method != method || known->callee != callee)
        *known =
            (struct known_call){ip, method, callee, names_site_call(d->names, method, ip, callee)};
    return known->il;
}

static const char *name_of(struct names *names, struct names_method *method)
{
    const char *text = names_method_text(method);

    if (text || method->collectible) /* whoever met it names it at once; its metadata may be gone */
        return text ? text : "?";
    return names_method_resolve(names, method);
}

/* Frames of a thread, youngest first. d NULL: names instead of ids, no offsets. */
static void put_frames(struct dump *d, struct names *names, const struct stack_copied *frames,
                       uint32_t count, bool lines, struct buffer *out)
{
    for (uint32_t i = count; i-- > 0;) {
        struct names_method *method = (struct names_method *)frames[i].method;
        const struct stack_copied *above = i + 1 < count ? &frames[i + 1] : NULL;
        int32_t il = NAMES_SITE_NONE;

        if (i + 1 < count)
            buffer_char(out, ',');
        if (!d) {
            buffer_json_string(out, name_of(names, method));
            continue;
        }
        if (lines && above)
            il = call_il(d, method, above->ret, (struct names_method *)above->method);
        buffer_char(out, '[');
        buffer_unsigned(out, method->id);
        if (il >= 0) {
            buffer_char(out, ',');
            buffer_unsigned(out, (uint64_t)il);
        } else if (frames[i].ret == FRAME_RET_FILTER) {
            buffer_text(out, ",\"filter\"");
        }
        buffer_char(out, ']');
    }
}

static void put_name(const struct control_config *config, uint32_t os, struct buffer *out)
{
    char name[512];

    if (!config->thread_name(config->context, os, name, sizeof(name)) || !*name)
        return;
    buffer_text(out, ",\"name\":");
    buffer_json_string(out, name);
}

static void put_thread(struct dump *d, const struct control_config *config,
                       const struct stack_copied_thread *t, bool lines, struct buffer *out)
{
    buffer_format(out, "{\"os\":%u", t->os_thread);
    put_name(config, t->os_thread, out);
    buffer_format(out, ",\"depth\":%u,\"exact\":%s,\"tries\":%u", t->depth,
                  t->exact ? "true" : "false", t->tries);
    if (!t->exact)
        buffer_format(out, ",\"certain\":%u", t->certain);
    if (t->dispatching)
        buffer_text(out, ",\"dispatching\":true");
    buffer_text(out, ",\"frames\":[");
    put_frames(d, d->names, d->copies.frames + t->first, t->count, lines, out);
    buffer_text(out, "]}");
}

/* Whether this dump has not defined the method yet; notes that it has. Without memory it comes twice. */
static bool is_new(struct dump *d, uint32_t id)
{
    if (id >= d->stamps) {
        size_t stamps = (size_t)id + id / 2 + 1024;
        uint32_t *stamp = memory_realloc(d->stamp, stamps * sizeof(*stamp));

        if (!stamp)
            return true;
        memset(stamp + d->stamps, 0, (stamps - d->stamps) * sizeof(*stamp));
        d->stamp = stamp;
        d->stamps = stamps;
    }
    if (d->stamp[id] == d->round)
        return false;
    d->stamp[id] = d->round;
    return true;
}

static void put_method(struct dump *d, struct names_method *method, struct buffer *out)
{
    buffer_format(out, "{\"id\":%u,\"name\":", method->id);
    buffer_json_string(out, name_of(d->names, method));
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

static void put_methods(struct dump *d, struct buffer *out)
{
    const char *separator = "";

    d->round++;
    for (size_t i = 0; i < d->copies.count; i++) {
        const struct stack_copied_thread *t = &d->copies.threads[i];

        for (uint32_t k = 0; k < t->count; k++) {
            struct names_method *method =
                (struct names_method *)d->copies.frames[t->first + k].method;

            if (!is_new(d, method->id))
                continue;
            buffer_text(out, separator);
            put_method(d, method, out);
            separator = ",";
        }
    }
}

int dump_all(struct dump *d, const struct control_config *config,
             const struct dump_request *request, struct buffer *out)
{
    uint64_t before, after;
    int err;

    d->copies.most = request->most;
    before = clock_ns();
    err = copy(&d->copies);
    after = clock_ns();
    if (err)
        return err;
    buffer_format(out, ",\"t\":%llu,\"copy_ns\":%llu,\"threads\":[",
                  (unsigned long long)(after - config->zero_ns),
                  (unsigned long long)(after - before));
    for (size_t i = 0; i < d->copies.count; i++) {
        if (i)
            buffer_char(out, ',');
        put_thread(d, config, &d->copies.threads[i], request->lines, out);
    }
    buffer_text(out, "],\"methods\":[");
    put_methods(d, out);
    buffer_char(out, ']');
    return out->failed ? -ENOMEM : 0;
}

int dump_self(const struct control_config *config, struct buffer *out)
{
    const struct stack *self = stack_peek();
    uint32_t os = self ? stack_os_thread(self) : (uint32_t)syscall(SYS_gettid);
    struct stack_copy copy = {.capacity = 256};
    struct stack_copied *frames;
    int err = self ? 0 : -ESRCH;

    do {
        frames = memory_realloc(copy.frames, copy.capacity * sizeof(*frames));
        if (!frames) {
            memory_free(copy.frames);
            return -ENOMEM;
        }
        copy.frames = frames;
        if (!err)
            err = stack_copy_thread(os, &copy);
        copy.capacity = copy.depth > copy.capacity ? copy.depth : copy.capacity;
    } while (!err && !copy.exact);
    buffer_format(out, "{\"os\":%u", os);
    put_name(config, os, out);
    buffer_format(out, ",\"depth\":%u,\"stack\":[", copy.depth);
    put_frames(NULL, config->names, copy.frames, copy.depth, false, out);
    buffer_text(out, "]}");
    memory_free(copy.frames);
    return out->failed ? -ENOMEM : 0;
}
