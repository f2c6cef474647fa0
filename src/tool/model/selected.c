#include "model/selected.h"

#include "model/matches.h"
#include "model/own.h"

/* What a path has. */
enum {
    HAS_METHOD = 1, /* a frame that the filter wants */
    EXCLUDED = 2,   /* one that it does not */
    BEGUN = 4,      /* a frame at or below the one at which stacks begin */
    BEGINS = 8,     /* its own frame is that one */
    MARKED = 16,
    OWN = 32, /* one of own code */
    ONCE = 64 /* what is made on it is made once */
};

/* ---- globs ---- */

struct meaning {
    const struct model_globs *globs;
    bool **methods, **types; /* NULL: not meant */
};

static int match(const struct model *m, const struct meaning *what, char *why, size_t why_size)
{
    int64_t methods =
        what->methods ? matches_of(m, MATCHES_METHODS, what->globs, what->methods) : 0;
    int64_t types = what->types ? matches_of(m, MATCHES_TYPES, what->globs, what->types) : 0;

    if (methods < 0 || types < 0)
        return -ENOMEM;
    if (!what->globs->count || methods || types)
        return 0;
    matches_why(m, what->methods, what->types, what->globs, why, why_size);
    return -ENOENT;
}

static void look_at_paths(struct selected *s)
{
    const struct model_own *own = model_own_code(s->model);
    const struct log_defs *d = s->defs;

    for (uint32_t path = LOG_PATH_LOST + 1; path < d->path_count; path++) {
        const struct log_call_path *p = log_call_path(d, path);
        uint8_t flags = s->paths[p->parent] & (HAS_METHOD | EXCLUDED | BEGUN | OWN);

        if (s->methods && s->methods[p->method])
            flags |= HAS_METHOD;
        if (s->no_methods && s->no_methods[p->method])
            flags |= EXCLUDED;
        if (s->beginnings && s->beginnings[p->method] && !(flags & BEGUN))
            flags |= BEGUN | BEGINS;
        if ((s->filter->own || s->filter->no_own) &&
            model_own_of_method(own, p->method) == MODEL_OWN)
            flags |= OWN;
        if (model_path_once(s->model, path))
            flags |= ONCE;
        s->paths[path] = flags;
    }
}

int selected_init(struct selected *s, const struct model *m, const struct model_filter *filter,
                  char *why, size_t why_size)
{
    const struct log_defs *d = model_defs(m);
    const struct meaning globs[] = {{&filter->types, NULL, &s->types},
                                    {&filter->methods, &s->methods, NULL},
                                    {&filter->exclude, &s->no_methods, &s->no_types},
                                    {&filter->below, &s->beginnings, NULL}};
    int err = 0;

    *s = (struct selected){.model = m, .defs = d, .filter = filter};
    for (size_t i = 0; !err && i < COUNT_OF(globs); i++)
        err = match(m, &globs[i], why, why_size);
    if (err)
        return err;
    s->paths = memory_zalloc(d->path_count, sizeof(*s->paths));
    if (!s->paths)
        return -ENOMEM;
    look_at_paths(s);
    return 0;
}

void selected_fini(struct selected *s)
{
    memory_free_all(s->types, s->methods, s->no_types, s->no_methods, s->beginnings, s->paths);
}

/* ---- cells ---- */

static bool has_thread(const struct selected *s, const struct report_cell *c)
{
    return !s->filter->thread ||
           (c->thread && s->defs->threads[c->thread - 1].id == s->filter->thread);
}

bool selected_cell(const struct selected *s, size_t i)
{
    const struct report_cell *c = model_cell(s->model, i);
    uint8_t path = s->paths[c->path];

    if (s->filter->has_slices &&
        (c->slice < s->filter->from_slice || c->slice >= s->filter->to_slice))
        return false;
    return (!s->types || s->types[c->class_number]) && (!s->methods || (path & HAS_METHOD)) &&
           (!s->no_types || !(s->no_types[c->class_number] || (path & EXCLUDED))) &&
           (!s->beginnings || (path & BEGUN)) && (!s->filter->own || (path & OWN)) &&
           !(s->filter->no_own && (path & OWN)) && !(s->filter->once && !(path & ONCE)) &&
           !(s->filter->no_once && (path & ONCE)) && has_thread(s, c) &&
           !(s->filter->steady && c->unoptimised);
}

/* ---- paths ---- */

void selected_mark(struct selected *s)
{
    for (size_t i = 0; i < model_cell_count(s->model); i++)
        if (selected_cell(s, i))
            s->paths[model_cell(s->model, i)->path] |= MARKED;
    for (uint32_t path = (uint32_t)s->defs->path_count; path-- > LOG_PATH_LOST + 1;)
        if ((s->paths[path] & MARKED) && !selected_outermost(s, path))
            s->paths[log_call_path(s->defs, path)->parent] |= MARKED;
}

bool selected_path(const struct selected *s, uint32_t path)
{
    return s->paths[path] & MARKED;
}

bool selected_outermost(const struct selected *s, uint32_t path)
{
    return path <= LOG_PATH_LOST || log_call_path(s->defs, path)->parent == LOG_PATH_EMPTY ||
           (s->paths[path] & BEGINS);
}
