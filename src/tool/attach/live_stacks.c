#include "attach/live_stacks.h"

#include "base/il.h"
#include "base/memory.h"
#include "symbols/symbols.h"

#include <errno.h>
#include <string.h>

#define MAX_METHODS \
    (1 \
     << 24) /* ids beyond it have no name here: a reply must not decide how much memory is taken */

struct module_symbols {
    struct module_symbols *next;
    struct symbols *symbols; /* NULL: none */
    char path[];
};

struct live_stacks {
    const char *const *dirs;
    size_t ndirs;
    bool lines;
    struct module_symbols *modules;
    const json_t *threads;
    const json_t **method; /* by id */
    size_t methods;
    enum names_style style;
    struct names *names; /* of the reply's methods, by id */
};

struct live_stacks *live_stacks_new(const char *const *dirs, size_t ndirs, bool lines,
                                    enum names_style style)
{
    struct live_stacks *s = memory_zalloc(1, sizeof(*s));

    if (s)
        *s = (struct live_stacks){.dirs = dirs, .ndirs = ndirs, .lines = lines, .style = style};
    return s;
}

void live_stacks_free(struct live_stacks *s)
{
    struct module_symbols *next;

    if (!s)
        return;
    for (struct module_symbols *m = s->modules; m; m = next) {
        next = m->next;
        symbols_free(m->symbols);
        memory_free(m);
    }
    names_free(s->names);
    memory_free(s->method);
    memory_free(s);
}

static size_t highest_id(const json_t *methods)
{
    size_t highest = 0, i;
    json_t *method;

    json_array_foreach(methods, i, method)
    {
        json_int_t id = json_integer_value(json_object_get(method, "id"));

        if (id > 0 && id < MAX_METHODS && (size_t)id > highest)
            highest = (size_t)id;
    }
    return highest;
}

static const char *name_of(const json_t *method)
{
    const char *name = json_string_value(json_object_get(method, "name"));

    return name ? name : "?";
}

/* Returns: 0 or -ENOMEM. */
static int take_names(struct live_stacks *s)
{
    const char **texts = memory_alloc((s->methods + 1) * sizeof(*texts));
    struct names_texts all = {.methods = texts, .method_count = s->methods};
    int err = -ENOMEM;

    names_free(s->names);
    s->names = NULL;
    for (size_t i = 0; texts && i < s->methods; i++)
        texts[i] = name_of(s->method[i]);
    if (texts)
        err = names_of_texts(&all, s->style, &s->names);
    memory_free(texts);
    return err;
}

int live_stacks_take(struct live_stacks *s, const json_t *reply)
{
    const json_t *methods = json_object_get(reply, "methods");
    size_t count = highest_id(methods) + 1, i;
    json_t *method;

    memory_free(s->method);
    s->methods = 0;
    s->method = memory_zalloc(count, sizeof(*s->method));
    if (!s->method)
        return -ENOMEM;
    s->methods = count;
    json_array_foreach(methods, i, method)
    {
        json_int_t id = json_integer_value(json_object_get(method, "id"));

        if (id > 0 && (size_t)id < count)
            s->method[id] = method;
    }
    s->threads = json_object_get(reply, "threads");
    if (!take_names(s))
        return 0;
    s->methods = 0;
    return -ENOMEM;
}

size_t live_stacks_count(const struct live_stacks *s)
{
    return json_array_size(s->threads);
}

static uint32_t number(const json_t *object, const char *key)
{
    return (uint32_t)json_integer_value(json_object_get(object, key));
}

void live_stacks_thread(const struct live_stacks *s, size_t index, struct live_thread *out)
{
    const json_t *t = json_array_get(s->threads, index);

    out->os = number(t, "os");
    out->depth = number(t, "depth");
    out->tries = number(t, "tries");
    out->exact = json_is_true(json_object_get(t, "exact"));
    out->certain = out->exact ? out->depth : number(t, "certain");
    out->dispatching = json_is_true(json_object_get(t, "dispatching"));
    out->name = json_string_value(json_object_get(t, "name"));
    out->frames = json_object_get(t, "frames");
    out->count = json_array_size(out->frames);
}

static struct symbols *symbols_of(struct live_stacks *s, const char *path)
{
    struct module_symbols *m = s->modules;

    while (m && strcmp(m->path, path) != 0)
        m = m->next;
    if (!m) {
        m = memory_zalloc(1, sizeof(*m) + strlen(path) + 1);
        if (!m)
            return NULL;
        memcpy(m->path, path, strlen(path) + 1);
        m->next = s->modules;
        s->modules = m;
        (void)symbols_open(path, s->dirs, s->ndirs, NULL, &m->symbols, NULL);
    }
    return m->symbols;
}

static void find_line(struct live_stacks *s, const json_t *method, struct live_frame *out)
{
    const char *path = json_string_value(json_object_get(method, "path"));
    struct symbols *symbols = path && *path == '/' ? symbols_of(s, path) : NULL;
    struct symbols_line line;

    if (!symbols || symbols_line_of(symbols, number(method, "token"), out->il, &line))
        return;
    out->file = line.file;
    out->line = line.line;
    out->line_last = line.line_last;
}

/* Of a number, or two that follow each other; -1: none is known. */
static int32_t il_of(const json_t *frame)
{
    json_int_t il = json_integer_value(json_array_get(frame, 1));
    const json_t *last = json_array_get(frame, 2);

    if (!json_is_integer(json_array_get(frame, 1)) || il < 0 || il > IL_MOST)
        return -1;
    return json_is_integer(last) ? il_several((uint32_t)il, (uint32_t)json_integer_value(last))
                                 : (int32_t)il;
}

void live_stacks_frame(struct live_stacks *s, const struct live_thread *thread, size_t index,
                       struct live_frame *out)
{
    const json_t *frame = json_array_get(thread->frames, index), *where = json_array_get(frame, 1);
    json_int_t id = json_integer_value(json_array_get(frame, 0));
    const json_t *method = id > 0 && (size_t)id < s->methods ? s->method[id] : NULL;

    *out = (struct live_frame){.method = method ? names_method(s->names, (uint32_t)id) : "?",
                               .il = il_of(frame),
                               .filter = json_is_string(where),
                               .certain = index + thread->certain >= thread->depth};
    if (s->lines && out->il >= 0)
        find_line(s, method, out);
}
