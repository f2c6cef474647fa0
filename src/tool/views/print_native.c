#include "views/print_native.h"

#include "views/native_names.h"
#include "terminal/fit.h"
#include "terminal/text.h"

/* Called for each frame, leaf first: a method's name, or a native frame's text. stack NULL: raw. */
static void each_frame(const struct report_checks *c, const struct print_stack *stack,
                       struct native_names *names,
                       void (*frame)(void *context, const char *text, bool native), void *context)
{
    const struct report_native_stack *s = &c->native_stack;
    struct buffer name = BUFFER_INIT;
    size_t next = 0;

    for (size_t i = 0; i <= s->size; i++) {
        for (; next < s->native_count && (s->natives[next].at <= i || i == s->size); next++)
            frame(context, native_names_text(names, &s->natives[next]), true);
        if (i < s->size)
            frame(context,
                  stack ? print_stack_method(stack, &name, s->stack[i])
                        : log_method(&c->defs, s->stack[i])->name,
                  false);
    }
    buffer_free(&name);
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
        fit_print_name(t->out, text, t->terminal->width - 2);
    putc('\n', t->out);
}

void print_native_text(const struct report_checks *c, const struct print_stack *stack,
                       const struct terminal *terminal, FILE *out)
{
    struct text_output output = {terminal, out};
    struct native_names *names;

    if (!c->native_stack.native_count)
        return;
    names = native_names_new(&c->images);
    fprintf(out, "\nA snapshot with its native frames, of line %llu\n",
            (unsigned long long)c->native_stack.at.line);
    each_frame(c, stack, names, text_frame, &output);
    native_names_free(names);
}

static void json_frame(void *context, const char *text, bool native)
{
    struct json_writer *w = context;

    jw_object(w, NULL);
    jw_text(w, native ? "native" : "method", text);
    jw_end(w);
}

void print_native_json(const struct report_checks *c, struct json_writer *w)
{
    struct native_names *names = native_names_new(&c->images);

    jw_line_object(w, 1, "native");
    jw_unsigned(w, "line", c->native_stack.at.line);
    jw_unsigned(w, "offset", c->native_stack.at.offset);
    jw_array(w, "stack");
    each_frame(c, NULL, names, json_frame, w);
    jw_end(w);
    jw_end(w);
    native_names_free(names);
}

void print_native_runs_json(const struct report_checks *c, const struct log_native *natives,
                            size_t count, struct json_writer *w)
{
    struct native_names *names = native_names_new(&c->images);

    jw_array(w, "native");
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || natives[i].at != natives[i - 1].at) {
            jw_object(w, NULL);
            jw_unsigned(w, "at", natives[i].at);
            jw_array(w, "frames");
        }
        jw_text(w, NULL, native_names_text(names, &natives[i]));
        if (i + 1 == count || natives[i].at != natives[i + 1].at) {
            jw_end(w);
            jw_end(w);
        }
    }
    jw_end(w);
    native_names_free(names);
}
