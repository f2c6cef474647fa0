/* /metrics, in the classic text format of Prometheus: a family's samples stand together. */
#include "server/answer.h"

#include "base/order.h"
#include "base/path.h"
#include "command/loading.h"
#include "model/near.h"
#include "report/estimate.h"

#include <string.h>

#define LABEL_MAX   400                   /* bytes of a label's value; a longer name is cut */
#define RATE_NS_MIN UINT64_C(10000000000) /* of a rate, at least; shorter if needed */

/* A row with a name: the labels as they are written, so that each is written once. */
struct row {
    const char *labels;
    double bytes, allocs;
};

struct rows {
    struct row *rows;
    size_t count, capacity;
    struct index index;
};

INDEX_OF_TEXT(row_kind, struct row);

struct figures {
    const struct traced *t;
    char *labels; /* pid and program */
    struct rows types, sites;
    struct rows
        foreign; /* of sites the one without own frame, whatever is left out of the others */
    struct log_completeness gaps;
    struct loading l;
};

/* ---- labels ---- */

/* A value between its quotes: clean, cut between two letters, escaped as the format wants it. */
static void put_value(struct buffer *b, const char *value)
{
    struct buffer clean = BUFFER_ON((char[BUFFER_TEXT_ROOM]){0});
    size_t size;

    buffer_clean(&clean, value);
    size = clean.size;
    if (size > LABEL_MAX)
        for (size = LABEL_MAX; size && ((unsigned char)clean.data[size] & 0xc0) == 0x80;)
            size--;
    for (size_t i = 0; i < size; i++) {
        if (clean.data[i] == '"' || clean.data[i] == '\\')
            buffer_char(b, '\\');
        buffer_char(b, clean.data[i]);
    }
    if (clean.failed)
        b->failed = 1;
    buffer_free(&clean);
}

static void put_label(struct buffer *b, const char *name, const char *value)
{
    buffer_format(b, "%s%s=\"", b->size ? "," : "", name);
    put_value(b, value);
    buffer_char(b, '"');
}

/* ---- adding up ---- */

/* labels goes over. Returns: 0 or -ENOMEM. */
static int rows_add(struct rows *r, char *labels, double bytes, double allocs)
{
    const struct row key = {labels, 0, 0};
    uint32_t number = 0;
    int added =
        labels ? index_add(&r->index, &row_kind, &r->rows, &r->count, &r->capacity, &key, &number)
               : -ENOMEM;

    if (added <= 0)
        memory_free(labels);
    if (added < 0)
        return added;
    r->rows[number].bytes += bytes;
    r->rows[number].allocs += allocs;
    return 0;
}

ORDERED_BY(by_bytes, struct row, ORDER(y->bytes, x->bytes), strcmp(x->labels, y->labels))

static void keep_top(struct rows *r, uint64_t top)
{
    SORT(r->rows, r->count, by_bytes);
    if (r->count > top)
        r->count = top;
}

static int add_types(struct figures *f)
{
    const struct report_cells *c = &f->t->cells;
    struct mark_sums *sums = memory_zalloc(c->defs.classes.count + 1, sizeof(*sums));
    int err = sums ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < c->count; i++) {
        sums[c->cells[i].class_number].bytes += c->cells[i].bytes;
        sums[c->cells[i].class_number].allocs += c->cells[i].allocs;
    }
    for (uint32_t i = 0; !err && i < c->defs.classes.count; i++) {
        struct buffer b = BUFFER_INIT;

        if (!(sums[i].allocs > 0))
            continue;
        buffer_text(&b, f->labels);
        put_label(&b, "type", names_class(f->l.names, i));
        err = rows_add(&f->types, buffer_take(&b), sums[i].bytes, sums[i].allocs);
    }
    memory_free(sums);
    return err;
}

/* A line of own code, or a method of it whose line is not known; without method: no own frame. */
struct place {
    uint32_t method, line, line_last;
    uint32_t reserved; /* 0 */
    const char *file;
    double bytes, allocs;
};

INDEX_OF_BYTES(place_kind, struct place, file);

static struct place place_of(struct model_near *near, const struct report_cell *cell)
{
    struct model_near_place at;

    if (!model_near_find(near, cell->path, cell->il, &at))
        return (struct place){.method = 0};
    return (struct place){.method = at.method,
                          .line = at.line.line,
                          .line_last = at.line.line_last,
                          .file = at.line.file};
}

static int name_place(struct figures *f, const struct place *p)
{
    struct buffer b = BUFFER_INIT, site = BUFFER_INIT;

    buffer_text(&b, f->labels);
    if (p->file) {
        buffer_text(&site, path_base_name_foreign(p->file));
        source_line_put(&site, p->line, p->line_last);
    }
    put_label(&b, "site", site.data ? site.data : "");
    put_label(&b, "method", p->method ? names_method(f->l.names, p->method) : "");
    if (!p->method)
        put_label(&b, "own", "false");
    if (site.failed)
        b.failed = 1;
    buffer_free(&site);
    return rows_add(p->method ? &f->sites : &f->foreign, buffer_take(&b), p->bytes, p->allocs);
}

/* Bytes and objects by place; *places is to be freed. */
static int sum_places(struct figures *f, struct place **places, size_t *count)
{
    const struct report_cells *c = &f->t->cells;
    struct index index = {NULL, 0, 0};
    struct model_near near;
    size_t capacity = 0;
    uint32_t number;
    int err = model_near_init(&near, f->l.defs, f->l.own, f->l.lines);

    for (size_t i = 0; err >= 0 && i < c->count; i++) {
        struct place place = place_of(&near, &c->cells[i]);

        err = index_add(&index, &place_kind, places, count, &capacity, &place, &number);
        if (err < 0)
            break;
        (*places)[number].bytes += c->cells[i].bytes;
        (*places)[number].allocs += c->cells[i].allocs;
    }
    model_near_fini(&near);
    index_free(&index);
    return err < 0 ? err : 0;
}

static int add_sites(struct figures *f)
{
    struct place *places = NULL;
    size_t count = 0;
    int err = sum_places(f, &places, &count);

    for (size_t i = 0; !err && i < count; i++)
        err = name_place(f, &places[i]);
    memory_free(places);
    return err;
}

static int add_up(const struct answer_ask *ask, struct traced *t, struct figures *f)
{
    struct buffer b = BUFFER_INIT;
    char pid[32];
    int err;

    *f = (struct figures){.t = t};
    snprintf(pid, sizeof(pid), "%ld", t->pid);
    put_label(&b, "pid", pid);
    put_label(&b, "program", traced_program(t));
    if (t->given) /* of another machine, or container: process ids may be alike */
        put_label(&b, "log", t->path);
    f->labels = buffer_take(&b);
    err = f->labels ? report_cells_flush(&t->cells) : -ENOMEM;
    log_input_completeness(&t->cells.log, &f->gaps);
    if (!err)
        err = answer_load(ask, t, &f->l);
    if (!err)
        err = add_types(f);
    if (!err)
        err = add_sites(f);
    keep_top(&f->types, ask->options->top);
    keep_top(&f->sites, ask->options->top);
    return err;
}

/* ---- writing ---- */

static void put_family(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A figure of a process; `which` of those that the function has. Returns: whether it is known. */
typedef bool figure_of(const struct answer_ask *ask, const struct traced *t, int which,
                       double *value);

struct single {
    const char *name, *type, *help;
    figure_of *value;
    int which;
};

/* Of each process one figure. */
static void put_each(FILE *out, const struct figures *all, size_t count,
                     const struct single *single, const struct answer_ask *ask)
{
    bool begun = false;
    double found = 0;

    for (size_t i = 0; i < count; i++) {
        if (!single->value(ask, all[i].t, single->which, &found))
            continue;
        if (!begun)
            put_family(out, single->name, single->type, single->help);
        begun = true;
        fprintf(out, "%s{%s} %.0f\n", single->name, all[i].labels, found);
    }
}

#define FIGURE(name_, expression, known) \
    static bool name_(const struct answer_ask *ask, const struct traced *t, int which, \
                      double *value) \
    { \
        (void)ask; \
        (void)which; \
        *value = (double)(expression); \
        return known; \
    }
FIGURE(is_up, t->state == TRACED_FOLLOWED, true)
FIGURE(allocations, traced_total(t).allocs, true)
FIGURE(allocated, traced_total(t).bytes, true)
FIGURE(lost, log_input_lost(&t->cells.log), true)
FIGURE(unusable, t->cells.log.skipped, true)
FIGURE(truncations, t->losses.times, true)
FIGURE(gone_bytes, t->losses.bytes, true)
FIGURE(unread, t->follow ? follow_left(t->follow) : 0, true)
FIGURE(live_bytes, t->cells.live.last.bytes, traced_live(t))
FIGURE(live_objects, t->cells.live.last.allocs, traced_live(t))

/* Of a process whose samples began to count; until then nobody knows. which: enum log_before. */
static bool before(const struct answer_ask *ask, const struct traced *t, int which, double *value)
{
    struct log_sampling s;

    (void)ask;
    log_input_sampling(&t->cells.log, &s);
    *value = (double)s.bytes;
    return s.how == (enum log_before)which;
}

enum { LOW, HIGH };

static bool live_bound(const struct answer_ask *ask, const struct traced *t, int which,
                       double *value)
{
    const struct report_live *live = &t->cells.live;
    struct report_amount range;

    (void)ask;
    if (!traced_live(t) || !report_live_bound(live, (double)live->last.bytes, &range))
        return false;
    *value = which == HIGH ? range.high : range.low;
    return true;
}

/* The newest mark that is old enough; else the oldest there is. */
static const struct mark *rate_mark(const struct answer_ask *ask, const struct traced *t)
{
    for (size_t i = t->mark_count; i-- > 0;)
        if (ask->now_ns - t->marks[i]->at_ns >= RATE_NS_MIN)
            return t->marks[i];
    return t->mark_count ? t->marks[0] : NULL;
}

enum { BYTES, OBJECTS };

static bool rate(const struct answer_ask *ask, const struct traced *t, int which, double *value)
{
    const struct mark *m = rate_mark(ask, t);
    struct mark_sums now = traced_total(t), then = mark_total(m);

    if (!m || ask->now_ns <= m->at_ns || t->state != TRACED_FOLLOWED)
        return false;
    *value = (which == BYTES ? now.bytes - then.bytes : now.allocs - then.allocs) * 1e9 /
             (double)(ask->now_ns - m->at_ns);
    return true;
}

#define COUNTER "counter"
#define GAUGE   "gauge"

static const struct single singles[] = {
    {"shadowtrace_up", GAUGE, "Whether the log of the process is being followed.", is_up, 0},
    {"shadowtrace_allocations_total", COUNTER,
     "Objects that the process has allocated; an estimate if it is sampled, since that began.",
     allocations, 0},
    {"shadowtrace_allocated_bytes_total", COUNTER,
     "Bytes that the process has allocated; an estimate if it is sampled, since that began.",
     allocated, 0},
    {"shadowtrace_allocated_before_sampling_bytes_total", COUNTER,
     "Bytes that the process had allocated, exactly, when sampling began: not in any other figure.",
     before, LOG_BEFORE_EXACT},
    {"shadowtrace_allocated_before_sampling_bytes_most", GAUGE,
     "The same as an upper bound, if the runtime is not exact (.NET 8).", before, LOG_BEFORE_MOST},
    {"shadowtrace_allocations_per_second", GAUGE,
     "Objects a second, over the last half minute or so.", rate, OBJECTS},
    {"shadowtrace_allocated_bytes_per_second", GAUGE,
     "Bytes a second, over the last half minute or so.", rate, BYTES},
    {"shadowtrace_live_objects", GAUGE,
     "Objects alive after the last collection; an estimate if the process is sampled.",
     live_objects, 0},
    {"shadowtrace_live_bytes", GAUGE,
     "Bytes alive after the last collection; an estimate if the process is sampled.", live_bytes,
     0},
    {"shadowtrace_live_bytes_low", GAUGE,
     "Lower end of the range of an estimate of bytes alive: the range holds in 95 of 100 cases.",
     live_bound, LOW},
    {"shadowtrace_live_bytes_high", GAUGE, "Upper end of the range of an estimate of bytes alive.",
     live_bound, HIGH},
    {"shadowtrace_lost_allocations_total", COUNTER,
     "Allocations that were seen and not written to the log.", lost, 0},
    {"shadowtrace_log_unusable_lines_total", COUNTER, "Lines of the log that could not be used.",
     unusable, 0},
    {"shadowtrace_log_truncations_total", COUNTER,
     "Times that the log was truncated or overwritten while it was followed.", truncations, 0},
    {"shadowtrace_log_gone_bytes_total", COUNTER,
     "Bytes of the log that were gone before they were read.", gone_bytes, 0},
    {"shadowtrace_log_unread_bytes", GAUGE, "Bytes of the log that are not read yet.", unread, 0},
};

static void put_some(FILE *out, const struct rows *rows, bool bytes, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        fprintf(out, "%s{%s} %.0f\n", name, rows->rows[i].labels,
                bytes ? rows->rows[i].bytes : rows->rows[i].allocs);
}

static void put_rows(FILE *out, const struct figures *all, size_t count, bool sites, bool bytes,
                     const char *name, const char *help)
{
    bool begun = false;

    for (size_t i = 0; i < count; i++) {
        const struct rows *rows = sites ? &all[i].sites : &all[i].types;
        bool any = rows->count || (sites && all[i].foreign.count);

        if (any && !begun)
            put_family(out, name, COUNTER, help);
        begun |= any;
        put_some(out, rows, bytes, name);
        if (sites)
            put_some(out, &all[i].foreign, bytes, name);
    }
}

/* What is missing, by reason; what it is that is missing is a label, too. */
static int put_gaps(FILE *out, const struct figures *all, size_t count)
{
    const char *name = "shadowtrace_missing_total";
    struct buffer b = BUFFER_INIT;
    bool begun = false, failed = false;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < all[i].gaps.count; k++) {
            const struct log_gap *gap = &all[i].gaps.gaps[k];
            uint64_t number = gap->kind == LOG_GAP_ROTATED_OUT ? gap->of : gap->count;

            if (gap->kind == LOG_GAP_NO_END && all[i].t->state == TRACED_FOLLOWED)
                continue;
            buffer_clear(&b);
            buffer_text(&b, all[i].labels);
            put_label(&b, "reason", log_gap_word(gap->kind));
            put_label(&b, "what", gap->what);
            put_label(&b, "by", gap->by);
            if (!begun)
                put_family(out, name, COUNTER,
                           "What of the recording could not be recorded or read, by reason.");
            begun = true;
            failed |= b.failed != 0;
            fprintf(out, "%s{%s} %llu\n", name, b.failed ? "" : b.data, (unsigned long long)number);
        }
    }
    buffer_free(&b);
    return failed ? -ENOMEM : 0;
}

static void put_own(FILE *out, const struct answer_ask *ask)
{
    put_family(out, "shadowtrace_serve_processes", GAUGE, "Processes that are served.");
    fprintf(out, "shadowtrace_serve_processes %zu\n", ask->set->count);
    put_family(out, "shadowtrace_serve_requests_total", COUNTER, "Requests that were let in.");
    fprintf(out, "shadowtrace_serve_requests_total %llu\n", (unsigned long long)ask->answered);
    put_family(out, "shadowtrace_serve_refused_total", COUNTER, "Requests that were refused.");
    fprintf(out, "shadowtrace_serve_refused_total %llu\n", (unsigned long long)ask->refused);
}

/* Not what was never read to its end: its counters begin then; nor what ended, if another has its
 * number now. */
static bool is_told(const struct answer_ask *ask, const struct traced *t)
{
    if (!t->cells.log.header || !traced_known(t) || (ask->of && ask->of != t))
        return false;
    return t->given ? !traced_is_outdated(ask->set, t) : traced_find(ask->set, t->pid) == t;
}

int answer_metrics(const struct answer_ask *ask, FILE *out)
{
    struct figures *all = memory_zalloc(ask->set->count + 1, sizeof(*all));
    size_t count = 0;
    int err = all ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < ask->set->count; i++)
        if (is_told(ask, ask->set->all[i]))
            err = add_up(ask, ask->set->all[i], &all[count++]);
    if (err)
        return err;
    for (size_t i = 0; i < sizeof(singles) / sizeof(*singles); i++)
        put_each(out, all, count, &singles[i], ask);
    put_rows(out, all, count, false, true, "shadowtrace_type_allocated_bytes_total",
             "Bytes by type, of the types that allocate most.");
    put_rows(out, all, count, false, false, "shadowtrace_type_allocations_total",
             "Objects by type, of the types that allocate most.");
    put_rows(out, all, count, true, true, "shadowtrace_site_allocated_bytes_total",
             "Bytes by line of own code, of the lines that allocate most; own=\"false\": those of "
             "stacks without own code.");
    put_rows(
        out, all, count, true, false, "shadowtrace_site_allocations_total",
        "Objects by line of own code, of the lines that allocate most; own=\"false\": those of "
        "stacks without own code.");
    err = put_gaps(out, all, count);
    put_own(out, ask);
    return err;
}
