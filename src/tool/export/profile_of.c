#include "export/profile_of.h"

#include "base/array.h"
#include "base/buffer.h"
#include "base/il.h"
#include "base/memory.h"
#include "base/path.h"
#include "model/own.h"
#include "readers/header.h"

#include <errno.h>
#include <stdarg.h>

#define SMALLER "(smaller ones)" /* the leaf of what was folded */

/* live: not known to be dead: what the last collection left, and later allocations. */
struct amounts {
    double bytes, allocs, live_bytes, live_allocs;
};

static void add(struct amounts *to, const struct amounts *more)
{
    to->bytes += more->bytes;
    to->allocs += more->allocs;
    to->live_bytes += more->live_bytes;
    to->live_allocs += more->live_allocs;
}

/* What of one type was folded into a node. */
struct rest {
    struct amounts of;
    uint32_t type; /* its place */
    uint32_t next; /* number + 1 of the next of the same node; 0: the last */
    uint32_t into; /* number + 1 of the one that it was added to; 0: none */
    uint32_t node; /* of the profile, at which it stands */
};

/* While a profile is made. Arrays by node of the tree unless they say. */
struct making {
    const struct model_tree *t;
    const struct log_defs *defs;
    struct names *names;
    struct export_profile *p;
    double least, live_least; /* bytes of a sample */
    struct rest *rests;
    uint32_t rest_count;
    uint32_t *rest_of; /* number + 1 of its first; 0: nothing was folded into it */
    bool *several;     /* its rests may have a type twice */
    uint32_t *nodes;   /* its number in the profile; of what was folded: number + 1 of its rest */
    bool *folded;      /* its own weight is among the rests of another */
    bool *used;        /* it, or something below it, is in the profile */
    uint32_t *seen;    /* by place of a type: number + 1 of the rest being added to */
    uint32_t *frames;  /* by place: number + 1; behind them that of SMALLER */
    uint32_t *functions[2]; /* by number of a method, of a class: number + 1 */
    uint32_t *modules;      /* by number: number + 1 */
    size_t frame_capacity, module_capacity;
    double told_bytes, told_allocs; /* exact sums of the samples so far */
    double told_live_bytes, told_live_allocs;
};

/* ---- what is too small ---- */

static double weight(const double *found, const double *later, uint32_t node)
{
    return (found ? found[node] : 0) + (later ? later[node] : 0);
}

static struct amounts amounts_of(const struct making *m, uint32_t node)
{
    double *const *self = m->t->self;

    return (struct amounts){self[MODEL_BYTES][node], self[MODEL_ALLOCS][node],
                            weight(self[MODEL_LIVE_BYTES], self[MODEL_BESIDE_BYTES], node),
                            weight(self[MODEL_LIVE_ALLOCS], self[MODEL_BESIDE_ALLOCS], node)};
}

/* What is left of it where it stands. Returns: whether there is anything. */
static bool has_own(const struct making *m, uint32_t node, struct amounts *out)
{
    *out = m->folded[node] ? (struct amounts){0, 0, 0, 0} : amounts_of(m, node);
    return out->bytes > 0 || out->allocs > 0 || out->live_allocs > 0;
}

/* Rests go over to another node: all of the list that begins with `first`. */
static void hand_over(struct making *m, uint32_t first, uint32_t node)
{
    uint32_t last = first;

    if (!first)
        return;
    while (m->rest_of[node] && m->rests[last - 1].next)
        last = m->rests[last - 1].next;
    if (m->rest_of[node]) {
        m->rests[last - 1].next = m->rest_of[node];
        m->several[node] = true;
    }
    m->rest_of[node] = first;
}

/* One rest for each type. */
static void add_up(struct making *m, uint32_t node)
{
    uint32_t *link = &m->rest_of[node];

    while (*link) {
        struct rest *rest = &m->rests[*link - 1];
        uint32_t known = m->seen[rest->type];

        if (known) {
            add(&m->rests[known - 1].of, &rest->of);
            rest->into = known;
            *link = rest->next;
        } else {
            m->seen[rest->type] = *link;
            link = &rest->next;
        }
    }
    for (uint32_t i = m->rest_of[node]; i; i = m->rests[i - 1].next)
        m->seen[m->rests[i - 1].type] = 0;
}

static bool is_small(const struct making *m, const struct amounts *of)
{
    return of->bytes < m->least && (of->live_bytes < m->live_least || !(m->live_least > 0));
}

/* Types that are still too small go on to the caller; the others stay. */
static void send_on(struct making *m, uint32_t node)
{
    uint32_t *link = &m->rest_of[node], small = 0;

    while (*link) {
        uint32_t number = *link;
        struct rest *rest = &m->rests[number - 1];

        if (!is_small(m, &rest->of)) {
            link = &rest->next;
            continue;
        }
        *link = rest->next;
        rest->next = small;
        small = number;
    }
    hand_over(m, small, m->t->nodes[node].parent);
}

/* From the leaves up: children have higher numbers than their parents. */
static void fold(struct making *m, struct export_folded *folded)
{
    const struct model_tree *t = m->t;

    for (uint32_t i = t->node_count; i-- > 1;) {
        struct amounts of = amounts_of(m, i);
        uint32_t parent = t->nodes[i].parent;

        if (t->places[t->nodes[i].place].kind == MODEL_PLACE_TYPE && is_small(m, &of)) {
            m->rests[m->rest_count++] = (struct rest){.of = of, .type = t->nodes[i].place};
            hand_over(m, m->rest_count, parent);
            m->folded[i] = true;
            m->nodes[i] = m->rest_count;
            folded->sites++;
            folded->bytes += of.bytes;
        } else if (m->several[i]) {
            add_up(m, i);
            send_on(m, i);
        } else if (m->rest_of[i]) { /* none of them has grown */
            hand_over(m, m->rest_of[i], parent);
            m->rest_of[i] = 0;
        }
        m->used[i] |= has_own(m, i, &of) || m->rest_of[i];
        m->used[parent] |= m->used[i];
    }
    add_up(m, 0);
}

/* ---- frames ---- */

static uint32_t module_of(struct making *m, uint32_t module)
{
    const struct log_def *def = log_module(m->defs, module);

    if (!module)
        return EXPORT_NO_MODULE;
    if (!m->modules[module]) {
        m->p->modules[m->p->module_count] =
            (struct export_module){.name = def->name, .path = def->path, .mvid = def->mvid};
        m->modules[module] = (uint32_t)++m->p->module_count;
    }
    return m->modules[module] - 1;
}

static uint32_t function_of(struct making *m, uint32_t *number)
{
    if (!*number)
        *number = (uint32_t)++m->p->function_count;
    return *number - 1;
}

static const char *text_of(const char *text)
{
    return text && *text ? text : "(no name)";
}

static void describe(struct making *m, const struct model_place *place, struct export_frame *frame)
{
    *frame = (struct export_frame){.il = LOG_NO_IL, .module = EXPORT_NO_MODULE};
    if (place->kind == MODEL_PLACE_METHOD) {
        frame->name = text_of(names_method(m->names, place->method));
        if (!place->line_last) { /* these formats have no ranges, and the first may be wrong */
            frame->file = place->file;
            frame->line = place->line;
        }
        frame->il = place->il >= 0 && !(place->il & IL_SEVERAL) ? place->il : LOG_NO_IL;
        frame->function = function_of(m, &m->functions[0][place->method]);
        frame->module = module_of(m, log_method(m->defs, place->method)->module);
        frame->token = log_method(m->defs, place->method)->token;
        frame->own = place->own ||
                     model_own_of_method(model_own_code(m->t->model), place->method) == MODEL_OWN;
    } else if (place->kind == MODEL_PLACE_TYPE) {
        frame->name = text_of(names_class(m->names, place->method));
        frame->kind = EXPORT_TYPE;
        frame->function = function_of(m, &m->functions[1][place->method]);
    } else {
        frame->name = text_of(place->name);
        frame->kind = EXPORT_OTHER;
        frame->function = (uint32_t)m->p->function_count++;
    }
}

/* place: place_count for SMALLER. Returns: 0 or -ENOMEM. */
static int frame_of(struct making *m, uint32_t place, uint32_t *out)
{
    struct export_profile *p = m->p;

    if (!m->frames[place]) {
        if (!array_reserve(&p->frames, &m->frame_capacity, p->frame_count + 1))
            return -ENOMEM;
        if (place < m->t->place_count)
            describe(m, &m->t->places[place], &p->frames[p->frame_count]);
        else
            p->frames[p->frame_count] =
                (struct export_frame){.name = SMALLER,
                                      .kind = EXPORT_OTHER,
                                      .il = LOG_NO_IL,
                                      .module = EXPORT_NO_MODULE,
                                      .function = (uint32_t)p->function_count++};
        m->frames[place] = (uint32_t)++p->frame_count;
    }
    *out = m->frames[place] - 1;
    return 0;
}

/* ---- nodes and samples ---- */

static int put_node(struct making *m, uint32_t parent, uint32_t place)
{
    struct export_node *node = &m->p->nodes[m->p->node_count++];

    node->parent = parent;
    return frame_of(m, place, &node->frame);
}

static void put_sample(struct making *m, const struct amounts *of)
{
    struct export_profile *p = m->p;
    struct export_sample *sample = &p->samples[p->sample_count++];

    sample->node = (uint32_t)p->node_count - 1;
    sample->bytes = export_step(&m->told_bytes, of->bytes);
    sample->allocs = export_step(&m->told_allocs, of->allocs);
    sample->live_bytes = export_step(&m->told_live_bytes, of->live_bytes);
    sample->live_allocs = export_step(&m->told_live_allocs, of->live_allocs);
    p->bytes += sample->bytes;
    p->allocs += sample->allocs;
    p->live_bytes += sample->live_bytes;
    p->live_allocs += sample->live_allocs;
}

/* What was folded into a node, type by type, below a frame that says so. */
static int put_rests(struct making *m, uint32_t parent, uint32_t first)
{
    uint32_t smaller = (uint32_t)m->p->node_count;
    int err = put_node(m, parent, m->t->place_count);

    for (uint32_t i = first; !err && i; i = m->rests[i - 1].next) {
        err = put_node(m, smaller, m->rests[i - 1].type);
        m->rests[i - 1].node = (uint32_t)m->p->node_count - 1;
        put_sample(m, &m->rests[i - 1].of);
    }
    return err;
}

static int put_all(struct making *m)
{
    const struct model_tree *t = m->t;
    struct amounts own;
    int err = 0;

    m->p->node_count = 1;
    m->nodes[0] = 0;
    for (uint32_t i = 0; !err && i < t->node_count; i++) {
        if (!m->used[i])
            continue;
        if (i) {
            m->nodes[i] = (uint32_t)m->p->node_count;
            err = put_node(m, m->nodes[t->nodes[i].parent], t->nodes[i].place);
        }
        if (!err && has_own(m, i, &own))
            put_sample(m, &own);
        if (!err && m->rest_of[i])
            err = put_rests(m, m->nodes[i], m->rest_of[i]);
    }
    return err;
}

/* Where what was folded came to stand: a chain of additions is walked once. */
static void find_folded(struct making *m)
{
    for (uint32_t i = 0; i < m->t->node_count; i++) {
        uint32_t last = m->nodes[i], next;

        if (!m->folded[i])
            continue;
        while (m->rests[last - 1].into)
            last = m->rests[last - 1].into;
        for (uint32_t r = m->nodes[i]; r != last; r = next) {
            next = m->rests[r - 1].into;
            m->rests[r - 1].into = last;
        }
        m->nodes[i] = m->rests[last - 1].node;
    }
}

static int make_room(struct making *m)
{
    struct export_profile *p = m->p;
    size_t used = 1, leaves = 0;
    struct amounts own;

    for (uint32_t i = 0; i < m->t->node_count; i++) {
        used += (size_t)m->used[i] + (m->rest_of[i] != 0);
        leaves += has_own(m, i, &own);
        for (uint32_t r = m->rest_of[i]; r; r = m->rests[r - 1].next, used++)
            leaves++;
    }
    p->nodes = memory_zalloc(used, sizeof(*p->nodes));
    p->samples = memory_zalloc(leaves + 1, sizeof(*p->samples));
    p->modules = memory_zalloc(m->defs->modules.count, sizeof(*p->modules));
    return p->nodes && p->samples && p->modules ? 0 : -ENOMEM;
}

/* The module of the outermost frame of own code on the heaviest path; else any module's. */
static uint32_t main_module(const struct export_profile *p)
{
    uint32_t found = EXPORT_NO_MODULE;

    for (size_t i = 1; i < p->node_count; i++) {
        const struct export_frame *frame = &p->frames[p->nodes[i].frame];

        if (frame->own && frame->module != EXPORT_NO_MODULE)
            return frame->module;
        if (found == EXPORT_NO_MODULE)
            found = frame->module;
    }
    return found;
}

static int make_tables(struct making *m)
{
    size_t nodes = m->t->node_count, places = (size_t)m->t->place_count + 1;

    m->rests = memory_zalloc(nodes, sizeof(*m->rests));
    m->rest_of = memory_zalloc(nodes, sizeof(*m->rest_of));
    m->several = memory_zalloc(nodes, sizeof(*m->several));
    m->nodes = memory_zalloc(nodes, sizeof(*m->nodes));
    m->folded = memory_zalloc(nodes, sizeof(*m->folded));
    m->used = memory_zalloc(nodes, sizeof(*m->used));
    m->seen = memory_zalloc(places, sizeof(*m->seen));
    m->frames = memory_zalloc(places, sizeof(*m->frames));
    m->functions[0] = memory_zalloc(m->defs->methods.count, sizeof(uint32_t));
    m->functions[1] = memory_zalloc(m->defs->classes.count, sizeof(uint32_t));
    m->modules = memory_zalloc(m->defs->modules.count, sizeof(uint32_t));
    return m->nodes && m->rests && m->rest_of && m->several && m->folded && m->used && m->seen &&
                   m->frames && m->functions[0] && m->functions[1] && m->modules
               ? 0
               : -ENOMEM;
}

static int make(struct making *m, double min_share, struct export_folded *folded)
{
    int err = make_tables(m);

    if (!err) {
        m->least = m->t->total[MODEL_BYTES][0] * min_share;
        m->live_least =
            weight(m->t->total[MODEL_LIVE_BYTES], m->t->total[MODEL_BESIDE_BYTES], 0) * min_share;
        m->used[0] = true;
        fold(m, folded);
        err = make_room(m);
    }
    if (!err)
        err = put_all(m);
    if (!err) {
        find_folded(m);
        m->p->main_module = main_module(m->p);
        folded->nodes = m->nodes;
        m->nodes = NULL;
    }
    memory_free_all(m->nodes, m->rests, m->rest_of, m->several, m->folded, m->used, m->seen,
                    m->frames, m->functions[0], m->functions[1], m->modules);
    return err;
}

/* ---- the whole ---- */

static void describe_log(struct export_profile *p, const struct model *model)
{
    const json_t *header = model_log(model)->header, *sample;

    p->program = log_program(header);
    if (!p->program)
        p->program = "allocations";
    p->pid = (uint64_t)json_integer_value(json_object_get(header, "pid"));
    if (__builtin_mul_overflow(log_started(header), INT64_C(1000000000), &p->started))
        p->started = 0;
    p->duration = model_duration_ns(model);
    p->live = model_live(model)->question && model_live(model)->lines;
    sample = json_object_get(json_object_get(header, "options"), "sample");
    p->period = json_integer_value(sample) > 0 ? (uint64_t)json_integer_value(sample) : 1;
}

int export_profile_of(const struct model_tree *tree, struct names *names, double min_share,
                      struct export_profile **out, struct export_folded *folded)
{
    struct making m = {.t = tree, .defs = model_defs(tree->model), .names = names};
    int err;

    *folded = (struct export_folded){0};
    *out = m.p = memory_zalloc(1, sizeof(**out));
    if (!m.p)
        return -ENOMEM;
    describe_log(m.p, tree->model);
    err = make(&m, min_share, folded);
    if (err) {
        export_profile_free(m.p);
        *out = NULL;
    }
    return err;
}

int export_profile_remark(struct export_profile *p, const char *format, ...)
{
    struct buffer text = BUFFER_INIT;
    char line[1000];
    va_list arguments;
    char **remarks;

    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    buffer_clean(&text, line);
    remarks = memory_realloc(p->remarks, (p->remark_count + 1) * sizeof(*remarks));
    if (!remarks || text.failed) {
        if (remarks)
            p->remarks = remarks;
        buffer_free(&text);
        return -ENOMEM;
    }
    p->remarks = remarks;
    p->remarks[p->remark_count++] = buffer_take(&text);
    return 0;
}

void export_profile_free(struct export_profile *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->remark_count; i++)
        memory_free(p->remarks[i]);
    memory_free_all(p->modules, p->frames, p->nodes, p->samples, p->remarks, p);
}
