/* The first screen: what allocates most, and which command shows more of it. */
#include "views/column.h"
#include "views/ranges.h"
#include "views/view_processes.h"
#include "views/view_time.h"

#include "base/name.h"
#include "base/path.h"
#include "report/frames.h"
#include "terminal/text.h"

#include <string.h>

#define LINES_SHOWN 8 /* fewer if their source is shown, too: LINES_ROOM lines in all */
#define LINES_ROOM  11
#define TYPES_SHOWN 5
#define PATHS_SHOWN 2
#define PIDS_SHOWN  5
#define PATH_LINES  2 /* of text */
#define SEPARATOR   " > "
#define OWN_NAMES   34  /* columns of the modules in a heading */
#define WIDE        100 /* columns of a terminal that has room for more words */
#define OWN_SPEAKS  0.1 /* of all bytes: from this share on, own lines need no other modules */

/*
 * Where allocations end in own code: all that a frame of it makes, itself and through others. A
 * stack without own code counts by itself.
 */
struct hot_path {
    const struct model_tree *tree;
    uint32_t node;
    double bytes;
    uint32_t class_number; /* most of it */
    double class_bytes;
    size_t type_count;
};

struct overview {
    struct view *v;
    struct view_rows own, types;
    struct view_rows processes; /* none of a single log */
    struct time_line time;
    struct model_tree *folded;
    struct model_tree *foreign; /* stacks without own code */
    struct hot_path paths[PATHS_SHOWN];
    size_t path_count;
};

/* ---- hottest paths ---- */

static void note_path(struct overview *o, const struct hot_path *path)
{
    size_t at = o->path_count;

    while (at > 0 && path->bytes > o->paths[at - 1].bytes)
        at--;
    if (at == PATHS_SHOWN)
        return;
    if (o->path_count < PATHS_SHOWN)
        o->path_count++;
    memmove(&o->paths[at + 1], &o->paths[at], (o->path_count - at - 1) * sizeof(*o->paths));
    o->paths[at] = *path;
}

/* The type that a path's own frame makes most of. near: by node, the one that it counts for. */
static int find_type(const struct overview *o, const uint32_t *near, struct hot_path *path)
{
    const struct model_tree *t = path->tree;
    const struct model *m = o->v->read.model;
    double *bytes = memory_zalloc(o->v->read.defs->classes.count, sizeof(*bytes));

    if (!bytes)
        return -ENOMEM;
    for (uint32_t i = path->node; i < t->nodes[path->node].end; i++)
        for (uint32_t k = t->first_cell[i]; near[i] == path->node && k < t->first_cell[i + 1];
             k++) {
            uint32_t class_number = model_cell(m, t->cells[k])->class_number;

            path->type_count += !(bytes[class_number] > 0);
            bytes[class_number] += model_cell_weight(m, t->cells[k], MODEL_BYTES);
            if (bytes[class_number] > path->class_bytes) {
                path->class_bytes = bytes[class_number];
                path->class_number = class_number;
            }
        }
    memory_free(bytes);
    return 0;
}

/* Those of one tree. */
static int note_paths(struct overview *o, const struct model_tree *t, bool own)
{
    double *bytes = memory_zalloc(t->node_count, sizeof(*bytes));
    uint32_t *near = memory_zalloc(t->node_count, sizeof(*near));
    int err = bytes && near ? 0 : -ENOMEM;

    for (uint32_t i = 1; !err && i < t->node_count; i++) {
        near[i] = t->places[t->nodes[i].place].own || !own ? i : near[t->nodes[i].parent];
        bytes[near[i]] += t->self[MODEL_BYTES][i];
    }
    for (uint32_t i = 1; !err && i < t->node_count; i++)
        if (bytes[i] > 0)
            note_path(o, &(struct hot_path){.tree = t, .node = i, .bytes = bytes[i]});
    for (size_t i = 0; !err && i < o->path_count; i++)
        if (o->paths[i].tree == t)
            err = find_type(o, near, &o->paths[i]);
    memory_free_all(bytes, near);
    return err;
}

/* Framework below own code is folded; of a stack without own code its frames are all there is. */
static int find_paths(struct overview *o)
{
    bool own = model_own_any(o->v->read.own), no_own = o->v->filter.no_own;
    struct model_shape shape = {
        .grain = MODEL_GRAIN_METHOD, .fold_recursion = true, .fold_framework = own};
    int err = view_tree(o->v, &shape, &o->folded);

    if (!err)
        err = note_paths(o, o->folded, own);
    if (err || !own)
        return err;
    shape.fold_framework = false;
    o->v->filter.no_own = true;
    err = view_tree(o->v, &shape, &o->foreign);
    o->v->filter.no_own = no_own;
    return err ? err : note_paths(o, o->foreign, false);
}

/* ---- its words ---- */

static const char *frame_text(const struct overview *o, const struct model_tree *t, uint32_t node,
                              struct buffer *b)
{
    const char *text = view_place(o->v, &t->places[t->nodes[node].place], b);
    struct buffer fitted = BUFFER_INIT;

    fit_name(&fitted, text, 60);
    buffer_clear(b);
    buffer_text(b, fitted.data ? fitted.data : "");
    buffer_free(&fitted);
    return b->data ? b->data : "";
}

/* "A > B > … 12 frames … > Y > Z": as many of the innermost as have room. */
static int put_path(const struct overview *o, const struct hot_path *path, size_t room,
                    struct buffer *out)
{
    const struct model_tree *t = path->tree;
    uint32_t leaf = path->node;
    struct buffer b = BUFFER_INIT, *names = NULL;
    uint32_t depth = t->nodes[leaf].depth, kept = 0, first;
    size_t used = 24, capacity = 0;
    int err = 0;

    for (uint32_t node = leaf; !err && node; node = t->nodes[node].parent) {
        const char *text = frame_text(o, t, node, &b);

        used += text_columns(text) + strlen(SEPARATOR);
        if (kept && used > room)
            break;
        if (!array_reserve_zeroed(&names, &capacity, kept + 1))
            err = -ENOMEM;
        else
            buffer_text(&names[kept++], text);
    }
    first = kept;
    if (kept < depth)
        buffer_format(out, "\u2026 %u frames%s", depth - kept, SEPARATOR);
    while (first-- > 0)
        buffer_format(out, "%s%s", names[first].data ? names[first].data : "?",
                      first ? SEPARATOR : "");
    for (uint32_t i = 0; i < kept; i++)
        buffer_free(&names[i]);
    memory_free(names);
    buffer_free(&b);
    return err || out->failed ? -ENOMEM : 0;
}

/* Broken between frames. */
static void print_wrapped(const char *text, const char *indent, size_t width, FILE *out)
{
    while (*text) {
        const char *end = text, *next;

        for (next = strstr(text, SEPARATOR); next; next = strstr(next + 1, SEPARATOR)) {
            size_t bytes = (size_t)(next - text);
            struct buffer part = BUFFER_INIT;
            bool fits;

            buffer_append(&part, text, bytes);
            fits = !part.failed &&
                   text_columns(part.data ? part.data : "") + strlen(indent) <= width - 2;
            buffer_free(&part);
            if (!fits)
                break;
            end = next;
        }
        if (!next && text_columns(text) + strlen(indent) <= width)
            end = text + strlen(text);
        if (end == text)
            end = next && next > text ? next : text + strlen(text);
        fputs(indent, out);
        for (const char *c = text; c < end; c++)
            putc(*c, out);
        putc('\n', out);
        text = *end ? end + 1 : end;
    }
}

/* The type is named only if it is more than half of the path's bytes. */
static void print_path_type(const struct overview *o, const struct hot_path *path, size_t width,
                            FILE *out)
{
    if (path->class_bytes * 2 > path->bytes) {
        fputs(", most of it ", out);
        text_elide(out, view_class(o->v, path->class_number), width > 60 ? width - 45 : 16);
        putc('\n', out);
    } else {
        fprintf(out, ", of %zu types\n", path->type_count);
    }
}

static int print_paths(const struct overview *o, FILE *out)
{
    size_t width = view_look(o->v, out).width;
    int err = 0;

    width = width > 400 ? 400 : width;
    if (o->path_count)
        fputs("\nHottest paths\n", out);
    for (size_t i = 0; !err && i < o->path_count; i++) {
        const struct hot_path *path = &o->paths[i];
        struct text_number share, bytes;
        struct buffer b = BUFFER_INIT, clean = BUFFER_INIT;

        fprintf(out, " %s  %s bytes", text_share(&share, view_share(o->v, path->bytes)),
                text_count(&bytes, report_whole(path->bytes)));
        print_path_type(o, path, width, out);
        err = put_path(o, path, PATH_LINES * (width - 8), &b);
        if (!err) {
            buffer_clean(&clean, b.data);
            print_wrapped(clean.data ? clean.data : "", "    ", width, out);
        }
        buffer_free(&b);
        buffer_free(&clean);
    }
    return err;
}

/* ---- lines of own code ---- */

/* Where a line's document is: told by a frame of one of its allocations. */
static bool find_document(const struct view *v, const struct model_row *row,
                          struct source_line *out)
{
    const struct report_cell *cell;
    struct report_frame f;

    if (row->cell == UINT32_MAX || !row->place || !row->place->file)
        return false;
    cell = model_cell(v->read.model, row->cell);
    for (bool more = report_frame_first(v->read.defs, cell->path, cell->il, &f); more;
         more = report_frame_outer(v->read.defs, &f))
        if (f.path != LOG_PATH_LOST && f.method == row->place->method &&
            source_line_of(v->read.lines, f.method, f.il, out) && out->line == row->place->line &&
            out->line_last == row->place->line_last)
            return true;
    return false;
}

/* The text of a line, without blanks before it. Returns: its bytes, 0 none. */
static size_t line_of(const char *text, size_t size, uint32_t line, const char **out)
{
    const char *at = text, *end = text + size, *stop;

    while (--line && at && at < end)
        at = memchr(at, '\n', (size_t)(end - at))
                 ? (const char *)memchr(at, '\n', (size_t)(end - at)) + 1
                 : NULL;
    if (!at || at >= end)
        return 0;
    stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    while (at < stop && (*at == ' ' || *at == '\t'))
        at++;
    while (stop > at && (stop[-1] == '\r' || stop[-1] == ' '))
        stop--;
    *out = at;
    return (size_t)(stop - at);
}

/* The source of a row's line in b; "": not available. */
static const char *source_of(const struct view *v, const struct model_row *row, struct buffer *b)
{
    struct source_line document;
    const char *line = NULL;
    char *text = NULL;
    size_t size = 0, length;

    buffer_clear(b);
    if (!find_document(v, row, &document) ||
        source_lines_text(v->read.lines, &document, NULL, &text, &size))
        return "";
    length = line_of(text, size, document.line, &line);
    buffer_append(b, line ? line : "", length);
    memory_free(text);
    return b->data && !b->failed ? b->data : "";
}

#define PLACE 4 /* of the columns shown */

static bool own_line(struct view_row *row, struct column_value *out)
{
    if (!model_row_foreign(&row->of->rows, row->row))
        return view_value_line(row, out);
    out->text = MODEL_NEAR_NONE;
    return true;
}

static bool own_method(struct view_row *row, struct column_value *out)
{
    const struct view *v = row->of->view;
    bool foreign = model_row_foreign(&row->of->rows, row->row);

    out->text = foreign ? "" : view_place(v, row->row->place, &out->made);
    return true;
}

static const struct column own_columns[] = {
    VIEW_AMOUNTS(3),
    COLUMN("line", PLACE, own_line, .least = 28),
    COLUMN("method", NAME, own_method, .rank = 1, .least = 20),
    COLUMN("types", NAME, view_value_types, .least = 16),
    VIEW_ONCE,
};
static const struct columns columns_of_own = COLUMNS(own_columns);

static double own_bytes(const struct overview *o, const struct model_row *row)
{
    return model_row_self(&o->own.rows, row, MODEL_BYTES);
}

/*
 * The rows that make most, and that of no own frame, if it makes anything: in its place among them,
 * or last. (--top, which is of other views, may have moved it.)
 */
static size_t own_rows(const struct overview *o, struct model_row out[LINES_SHOWN])
{
    const struct model_row *foreign = NULL;
    size_t count = 0, at = 0;

    for (size_t i = 0; i < o->own.rows.count && model_own_any(o->v->read.own); i++) {
        const struct model_row *row = &o->own.rows.rows[i];

        if (!(own_bytes(o, row) > 0))
            continue;
        if (model_row_foreign(&o->own.rows, row))
            foreign = row;
        else if (count < LINES_SHOWN)
            out[count++] = *row;
    }
    if (!foreign)
        return count;
    count += count < LINES_SHOWN;
    while (at + 1 < count && own_bytes(o, &out[at]) >= own_bytes(o, foreign))
        at++;
    memmove(&out[at + 1], &out[at], (count - 1 - at) * sizeof(*out));
    out[at] = *foreign;
    return count;
}

/* The row of own code that makes most; NULL: none does. */
static const struct model_row *first_own(const struct overview *o)
{
    const struct model_row *row = o->own.rows.rows, *end = row + o->own.rows.count;

    for (; row < end && model_own_any(o->v->read.own); row++)
        if (own_bytes(o, row) > 0 && !model_row_foreign(&o->own.rows, row))
            return row;
    return NULL;
}

/* Of all bytes, those that the table of own code has lines for. */
static double own_share(const struct overview *o)
{
    double none = 0;

    for (size_t i = 0; i < o->own.rows.count; i++)
        none += o->own.rows.rows[i].what ? 0 : own_bytes(o, &o->own.rows.rows[i]);
    return view_share(o->v, o->v->sum[MODEL_BYTES] - none);
}

/* "Shop, Shop.Core and 3 more": as many names of modules as have room, one at least. */
static void put_modules(const char *names, size_t room, struct buffer *out)
{
    static const char more[] = " and 99 more";
    const char *end = names, *next;
    size_t left = 0;

    do {
        next = strstr(end + 2 * (end > names), ", ");
        next = next ? next : end + strlen(end);
        if (end > names && (size_t)(next - names) + (*next ? sizeof(more) - 1 : 0) > room)
            break;
        end = next;
    } while (*end);
    for (next = end; (next = strstr(next, ", ")); next += 2)
        left++;
    buffer_append(out, names, (size_t)(end - names));
    if (left)
        buffer_format(out, " and %zu more", left);
}

/* In one row of the terminal: the names of the modules have what the rest leaves. */
static void print_own_heading(const struct overview *o, FILE *out)
{
    const struct view *v = o->v;
    const char *before = v->read.stand_in ? "Lines of " : "Lines of own code, ";
    size_t width = view_look(v, out).width, room, taken;
    struct buffer rest = BUFFER_INIT, names = BUFFER_INIT;
    struct text_number n;

    buffer_format(&rest, ": %s%s, including what they call", text_share(&n, own_share(o)),
                  width < WIDE ? "" : " of the bytes");
    taken = strlen(before) + rest.size;
    room = width > taken + OWN_NAMES ? OWN_NAMES : width > taken + 8 ? width - taken : 8;
    put_modules(v->own_modules.size ? v->own_modules.data : "", room, &names);
    fprintf(out, "\n%s", before);
    text_elide(out, names.failed || !names.data ? "" : names.data, room);
    fprintf(out, "%s\n", rest.failed || !rest.data ? "" : rest.data);
    buffer_free(&rest);
    buffer_free(&names);
}

/* A row, and its source if that has room beside it. Returns: the lines printed. */
static size_t print_own_row(const struct columns_text *c, size_t number, size_t room, FILE *out)
{
    const struct view *v = c->rows->view;
    const struct model_row *row = &c->rows->rows.rows[number];
    size_t at = table_column_at(c->table, PLACE), width = view_look(v, out).width;
    struct buffer b = BUFFER_INIT;
    const char *source;
    size_t lines = 1;

    fprintf(out, "%s\n", table_line(c->table, number, &b));
    if (row->place && !model_row_foreign(&c->rows->rows, row)) {
        view_print_passed(c->rows, row, at, out);
        view_url(v, row->place, at, out);
        source = source_of(v, row, &b);
        if (*source && width > at + 20) {
            lines += room > 1;
            fprintf(out, "%*s| ", (int)at, "");
            text_elide(out, source, (width > 400 ? 400 : width) - at - 2);
            putc('\n', out);
        }
    }
    buffer_free(&b);
    return lines;
}

/* Bytes of own code by why their line is not known. Returns: their sum. */
static double without_line(const struct overview *o, double by[MODEL_NEAR_LACKS])
{
    double sum = 0;

    for (size_t i = 0; i < o->own.rows.count; i++) {
        const struct model_row *row = &o->own.rows.rows[i];
        enum model_near_lack lack = model_row_lack(&o->own.rows, row);

        if (lack != MODEL_NEAR_LACKS_NOTHING) {
            by[lack] += own_bytes(o, row);
            sum += own_bytes(o, row);
        }
    }
    return sum;
}

/* Of the bytes of own code, those that have no line, and why. */
static void print_without_line(const struct overview *o, FILE *out)
{
    double by[MODEL_NEAR_LACKS] = {0}, sum = without_line(o, by);
    double own = own_share(o) * o->v->sum[MODEL_BYTES];
    struct text_number share;
    bool all = false;

    if (!(sum > 0) || !(own > 0))
        return;
    fprintf(out, "%s of these bytes have no line", text_share(&share, sum / own));
    for (int lack = 0; lack < MODEL_NEAR_LACKS; lack++)
        all = all || by[lack] >= sum;
    for (int lack = 0, more = 0; lack < MODEL_NEAR_LACKS; lack++)
        if (by[lack] > 0)
            fprintf(out, "%s%s %s",
                    more++ ? ", "
                    : all  ? ""
                           : ": ",
                    all ? "" : text_share(&share, by[lack] / own), model_near_words[lack]);
    fputs(".\n", out);
}

static void without_line_json(const struct overview *o, struct json_writer *w)
{
    double by[MODEL_NEAR_LACKS] = {0};

    if (!(without_line(o, by) > 0))
        return;
    jw_object(w, "no_line");
    for (int lack = 0; lack < MODEL_NEAR_LACKS; lack++)
        if (by[lack] > 0)
            jw_unsigned(w, model_near_keys[lack], report_whole(by[lack]));
    jw_end(w);
}

static int print_own(const struct overview *o, FILE *out)
{
    struct model_row rows[LINES_SHOWN];
    size_t count = own_rows(o, rows), room = LINES_ROOM;
    struct view_rows shown = o->own;
    struct columns_text columns;
    struct buffer b = BUFFER_INIT;
    int err;

    if (!count)
        return 0;
    shown.rows.rows = rows;
    shown.columns[VIEW_COLUMNS_AMOUNTS] = &columns_of_own;
    shown.columns[VIEW_COLUMNS_WHAT] = shown.columns[VIEW_COLUMNS_NOTES] = NULL;
    err = columns_fit(&columns, &shown, count, out);
    if (!err) {
        print_own_heading(o, out);
        fprintf(out, "%s\n", table_head(columns.table, &b));
    }
    for (size_t i = 0; !err && i < count; i++)
        if (model_row_foreign(&shown.rows, &rows[i]))
            print_own_row(&columns, i, 0, out);
        else if (room)
            room -= print_own_row(&columns, i, room, out);
    if (!err)
        print_without_line(o, out);
    columns_free(&columns);
    buffer_free(&b);
    return err;
}

/* ---- types ---- */

/* How the bytes of a type are spread over lines of own code. */
struct spread {
    const struct model_row *most; /* the line with more than half of them; NULL: no line has */
    double all, foreign;          /* bytes; foreign: of no own frame */
    size_t places;
};

static struct spread spread_of(const struct overview *o, uint32_t class_number)
{
    struct spread s = {.most = NULL};
    double most = 0;

    for (size_t i = 0; i < o->own.rows.count; i++) {
        const struct model_row *row = &o->own.rows.rows[i];

        for (size_t k = row->first_type; k < row->first_type + row->type_count; k++) {
            double bytes = o->own.rows.types[k].bytes;

            if (o->own.rows.types[k].class_number != class_number || !(bytes > 0))
                continue;
            s.all += bytes;
            if (model_row_foreign(&o->own.rows, row)) {
                s.foreign += bytes;
                continue;
            }
            s.places++;
            if (bytes > most) {
                most = bytes;
                s.most = row;
            }
        }
    }
    if (most * 2 <= s.all)
        s.most = NULL;
    return s;
}

/* Who makes most of a type, or that nobody does. */
static bool spread_value(struct view_row *row, struct column_value *out)
{
    const struct overview *o = row->of->context;
    struct spread s = spread_of(o, row->row->what);

    if (s.most && s.most->place->file) {
        view_find_line(&o->own, s.most, out);
    } else if (s.most) {
        out->name = true;
        out->text = view_place(o->v, s.most->place, &out->made);
    } else if (s.foreign * 2 >= s.all) {
        out->text = "(no own frame)";
    } else {
        buffer_format(&out->made, "(spread over %zu places)", s.places);
        out->text = out->made.failed ? "" : out->made.data;
    }
    return true;
}

static bool any_own(const struct view_rows *r)
{
    return model_own_any(r->view->read.own);
}

static const struct column type_columns[] = {
    VIEW_AMOUNTS(3),
    COLUMN("type", NAME, view_value_type, .least = 24),
    COLUMN("most of it by", PLACE, spread_value, .rank = 1, .least = 24, .shown = any_own),
    VIEW_ONCE,
};
static const struct columns columns_of_types = COLUMNS(type_columns);

static int print_types(const struct overview *o, FILE *out)
{
    struct view_rows shown = o->types;
    size_t count = shown.rows.count < TYPES_SHOWN ? shown.rows.count : TYPES_SHOWN;

    if (!count)
        return 0;
    shown.context = o;
    shown.columns[VIEW_COLUMNS_AMOUNTS] = &columns_of_types;
    shown.columns[VIEW_COLUMNS_WHAT] = shown.columns[VIEW_COLUMNS_NOTES] = NULL;
    putc('\n', out);
    return columns_table(&shown, count, out);
}

/* ---- processes ---- */

static int print_processes(const struct overview *o, FILE *out)
{
    size_t count = o->processes.rows.count;

    if (!count)
        return 0;
    fputs("\nProcesses\n", out);
    return view_processes_text(&o->processes, count < PIDS_SHOWN ? count : PIDS_SHOWN, false, out);
}

/* ---- rate, collections, commands ---- */

static void print_rate(const struct overview *o, FILE *out)
{
    const struct view *v = o->v;
    const struct time_line *l = &o->time;
    struct text_number rate, peak;
    struct buffer bars = BUFFER_INIT;
    char at[32];
    double seconds = (double)(l->count - l->first) * (double)l->slice_ns / 1e9;

    if (model_untimed(v->read.model)) {
        fprintf(out, "No rate over time: %s keep%s no times.\n",
                v->how.reading.rows ? "rows" : "--log sites", v->how.reading.rows ? "" : "s");
        return;
    }
    if (!(seconds > 0) || !(l->most > 0))
        return;
    time_line_put(l, &bars);
    fprintf(out, "%s/s  %s\n", text_bytes(&rate, (uint64_t)(v->sum[MODEL_BYTES] / seconds)),
            bars.failed || !bars.data ? "" : bars.data);
    fprintf(out, "  over %s, at most %s/s", range_time((l->count - l->first) * l->slice_ns, at),
            text_bytes(&peak, (uint64_t)(l->most / ((double)l->slice_ns / 1e9))));
    fprintf(out, " at %s\n", range_time(l->peak * l->slice_ns, at));
    buffer_free(&bars);
}

static void print_collections(const struct view *v, FILE *out)
{
    uint64_t count = model_log(v->read.model)->tally.records[SST_KIND_GC];
    struct text_number n;

    if (count)
        fprintf(out, "  %s collection%s\n", text_count(&n, count), text_plural(count));
}

/* What the log says of live objects, whatever the filter: the views tell more. */
static void print_alive(const struct view *v, FILE *out)
{
    const struct report_live *live = model_live(v->read.model);
    struct text_number allocs, bytes, peak, low, high;
    struct report_amount range;

    if (!live->ended)
        return;
    fprintf(out, "  alive after the last collection: %s object%s, %s bytes",
            text_count(&allocs, (uint64_t)live->ended_allocs),
            text_plural((uint64_t)live->ended_allocs),
            text_count(&bytes, (uint64_t)live->ended_bytes));
    fprintf(out, "; at most %s bytes", text_count(&peak, (uint64_t)live->peaked_bytes));
    if (live->ended == 1)
        fprintf(out, ", after number %llu", (unsigned long long)live->peak.gc);
    fputs(live->why ? " (not exact)\n" : "\n", out);
    if (report_live_bound(live, live->ended_bytes, &range))
        fprintf(out, "  estimated: at least %s of them and at most %s, in 95 of 100 cases\n",
                text_short(&low, range.low), text_short(&high, range.high));
}

static void print_command(const char *what, const char *options, const struct view *v,
                          const char *behind, FILE *out)
{
    struct buffer b = BUFFER_INIT;

    buffer_format(&b, "shadowtrace %s %s", options, v->how.reading.rows ? "--from-rows " : "");
    view_logs(v, &b);
    buffer_text(&b, behind);
    fprintf(out, "  %-21s ", what);
    text_print(out, b.failed ? options : b.data);
    putc('\n', out);
    buffer_free(&b);
}

/* Who calls the method of a row. */
static void print_callers(const struct view *v, const struct model_row *row, FILE *out)
{
    struct buffer name = BUFFER_INIT, b = BUFFER_INIT, options = BUFFER_INIT;
    const char *method = view_place(v, row->place, &name);

    buffer_append(&b, method, (size_t)(name_parameters(method) - method));
    buffer_text(&options, "report --view callers ");
    view_quote(b.data ? b.data : "", &options);
    if (!b.failed && !options.failed)
        print_command("who calls the first", options.data, v, "", out);
    buffer_free(&name);
    buffer_free(&b);
    buffer_free(&options);
}

static void print_source(const struct view *v, const struct model_row *row, FILE *out)
{
    struct buffer b = BUFFER_INIT;

    buffer_char(&b, ' ');
    view_quote(path_base_name_foreign(row->place->file), &b);
    if (!b.failed)
        print_command("its source", "annotate", v, b.data, out);
    buffer_free(&b);
}

static void print_commands(const struct overview *o, FILE *out)
{
    const struct model_row *own = first_own(o);
    const struct view *v = o->v;

    fputs("\nMore\n", out);
    if (own) {
        print_command("all lines like these", "report --by own", v, "", out);
        print_callers(v, own, out);
    }
    if (model_own_any(v->read.own) && !v->filter.no_own && own_share(o) < 1)
        print_command("without own frame", "report --view tree --no-own", v, "", out);
    if (own && own->place->file && !v->logs[1] && !v->how.reading.rows)
        print_source(v, own, out);
    if (o->processes.rows.count > PIDS_SHOWN)
        print_command("all processes", "report --view processes", v, "", out);
    print_command("from Main on", "report --view tree", v, "", out);
    if (model_live(v->read.model)->ended) {
        print_command("what is alive", "report --view end", v, "", out);
        print_command("what was, at the peak", "report --view peak", v, "", out);
        print_command("what died at once", "report --view temporary", v, "", out);
    }
    print_command("by another key", "report --view types|methods|lines|modules|threads|sizes|time",
                  v, "", out);
}

static int print_text(const struct overview *o, struct view *v, FILE *out)
{
    int err;

    if (!v->read.stand_in && own_share(o) >= OWN_SPEAKS)
        buffer_clear(&v->read.own_note); /* the lines below answer what it is about */
    view_head(v, out);
    print_rate(o, out);
    print_collections(o->v, out);
    print_alive(o->v, out);
    err = print_processes(o, out);
    if (!err)
        err = print_own(o, out);
    if (!err)
        err = print_types(o, out);
    if (!err)
        err = print_paths(o, out);
    if (!err) {
        print_commands(o, out);
        putc('\n', out);
        view_foot(o->v, out);
    }
    return err;
}

/* ---- JSON ---- */

static void path_json(const struct overview *o, const struct hot_path *path, struct json_writer *w)
{
    const struct model_tree *t = path->tree;

    jw_line_object(w, 2, NULL);
    jw_unsigned(w, "bytes", report_whole(path->bytes));
    jw_number(w, "share", "%.6g", view_share(o->v, path->bytes));
    jw_text(w, "type", view_class(o->v, path->class_number));
    jw_array(w, "path");
    for (uint32_t node = path->node; node; node = t->nodes[node].parent) {
        struct buffer b = BUFFER_INIT;

        jw_text(w, NULL, view_place(o->v, &t->places[t->nodes[node].place], &b));
        buffer_free(&b);
    }
    jw_end(w);
    jw_end(w);
}

static void alive_json(const struct view *v, struct json_writer *w)
{
    const struct report_live *live = model_live(v->read.model);
    struct report_amount range;

    if (!live->ended)
        return;
    jw_object(w, "live");
    jw_number(w, "allocs", "%.0f", live->ended_allocs);
    jw_number(w, "bytes", "%.0f", live->ended_bytes);
    if (report_live_bound(live, live->ended_bytes, &range))
        view_range_json("bytes_range", &range, w);
    jw_number(w, "peak_allocs", "%.0f", live->peaked_allocs);
    jw_number(w, "peak_bytes", "%.0f", live->peaked_bytes);
    if (report_live_bound(live, live->peaked_bytes, &range))
        view_range_json("peak_bytes_range", &range, w);
    jw_bool(w, "exact", !live->why);
    jw_end(w);
}

static size_t at_most(uint64_t top, size_t count)
{
    return top && top < count ? (size_t)top : count;
}

static int print_json(const struct overview *o, FILE *out)
{
    const struct view *v = o->v;
    const struct view_rows time = time_line_rows(v, &o->time);
    size_t shown = model_rows_shown(&o->own.rows);
    uint64_t collections = model_log(v->read.model)->tally.records[SST_KIND_GC];
    struct json_writer w;

    jw_init(&w, out);
    view_begin_json(v, o->own.rows.count, &w);
    if (collections)
        jw_unsigned(&w, "collections", collections);
    alive_json(v, &w);
    without_line_json(o, &w);
    columns_json(&o->own, "rows", shown, &w);
    columns_json(&o->types, "types", at_most(v->top, o->types.rows.count), &w);
    if (o->processes.rows.count)
        columns_json(&o->processes, "processes", at_most(v->top, o->processes.rows.count), &w);
    jw_line_array(&w, 1, "paths");
    for (size_t i = 0; i < o->path_count; i++)
        path_json(o, &o->paths[i], &w);
    jw_end(&w);
    columns_json(&time, "time", model_untimed(v->read.model) ? 0 : time.rows.count, &w);
    jw_end(&w);
    return jw_finish(&w);
}

int view_overview(struct view *v, FILE *out)
{
    struct overview o = {.v = v};
    int err = view_rows_init(&o.own, v, VIEW_OVERVIEW);

    if (!err)
        err = view_rows_init(&o.types, v, VIEW_TYPES);
    if (!err && model_processes(v->read.model)->count > 1 && !v->filter.thread)
        err = view_rows_init(&o.processes, v, VIEW_PROCESSES);
    if (!err)
        err = time_line_init(&o.time, v);
    if (!err)
        err = find_paths(&o);
    if (!err)
        err = v->format == READING_JSON ? print_json(&o, out) : print_text(&o, v, out);
    view_rows_fini(&o.own);
    view_rows_fini(&o.types);
    view_rows_fini(&o.processes);
    time_line_fini(&o.time);
    model_tree_free(o.folded);
    model_tree_free(o.foreign);
    return err;
}
