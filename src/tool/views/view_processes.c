#include "views/view_processes.h"

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
    jw_unsigned(w, "began_ns", began(v, one));
    if (one->ran)
        jw_unsigned(w, "ran_ns", one->ran);
}

enum column { BYTES, SHARE, ALLOCS, BEGAN, RAN, PROCESS, COMMAND, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [BYTES] = {"bytes", TABLE_COUNT, 0, 0},     [SHARE] = {"share", TABLE_SHARE, 2, 0},
    [ALLOCS] = {"objects", TABLE_COUNT, 3, 0},  [BEGAN] = {"began at", TABLE_TIME, 4, 0},
    [RAN] = {"ran for", TABLE_TIME, 5, 0},      [PROCESS] = {"process", TABLE_NAME, 0, 20},
    [COMMAND] = {"command", TABLE_TEXT, 1, 24},
};

static void put_row(const struct view_rows *r, const struct view_row *row, struct table *t)
{
    const struct report_process *one = view_process(r->view, row->what);
    struct buffer b = BUFFER_INIT;
    struct report_row self;

    view_amount(r->view, row->self, &self);
    table_row(t);
    table_count(t, BYTES, self.bytes);
    table_share(t, SHARE, self.share);
    table_count(t, ALLOCS, self.allocs);
    if (one) {
        table_time(t, BEGAN, (double)began(r->view, one));
        if (one->ran)
            table_time(t, RAN, (double)one->ran);
        else
            table_text(t, RAN, "no end");
        table_text(t, COMMAND, one->command);
    }
    table_name(t, PROCESS, "", view_process_text(r->view, row->what, &b));
    buffer_free(&b);
}

int view_processes_table(const struct view_rows *r, size_t shown, FILE *out)
{
    const struct table_look look = view_look(r->view, out);
    struct table *t = NULL;
    int err = table_new(columns, COLUMNS, &t);

    for (size_t i = 0; !err && i < shown; i++)
        put_row(r, &r->rows[i], t);
    if (!err)
        err = table_fit(t, &look);
    if (!err)
        table_print(t, out);
    table_free(t);
    return err;
}
