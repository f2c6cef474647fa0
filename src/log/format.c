#include "log/log_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define ALLOC_LINE 256 /* bytes that an event line takes at the most, stacks and names apart */

/* Appends a literal; at must have room. */
#define PUT(at, literal) (memcpy((at), (literal), sizeof(literal) - 1), (at) + sizeof(literal) - 1)

static char *put_number(char *at, uint64_t value)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536"
        "37383940414243444546474849505152535455565758596061626364656667686970717273"
        "7475767778798081828384858687888990919293949596979899";
    char digits[20], *first = digits + sizeof(digits);
    size_t count;

    for (; value >= 100; value /= 100) {
        first -= 2;
        memcpy(first, &pairs[value % 100 * 2], 2);
    }
    if (value >= 10) {
        first -= 2;
        memcpy(first, &pairs[value * 2], 2);
    } else {
        *--first = (char)('0' + value);
    }
    count = (size_t)(digits + sizeof(digits) - first);
    memcpy(at, first, count);
    return at + count;
}

static const char *const heap_names[] = {NULL, "large", "pinned", "frozen"};

/* Why a call instruction has no IL offset. */
static const char *site_name(int32_t il)
{
    switch (il) {
    case NAMES_SITE_NATIVE:
        return "native";
    case NAMES_SITE_STUB:
        return "stub";
    case NAMES_SITE_DYNAMIC:
        return "dynamic";
    case NAMES_SITE_OTHER:
        return "unhooked";
    case NAMES_SITE_UNMAPPED:
        return "unmapped";
    default:
        return NULL;
    }
}

double log_weight(const struct log_thread *thread, const struct event *event)
{
    double bytes = (double)event_bytes(event), rate = (double)thread->sample;

    if (!thread->sample)
        return bytes;
    return bytes > 0 ? bytes / -expm1(-bytes / rate) : rate;
}

int32_t log_site_il(const struct log *log, uint32_t site)
{
    return site ? tree_site_il(tree_site_at(log->config.sites, site)) : NAMES_SITE_NONE;
}

static void put_stack(struct log *log, const struct tree_node *node)
{
    const struct tree *tree = log->config.tree;
    struct buffer *b = &log->file.buffer;
    const char *separator = "";

    buffer_text(b, ",\"stack\":[");
    for (; node->up; node = tree_parent(node)) {
        buffer_text(b, separator);
        buffer_json_string(b,
                           names_method_text((const struct names_method *)tree_method(tree, node)));
        separator = ",";
    }
    buffer_char(b, ']');
}

void log_format_alloc(struct log *log, struct log_thread *thread, const struct event *event,
                      uint64_t t)
{
    struct buffer *b = &log->file.buffer;
    const struct names_class *class = (const struct names_class *)event->subject;
    const char *heap = heap_names[event_heap(event)];
    int32_t il = log_site_il(log, event->site);
    bool whole = log->config.options->stacks == OPTIONS_STACKS_INLINE;
    char *line = buffer_reserve(b, ALLOC_LINE), *at = line;

    if (!line)
        return;
    at = PUT(at, "{\"kind\":\"alloc\",\"t\":");
    at = put_number(at, t);
    at = PUT(at, ",\"thread\":");
    at = put_number(at, thread->ring->thread);
    at = PUT(at, ",\"class\":");
    at = put_number(at, class->id);
    at = PUT(at, ",\"bytes\":");
    at = put_number(at, event_bytes(event));
    if (!whole) {
        at = PUT(at, ",\"node\":");
        at = put_number(at, event->node);
    }
    if (il >= 0) {
        at = PUT(at, ",\"il\":");
        at = put_number(at, (uint64_t)il);
    }
    if (thread->values && thread->values_ticks == event->ticks) {
        at = PUT(at, ",\"values\":");
        at = put_number(at, thread->values);
    }
    b->size += (size_t)(at - line);
    if (heap)
        buffer_format(b, ",\"heap\":\"%s\"", heap);
    if (thread->sample)
        buffer_format(b, ",\"weight\":%.17g", log_weight(thread, event));
    if (whole) {
        buffer_text(b, ",\"type\":");
        buffer_json_string(b, names_class_text(class));
        put_stack(log, tree_node_by_id(log->config.tree, event->node));
        if (thread->values && thread->values_ticks == event->ticks)
            log_values_put(b, thread, tree_node_by_id(log->config.tree, event->node));
    }
    buffer_append(b, "}\n", 2);
}

int log_line_end(struct buffer *b, size_t mark)
{
    buffer_append(b, "}\n", 2);
    if (!b->failed)
        return 0;
    b->size = mark;
    b->failed = 0;
    return -ENOMEM;
}

int log_format_node(struct log *log, const struct tree_node *node)
{
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;
    const struct tree_site *call = tree_call(log->config.tree, node);
    int32_t il = load_relaxed(&call->il);
    const char *kind = site_name(il);
    char *line = buffer_reserve(b, ALLOC_LINE), *at = line;

    if (!line) {
        b->failed = 0;
        return -ENOMEM;
    }
    at = PUT(at, "{\"kind\":\"node\",\"id\":");
    at = put_number(at, tree_id(log->config.tree, node));
    at = PUT(at, ",\"parent\":");
    at = put_number(at, tree_id(log->config.tree, tree_parent(node)));
    at = PUT(at, ",\"method\":");
    at = put_number(at, ((const struct names_method *)call->target)->id);
    if (il >= 0) {
        at = PUT(at, ",\"il\":");
        at = put_number(at, (uint64_t)il);
    }
    b->size += (size_t)(at - line);
    if (kind)
        buffer_format(b, ",\"call\":\"%s\"", kind);
    if (call->ip == FRAME_RET_FILTER)
        buffer_text(b, ",\"filter\":true");
    return log_line_end(b, mark);
}

int log_format_site(struct log *log, const struct log_site *site)
{
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;
    const char *heap = heap_names[site->heap];
    int32_t il = log_site_il(log, site->site);
    char *line = buffer_reserve(b, ALLOC_LINE), *at = line;

    if (!line) {
        b->failed = 0;
        return -ENOMEM;
    }
    at = PUT(at, "{\"kind\":\"site\",\"node\":");
    at = put_number(at, site->node);
    if (il >= 0) {
        at = PUT(at, ",\"il\":");
        at = put_number(at, (uint64_t)il);
    }
    at = PUT(at, ",\"class\":");
    at = put_number(at, site->class->id);
    at = PUT(at, ",\"thread\":");
    at = put_number(at, site->thread);
    at = PUT(at, ",\"allocs\":");
    at = put_number(at, site->allocs);
    at = PUT(at, ",\"bytes\":");
    at = put_number(at, site->bytes);
    b->size += (size_t)(at - line);
    if (heap)
        buffer_format(b, ",\"heap\":\"%s\"", heap);
    if (site->weight > (double)site->bytes) /* else each stands for itself */
        buffer_format(b, ",\"weight\":%.17g", site->weight);
    return log_line_end(b, mark);
}
