#include "log/log_internal.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

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

static int ids_add(struct log_ids *ids, uint32_t id)
{
    if (id >= ids->capacity) {
        size_t capacity = ids->capacity ? ids->capacity : 1024;
        uint8_t *seen;

        while (capacity <= id)
            capacity *= 2;
        seen = memory_realloc(ids->seen, capacity);
        if (!seen)
            return -ENOMEM;
        memset(seen + ids->capacity, 0, capacity - ids->capacity);
        ids->seen = seen;
        ids->capacity = capacity;
    }
    ids->seen[id] = 1;
    return 0;
}

static int define_module(struct log *log, const struct names_module *module)
{
    json_t *line;
    int err;

    if (!module || log_ids_has(&log->modules, module->id))
        return 0;
    line = json_pack("{s:s, s:I, s:o, s:o}", "kind", "module", "id", (json_int_t)module->id, "name",
                     log_text(module->name), "path", log_text(module->path));
    if (line && *module->mvid && json_object_set_new(line, "mvid", json_string(module->mvid))) {
        json_decref(line);
        line = NULL;
    }
    err = log_emit(log, line);
    return err ? err : ids_add(&log->modules, module->id);
}

/* A class or a method: what both have. */
static int define_named(struct log *log, const char *kind, uint32_t id, const char *name,
                        const struct names_module *module, uint32_t token)
{
    json_t *line;
    int err = define_module(log, module);

    if (err)
        return err;
    line = json_pack("{s:s, s:I, s:s}", "kind", kind, "id", (json_int_t)id, "name", name);
    if (line && ((module && json_object_set_new(line, "module", json_integer(module->id))) ||
                 (token && json_object_set_new(line, "token", json_integer(token))))) {
        json_decref(line);
        line = NULL;
    }
    return log_emit(log, line);
}

int log_define_class(struct log *log, const struct names_class *class)
{
    const char *name;
    int err;

    if (log_ids_has(&log->classes, class->id))
        return 0;
    name = names_class_text(class);
    if (!name)
        return -EAGAIN;
    err = define_named(log, "class", class->id, name, class->module, class->token);
    return err ? err : ids_add(&log->classes, class->id);
}

int log_define_method(struct log *log, const struct names_method *method)
{
    const char *name;
    int err;

    if (log_ids_has(&log->methods, method->id))
        return 0;
    name = names_method_text(method);
    if (!name)
        return -EAGAIN;
    err = define_named(log, "method", method->id, name, method->module, method->token);
    return err ? err : ids_add(&log->methods, method->id);
}

static bool node_ready(const struct tree_node *node)
{
    return load_acquire(&node->state) == TREE_LIVE && load_acquire(&node->il) != TREE_IL_PENDING &&
           names_method_text((const struct names_method *)tree_method(node));
}

static int path_push(struct log *log, size_t at, struct tree_node *node)
{
    if (at == log->path_capacity) {
        size_t capacity = at ? 2 * at : 256;
        struct tree_node **path = memory_realloc(log->path, capacity * sizeof(*path));

        if (!path)
            return -ENOMEM;
        log->path = path;
        log->path_capacity = capacity;
    }
    log->path[at] = node;
    return 0;
}

/* Every node on the way from the root, oldest first. */
int log_define_node(struct log *log, uint32_t id)
{
    struct tree_node *node = tree_node_by_id(log->config.tree, id);
    size_t count = 0;
    int err = 0;

    if (!node)
        return -EAGAIN;
    if (node->written == log->generation)
        return 0;
    /* Ready is asked of the youngest first: the resolver comes to it last. */
    for (; node->up && node->written != log->generation; node = tree_parent(node)) {
        if (!node_ready(node))
            return -EAGAIN;
        err = path_push(log, count++, node);
        if (err)
            return err;
    }
    while (count-- > 0) {
        node = log->path[count];
        err = log_define_method(log, (const struct names_method *)tree_method(node));
        if (err)
            return err;
        err = log_format_node(log, node);
        if (err)
            return err;
        node->written = log->generation;
    }
    return 0;
}

int log_define_thread(struct log *log, struct log_thread *thread, const uint64_t *end)
{
    json_t *line = json_pack("{s:s, s:I, s:I}", "kind", "thread", "id",
                             (json_int_t)thread->ring->thread, "os", (json_int_t)thread->ring->os);

    if (line && ((thread->name && json_object_set_new(line, "name", log_text(thread->name))) ||
                 (end && json_object_set_new(line, "end", json_integer((json_int_t)*end))))) {
        json_decref(line);
        line = NULL;
    }
    return log_emit(log, line);
}
