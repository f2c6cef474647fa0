/* The views whose rows are of one key each: what a row is of, in text and in JSON. */
#include "views/column.h"
#include "views/print_folded.h"
#include "views/ranges.h"
#include "views/view_processes.h"

#include "terminal/text.h"
#include "readers/header.h"

#include <string.h>

#define TYPES_SHOWN 3
#define ALL_ONCE    0.995
#define SOME_ONCE   0.1
#define SITE_INDENT "      "

/* ---- what a row is of ---- */

/* Its process, where there are several. */
static const struct report_process *thread_process(const struct view *v,
                                                   const struct log_thread_def *thread)
{
    return model_processes(v->read.model)->count > 1 ? view_process(v, thread->recording) : NULL;
}

static const char *thread_text(const struct view *v, const struct model_row *row, struct buffer *b)
{
    struct buffer process = BUFFER_INIT;
    const struct log_thread_def *thread;

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

static bool thread_value(struct view_row *row, struct column_value *out)
{
    out->text = thread_text(row->of->view, row->row, &out->made);
    return true;
}

bool view_value_type(struct view_row *row, struct column_value *out)
{
    out->text = view_class(row->of->view, row->row->what);
    return true;
}

static bool type_module(struct view_row *row, struct column_value *out)
{
    const struct log_defs *d = row->of->view->read.defs;
    uint32_t module = log_class(d, row->row->what)->module;

    out->text = log_module(d, module)->name;
    return module != 0;
}

static bool class_value(struct view_row *row, struct column_value *out)
{
    out->text = view_class(row->of->view, row->row->class_number);
    return true;
}

static bool module_value(struct view_row *row, struct column_value *out)
{
    const struct log_defs *d = row->of->view->read.defs;

    out->text = row->row->what ? log_module(d, row->row->what - 1)->name : log_no_frame(d);
    return true;
}

static bool namespace_value(struct view_row *row, struct column_value *out)
{
    const struct namespaces *names = &row->of->rows.names;

    out->text = log_no_frame(row->of->view->read.defs);
    if (row->row->what)
        out->text = namespaces_text(names, row->row->what - 1);
    if (!*out->text)
        out->text = "(none)";
    return true;
}

static bool place_value(struct view_row *row, struct column_value *out)
{
    const struct view *v = row->of->view;

    if (row->row->what)
        out->text = view_place(v, row->row->place, &out->made);
    else if (row->of->rows.options.key == MODEL_BY_METHOD)
        out->text = log_no_frame(v->read.defs);
    else if (row->of->rows.options.key != MODEL_BY_OWN)
        out->text = "(no source line)";
    else
        out->text = MODEL_NEAR_NONE;
    return true;
}

static bool heap_value(struct view_row *row, struct column_value *out)
{
    out->text = range_heap((enum sst_heap)row->row->heap);
    return true;
}

static bool size_value(struct view_row *row, struct column_value *out)
{
    out->text = range_of_sizes(row->row->what, &out->made);
    return true;
}

/* A row's line, or why it has none. */
void view_find_line(const struct view_rows *r, const struct model_row *row,
                    struct column_value *out)
{
    const struct model_place *place = row->place;

    if (place && place->file) {
        out->text = view_where(r->view, place, &out->made);
        out->link = view_link(r->view, place, &out->beside);
    } else {
        out->text = model_near_words[model_row_lack(&r->rows, row)];
    }
}

bool view_value_line(struct view_row *row, struct column_value *out)
{
    view_find_line(row->of, row->row, out);
    return true;
}

/* ---- how much ---- */

bool view_value_bytes(struct view_row *row, struct column_value *out)
{
    out->count = row->self.bytes;
    return true;
}

bool view_value_share(struct view_row *row, struct column_value *out)
{
    out->number = row->self.share;
    return true;
}

bool view_value_objects(struct view_row *row, struct column_value *out)
{
    out->count = row->self.allocs;
    out->text = row->self.mixed ? "-" : NULL;
    return true;
}

bool view_value_range(struct view_row *row, struct column_value *out)
{
    out->text = view_range_text(&row->self, &out->made);
    return out->text != NULL;
}

void view_amount_members(struct view_row *row, struct json_writer *w)
{
    view_amounts_json(&row->self, w);
}

static bool is_inclusive(const struct view_rows *r)
{
    return model_rows_inclusive(&r->rows);
}

static bool has_total_share(const struct view_rows *r)
{
    return is_inclusive(r) && r->rows.options.key != MODEL_BY_LINE &&
           r->rows.options.key != MODEL_BY_OWN;
}

static bool total_bytes(struct view_row *row, struct column_value *out)
{
    out->count = row->total.bytes;
    return true;
}

static bool total_share(struct view_row *row, struct column_value *out)
{
    out->number = row->total.share;
    return true;
}

static void total_members(struct view_row *row, struct json_writer *w)
{
    jw_unsigned(w, "total_allocs", row->total.allocs);
    jw_unsigned(w, "total_bytes", row->total.bytes);
    view_total_range_json(&row->total, w);
}

static bool unoptimised_value(struct view_row *row, struct column_value *out)
{
    struct text_number n;

    buffer_format(&out->made, "[%s unoptimised]", text_share(&n, row->self.unoptimised));
    out->text = out->made.failed ? "" : out->made.data;
    return row->self.unoptimised > 0;
}

/* A row whose bytes are made once, or a part of them that is worth to know. */
bool view_value_once(struct view_row *row, struct column_value *out)
{
    double once = row->self.once;
    struct text_number n;

    if (once >= ALL_ONCE)
        out->text = "[once]";
    else if (once >= SOME_ONCE)
        buffer_format(&out->made, "[%s once]", text_share(&n, once));
    if (!out->text)
        out->text = out->made.failed || !out->made.size ? "" : out->made.data;
    return once >= SOME_ONCE;
}

static const struct column amount_columns[] = {
    VIEW_AMOUNTS(4),
    {.json = total_members, .shown = is_inclusive},
    COLUMN("with calls", COUNT, total_bytes, .rank = 3, .shown = is_inclusive),
    COLUMN("share", SHARE, total_share, .rank = 6, .shown = has_total_share),
    VIEW_SHARE_MEMBER,
};
const struct columns view_amount_columns = COLUMNS(amount_columns);

static const struct column note_columns[] = {
    COLUMN("", TEXT, unoptimised_value, .rank = TABLE_IF_FILLED + 8, .least = 6),
    VIEW_ONCE,
};
static const struct columns notes = COLUMNS(note_columns), none = {NULL, 0};

static bool owner_value(struct view_row *row, struct column_value *out)
{
    static const char *const words[] = {
        [MODEL_FRAMEWORK] = "framework", [MODEL_PACKAGE] = "", [MODEL_OWN] = "own"};
    const struct model_own *own = row->of->view->read.own;

    out->text = row->row->what ? words[model_own_of_module(own, row->row->what - 1)] : "";
    return true;
}

/* "Doc[], string and 3 more", in b. */
static const char *types_text(const struct view_rows *r, const struct model_row *row, size_t most,
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

bool view_value_types(struct view_row *row, struct column_value *out)
{
    out->text = types_text(row->of, row->row, 1, &out->made);
    return true;
}

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

static void site_json(struct view_row *at, struct json_writer *w)
{
    const struct view *v = at->of->view;
    const struct model_row *row = at->row;
    const struct report_cell *cell = model_cell(v->read.model, row->cell);
    struct print_stack stack = v->stack;

    jw_text(w, "type", view_class(v, cell->class_number));
    if (cell->path == LOG_PATH_EMPTY)
        jw_null(w, "method");
    else
        print_stack_method_json(&stack, log_call_path(v->read.defs, cell->path)->method, cell->il,
                                w);
    stack.begin = row->depth;
    print_stack_json(&stack, cell->path, cell->il, w);
}

static void size_json(struct view_row *at, struct json_writer *w)
{
    const struct model_row *row = at->row;

    jw_text(w, "heap", row->heap ? range_heap((enum sst_heap)row->heap) : "normal");
    jw_unsigned(w, "size_from", row->what ? UINT64_C(1) << row->what : 0);
    jw_unsigned(w, "size_to", (UINT64_C(2) << row->what) - 1);
}

static void thread_json(struct view_row *at, struct json_writer *w)
{
    const struct view *v = at->of->view;
    const struct model_row *row = at->row;
    const struct report_process *process;
    const struct log_thread_def *thread;

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

static void place_members(struct view_row *at, struct json_writer *w)
{
    const struct view_rows *r = at->of;
    enum model_near_lack lack = model_row_lack(&r->rows, at->row);
    const struct model_row_passed *passed = model_row_passed(&r->rows, at->row);

    if (!at->row->what)
        jw_null(w, "method");
    else
        view_place_json(r->view, at->row->place, w);
    if (lack)
        jw_text(w, "no_line", model_near_keys[lack]);
    if (passed) {
        jw_object(w, "generated");
        view_place_json(r->view, passed->place, w);
        jw_end(w);
    }
    if (model_row_foreign(&r->rows, at->row))
        jw_bool(w, "no_own_frame", true);
}

static void place_json(struct view_row *at, struct json_writer *w)
{
    place_members(at, w);
    if (!at->of->view->compared)
        types_json(at->of, at->row, w);
}

static void module_json(struct view_row *row, struct json_writer *w)
{
    const struct view *v = row->of->view;
    uint32_t module = row->row->what;

    if (!module) {
        jw_null(w, "module");
        return;
    }
    jw_text(w, "module", log_module(v->read.defs, module - 1)->name);
    jw_bool(w, "own", model_own_of_module(v->read.own, module - 1) == MODEL_OWN);
}

static void namespace_json(struct view_row *row, struct json_writer *w)
{
    if (row->row->what)
        jw_text(w, "namespace", namespaces_text(&row->of->rows.names, row->row->what - 1));
    else
        jw_null(w, "namespace");
}

/* What has no own frame: its share, and how to see it. */
static void print_foreign(const struct view_rows *r, FILE *out)
{
    const struct view *v = r->view;
    struct buffer b = BUFFER_INIT;
    const struct model_row *row = NULL;
    struct text_number share;

    for (size_t i = 0; !row && i < r->rows.count; i++)
        if (model_row_foreign(&r->rows, &r->rows.rows[i]) &&
            model_row_self(&r->rows, &r->rows.rows[i], MODEL_BYTES) > 0)
            row = &r->rows.rows[i];
    if (!row || v->filter.no_own)
        return;
    buffer_text(&b, MODEL_NEAR_NONE);
    if (!v->question)
        buffer_format(
            &b, " (%s)",
            text_share(&share, view_share(v, model_row_self(&r->rows, row, MODEL_BYTES))));
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
        bytes += model_row_self(&r->rows, &r->rows.rows[i], MODEL_BYTES);
    if (shown < r->rows.count)
        fprintf(out, "\nShown: %s of %s %s, %s of %s bytes.%s\n", text_count(&a, shown),
                text_count(&b, r->rows.count), what, text_share(&c, view_share(v, bytes)),
                v->filtered ? "the selected" : "all",
                v->top && shown >= v->top ? " `--top 0` shows all." : "");
    else
        fprintf(out, "\nShown: %s %s (all).\n", text_count(&a, shown), what);
    print_foreign(r, out);
}

/* ---- calls, if the log has them ---- */

static bool has_calls(const struct view_rows *r)
{
    const struct report_call_times *calls = model_calls(r->view->read.model);

    for (uint32_t method = 0; calls && method < calls->count; method++)
        if (report_call_time_of(calls, method))
            return true;
    return false;
}

/* NULL: no call of the row's method is in the log. */
static const struct report_call_time *calls_of(const struct view_row *row)
{
    const struct report_call_times *calls = model_calls(row->of->view->read.model);

    return calls && row->row->what ? report_call_time_of(calls, row->row->what - 1) : NULL;
}

static bool calls_value(struct view_row *row, struct column_value *out)
{
    const struct report_call_time *time = calls_of(row);

    out->count = time ? time->calls : 0;
    return time;
}

/* number: whether it is in the method alone. */
static bool calls_ns(struct view_row *row, struct column_value *out)
{
    const struct report_call_time *time = calls_of(row);

    if (time)
        out->number = (double)(row->column->number ? time->self_ns : time->total_ns);
    return time;
}

static void calls_members(struct view_row *row, struct json_writer *w)
{
    const struct report_call_time *time = calls_of(row);

    if (!time)
        return;
    jw_unsigned(w, "calls", time->calls);
    jw_unsigned(w, "total_ns", time->total_ns);
    jw_unsigned(w, "self_ns", time->self_ns);
}

/* ---- the views ---- */

/* A name, and what JSON says of it. */
#define NAME_COLUMN(title, of, members) COLUMN(title, NAME, of, .least = 24, .json = (members))

static const struct column site_columns[] = {
    NAME_COLUMN("type, and the stack that makes it", class_value, site_json)};
static const struct column type_columns[] = {
    COLUMN("type", NAME, view_value_type, .key = "type", .least = 24),
    {.key = "module", .kind = TABLE_NAME, .value = type_module}};
static const struct column method_columns[] = {
    COLUMN("calls", COUNT, calls_value, .rank = 5, .shown = has_calls),
    COLUMN("total", TIME, calls_ns, .rank = 5, .shown = has_calls),
    COLUMN("self", TIME, calls_ns, .number = 1, .rank = 5, .shown = has_calls),
    NAME_COLUMN("method", place_value, place_json),
    {.json = calls_members}};
static const struct column line_columns[] = {
    COLUMN("line", PLACE, view_value_line, .least = 12),
    NAME_COLUMN("method", place_value, place_json),
    COLUMN("types", NAME, view_value_types, .rank = 1, .least = 12)};
static const struct column line_type_columns[] = {
    COLUMN("line", PLACE, view_value_line, .least = 12),
    COLUMN("method", NAME, place_value, .least = 24),
    COLUMN("type", NAME, class_value, .key = "type", .least = 16),
    {.json = place_members}};
static const struct column module_columns[] = {NAME_COLUMN("module", module_value, module_json)};
static const struct column owner_columns[] = {COLUMN("", TEXT, owner_value, .rank = 8, .least = 6)};
static const struct column namespace_columns[] = {
    NAME_COLUMN("namespace", namespace_value, namespace_json)};
static const struct column thread_columns[] = {NAME_COLUMN("thread", thread_value, thread_json)};
static const struct column size_columns[] = {
    COLUMN("", BAR, view_value_share, .rank = 7, .least = 30),
    COLUMN("heap", TEXT, heap_value, .least = 6),
    NAME_COLUMN("bytes of an object", size_value, size_json)};

void view_print_passed(const struct view_rows *r, const struct model_row *row, size_t indent,
                       FILE *out)
{
    const struct model_row_passed *passed = model_row_passed(&r->rows, row);
    struct buffer where = BUFFER_INIT, name = BUFFER_INIT;

    if (!passed)
        return;
    fprintf(out, "%*sin generated code: ", (int)indent, "");
    text_print(out, view_place(r->view, passed->place, &name));
    text_print(out, passed->place->file ? " in " : "");
    text_print(out, view_where(r->view, passed->place, &where));
    putc('\n', out);
    buffer_free(&where);
    buffer_free(&name);
}

static void below_line(const struct view_rows *r, const struct model_row *row, FILE *out)
{
    view_print_passed(r, row, strlen(SITE_INDENT), out);
    if (row->place)
        view_url(r->view, row->place, strlen(SITE_INDENT), out);
}

static void below_site(const struct view_rows *r, const struct model_row *row, FILE *out)
{
    const struct view *v = r->view;

    if (v->lenient && !row->depth) /* by key: every frame, and who called async methods */
        print_stack_text(&v->stack, row->what, row->il, SITE_INDENT, out);
    else
        view_stack_text(v, row, SITE_INDENT, out);
}

/* What a row is of, in which columns, and what is below each. */
struct form {
    struct columns what;
    const struct columns *notes, *amounts; /* NULL: as usual */
    view_below *below;
};

static const struct columns owner_of_module = COLUMNS(owner_columns);

#define FORM(name, ...) \
    static const struct form form_##name = {.what = COLUMNS(name##_columns), __VA_ARGS__}
FORM(site, .below = below_site);
FORM(type, .below = NULL);
FORM(method, .below = NULL);
FORM(line, .below = below_line);
FORM(line_type, .below = below_line);
FORM(module, .notes = &owner_of_module);
FORM(namespace, .below = NULL);
FORM(thread, .below = NULL);
FORM(size, .below = NULL);
#undef FORM
static const struct form form_process = {.notes = &none, .amounts = &view_process_columns},
                         form_none = {.notes = NULL}; /* the view has its own */

#define VIEW_FORM(name, word, by, row, question, key, form, ...) &form_##form,
static const struct form *const forms[] = {VIEWS(VIEW_FORM)};
#undef VIEW_FORM

int view_rows_init(struct view_rows *r, const struct view *v, enum view_kind kind)
{
    const enum report_live_question q = v->question;
    const struct form *form = forms[kind];
    const struct model_rows_options options = {.key = view_key(kind),
                                               .sort = v->sort,
                                               .top = v->top,
                                               .min_bytes = v->min_bytes,
                                               .min_share = v->min_share,
                                               .signed_bytes = q == REPORT_LIVE_GROWN,
                                               .no_totals = v->compared || q != REPORT_LIVE_NONE,
                                               .of_cells = q == REPORT_LIVE_LIFETIMES ||
                                                           q == REPORT_LIVE_GROWN};

    *r = (struct view_rows){.view = v, .kind = kind, .below = form->below};
    if (q)
        r->columns[VIEW_COLUMNS_AMOUNTS] = &view_live_amount_columns;
    else if (form->amounts)
        r->columns[VIEW_COLUMNS_AMOUNTS] = form->amounts;
    else
        r->columns[VIEW_COLUMNS_AMOUNTS] = &view_amount_columns;
    r->columns[VIEW_COLUMNS_WHAT] = &form->what;
    if (!q)
        r->columns[VIEW_COLUMNS_NOTES] = form->notes ? form->notes : &notes;
    return model_rows_init(&r->rows, v->tree, &options);
}

void view_rows_fini(struct view_rows *r)
{
    model_rows_fini(&r->rows);
    memory_free_all(r->deaths, r->grows);
}

int view_rows_text(const struct view_rows *r, size_t shown, FILE *out)
{
    struct columns_text columns;
    int err = columns_fit(&columns, r, shown, out);

    if (!err) {
        view_head(r->view, out);
        if (r->grows)
            view_live_growing(r, out);
        if (shown)
            putc('\n', out);
        columns_print(&columns, out);
    }
    columns_free(&columns);
    return err;
}

int view_rows_json(const struct view_rows *r, size_t shown, FILE *out)
{
    const struct view *v = r->view;
    struct json_writer w;

    jw_init(&w, out);
    view_begin_json(v, r->rows.count, &w);
    columns_json(r, "rows", shown, &w);
    if (r->kind == VIEW_SITES)
        print_stack_tables_json(&v->stack, &w);
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

int view_flat(struct view *v, FILE *out)
{
    struct view_rows rows;
    int err = view_rows_init(&rows, v, v->kind);
    size_t shown = model_rows_shown(&rows.rows);

    if (!err && v->question)
        err = view_live_beside(&rows);
    if (!err && v->format == READING_FOLDED) {
        err = print_folded_sites(v->read.model, &rows.rows, shown, out);
    } else if (!err && v->format == READING_JSON) {
        err = view_rows_json(&rows, shown, out);
    } else if (!err) {
        err = v->kind == VIEW_PROCESSES ? view_processes_text(&rows, shown, true, out)
                                        : view_rows_text(&rows, shown, out);
        if (!err) {
            view_print_shown(&rows, shown, out);
            if (v->kind == VIEW_PROCESSES)
                print_silent(&rows, out);
            view_foot(v, out);
        }
    }
    view_rows_fini(&rows);
    return err;
}
