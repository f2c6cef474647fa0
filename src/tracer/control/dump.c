/*
 * Stacks of all threads as JSON. They are copied in one read-side section; naming and formatting
 * come after it. A client that asks again and again finds most threads where they were: of these
 * one word is looked at, and the text made of them before is given again.
 */
#include "control/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "control/frames.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES     8          /* with more room each time: threads come while we ask for it */
#define MOST_KEPT (1u << 20) /* bytes of text */

/* What was made of a thread's stack. */
struct kept_thread {
    char *text;
    size_t size;
    struct frames_methods methods;
};

/* The threads of a dump, seen[] and thread[] alike. */
struct kept {
    struct stack_seen *seen;
    struct kept_thread *thread;
    size_t count;
};

struct dump {
    struct frames *frames;
    struct stack_copies copies;
    struct kept kept;
    struct dump_request as;  /* how they were asked for */
    uint32_t metadata_given; /* as they had these names */
};

struct dump *dump_new(struct metadata *metadata)
{
    struct dump *d = memory_zalloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->frames = frames_new(metadata);
    if (d->frames)
        return d;
    dump_free(d);
    return NULL;
}

static void thread_free(struct kept_thread *t)
{
    memory_free_all(t->text, t->methods.method);
    *t = (struct kept_thread){.text = NULL};
}

static void kept_free(struct kept *kept)
{
    for (size_t i = 0; i < kept->count; i++)
        thread_free(&kept->thread[i]);
    memory_free_all(kept->thread, kept->seen);
    *kept = (struct kept){.count = 0};
}

void dump_forget(struct dump *d)
{
    kept_free(&d->kept);
}

void dump_free(struct dump *d)
{
    if (d) {
        kept_free(&d->kept);
        frames_free(d->frames);
        stack_copies_free(&d->copies);
    }
    memory_free(d);
}

/* -ENOMEM, or 0: of what did not fit after some tries, threads show fewer frames. */
static int copy(struct stack_copies *copies)
{
    for (unsigned i = 0; i < TRIES; i++) {
        if (!stack_copy_all(copies))
            return 0;
        if (stack_copies_grow(copies))
            return -ENOMEM;
    }
    return 0;
}

static void put_name(const struct control_config *config, uint32_t os, struct buffer *out)
{
    char name[512];

    if (!config->thread_name(config->context, os, name, sizeof(name)) || !*name)
        return;
    buffer_text(out, ",\"name\":");
    buffer_json_string(out, name);
}

static void put_thread(const struct control_config *config, const struct stack_copied_thread *t,
                       struct dump *d, struct frames_methods *methods, struct buffer *out)
{
    buffer_text(out, "{\"os\":");
    buffer_unsigned(out, t->os_thread);
    put_name(config, t->os_thread, out);
    buffer_text(out, ",\"depth\":");
    buffer_unsigned(out, t->depth);
    buffer_text(out, t->exact ? ",\"exact\":true,\"tries\":" : ",\"exact\":false,\"tries\":");
    buffer_unsigned(out, t->tries);
    if (!t->exact) {
        buffer_text(out, ",\"certain\":");
        buffer_unsigned(out, t->certain);
    }
    if (t->dispatching)
        buffer_text(out, ",\"dispatching\":true");
    buffer_text(out, ",\"frames\":[");
    frames_put(d->frames, d->copies.frames + t->first, t->count, d->as.lines, methods, out);
    buffer_text(out, "]}");
}

/* What out has from `from` on, for the next dump. Without memory it is made again then. */
static bool keep_text(struct kept_thread *to, const struct buffer *out, size_t from)
{
    size_t size = out->size - from;
    char *text = out->failed ? NULL : memory_realloc(to->text, size);

    if (!text)
        return false;
    memcpy(text, out->data + from, size);
    to->text = text;
    to->size = size;
    return true;
}

/* May it be said again of a stack that stands still? All of it fitted, at the first try. */
static bool is_good_for_more(const struct stack_copied_thread *t, uint32_t most)
{
    return t->exact && t->tries == 1 && t->count == (t->depth < most ? t->depth : most);
}

/* One thread of a dump, as given before or again: `before` (NULL: none) becomes `to`. */
static struct stack_seen take_thread(struct dump *d, const struct control_config *config,
                                     const struct stack_copied_thread *thread,
                                     struct kept_thread *before, struct kept_thread *to,
                                     struct buffer *out)
{
    struct stack_seen seen = {thread->number, thread->state, thread->dispatching};
    size_t from = out->size;

    if (before) {
        *to = *before;
        *before = (struct kept_thread){.text = NULL};
    }
    if (thread->unchanged) {
        buffer_append(out, to->text, to->size);
        return seen;
    }
    to->methods.count = 0;
    put_thread(config, thread, d, &to->methods, out);
    if (!is_good_for_more(thread, d->as.most) || !keep_text(to, out, from))
        seen.state = STACK_SEEN_NEVER;
    return seen;
}

static int kept_reserve(struct kept *kept, size_t count)
{
    kept->seen = memory_alloc((count + 1) * sizeof(*kept->seen));
    kept->thread = memory_zalloc(count + 1, sizeof(*kept->thread));
    if (kept->seen && kept->thread)
        return 0;
    memory_free_all(kept->seen, kept->thread);
    *kept = (struct kept){.count = 0};
    return -ENOMEM;
}

static int put_threads(struct dump *d, const struct control_config *config, struct buffer *out)
{
    struct kept now = {.count = 0};
    size_t bytes = 0;

    if (kept_reserve(&now, d->copies.count))
        return -ENOMEM;
    for (; now.count < d->copies.count; now.count++) {
        const struct stack_copied_thread *t = &d->copies.threads[now.count];
        struct kept_thread *to = &now.thread[now.count],
                           *before = t->earlier == SIZE_MAX ? NULL : &d->kept.thread[t->earlier];

        if (now.count)
            buffer_char(out, ',');
        now.seen[now.count] = take_thread(d, config, t, before, to, out);
    }
    buffer_text(out, "],\"methods\":[");
    frames_begin(d->frames);
    for (size_t i = 0; i < now.count; i++) {
        frames_define(d->frames, &now.thread[i].methods, out);
        bytes += now.thread[i].size;
        if (bytes <= MOST_KEPT)
            continue;
        thread_free(&now.thread[i]);
        now.seen[i].state = STACK_SEEN_NEVER;
    }
    kept_free(&d->kept);
    d->kept = now;
    return 0;
}

/* The kept text can be reused only for the same request, and while threads keep their names. */
static void prepare(struct dump *d, const struct control_config *config,
                    const struct dump_request *request)
{
    uint32_t metadata_given = config->metadata_given(config->context);

    if (d->as.most != request->most || d->as.lines != request->lines ||
        d->metadata_given != metadata_given)
        kept_free(&d->kept);
    d->as = *request;
    d->metadata_given = metadata_given;
    d->copies.most = request->most;
    d->copies.seen = d->kept.seen;
    d->copies.seen_count = d->kept.count;
}

int dump_all(struct dump *d, const struct control_config *config,
             const struct dump_request *request, struct buffer *out)
{
    uint64_t before, after;
    int err;

    prepare(d, config, request);
    before = clock_ns();
    err = copy(&d->copies);
    after = clock_ns();
    if (err)
        return err;
    buffer_format(out, ",\"t\":%llu,\"copy_ns\":%llu%s,\"threads\":[",
                  (unsigned long long)(after - config->zero_ns),
                  (unsigned long long)(after - before),
                  config->some_hooked ? ",\"some_hooked\":true" : "");
    err = put_threads(d, config, out);
    buffer_char(out, ']');
    return out->failed ? -ENOMEM : err;
}

static void put_names(struct metadata *metadata, const struct stack_copied *frames, uint32_t count,
                      struct buffer *out)
{
    for (uint32_t i = count; i-- > 0;) {
        buffer_json_string(out, frames_name(metadata, (struct metadata_method *)frames[i].method));
        if (i)
            buffer_char(out, ',');
    }
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
    put_names(config->metadata, copy.frames, copy.depth, out);
    buffer_text(out, "]}");
    memory_free(copy.frames);
    return out->failed ? -ENOMEM : 0;
}
