#include "views/print_native.h"

#include "views/native_names.h"
#include "command/reading.h"
#include "terminal/text.h"

/* Called for each frame, leaf first: a method's name, or a native frame's text. */
static void each_frame(const struct report_checks *c, struct native_names *names,
                       void (*frame)(void *context, const char *text, bool native), void *context)
{
    const struct report_native_stack *s = &c->native_stack;
    size_t next = 0;

    for (size_t i = 0; i <= s->size; i++) {
        for (; next < s->native_count && (s->natives[next].at <= i || i == s->size); next++)
            frame(context, native_names_text(names, &s->natives[next]), true);
        if (i < s->size)
            frame(context, report_method(&c->defs, s->stack[i])->name, false);
    }
}

struct text_output {
    const struct terminal *terminal;
    FILE *out;
};

static void text_frame(void *context, const char *text, bool native)
{
    const struct text_output *t = context;

    fputs(native ? "    " : "  ", t->out);
    if (native)
        text_elide(t->out, text, t->terminal->width - 4);
    else
        text_elide_method(t->out, text, t->terminal->width - 2);
    putc('\n', t->out);
}

void print_native_text(const struct report_checks *c, const struct terminal *terminal, FILE *out)
{
    struct text_output output = {terminal, out};
    struct native_names *names;

    if (!c->native_stack.native_count)
        return;
    names = native_names_new(&c->images);
    fprintf(out, "\nA snapshot with its native frames, of line %llu\n",
            (unsigned long long)c->native_stack.at.line);
    each_frame(c, names, text_frame, &output);
    native_names_free(names);
}

static void json_frame(void *context, const char *text, bool native)
{
    json_t *frame = json_object();

    if (frame)
        json_object_set_new(frame, native ? "native" : "method", reading_text_json(text));
    json_array_append_new(context, frame);
}

json_t *print_native_json(const struct report_checks *c)
{
    struct native_names *names;
    json_t *stack;

    if (!c->native_stack.native_count)
        return NULL;
    names = native_names_new(&c->images);
    stack = json_array();
    if (stack)
        each_frame(c, names, json_frame, stack);
    native_names_free(names);
    return json_pack("{s:I, s:I, s:o}", "line", (json_int_t)c->native_stack.at.line, "offset",
                     (json_int_t)c->native_stack.at.offset, "stack", stack);
}

json_t *print_native_runs(const struct report_checks *c, const struct report_native *natives,
                          size_t count)
{
    struct native_names *names = native_names_new(&c->images);
    json_t *runs = json_array(), *frames = NULL;

    for (size_t i = 0; runs && i < count; i++) {
        if (i == 0 || natives[i].at != natives[i - 1].at) {
            frames = json_array();
            json_array_append_new(
                runs, json_pack("{s:I, s:o}", "at", (json_int_t)natives[i].at, "frames", frames));
        }
        json_array_append_new(frames, reading_text_json(native_names_text(names, &natives[i])));
    }
    native_names_free(names);
    return runs;
}
