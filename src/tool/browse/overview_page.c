/* What there is, at a glance: totals, the rate over time, the largest types and lines. */
#include "browse/page.h"

#include "command/print_complete.h"
#include "command/print_sampling.h"
#include "readers/header.h"
#include "report/estimate.h"
#include "terminal/key.h"
#include "terminal/text.h"

#include "base/array.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN     5 /* rows of each table */
#define SPARKS    60
#define PATH_MOST 8 /* frames of the heaviest path */

enum overview_kind { OVERVIEW_TEXT, OVERVIEW_HEADING, OVERVIEW_ROW };

struct overview_row {
    enum overview_kind kind;
    char *text;
    struct target target;
    bool own;
    double sums[DATA_SUMS];
};

struct overview_page {
    struct page page;
    struct overview_row *rows;
    size_t count, capacity;
};

static struct overview_page *page_of(const struct page *page)
{
    return (struct overview_page *)(uintptr_t)page;
}

/* ---- what it says ---- */

static struct overview_row *row_add(struct overview_page *p, enum overview_kind kind,
                                    const char *text)
{
    char *copy = memory_strdup(text);

    if (!copy || !array_reserve(&p->rows, &p->capacity, p->count + 1)) {
        memory_free(copy);
        return NULL;
    }
    p->rows[p->count] = (struct overview_row){.kind = kind, .text = copy};
    return &p->rows[p->count++];
}

static int say(struct overview_page *p, enum overview_kind kind, const struct buffer *out)
{
    return !out->failed && row_add(p, kind, out->data) ? 0 : -ENOMEM;
}

static int say_program(struct overview_page *p)
{
    const struct data *d = p->page.data;
    const json_t *header = model_log(d->model)->header;
    const char *runtime = json_string_value(json_object_get(header, "runtime"));
    const char *program = log_program(header);
    struct buffer b = BUFFER_INIT;
    struct text_number ns;
    int err;

    if (d->log_count > 1)
        buffer_format(&b, "%zu logs, ", d->log_count);
    buffer_text(&b, program ? program : "(the log does not say of which program it is)");
    if (d->log_count == 1 && json_object_get(header, "pid"))
        buffer_format(&b, " (pid %.0f)", json_number_value(json_object_get(header, "pid")));
    if (runtime)
        buffer_format(&b, ", .NET %s", runtime);
    if (model_duration_ns(d->model))
        buffer_format(&b, ", %s", text_ns(&ns, (double)model_duration_ns(d->model)));
    err = say(p, OVERVIEW_TEXT, &b);
    buffer_free(&b);
    return err;
}

/* Of an estimate: from what it is, and how far the exact bytes may be from it. */
static void say_estimate(const struct data *d, struct buffer *out)
{
    enum log_sampler_kind sampler = log_sampler_kind(model_log(d->model)->header);
    double sums[DATA_SUMS];
    struct data_number range;

    data_all(d, sums);
    if (sampler == LOG_SAMPLER_TICKS) {
        buffer_text(out, ": approximate, from ticks of the runtime");
        return;
    }
    buffer_format(out, ": estimates, the log is sampled%s",
                  sampler == LOG_SAMPLER_RUNTIME ? " by the runtime" : "");
    if (*data_range(d, &range, sums))
        buffer_format(out, "; 95%% range %s", range.text);
}

/* A line: what the estimates leave out. */
static int say_before_sampling(struct overview_page *p)
{
    struct log_sampling sampling;
    struct buffer b = BUFFER_INIT;
    int err;

    log_input_sampling(model_log(p->page.data->model), &sampling);
    if (sampling.how == LOG_BEFORE_NONE)
        return 0;
    buffer_text(&b, "not in these figures: ");
    print_sampling_part(&sampling, &b);
    err = say(p, OVERVIEW_TEXT, &b);
    buffer_free(&b);
    return err;
}

static int say_total(struct overview_page *p)
{
    const struct data *d = p->page.data;
    struct text_number bytes, objects;
    const char *about = model_estimated(d->model) ? "~" : "";
    struct buffer b = BUFFER_INIT;
    double sums[DATA_SUMS];
    int err;

    data_all(d, sums);
    buffer_format(&b, "%s%s bytes in ", about, text_count(&bytes, report_whole(sums[MODEL_BYTES])));
    if (data_mixes(sums))
        buffer_text(&b, "objects of several sizes");
    else
        buffer_format(&b, "%s%s objects", about,
                      text_count(&objects, report_whole(sums[MODEL_ALLOCS])));
    if (*about)
        say_estimate(d, &b);
    if (*d->filter->text || d->own)
        buffer_format(&b, "; only %s%s%s", d->own ? "own code " : "",
                      *d->filter->text ? "with " : "", d->filter->text);
    err = say(p, OVERVIEW_TEXT, &b);
    buffer_free(&b);
    return err;
}

/* What is missing of the log; nothing of a log that is complete. */
static int say_gaps(struct overview_page *p)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = p->page.data->incomplete ? open_memstream(&text, &size) : NULL;
    int err = 0;

    if (!out)
        return p->page.data->incomplete ? -ENOMEM : 0;
    print_complete(model_log(p->page.data->model), out);
    if (fclose(out))
        err = -ENOMEM;
    for (char *line = text, *end; !err && line && *line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end)
            *end = '\0';
        err = row_add(p, OVERVIEW_TEXT, line) ? 0 : -ENOMEM;
    }
    free(text);
    return err;
}

/* Where own code makes next to nothing: which modules come first. */
static int say_own(struct overview_page *p)
{
    const struct model *m = p->page.data->model;
    const double *bytes = model_module_bytes(m);
    struct buffer b = BUFFER_INIT;
    int err = 0;

    if (bytes && model_own_tell(model_own_code(m), bytes, &b))
        err = say(p, OVERVIEW_TEXT, &b);
    buffer_free(&b);
    return err;
}

/* ---- rate over time ---- */

static int say_rate(struct overview_page *p)
{
    const struct data *d = p->page.data;
    unsigned slices = model_slice_count(d->model), joined = (slices + SPARKS - 1) / SPARKS;
    double sums[SPARKS + 1] = {0}, most = 0, later = 0, seconds;
    struct buffer b = BUFFER_INIT;
    struct data_number n;
    int err;

    if (slices < 2)
        return 0;
    for (uint32_t i = 0; i < d->plain->cell_count; i++) {
        double *sum = &sums[model_cell(d->model, d->plain->cells[i])->slice / joined];

        *sum += model_cell_weight(d->model, d->plain->cells[i], d->sort);
        most = *sum > most ? *sum : most;
        later += sum > sums ? *sum : 0;
    }
    if (later <= 0)
        return 0; /* `--log sites` has no times */
    seconds = (double)model_slice_ns(d->model) * joined / 1e9;
    for (unsigned i = 0; i < (slices + joined - 1) / joined; i++) {
        int level = most > 0 ? (int)(sums[i] / most * 8 + 0.5) : 0;

        /* blocks of one to eight eighths */
        buffer_format(&b, level ? "\xE2\x96%c" : " ", level ? 0x80 + level : 0);
    }
    buffer_format(&b, "| at most %s/s", data_amount(d, &n, d->sort, most / seconds));
    err = say(p, OVERVIEW_TEXT, &b);
    buffer_free(&b);
    return err;
}

/* ---- the largest ---- */

static int say_row(struct overview_page *p, const struct ranking *table,
                   const struct ranking_row *row)
{
    struct buffer name = BUFFER_INIT;
    struct overview_row *to =
        row_add(p, OVERVIEW_ROW, ranking_name(p->page.data, table, row, &name));

    buffer_free(&name);
    if (!to)
        return -ENOMEM;
    to->target = row->target;
    to->own = row->own && table->kind != VIEW_OWN;
    memcpy(to->sums, row->self, sizeof(to->sums));
    return 0;
}

/* The first rows; of own lines always that of no own frame, too. */
static int say_table(struct overview_page *p, enum view_kind kind, const char *heading,
                     size_t *shown)
{
    const struct data *d = p->page.data;
    struct ranking table;
    int err = ranking_make(d, kind, NULL, &table);

    *shown = 0;
    for (size_t i = 0; !err && i < table.count; i++) {
        const struct ranking_row *row = &table.rows[i];
        bool foreign = kind == VIEW_OWN && row->target.kind == TARGET_NONE;

        if (row->self[d->sort == MODEL_ALLOCS] <= 0)
            break;
        if (*shown >= SHOWN && !foreign)
            continue;
        if (!*shown && !row_add(p, OVERVIEW_HEADING, heading))
            err = -ENOMEM;
        if (!err)
            err = say_row(p, &table, row);
        ++*shown;
    }
    ranking_fini(&table);
    return err;
}

/* Of own lines, of lines, of methods: the first of which there are any. */
static int say_places(struct overview_page *p)
{
    size_t shown = 0;
    int err = 0;

    if (model_own_any(model_own_code(p->page.data->model)))
        err = say_table(p, VIEW_OWN, "Own lines, with what they call for", &shown);
    if (!err && !shown)
        err = say_table(p, VIEW_LINES, "Lines, with what they call for", &shown);
    if (!err && !shown)
        err = say_table(p, VIEW_METHODS, "Methods", &shown);
    return err;
}

static int say_types(struct overview_page *p)
{
    size_t shown;

    return say_table(p, VIEW_TYPES, "Types", &shown);
}

static int say_step(struct overview_page *p, uint32_t node)
{
    const struct model_tree *t = p->page.data->shown;
    const struct model_place *place = &t->places[t->nodes[node].place];
    struct buffer name = BUFFER_INIT, text = BUFFER_INIT;
    struct overview_row *row;

    buffer_format(&text, "%s%s", place->kind == MODEL_PLACE_TYPE ? "new " : "",
                  data_place(p->page.data, place, &name));
    row = row_add(p, OVERVIEW_ROW, text.failed ? "?" : text.data);
    buffer_free(&text);

    buffer_free(&name);
    if (!row)
        return -ENOMEM;
    data_target(place, &row->target);
    row->own = place->own;
    data_add(row->sums, t->total, node);
    return 0;
}

/* From the outermost frame to where no call stands out; its end, if it is long. */
static int say_path(struct overview_page *p)
{
    const struct model_tree *t = p->page.data->shown;
    uint32_t path[PATH_MOST], at = 0;
    size_t length = 0;
    int err;

    while (t->nodes[at].end > at + 1 &&
           t->total[MODEL_BYTES][at + 1] >= PAGE_HEAVY * t->total[MODEL_BYTES][at])
        path[length++ % PATH_MOST] = ++at; /* the heaviest child comes first */
    if (!length)
        return 0;
    err = row_add(p, OVERVIEW_HEADING,
                  length > PATH_MOST ? "End of the heaviest path (H in the tree)"
                                     : "The heaviest path (H in the tree)")
              ? 0
              : -ENOMEM;
    for (size_t i = length > PATH_MOST ? length - PATH_MOST : 0; i < length && !err; i++)
        err = say_step(p, path[i % PATH_MOST]);
    return err;
}

static int say_all(struct overview_page *p)
{
    static int (*const parts[])(struct overview_page *) = {
        say_program, say_total,  say_before_sampling, say_gaps, say_own,
        say_rate,    say_places, say_types,           say_path};
    int err = 0;

    for (size_t i = 0; i < COUNT_OF(parts) && !err; i++)
        err = parts[i](p);
    return err;
}

/* ---- the page ---- */

static size_t count(const struct page *page)
{
    return page_of(page)->count;
}

static void heads(const struct page *page, struct canvas *c, int row)
{
    page_heads(page, c, row, false);
}

static void draw(const struct page *page, struct canvas *c, int row, size_t index)
{
    const struct overview_row *r = &page_of(page)->rows[index];
    unsigned style = r->own ? CANVAS_BOLD | CANVAS_GREEN : CANVAS_PLAIN;
    int column;

    if (r->kind != OVERVIEW_ROW) {
        canvas_put(c, row, 0, c->columns, r->kind == OVERVIEW_HEADING ? CANVAS_BOLD : 0, r->text);
        return;
    }
    column = page_amounts(page, c, row, r->sums, r->sums, false);
    canvas_put(c, row, column, 1, style, r->own ? "*" : "");
    if (search_hits(&page->data->search, r->text))
        style |= CANVAS_UNDERLINE;
    page_name(c, row, column + 1, style, r->text, "");
}

static void target(const struct page *page, struct target *out)
{
    const struct overview_page *p = page_of(page);

    if (page->list.cursor < p->count)
        *out = p->rows[page->list.cursor].target;
}

static bool hits(const struct page *page, size_t index)
{
    return search_hits(&page->data->search, page_of(page)->rows[index].text);
}

static void clear(struct overview_page *p)
{
    for (size_t i = 0; i < p->count; i++)
        memory_free(p->rows[i].text);
    p->count = 0;
}

static int sort(struct page *page)
{
    clear(page_of(page));
    return say_all(page_of(page));
}

static enum page_answer key(struct page *page, int key)
{
    struct target t;

    if (key != KEY_ENTER && key != ' ' && key != KEY_RIGHT && key != 'l')
        return PAGE_NOT_MINE;
    page_target(page, &t);
    if (t.kind == TARGET_NONE)
        return PAGE_TREE;
    return t.kind == TARGET_LINE ? PAGE_SOURCE : PAGE_CALLERS;
}

static void fini(struct page *page)
{
    clear(page_of(page));
    memory_free(page_of(page)->rows);
}

struct page *page_overview(struct data *d)
{
    static const struct page_ops ops = {
        count, heads, draw, hits, key, fini, target, .sort = sort, .keys = "enter more"};
    struct overview_page *p = page_new(&ops, sizeof(*p), d);

    if (!p)
        return NULL;
    if (say_all(p)) {
        page_free(&p->page);
        return NULL;
    }
    return &p->page;
}
