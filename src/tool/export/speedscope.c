#include "export/formats.h"

#include "export/stack.h"

#include "base/json_writer.h"

#include <errno.h>

/* Source: jlfwong/speedscope, src/lib/file-format-spec.ts. */
#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void put_frames(const struct export_profile *p, struct json_writer *w)
{
    jw_object(w, "shared");
    jw_array(w, "frames");
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct export_frame *frame = &p->frames[i];

        jw_line_object(w, 0, NULL);
        jw_text(w, "name", frame->name);
        jw_text_if(w, "file", frame->file);
        if (frame->line)
            jw_unsigned(w, "line", frame->line);
        jw_end(w);
    }
    jw_end(w);
    jw_end(w);
}

static uint64_t weight(const struct export_sample *sample, bool objects)
{
    return objects ? sample->allocs : sample->bytes;
}

static int put_samples(const struct export_profile *p, bool objects, struct export_stack *stack,
                       struct json_writer *w)
{
    jw_array(w, "samples");
    for (size_t i = 0; i < p->sample_count; i++) {
        if (!weight(&p->samples[i], objects))
            continue;
        if (export_stack_of(stack, p, p->samples[i].node))
            return -ENOMEM;
        jw_line_array(w, 0, NULL);
        for (size_t k = 0; k < stack->count; k++)
            jw_unsigned(w, NULL, stack->frames[k]);
        jw_end(w);
    }
    jw_end(w);
    jw_array(w, "weights");
    for (size_t i = 0; i < p->sample_count; i++)
        if (weight(&p->samples[i], objects))
            jw_unsigned(w, NULL, weight(&p->samples[i], objects));
    jw_end(w);
    return 0;
}

static int put_profile(const struct export_profile *p, bool objects, struct export_stack *stack,
                       struct json_writer *w)
{
    int err;

    jw_line_object(w, 0, NULL);
    jw_text(w, "type", "sampled");
    jw_text(w, "name", objects ? "objects" : "bytes");
    jw_text(w, "unit", objects ? "none" : "bytes");
    jw_unsigned(w, "startValue", 0);
    jw_unsigned(w, "endValue", objects ? p->allocs : p->bytes);
    err = put_samples(p, objects, stack, w);
    jw_end(w);
    return err;
}

/* "program (remark; remark)": the format has no other place for what is to be known. */
static void put_name(const struct export_profile *p, struct json_writer *w)
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
        jw_fail(w);
    else
        jw_text(w, "name", name.data);
    buffer_free(&name);
}

int export_speedscope(const struct export_profile *p, FILE *out)
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
    jw_end(&w);
    jw_end(&w);
    finished = jw_finish(&w);
    export_stack_free(&stack);
    return err ? err : finished;
}
