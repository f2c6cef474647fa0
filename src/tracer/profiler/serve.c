#include "profiler/serve.h"

#include <errno.h>

static bool thread_name(void *context, uint32_t os, char *text, size_t size)
{
    struct profiler *p = context;

    return thread_names_find(&p->thread_names, os, text, size);
}

static uint32_t names_given(void *context)
{
    struct profiler *p = context;

    return load_relaxed(&p->thread_names.given);
}

static int mark(void *context, const char *text)
{
    struct profiler *p = context;

    return log_mark(p->log, text);
}

static int rotate(void *context, char **older)
{
    struct profiler *p = context;

    return log_rotate(p->log, older);
}

static int sites(void *context, uint32_t limit, char **members)
{
    struct profiler *p = context;

    return log_sites(p->log, limit, members);
}

static void status(void *context, struct buffer *out)
{
    struct profiler *p = context;
    struct log_counts counts;

    log_counts(p->log, &counts);
    buffer_text(out, ",\"log\":");
    buffer_json_string(out, log_path(p->log));
    buffer_format(out, ",\"part\":%llu,\"log_bytes\":%llu,\"written\":%llu,\"bytes\":%llu",
                  (unsigned long long)counts.parts, (unsigned long long)counts.file_bytes,
                  (unsigned long long)counts.written, (unsigned long long)counts.bytes);
    if (tree_refused(p->tree))
        buffer_format(out, ",\"nodes_refused\":%llu,\"cut_allocs\":%llu",
                      (unsigned long long)tree_refused(p->tree),
                      (unsigned long long)counts.cut_allocs);
}

int serve_open(struct profiler *p)
{
    if (control_new(&p->control))
        return -ENOMEM;
    if (p->options.no_control ||
        !control_listen(p->control, p->uncontrolled, sizeof(p->uncontrolled)))
        *p->uncontrolled = '\0';
    return 0;
}

const char *serve_hooks(const struct profiler *p)
{
    if (options_snapshots(&p->options))
        return "none";
    return options_elt2(&p->options) ? "elt2" : "elt3";
}

void serve_start(struct profiler *p)
{
    const struct control_config config = {.metadata = p->metadata,
                                          .executable = p->process.executable,
                                          .name = p->process.name,
                                          .runtime = p->runtime.text,
                                          .hooks = serve_hooks(p),
                                          .command = p->process.command,
                                          .zero_ns = log_zero_ns(p->log),
                                          .shadow = !options_snapshots(&p->options),
                                          .context = p,
                                          .thread_name = thread_name,
                                          .metadata_given = names_given,
                                          .mark = mark,
                                          .rotate = rotate,
                                          .sites = sites,
                                          .status = status};

    control_start(p->control, &config);
}
