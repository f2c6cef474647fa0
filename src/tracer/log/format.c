#include "log/records.h"

#include "base/decimal.h"

#include <errno.h>
#include <string.h>

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

/* The frames above the node were not kept. */
static void put_cut(struct buffer *b, uint32_t node)
{
    if (tree_is_cut(node))
        buffer_text(b, ",\"cut\":true");
}

void log_put_node(struct log *log, uint32_t node)
{
    struct buffer *b = &log->file.buffer;

    log_put_number(b, ",\"node\":", log_node_id(log, node));
    put_cut(b, node);
}

void log_put_heap(struct buffer *b, enum event_heap heap, uint32_t node)
{
    static const char *const members[] = {"", ",\"heap\":\"large\"", ",\"heap\":\"pinned\"",
                                          ",\"heap\":\"frozen\""};

    buffer_text(b, members[heap]);
    put_cut(b, node);
}

char *log_put_il(char *at, int32_t il)
{
    if (LIKELY(il >= 0 && il <= IL_MOST))
        return LOG_PUT_NUMBER(at, ",\"il\":", (uint64_t)il);
    if (il >= 0) {
        at = il & CODE_IL_UNOPTIMISED ? LOG_PUT(at, ",\"il0\":") : LOG_PUT(at, ",\"il\":");
        at = decimal_put(at, il_first(il));
        if (il & IL_SEVERAL)
            at = LOG_PUT_NUMBER(at, ",\"il_last\":", il_last(il));
    }
    if (il == CODE_IL_DYNAMIC || (il >= 0 && (il & CODE_IL_VIA_DYNAMIC)))
        at = LOG_PUT(at, ",\"call\":\"dynamic\"");
    else if (il == CODE_IL_PRECOMPILED)
        at = LOG_PUT(at, ",\"call\":\"precompiled\"");
    return at;
}

char *log_put_inlined(char *at, uint32_t inlined)
{
    return inlined ? LOG_PUT_NUMBER(at, ",\"inlined\":", inlined) : at;
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
    char *line = buffer_reserve(b, LOG_LINE), *at = line;

    if (!line)
        return log_line_drop(log, mark);
    at = LOG_PUT_NUMBER(
        at, "{\"kind\":\"node\",\"id\":", log_node_number(log, tree_id(log->config.tree, node)));
    at = LOG_PUT_NUMBER(
        at, ",\"parent\":", log_node_id(log, tree_id(tree, begun ? tree_parent(parent) : parent)));
    from = begun ? tree_node_by_id(tree, begun) : NULL;
    if (from && load_relaxed(&from->up) && tree_mark(from) == log->generation)
        at = LOG_PUT_NUMBER(at, ",\"begun\":", log_node_number(log, begun));
    at = LOG_PUT_NUMBER(at, ",\"method\":", ((const struct metadata_method *)call->target)->id);
    at = log_put_il(at, il);
    at = log_put_inlined(at, call->inlined);
    b->size += (size_t)(at - line);
    buffer_text(b, call_member(il));
    if (log->config.options->framework_frames == OPTIONS_FRAMEWORK_SNAPSHOT &&
        !((const struct metadata_method *)call->target)->hooked)
        buffer_text(b, ",\"snapshot\":true");
    if (call->ip == FRAME_RET_FILTER)
        buffer_text(b, ",\"filter\":true");
    return log_line_end(log, SST_KIND_NODE, mark);
}
