#include "views/ranges.h"
#include "views/view_processes.h"
#include "views/view_rows.h"

#include "terminal/text.h"
#include "readers/header.h"

#include <string.h>

#define TYPES_SHOWN 3
#define SITE_INDENT "      "

/* ---- what a row is of ---- */

/* Its process, where there are several. */
static const struct report_process *thread_process(const struct view *v,
                                                   const struct report_thread *thread)
{
    return model_processes(v->read.model)->count > 1 ? view_process(v, thread->recording) : NULL;
}

static const char *thread_text(const struct view *v, const struct model_row *row, struct buffer *b)
{
    struct buffer process = BUFFER_INIT;
    const struct report_thread *thread;

    buffer_clear(b);
    if (!row->what)
        return "(thread not recorded)";
    thread = &v->read.defs->threads[row->what - 1];
    buffer_format(b, "%u", thread->id);
    if (thread->os)
        buffer_format(b, " (os %u)", thread->os);
    if (thread->name)
        buffer_format(b, " %s", thread->name);
    if (thread_process(v, thread))
        buffer_format(b, " of %s", view_process_text(v, thread->recording, &process));
    buffer_free(&process);
    return b->failed ? "?" : b->data;
}

static const char *method_text(const struct view *v, const struct model_row *row, struct buffer *b)
{
    if (!row->what)
        return v->kind == VIEW_METHODS ? report_no_frame(v->read.defs)
               : v->kind == VIEW_LINES ? "(no source line)"
                                       : MODEL_NEAR_NONE;
    return view_place(v, row->place, b);
}

const char *view_row_text(const struct view_rows *r, const struct model_row *row, struct buffer *b)
{
    const struct view *v = r->view;

    switch (r->kind) {
    case VIEW_TYPES:
        return view_class(v, row->what);
    case VIEW_SITES:
        return view_class(v, model_cell(v->read.model, row->cell)->class_number);
    case VIEW_THREADS:
        return thread_text(v, row, b);
    case VIEW_PROCESSES:
        return view_process_text(v, row->what, b);
    case VIEW_MODULES:
        return row->what ? report_module(v->read.defs, row->what - 1)->name
                         : report_no_frame(v->read.defs);
    case VIEW_NAMESPACES:
        if (!row->what)
            return report_no_frame(v->read.defs);
        return *namespaces_text(&r->rows.names, row->what - 1)
                   ? namespaces_text(&r->rows.names, row->what - 1)
                   : "(none)";
    case VIEW_SIZES:
        return range_of_sizes(row->what, b);
    default:
        return method_text(v, row, b);
    }
}

static const char *owner_text(const struct view *v, const struct model_row *row)
{
    static const char *const words[] = {
        [MODEL_FRAMEWORK] = "framework", [MODEL_PACKAGE] = "", [MODEL_OWN] = "own"};

    return row->what ? words[model_own_of_module(v->read.own, row->what - 1)] : "";
}

/* "Doc[], string and 3 more", in b. */
const char *view_types_text(const struct view_rows *r, const struct model_row *row, size_t most,
                            struct buffer *b)
{
    buffer_clear(b);
    for (size_t i = 0; i < row->type_count && i < most; i++)
        buffer_format(b, "%s%s", i ? ", " : "",
                      view_class(r->view, r->rows.types[row->first_type + i].class_number));
    if (row->type_count > most)
        buffer_format(b, " +%zu", row->type_count - most);
    return b->size && !b->failed ? b->data : "";
}

/* ---- text ---- */

enum column {
    COLUMN_BYTES,
    COLUMN_SHARE,
    COLUMN_ALLOCS,
    COLUMN_RANGE,
    COLUMN_TOTAL,
    COLUMN_TOTAL_SHARE,
    COLUMN_BAR,
    COLUMN_HEAP,
    COLUMN_PLACE,
    COLUMN_WHAT,
    COLUMN_TYPES,
    COLUMN_NOTE,
    COLUMN_COUNT
};

static const struct table_column all_columns[COLUMN_COUNT] = {
    VIEW_COLUMNS_OF_AMOUNT(COLUMN_BYTES, COLUMN_SHARE, COLUMN_ALLOCS, 4, COLUMN_RANGE),
    [COLUMN_TOTAL] = {"with calls", TABLE_COUNT, 3, 0},
    [COLUMN_TOTAL_SHARE] = {"share", TABLE_SHARE, 6, 0},
    [COLUMN_BAR] = {"", TABLE_BAR, 7, 30},
    [COLUMN_HEAP] = {"heap", TABLE_TEXT, 0, 6},
    [COLUMN_PLACE] = {"line", TABLE_PLACE, 0, 12},
    [COLUMN_WHAT] = {"", TABLE_NAME, 0, 24},
    [COLUMN_TYPES] = {"types", TABLE_NAME, 1, 12},
    [COLUMN_NOTE] = {"", TABLE_TEXT, 8, 6},
};

/* The columns of a view, and where each of all columns stands among them; -1: it does not. */
struct columns {
    struct table_column shown[COLUMN_COUNT];
    int at[COLUMN_COUNT];
    size_t count;
};

const char *view_row_heading(enum view_kind kind)
{
    return kind == VIEW_SITES                       ? "type, and the stack that makes it"
           : kind == VIEW_LINES || kind == VIEW_OWN ? "method"
           : kind == VIEW_SIZES                     ? "bytes of an object"
                                                    : view_row_word(kind);
}

static void choose_columns(const struct view_rows *r, bool unoptimised, struct columns *c)
{
    bool line = r->kind == VIEW_LINES || r->kind == VIEW_OWN;
    const bool wanted[COLUMN_COUNT] = {
        [COLUMN_BYTES] = true,
        [COLUMN_SHARE] = true,
        [COLUMN_ALLOCS] = true,
        [COLUMN_RANGE] = true,
        [COLUMN_TOTAL] = model_rows_inclusive(&r->rows),
        [COLUMN_TOTAL_SHARE] = model_rows_inclusive(&r->rows) && !line,
        [COLUMN_BAR] = r->kind == VIEW_SIZES,
        [COLUMN_HEAP] = r->kind == VIEW_SIZES,
        [COLUMN_PLACE] = line,
        [COLUMN_WHAT] = true,
        [COLUMN_TYPES] = line,
        [COLUMN_NOTE] = unoptimised || r->kind == VIEW_MODULES,
    };

    c->count = 0;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        c->at[i] = wanted[i] ? (int)c->count : -1;
        if (!wanted[i])
            continue;
        c->shown[c->count] = all_columns[i];
        if (i == COLUMN_WHAT)
            c->shown[c->count].heading = view_row_heading(r->kind);
        c->count++;
    }
}

static void put_amounts(const struct view_rows *r, const struct model_row *row,
                        const struct columns *c, struct table *t)
{
    struct report_row self, total;
    struct text_number n;
    char text[80];

    view_amount(r->view, row->self, &self);
    view_amount(r->view, row->total, &total);
    table_count(t, (size_t)c->at[COLUMN_BYTES], self.bytes);
    table_share(t, (size_t)c->at[COLUMN_SHARE], self.share);
    view_put_objects(t, (size_t)c->at[COLUMN_ALLOCS], &self);
    view_put_range(t, (size_t)c->at[COLUMN_RANGE], &self);
    if (c->at[COLUMN_TOTAL] >= 0)
        table_count(t, (size_t)c->at[COLUMN_TOTAL], total.bytes);
    if (c->at[COLUMN_TOTAL_SHARE] >= 0)
        table_share(t, (size_t)c->at[COLUMN_TOTAL_SHARE], total.share);
    if (c->at[COLUMN_BAR] >= 0)
        table_share(t, (size_t)c->at[COLUMN_BAR], self.share);
    if (c->at[COLUMN_NOTE] >= 0 && self.unoptimised > 0) {
        snprintf(text, sizeof(text), "[%s unoptimised]", text_share(&n, self.unoptimised));
        table_text(t, (size_t)c->at[COLUMN_NOTE], text);
    }
}

void view_put_place(const struct view_rows *r, const struct model_row *row, struct table *t,
                    size_t column)
{
    const struct model_place *place = row->place;
    struct buffer b = BUFFER_INIT, link = BUFFER_INIT;

    if (place && place->file)
        table_place(t, column, view_where(r->view, place->file, place->line, &b),
                    view_link(r->view, place->file, place->line, &link));
    else
        table_place(t, column, model_near_words[model_row_lack(&r->rows, row)], NULL);
    buffer_free(&b);
    buffer_free(&link);
}

static void put_row(const struct view_rows *r, const struct model_row *row, const struct columns *c,
                    struct table *t)
{
    struct buffer b = BUFFER_INIT;

    table_row(t);
    put_amounts(r, row, c, t);
    table_name(t, (size_t)c->at[COLUMN_WHAT], "", view_row_text(r, row, &b));
    if (c->at[COLUMN_PLACE] >= 0)
        view_put_place(r, row, t, (size_t)c->at[COLUMN_PLACE]);
    if (c->at[COLUMN_TYPES] >= 0)
        table_name(t, (size_t)c->at[COLUMN_TYPES], "", view_types_text(r, row, 1, &b));
    if (c->at[COLUMN_HEAP] >= 0)
        table_text(t, (size_t)c->at[COLUMN_HEAP], range_heap((enum sst_heap)row->heap));
    if (r->kind == VIEW_MODULES)
        table_text(t, (size_t)c->at[COLUMN_NOTE], owner_text(r->view, row));
    buffer_free(&b);
}

/* What has no own frame: its share, and how to see it. */
static void print_foreign(const struct view_rows *r, FILE *out)
{
    const struct view *v = r->view;
    struct buffer b = BUFFER_INIT;
    const struct model_row *row = NULL;
    struct text_number share;

    for (size_t i = 0; !row && i < r->rows.count; i++)
        if (model_row_foreign(&r->rows, &r->rows.rows[i]) && r->rows.rows[i].self[MODEL_BYTES] > 0)
            row = &r->rows.rows[i];
    if (!row || v->filter.no_own)
        return;
    buffer_text(&b, MODEL_NEAR_NONE);
    if (!v->question)
        buffer_format(&b, " (%s)", text_share(&share, view_share(v, row->self[MODEL_BYTES])));
    buffer_text(&b, ": made on stacks without own code. `shadowtrace report --view ");
    buffer_format(&b, v->live ? "%s --by tree" : "%s", v->live ? view_word(v) : "tree");
    buffer_format(&b, " --no-own %s", v->how.reading.rows ? "--from-rows " : "");
    view_logs(v, &b);
    buffer_text(&b, "` shows them.");
    if (!b.failed)
        args_print_text(out, b.data, view_look(v, out).width);
    buffer_free(&b);
}

void view_print_shown(const struct view_rows *r, size_t shown, FILE *out)
{
    const struct view *v = r->view;
    const char *what = view_row_words(r->kind, r->rows.count);
    struct text_number a, b, c;
    double bytes = 0;

    for (size_t i = 0; i < shown; i++)
        bytes += r->rows.rows[i].self[MODEL_BYTES];
    if (shown < r->rows.count)
        fprintf(out, "\nShown: %s of %s %s, %s of %s bytes.%s\n", text_count(&a, shown),
                text_count(&b, r->rows.count), what, text_share(&c, view_share(v, bytes)),
                v->filtered ? "the selected" : "all",
                v->top && shown >= v->top ? " `--top 0` shows all." : "");
    else
        fprintf(out, "\nShown: %s %s (all).\n", text_count(&a, shown), what);
    print_foreign(r, out);
}

static int print_text(const struct view_rows *r, FILE *out)
{
    const struct view *v = r->view;
    const struct table_look look = view_look(v, out);
    struct buffer line = BUFFER_INIT;
    size_t shown = model_rows_shown(&r->rows);
    struct table *t = NULL;
    struct columns c;
    bool unoptimised = false;
    int err;

    for (size_t i = 0; i < shown; i++)
        unoptimised = unoptimised || r->rows.rows[i].self[MODEL_UNOPTIMISED] > 0;
    choose_columns(r, unoptimised, &c);
    err = table_new(c.shown, c.count, &t);
    for (size_t i = 0; !err && i < shown; i++)
        put_row(r, &r->rows.rows[i], &c, t);
    if (!err)
        err = table_fit(t, &look);
    if (!err) {
        view_head(v, out);
        if (shown)
            fprintf(out, "\n%s\n", table_head(t, &line));
        for (size_t i = 0; i < shown; i++) {
            fprintf(out, "%s\n", table_line(t, i, &line));
            if (c.at[COLUMN_PLACE] >= 0 && r->rows.rows[i].place)
                view_url(v, r->rows.rows[i].place, strlen(SITE_INDENT), out);
            if (r->kind == VIEW_SITES)
                view_stack_text(v, r->rows.rows[i].what, SITE_INDENT, out);
        }
        view_print_shown(r, shown, out);
        view_foot(v, out);
    }
    table_free(t);
    buffer_free(&line);
    return err;
}

/* ---- JSON ---- */

/* What shrank is below 0. */
static void whole_json(const char *key, double value, struct json_writer *w)
{
    if (value < 0)
        jw_number(w, key, "%.0f", value);
    else
        jw_unsigned(w, key, report_whole(value));
}

static void types_json(const struct view_rows *r, const struct model_row *row,
                       struct json_writer *w)
{
    jw_unsigned(w, "type_count", row->type_count);
    jw_array(w, "types");
    for (size_t i = 0; i < row->type_count && i < TYPES_SHOWN; i++) {
        const struct model_row_type *type = &r->rows.types[row->first_type + i];

        jw_object(w, NULL);
        jw_text(w, "type", view_class(r->view, type->class_number));
        whole_json("allocs", type->allocs, w);
        whole_json("bytes", type->bytes, w);
        jw_end(w);
    }
    jw_end(w);
}

static void site_json(const struct view *v, const struct model_row *row, struct json_writer *w)
{
    const struct report_cell *cell = model_cell(v->read.model, row->cell);
    struct print_stack stack = v->stack;

    jw_text(w, "type", view_class(v, cell->class_number));
    if (cell->path == REPORT_PATH_EMPTY)
        jw_null(w, "method");
    else
        print_stack_method_json(&stack, report_path(v->read.defs, cell->path)->method, cell->il, w);
    if (v->filter.below.count) /* frames that the view has, of the stack's */
        jw_unsigned(w, "depth", v->tree->nodes[row->what].depth);
    print_stack_json(&stack, cell->path, cell->il, w);
}

static void size_json(const struct model_row *row, struct json_writer *w)
{
    jw_text(w, "heap", row->heap ? range_heap((enum sst_heap)row->heap) : "normal");
    jw_unsigned(w, "size_from", row->what ? UINT64_C(1) << row->what : 0);
    jw_unsigned(w, "size_to", (UINT64_C(2) << row->what) - 1);
}

static void thread_json(const struct view *v, const struct model_row *row, struct json_writer *w)
{
    const struct report_process *process;
    const struct report_thread *thread;

    if (!row->what) {
        jw_null(w, "thread");
        return;
    }
    thread = &v->read.defs->threads[row->what - 1];
    jw_unsigned(w, "thread", thread->id);
    if (thread->os)
        jw_unsigned(w, "os", thread->os);
    jw_text_if(w, "name", thread->name);
    process = thread_process(v, thread);
    if (!process)
        return;
    jw_text(w, "process", process->name ? process->name : "");
    jw_unsigned(w, "pid", process->pid);
}

static void place_row_json(const struct view_rows *r, const struct model_row *row,
                           struct json_writer *w)
{
    enum model_near_lack lack = model_row_lack(&r->rows, row);

    if (!row->what)
        jw_null(w, "method");
    else
        view_place_json(r->view, row->place, w);
    if (lack)
        jw_text(w, "no_line", model_near_keys[lack]);
    if (model_row_foreign(&r->rows, row))
        jw_bool(w, "no_own_frame", true);
    types_json(r, row, w);
}

void view_row_what_json(const struct view_rows *r, const struct model_row *row,
                        struct json_writer *w)
{
    const struct view *v = r->view;
    uint32_t module;

    switch (r->kind) {
    case VIEW_SITES:
        site_json(v, row, w);
        break;
    case VIEW_TYPES:
        module = report_class(v->read.defs, row->what)->module;
        jw_text(w, "type", view_class(v, row->what));
        if (module)
            jw_text(w, "module", report_module(v->read.defs, module)->name);
        break;
    case VIEW_THREADS:
        thread_json(v, row, w);
        break;
    case VIEW_PROCESSES:
        view_process_json(v, row->what, w);
        break;
    case VIEW_SIZES:
        size_json(row, w);
        break;
    case VIEW_MODULES:
        if (row->what) {
            jw_text(w, "module", report_module(v->read.defs, row->what - 1)->name);
            jw_bool(w, "own", model_own_of_module(v->read.own, row->what - 1) == MODEL_OWN);
        } else {
            jw_null(w, "module");
        }
        break;
    case VIEW_NAMESPACES:
        if (row->what)
            jw_text(w, "namespace", namespaces_text(&r->rows.names, row->what - 1));
        else
            jw_null(w, "namespace");
        break;
    default:
        place_row_json(r, row, w);
        break;
    }
}

void view_row_json(const struct view_rows *r, const struct model_row *row, struct json_writer *w)
{
    struct report_row self, total;

    view_amount(r->view, row->self, &self);
    jw_line_object(w, 2, NULL);
    view_amounts_json(&self, w);
    if (model_rows_inclusive(&r->rows)) {
        view_amount(r->view, row->total, &total);
        jw_unsigned(w, "total_allocs", total.allocs);
        jw_unsigned(w, "total_bytes", total.bytes);
        view_total_range_json(&total, w);
    }
    jw_number(w, "share", "%.6g", self.share);
    view_row_what_json(r, row, w);
    jw_end(w);
}

static int print_json(const struct view_rows *r, FILE *out)
{
    size_t shown = model_rows_shown(&r->rows);
    struct json_writer w;

    jw_init(&w, out);
    view_begin_json(r->view, r->rows.count, &w);
    jw_line_array(&w, 1, "rows");
    for (size_t i = 0; i < shown; i++)
        view_row_json(r, &r->rows.rows[i], &w);
    jw_end(&w);
    if (r->kind == VIEW_SITES)
        print_stack_tables_json(&r->view->stack, &w);
    jw_end(&w);
    return jw_finish(&w);
}

/* Of those that made nothing there is no row. */
static void print_silent(const struct view_rows *r, FILE *out)
{
    size_t count = model_processes(r->view->read.model)->count;

    if (count > r->rows.count)
        fprintf(out, "  %zu more allocated nothing%s.\n", count - r->rows.count,
                r->view->filtered ? " of it" : "");
}

static int print_processes(const struct view_rows *r, FILE *out)
{
    size_t shown = model_rows_shown(&r->rows);
    int err;

    view_head(r->view, out);
    putc('\n', out);
    err = view_processes_table(r, shown, out);
    if (!err) {
        view_print_shown(r, shown, out);
        print_silent(r, out);
        view_foot(r->view, out);
    }
    return err;
}

int view_flat(struct view *v, FILE *out)
{
    struct view_rows rows;
    int err = view_rows_init(&rows, v, v->kind);

    if (!err)
        err = v->format == READING_JSON   ? print_json(&rows, out)
              : v->kind == VIEW_PROCESSES ? print_processes(&rows, out)
                                          : print_text(&rows, out);
    view_rows_fini(&rows);
    return err;
}
