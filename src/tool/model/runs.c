#include "model/runs.h"

#include "model/namespaces.h"

#define NO_NAME 0

INDEX_OF_TEXT(name_kind, char *);
INDEX_OF_BYTES(run_kind, struct run, place);

static int add_name(struct runs *r, const char *text, size_t size, uint32_t *out)
{
    char *name = memory_alloc(size + 1);
    int added;

    if (!name)
        return -ENOMEM;
    memcpy(name, text, size);
    name[size] = '\0';
    added = index_add(&r->name_index, &name_kind, &r->names, &r->name_count, &r->name_capacity,
                      &name, out);
    if (added <= 0)
        memory_free(name);
    return added < 0 ? added : 0;
}

static int add_run(struct runs *r, const struct run *run, uint32_t *out)
{
    int added =
        index_add(&r->run_index, &run_kind, &r->runs, &r->run_count, &r->run_capacity, run, out);

    return added < 0 ? added : 0;
}

int runs_init(struct runs *r, const struct log_defs *defs)
{
    const struct run none = {0, 0, 0, 0};
    uint32_t number;

    *r = (struct runs){.defs = defs};
    r->method_names = memory_zalloc(defs->methods.count, sizeof(*r->method_names));
    return r->method_names && !add_name(r, "", 0, &number) && !add_run(r, &none, &number) ? 0
                                                                                          : -ENOMEM;
}

void runs_fini(struct runs *r)
{
    for (size_t i = 0; i < r->name_count; i++)
        memory_free(r->names[i]);
    memory_free_all(r->method_names, r->names, r->runs);
    index_free(&r->name_index);
    index_free(&r->run_index);
}

static int name_of(struct runs *r, uint32_t method, uint32_t *out)
{
    const char *name = log_method(r->defs, method)->name;
    int err = 0;

    if (!r->method_names[method]) {
        err = add_name(r, name, namespace_of_method(name), out);
        if (!err)
            r->method_names[method] = *out + 1;
    }
    *out = r->method_names[method] - 1;
    return err;
}

int runs_add(struct runs *r, uint32_t run, uint32_t method, uint32_t place, uint32_t *out)
{
    struct run next = r->runs[run];
    uint32_t module = log_method(r->defs, method)->module, name;
    int err = name_of(r, method, &name);

    if (err)
        return err;
    if (next.count++ == 0) {
        next = (struct run){name, module, 1, place};
        return add_run(r, &next, out);
    }
    if (next.name != name) {
        const char *a = r->names[next.name], *b = r->names[name];

        err = add_name(r, a, namespace_common(a, strlen(a), b, strlen(b)), &next.name);
    }
    next.module = next.module == module ? module : 0;
    next.place = 0;
    return err ? err : add_run(r, &next, out);
}

int runs_name(struct runs *r, uint32_t run, const char **out)
{
    const struct run *has = &r->runs[run];
    const char *module = log_module(r->defs, has->module)->name;
    uint32_t name = has->name;
    int err = name == NO_NAME && has->module ? add_name(r, module, strlen(module), &name) : 0;

    *out = r->names[name];
    return err;
}
