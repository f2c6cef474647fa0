#include "views/print_report.h"

#include "command/print_complete.h"
#include "command/print_sampling.h"
#include "command/reading.h"
#include "terminal/fit.h"
#include "terminal/terminal.h"
#include "terminal/text.h"
#include "views/view.h"

#include <string.h>

const char *const print_report_keys[] = {"site",   "type", "method", "thread",
                                         "module", "line", NULL};

const char *print_report_heading(enum report_by by)
{
    return by == REPORT_BY_SITE   ? "type, and the stack that allocates it"
           : by == REPORT_BY_LINE ? "line, method, type"
                                  : print_report_keys[by];
}

/* Text. */

#define LEAST_NAMES 16 /* columns of method and type; with less they stand below their line */

/* "File.cs:12  Method  Type" */
static void print_line(const struct print_report *p, const struct report_row *row, size_t room,
                       FILE *out)
{
    const struct line_row *at = line_rows_at(p->rows, row->line);
    const char *type = print_stack_type(&p->stack, row->class_number);
    struct buffer name = BUFFER_INIT;
    char where[PRINT_WHERE_SIZE] = "(no source line)";
    size_t half;
    bool narrow;

    if (at && at->line.file)
        print_stack_where(&p->stack, &at->line, where);
    narrow = !p->stack.wide && room < text_columns(where) + LEAST_NAMES;
    if (narrow) {
        text_print(out, fit_place(&name, where, room));
        fputs("\n", out);
        where[0] = '\0';
    }
    room = p->stack.wide                    ? SIZE_MAX / 2
           : room > text_columns(where) + 4 ? room - text_columns(where) - 4
                                            : 8;
    half = text_columns(type) < room / 2 ? text_columns(type) : room / 2;
    if (!narrow && at && at->line.file)
        print_stack_link(&p->stack, &at->line, where, out);
    else
        fputs(where, out);
    if (at) {
        fputs("  ", out);
        fit_print_name(out, print_stack_method(&p->stack, &name, at->method), room - half);
    }
    fputs("  ", out);
    fit_print_name(out, type, p->stack.wide ? SIZE_MAX : half);
    buffer_free(&name);
}

void print_report_what(const struct print_report *p, const struct report_row *row, size_t room,
                       FILE *out)
{
    const struct report_defs *d = report_sites_defs(p->sites);
    const struct report_thread *thread;
    struct buffer name = BUFFER_INIT;

    switch (p->by) {
    case REPORT_BY_SITE:
    case REPORT_BY_TYPE:
        fit_print_name(out, print_stack_type(&p->stack, row->class_number), room);
        break;
    case REPORT_BY_METHOD:
        fit_print_name(
            out, row->path ? print_stack_method(&p->stack, &name, row->method) : report_no_frame(d),
            room);
        buffer_free(&name);
        break;
    case REPORT_BY_LINE:
        print_line(p, row, room, out);
        break;
    case REPORT_BY_MODULE:
        text_elide(out, row->path ? report_module(d, row->module)->name : report_no_frame(d), room);
        break;
    case REPORT_BY_THREAD:
        if (!row->thread) {
            fputs("(thread not recorded)", out);
            break;
        }
        thread = &d->threads[row->thread - 1];
        fprintf(out, thread->os ? "%u (os %u)%s" : "%u", thread->id, thread->os,
                thread->name ? " " : "");
        if (thread->name)
            text_elide(out, thread->name, room > 30 ? room - 30 : 0);
        break;
    }
}

/* JSON. */

static void json_line_row(const struct print_report *p, const struct report_row *row,
                          struct json_writer *w)
{
    const struct report_defs *d = report_sites_defs(p->sites);
    const struct line_row *at = line_rows_at(p->rows, row->line);
    struct buffer name = BUFFER_INIT;

    jw_text(w, "type", print_stack_type(&p->stack, row->class_number));
    if (at) {
        jw_text(w, "method", print_stack_method(&p->stack, &name, at->method));
        jw_text(w, "module", report_module(d, at->line.module)->name);
        if (at->line.file)
            print_stack_line_json(&p->stack, &at->line, w);
    } else {
        jw_null(w, "method");
    }
    buffer_free(&name);
}

static void json_method(const struct print_report *p, const struct report_row *row,
                        struct json_writer *w)
{
    if (row->path == REPORT_PATH_EMPTY)
        jw_null(w, "method");
    else
        print_stack_method_json(&p->stack, row->method, row->il, w);
}

void print_report_what_json(const struct print_report *p, const struct report_row *row,
                            struct json_writer *w)
{
    const struct report_defs *d = report_sites_defs(p->sites);
    const struct report_thread *thread;

    switch (p->by) {
    case REPORT_BY_SITE:
        jw_text(w, "type", print_stack_type(&p->stack, row->class_number));
        json_method(p, row, w);
        print_stack_json(&p->stack, row->path, row->il, w);
        break;
    case REPORT_BY_TYPE:
        jw_text(w, "type", print_stack_type(&p->stack, row->class_number));
        if (row->module)
            jw_text(w, "module", report_module(d, row->module)->name);
        break;
    case REPORT_BY_METHOD:
        json_method(p, row, w);
        break;
    case REPORT_BY_LINE:
        json_line_row(p, row, w);
        break;
    case REPORT_BY_MODULE:
        if (row->path == REPORT_PATH_EMPTY)
            jw_null(w, "module");
        else
            jw_text(w, "module", report_module(d, row->module)->name);
        break;
    case REPORT_BY_THREAD:
        if (!row->thread) {
            jw_null(w, "thread");
            break;
        }
        thread = &d->threads[row->thread - 1];
        jw_unsigned(w, "thread", thread->id);
        if (thread->os)
            jw_unsigned(w, "os", thread->os);
        jw_text_if(w, "name", thread->name);
        break;
    }
}
