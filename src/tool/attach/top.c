#include "attach/top.h"

#include "process/grows.h"
#include "report/source_lines.h"
#include "terminal/text.h"

#include "base/array.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SITES  1000
#define MAX_FRAMES 200
#define KEY_SIZE   300
#define REST       "rest" /* key of sites that did not fit into a reply: an upper bound */

int top_init(struct top *t, enum names_style style)
{
    *t = (struct top){.view = TOP_SITES, .style = style};
    t->stacks = live_stacks_new(NULL, 0, true, style);
    t->before = json_object();
    return t->stacks && t->before ? 0 : -ENOMEM;
}

static void rows_free(struct top *t)
{
    for (size_t i = 0; i < t->rows; i++)
        memory_free(t->row[i].text);
    memory_free(t->row);
    t->row = NULL;
    t->rows = t->capacity = 0;
}

void top_fini(struct top *t)
{
    json_t *answers[] = {t->status, t->sites, t->dump, t->before, t->alive, t->base, t->growing};

    rows_free(t);
    memory_free(t->type);
    live_stacks_free(t->stacks);
    names_free(t->names);
    memory_free(t->first_method);
    memory_free(t->warning);
    for (size_t i = 0; i < COUNT_OF(answers); i++)
        json_decref(answers[i]);
}

static bool shows_alive(const struct top *t)
{
    return t->view == TOP_ALIVE || t->view == TOP_ALIVE_TYPES;
}

/* What the view is made of. */
static const json_t *source_of(const struct top *t)
{
    return shows_alive(t) ? t->alive : t->sites;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void key_of(const json_t *site, char key[KEY_SIZE])
{
    snprintf(key, KEY_SIZE, "%.0f/%.0f/%s", number(site, "node"), number(site, "il"),
             client_text(site, "type"));
}

static void add_to(json_t *site, const json_t *other, const char *key)
{
    json_object_set_new(site, key, json_real(number(site, key) + number(other, key)));
}

/* Call sites that look the same are one: an instruction has several in code compiled again. */
static void merge(json_t *reply)
{
    json_t *rows = json_object_get(reply, "rows"), *met = json_object(), *site, *first;
    char key[KEY_SIZE];

    for (size_t i = 0; i < json_array_size(rows);) {
        site = json_array_get(rows, i);
        key_of(site, key);
        first = json_object_get(met, key);
        if (!first) {
            json_object_set(met, key, site);
            i++;
            continue;
        }
        add_to(first, site, "bytes");
        add_to(first, site, "allocs");
        json_array_remove(rows, i);
    }
    json_decref(met);
}

static json_t *remember(const json_t *sites)
{
    json_t *all = json_object(), *site;
    char key[KEY_SIZE];
    size_t i;

    json_array_foreach(json_object_get(sites, "rows"), i, site)
    {
        key_of(site, key);
        json_object_set_new(all, key,
                            json_pack("[f, f]", number(site, "bytes"), number(site, "allocs")));
    }
    return all;
}

void top_take(json_t **keep, json_t *reply)
{
    merge(reply);
    json_decref(*keep);
    *keep = reply;
}

static int ask(struct client *client, json_t *request, json_t **keep)
{
    json_t *reply;
    int err = client_ask(client, request, &reply);

    if (!err)
        top_take(keep, reply);
    return err;
}

/* The texts of sites' types and frames, as the replies have them. Returns: how many frames. */
static size_t texts_of(const json_t *rows, const char **types, const char **methods,
                       uint32_t *first)
{
    size_t count = 0, row, frame;
    json_t *site, *method;

    json_array_foreach(rows, row, site)
    {
        if (types) {
            types[row] = client_text(site, "type");
            first[row] = (uint32_t)count;
        }
        json_array_foreach(json_object_get(site, "stack"), frame, method)
        {
            const char *text = json_string_value(method);

            if (methods)
                methods[count] = text ? text : "?";
            count++;
        }
    }
    return count;
}

/* Names of what the reply holds that the view is made of. Returns: 0 or -ENOMEM. */
static int take_names(struct top *t)
{
    const json_t *rows = json_object_get(source_of(t), "rows");
    size_t count = json_array_size(rows), frames = texts_of(rows, NULL, NULL, NULL);
    const char **types = memory_alloc((count + 1) * sizeof(*types)),
               **methods = memory_alloc((frames + 1) * sizeof(*methods));
    struct names_texts texts = {methods, types, frames, count};
    int err = -ENOMEM;

    memory_free(t->first_method);
    t->first_method = memory_alloc((count + 1) * sizeof(*t->first_method));
    if (types && methods && t->first_method) {
        texts_of(rows, types, methods, t->first_method);
        err = names_of_texts(&texts, t->style, &t->names);
    }
    t->named = source_of(t);
    memory_free_all(types, methods);
    return err;
}

/* Only if the view is shown. If it is not available, that is no failure: other views go on. */
static int look_alive(struct top *t, struct client *client)
{
    int err =
        ask(client, json_pack("{s:s, s:i}", "command", "alive", "most", MAX_SITES), &t->alive);

    *t->refused = '\0';
    if (err == -EPROTO)
        snprintf(t->refused, sizeof(t->refused), "%s", client->why);
    if (!err && !t->base)
        top_begin(t);
    return err == -EPROTO ? 0 : err;
}

/* Sites that grow are asked after in each view, as long as the process knows of any objects. */
static int look_growing(struct top *t, struct client *client)
{
    const json_t *from = shows_alive(t) || t->alive ? t->alive : NULL;
    json_t *reply = NULL, *grows;
    struct buffer text = BUFFER_INIT;
    int err = 0;

    if (!from && !t->dead_unknown) {
        err = client_ask(client, json_pack("{s:s, s:i}", "command", "alive", "most", 0), &reply);
        t->dead_unknown = err == -EPROTO;
        from = reply;
    }
    grows = json_object_get(from, "grows");
    if (!json_equal(grows, t->growing)) { /* symbols are read only then */
        json_decref(t->growing);
        t->growing = json_incref(grows);
        grows_text(grows, SIZE_MAX, &text);
        memory_free(t->warning);
        t->warning = text.size ? buffer_take(&text) : NULL;
    }
    json_decref(reply);
    return err == -EPROTO ? 0 : err;
}

bool top_warning(const struct top *t, size_t index, char *to, size_t size)
{
    const char *line = t->warning;

    while (line && *line && index-- > 0)
        line += strcspn(line, "\n") + 1;
    if (!line || !*line)
        return false;
    snprintf(to, size, "%.*s", (int)strcspn(line, "\n"), line);
    return true;
}

void top_begin(struct top *t)
{
    const json_t *rows = json_object_get(t->alive, "rows");
    json_t *base = t->alive ? remember(t->alive) : NULL;
    size_t count = json_array_size(rows);
    const json_t *least = json_array_get(rows, count ? count - 1 : 0);

    if (!base)
        return;
    if (number(t->alive, "sites") > (double)count)
        json_object_set_new(base, REST, json_pack("[f]", number(least, "bytes")));
    json_decref(t->base);
    t->base = base;
}

int top_look(struct top *t, struct client *client)
{
    uint64_t now = clock_ns();
    int err;

    if (t->sites) {
        json_decref(t->before);
        t->before = remember(t->sites);
        t->seconds = (double)(now - t->looked_ns) / 1e9;
    }
    rows_free(t); /* they point into the replies */
    names_free(t->names);
    t->names = NULL;
    err = ask(client, json_pack("{s:s, s:i}", "command", "sites", "most", MAX_SITES), &t->sites);
    t->looked_ns = now;
    if (!err && (shows_alive(t) || t->alive))
        err = look_alive(t, client);
    if (!err)
        err = look_growing(t, client);
    if (!err)
        err = ask(client, json_pack("{s:s}", "command", "status"), &t->status);
    if (!err && strcmp(client_text(t->status, "hooks"), "none") != 0)
        err =
            ask(client, json_pack("{s:s, s:i}", "command", "dump", "frames", MAX_FRAMES), &t->dump);
    if (!err && t->dump)
        err = live_stacks_take(t->stacks, t->dump);
    return err;
}

/* ---- rows ---- */

static struct top_row *row_add(struct top *t, char *words)
{
    if (!words || !array_reserve(&t->row, &t->capacity, t->rows + 1)) {
        memory_free(words);
        return NULL;
    }
    t->row[t->rows] = (struct top_row){.text = words};
    return &t->row[t->rows++];
}

static char *join(const char *first, const char *between, const char *second)
{
    size_t size = strlen(first) + strlen(between) + strlen(second) + 1;
    char *all = memory_alloc(size);

    if (all)
        snprintf(all, size, "%s%s%s", first, between, second);
    return all;
}

/* Adds what a site allocated since the look before, or has alive. */
static void row_take(const struct top *t, struct top_row *row, const json_t *site)
{
    const json_t *before;
    char key[KEY_SIZE];

    key_of(site, key);
    before = json_object_get(t->before, key);
    row->total += number(site, "bytes");
    if (shows_alive(t)) {
        row->count_rate += number(site, "allocs");
        before = json_object_get(t->base, key);
        if (!before)
            before = json_object_get(t->base, REST);
        row->rate += number(site, "bytes") - json_number_value(json_array_get(before, 0));
        return;
    }
    if (t->seconds <= 0)
        return;
    row->rate +=
        (number(site, "bytes") - json_number_value(json_array_get(before, 0))) / t->seconds;
    row->count_rate +=
        (number(site, "allocs") - json_number_value(json_array_get(before, 1))) / t->seconds;
}

static int arrange_sites(struct top *t)
{
    const char *method;
    struct top_row *row;
    json_t *site;
    size_t i;

    json_array_foreach(json_object_get(source_of(t), "rows"), i, site)
    {
        if (t->type && strcmp(t->type, client_text(site, "type")) != 0)
            continue;
        method = json_string_value(json_array_get(json_object_get(site, "stack"), 0));
        row = row_add(
            t, join(names_class(t->names, (uint32_t)i), "  ",
                    method ? names_method(t->names, t->first_method[i]) : "(no managed frame)"));
        if (!row)
            return -ENOMEM;
        row->site = site;
        row->row = i;
        row->type = client_text(site, "type");
        row->method = method;
        row_take(t, row, site);
    }
    return 0;
}

static int arrange_types(struct top *t)
{
    struct top_row *row;
    json_t *site;
    size_t i;

    json_array_foreach(json_object_get(source_of(t), "rows"), i, site)
    {
        const char *type = client_text(site, "type");

        for (row = t->row; row < t->row + t->rows && strcmp(row->type, type) != 0;)
            row++;
        if (row == t->row + t->rows &&
            !(row = row_add(t, join(names_class(t->names, (uint32_t)i), "", ""))))
            return -ENOMEM;
        row->type = type;
        row_take(t, row, site);
    }
    return 0;
}

static int arrange_threads(struct top *t)
{
    struct live_thread thread;
    struct live_frame frame;
    struct top_row *row;
    char head[160];

    for (size_t i = 0; t->dump && i < live_stacks_count(t->stacks); i++) {
        live_stacks_thread(t->stacks, i, &thread);
        if (!thread.depth || !thread.count)
            continue;
        live_stacks_frame(t->stacks, &thread, 0, &frame);
        snprintf(head, sizeof(head), "%8u %-20.60s%s", thread.os, thread.name ? thread.name : "",
                 thread.exact ? "  " : " ~");
        row = row_add(t, join(head, "", frame.method));
        if (!row)
            return -ENOMEM;
        row->total = thread.depth;
        row->thread = i;
    }
    return 0;
}

static double worth(const struct top_row *row, enum top_order order)
{
    if (order == TOP_BY_RATE)
        return row->rate;
    return order == TOP_BY_COUNT ? row->count_rate : row->total;
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct top *t = context;
    const struct top_row *x = a, *y = b;
    /* threads have nothing but their depth */
    enum top_order order = t->view == TOP_THREADS ? TOP_BY_TOTAL : t->order;
    double left = worth(x, order), right = worth(y, order);

    if (left != right)
        return left < right ? 1 : -1;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return strcmp(x->text, y->text);
}

static bool holds(const char *text, const char *part)
{
    return text && strstr(text, part);
}

/* As it is shown, or in full. */
static bool is_wanted(const struct top *t, const struct top_row *row)
{
    return holds(row->text, t->filter) || holds(row->type, t->filter) ||
           holds(row->method, t->filter);
}

static void apply_filter(struct top *t)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->rows; i++) {
        if (*t->filter && !is_wanted(t, &t->row[i]))
            memory_free(t->row[i].text);
        else
            t->row[kept++] = t->row[i];
    }
    t->rows = kept;
}

int top_arrange(struct top *t)
{
    static int (*const arrange[TOP_VIEWS])(struct top * t) = {[TOP_SITES] = arrange_sites,
                                                              [TOP_TYPES] = arrange_types,
                                                              [TOP_THREADS] = arrange_threads,
                                                              [TOP_ALIVE] = arrange_sites,
                                                              [TOP_ALIVE_TYPES] = arrange_types};
    int err;

    rows_free(t);
    if (t->named != source_of(t)) {
        names_free(t->names);
        t->names = NULL;
    }
    err = t->names ? 0 : take_names(t);
    if (err)
        return err;
    err = arrange[t->view](t);
    apply_filter(t);
    if (t->rows)
        qsort_r(t->row, t->rows, sizeof(*t->row), compare_rows, t);
    return err;
}

void top_open_type(struct top *t, size_t row)
{
    char *type = memory_strdup(t->row[row].type);

    if (!type)
        return;
    t->type = type;
    t->view = shows_alive(t) ? TOP_ALIVE : TOP_SITES;
}

void top_close_type(struct top *t)
{
    if (t->type)
        t->view = shows_alive(t) ? TOP_ALIVE_TYPES : TOP_TYPES;
    memory_free(t->type);
    t->type = NULL;
}

/* ---- text ---- */

static const char *how_exact(const struct top *t)
{
    const char *why = json_string_value(json_object_get(json_object_get(t->status, "live"), "why"));

    if (!json_is_false(json_object_get(t->alive, "exact")))
        return "";
    return why && strcmp(why, "sampled") == 0 ? ", estimated" : ", not exact";
}

/* Of what is alive: the collection behind which it is, and which was the last full one. */
static void title_alive(const struct top *t, char *to, size_t size)
{
    static const char *const orders[] = {"growth", "objects", "bytes"};
    struct text_number objects, bytes;

    if (*t->refused || !t->alive)
        snprintf(to, size, "%s", *t->refused ? t->refused : "asking what is alive");
    else
        snprintf(to, size,
                 "%s (pid %.0f) alive; %s%s%s by %s%s%s; %s objects, %s%s; collection %.0f, full "
                 "%.0f",
                 client_text(t->status, "name"), number(t->status, "pid"),
                 t->view == TOP_ALIVE ? "sites" : "types", t->type ? " of " : "",
                 t->type ? t->type : "", orders[t->order], *t->filter ? "; with " : "", t->filter,
                 text_count(&objects, (uint64_t)number(t->alive, "objects")),
                 text_bytes(&bytes, (uint64_t)number(t->alive, "bytes")), how_exact(t),
                 number(t->alive, "gc"), number(t->alive, "full"));
    clean_in_place(to);
}

/* Of threads: what their stacks leave out. */
static const char *hooked_only(const struct top *t)
{
    return t->view == TOP_THREADS && json_is_true(json_object_get(t->dump, "some_hooked"))
               ? "; hooked methods only"
               : "";
}

void top_title(const struct top *t, char *to, size_t size)
{
    static const char *const views[] = {"call sites", "types", "threads"};
    static const char *const orders[] = {"bytes/s", "objects/s", "bytes"};
    struct text_number events;

    if (shows_alive(t)) {
        title_alive(t, to, size);
        return;
    }
    snprintf(to, size, "%s (pid %.0f, .NET %s) %s; %s events; %s%s%s by %s%s%s%s",
             client_text(t->status, "name"), number(t->status, "pid"),
             client_text(t->status, "runtime"),
             json_is_true(json_object_get(t->status, "paused")) ? "paused" : "recording",
             text_count(&events, (uint64_t)number(t->status, "written")), views[t->view],
             t->type ? " of " : "", t->type ? t->type : "",
             t->view == TOP_THREADS ? "depth" : orders[t->order], hooked_only(t),
             *t->filter ? "; with " : "", t->filter);
    clean_in_place(to);
}

const char *top_columns(const struct top *t)
{
    static const char *const columns[TOP_VIEWS] = {
        [TOP_SITES] = "  bytes/s  objects/s      bytes  type  method that allocates",
        [TOP_TYPES] = "  bytes/s  objects/s      bytes  type",
        [TOP_THREADS] = "  depth   thread name                  now in (~ approximate)",
        [TOP_ALIVE] = "    grown    objects      bytes  type  method that allocates",
        [TOP_ALIVE_TYPES] = "    grown    objects      bytes  type",
    };

    return columns[t->view];
}

void top_line(const struct top *t, size_t index, char *to, size_t size)
{
    const struct top_row *row = &t->row[index];
    struct text_number a, b, c;

    if (t->view == TOP_THREADS)
        snprintf(to, size, "%7.0f %s", row->total, row->text);
    else
        snprintf(to, size, "%9s %10s %10s  %s", text_short(&a, row->rate),
                 text_short(&b, row->count_rate), text_short(&c, row->total), row->text);
    clean_in_place(to);
}

static bool detail_of_thread(struct top *t, size_t thread_index, size_t index, char *to,
                             size_t size)
{
    struct live_thread thread;
    struct buffer line = BUFFER_INIT;
    struct live_frame frame;

    live_stacks_thread(t->stacks, thread_index, &thread);
    if (index >= thread.count)
        return false;
    live_stacks_frame(t->stacks, &thread, index, &frame);
    if (frame.file) {
        source_line_put(&line, frame.line, frame.line_last);
        snprintf(to, size, "    at %s  %s%s", frame.method, frame.file,
                 line.failed ? "" : line.data);
        buffer_free(&line);
    } else
        snprintf(to, size, "    %s %s", frame.certain ? "at" : "??", frame.method);
    return true;
}

static bool detail_of_site(const struct top *t, const struct top_row *row, size_t index, char *to,
                           size_t size)
{
    if (index >= json_array_size(json_object_get(row->site, "stack")))
        return false;
    snprintf(to, size, "    at %s",
             names_method(t->names, t->first_method[row->row] + (uint32_t)index));
    return true;
}

bool top_detail(struct top *t, size_t row, size_t index, char *to, size_t size)
{
    bool there = t->view == TOP_THREADS ? detail_of_thread(t, t->row[row].thread, index, to, size)
                                        : detail_of_site(t, &t->row[row], index, to, size);

    if (there)
        clean_in_place(to);
    return there;
}
