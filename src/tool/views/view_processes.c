#include "views/column.h"
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

/* ---- columns ---- */

static void process_members(struct view_row *row, struct json_writer *w)
{
    const struct view *v = row->of->view;
    const struct report_process *one = view_process(v, row->row->what);

    if (!one) {
        jw_null(w, "process");
        return;
    }
    jw_text(w, "process", one->name ? one->name : "");
    jw_unsigned(w, "pid", one->pid);
    jw_text_if(w, "command", one->command);
    jw_text_if(w, "started", one->started);
    parent_json(v, row->row->what, w);
    jw_unsigned(w, "began_ns", began(v, one));
    if (one->ran)
        jw_unsigned(w, "ran_ns", one->ran);
}

static bool began_value(struct view_row *row, struct column_value *out)
{
    const struct report_process *one = view_process(row->of->view, row->row->what);

    out->number = one ? (double)began(row->of->view, one) : 0;
    return one != NULL;
}

static bool ran_value(struct view_row *row, struct column_value *out)
{
    const struct report_process *one = view_process(row->of->view, row->row->what);

    out->number = one ? (double)one->ran : 0;
    out->text = one && !one->ran ? "no end" : NULL;
    return one != NULL;
}

static bool command_value(struct view_row *row, struct column_value *out)
{
    const struct report_process *one = view_process(row->of->view, row->row->what);

    out->text = one ? one->command : NULL;
    return one != NULL;
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

static bool process_value(struct view_row *row, struct column_value *out)
{
    const struct view_rows *r = row->of;
    uint32_t number = row->row->what;

    out->text = view_process_text(r->view, number, &out->made);
    if (r->depths && view_process(r->view, number)) {
        put_before(r->view, number, r->depths[row->number], &out->beside);
        out->before = out->beside.data;
    }
    return true;
}

static const struct column columns[] = {
    VIEW_AMOUNTS(3),
    VIEW_SHARE_MEMBER,
    COLUMN("began at", TIME, began_value, .rank = 4),
    COLUMN("ran for", TIME, ran_value, .rank = 5),
    COLUMN("process", NAME, process_value, .least = 30, .json = process_members),
    COLUMN("command", TEXT, command_value, .rank = 1, .least = 20),
};
const struct columns view_process_columns = COLUMNS(columns);

/* ---- each below the one that started it ---- */

/* Rows, and what they come from, which may have made nothing itself. */
struct family {
    const struct model_row **of; /* by process; NULL: it has no row */
    uint32_t *order, *depths;
    struct model_row *rows;
    size_t count;
};

static void add_row(struct family *f, const struct model_row *row, uint32_t process, uint32_t depth)
{
    f->rows[f->count] = row ? *row : (struct model_row){.what = process + 1};
    f->depths[f->count++] = depth;
}

static int family_make(struct family *f, const struct view_rows *r, size_t shown)
{
    const struct report_processes *all = model_processes(r->view->read.model);
    const struct model_row *unknown = NULL; /* of logs without a header */
    size_t most = all->count + shown + 1, asked = 0;
    struct forest forest;
    int err;

    *f = (struct family){.of = memory_zalloc(most, sizeof(*f->of)),
                         .order = memory_alloc(most * sizeof(*f->order)),
                         .depths = memory_alloc(most * sizeof(*f->depths)),
                         .rows = memory_alloc(most * sizeof(*f->rows))};
    if (!f->of || !f->order || !f->depths || !f->rows)
        return -ENOMEM;
    for (size_t i = 0; i < shown; i++) {
        const struct model_row *row = &r->rows.rows[i];

        if (!view_process(r->view, row->what)) {
            unknown = row;
            continue;
        }
        f->of[row->what - 1] = row;
        f->order[asked++] = row->what - 1;
    }
    err = report_processes_forest(all, f->order, asked, &forest);
    for (size_t i = 0; !err && i < forest.count; i++)
        add_row(f, f->of[forest.rows[i].item], forest.rows[i].item, forest.rows[i].depth);
    if (unknown)
        add_row(f, unknown, 0, 0);
    forest_fini(&forest);
    return err;
}

int view_processes_text(const struct view_rows *r, size_t shown, bool head, FILE *out)
{
    struct view_rows below = *r;
    struct family f;
    int err = family_make(&f, r, shown);

    below.rows.rows = f.rows;
    below.depths = f.depths;
    if (!err)
        err = head ? view_rows_text(&below, f.count, out) : columns_table(&below, f.count, out);
    memory_free_all(f.of, f.order, f.depths, f.rows);
    return err;
}
