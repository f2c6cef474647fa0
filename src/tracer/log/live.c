/*
 * log/live.c - --live: what became of objects, as it is taken from the table at most once a second:
 * a line for each site that has changed, the first of which says what the site is, and a total.
 *
 * A part opens with what the lines before have added up to. What grows is known by places, which
 * are coarser than sites (grows.h).
 */
#include "log/records.h"
#include "log/rounds.h"

#include "log/grows.h"

#include "base/array.h"
#include "base/decimal.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

#define TAKE_NS 1000000000ull

#define BELOW_UNKNOWN 0          /* log_live.below; else a node */
#define BELOW_NONE    UINT32_MAX /* no caller is own code */

/* A site, by its id. */
struct site {
    uint32_t node, site, class;
    uint32_t part;           /* that has its line; 0: none */
    uint64_t objects, bytes; /* alive, by what was written */
};

struct log_live {
    struct live_sums sums;
    struct site *site;
    size_t sites, capacity;    /* ids below `sites` */
    bool taken;                /* sums are being written */
    size_t at;                 /* the row that is next */
    size_t opening;            /* the site that is next in the opening of a part; 0: it is open */
    uint64_t next_ns;          /* not before */
    struct live_total last;    /* as of its last line */
    uint64_t objects, bytes;   /* alive, by the lines: a part may begin between those of a total */
    _Atomic(uint64_t) written; /* its number, for others */
    struct grows *grows;
    uint64_t looks;           /* that grows knows of */
    _Atomic(uint32_t) *below; /* by node: below_own(); pages come as they are touched */
    size_t nodes;
};

int log_live_new(uint32_t grows_after, uint32_t max_nodes, struct log_live **out)
{
    struct log_live *live = *out = memory_zalloc(1, sizeof(**out));

    if (!live)
        return -ENOMEM;
    live->nodes = max_nodes;
    live->below = memory_pages_map(live->nodes * sizeof(*live->below));
    return live->below ? grows_new(grows_after, &live->grows) : -ENOMEM;
}

void log_live_free(struct log_live *live)
{
    if (!live)
        return;
    grows_free(live->grows);
    live_sums_free(&live->sums);
    memory_pages_unmap((void *)(uintptr_t)live->below, live->nodes * sizeof(*live->below));
    memory_free_all(live->site, live);
}

static const char *why_word(enum sst_live_why why)
{
#define WHY(name, text) [SST_LIVE_##name] = text,
    static const char *const words[] = {SST_LIVE_WHYS(WHY)};

    return words[why];
}

/* A line that has begun, of one site. */
struct line {
    enum sst_kind kind;
    size_t mark; /* where in the buffer */
};

static int begin_site(struct log *log, uint32_t id, const struct site *site, bool gone,
                      struct line *line)
{
    struct buffer *b = &log->file.buffer;
    uint32_t class_id =
        ((const struct metadata_class *)live_class(log->config.live, site->class))->id;
    char *first, *at;

    *line = (struct line){SST_KIND_LIVE_SITE, b->size};
    first = at = buffer_reserve(b, LOG_LINE);
    if (!first)
        return log_line_drop(log, line->mark);
    at = LOG_PUT_NUMBER(at, "{\"kind\":\"live_site\",\"id\":", id);
    at = LOG_PUT_NUMBER(at, ",\"node\":", gone ? SST_NODE_EMPTY : log_node_id(log, site->node));
    if (gone)
        at = LOG_PUT(at, ",\"unloaded\":true");
    else if (!tree_is_cut(site->node))
        at = log_put_inlined(log_put_il(at, log_site_il(log, site->site)),
                             log_site_inlined(log, site->site));
    at = LOG_PUT_NUMBER(at, ",\"class\":", class_id);
    b->size += (size_t)(at - first);
    if (!gone)
        log_put_heap(b, EVENT_HEAP_NORMAL, site->node);
    return 0;
}

/* Where a site is: the frame of own code nearest to it, or the one that allocates. */
struct where {
    const struct metadata_method *method; /* NULL: no managed frame */
    int32_t il;                           /* below 0: not known */
};

static const struct metadata_method *method_of(const struct log *log, const struct tree_node *node)
{
    return (const struct metadata_method *)tree_method(log->config.tree, node);
}

static bool is_own(const struct log *log, const struct tree_node *node)
{
    const struct metadata_module *module = method_of(log, node)->module;

    return module && module->owner == SST_OWNER_OWN;
}

/*
 * The first node on the way up whose caller is in own code; NULL: none. Cached for all nodes on the
 * way, for the next site: paths may be thousands of frames long.
 */
static const struct tree_node *below_own(const struct log *log, const struct tree_node *node)
{
    const struct tree *tree = log->config.tree;
    _Atomic(uint32_t) *below = log->live->below;
    const struct tree_node *at = node, *caller;
    uint32_t found = BELOW_UNKNOWN;
    size_t steps = 0;

    for (; found == BELOW_UNKNOWN; at = caller, steps++) {
        caller = tree_caller(tree, at);
        found = load_relaxed(&below[tree_id(tree, at)]);
        if (found == BELOW_UNKNOWN && (!caller || !caller->up))
            found = BELOW_NONE;
        else if (found == BELOW_UNKNOWN && is_own(log, caller))
            found = tree_id(tree, at);
    }
    for (at = node; steps > 0; at = tree_caller(tree, at), steps--)
        store_relaxed(&below[tree_id(tree, at)], found);
    return found == BELOW_NONE ? NULL : tree_node_by_id(log->config.tree, found);
}

static struct where where_of(const struct log *log, const struct site *site)
{
    const struct tree_node *node = tree_node_by_id(log->config.tree, tree_uncut(site->node));
    int32_t il = tree_is_cut(site->node) ? CODE_IL_NONE : log_site_il(log, site->site);
    struct where where = {NULL, CODE_IL_NONE};
    const struct tree_node *below = NULL;

    if (!node || !node->up)
        return where;
    if (!is_own(log, node))
        below = below_own(log, node);
    if (below) {
        node = tree_caller(log->config.tree, below);
        il = node == tree_parent(below) ? load_relaxed(&tree_call(log->config.tree, below)->il)
                                        : CODE_IL_NONE;
    }
    where.method = method_of(log, node);
    where.il = il < 0 ? il : il & ~CODE_IL_UNOPTIMISED;
    return where;
}

void log_live_forget(struct log *log, const struct tree_list *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        store_relaxed(&log->live->below[nodes->number[i]], BELOW_UNKNOWN);
}

/* Known by the time that it is defined. */
static int note_place(struct log *log, uint32_t id, const struct site *site,
                      const struct metadata_class *class)
{
    struct where where = where_of(log, site);

    if (!where.method) /* what the runtime keeps of code while more is compiled: nobody's line */
        return 0;
    return grows_note(log->live->grows, id,
                      &(struct grows_place){where.method->id, where.il, class->id});
}

static int define_held(struct log *log, uint32_t id, const struct site *site, struct line *line)
{
    const struct metadata_class *class;
    bool class_gone, gone = live_forgotten(log->config.live, id, &class_gone);
    int err;

    class = (const struct metadata_class *)live_class(log->config.live, site->class);
    if (class_gone || !class)
        return -ENOENT;
    err = log_define_class(log, class);
    if (!err && !gone)
        err = log_define_node(log, site->node);
    if (!err && !gone && log_site_il(log, site->site) == CODE_IL_PENDING)
        err = -EAGAIN;
    if (!err && !gone)
        err = log_define_inlined(log, log_site_inlined(log, site->site));
    if (!err && !gone)
        err = note_place(log, id, site, class);
    return err ? err : begin_site(log, id, site, gone, line);
}

/*
 * The line of a site, up to what it says of its objects; its first one in a part says what the site
 * is. 0; -EAGAIN: something has no name yet; -ENOENT: its class is gone; as define.c.
 */
static int begin(struct log *log, uint32_t id, uint64_t collection, struct line *line)
{
    const struct site *site = &log->live->site[id];
    struct buffer *b = &log->file.buffer;
    int err = 0;

    if (site->part == log->part) {
        *line = (struct line){SST_KIND_LIVE, b->size};
        log_put_number(b, "{\"kind\":\"live\",\"site\":", id);
    } else {
        live_hold(log->config.live); /* what is unloaded is not given back meanwhile */
        err = define_held(log, id, site, line);
        live_unhold(log->config.live);
    }
    if (!err)
        log_put_number(b, ",\"gc\":", collection);
    return err;
}

static int end(struct log *log, uint32_t id, const struct line *line)
{
    int err = log_line_end(log, line->kind, line->mark);

    if (!err)
        log->live->site[id].part = log->part;
    return err;
}

static bool opens(struct log_live *live)
{
    return live->opening > 0;
}

static int write_opening(struct log *log, uint32_t id)
{
    const struct site *site = &log->live->site[id];
    struct buffer *b = &log->file.buffer;
    struct line line;
    int err = begin(log, id, log->live->last.collection, &line);

    if (err)
        return err;
    log_put_number(b, ",\"survived\":", site->objects);
    log_put_number(b, ",\"survived_bytes\":", site->bytes);
    buffer_text(b, ",\"opening\":true");
    return end(log, id, &line);
}

static int write_row(struct log *log, const struct live_row *row)
{
    const struct live_sums *sums = &log->live->sums;
    struct buffer *b = &log->file.buffer;
    const char *separator = ",\"died\":[[";
    struct line line;
    int err = begin(log, row->key, sums->total.collection, &line);

    if (err)
        return err;
    if (row->survived) {
        log_put_number(b, ",\"survived\":", row->survived);
        log_put_number(b, ",\"survived_bytes\":", row->survived_bytes);
    }
    for (uint32_t i = row->died; i; i = sums->died[i - 1].next) {
        const struct live_died *died = &sums->died[i - 1];

        log_put_number(b, separator, died->generation);
        log_put_number(b, ",", died->age);
        log_put_number(b, ",", died->objects);
        log_put_number(b, ",", died->bytes);
        buffer_char(b, ']');
        separator = ",[";
    }
    if (row->died)
        buffer_char(b, ']');
    return end(log, row->key, &line);
}

static void settle(struct log *log, const struct live_row *row)
{
    struct log_live *live = log->live;
    struct site *site = &live->site[row->key];

    site->objects += row->survived;
    site->bytes += row->survived_bytes;
    live->objects += row->survived;
    live->bytes += row->survived_bytes;
    for (uint32_t i = row->died; i; i = live->sums.died[i - 1].next) {
        site->objects -= live->sums.died[i - 1].objects;
        site->bytes -= live->sums.died[i - 1].bytes;
        live->objects -= live->sums.died[i - 1].objects;
        live->bytes -= live->sums.died[i - 1].bytes;
    }
}

static void put_grows(struct log *log)
{
    struct buffer *b = &log->file.buffer;
    const char *separator = ",\"grows\":[[";
    const struct grown *grows;

    for (size_t i = 0; (grows = grows_at(log->live->grows, i)); i++) {
        if (log->live->site[grows->key].part != log->part)
            continue; /* its class is gone */
        log_put_number(b, separator, grows->key);
        log_put_number(b, ",", grows->looks);
        log_put_number(b, ",", grows->objects);
        buffer_char(b, ']');
        separator = ",[";
    }
    if (*++separator == '[')
        buffer_char(b, ']');
}

static int write_total(struct log *log, const struct live_total *total, bool opening)
{
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;

    log_put_number(b,
                   "{\"kind\":\"live_total\",\"t\":", log_t(log, clock_ticks_to_ns(total->ticks)));
    log_put_number(b, ",\"gc\":", total->collection);
    log_put_number(b, ",\"depth\":", total->depth);
    if (total->full)
        log_put_number(b, ",\"full\":", total->full);
    log_put_number(b, ",\"pause\":", total->pause_ns);
    log_put_number(b, ",\"pauses\":", total->pauses_ns);
    log_put_number(b, ",\"table_ns\":", total->table_ns);
    log_put_number(b, ",\"allocs\":", total->objects);
    log_put_number(b, ",\"bytes\":", total->bytes);
    log_put_number(b, ",\"memory\":", total->memory);
    log_put_number(b, ",\"memory_most\":", total->memory_most);
    buffer_text(b, total->why ? ",\"exact\":false,\"why\":\"" : ",\"exact\":true");
    if (total->why) {
        buffer_text(b, why_word(total->why));
        buffer_char(b, '"');
    }
    put_grows(log);
    if (opening)
        buffer_text(b, ",\"opening\":true");
    return log_line_end(log, SST_KIND_LIVE_TOTAL, mark);
}

/* A site of a row, so that it can be defined again in another part. */
static int note(struct log_live *live, const struct live_row *row)
{
    if (!array_reserve_zeroed(&live->site, &live->capacity, (size_t)row->key + 1))
        return -ENOMEM;
    live->site[row->key].node = row->node;
    live->site[row->key].site = row->site;
    live->site[row->key].class = row->class;
    if (live->sites <= row->key)
        live->sites = (size_t)row->key + 1;
    return 0;
}

/* Of each site that has any, what is alive. Returns: whether the part is open. */
static bool write_openings(struct log *log)
{
    struct log_live *live = log->live;
    struct live_total total = live->last;

    for (; opens(live) && live->opening < live->sites; live->opening++) {
        struct site *site = &live->site[live->opening];
        int err = site->objects ? write_opening(log, (uint32_t)live->opening) : 0;

        if (err == -ENOENT) { /* none of its objects can be alive */
            live->objects -= site->objects;
            live->bytes -= site->bytes;
            site->objects = site->bytes = 0;
        } else if (err) {
            return false;
        }
        log_file_flush_large(&log->file);
    }
    total.objects = live->objects;
    total.bytes = live->bytes;
    if (opens(live) && !write_total(log, &total, true))
        live->opening = 0;
    return !opens(live);
}

/* What a look found goes to its places; unless another one came since the sums were taken. */
static void look(struct log *log)
{
    struct log_live *live = log->live;
    uint64_t looks = live->sums.total.looks;

    if (looks == live->looks)
        return;
    live_hold(log->config.live);
    if (live_looks(log->config.live) == looks) {
        grows_begin(live->grows);
        for (size_t i = 1; i < live->sites; i++) {
            struct live_looked looked = live_looked(log->config.live, (uint32_t)i);

            grows_add(live->grows, (uint32_t)i, looked.alive, looked.went);
        }
        grows_end(live->grows);
        live->looks = looks;
    }
    live_unhold(log->config.live);
}

/* What is taken. Returns: whether it is all written. */
static bool write_sums(struct log *log)
{
    struct log_live *live = log->live;

    for (; live->at < live->sums.rows; live->at++) {
        const struct live_row *row = &live->sums.row[live->at];
        int err = note(live, row);

        if (!err)
            err = log_file_full(&log->file) ? -ENOSPC : write_row(log, row);
        if (err && err != -ENOENT)
            return false;
        settle(log, row);
        log_file_flush_large(&log->file);
    }
    look(log);
    if (write_total(log, &live->sums.total, false))
        return false;
    live->last = live->sums.total;
    live->taken = false;
    if (log->sites)
        log_sites_thaw(log);
    store_release(&live->written, live->last.collection);
    return true;
}

/* What was there when the sums were taken is handled: nothing of before the collection waits. */
static bool has_passed(const struct log *log)
{
    for (const struct log_thread *thread = log->threads; thread; thread = thread->next) {
        uint64_t handled = load_relaxed(&thread->ring->tail) - thread->deferred.count;

        if ((int64_t)(handled - thread->before_live) < 0)
            return false;
    }
    return true;
}

/*
 * With --log sites what was allocated before a collection comes before what became of it. Returns:
 * false: there is a ring of which nothing is known yet.
 */
static bool take(struct log *log, uint64_t now)
{
    struct log_live *live = log->live;

    if (load_relaxed(&log->config.hub->fresh))
        return false;
    live->taken = live_take(log->config.live, &live->sums);
    live->at = 0;
    if (!live->taken)
        return true;
    live->next_ns = now + TAKE_NS;
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        thread->before_live = load_acquire(&thread->ring->head);
    if (log->sites)
        log_sites_freeze(log, live->sums.total.ticks);
    return true;
}

bool log_live_write(struct log *log, uint64_t now)
{
    struct log_live *live = log->live;

    if (!live || log->headless)
        return true;
    if (!write_openings(log))
        return false;
    if (!live->taken && now >= live->next_ns && !take(log, now))
        return false;
    if (!live->taken)
        return true;
    if (log->sites && (!has_passed(log) || !log_sites_write_past(log)))
        return false;
    return write_sums(log);
}

bool log_live_finish(struct log *log)
{
    if (!log->live)
        return true;
    live_settle(log->config.live);
    for (int i = 0; i < 3; i++) { /* being written, collected, and after that */
        log->live->next_ns = 0;
        if (!log_live_write(log, clock_ns()))
            return false;
    }
    return true;
}

/* ---- sites that grow ---- */

static json_t *grows_json(const struct log *log, const struct grown *grows)
{
    const struct site *site = &log->live->site[grows->key];
    const struct metadata_class *class =
        (const struct metadata_class *)live_class(log->config.live, site->class);
    struct where where = where_of(log, site);
    json_t *object = json_pack("{s:o}", "type", log_text(class ? metadata_class_text(class) : ""));

    log_set(object, "collections", grows->looks);
    log_set(object, "objects", grows->objects);
    if (!where.method)
        return object;
    json_object_set_new(object, "method", log_text(metadata_method_text(where.method)));
    if (where.il >= 0)
        log_set(object, "il", il_first(where.il));
    if (where.il >= 0 && il_last(where.il) != il_first(where.il))
        log_set(object, "il_last", il_last(where.il));
    log_set(object, "token", where.method->token);
    if (where.method->module)
        json_object_set_new(object, "path", log_text(where.method->module->path));
    return object;
}

/* Those of the last line, most first; NULL: none. */
static json_t *all_grows_json(const struct log *log)
{
    const struct grown *grows = grows_at(log->live->grows, 0);
    json_t *array = grows ? json_array() : NULL;
    bool gone;

    live_hold(log->config.live);
    for (size_t i = 0; (grows = grows_at(log->live->grows, i)); i++)
        if (!live_forgotten(log->config.live, grows->key, &gone))
            json_array_append_new(array, grows_json(log, grows));
    live_unhold(log->config.live);
    return array;
}

/* For the status; NULL: no --live. Before a collection only that there was none. */
json_t *log_live_json(const struct log *log)
{
    const struct live_total *last = log->live ? &log->live->last : NULL;
    json_t *object = last ? json_object() : NULL;

    if (!last)
        return NULL;
    log_set(object, "collections", last->collection);
    log_set_any(object, "full", last->full);
    log_set(object, "allocs", last->objects);
    log_set(object, "bytes", last->bytes);
    if (log->config.alive) /* before a collection, too */
        json_object_set_new(object, "why", json_string(why_word(SST_LIVE_SAMPLED)));
    else if (last->why)
        json_object_set_new(object, "why", json_string(why_word(last->why)));
    json_object_set_new(object, "grows", all_grows_json(log));
    return object;
}

uint64_t log_live_written(const struct log *log)
{
    return log->live ? load_acquire(&log->live->written) : 0;
}

void log_live_part(struct log *log)
{
    if (log->live)
        log->live->opening = 1;
}

/* ---- requests for live objects ---- */

/* Sites that are defined and have any, most bytes first: pointers to rows that are behind them. */
static struct log_row **alive_rows(struct log *log, size_t *count)
{
    const struct log_live *live = log->live;
    struct log_row **order = memory_alloc((live->sites + 1) * (sizeof(*order) + sizeof(**order)));
    struct log_row *row = order ? (struct log_row *)(void *)(order + live->sites + 1) : NULL;
    bool gone;

    *count = 0;
    for (size_t i = 1; order && i < live->sites; i++) {
        const struct site *site = &live->site[i];
        bool forgotten;

        if (!site->objects || site->part != log->part)
            continue;
        forgotten = live_forgotten(log->config.live, (uint32_t)i, &gone);
        row[*count] = (struct log_row){
            .class = (const struct metadata_class *)live_class(log->config.live, site->class),
            .node = forgotten ? 0 : site->node,
            .site = site->site,
            .allocs = site->objects,
            .bytes = (double)site->bytes};
        if (gone || !row[*count].class)
            continue;
        order[*count] = &row[*count];
        ++*count;
    }
    if (order)
        qsort(order, *count, sizeof(*order), log_row_by_bytes);
    return order;
}

static bool put_grows_member(const struct log *log, struct buffer *b)
{
    json_t *grows = all_grows_json(log);
    char *text = grows ? json_dumps(grows, JSON_COMPACT) : NULL;

    if (text)
        buffer_format(b, "\"grows\":%s,", text);
    json_decref(grows);
    memory_free(text);
    return !b->failed;
}

static void answer_alive(struct log *log, struct log_message *message)
{
    struct buffer b = BUFFER_INIT;
    struct log_row **order;
    size_t count;

    message->err = log->live ? -ENOMEM : -ENOENT;
    if (!log->live || !put_grows_member(log, &b))
        return;
    live_hold(log->config.live);
    order = alive_rows(log, &count);
    live_unhold(log->config.live);
    if (!order) {
        buffer_free(&b);
        return;
    }
    buffer_format(
        &b,
        "\"gc\":%llu,\"full\":%llu,\"objects\":%llu,\"bytes\":%llu,\"exact\":%s,"
        "\"sites\":%zu,\"rows\":[",
        (unsigned long long)log->live->last.collection, (unsigned long long)log->live->last.full,
        (unsigned long long)log->live->last.objects, (unsigned long long)log->live->last.bytes,
        log->live->last.why ? "false" : "true", count);
    log_answer_rows(log, message, &b, order, count, NULL);
}

int log_alive(struct log *log, uint32_t limit, char **out)
{
    return log_ask(log, answer_alive, limit, out);
}
