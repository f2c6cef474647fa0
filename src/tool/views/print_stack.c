#include "views/print_stack.h"

#include "base/path.h"

#include "terminal/fit.h"
#include "terminal/terminal.h"
#include "terminal/text.h"

#include "report/demangle.h"
#include "report/logical.h"

#include <string.h>

#define ASYNC_CALLERS 32

int print_stack_choose(struct print_stack *p, uint64_t *top, const struct cli_command *command,
                       const struct args *args, bool json, bool inline_stacks)
{
    bool depth_given = args_given(&command->syntax, args, "depth");

    if (inline_stacks && !json)
        return cli_usage_error(command, "--inline-stacks needs --format json");
    if (depth_given && json && !inline_stacks)
        return cli_usage_error(command, "--depth with --format json needs --inline-stacks");
    if (json && !depth_given)
        p->depth = 0;
    if (json && !args_given(&command->syntax, args, "top"))
        *top = 0;
    naming_choose(&p->naming, command, args, json ? NAMES_FULL : NAMES_SHORT);
    return CLI_OK;
}

int print_stack_names(struct print_stack *p, const struct print_stack *first)
{
    if (p->naming.style != NAMES_SHORT)
        return 0;
    return first && first->names ? names_beside(first->names, p->defs, &p->names)
                                 : names_new(p->defs, NAMES_SHORT, &p->names);
}

const char *print_stack_method(const struct print_stack *p, struct buffer *b, uint32_t method)
{
    const char *name = log_method(p->defs, method)->name;

    if (p->names)
        return names_method(p->names, method);
    return p->naming.style == NAMES_RAW ? name : report_demangle(b, name);
}

const char *print_stack_type(const struct print_stack *p, uint32_t class_number)
{
    return p->names ? names_class(p->names, class_number) : log_class(p->defs, class_number)->name;
}

static const char *frame_name(const struct print_stack *p, struct buffer *b,
                              const struct report_frame *f)
{
    return f->path == LOG_PATH_LOST ? PRINT_LOST_FRAME : print_stack_method(p, b, f->method);
}

/*
 * Calls each() for the callers of the innermost async method that was resumed on a stack, as far as
 * the log tells them: its caller, that one's, and so on.
 */
static void async_callers(const struct print_stack *p, uint32_t path,
                          void (*each)(const struct print_stack *p, const struct report_frame *f,
                                       void *context),
                          void *context)
{
    struct report_caller caller;
    uint32_t resumed;
    struct report_frame f;

    if (!p->async || !report_frame_first(p->defs, path, LOG_NO_IL, &f))
        return;
    while (!report_async_resumed(p->async, f.path))
        if (!report_frame_outer(p->defs, &f))
            return;
    resumed = f.method;
    for (unsigned i = 0;
         i < ASYNC_CALLERS && resumed && report_async_caller(p->async, resumed, &caller); i++) {
        each(p, &(struct report_frame){.method = caller.method, .il = caller.il}, context);
        resumed = caller.method;
    }
}

/* ---- text ---- */

static void print_stack_where(const struct print_stack *p, const struct source_line *line,
                              char text[PRINT_WHERE_SIZE])
{
    int size = snprintf(text, PRINT_WHERE_SIZE, "%.100s:%u",
                        p->wide ? line->file : path_base_name_foreign(line->file), line->line);

    if (line->line_last)
        snprintf(text + size, PRINT_WHERE_SIZE - (size_t)size, "-%u", line->line_last);
}

#define LEAST_NAME "Namespace.Type.Method<T>" /* a frame with less room for its name is narrow */

/* A frame on a narrow terminal: its place stands below it. */
static void print_narrow(const struct print_stack *p, const struct report_frame *f, const char *at,
                         const char *where, FILE *out)
{
    size_t width = terminal_width(out), used = strlen("  ") + strlen(at);
    struct buffer name = BUFFER_INIT, place = BUFFER_INIT;

    fprintf(out, "  %s", at);
    fit_print_name(out, frame_name(p, &name, f), width > used ? width - used : 1);
    putc('\n', out);
    if (*where) {
        fputs("    ", out);
        text_print(out, fit_place(&place, where + (*where == ' '), width - strlen("    ")));
        putc('\n', out);
    }
    buffer_free(&name);
    buffer_free(&place);
}

static void print_frame(const struct print_stack *p, const struct report_frame *f,
                        const char *indent, const char *at, FILE *out)
{
    static const char *const calls[SST_CALL_COUNT] = {
        [SST_CALL_NATIVE] = "  (through native code)",
        [SST_CALL_UNHOOKED] = "  (through code without hooks)",
    };
    const char *filter = f->filter ? " [filter]" : "", *call = calls[report_frame_call(f)];
    size_t used = strlen(indent) + strlen(at);
    struct buffer name = BUFFER_INIT;
    struct source_line line;
    char where[PRINT_WHERE_SIZE] = "";
    bool known = source_line_of(p->lines, f->method, f->il, &line);
    char *url;

    if (known)
        print_stack_where(p, &line, where);
    else if (f->il >= 0)
        print_il_text(f->il, memcpy(where, " ", 2) + 1);
    call = call ? call : "";
    used += text_columns(where) + strlen(filter) + strlen(call) + (known ? strlen(" in ") : 0);
    if (!p->wide && !terminal_fits(out, used + strlen(LEAST_NAME))) {
        print_narrow(p, f, at, where, out);
        return;
    }
    url = known && p->urls ? source_line_url(p->lines, &line) : NULL;
    fprintf(out, "%s%s", indent, at);
    fit_print_name(out, frame_name(p, &name, f), p->wide ? SIZE_MAX : terminal_room(out, used));
    fprintf(out, "%s%s", filter, known ? " in " : where);
    if (known)
        text_elide(out, where, PRINT_WHERE_SIZE);
    text_part(out, " <", url, ">");
    fprintf(out, "%s\n", call);
    memory_free(url);
    buffer_free(&name);
}

struct text_callers {
    const char *indent;
    FILE *out;
};

static void text_caller(const struct print_stack *p, const struct report_frame *f, void *context)
{
    const struct text_callers *c = context;

    print_frame(p, f, c->indent, "started by ", c->out);
}

void print_stack_text(const struct print_stack *p, uint32_t path, int32_t il, const char *indent,
                      FILE *out)
{
    struct text_callers callers = {indent, out};
    struct text_number n;
    struct report_frame f;
    uint64_t left = 0;

    if (!report_frame_first(p->defs, path, il, &f)) {
        const char *none = log_no_frame(p->defs);

        fprintf(out, "%s%s\n", terminal_fits(out, strlen(indent) + strlen(none)) ? indent : "  ",
                none);
        return;
    }
    for (uint64_t i = 0;; i++) {
        if (!p->depth || i < p->depth)
            print_frame(p, &f, indent, "at ", out);
        else
            left++;
        if (!report_frame_outer(p->defs, &f))
            break;
    }
    if (left)
        fprintf(out, "%s... %s more\n", indent, text_count(&n, left));
    async_callers(p, path, text_caller, &callers);
}

/* ---- JSON ---- */

static void line_json(const struct source_line *line, struct json_writer *w)
{
    jw_text(w, "file", line->file);
    jw_unsigned(w, "line", line->line);
    if (line->line_last)
        jw_unsigned(w, "line_last", line->line_last);
}

static void json_frame_line(const struct print_stack *p, const struct report_frame *f,
                            struct json_writer *w)
{
    struct source_line line;

    if (!source_line_of(p->lines, f->method, f->il, &line)) {
        jw_null(w, NULL);
        return;
    }
    jw_object(w, NULL);
    line_json(&line, w);
    jw_end(w);
}

static void json_frame_name(const struct print_stack *p, const struct report_frame *f,
                            struct json_writer *w)
{
    struct buffer name = BUFFER_INIT;

    jw_text(w, NULL, frame_name(p, &name, f));
    buffer_free(&name);
}

static void json_frame_il(const struct print_stack *p, const struct report_frame *f,
                          struct json_writer *w)
{
    (void)p;
    if (f->il >= 0 && il_last(f->il) == il_first(f->il))
        jw_unsigned(w, NULL, (uint64_t)f->il);
    else
        jw_null(w, NULL);
}

/* An array with an element for each frame shown. Returns: how many there are, shown or not. */
static uint64_t json_frames(const struct print_stack *p, uint32_t path, int32_t il, const char *key,
                            void (*write)(const struct print_stack *p, const struct report_frame *f,
                                          struct json_writer *w),
                            struct json_writer *w)
{
    struct report_frame f;
    uint64_t depth = 0;

    jw_array(w, key);
    for (bool more = report_frame_first(p->defs, path, il, &f);
         more && (!p->begin || depth < p->begin); more = report_frame_outer(p->defs, &f))
        if (depth++ < p->depth || !p->depth)
            write(p, &f, w);
    jw_end(w);
    return depth;
}

static bool has_lines(const struct print_stack *p, uint32_t path, int32_t il)
{
    struct source_line line;
    struct report_frame f;
    uint64_t depth = 0;

    for (bool more = report_frame_first(p->defs, path, il, &f);
         more && (!p->depth || depth < p->depth) && (!p->begin || depth < p->begin);
         more = report_frame_outer(p->defs, &f), depth++)
        if (source_line_of(p->lines, f.method, f.il, &line))
            return true;
    return false;
}

static void json_inline(const struct print_stack *p, uint32_t path, int32_t il,
                        struct json_writer *w)
{
    uint64_t depth = json_frames(p, path, il, "stack", json_frame_name, w);

    json_frames(p, path, il, "stack_il", json_frame_il, w); /* null where it is not known */
    if (has_lines(p, path, il))
        json_frames(p, path, il, "stack_lines", json_frame_line, w);
    if (p->depth && depth > p->depth)
        jw_unsigned(w, "depth", depth);
}

static void json_number(const char *key, uint32_t number, struct json_writer *w)
{
    if (number == REPORT_STACK_NONE)
        jw_null(w, key);
    else
        jw_unsigned(w, key, number);
}

struct json_callers {
    struct json_writer *out;
    bool any;
};

static void json_caller(const struct print_stack *p, const struct report_frame *f, void *context)
{
    struct json_callers *c = context;
    uint32_t number;

    if (!c->any)
        jw_array(c->out, "started_by");
    c->any = true;
    if (p->tables) {
        if (report_stacks_frame(p->tables, p->defs, f->method, f->il, &number))
            jw_fail(c->out);
        else
            jw_unsigned(c->out, NULL, number);
        return;
    }
    jw_object(c->out, NULL);
    print_stack_method_json(p, f->method, f->il, c->out);
    jw_end(c->out);
}

void print_stack_json(const struct print_stack *p, uint32_t path, int32_t il, struct json_writer *w)
{
    struct json_callers callers = {w, false};
    uint32_t several = report_logical_ends(p->defs, path), number;

    if (!p->tables)
        json_inline(p, path, il, w);
    else if (report_stacks_add(p->tables, p->defs, path, il, p->begin, &number))
        jw_fail(w);
    else
        json_number("stack", number, w);
    if (p->begin) /* the rest is about callers that it leaves out */
        return;
    if (several)
        jw_unsigned(w, "one_of_callers", several);
    async_callers(p, path, json_caller, &callers);
    if (callers.any)
        jw_end(w);
}

/* ---- tables ---- */

void print_il_json(int32_t il, struct json_writer *w)
{
    jw_unsigned(w, "il", il_first(il));
    if (il_last(il) != il_first(il))
        jw_unsigned(w, "il_last", il_last(il));
}

void print_il_text(int32_t il, char out[PRINT_IL_SIZE])
{
    int size = snprintf(out, PRINT_IL_SIZE, "+IL_%04x", il_first(il));

    if (il_last(il) != il_first(il))
        snprintf(out + size, PRINT_IL_SIZE - (size_t)size, "-%04x", il_last(il));
}

void print_stack_method_json(const struct print_stack *p, uint32_t method, int32_t il,
                             struct json_writer *w)
{
    uint32_t module = log_method(p->defs, method)->module;
    struct buffer name = BUFFER_INIT;
    struct source_line line;
    char *url;

    jw_text(w, "method", print_stack_method(p, &name, method));
    buffer_free(&name);
    if (module)
        jw_text(w, "module", log_module(p->defs, module)->name);
    if (il < 0)
        return;
    if (source_line_of(p->lines, method, il, &line)) {
        line_json(&line, w);
        url = p->urls ? source_line_url(p->lines, &line) : NULL;
        jw_text_if(w, "url", url);
        memory_free(url);
    }
    print_il_json(il, w);
}

static void json_frame(const struct print_stack *p, const struct report_frame *f,
                       struct json_writer *w)
{
#define NAME(name, text) text,
    static const char *const calls[] = {NULL, SST_CALLS(NAME)};
#undef NAME
    const char *call = calls[report_frame_call(f)];

    jw_line_object(w, 2, NULL);
    if (f->path == LOG_PATH_LOST)
        jw_text(w, "method", PRINT_LOST_FRAME);
    else
        print_stack_method_json(p, f->method, f->il, w);
    jw_text_if(w, "call", call);
    if (f->filter)
        jw_bool(w, "filter", true);
    jw_end(w);
}

void print_stack_schema_json(const struct print_stack *p, struct json_writer *w)
{
    jw_unsigned(w, "schema", p->tables ? 2 : 1);
}

void print_stack_tables_json(const struct print_stack *p, struct json_writer *w)
{
    if (!p->tables)
        return;
    jw_line_array(w, 1, "frames");
    for (size_t i = 0; i < report_stacks_frame_count(p->tables); i++) {
        const struct print_stack *log = p;
        const struct log_defs *defs;
        struct report_frame f = report_stacks_frame_at(p->tables, i, &defs);

        while (log->defs != defs)
            log = log->next;
        json_frame(log, &f, w);
    }
    jw_end(w);
    jw_line_array(w, 1, "stacks");
    for (size_t i = 0; i < report_stacks_count(p->tables); i++) {
        const struct report_stack *stack = report_stacks_at(p->tables, i);

        jw_line_object(w, 2, NULL);
        json_number("parent", stack->parent, w);
        jw_unsigned(w, "frame", stack->frame);
        jw_end(w);
    }
    jw_end(w);
}
