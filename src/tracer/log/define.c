#include "log/records.h"
#include "log/symbols.h"

#include "base/array.h"
#include "base/decimal.h"
#include "base/memory.h"
#include "code/inlined.h"
#include "owner/owner.h"

#include <errno.h>
#include <string.h>

/* In the record, which goes when what it is of is unloaded: a table of ids would only grow. */
static void written_set(const struct log *log, const uint32_t *written)
{
    *(uint32_t *)(uintptr_t)written = log->part; /* the one member of it that is the writer's */
}

static void put_text(struct buffer *b, const char *member, const char *text)
{
    buffer_text(b, member);
    buffer_json_string(b, text ? text : "");
}

static int define_module(struct log *log, const struct metadata_module *module)
{
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;
    int err;

    if (!module || log_has(log, module->written))
        return 0;
    if (log_file_full(&log->file))
        return -ENOSPC;
    log_put_number(b, "{\"kind\":\"module\",\"id\":", module->id);
    put_text(b, ",\"name\":", module->name);
    put_text(b, ",\"path\":", module->path);
    if (*module->mvid)
        put_text(b, ",\"mvid\":", module->mvid);
    if (module->owner)
        put_text(b, ",\"owner\":", owner_word((enum sst_owner)module->owner));
    err = log_line_end(log, SST_KIND_MODULE, mark);
    if (!err) {
        written_set(log, &module->written);
        log_put_symbols(log, module);
    }
    return err;
}

#define SORT_WORD(name, text) text,
static const char *const sort_words[] = {"", SST_SORTS(SORT_WORD)};

/* What a class and a method have. name NULL: nobody has named it yet. */
struct named {
    enum sst_kind kind;
    const char *head, *name;
    const struct metadata_module *module;
    uint32_t id, token;
    const uint32_t *written;
    enum sst_sort sort;
};

static int define_named(struct log *log, const struct named *n)
{
    struct buffer *b = &log->file.buffer;
    size_t mark;
    int err;

    if (log_has(log, *n->written))
        return 0;
    if (!n->name)
        return -EAGAIN;
    err = log_file_full(&log->file) ? -ENOSPC : define_module(log, n->module);
    if (err)
        return err;
    mark = b->size;
    log_put_number(b, n->head, n->id);
    put_text(b, ",\"name\":", n->name);
    if (n->module)
        log_put_number(b, ",\"module\":", n->module->id);
    if (n->token)
        log_put_number(b, ",\"token\":", n->token);
    if (n->sort)
        put_text(b, ",\"sort\":", sort_words[n->sort]);
    err = log_line_end(log, n->kind, mark);
    if (!err)
        written_set(log, n->written);
    return err;
}

int log_define_class(struct log *log, const struct metadata_class *class)
{
    const struct named named = {SST_KIND_CLASS,
                                "{\"kind\":\"class\",\"id\":",
                                metadata_class_text(class),
                                class->module,
                                class->id,
                                class->token,
                                &class->written,
                                (enum sst_sort)load_relaxed(&class->sort)};

    return define_named(log, &named);
}

int log_define_method(struct log *log, const struct metadata_method *method)
{
    const struct named named = {SST_KIND_METHOD,
                                "{\"kind\":\"method\",\"id\":",
                                metadata_method_text(method),
                                method->module,
                                method->id,
                                method->token,
                                &method->written,
                                SST_SORT_NONE};

    return define_named(log, &named);
}

static int define_frame(struct log *log, struct code_inlined *frame, uint32_t number)
{
    struct buffer *b = &log->file.buffer;
    size_t mark;
    int err = log_define_method(log, frame->method);
    char *line, *at;

    if (err)
        return err;
    if (log_file_full(&log->file))
        return -ENOSPC;
    mark = b->size;
    line = at = buffer_reserve(b, LOG_LINE);
    if (!line)
        return log_line_drop(log, mark);
    at = LOG_PUT_NUMBER(at, "{\"kind\":\"inlined\",\"id\":", number);
    if (frame->parent)
        at = LOG_PUT_NUMBER(at, ",\"parent\":", frame->parent);
    at = LOG_PUT_NUMBER(at, ",\"method\":", frame->method->id);
    at = log_put_il(at, frame->il);
    b->size += (size_t)(at - line);
    err = log_line_end(log, SST_KIND_INLINED, mark);
    if (!err)
        frame->written = log->part;
    return err;
}

/* What a frame was inlined into comes first. */
int log_define_inlined(struct log *log, uint32_t number)
{
    for (;;) {
        struct code_inlined *frame = code_inlined_at(log->config.metadata, number), *parent;
        uint32_t open = number;
        int err;

        if (!frame || log_has(log, frame->written))
            return 0;
        while ((parent = code_inlined_at(log->config.metadata, frame->parent)) &&
               !log_has(log, parent->written)) {
            open = frame->parent;
            frame = parent;
        }
        err = define_frame(log, frame, open);
        if (err)
            return err;
    }
}

static bool call_ready(const struct tree_site *call)
{
    return tree_site_il(call) != TREE_IL_PENDING &&
           (!call->target || metadata_method_text((const struct metadata_method *)call->target));
}

static int path_push(struct log *log, size_t at, struct tree_node *node)
{
    if (!array_reserve(&log->path, &log->path_capacity, at + 1))
        return -ENOMEM;
    log->path[at] = node;
    return 0;
}

/* The beginnings that the path goes on from: older, at most TREE_BEGUN_DEPTH in each other. */
static int define_beginnings(struct log *log, const struct tree_node *node)
{
    int err = 0;

    for (; !err && node->up && tree_mark(node) != log->generation; node = tree_parent(node)) {
        uint32_t begun = tree_goes_on(log->config.tree, node);

        if (begun && load_relaxed(&tree_node_by_id(log->config.tree, begun)->up))
            err = log_define_node(log, begun);
    }
    return err;
}

static int define_one(struct log *log, struct tree_node *node)
{
    int err;

    if (tree_goes_on(log->config.tree, node))
        return 0; /* it is written with its children */
    err =
        log_define_method(log, (const struct metadata_method *)tree_method(log->config.tree, node));
    if (!err)
        err = log_define_inlined(log, tree_call(log->config.tree, node)->inlined);
    if (err)
        return err;
    if (log_file_full(&log->file))
        return -ENOSPC; /* those of the path that are written need not be again */
    return log_format_node(log, node);
}

/* Every node on the way from the root, oldest first. */
int log_define_node(struct log *log, uint32_t id)
{
    struct tree_node *node = tree_node_by_id(log->config.tree, tree_uncut(id));
    size_t count = 0;
    int err = 0;

    if (!node)
        return -EAGAIN;
    if (tree_mark(node) == log->generation)
        return 0;
    err = define_beginnings(log, node);
    if (err)
        return err;
    /* Ready is asked of the youngest first: the resolver comes to it last. */
    for (; node->up && tree_mark(node) != log->generation; node = tree_parent(node)) {
        if (!call_ready(tree_call(log->config.tree, node)))
            return -EAGAIN;
        err = path_push(log, count++, node);
        if (err)
            return err;
    }
    while (count-- > 0) {
        node = log->path[count];
        err = define_one(log, node);
        if (err)
            return err;
        tree_mark_set(node, log->generation);
    }
    return 0;
}

void log_ids_clear(struct log_ids *ids)
{
    if (ids->seen)
        memset(ids->seen, 0, ids->capacity);
}

void log_ids_free(struct log_ids *ids)
{
    memory_free(ids->seen);
    *ids = (struct log_ids){0};
}

/* Room for an id, so that it can be noted once its line is written. */
static int ids_reserve(struct log_ids *ids, uint32_t id)
{
    return array_reserve_zeroed(&ids->seen, &ids->capacity, (size_t)id + 1) ? 0 : -ENOMEM;
}

int log_know_thread(struct log *log, struct log_thread *thread)
{
    int err = thread->defined ? 0 : log_define_thread(log, thread, NULL);

    thread->defined = !err;
    return err;
}

int log_define_thread(struct log *log, struct log_thread *thread, const uint64_t *end)
{
    struct buffer *b = &log->file.buffer;
    uint32_t id = thread->ring->thread;
    size_t mark = b->size;
    int err;

    if (log_file_full(&log->file))
        return -ENOSPC;
    if (ids_reserve(&log->defined_threads, id))
        return -ENOMEM;
    log_put_number(b, "{\"kind\":\"thread\",\"id\":", id);
    log_put_number(b, ",\"os\":", thread->ring->os);
    if (thread->name)
        put_text(b, ",\"name\":", thread->name);
    if (end)
        log_put_number(b, ",\"end\":", *end);
    err = log_line_end(log, SST_KIND_THREAD, mark);
    if (!err)
        log->defined_threads.seen[id] = 1;
    return err;
}
