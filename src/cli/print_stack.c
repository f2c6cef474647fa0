#include "cli/print_stack.h"

#include "cli/terminal.h"
#include "cli/text.h"

#include "report/fold.h"
#include "report/logical.h"

#include <string.h>
#include <unistd.h>

#define ASYNC_CALLERS 32

struct frame {
    uint32_t path;
    uint32_t method;
    int32_t il;
    enum sst_call call; /* why the frame has no il */
    bool filter;
};

static bool first_frame(const struct report_defs *d, uint32_t path, int32_t il, struct frame *f)
{
    const struct report_path *p = report_path(d, path);

    *f = (struct frame){path, p->method, il, SST_CALL_NONE, p->filter};
    return path != REPORT_PATH_EMPTY;
}

static bool outer_frame(const struct report_defs *d, struct frame *f)
{
    const struct report_path *inner = report_path(d, f->path), *path;

    if (f->path == REPORT_PATH_LOST || inner->parent == REPORT_PATH_EMPTY)
        return false;
    path = report_path(d, inner->parent);
    *f = (struct frame){inner->parent, path->method, inner->il >= 0 ? inner->il : REPORT_NO_IL,
                        report_path_call(inner), path->filter};
    return true;
}

const char *print_stack_method(const struct print_stack *p, struct buffer *b, uint32_t method)
{
    const char *name = report_method(p->defs, method)->name;

    return p->raw ? name : report_fold(b, name);
}

static const char *frame_name(const struct print_stack *p, struct buffer *b, const struct frame *f)
{
    return f->path == REPORT_PATH_LOST ? "(callers not in the log)"
                                       : print_stack_method(p, b, f->method);
}

/*
 * Calls each() for the callers of the innermost async method that was resumed on a stack, as far as the log can tell:
 * that one's, its caller's, and so on. What lies around it there was awaited by it, or resumes what comes to be ready.
 */
static void async_callers(const struct print_stack *p, uint32_t path,
                          void (*each)(const struct print_stack *p, const struct frame *f,
                                       void *context),
                          void *context)
{
    struct report_caller caller;
    uint32_t resumed = 0;
    struct frame f;

    if (!p->async || !first_frame(p->defs, path, REPORT_NO_IL, &f))
        return;
    while (!report_async_resumed(p->async, f.path))
        if (!outer_frame(p->defs, &f))
            return;
    resumed = f.method;
    for (unsigned i = 0;
         i < ASYNC_CALLERS && resumed && report_async_caller(p->async, resumed, &caller); i++) {
        each(p, &(struct frame){UINT32_MAX, caller.method, caller.il, SST_CALL_NONE, false},
             context);
        resumed = caller.method;
    }
}

/* ---- text ---- */

/* A link as terminals know it (OSC 8), if the file is there to be opened. Returns: whether one was begun. */
static bool begin_link(const struct print_stack *p, const struct source_line *line, FILE *out)
{
    static const char plain[] = "/._-~";

    if (!p->links || line->file[0] != '/' || access(line->file, R_OK))
        return false;
    fputs("\033]8;;file://", out);
    for (const unsigned char *c = (const unsigned char *)line->file; *c; c++)
        if ((*c >= '0' && *c <= '9') || ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') ||
            strchr(plain, *c))
            putc(*c, out);
        else
            fprintf(out, "%%%02X", *c);
    fprintf(out, "#L%u\033\\", line->line);
    return true;
}

void print_stack_where(const struct print_stack *p, const struct source_line *line,
                       char text[PRINT_WHERE_SIZE])
{
    snprintf(text, PRINT_WHERE_SIZE, "%.100s:%u", p->wide ? line->file : text_base_name(line->file),
             line->line);
}

void print_stack_link(const struct print_stack *p, const struct source_line *line, const char *text,
                      FILE *out)
{
    bool linked = begin_link(p, line, out);
    char *url = p->urls ? source_line_url(p->lines, line) : NULL;

    text_elide(out, text, PRINT_WHERE_SIZE);
    if (linked)
        fputs("\033]8;;\033\\", out);
    if (url) {
        fputs(" <", out);
        text_elide(out, url, SIZE_MAX);
        putc('>', out);
    }
    memory_free(url);
}

static void print_frame(const struct print_stack *p, const struct frame *f, const char *indent,
                        const char *at, FILE *out)
{
    static const char *const calls[SST_CALL_COUNT] = {
        [SST_CALL_NATIVE] = "  (through native code)",
        [SST_CALL_UNHOOKED] = "  (through code without hooks)",
    };
    const char *filter = f->filter ? " [filter]" : "", *call = calls[f->call] ? calls[f->call] : "";
    size_t room = p->wide ? SIZE_MAX : terminal_width(out) - strlen(indent) - strlen(at);
    struct buffer name = BUFFER_INIT;
    struct source_line line;
    char where[PRINT_WHERE_SIZE] = "";
    bool known = source_line_of(p->lines, f->method, f->il, &line);

    if (known)
        print_stack_where(p, &line, where);
    else if (f->il >= 0)
        snprintf(where, sizeof(where), " +IL_%04x", (unsigned)f->il);
    if (!p->wide)
        room -= text_columns(where) + strlen(filter) + strlen(call) + (known ? strlen(" in ") : 0);
    fprintf(out, "%s%s", indent, at);
    text_elide_method(out, frame_name(p, &name, f), room);
    fprintf(out, "%s%s", filter, known ? " in " : where);
    if (known)
        print_stack_link(p, &line, where, out);
    fprintf(out, "%s\n", call);
    buffer_free(&name);
}

struct text_callers {
    const char *indent;
    FILE *out;
};

static void text_caller(const struct print_stack *p, const struct frame *f, void *context)
{
    const struct text_callers *c = context;

    print_frame(p, f, c->indent, "started by ", c->out);
}

void print_stack_text(const struct print_stack *p, uint32_t path, int32_t il, const char *indent,
                      FILE *out)
{
    struct text_callers callers = {indent, out};
    struct text_number n;
    struct frame f;
    uint64_t left = 0;

    if (!first_frame(p->defs, path, il, &f)) {
        fprintf(out, "%s%s\n", indent, PRINT_NO_FRAME);
        return;
    }
    for (uint64_t i = 0;; i++) {
        if (!p->depth || i < p->depth)
            print_frame(p, &f, indent, "at ", out);
        else
            left++;
        if (!outer_frame(p->defs, &f))
            break;
    }
    if (left)
        fprintf(out, "%s... %s more\n", indent, text_count(&n, left));
    async_callers(p, path, text_caller, &callers);
}

/* ---- JSON ---- */

void print_stack_line_json(const struct print_stack *p, const struct source_line *line,
                           struct json_writer *w)
{
    char *url = p->urls ? source_line_url(p->lines, line) : NULL;

    jw_text(w, "file", line->file);
    jw_unsigned(w, "line", line->line);
    if (url)
        jw_text(w, "url", url);
    memory_free(url);
}

static void json_frame_line(const struct print_stack *p, const struct frame *f,
                            struct json_writer *w)
{
    struct source_line line;

    if (!source_line_of(p->lines, f->method, f->il, &line)) {
        jw_null(w, NULL);
        return;
    }
    jw_object(w, NULL);
    jw_text(w, "file", line.file);
    jw_unsigned(w, "line", line.line);
    jw_end(w);
}

static bool has_lines(const struct print_stack *p, uint32_t path, int32_t il)
{
    struct source_line line;
    struct frame f;
    bool more;

    for (more = first_frame(p->defs, path, il, &f); more; more = outer_frame(p->defs, &f))
        if (source_line_of(p->lines, f.method, f.il, &line))
            return true;
    return false;
}

struct json_callers {
    struct json_writer *out;
    struct buffer name;
    bool any;
};

static void json_caller(const struct print_stack *p, const struct frame *f, void *context)
{
    struct json_callers *c = context;
    struct source_line line;

    if (!c->any)
        jw_array(c->out, "started_by");
    c->any = true;
    jw_object(c->out, NULL);
    jw_text(c->out, "method", print_stack_method(p, &c->name, f->method));
    if (source_line_of(p->lines, f->method, f->il, &line)) {
        jw_text(c->out, "file", line.file);
        jw_unsigned(c->out, "line", line.line);
    }
    jw_end(c->out);
}

void print_stack_json(const struct print_stack *p, uint32_t path, int32_t il, struct json_writer *w)
{
    struct json_callers callers = {w, BUFFER_INIT, false};
    uint32_t several = report_logical_ends(p->defs, path);
    struct buffer name = BUFFER_INIT;
    struct frame f;
    bool more;

    jw_array(w, "stack");
    for (more = first_frame(p->defs, path, il, &f); more; more = outer_frame(p->defs, &f))
        jw_text(w, NULL, frame_name(p, &name, &f));
    buffer_free(&name);
    jw_end(w);
    jw_array(w, "stack_il"); /* beside each frame where it is, null where that is not known */
    for (more = first_frame(p->defs, path, il, &f); more; more = outer_frame(p->defs, &f))
        if (f.il >= 0)
            jw_unsigned(w, NULL, (uint64_t)f.il);
        else
            jw_null(w, NULL);
    jw_end(w);
    if (has_lines(p, path, il)) {
        jw_array(w, "stack_lines");
        for (more = first_frame(p->defs, path, il, &f); more; more = outer_frame(p->defs, &f))
            json_frame_line(p, &f, w);
        jw_end(w);
    }
    if (several)
        jw_unsigned(w, "one_of_callers", several);
    async_callers(p, path, json_caller, &callers);
    if (callers.any)
        jw_end(w);
    buffer_free(&callers.name);
}
