#include "report/logical.h"

#include "base/order.h"
#include "report/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_YET      UINT32_MAX       /* a path whose logical one is not known yet */
#define BUSY         (UINT32_MAX - 1) /* a method whose beginnings are being looked at */
#define BOX_REACH    8 /* frames between what makes a box and the method that is to wait */
#define CONTINUATION "System.Runtime.CompilerServices.Continuation"
#define HOPS         6 /* frames between a state machine and the method as written */

/* What a method is. */
enum {
    MACHINE = 1, /* the MoveNext of a state machine: an async method's, or an iterator's */
    BOX = 2, /* of the object that an async method which waits lies in: it resumes its machine */
    RESUMES = 4,     /* runs continuations, and may have the box's methods inlined */
    STARTS = 8,      /* of a builder: begins a machine */
    STREAMS = 16,    /* begins, or goes on with, an async iterator */
    ASYNC = 32,      /* a machine that is known to be an async method's */
    ASKED = 64,      /* a machine that was resumed on some path */
    BOXED = 128,     /* a machine of which a box is known to have been made */
    POOLED = 1024,   /* a machine whose boxes serve again: it may have begun where none was made */
    THUNK = 256,     /* of the runtime, resumes methods that it suspends itself (runtime async) */
    SUSPENDS = 2048, /* a method that the runtime suspended */
    HELPER = 512,    /* what those methods call to be suspended */
    TOLD = 4096,     /* a machine whose resumptions name their beginnings */
};

/* What a path is. */
enum {
    RESUMED = 1,
    WAITED = 2, /* a box was made there: from then on its beginning may be resumed */
    ALONE = 4   /* what the log says of its beginning is of no use */
};

struct step {
    uint32_t method;
    uint32_t filter;
    int32_t il; /* of the call, in the next step's method */
};

struct logical {
    struct log_defs *defs;
    size_t paths, methods; /* as there were at first */
    bool certain;          /* every beginning is in the log */
    bool offsets;          /* calls have IL offsets */
    bool runtime;          /* the runtime suspends methods itself */
    bool thunks;           /* and what resumes them has frames */
    uint16_t *kind;        /* by method */
    uint8_t *mark;         /* by path */
    uint32_t *first; /* by method: its beginnings are begun[first[m]] to begun[first[m + 1]] */
    uint32_t *begun;
    uint32_t *map;   /* by path */
    uint32_t *start; /* by method: the path that its resumptions become */
    uint32_t *todo;  /* paths whose logical one is asked for */
    size_t todo_count, todo_capacity;
    struct step *steps;
    size_t step_count, step_capacity;
    struct buffer machine, other; /* names as written */
};

/* ---- names ---- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t size = strlen(text), tail = strlen(with);

    return size >= tail && memcmp(text + size - tail, with, tail) == 0;
}

/* AsyncTaskMethodBuilder<T>.AsyncStateMachineBox<S>, or of a pool, "...<T>.StateMachineBox<S>". */
static bool is_box(const char *name)
{
    return begins(name, "System.Runtime.CompilerServices.") && strstr(name, "StateMachineBox<");
}

static bool resumes(const char *name)
{
    static const char *const prefixes[] = {
        "System.Threading.ExecutionContext.Run",
        "System.Threading.Tasks.AwaitTaskContinuation.",
        "System.Threading.Tasks.SynchronizationContextAwaitTaskContinuation.",
        "System.Threading.Tasks.Task.RunContinuations(",
        "System.Threading.Tasks.Task.RunOrScheduleAction(",
        "System.Threading.ThreadPoolWorkQueue.",
    };

    for (size_t i = 0; i < COUNT_OF(prefixes); i++)
        if (begins(name, prefixes[i]))
            return true;
    return false;
}

/* Of C#, F#'s tasks ("work@12.MoveNext()"), Visual Basic ("VB$StateMachine_3_Work.MoveNext()"). */
static bool is_machine(const char *name)
{
    const char *at = strchr(name, '@');

    return report_demangle_is_machine(name) ||
           (ends(name, ".MoveNext()") &&
            ((at && at[1] >= '0' && at[1] <= '9') || strstr(name, ".VB$StateMachine_")));
}

/* Of AsyncHelpers: what resumes a method of runtime async, on .NET 10, and on 11. */
static bool is_thunk(const char *name)
{
    return begins(name, "ThunkTaskCore.MoveNext") ||
           (begins(name, "RuntimeAsyncTask") && strstr(name, ".DispatchContinuations(")) ||
           (begins(name, "RuntimeAsyncTask") &&
            strstr(name, ".InstrumentedDispatchContinuations("));
}

static uint16_t kind_of(const char *name)
{
    static const char helpers[] = "System.Runtime.CompilerServices.AsyncHelpers.";
    uint16_t kind = 0;

    if (begins(name, helpers))
        kind |= is_thunk(name + strlen(helpers)) ? THUNK | HELPER : HELPER;
    if (is_machine(name))
        kind |= MACHINE;
    if (is_box(name))
        kind |= BOX;
    if (resumes(name))
        kind |= RESUMES;
    if (strstr(name, "Builder") && strstr(name, ".Start<"))
        kind |= STARTS;
    if (strstr(name, "AsyncIteratorMethodBuilder.MoveNext<") || strstr(name, ".MoveNextAsync("))
        kind |= STREAMS;
    return kind;
}

static uint32_t method_of(const struct logical *l, uint32_t path)
{
    return log_call_path(l->defs, path)->method;
}

static const char *name_of(const struct logical *l, uint32_t path)
{
    return log_method(l->defs, method_of(l, path))->name;
}

/* Whether a method is the machine's as the source has it: its name, with parameters. */
static bool is_written(struct logical *l, uint32_t machine, uint32_t path)
{
    const char *name = report_demangle(&l->machine, name_of(l, machine));
    const char *other = report_demangle(&l->other, name_of(l, path));
    size_t size = strlen(name);

    return size && strncmp(other, name, size) == 0 && (other[size] == '(' || other[size] == '<');
}

/*
 * The outermost frame of what the compiler and the builder put between a machine and the caller of
 * the method as written; the machine's own path if none of that is around it.
 */
static uint32_t outermost(struct logical *l, uint32_t machine)
{
    const struct log_call_path *p = log_call_path(l->defs, machine);
    uint32_t at = machine;

    /* runtime async: what returns the task, and what it calls, have one name */
    if (l->runtime && l->offsets && p->il < 0 && p->parent > LOG_PATH_LOST &&
        p->method == method_of(l, p->parent))
        return p->parent;
    if (!(l->kind[method_of(l, machine)] & MACHINE))
        return at;
    for (unsigned i = 0; i < HOPS; i++) {
        uint32_t parent = log_call_path(l->defs, at)->parent;

        if (parent <= LOG_PATH_LOST)
            return at;
        if (!(l->kind[method_of(l, parent)] & (STARTS | STREAMS)))
            return is_written(l, machine, parent) ? parent : at;
        at = parent;
    }
    return at;
}

/*
 * Whether a frame called an async method's machine for the first time, through code without hooks,
 * because the method that the source has was inlined. Its box is made when it waits first, so that
 * it was not resumed before.
 */
static bool is_first(const struct logical *l, uint32_t path)
{
    uint16_t kind = l->kind[method_of(l, path)];

    if (log_call_path(l->defs, path)->parent == LOG_PATH_EMPTY)
        return false;
    return (kind & TOLD) || (l->certain && !(kind & BOXED)) ||
           ((l->mark[path] & WAITED) && !(kind & POOLED));
}

/* Whether the frame is an async method's that goes on after it waited. */
static bool is_resumed(struct logical *l, uint32_t path)
{
    const struct log_call_path *p = log_call_path(l->defs, path);
    uint16_t kind = l->kind[p->method], around;

    if (p->parent == LOG_PATH_LOST || (kind & BOX))
        return false;
    if (p->begun && outermost(l, path) == path &&
        ((kind & MACHINE) || method_of(l, p->begun) == p->method))
        return true;
    around = p->parent ? l->kind[method_of(l, p->parent)] : 0;
    if (around & THUNK) /* it calls through a stub */
        return !(kind & HELPER) &&
               (log_call_path_call(p) == SST_CALL_STUB || (!l->offsets && (kind & BOXED)));
    if (around & BOX) /* a box calls its machine; what else it calls belongs to what resumed it */
        return kind & MACHINE || ends(log_method(l->defs, p->method)->name, "MoveNext()");
    if (!(kind & (MACHINE | SUSPENDS)) || outermost(l, path) != path)
        return false;
    if (kind & SUSPENDS) /* by a stub; .NET 11 calls it through a method without hooks */
        return !l->thunks && p->il < 0 && log_call_path_call(p) != SST_CALL_UNHOOKED;
    return (around & RESUMES) || ((kind & ASYNC) && p->il < 0 && !is_first(l, path));
}

/* ---- beginnings ---- */

static void note_box(struct logical *l, uint32_t path, uint32_t class_number)
{
    const char *class_name = log_class(l->defs, class_number)->name;
    bool continuation = l->runtime && strcmp(class_name, CONTINUATION) == 0;

    if (!continuation && !is_box(class_name))
        return;
    for (unsigned i = 0; i < BOX_REACH && path > LOG_PATH_LOST; i++) {
        uint16_t kind = l->kind[method_of(l, path)];

        if (continuation ? !(kind & HELPER) : kind & MACHINE) {
            l->mark[path] |= WAITED;
            l->kind[method_of(l, path)] |= BOXED;
            if (continuation)
                l->kind[method_of(l, path)] |= SUSPENDS;
            if (strstr(class_name, ".Pooling"))
                l->kind[method_of(l, path)] |= POOLED;
            return;
        }
        path = log_call_path(l->defs, path)->parent;
    }
}

/* The box of an async iterator lives as long as that: it may begin where no box was made. */
static bool is_stream(const struct logical *l, uint32_t path)
{
    uint32_t parent = log_call_path(l->defs, path)->parent;

    for (unsigned i = 0; i < HOPS && parent > LOG_PATH_LOST; i++) {
        uint16_t around = l->kind[method_of(l, parent)];

        if (around & STREAMS)
            return true;
        if (!(around & STARTS))
            return false;
        parent = log_call_path(l->defs, parent)->parent;
    }
    return false;
}

static bool may_begin(const struct logical *l, uint32_t path)
{
    uint16_t kind = l->kind[method_of(l, path)];

    return (kind & ASKED) && !(l->mark[path] & RESUMED) &&
           (!(kind & BOXED) || (kind & POOLED) || (l->mark[path] & WAITED) || is_stream(l, path));
}

static int collect(struct logical *l)
{
    size_t count = 0;

    for (uint32_t path = LOG_PATH_LOST + 1; path < l->paths; path++)
        if (may_begin(l, path)) {
            l->first[method_of(l, path) + 1]++;
            count++;
        }
    l->begun = memory_zalloc(count + 1, sizeof(*l->begun));
    if (!l->begun)
        return -ENOMEM;
    for (size_t m = 0; m < l->methods; m++)
        l->first[m + 1] += l->first[m];
    for (uint32_t path = (uint32_t)l->paths - 1; path > LOG_PATH_LOST; path--)
        if (may_begin(l, path))
            l->begun[--l->first[method_of(l, path) + 1]] = path;
    /* what was the end of each is its beginning now */
    for (size_t m = 0; m < l->methods; m++)
        l->first[m] = l->first[m + 1];
    l->first[l->methods] = (uint32_t)count;
    return 0;
}

/* ---- one path of several ---- */

static int take_steps(struct logical *l, uint32_t path, uint32_t *root)
{
    l->step_count = 0;
    for (; path > LOG_PATH_LOST; path = log_call_path(l->defs, path)->parent) {
        const struct log_call_path *p = log_call_path(l->defs, path);

        if (!array_reserve(&l->steps, &l->step_capacity, l->step_count + 1))
            return -ENOMEM;
        l->steps[l->step_count++] = (struct step){p->method, p->filter, p->il};
    }
    *root = path;
    return 0;
}

/* What both have in common, from the leaf on. Returns: whether that is all. */
static bool keep_common(struct logical *l, uint32_t path, uint32_t root)
{
    size_t same = 0;

    for (; path > LOG_PATH_LOST && same < l->step_count;
         path = log_call_path(l->defs, path)->parent, same++) {
        const struct log_call_path *p = log_call_path(l->defs, path);

        if (p->method != l->steps[same].method || p->filter != l->steps[same].filter)
            break;
        if (p->il != l->steps[same].il)
            l->steps[same].il = LOG_NO_IL;
    }
    if (same == l->step_count && path == root)
        return true;
    l->step_count = same;
    return false;
}

static int build(struct logical *l, uint32_t root, uint32_t *out)
{
    int err = 0;

    for (size_t i = l->step_count; !err && i-- > 0;) {
        struct log_call_path path = {.parent = root,
                                     .method = l->steps[i].method & INT32_MAX,
                                     .filter = l->steps[i].filter & 1,
                                     .il = l->steps[i].il};

        err = log_defs_path_add(l->defs, &path, &root);
    }
    *out = root;
    return err;
}

static int several(struct logical *l, uint32_t count, uint32_t *out)
{
    struct log_call_path path = {.il = LOG_NO_IL};
    char name[64];
    uint32_t method;
    int err;

    snprintf(name, sizeof(name), LOG_SEVERAL "%u callers)", count);
    err = log_defs_method_named(l->defs, name, &method);
    path.method = method & INT32_MAX;
    return err ? err : log_defs_path_add(l->defs, &path, out);
}

/* A machine whose beginning is not in the log. */
static int alone(struct logical *l, uint32_t method, uint32_t root, uint32_t *out)
{
    struct log_call_path path = {.parent = root, .method = method & INT32_MAX, .il = LOG_NO_IL};

    return log_defs_path_add(l->defs, &path, out);
}

ORDERED_BY(by_number, uint32_t, ORDER(*x, *y))

/* The distinct paths, sorted to the front, without those that wait for this very answer. */
static size_t distinct(const struct logical *l, uint32_t *paths, size_t count, bool *circle)
{
    size_t kept = 0, known = 0;

    for (size_t i = 0; i < count; i++)
        if (l->map[paths[i]] < BUSY)
            paths[known++] = l->map[paths[i]];
    *circle = known < count;
    qsort(paths, known, sizeof(*paths), by_number);
    for (size_t i = 0; i < known; i++)
        if (!kept || paths[kept - 1] != paths[i])
            paths[kept++] = paths[i];
    return kept;
}

/* What resumptions of the method become, once the logical paths of its beginnings are known. */
static int decide(struct logical *l, uint32_t method)
{
    uint32_t from = l->first[method], *paths = l->begun + from, root, end, start;
    bool circle, whole = true, certain = l->certain && !(l->kind[method] & POOLED);
    size_t all = l->first[method + 1] - from, count = distinct(l, paths, all, &circle);
    int err;

    if (all < 2 ? !count || !certain : count == 1 && !circle && !certain)
        return alone(l, method, LOG_PATH_LOST, &l->start[method]);
    if (count == 1 && !circle) {
        l->start[method] = paths[0];
        return 0;
    }
    err = several(l, (uint32_t)(circle ? all : count), &end);
    if (!err && circle)
        return alone(l, method, end, &l->start[method]);
    if (!err)
        err = take_steps(l, paths[0], &root);
    for (size_t i = 1; !err && i < count; i++)
        whole = keep_common(l, paths[i], root) && whole;
    if (!err && !whole && l->step_count)
        l->steps[l->step_count - 1].il = LOG_NO_IL;
    if (!err)
        err = build(l, whole ? root : end, &start);
    if (!err)
        l->start[method] = start;
    return err;
}

/* ---- what the log says ---- */

static int ask(struct logical *l, uint32_t path)
{
    if (!array_reserve(&l->todo, &l->todo_capacity, l->todo_count + 1))
        return -ENOMEM;
    l->todo[l->todo_count++] = path;
    return 0;
}

/* The method's frame on the path of its beginning, or its caller as written (*written); 0: none. */
static uint32_t beginning(struct logical *l, uint32_t path, bool *written)
{
    uint32_t at = log_call_path(l->defs, path)->begun, method = method_of(l, path);

    for (unsigned i = 0; i < BOX_REACH + HOPS && at > LOG_PATH_LOST; i++) {
        *written = method_of(l, at) != method;
        if (!*written || is_written(l, path, at))
            return at;
        at = log_call_path(l->defs, at)->parent;
    }
    return 0;
}

/* As its beginning, which is `from`. Returns: 1 if that is to be waited for; 0; -ENOMEM. */
static int as_begun(struct logical *l, uint32_t path, uint32_t from, bool written)
{
    struct log_call_path p = *log_call_path(l->defs, from);
    uint32_t needed = written ? p.parent : from;

    if (l->map[needed] == BUSY) { /* it waits for this path: a damaged log */
        l->mark[path] |= ALONE;
        return 1;
    }
    if (l->map[needed] == NOT_YET)
        return ask(l, needed) ? -ENOMEM : 1;
    l->map[path] = l->map[needed];
    if (!written)
        return 0;
    p.parent = l->map[needed];
    p.method = method_of(l, path) & INT32_MAX;
    p.begun = 0;
    return log_defs_path_add(l->defs, &p, &l->map[path]);
}

/* ---- all paths ---- */

/* A path below what called it, which `outer` is the call of. */
static int below(struct logical *l, uint32_t path, uint32_t outer)
{
    struct log_call_path p = *log_call_path(l->defs, path);

    p.parent = log_call_path(l->defs, outer)->parent;
    p.il = log_call_path(l->defs, outer)->il;
    if (outer == path && !p.begun && l->map[p.parent] == p.parent) {
        l->map[path] = path;
        return 0;
    }
    p.parent = l->map[p.parent];
    p.begun = 0;
    return log_defs_path_add(l->defs, &p, &l->map[path]);
}

/* Asks for the method's beginnings first. Returns: 1 if there are some to wait for; 0; -ENOMEM. */
static int begin(struct logical *l, uint32_t method)
{
    size_t before = l->todo_count;
    int err = 0;

    l->start[method] = BUSY;
    for (uint32_t i = l->first[method]; !err && i < l->first[method + 1]; i++)
        if (l->map[l->begun[i]] == NOT_YET)
            err = ask(l, l->begun[i]);
    return err ? err : l->todo_count > before;
}

/*
 * The parent first. One that is BUSY waits, in the end, for this path: a continuation of the method
 * began the method again. It waits no longer, and what it becomes says that there are several.
 */
static int ask_parent(struct logical *l, uint32_t path, uint32_t parent)
{
    uint32_t method = method_of(l, parent);
    int err = 0;

    if (l->map[parent] == BUSY && (l->mark[parent] & RESUMED)) {
        if (l->start[method] == BUSY)
            err = decide(l, method);
        l->map[parent] = l->start[method];
        return err;
    }
    l->map[path] = BUSY;
    l->map[parent] = NOT_YET;
    return ask(l, parent);
}

/* One step towards the path on top of what is to be done. */
static int work(struct logical *l)
{
    uint32_t path = l->todo[l->todo_count - 1], method = method_of(l, path);
    uint32_t outer = outermost(l, path), parent = log_call_path(l->defs, outer)->parent;
    bool written = false;
    uint32_t from =
        (l->mark[path] & (RESUMED | ALONE)) == RESUMED ? beginning(l, path, &written) : 0;
    int err = 0;

    if (l->map[path] < BUSY) {
        l->todo_count--;
    } else if (!(l->mark[path] & RESUMED)) {
        err = l->map[parent] < BUSY ? below(l, path, outer) : ask_parent(l, path, parent);
    } else if (from) {
        l->map[path] = BUSY;
        err = as_begun(l, path, from, written);
    } else if (l->start[method] == NOT_YET) {
        l->map[path] = BUSY;
        err = begin(l, method);
    } else {
        err = l->start[method] == BUSY ? decide(l, method) : 0;
        l->map[path] = l->start[method];
    }
    return err < 0 ? err : 0;
}

static int map_all(struct logical *l)
{
    int err = 0;

    for (size_t i = 0; i < l->paths; i++)
        l->map[i] = i > LOG_PATH_LOST ? NOT_YET : (uint32_t)i;
    for (size_t i = 0; i < l->methods; i++)
        l->start[i] = NOT_YET;
    for (uint32_t path = LOG_PATH_LOST + 1; !err && path < l->paths; path++) {
        err = ask(l, path);
        while (!err && l->todo_count)
            err = work(l);
    }
    return err;
}

/* "Ns.Foo.<Bar>d__3" of a box's name, without type arguments: those of shared code differ. */
static uint64_t hash_type(const char *name, size_t size)
{
    int depth = 0;

    if (size && name[size - 1] == '>')
        for (size_t i = size; i-- > 0;) {
            depth += (name[i] == '>') - (name[i] == '<');
            if (depth == 0) {
                size = i;
                break;
            }
        }
    return hash_bytes(name, size);
}

ORDERED_BY(by_hash, uint64_t, ORDER(*x, *y))

/* Machines of which there are boxes are those of async methods. */
static int know_async(struct logical *l)
{
    uint64_t *boxed = memory_zalloc(l->defs->classes.count, sizeof(*boxed));
    size_t count = 0;

    if (!boxed)
        return -ENOMEM;
    for (size_t i = 0; i < l->defs->classes.count; i++) {
        const char *name = l->defs->classes.defs[i].name, *type = strstr(name, "StateMachineBox<");

        if (!type || !is_box(name))
            continue;
        type += strlen("StateMachineBox<");
        boxed[count++] = hash_type(type, strlen(type) - 1);
    }
    qsort(boxed, count, sizeof(*boxed), by_hash);
    for (size_t m = 0; m < l->methods; m++) {
        const char *name = l->defs->methods.defs[m].name;
        uint64_t hash;

        if (!(l->kind[m] & MACHINE))
            continue;
        hash = hash_type(name, strlen(name) - strlen(".MoveNext()"));
        if (count && bsearch(&hash, boxed, count, sizeof(*boxed), by_hash))
            l->kind[m] |= ASYNC;
    }
    memory_free(boxed);
    return 0;
}

/* Returns: 1 if there is an async method; 0; -ENOMEM. */
static int know_methods(struct logical *l)
{
    bool any = false;
    int err;

    for (size_t m = 0; m < l->methods; m++) {
        l->kind[m] = kind_of(l->defs->methods.defs[m].name);
        any |= (l->kind[m] & (MACHINE | BOX | THUNK)) != 0;
        l->thunks |= (l->kind[m] & THUNK) != 0;
    }
    l->runtime = l->thunks;
    for (size_t i = 0; !l->runtime && i < l->defs->classes.count; i++)
        l->runtime = strcmp(l->defs->classes.defs[i].name, CONTINUATION) == 0;
    for (size_t i = 0; !l->offsets && i < l->paths; i++)
        l->offsets = log_call_path(l->defs, (uint32_t)i)->il >= 0;
    if (!any && !l->runtime)
        return 0;
    err = know_async(l);
    for (uint32_t path = LOG_PATH_LOST + 1; !err && path < l->paths; path++) {
        if (log_call_path(l->defs, path)->begun)
            l->kind[method_of(l, path)] |= TOLD;
        if (outermost(l, path) != path)
            l->kind[method_of(l, path)] |= ASYNC;
    }
    return err ? err : 1;
}

static void know_resumed(struct logical *l)
{
    for (uint32_t path = LOG_PATH_LOST + 1; path < l->paths; path++)
        if (is_resumed(l, path)) {
            l->mark[path] |= RESUMED;
            l->kind[method_of(l, path)] |= ASKED;
            if (strstr(name_of(l, log_call_path(l->defs, path)->parent), ".Pooling"))
                l->kind[method_of(l, path)] |= POOLED;
        }
}

static void finish(struct logical *l)
{
    memory_free_all(l->kind, l->mark, l->first, l->begun, l->start, l->todo, l->steps);
    buffer_free(&l->machine);
    buffer_free(&l->other);
}

static int make(struct logical *l, const struct report_logical_allocs *allocs)
{
    uint32_t path, class_number;
    int err;

    l->mark = memory_zalloc(l->paths, sizeof(*l->mark));
    l->first = memory_zalloc(l->methods + 1, sizeof(*l->first));
    l->start = memory_alloc(l->methods * sizeof(*l->start));
    l->map = memory_alloc(l->paths * sizeof(*l->map));
    if (!l->mark || !l->first || !l->start || !l->map)
        return -ENOMEM;
    while (allocs->complete && allocs->next(allocs->context, &path, &class_number))
        note_box(l, path, class_number);
    know_resumed(l);
    err = collect(l);
    return err ? err : map_all(l);
}

int report_logical(struct log_defs *defs, const struct report_logical_allocs *allocs,
                   uint32_t **out)
{
    struct logical l = {.defs = defs,
                        .paths = defs->path_count,
                        .methods = defs->methods.count,
                        .certain = allocs->begun};
    int err;

    *out = NULL;
    l.kind = memory_zalloc(l.methods, sizeof(*l.kind));
    err = l.kind ? know_methods(&l) : -ENOMEM;
    if (err > 0) {
        err = make(&l, allocs);
        if (!err)
            *out = l.map;
        else
            memory_free(l.map);
    }
    finish(&l);
    return err;
}

uint32_t report_logical_ends(const struct log_defs *defs, uint32_t path)
{
    const char *name;
    uint32_t at = path;

    while (at > LOG_PATH_LOST && log_call_path(defs, at)->parent != LOG_PATH_EMPTY)
        at = log_call_path(defs, at)->parent;
    name = at > LOG_PATH_LOST ? log_method(defs, log_call_path(defs, at)->method)->name : "";
    return begins(name, LOG_SEVERAL) ? (uint32_t)strtoul(name + strlen(LOG_SEVERAL), NULL, 10) : 0;
}

/* ---- what it rests on ---- */

void report_logical_note(struct report_logical_basis *b, const struct log_record *record)
{
    static const char *const leave_out[] = {"sample", "types", "min_size"};
    const json_t *options;
    bool some = false;

    if (record->kind == SST_KIND_CONFIG)
        b->left_out = b->unbegun = true; /* what is recorded changed on the way */
    if (record->kind != SST_KIND_HEADER)
        return;
    options = json_object_get(record->json, "options");
    for (size_t i = 0; i < COUNT_OF(leave_out); i++)
        some = some || json_object_get(options, leave_out[i]);
    b->left_out = b->left_out || some;
    if ((some && !json_is_true(json_object_get(record->json, "beginnings"))) ||
        json_object_get(options, "paused"))
        b->unbegun = true;
}

/* Whether the logs have each path on which an async method had to wait. They may end early. */
static bool has_beginnings(const struct report_logical_basis *b, const struct log_input *log)
{
    static const enum log_gap_kind gone[] = {
        LOG_GAP_DAMAGED,     LOG_GAP_PARTS,     LOG_GAP_ROTATED_OUT,
        LOG_GAP_MISSING,     LOG_GAP_UNDEFINED, LOG_GAP_LOST,
        LOG_GAP_NOT_WRITTEN, LOG_GAP_PATHS,     LOG_GAP_FILE};
    struct log_completeness gaps;
    bool any = b->unbegun;

    log_input_completeness(log, &gaps);
    for (size_t i = 0; i < COUNT_OF(gone); i++)
        any = any || log_gap_of(&gaps, gone[i]);
    return !any;
}

void report_logical_known(const struct report_logical_basis *b, const struct log_input *log,
                          bool all, struct report_logical_allocs *out)
{
    out->begun = has_beginnings(b, log);
    out->complete = out->begun && all && !b->left_out;
}
