#include "log/records.h"
#include "log/rounds.h"

/* What was unloaded, and is not kept any more. */
static void set_given(const struct log *log, json_t *line)
{
    const struct metadata_given *given = metadata_given_back(log->config.metadata);
    json_t *object;

    if (!load_relaxed(&given->modules))
        return;
    object = json_object();
    log_set(object, "modules", load_relaxed(&given->modules));
    log_set(object, "classes", load_relaxed(&given->classes));
    log_set(object, "methods", load_relaxed(&given->methods));
    log_set(object, "nodes", load_relaxed(&log->config.tree->numbers.given));
    json_object_set_new(line, "given_back", object);
}

json_t *log_gone_json(const struct log_file *file)
{
    const struct log_tally *t = &file->gone;

    if (!file->gone_parts)
        return NULL;
    return json_pack("{s:I, s:I, s:I, s:o}", "parts", (json_int_t)file->gone_parts, "allocs",
                     (json_int_t)t->allocs, "bytes", (json_int_t)t->bytes, "records",
                     log_kinds_json(t->lines));
}

json_t *log_off_json(const struct log *log)
{
    const struct clr_guard *guard = log->config.guard;
    json_t *off;

    if (!load_relaxed(&guard->hooks) && !load_relaxed(&guard->beginnings) &&
        !load_relaxed(&guard->allocated))
        return NULL;
    off = json_object();
    log_set_any(off, "hooks", load_relaxed(&guard->hooks));
    log_set_any(off, "beginnings", load_relaxed(&guard->beginnings));
    log_set_any(off, "allocated", load_relaxed(&guard->allocated));
    return off;
}

static json_t *hooks_json(const struct log *log, const struct stack_totals *totals)
{
    json_t *hooks = json_object();

    log_set(hooks, "calls", totals->calls);
    json_object_set_new(hooks, "ns_per_pair", json_real(log->ns_per_pair));
    log_set(hooks, "missed", load_relaxed(log->config.missed));
    log_set_any(hooks, "spared", load_relaxed(log->config.spared));
    log_set_any(hooks, "unpatched", load_relaxed(log->config.unpatched));
    return hooks;
}

/* Stacks that were walked, and those that were not certain, by reason. */
static json_t *walks_json(struct walk *walk)
{
    json_t *object = json_object(), *by = json_object();
    struct walk_totals totals;
    uint64_t fallbacks = 0;

    walk_totals_read(walk, &totals);
    for (unsigned i = WALK_CERTAIN + 1; i < WALK_WHYS; i++) {
        fallbacks += totals.declined[i];
        log_set_any(by, walk_why_name((enum walk_why)i), totals.declined[i]);
    }
    log_set(object, "taken", totals.taken);
    log_set(object, "fallbacks", fallbacks);
    json_object_set_new(object, "fallbacks_by", by);
    return object;
}

json_t *log_rich_json(const struct log *log)
{
    const struct rich_counts *counts = &log->config.rich->counts;
    json_t *object, *by = json_object();
    uint64_t lost = 0, bodies = load_relaxed(&counts->bodies);

    for (unsigned i = 0; i < RICH_LOST_REASONS; i++) {
        lost += load_relaxed(&counts->lost[i]);
        log_set_any(by, rich_lost_name((enum rich_lost)i), load_relaxed(&counts->lost[i]));
    }
    if (!bodies && !lost && !load_relaxed(&counts->left_out)) {
        json_decref(by);
        return NULL;
    }
    object = json_object();
    log_set(object, "bodies", bodies);
    log_set(object, "bytes", load_relaxed(&counts->bytes));
    log_set_any(object, "hosts", load_relaxed(&counts->hosts));
    log_set_any(object, "awaited", load_relaxed(&counts->awaited));
    log_set_any(object, "left_out", load_relaxed(&counts->left_out));
    log_set_any(object, "left_out_bytes", load_relaxed(&counts->left_out_bytes));
    log_set(object, "lost", lost);
    json_object_set_new(object, "lost_by", by);
    return object;
}

/* What was requested, and the result. */
static void set_asked(struct log *log, json_t *line)
{
    const struct options *options = log->config.options;

    if (options->args.count + options->returns.count)
        json_object_set_new(line, "values", log_values_totals(log));
    if (options_choose(options))
        json_object_set_new(line, "unmatched", log_unmatched(log));
    if (log->config.agreement)
        json_object_set_new(line, "snapshots",
                            log_put_snapshots(json_object(), log->config.agreement));
    if (log->config.walk)
        json_object_set_new(line, "walks", walks_json(log->config.walk));
    json_object_set_new(line, "rich", log_rich_json(log));
    json_object_set_new(line, "events", log_families_json(log));
    if (log->config.samples)
        json_object_set_new(line, "sampling", log_sampling_json(log));
    if (options_records(options, OPTIONS_CALLS))
        json_object_set_new(line, "calls", log_calls_json(log));
}

/* Of lines and of the file. */
static void set_records(const struct log *log, json_t *line)
{
    json_object_set_new(line, "records", log_kinds_json(log->file.put.lines));
    json_object_set_new(line, "rotated_out", log_gone_json(&log->file));
    if (log_kinds_sum(log->not_written))
        json_object_set_new(line, "not_written", log_kinds_json(log->not_written));
    json_object_set_new(line, "file", log_fate_json(log));
}

int log_write_end(struct log *log, uint64_t t)
{
    const struct log_config *c = &log->config;
    uint64_t by[EVENT_LOST_REASONS], seen, lost = log_lost(log, by, &seen);
    uint64_t written = log_written(log);
    json_t *line = json_pack("{s:s}", "kind", "end");
    struct stack_totals totals;
    hresult last;
    int err;

    stack_totals_read(&totals);
    if (seen > written + lost) { /* on its way through a callback when the hub stopped */
        by[EVENT_LOST_STOPPED] += seen - written - lost;
        lost = seen - written;
    }
    log_set(line, "t", t);
    log_set(line, "seen", seen);
    log_set(line, "written", written);
    log_set(line, "lost", lost);
    json_object_set_new(line, "lost_by", log_reasons(by));
    log_set(line, "bytes", log->file.put.bytes);
    log_set(line, "threads", load_relaxed(&c->hub->threads));
    log_set(line, "nodes", tree_made(c->tree));
    log_set(line, "nodes_refused", tree_refused(c->tree));
    json_object_set_new(line, "repairs", log_repairs(&totals));
    json_object_set_new(line, "hooks", hooks_json(log, &totals));
    json_object_set_new(line, "off", log_off_json(log));
    log_set(line, "names_failed", metadata_failures(c->metadata, &last));
    log_set(line, "log_bytes", log->file.bytes + log->file.buffer.size - log->file.sent);
    log_set_any(line, "cut_allocs", log->file.put.cut);
    log_set_any(line, "beginnings_lost", load_relaxed(&c->hub->beginnings_lost));
    set_given(log, line);
    if (log->file.part > 1) /* the sums are of the whole recording */
        log_set(line, "part", log->file.part);
    set_asked(log, line);
    set_records(log, line);
    err = log_emit(log, SST_KIND_END, line);
    if (err) { /* it may be of this that something is missing */
        json_decref(log->unmatched);
        log->unmatched = NULL;
    }
    return err;
}
