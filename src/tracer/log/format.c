#include "log/internal.h"

#include "base/decimal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define ALLOC_LINE 256 /* bytes that an event line takes at the most, stacks and names apart */

/* Appends a literal; at must have room. */
#define PUT(at, literal) (memcpy((at), (literal), sizeof(literal) - 1), (at) + sizeof(literal) - 1)

static const char *const heap_members[] = {"", ",\"heap\":\"large\"", ",\"heap\":\"pinned\"",
                                           ",\"heap\":\"frozen\""};

/* The frames above the node were not kept. */
static const char cut_member[] = ",\"cut\":true";

/* Why a call instruction has no IL offset: the member that says so, where log_put_il() does not. */
static const char *call_member(int32_t il)
{
    switch (il) {
    case CODE_IL_NATIVE:
        return ",\"call\":\"native\"";
    case CODE_IL_STUB:
        return ",\"call\":\"stub\"";
    case CODE_IL_OTHER:
        return ",\"call\":\"unhooked\"";
    case CODE_IL_UNMAPPED:
        return ",\"call\":\"unmapped\"";
    default:
        return "";
    }
}

double log_weight(const struct log_thread *thread, const struct event *event)
{
    double bytes = (double)event_bytes(event), rate = (double)thread->sample;

    if (!thread->sample)
        return bytes;
    return bytes > 0 ? bytes / -expm1(-bytes / rate) : rate;
}

static void put_stack(struct log *log, const struct tree_node *node)
{
    const struct tree *tree = log->config.tree;
    struct buffer *b = &log->file.buffer;
    const char *separator = "";

    buffer_text(b, ",\"stack\":[");
    for (; node->up; node = tree_parent(node)) {
        buffer_text(b, separator);
        buffer_json_string(
            b, metadata_method_text((const struct metadata_method *)tree_method(tree, node)));
        separator = ",";
    }
    buffer_char(b, ']');
}

void log_put_node(struct log *log, uint32_t node)
{
    struct buffer *b = &log->file.buffer;

    buffer_text(b, ",\"node\":");
    buffer_unsigned(b, log_node_id(log, node));
    if (tree_is_cut(node))
        buffer_text(b, cut_member);
}

/* What only some recordings have; a line that none of it is on is finished without coming here. */
static void put_rest(struct log *log, struct log_thread *thread, const struct event *event)
{
    struct buffer *b = &log->file.buffer;

    buffer_text(b, heap_members[event_heap(event)]);
    if (tree_is_cut(event->node))
        buffer_text(b, cut_member);
    if (thread->sample)
        buffer_format(b, ",\"weight\":%.17g", log_weight(thread, event));
    if (log->config.options->stacks == OPTIONS_STACKS_INLINE) {
        struct tree_node *node = tree_node_by_id(log->config.tree, tree_uncut(event->node));

        buffer_text(b, ",\"type\":");
        buffer_json_string(b, metadata_class_text((const struct metadata_class *)event->subject));
        put_stack(log, node);
        if (thread->values && thread->values_ticks == event->ticks)
            log_values_put(b, thread, node);
    }
}

char *log_put_il(char *at, int32_t il)
{
    if (LIKELY(il >= 0 && il == CODE_IL_OFFSET(il))) {
        at = PUT(at, ",\"il\":");
        return decimal_put(at, (uint64_t)il);
    }
    if (il >= 0) {
        at = il & CODE_IL_UNOPTIMISED ? PUT(at, ",\"il0\":") : PUT(at, ",\"il\":");
        at = decimal_put(at, (uint64_t)(CODE_IL_OFFSET(il)));
    }
    if (il == CODE_IL_DYNAMIC || (il >= 0 && (il & CODE_IL_VIA_DYNAMIC)))
        at = PUT(at, ",\"call\":\"dynamic\"");
    return at;
}

void log_format_alloc(struct log *log, struct log_thread *thread, const struct event *event,
                      uint64_t t, int32_t il)
{
    struct buffer *b = &log->file.buffer;
    const struct metadata_class *class = (const struct metadata_class *)event->subject;
    bool whole = log->config.options->stacks == OPTIONS_STACKS_INLINE;
    char *line = buffer_reserve(b, ALLOC_LINE), *at = line;

    if (!line)
        return;
    at = PUT(at, "{\"kind\":\"alloc\",\"t\":");
    at = decimal_put(at, t);
    at = PUT(at, ",\"thread\":");
    at = decimal_put(at, thread->ring->thread);
    at = PUT(at, ",\"class\":");
    at = decimal_put(at, class->id);
    at = PUT(at, ",\"bytes\":");
    at = decimal_put(at, event_bytes(event));
    if (!whole) {
        at = PUT(at, ",\"node\":");
        at = decimal_put(at, log_node_id(log, event->node));
    }
    at = log_put_il(at, il);
    if (thread->values && thread->values_ticks == event->ticks) {
        at = PUT(at, ",\"values\":");
        at = decimal_put(at, thread->values);
    }
    if (LIKELY(!whole && !thread->sample && event_heap(event) == EVENT_HEAP_NORMAL &&
               !tree_is_cut(event->node))) {
        at = PUT(at, "}\n");
        *at = '\0';
        b->size += (size_t)(at - line);
        return;
    }
    b->size += (size_t)(at - line);
    put_rest(log, thread, event);
    buffer_append(b, "}\n", 2);
}

int log_line_end(struct log *log, enum sst_kind kind, size_t mark)
{
    struct buffer *b = &log->file.buffer;

    buffer_append(b, "}\n", 2);
    if (LIKELY(!b->failed)) {
        log->put.lines[kind]++;
        return 0;
    }
    b->size = mark;
    b->failed = 0;
    return -ENOMEM;
}

int log_format_node(struct log *log, const struct tree_node *node)
{
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;
    struct tree *tree = log->config.tree;
    const struct tree_site *call = tree_call(tree, node);
    const struct tree_node *parent = tree_parent(node), *from;
    uint32_t begun = tree_goes_on(tree, parent);
    int32_t il = load_relaxed(&call->il);
    char *line = buffer_reserve(b, ALLOC_LINE), *at = line;

    if (!line) {
        b->failed = 0;
        return -ENOMEM;
    }
    at = PUT(at, "{\"kind\":\"node\",\"id\":");
    at = decimal_put(at, log_node_number(log, tree_id(log->config.tree, node)));
    at = PUT(at, ",\"parent\":");
    at = decimal_put(at, log_node_id(log, tree_id(tree, begun ? tree_parent(parent) : parent)));
    from = begun ? tree_node_by_id(tree, begun) : NULL;
    if (from && load_relaxed(&from->up) && tree_mark(from) == log->generation) {
        at = PUT(at, ",\"begun\":");
        at = decimal_put(at, log_node_number(log, begun));
    }
    at = PUT(at, ",\"method\":");
    at = decimal_put(at, ((const struct metadata_method *)call->target)->id);
    at = log_put_il(at, il);
    b->size += (size_t)(at - line);
    buffer_text(b, call_member(il));
    if (call->ip == FRAME_RET_FILTER)
        buffer_text(b, ",\"filter\":true");
    return log_line_end(log, SST_KIND_NODE, mark);
}

int log_format_site(struct log *log, const struct log_site *site)
{
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;
    int32_t il = tree_is_cut(site->node) ? CODE_IL_NONE : log_site_il(log, site->site);
    char *line = buffer_reserve(b, ALLOC_LINE), *at = line;

    if (!line) {
        b->failed = 0;
        return -ENOMEM;
    }
    at = PUT(at, "{\"kind\":\"site\",\"node\":");
    at = decimal_put(at, log_node_id(log, site->node));
    at = log_put_il(at, il);
    at = PUT(at, ",\"class\":");
    at = decimal_put(at, site->class->id);
    if (LIKELY(log_ids_has(&log->defined_threads, site->thread))) {
        at = PUT(at, ",\"thread\":");
        at = decimal_put(at, site->thread);
    }
    at = PUT(at, ",\"allocs\":");
    at = decimal_put(at, site->allocs);
    at = PUT(at, ",\"bytes\":");
    at = decimal_put(at, site->bytes);
    b->size += (size_t)(at - line);
    buffer_text(b, heap_members[site->heap]);
    if (tree_is_cut(site->node))
        buffer_text(b, cut_member);
    if (site->weight > (double)site->bytes) /* else each stands for itself */
        buffer_format(b, ",\"weight\":%.17g", site->weight);
    return log_line_end(log, SST_KIND_SITE, mark);
}
