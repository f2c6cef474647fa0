#include "values/values.h"

#include "values/capture.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "options/options_fields.h"
#include "thread/thread.h"

#include <shadowtrace/clr/constants.h>

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define RECORD_MAX 8192 /* bytes of one record */
#define LIVE_MAX   4096 /* live frames of a thread that have one; further ones have none */
#define EXACT_ARGS 16
#define EXACT_HASH 4096
#define OWNER_HASH 1024

/* A live frame with a record. */
struct live {
    uintptr_t sp, method;
    const struct values_plan *plan;
    bool out;             /* its by-refs are read once more when it ends */
    uint32_t id;          /* 0: none was posted */
    uint64_t collections; /* self.collections when the method was entered */
    uintptr_t where[CAPTURE_TARGETS];
};

/* One thread's own; hangs on its stack. Pages are touched as they are needed. */
struct values_thread {
    struct event_ring *ring;
    uintptr_t stack_end; /* of its memory; 0: not known */
    size_t count;
    struct live live[LIVE_MAX]; /* sp falls, as in the stack */
    uint8_t data[RECORD_MAX];
};

/* An instantiation whose plan lacks types that a hook could not have loaded. */
struct unfinished {
    struct unfinished *next;
    struct metadata_method *method;
    const struct values_plan *shared;
};

/* A method of a shared type: what the variables stand for, each instantiation tells. */
struct open_method {
    struct open_method *next;
    const struct metadata_method *method;
    uint32_t owner; /* mdTypeDef */
};

/* A generic type of which there are objects. */
struct met_class {
    struct met_class *next;
    struct metadata_class *class;
};

/* An instantiation that was met. */
struct exact {
    struct exact *next;
    uintptr_t function_id, class_id;
    uint32_t epoch, count;
    struct metadata_method *method;
    uintptr_t arg[];
};

static struct {
    struct values_config config;
    struct values_types types;
    struct capture_rules rules;
    _Atomic(uint32_t) ids;
    _Atomic(uint64_t) posted, lost;
    _Atomic(uint64_t) collections; /* begun : 32, under way : 32 */
    _Atomic(struct exact *) exact[EXACT_HASH];
    _Atomic(struct unfinished *) unfinished;
    /* By type. Each is listed before the other list is searched: two that come at once meet. */
    _Atomic(struct open_method *) open[OWNER_HASH];
    _Atomic(struct met_class *) met[OWNER_HASH];
} self;

static struct metadata_class *class_find(void *context, uintptr_t class_id)
{
    return metadata_class_find(context, class_id);
}

static const struct values_type *layout(void *context, const struct metadata_class *class)
{
    (void)context;
    return class->rank ? &values_reference : load_acquire(&class->layout);
}

int values_start(const struct values_config *config)
{
    struct clr_info *info = config->info;

    self.config = *config;
    self.types.info = info;
    self.types.metadata = config->metadata;
    self.rules.max_text = config->options->value_length;
    self.rules.max_items = config->options->value_items;
    self.rules.class_find = class_find;
    self.rules.layout = layout;
    self.rules.context = config->metadata;
    return info->vtbl->get_string_layout2(info, &self.rules.string_length,
                                          &self.rules.string_text) == S_OK
               ? 0
               : -EINVAL;
}

/* ---- what is watched ---- */

static size_t owner_bucket(const struct metadata_module *module, uint32_t owner)
{
    return (owner * UINT32_C(0x9e3779b9) >> 16 ^ module->id) % OWNER_HASH;
}

/* The types that the method deals in for this class: its Enter hook may not load them. */
static void load_types(const struct open_method *open, struct metadata_class *class)
{
    const struct metadata_method *method = open->method;
    const struct metadata_method one = {.token = method->token,
                                        .module = method->module,
                                        .owner = class,
                                        .args = method->args,
                                        .arg = method->arg};

    if (class->module == method->module && class->token == open->owner)
        values_plan_free(values_plan_new(&self.types, &one, true, true, VALUES_LOAD));
}

static void add_open(const struct metadata_method *method)
{
    struct clr_metadata *import = method->module->import;
    struct open_method *open = memory_zalloc(1, sizeof(*open));
    size_t at;

    if (!open)
        return;
    open->method = method;
    import->vtbl->get_method_props(import, method->token, &open->owner, NULL, 0, NULL, NULL, NULL,
                                   NULL, NULL, NULL);
    at = owner_bucket(method->module, open->owner);
    list_push(&self.open[at], open, next);
    fence_full();
    for (struct met_class *met = load_acquire(&self.met[at]); met; met = met->next)
        load_types(open, met->class);
}

static void add_met(struct metadata_class *class)
{
    struct met_class *met = memory_alloc(sizeof(*met));
    size_t at = owner_bucket(class->module, class->token);

    if (!met)
        return;
    met->class = class;
    list_push(&self.met[at], met, next);
    fence_full();
    for (const struct open_method *open = load_acquire(&self.open[at]); open; open = open->next)
        load_types(open, class);
}

void values_method(struct metadata_method *method)
{
    const struct options *options = self.config.options;
    const char *name = metadata_method_resolve(self.config.metadata, method);
    bool args = options_match(&options->args, name),
         returns = options_match(&options->returns, name);
    struct values_plan *plan;
    void *none = NULL;

    if ((!args && !returns) || load_acquire(&method->plan))
        return;
    plan = values_plan_new(&self.types, method, args, returns, VALUES_LOAD);
    if (plan && !cas_acq_rel(&method->plan, &none, (void *)plan))
        values_plan_free(plan); /* another thread was faster */
    else if (plan && plan->open && !method->collectible)
        add_open(method);
}

static bool is_known(const struct values_type *type)
{
    return type->kind != VALUES_UNKNOWN && (!type->target || is_known(type->target));
}

/* What needs no type variables is known since types could be loaded. Returns whether all is. */
static bool complete(struct values_plan *own, const struct values_plan *shared)
{
    bool all;

    for (uint32_t i = 0; i < own->count && i < shared->count; i++)
        if (!is_known(own->parameter[i].type) && is_known(shared->parameter[i].type))
            own->parameter[i].type = shared->parameter[i].type;
    if (!is_known(own->result))
        own->result = shared->result;
    all = is_known(own->result);
    for (uint32_t i = 0; i < own->count; i++)
        all &= is_known(own->parameter[i].type);
    return all;
}

/* The plan that is replaced stays: records refer to it. */
static void finish(void)
{
    struct unfinished *u = exchange_acq_rel(&self.unfinished, NULL);

    while (u) {
        struct unfinished *next = u->next;
        struct values_plan *plan = values_plan_new(&self.types, u->method, u->shared->args,
                                                   u->shared->returns, VALUES_LOAD);

        if (plan) {
            complete(plan, u->shared);
            store_release(&u->method->plan, (void *)plan);
        }
        memory_free(u);
        u = next;
    }
}

void values_class(struct metadata_class *class)
{
    if (UNLIKELY(load_relaxed(&self.unfinished) != NULL))
        finish();
    for (; class && !load_relaxed(&class->layout); class = class->element) {
        const struct values_type *type = values_type_of_objects(&self.types, class, VALUES_LOAD);

        if (type)
            store_release(&class->layout, (const void *)type);
        if (class->args && class->module && !class->collectible)
            add_met(class);
    }
}

/* ---- threads ---- */

/* For the first thread of a process a file is read. */
static uintptr_t stack_end(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes))
        return 0;
    if (pthread_attr_getstack(&attributes, &low, &size))
        size = 0;
    pthread_attr_destroy(&attributes);
    return size ? (uintptr_t)low + size : 0;
}

static struct values_thread *values_of(struct stack *s)
{
    struct values_thread *t = s->values;
    struct thread *thread = t ? NULL : thread_of(s);

    if (!thread)
        return t;
    t = memory_pages_map(sizeof(*t));
    if (!t)
        return NULL;
    t->ring = thread->ring;
    t->stack_end = stack_end();
    return s->values = t;
}

void values_thread_ended(struct stack *s)
{
    memory_pages_unmap(s->values, sizeof(*s->values));
    s->values = NULL;
}

/* Those that lie at or below sp were left. */
static void pop(struct values_thread *t, uintptr_t sp)
{
    while (t->count && t->live[t->count - 1].sp <= sp)
        t->count--;
}

/* Is the frame still there? Frames of a stack are found by sp, which falls. */
static bool is_live(const struct stack *s, const struct live *live)
{
    uint32_t low = 0, high = stack_depth(s);

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (load_relaxed(&stack_frame(s, middle)->sp) > live->sp)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stack_depth(s) && load_relaxed(&stack_frame(s, low)->sp) == live->sp &&
           load_relaxed(&stack_frame(s, low)->method) == live->method;
}

uint32_t values_live(struct stack *s)
{
    struct values_thread *t = s->values;

    if (!t)
        return 0;
    while (t->count && !is_live(s, &t->live[t->count - 1]))
        t->count--;
    for (size_t i = t->count; i-- > 0;)
        if (t->live[i].id)
            return t->live[i].id;
    return 0;
}

/* ---- collections ---- */

#define COLLECTION_BEGUN (UINT64_C(1) << 32)

void values_collection_started(void)
{
    add_relaxed(&self.collections, COLLECTION_BEGUN + 1);
}

void values_collection_finished(void)
{
    if ((uint32_t)load_relaxed(&self.collections))
        add_relaxed(&self.collections, -UINT64_C(1));
}

/* Is the heap as it was? A concurrent collection under way may have freed something since. */
static bool heap_untouched(uint64_t collections)
{
    return !(uint32_t)collections && load_relaxed(&self.collections) == collections;
}

/* ---- in the hooks ---- */

/* Returns the id, 0 when it was lost. */
static uint32_t post(struct values_thread *t, struct values_record *head, const struct capture *c)
{
    struct values_record *record = memory_alloc(sizeof(*record) + c->size);
    struct event event = {.ticks = clock_ticks(),
                          .subject = (uintptr_t)record,
                          .bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, EVENT_VALUES)};
    uint32_t id = 0;

    if (record) {
        id = add_relaxed(&self.ids, 1) + 1;
        *record = *head;
        record->id = id;
        record->size = c->size;
        memcpy(record->data, c->data, c->size);
    }
    if (!record || load_relaxed(&t->ring->hub->stopped) || event_offer(t->ring, &event)) {
        memory_free(record);
        add_relaxed(&self.lost, 1);
        return 0;
    }
    add_relaxed(&self.posted, 1);
    return id;
}

/* The plan for a frame; an instantiation has its own if the shared code's says too little. */
static const struct values_plan *plan_of(const struct metadata_method *method, uintptr_t frame_info)
{
    const struct values_plan *plan = load_acquire(&method->plan), *own = NULL;

    if (plan && plan->open)
        own = load_acquire(
            &((struct metadata_method *)values_exact((uintptr_t)method, frame_info))->plan);
    return own ? own : plan;
}

static void enter(struct values_thread *t, struct stack *s, const struct live *frame,
                  const struct clr_function_argument_info *arguments)
{
    struct capture c = {.rules = &self.rules, .data = t->data, .room = RECORD_MAX};
    struct values_record head = {.depth = stack_depth(s) ? stack_depth(s) - 1 : 0,
                                 .method = (const struct metadata_method *)frame->method,
                                 .plan = frame->plan};

    pop(t, frame->sp);
    if (t->count == LIVE_MAX)
        return;
    head.of = values_live(s);
    t->live[t->count] = *frame;
    if (frame->plan->args && arguments) {
        capture_arguments(&c, frame->plan, arguments);
        capture_where(frame->plan, arguments, t->live[t->count].where);
        t->live[t->count].collections = load_relaxed(&self.collections);
        t->live[t->count].id = post(t, &head, &c);
    }
    t->count++;
}

uint32_t values_enter(uintptr_t method, uintptr_t sp, uintptr_t frame_info,
                      const struct clr_function_argument_info *arguments)
{
    int saved = errno;
    struct live frame = {.sp = sp,
                         .method = method,
                         .plan = plan_of((const struct metadata_method *)method, frame_info)};
    struct stack *s = stack_peek();
    struct values_thread *t = frame.plan && s ? values_of(s) : NULL;

    if (t)
        enter(t, s, &frame, arguments);
    errno = saved;
    return t && t->count && t->live[t->count - 1].sp == sp ? t->live[t->count - 1].id : 0;
}

static uint32_t leave(struct values_thread *t, struct stack *s, const struct live *frame,
                      const struct clr_function_argument_range *result)
{
    struct capture c = {.rules = &self.rules, .data = t->data, .room = RECORD_MAX};
    struct values_record head = {.depth = stack_depth(s) ? stack_depth(s) - 1 : 0,
                                 .of = frame->id,
                                 .result = true,
                                 .returns = frame->plan->returns &&
                                            frame->plan->result->kind != VALUES_VOID,
                                 .out = frame->out,
                                 .method = (const struct metadata_method *)frame->method,
                                 .plan = frame->plan};

    if (!head.returns && !head.out)
        return 0;
    if (head.returns && result && result->start_address)
        capture_value(&c, frame->plan->result, result->start_address, true);
    else if (head.returns)
        capture_tag(&c, CAPTURE_UNREADABLE);
    head.out_at = c.size;
    if (head.out && heap_untouched(frame->collections))
        capture_targets(&c, frame->plan, frame->where, 0, UINTPTR_MAX);
    else if (head.out)
        capture_targets(&c, frame->plan, frame->where, frame->sp, t->stack_end);
    return post(t, &head, &c);
}

uint32_t values_leave(uintptr_t method, uintptr_t sp,
                      const struct clr_function_argument_range *result)
{
    struct live frame = {.sp = sp,
                         .method = method,
                         .plan = load_acquire(&((struct metadata_method *)method)->plan)};
    struct stack *s = stack_peek();
    struct values_thread *t;
    uint32_t id = 0;
    int saved = errno;

    if (!frame.plan || (!frame.plan->returns && !frame.plan->back) || !s)
        return 0;
    t = values_of(s);
    if (t) {
        pop(t, sp - 1);
        if (t->count && t->live[t->count - 1].sp == sp && t->live[t->count - 1].method == method) {
            frame = t->live[t->count - 1];
            frame.out = frame.plan->args && frame.plan->back;
        }
        id = leave(t, s, &frame, result);
    }
    errno = saved;
    return id;
}

/* ---- exact instantiations ---- */

static _Atomic(struct exact *) *exact_bucket(uintptr_t function_id, uintptr_t class_id,
                                             const uintptr_t *arg, uint32_t count)
{
    uint64_t hash = hash_word(function_id) ^ class_id;

    for (uint32_t i = 0; i < count; i++)
        hash = hash_word(hash ^ arg[i]);
    return &self.exact[hash_word(hash) >> 52];
}

static struct exact *exact_find(_Atomic(struct exact *) *bucket, uintptr_t function_id,
                                uintptr_t class_id, const uintptr_t *arg, uint32_t count)
{
    struct exact *e = load_acquire(bucket);

    for (; e; e = e->next)
        if (e->function_id == function_id && e->class_id == class_id && e->count == count &&
            !memcmp(e->arg, arg, count * sizeof(*arg)) &&
            (!e->method->collectible || e->epoch == metadata_epoch(self.config.metadata)))
            return e;
    return NULL;
}

/* Types are loaded for it at the next allocation. */
static void leave_unfinished(struct metadata_method *method, const struct values_plan *shared)
{
    struct unfinished *u = memory_alloc(sizeof(*u));

    if (!u)
        return; /* what is not known now never will be */
    *u = (struct unfinished){NULL, method, shared};
    list_push(&self.unfinished, u, next);
}

/* Runs in a hook: must not load anything to get the types that the instantiation adds. */
static void *exact_plan(const struct metadata_method *shared, struct metadata_method *method)
{
    struct values_plan *plan = load_acquire(&shared->plan), *own = NULL;

    if (plan && plan->open)
        own = values_plan_new(&self.types, method, plan->args, plan->returns, VALUES_QUIET);
    if (own && !complete(own, plan))
        leave_unfinished(method, plan);
    return own ? own : plan;
}

static struct exact *exact_make(_Atomic(struct exact *) *bucket, struct metadata_method *shared,
                                uintptr_t class_id, const uintptr_t *arg, uint32_t count)
{
    struct exact *e = memory_zalloc(1, sizeof(*e) + count * sizeof(*arg));

    if (!e)
        return NULL;
    e->function_id = shared->function_id;
    e->class_id = class_id;
    e->count = count;
    e->epoch = metadata_epoch(self.config.metadata);
    memcpy(e->arg, arg, count * sizeof(*arg));
    if (metadata_method_exact(self.config.metadata, shared, class_id, arg, count, &e->method)) {
        memory_free(e);
        return NULL;
    }
    e->method->traced = shared->traced;
    store_relaxed(&e->method->plan, exact_plan(shared, e->method));
    list_push(bucket, e, next);
    return e;
}

uintptr_t values_exact(uintptr_t method, uintptr_t frame_info)
{
    struct metadata_method *shared = (struct metadata_method *)method;
    struct clr_info *info = self.config.info;
    uintptr_t class_id = 0, module_id = 0, arg[EXACT_ARGS];
    _Atomic(struct exact *) *bucket;
    uint32_t token, count = 0;
    int saved = errno;
    struct exact *e;

    if (!shared->shared || !frame_info ||
        info->vtbl->get_function_info2(info, shared->function_id, frame_info, &class_id, &module_id,
                                       &token, EXACT_ARGS, &count, arg) < 0 ||
        count > EXACT_ARGS)
        return method;
    bucket = exact_bucket(shared->function_id, class_id, arg, count);
    e = exact_find(bucket, shared->function_id, class_id, arg, count);
    if (!e)
        e = exact_make(bucket, shared, class_id, arg, count);
    errno = saved;
    return e ? (uintptr_t)e->method : method;
}

/* ---- sums ---- */

void values_totals(uint64_t *posted, uint64_t *lost)
{
    *posted = load_relaxed(&self.posted);
    *lost = load_relaxed(&self.lost);
}
