#include "model/diff_paths.h"

/* How a method takes part in the key of a path. */
enum { FRAME, BEGINS, CAST, SEVERAL_CALLERS, AWAITS };

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static uint8_t part_of(const char *name)
{
    static const char services[] = "System.Runtime.CompilerServices.";
    static const char *const awaits[] = {"TaskAwaiter",
                                         "ValueTaskAwaiter",
                                         "ConfiguredTaskAwaitable",
                                         "ConfiguredValueTaskAwaitable",
                                         "Async",
                                         "PoolingAsync"};

    if (strstr(name, "..cctor("))
        return BEGINS;
    if (begins(name, LOG_SEVERAL))
        return SEVERAL_CALLERS;
    if (!begins(name, services))
        return FRAME;
    name += strlen(services);
    for (size_t i = 0; i < COUNT_OF(awaits); i++)
        if (begins(name, awaits[i]))
            return AWAITS;
    return begins(name, "CastHelpers.") || begins(name, "TypeHandle.CanCast") ? CAST : FRAME;
}

void diff_paths_fini(struct diff_paths *p)
{
    memory_free_all(p->methods, p->parts, p->folded, p->as, p->keys);
    *p = (struct diff_paths){0};
}

static void fold(struct diff_paths *p, uint32_t number)
{
    const struct log_call_path *path = log_call_path(p->defs, number);
    uint32_t parent = p->as[path->parent];
    uint8_t part = p->parts[path->method];

    if (part == AWAITS) { /* how much of it is inlined depends on when it was compiled again */
        p->as[number] = parent;
        p->keys[number] = p->keys[parent];
        return;
    }
    if (part == CAST || part == BEGINS) { /* the first that casts so makes the cache grow */
        parent = LOG_PATH_EMPTY;
    } else {
        for (uint32_t at = parent; at > LOG_PATH_LOST; at = p->folded[at].parent)
            if (p->folded[at].method == path->method) {
                p->as[number] = at;
                p->keys[number] = p->keys[at];
                return;
            }
    }
    p->as[number] = number;
    p->folded[number] = (struct diff_folded){.parent = parent, .method = path->method};
    if (part == CAST)
        p->keys[number] = diff_key_of_text("a cast");
    else if (part == SEVERAL_CALLERS)
        p->keys[number] = diff_key_of_text("several callers");
    else
        p->keys[number] = diff_key_of_number(
            diff_key_join(p->keys[parent], p->methods[path->method]), path->filter);
}

static int paths_init(struct diff_paths *p, const struct log_defs *d)
{
    *p = (struct diff_paths){.defs = d};
    p->methods = memory_zalloc(d->methods.count, sizeof(*p->methods));
    p->parts = memory_zalloc(d->methods.count, sizeof(*p->parts));
    p->folded = memory_zalloc(d->path_count, sizeof(*p->folded));
    p->as = memory_zalloc(d->path_count, sizeof(*p->as));
    p->keys = memory_zalloc(d->path_count, sizeof(*p->keys));
    return p->methods && p->parts && p->folded && p->as && p->keys ? 0 : -ENOMEM;
}

/* Keys of all paths of one log; parents come before their children. */
int diff_paths_make(struct diff_paths *p, const struct log_defs *d, bool exact)
{
    if (paths_init(p, d))
        return -ENOMEM;
    for (size_t i = 0; i < d->methods.count; i++) {
        p->methods[i] = diff_key_of_text(d->methods.defs[i].name);
        p->parts[i] = part_of(d->methods.defs[i].name);
    }
    p->keys[LOG_PATH_EMPTY] = diff_key_of_text("no frame");
    p->keys[LOG_PATH_LOST] = diff_key_of_text("callers not in the log");
    p->as[LOG_PATH_LOST] = LOG_PATH_LOST;
    for (uint32_t i = LOG_PATH_LOST + 1; i < d->path_count; i++) {
        const struct log_call_path *path = log_call_path(d, i);
        struct diff_key key = diff_key_join(p->keys[path->parent], p->methods[path->method]);

        if (exact)
            p->keys[i] =
                diff_key_of_number(diff_key_of_number(key, path->filter), (uint32_t)path->il);
        else
            fold(p, i);
    }
    return 0;
}
