#include "report/async.h"

#include "report/demangle.h"

#include <string.h>

#define HOPS 4 /* of Start methods between a state machine and the method as written */

enum { CALLER_NONE, CALLER_KNOWN, CALLER_SEVERAL };

struct machine {
    bool is;
    uint8_t state; /* CALLER_ */
    struct report_caller caller;
};

struct report_async {
    const struct log_defs *defs;
    struct machine *machines; /* one for each method */
};

/* "…AsyncTaskMethodBuilder.Start<T>(T&)", "…AsyncMethodBuilderCore.Start<T>(T&)" */
static bool is_start(const char *name)
{
    static const char prefix[] = "System.Runtime.CompilerServices.Async";

    return strncmp(name, prefix, sizeof(prefix) - 1) == 0 && strstr(name, ".Start<");
}

/* Whether both are the same method, one of them without its parameters. */
static bool same_method(const char *name, const char *without)
{
    size_t size = strlen(without);

    return strncmp(name, without, size) == 0 && (name[size] == '(' || !name[size]);
}

static const char *name_of(const struct report_async *a, uint32_t path)
{
    return log_method(a->defs, log_call_path(a->defs, path)->method)->name;
}

/* The path of the method as written that began this state machine; LOG_PATH_EMPTY: not known. */
static uint32_t beginning_of(const struct report_async *a, uint32_t path)
{
    struct buffer machine = BUFFER_INIT, method = BUFFER_INIT;
    uint32_t at = log_call_path(a->defs, path)->parent;
    bool same;

    for (unsigned i = 0; i < HOPS && at > LOG_PATH_LOST && is_start(name_of(a, at)); i++)
        at = log_call_path(a->defs, at)->parent;
    same = at > LOG_PATH_LOST && same_method(report_demangle(&method, name_of(a, at)),
                                             report_demangle(&machine, name_of(a, path)));
    buffer_free(&machine);
    buffer_free(&method);
    return same ? at : LOG_PATH_EMPTY;
}

static void note_beginning(struct report_async *a, uint32_t path)
{
    struct machine *m = &a->machines[log_call_path(a->defs, path)->method];
    const struct log_call_path *begun;
    uint32_t at = beginning_of(a, path);
    struct report_caller caller;

    begun = log_call_path(a->defs, at);
    if (at == LOG_PATH_EMPTY || begun->parent <= LOG_PATH_LOST) {
        m->state = CALLER_SEVERAL; /* one that cannot be told may be any */
        return;
    }
    caller = (struct report_caller){log_call_path(a->defs, begun->parent)->method,
                                    begun->il >= 0 ? begun->il : LOG_NO_IL};
    if (m->state == CALLER_NONE) {
        m->state = CALLER_KNOWN;
        m->caller = caller;
    } else if (m->caller.method != caller.method || m->caller.il != caller.il) {
        m->state = CALLER_SEVERAL;
    }
}

bool report_async_resumed(const struct report_async *a, uint32_t path)
{
    uint32_t parent = log_call_path(a->defs, path)->parent;

    return path > LOG_PATH_LOST && a->machines[log_call_path(a->defs, path)->method].is &&
           !(parent > LOG_PATH_LOST && is_start(name_of(a, parent)));
}

int report_async_new(const struct log_defs *defs, struct report_async **out)
{
    struct report_async *a = memory_zalloc(1, sizeof(*a));

    *out = NULL;
    if (a)
        a->machines = memory_zalloc(defs->methods.count, sizeof(*a->machines));
    if (!a || !a->machines) {
        report_async_free(a);
        return -ENOMEM;
    }
    a->defs = defs;
    for (size_t i = 0; i < defs->methods.count; i++)
        a->machines[i].is = report_demangle_is_machine(defs->methods.defs[i].name);
    for (uint32_t path = LOG_PATH_LOST + 1; path < defs->path_count; path++)
        if (a->machines[defs->paths[path].method].is && !report_async_resumed(a, path))
            note_beginning(a, path);
    *out = a;
    return 0;
}

void report_async_free(struct report_async *a)
{
    if (a)
        memory_free(a->machines);
    memory_free(a);
}

bool report_async_caller(const struct report_async *a, uint32_t method, struct report_caller *out)
{
    *out = a->machines[method].caller;
    return a->machines[method].state == CALLER_KNOWN;
}
