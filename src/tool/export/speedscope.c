#include "export/formats.h"

#include "export/events.h"
#include "export/stack.h"

#include "base/array.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/order.h"

#include <errno.h>
#include <stdlib.h>

/* Source: jlfwong/speedscope, src/lib/file-format-spec.ts. */
#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void put_frames(const struct export_profile *p, struct json_writer *json)
{
    jw_object(json, "shared");
    jw_array(json, "frames");
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct export_frame *frame = &p->frames[i];

        jw_line_object(json, 0, NULL);
        jw_text(json, "name", frame->name);
        jw_text_if(json, "file", frame->file);
        if (frame->line)
            jw_unsigned(json, "line", frame->line);
        jw_end(json);
    }
    jw_end(json);
    jw_end(json);
}

static uint64_t weight(const struct export_sample *sample, bool objects)
{
    return objects ? sample->allocs : sample->bytes;
}

/* The frames of a node, outermost first. Returns: 0 or -ENOMEM. */
static int put_stack(const struct export_profile *p, uint32_t node, struct export_stack *stack,
                     struct json_writer *json)
{
    int err = export_stack_of(stack, p, node);

    if (err)
        return err;
    jw_line_array(json, 0, NULL);
    for (size_t k = 0; k < stack->count; k++)
        jw_unsigned(json, NULL, stack->frames[k]);
    jw_end(json);
    return 0;
}

static int put_samples(const struct export_profile *p, bool objects, struct export_stack *stack,
                       struct json_writer *json)
{
    jw_array(json, "samples");
    for (size_t i = 0; i < p->sample_count; i++) {
        if (!weight(&p->samples[i], objects))
            continue;
        if (put_stack(p, p->samples[i].node, stack, json))
            return -ENOMEM;
    }
    jw_end(json);
    jw_array(json, "weights");
    for (size_t i = 0; i < p->sample_count; i++)
        if (weight(&p->samples[i], objects))
            jw_unsigned(json, NULL, weight(&p->samples[i], objects));
    jw_end(json);
    return 0;
}

static int put_profile(const struct export_profile *p, bool objects, struct export_stack *stack,
                       struct json_writer *json)
{
    int err;

    jw_line_object(json, 0, NULL);
    jw_text(json, "type", "sampled");
    jw_text(json, "name", objects ? "objects" : "bytes");
    jw_text(json, "unit", objects ? "none" : "bytes");
    jw_unsigned(json, "startValue", 0);
    jw_unsigned(json, "endValue", objects ? p->allocs : p->bytes);
    err = put_samples(p, objects, stack, json);
    jw_end(json);
    return err;
}

/* ---- threads, in the order of their allocations ---- */

#define THREADS_MAX 32 /* the others have least; each costs two readings of the events */

struct thread {
    uint64_t id, bytes;
};

struct threads {
    struct thread *list;
    size_t count, capacity;
};

ORDERED_BY(by_bytes, struct thread, ORDER(y->bytes, x->bytes), ORDER(y->id, x->id))

static int find_threads(struct export_events *events, struct threads *threads)
{
    struct export_allocation a;
    size_t i = 0;
    int more;

    export_events_again(events);
    while ((more = export_events_next(events, &a)) > 0) {
        if (i >= threads->count || threads->list[i].id != a.thread)
            for (i = 0; i < threads->count && threads->list[i].id != a.thread;)
                i++;
        if (i == threads->count) {
            if (!array_reserve(&threads->list, &threads->capacity, i + 1))
                return -ENOMEM;
            threads->list[threads->count++] = (struct thread){.id = a.thread};
        }
        threads->list[i].bytes += a.bytes;
    }
    SORT(threads->list, threads->count, by_bytes);
    return more;
}

/* The next run of allocations at one node. Returns: as export_events_next. */
static int next_run(struct export_events *events, uint64_t thread, struct export_allocation *ahead,
                    struct export_allocation *run)
{
    int more;

    *run = *ahead;
    *ahead = (struct export_allocation){0};
    while ((more = export_events_next(events, ahead)) > 0) {
        if (ahead->thread != thread)
            continue;
        if (run->node && ahead->node != run->node)
            return 1;
        run->node = ahead->node;
        run->bytes += ahead->bytes;
    }
    *ahead = (struct export_allocation){0};
    return more ? more : run->node != 0;
}

static int put_runs(const struct export_profile *p, struct export_events *events, uint64_t thread,
                    struct export_stack *stack, struct json_writer *json)
{
    struct export_allocation ahead = {0}, run;
    int more;

    jw_array(json, stack ? "samples" : "weights");
    export_events_again(events);
    while ((more = next_run(events, thread, &ahead, &run)) > 0) {
        if (!stack) {
            jw_unsigned(json, NULL, run.bytes);
            continue;
        }
        if (put_stack(p, run.node, stack, json))
            return -ENOMEM;
    }
    jw_end(json);
    return more;
}

static int put_thread(const struct export_profile *p, struct export_events *events,
                      const struct thread *thread, struct export_stack *stack,
                      struct json_writer *json)
{
    char name[60];
    int err;

    snprintf(name, sizeof(name), "thread %llu, in order", (unsigned long long)thread->id);
    jw_line_object(json, 0, NULL);
    jw_text(json, "type", "sampled");
    jw_text(json, "name", name);
    jw_text(json, "unit", "bytes");
    jw_unsigned(json, "startValue", 0);
    jw_unsigned(json, "endValue", thread->bytes);
    err = put_runs(p, events, thread->id, stack, json);
    if (!err)
        err = put_runs(p, events, thread->id, NULL, json);
    jw_end(json);
    return err;
}

static int put_threads(const struct export_profile *p, struct export_events *events,
                       struct export_stack *stack, struct json_writer *json)
{
    struct threads threads = {0};
    int err = find_threads(events, &threads);

    for (size_t i = 0; !err && i < threads.count && i < THREADS_MAX; i++)
        err = put_thread(p, events, &threads.list[i], stack, json);
    memory_free(threads.list);
    return err;
}

/* "program (remark; remark)": the format has no other place for what is to be known. */
static void put_name(const struct export_profile *p, struct json_writer *json)
{
    struct buffer name = BUFFER_INIT;

    buffer_text(&name, p->program);
    for (size_t i = 0; i < p->remark_count; i++) {
        buffer_text(&name, i ? "; " : " (");
        buffer_text(&name, p->remarks[i]);
    }
    if (p->remark_count)
        buffer_char(&name, ')');
    if (name.failed)
        jw_fail(json);
    else
        jw_text(json, "name", name.data);
    buffer_free(&name);
}

int export_speedscope_each(const struct export_profile *p, struct export_events *events, FILE *out)
{
    struct export_stack stack = {0};
    struct json_writer w;
    int err, finished;

    jw_init(&w, out);
    jw_object(&w, NULL);
    jw_text(&w, "$schema", SCHEMA);
    put_name(p, &w);
    jw_text(&w, "exporter", "shadowtrace@" SHADOWTRACE_VERSION);
    jw_unsigned(&w, "activeProfileIndex", 0);
    put_frames(p, &w);
    jw_array(&w, "profiles");
    err = put_profile(p, false, &stack, &w);
    if (!err)
        err = put_profile(p, true, &stack, &w);
    if (!err && events)
        err = put_threads(p, events, &stack, &w);
    jw_end(&w);
    jw_end(&w);
    finished = jw_finish(&w);
    export_stack_free(&stack);
    return err ? err : finished;
}

int export_speedscope(const struct export_profile *p, FILE *out)
{
    return export_speedscope_each(p, NULL, out);
}
