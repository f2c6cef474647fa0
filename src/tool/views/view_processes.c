#include "views/view_processes.h"

#include "base/memory.h"
#include "terminal/text.h"

#include <errno.h>

const struct report_process *view_process(const struct view *v, uint32_t number)
{
    const struct report_processes *all = model_processes(v->read.model);

    return number && number <= all->count ? &all->process[number - 1] : NULL;
}

const char *view_process_text(const struct view *v, uint32_t number, struct buffer *b)
{
    const struct report_process *one = view_process(v, number);

    buffer_clear(b);
    if (!one)
        return "(a log without its beginning)";
    buffer_format(b, "%s (pid %llu)", one->name ? one->name : "?", (unsigned long long)one->pid);
    return b->failed ? "?" : b->data;
}

/* ---- which started which ---- */

static void parent_json(const struct view *v, uint32_t number, struct json_writer *w)
{
    const struct report_processes *all = model_processes(v->read.model);
    size_t between, parent = report_process_parent(all, number - 1, &between);

    if (parent == REPORT_PROCESS_NONE)
        return;
    jw_unsigned(w, "parent", all->process[parent].pid);
    if (!between)
        return;
    jw_array(w, "through");
    while (between-- > 0)
        jw_text(w, NULL, report_process_between(&all->process[number - 1], between));
    jw_end(w);
}

/* ---- a process ---- */

/* ns behind the beginning of the first; of the same machine, or it means nothing. */
static uint64_t began(const struct view *v, const struct report_process *one)
{
    uint64_t first = report_processes_first(model_processes(v->read.model));

    return one->clock > first ? one->clock - first : 0;
}

void view_process_json(const struct view *v, uint32_t number, struct json_writer *w)
{
    const struct report_process *one = view_process(v, number);

    if (!one) {
        jw_null(w, "process");
        return;
    }
    jw_text(w, "process", one->name ? one->name : "");
    jw_unsigned(w, "pid", one->pid);
    jw_text_if(w, "command", one->command);
    jw_text_if(w, "started", one->started);
    parent_json(v, number, w);
    jw_unsigned(w, "began_ns", began(v, one));
    if (one->ran)
        jw_unsigned(w, "ran_ns", one->ran);
}

enum column { BYTES, SHARE, ALLOCS, RANGE, BEGAN, RAN, PROCESS, COMMAND, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    VIEW_COLUMNS_OF_AMOUNT(BYTES, SHARE, ALLOCS, 3, RANGE),
    [BEGAN] = {"began at", TABLE_TIME, 4, 0},
    [RAN] = {"ran for", TABLE_TIME, 5, 0},
    [PROCESS] = {"process", TABLE_NAME, 0, 30},
    [COMMAND] = {"command", TABLE_TEXT, 1, 20},
};

/* Rows, and what they come from, which may have made nothing itself; places are row->what - 1. */
struct family {
    const struct model_row **rows; /* by place; NULL: it has no row */
    uint32_t *order;
    size_t asked;
    const struct model_row *unknown; /* of logs without a header; NULL: there are none */
    struct forest forest;
};

static int family_make(struct family *f, const struct view_rows *r, size_t shown)
{
    const struct report_processes *all = model_processes(r->view->read.model);

    *f = (struct family){
        .rows = memory_zalloc(all->count + 1, sizeof(*f->rows)),
        .order = memory_alloc((shown + 1) * sizeof(*f->order)),
    };
    if (!f->rows || !f->order)
        return -ENOMEM;
    for (size_t i = 0; i < shown; i++) {
        uint32_t number = r->rows.rows[i].what;

        if (!number || number > all->count) {
            f->unknown = &r->rows.rows[i];
            continue;
        }
        f->rows[number - 1] = &r->rows.rows[i];
        f->order[f->asked++] = number - 1;
    }
    return report_processes_forest(all, f->order, f->asked, &f->forest);
}

static void family_fini(struct family *f)
{
    memory_free_all(f->rows, f->order);
    forest_fini(&f->forest);
}

/* "  sh > ": how deep it lies, and through whom. */
static void put_before(const struct view *v, uint32_t number, uint32_t depth, struct buffer *b)
{
    const struct report_processes *all = model_processes(v->read.model);
    size_t between = 0;

    for (uint32_t i = 0; i < depth; i++)
        buffer_text(b, "  ");
    if (!depth || report_process_parent(all, number - 1, &between) == REPORT_PROCESS_NONE)
        return;
    while (between-- > 0)
        buffer_format(b, "%s > ", report_process_between(&all->process[number - 1], between));
}

/* row: NULL: it made nothing, and is here for those below it. */
static void put_row(const struct view_rows *r, const struct model_row *row, uint32_t number,
                    uint32_t depth, struct table *t)
{
    static const double nothing[MODEL_WEIGHTS];
    const struct report_process *one = view_process(r->view, number);
    struct buffer before = BUFFER_INIT, b = BUFFER_INIT;
    struct report_row self;

    view_amount(r->view, row ? row->self : nothing, &self);
    table_row(t);
    table_count(t, BYTES, self.bytes);
    table_share(t, SHARE, self.share);
    view_put_objects(t, ALLOCS, &self);
    view_put_range(t, RANGE, &self);
    if (one) {
        table_time(t, BEGAN, (double)began(r->view, one));
        if (one->ran)
            table_time(t, RAN, (double)one->ran);
        else
            table_text(t, RAN, "no end");
        table_text(t, COMMAND, one->command);
        put_before(r->view, number, depth, &before);
    }
    table_name(t, PROCESS, before.data ? before.data : "", view_process_text(r->view, number, &b));
    buffer_free(&before);
    buffer_free(&b);
}

int view_processes_table(const struct view_rows *r, size_t shown, FILE *out)
{
    const struct table_look look = view_look(r->view, out);
    struct table *t = NULL;
    struct family f;
    int err = family_make(&f, r, shown);

    if (!err)
        err = table_new(columns, COLUMNS, &t);
    for (size_t i = 0; !err && i < f.forest.count; i++) {
        const struct forest_row *one = &f.forest.rows[i];

        put_row(r, f.rows[one->item], one->item + 1, one->depth, t);
    }
    if (!err && f.unknown)
        put_row(r, f.unknown, 0, 0, t);
    family_fini(&f);
    if (!err)
        err = table_fit(t, &look);
    if (!err)
        table_print(t, out);
    table_free(t);
    return err;
}
